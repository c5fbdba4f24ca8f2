package export

import (
	"github.com/bagconv/bagconv/internal/export/columns"
	"github.com/bagconv/bagconv/internal/export/tables"
	"github.com/bagconv/bagconv/storage"
)

// A placedTable takes the messages of a table with places one by one, without a block, which would copy bytes that
// nobody reads.
type placedTable struct {
	x       *table
	t       *topic
	batch   *columns.Batch
	rows    []row
	size    int // bytes that the rows take, about
	scratch []byte
}

// placedBytes is about what a message takes whose large values are places.
const placedBytes = 512

// add adds a message that lies in a file; file is "" if it does not. A message that does not fit its type is counted;
// the only error is columns.ErrFull.
func (p *placedTable) add(m *storage.Message, file string, offset int64) (size int, err error) {
	r := row{len(m.Data), m.LogTime, m.PublishTime, m.Sequence}
	data := m.Data
	if p.x.Head != nil {
		file = ""
		data, err = p.x.Message(m.Data, m.LogTime, &p.scratch)
	}
	if err == nil {
		err = p.batch.AppendAt(data, r.log, r.publish, uint64(r.sequence), file, offset)
	}
	switch {
	case err == columns.ErrFull:
		return 0, err
	case err != nil:
		if p.t.refused++; p.t.first == nil {
			p.t.first = err
		}
	case file != "":
		size = min(placedBytes, len(data))
	default:
		size = len(data)
	}
	p.rows = append(p.rows, r)
	p.size += size
	return size, nil
}

// take returns the messages so far as a block.
func (p *placedTable) take() *placedBlock {
	m := &made{}
	loseDoubts(m, p.batch.Doubts())
	p.t.lose(m)
	p.t.count(p.rows)
	b := &placedBlock{x: p.x, batch: p.batch}
	p.batch, p.rows, p.size = p.x.batches.take(p.x), p.rows[:0], 0
	return b
}

// A placedBlock is a storage.PendingBlock of rows.
type placedBlock struct {
	x     *table
	batch *columns.Batch
	rows  int
	part  tables.Part
}

// Encode makes the part of the table. See storage.PendingBlock.
func (b *placedBlock) Encode() (err error) {
	if b.rows = b.batch.Len(); b.rows > 0 {
		b.part, err = b.x.out.Encode(b.batch)
	}
	b.x.batches.put(b.x, b.batch)
	return err
}

// Append writes it. See storage.PendingBlock.
func (b *placedBlock) Append() error {
	if b.rows == 0 {
		return nil
	}
	return b.x.append(rowsPart{b.part, b.rows})
}

// Lent returns false: the block has its own bytes.
func (b *placedBlock) Lent() bool { return false }
