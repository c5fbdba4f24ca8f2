package export

import (
	"errors"

	"github.com/bagconv/bagconv/internal/export/view"
	"github.com/bagconv/bagconv/storage"
)

// A product is what becomes of the messages of a topic: a table, pictures, clouds, a track.
type product interface {
	// encode makes the parts of a block for append. It may be called concurrently with everything else.
	encode(b *block) (*made, error)

	// append writes a part. The parts come in order, one at a time.
	append(part any) error

	// finish ends the files and describes them. All parts were appended.
	finish() ([]IndexFile, error)
}

// A topic is one of the output.
type topic struct {
	storage.Topic
	w        *writer
	products []product
	placed   *placedTable // takes the messages in place of blocks; nil: it does not
	open     *block       // takes messages; nil: no block
	single   bool         // each message is a block

	rows, refused int64
	first         error // why a message is left out
	from, to      int64 // log times
	losses        []loss
}

// count counts messages that were written.
func (t *topic) count(rows []row) {
	for i := range rows {
		if t.rows == 0 {
			t.from, t.to = rows[i].log, rows[i].log
		}
		t.rows++
		t.from, t.to = min(t.from, rows[i].log), max(t.to, rows[i].log)
	}
}

// lose adds the losses of messages.
func (t *topic) lose(m *made) {
	for _, l := range m.losses {
		t.losses = addLoss(t.losses, l)
	}
}

// allLosses returns the losses of a topic: the losses of its blocks, and the losses that its
// products know at the end.
func (t *topic) allLosses() []loss {
	list := t.losses
	for _, p := range t.products {
		if p, ok := p.(interface{ losses() []loss }); ok {
			list = append(list[:len(list):len(list)], p.losses()...)
		}
	}
	return list
}

// Losses lists what was lost. See storage.LossLister.
func (w *writer) Losses() (list []storage.WriterLoss) {
	for i, t := range w.topics {
		id := storage.TopicID(i)
		if t.refused > 0 {
			list = append(list, storage.WriterLoss{Topic: id, Code: "messages-unreadable", Messages: t.refused,
				Message: t.first.Error(), LeftOut: true})
		}
		for _, l := range t.allLosses() {
			list = append(list, storage.WriterLoss{Topic: id, Code: l.code, Messages: l.messages,
				Message: l.text, LeftOut: l.leftOut, ByDesign: l.code == noArray})
		}
	}
	for i, t := range w.topics {
		for _, p := range t.products {
			if p, ok := p.(interface{ note() string }); ok && p.note() != "" {
				list = append(list, storage.WriterLoss{Topic: storage.TopicID(i), Code: "export-note",
					Message: p.note(), Note: true})
			}
		}
	}
	return list
}

// A reader reads the messages of a block.
type reader struct{ *view.Reader }

// message returns message i of a block as one of the type; scratch is used again.
func (r *reader) message(b *block, i int, scratch *[]byte) ([]byte, error) {
	return r.Message(b.message(i), b.rows[i].log, scratch)
}

// each calls a function with each message of a block, as one of the type. err is why a message has no such form. The
// bytes are valid until the next call.
func (r *reader) each(b *block, call func(row *row, data []byte, err error)) {
	var scratch []byte
	for i := range b.rows {
		data, err := r.message(b, i, &scratch)
		call(&b.rows[i], data, err)
	}
}

// makeEach has a function make what a product wants of each message of a block. Messages that it refuses are left out:
// as unreadable, or with a code and a text if they are only not supported.
func (r *reader) makeEach(b *block, code, text string, one func(m *made, row *row, data []byte) error) *made {
	m := &made{}
	r.each(b, func(row *row, data []byte, err error) {
		if err == nil {
			err = one(m, row, data)
		}
		switch {
		case errors.Is(err, storage.ErrUnsupported):
			m.leaveOut(code, text+"; the first: "+err.Error())
		case err != nil:
			m.refuse(err)
		}
	})
	return m
}

// readerOf returns what reads the messages of a topic as they are.
func readerOf(t *storage.Topic) (*reader, error) {
	r, err := view.ReaderOf(t)
	return &reader{r}, err
}
