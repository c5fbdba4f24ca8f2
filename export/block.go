package export

import (
	"fmt"

	"github.com/bagconv/bagconv/storage"
)

// A block is messages of one topic, in their order, that are encoded together.
type block struct {
	t    *topic
	data []byte
	rows []row
	made []*made // by product
}

// A row is where a message ends in the data of a block, and its times.
type row struct {
	end          int
	log, publish int64
	sequence     uint32
}

// add adds a message. whole is how many bytes a full block has: it grows to them in two steps.
func (b *block) add(m *storage.Message, whole int) {
	if n := len(b.data) + len(m.Data); n > cap(b.data) && n > whole/8 {
		b.data = append(make([]byte, 0, max(n, min(4*n, whole))), b.data...)
	}
	b.data = append(b.data, m.Data...)
	b.rows = append(b.rows, row{len(b.data), m.LogTime, m.PublishTime, m.Sequence})
}

// message returns the bytes of message i.
func (b *block) message(i int) []byte {
	begin := 0
	if i > 0 {
		begin = b.rows[i-1].end
	}
	return b.data[begin:b.rows[i].end]
}

// made is what a product has made of a block.
type made struct {
	parts   []any // for append
	refused int64 // messages that are left out
	first   error // why the first of them is
	losses  []loss
}

// refuse counts a message that is left out.
func (m *made) refuse(err error) {
	if m.refused++; m.first == nil {
		m.first = err
	}
}

// lose counts a loss of n messages.
func (m *made) lose(code string, n int64, text string) {
	if n > 0 {
		m.losses = addLoss(m.losses, loss{code: code, messages: n, text: text})
	}
}

// leaveOut counts a message that is left out although it can be read. The text of the first one is kept.
func (m *made) leaveOut(code, text string) {
	m.losses = addLoss(m.losses, loss{code, 1, text, true})
}

// maxTexts is how many losses of a topic have the same code and other texts, which are up to the messages.
const maxTexts = 16

// A loss is what is lost of messages that are written, or of messages that are left out although
// they can be read.
type loss struct {
	code     string
	messages int64
	text     string
	leftOut  bool
}

// addLoss adds a loss to the losses of other messages.
func addLoss(list []loss, l loss) []loss {
	texts, first := 0, 0
	for i := range list {
		if list[i].code != l.code || list[i].leftOut != l.leftOut {
			continue
		}
		if list[i].text == l.text || l.leftOut {
			list[i].messages += l.messages
			return list
		}
		if texts++; texts == 1 {
			first = i
		}
	}
	if texts < maxTexts {
		return append(list, l)
	}
	list[first].messages += l.messages
	return list
}

// Encode makes what the products of the topic append. See storage.PendingBlock.
func (b *block) Encode() error {
	b.made = b.made[:0]
	for _, p := range b.t.products {
		m, err := p.encode(b)
		if err != nil {
			return fmt.Errorf("topic %s: %w", b.t.Name, err)
		}
		b.made = append(b.made, m)
	}
	return nil
}

// Append writes it. See storage.PendingBlock.
func (b *block) Append() error {
	t := b.t
	for i, p := range t.products {
		m := b.made[i]
		for _, part := range m.parts {
			if err := p.append(part); err != nil {
				return fmt.Errorf("topic %s: %w", t.Name, err)
			}
		}
		t.lose(m)
		if i > 0 {
			continue // the first one counts
		}
		if t.refused += m.refused; t.first == nil {
			t.first = m.first
		}
	}
	t.count(b.rows)
	t.w.recycle(b)
	return nil
}

// Lent returns false: the block has its own bytes.
func (b *block) Lent() bool { return false }
