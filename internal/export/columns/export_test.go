package columns

// Undo removes the messages behind the first n.
func (b *Batch) Undo(n int, doubts Doubts) {
	b.rows = n
	b.rollBack(doubts)
}

// SetPlaced makes places of values of n bytes and more.
func (b *Batch) SetPlaced(n int) { b.placed = n }

// SetLimit bounds what a column may have.
func (b *Batch) SetLimit(n int) { b.limit = n }
