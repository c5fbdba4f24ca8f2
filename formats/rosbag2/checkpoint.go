package rosbag2

import (
	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/sqlitefile"
	"github.com/bagconv/bagconv/storage"
)

// Flush hands out what is left. If more messages will follow it is a checkpoint: it writes the messages so far,
// and topics and definitions that came since the last one. The database stays empty for SQLite until the end, but
// a reader finds the pages of both (salvage.go). Parts that get no more messages are finished, with the topics so
// far. Parts that are compressed as a whole are refused: their bytes so far are not a file yet. On a store, nothing
// is there before the end. See storage.BlockWriter.
func (w *writer) Flush(more bool) error {
	if !more {
		return w.Writer.Flush(false)
	}
	if err := w.State.Usable(); err != nil {
		return err
	}
	if w.packing.mode == ros2bag.ModeFile {
		return w.stop(&storage.OptionError{Name: storage.NameCompressionMode,
			What: "a database that is compressed as a whole cannot be read before its end", Hint: "use --" +
				storage.NameCompressionMode + " " + modes[1]})
	}
	if iox.IsURL(w.Out.Final()) {
		return nil
	}
	w.live = true
	return w.stop(w.checkpoint())
}

// stop makes err the error of all further calls, unless it is nil.
func (w *writer) stop(err error) error {
	if err == nil {
		return nil
	}
	return w.State.Stop(w.Wrap("", err))
}

// notes are rows of small tables that checkpoints have written before the tables can be filled.
type notes struct {
	topics int      // topics that have notes
	metas  int64    // rows of metadata
	pages  []uint32 // pages of all notes, when the rows of messages are settled
}

func (w *writer) checkpoint() error {
	if err := w.Settle(false); err != nil {
		return err
	}
	for _, about := range w.Parts() {
		p := about.PartWriter.(*outPart)
		switch {
		case p.loader == nil:
			if err := p.Complete(); err != nil {
				return err
			}
		case !p.ended:
			if err := p.checkpoint(); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkpoint writes what the part has so far.
func (p *outPart) checkpoint() error {
	notes, err := p.takeNotes()
	if err != nil {
		return err
	}
	if p.w.packing.mode == ros2bag.ModeMessage {
		r := p.openRun()
		r.checkpoint, r.notes = true, notes
		return p.handRows()
	}
	return p.loader.Checkpoint(notes)
}

// takeNotes returns the rows of small tables for topics that are new since the last checkpoint of the part,
// in the forms that useRecords looks for.
func (p *outPart) takeNotes() (list [][]sqlitefile.Value, err error) {
	w := p.w
	if p.notes.topics == len(w.topics) {
		return nil, nil
	}
	row := func(id int64, texts ...string) {
		values := []sqlitefile.Value{{}}
		for _, s := range texts {
			values = append(values, sqlitefile.Value{Kind: sqlitefile.Text, Data: []byte(s)})
		}
		list = append(list, append(values, sqlitefile.Value{Kind: sqlitefile.Int, Int: id}))
	}
	rows := map[string]storage.Schema{}
	for i := range w.topics {
		t := &w.topics[i]
		missing := t.define(rows)
		if i < p.notes.topics {
			continue
		}
		row(int64(i)+1, t.Name, t.Type, t.Encoding, ros2bag.QoSText(t.QoS, w.Profile.QoSNames),
			t.Metadata[storage.MetaTypeHash])
		if missing {
			row(int64(i)+1, t.definitionRow(), t.Schema.Encoding, string(t.Schema.Data), t.Metadata[storage.MetaTypeHash])
		}
	}
	meta, err := w.Metadata(p.about)
	if err != nil {
		return nil, err
	}
	text, err := meta.Encode(false)
	if err != nil {
		return nil, err
	}
	p.notes.topics, p.notes.metas = len(w.topics), p.notes.metas+1
	return append(list, []sqlitefile.Value{{}, {Kind: sqlitefile.Int, Int: int64(meta.Version)},
		{Kind: sqlitefile.Text, Data: []byte(text)}, {Kind: sqlitefile.Int, Int: p.notes.metas}}), nil
}
