package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/convert/selection"
	"github.com/bagconv/bagconv/schema/defset"
	"github.com/bagconv/bagconv/storage"
)

// A Source reads a recording as numbered blocks, whether its format has blocks
// or only ReadNext. In the second case the blocks are runs of messages of about
// sequentialBytes, cut at the same places in every run, and can only be read in
// their order.
type Source struct {
	Reader storage.Reader
	Info   *storage.Info
	reopen func(storage.IndexUse) (storage.Reader, error)
	index  storage.IndexUse // how it was opened

	files   *sourceFiles
	changed []storage.Warning // of files, after a run

	blockReader storage.BlockReader // nil: sequential
	blocks      []storage.Block     // of blockReader
	runs        []span              // times of the blocks of a source that has none, when they were read
	order       storage.Order       // what is known of the times of blocks
	moved       bool                // a source without blocks is not at its start
	wrong       bool                // its index, see Retry
	measured    bool                // times and topics of blocks are those of their messages
	spans       []span              // times of all blocks in the output; nil: they are read in their order
	need        []bool              // which of the blocks a run reads; nil: all
	query       *sourceQuery        // in place of blocks, in order of time; nil: none
	limit       int64               // of the query: messages of one of its blocks; 0: sequentialMessages

	memory int64 // bytes that may be used; 0: DefaultMemory

	known map[string]mapping.Known // what Known has found, by the distribution that was asked for
	sets  []*defset.Set            // with those definitions

	stamps []*mapping.Stamp // scan takes the times from them; index = TopicID; nil: log times
}

// The size of a block of a source that has none, in bytes and messages.
const (
	sequentialBytes    = 1 << 20
	sequentialMessages = 8192
)

// Open opens a recording, to be read with so many bytes of memory; 0 is DefaultMemory.
func Open(ctx context.Context, f *storage.Format, path string, o storage.ReadOptions, memory int64) (*Source, error) {
	if o.Memory == 0 {
		o.Memory = budgetOf(memory).reader
	}
	s := &Source{memory: memory, index: o.Index, reopen: func(index storage.IndexUse) (storage.Reader, error) {
		o.Index = index
		return f.Open(ctx, path, o)
	}}
	if err := s.open(); err != nil {
		return nil, err
	}
	s.files = lookAt(o.FS, s.Info.Files)
	return s, nil
}

// SourceOf makes a source of an open reader of which nothing was read, to be read once.
func SourceOf(r storage.Reader) (*Source, error) {
	s := &Source{Reader: r, files: &sourceFiles{}}
	return s, s.look()
}

func (s *Source) open() (err error) {
	if s.Reader, err = s.reopen(s.index); err != nil {
		return err
	}
	if err = s.look(); err != nil {
		return errors.Join(err, s.Reader.Close())
	}
	return nil
}

// forgetIndex opens the source again, without the index of the recording.
func (s *Source) forgetIndex() error {
	s.endQuery()
	if err := s.Reader.Close(); err != nil {
		return err
	}
	s.index, s.known, s.runs, s.moved, s.wrong, s.limit = storage.IndexIgnored, nil, nil, false, false, 0
	return s.open()
}

// look asks the reader what it has.
func (s *Source) look() (err error) {
	if s.Info, err = s.Reader.Info(); err != nil {
		return err
	}
	if s.blockReader = storage.ReaderCapabilities(s.Reader).Blocks; s.blockReader != nil {
		if s.blocks, err = s.blockReader.Blocks(); err == nil {
			s.order, s.measured = s.blockReader.Order(), false
		}
	}
	return err
}

// rewind makes the source ready to be read from its start again.
func (s *Source) rewind() error {
	if s.blockReader != nil || !s.moved {
		return nil
	}
	s.endQuery()
	s.limit, s.moved = 0, false
	if err := s.Reader.Close(); err != nil {
		return err
	}
	return s.open()
}

// Resumes reports whether the source goes on after the end of a round.
func (s *Source) Resumes() bool { return storage.ReaderCapabilities(s.Reader).Rounds != nil }

// Resume begins the next round of such a source. See storage.Resumer.
func (s *Source) Resume() (more bool, err error) {
	if more, err = storage.ReaderCapabilities(s.Reader).Rounds.Resume(); err != nil {
		return false, err
	}
	s.moved, s.known = false, nil
	s.Info, err = s.Reader.Info()
	return more, err
}

// Known returns what is known about the definitions of the recording: see mapping.Look.
func (s *Source) Known(ctx context.Context, sets []*defset.Set, asked string) (mapping.Known, error) {
	if found, done := s.known[asked]; done && slices.Equal(s.sets, sets) {
		return found, nil
	}
	found, err := mapping.Look(ctx, s.Reader, s.Info, sets, asked)
	if err != nil {
		return found, err
	}
	if s.known == nil || !slices.Equal(s.sets, sets) {
		s.known, s.sets = map[string]mapping.Known{}, sets
	}
	s.known[asked] = found
	return found, nil
}

// Close closes the reader.
func (s *Source) Close() error {
	s.endQuery()
	return s.Reader.Close()
}

// Choose resolves a selection for the source, and checks the edit.
func (s *Source) Choose(sel *selection.Selection, edit *selection.Edit) (*selection.Choice, error) {
	choice, err := sel.Resolve(s.Info)
	if err != nil {
		return nil, err
	}
	return choice, edit.Check(s.Info, choice)
}

// Damage returns the damage found so far, including files that changed during the last
// run.
func (s *Source) Damage() storage.Damage {
	d := s.Reader.Damage()
	d.Warnings = append(d.Warnings, s.changed...)
	return d
}

// sequential fills b with the next run of messages. It returns io.EOF, with b
// empty, when there is none.
func (s *Source) sequential(b *storage.Batch) error {
	s.moved = true
	b.Messages, b.Buf = b.Messages[:0], b.Buf[:0]
	ends := b.Scratch[:0] // Buf may move while it grows: lengths first, slices later
	most := sequentialMessages
	if s.limit > 0 {
		most = int(min(s.limit, sequentialMessages))
	}
	for len(b.Buf) < sequentialBytes && len(b.Messages) < most {
		m, err := s.message()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		b.Buf = append(b.Buf, m.Data...)
		b.Messages = append(b.Messages, *m)
		b.Messages[len(b.Messages)-1].Data = nil
		ends = appendLen(ends, len(m.Data))
	}
	b.Scratch = ends
	if len(b.Messages) == 0 {
		return io.EOF
	}
	at := 0
	for i := range b.Messages {
		n := lenAt(ends, i)
		b.Messages[i].Data = b.Buf[at : at+n : at+n]
		at += n
	}
	return nil
}

func appendLen(b []byte, n int) []byte {
	return append(b, byte(n), byte(n>>8), byte(n>>16), byte(n>>24), byte(n>>32), byte(n>>40), byte(n>>48), byte(n>>56))
}

func lenAt(b []byte, i int) (n int) {
	for k := 7; k >= 0; k-- {
		n = n<<8 | int(b[8*i+k])
	}
	return n
}

// A span is the time range of a block.
type span struct {
	start, end int64
	messages   int // -1 when not known
}

// checkIndex compares the messages of a block with the topics and times that the index
// has for it, when these have decided what is read.
func (s *Source) checkIndex(i int, msgs []storage.Message) error {
	if topics := s.blocks[i].Topics; len(topics) > 0 {
		listed := make([]bool, len(s.Info.Topics))
		for _, id := range topics {
			listed[id] = true
		}
		for k := range msgs {
			if id := msgs[k].Topic; int(id) < len(listed) && !listed[id] {
				return errIndex
			}
		}
	}
	if !s.blocks[i].Timed {
		return nil
	}
	start, end := s.blocks[i].Start, s.blocks[i].End
	for k := range msgs {
		if t := msgs[k].LogTime; t < start || t > end {
			return errIndex
		}
	}
	return nil
}

// checkCounts compares how many messages of the chosen topics were read with what the
// index counts, if its topics have decided what is read. Damage explains what is missing.
func (s *Source) checkCounts(choice *selection.Choice, counts []Count) error {
	if s.need == nil || choice.First != math.MinInt64 || choice.Last != math.MaxInt64 || s.Info.Estimated {
		return nil
	}
	if s.Reader.Damage().Lost != (storage.Lost{}) {
		return nil
	}
	for i := range counts {
		if choice.Topics[i] && counts[i].Read != s.Info.Topics[i].Messages {
			return errIndex
		}
	}
	return nil
}

// An orderKey orders messages: by time, then by the place of their block in the file.
// Messages of one block are already in order among themselves.
type orderKey struct {
	time  int64
	block int
}

func (k orderKey) less(o orderKey) bool {
	return k.time < o.time || k.time == o.time && k.block < o.block
}

// checkTopic guards the pipeline against a reader that invents topics.
func checkTopic(m *storage.Message, topics int) error {
	if int(m.Topic) >= topics {
		return fmt.Errorf("internal error: reader gave topic %d of %d", m.Topic, topics)
	}
	return nil
}
