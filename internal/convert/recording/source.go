package recording

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/schema/defset"
	"github.com/bagconv/bagconv/storage"
)

// A Ref names a recording, and says how it is read. The zero value of all but Path and Format is the default.
type Ref struct {
	Path   string
	Format *storage.Format
	Read   storage.ReadOptions

	// Definitions are the user's, in order of preference, and Distro is the distribution whose standard definitions
	// to take if the recording has no definition; "" is its own distribution, or the default. See Source.Known.
	Definitions []*defset.Set
	Distro      string

	Memory int64 // bytes that may be used; 0: DefaultMemory
}

// A Source is an open recording. It is read as numbered blocks, whether its format has blocks
// or only ReadNext. In the second case the blocks are runs of messages of about
// sequentialBytes, cut at the same places in every run, and can only be read in
// their order.
type Source struct {
	Reader storage.Reader
	Info   *storage.Info
	ref    Ref
	known  *mapping.Known // what Known has found; nil: it was not asked

	files   sourceFiles       // files of the recording that are watched
	changed []storage.Warning // of files, after a run
	closed  *storage.Damage   // when it was closed; nil: it is open

	blockReader storage.BlockReader // nil: sequential
	blocks      []storage.Block     // of blockReader, see list
	listed      bool                // blocks are
	runs        []blockTimes        // times of the blocks of a source without blocks, when they were read
	order       storage.Order       // what is known of the times of blocks
	notAtStart  bool                // a source without blocks is not at its start
	failed      error               // of its reader, after the last run of messages
	indexWrong  bool                // its index, see Retry
	measured    bool                // times and topics of blocks come from their messages
	spans       []blockTimes        // times of all blocks in the output; nil: they are read in their order
	need        []bool              // which of the blocks a run reads; nil: all
	query       *sourceQuery        // in place of blocks, in order of time, or nil
	limit       int64               // of the query: messages of one of its blocks; 0: sequentialMessages

	stretches map[string][]selection.Window // of conditions, by their text

	stamps []*mapping.Stamp // scan takes the times from the stamps; index = TopicID; nil: log times
}

// The size of a block of a source without blocks, in bytes and messages.
const (
	sequentialBytes    = 1 << 20
	sequentialMessages = 8192
)

// Open opens a recording. It is to be closed, and may be read several times. A source is for one goroutine.
func Open(ctx context.Context, ref Ref) (*Source, error) {
	if ref.Read.Memory == 0 {
		ref.Read.Memory = budgetOf(ref.Memory).reader
	}
	s := &Source{ref: ref}
	return s, s.open(ctx)
}

// SourceOf makes a source of an open reader of which nothing was read, to be read once. Of ref only Definitions, Distro
// and Memory count.
func SourceOf(r storage.Reader, ref Ref) *Source {
	s := &Source{Reader: r, ref: ref}
	s.look()
	return s
}

func (s *Source) open(ctx context.Context) (err error) {
	if s.Reader, err = s.ref.Format.Open(ctx, s.ref.Path, s.ref.Read); err != nil {
		return err
	}
	s.look()
	return nil
}

// forgetIndex opens the source again, without the index of the recording.
func (s *Source) forgetIndex(ctx context.Context) error {
	s.endQuery()
	if err := s.Reader.Close(); err != nil {
		return err
	}
	s.known, s.runs, s.notAtStart, s.indexWrong, s.limit, s.stretches = nil, nil, false, false, 0, nil
	s.ref.Read.Index = storage.IndexIgnored
	return s.open(ctx)
}

// Index returns how far the index of the recording is believed.
func (s *Source) Index() storage.IndexUse { return s.ref.Read.Index }

// look asks the reader what it has.
func (s *Source) look() {
	s.blockReader, s.listed, s.failed = storage.ReaderCapabilities(s.Reader).Blocks, false, nil
	s.Info = s.Reader.Info()
}

// list asks for the blocks, once.
func (s *Source) list(ctx context.Context) (err error) {
	if s.blockReader == nil || s.listed {
		return nil
	}
	if s.blocks, s.order, err = s.blockReader.Blocks(ctx, nil); err == nil {
		s.measured, s.listed = false, true
	}
	return err
}

// rewind makes the source ready to be read from its start again.
func (s *Source) rewind(ctx context.Context) error {
	if s.blockReader != nil || !s.notAtStart {
		return nil
	}
	s.endQuery()
	s.limit, s.notAtStart = 0, false
	if err := s.Reader.Close(); err != nil {
		return err
	}
	if err := s.open(ctx); err != nil {
		return err
	}
	return s.list(ctx)
}

// Resumes reports whether the source goes on after the end of a round.
func (s *Source) Resumes() bool { return storage.ReaderCapabilities(s.Reader).Resume != nil }

// Resume begins the next round of such a source. See storage.Resumer.
func (s *Source) Resume() (more bool, err error) {
	if more, err = storage.ReaderCapabilities(s.Reader).Resume.Resume(); err != nil {
		return false, err
	}
	s.notAtStart, s.known = false, nil
	s.Info = s.Reader.Info()
	return more, nil
}

// Known returns what is known about the definitions of the recording. The first call decides it, for all that is read:
// see mapping.Look. It comes before messages are read. named is Info, or has the names that Query.Edit gives topics:
// then all calls have these names.
func (s *Source) Known(ctx context.Context, named *storage.Info) (mapping.Known, error) {
	if s.known == nil {
		found, err := mapping.Look(ctx, s.Reader, named, s.ref.Definitions, s.ref.Distro)
		if err != nil {
			return found, err
		}
		s.known = &found
	}
	return *s.known, nil
}

// Mapper returns a mapper that finds the definitions of the recording's topics. named is the same as for Known.
func (s *Source) Mapper(ctx context.Context, named *storage.Info) (*mapping.Mapper, error) {
	known, err := s.Known(ctx, named)
	if err != nil {
		return nil, err
	}
	return mapping.New(known.Options()), nil
}

// Close closes the reader. Damage stays what it was.
func (s *Source) Close() error {
	s.endQuery()
	d := s.Reader.Damage()
	s.closed = &d
	return s.Reader.Close()
}

// Choose resolves a selection for the source, and checks the edit. named is the same as for Known.
func (s *Source) Choose(ctx context.Context, named *storage.Info, sel *selection.Selection, edit *selection.Edit,
	threads int) (*selection.Choice, error) {
	choice, err := sel.Resolve(s.Info)
	if err != nil {
		return nil, err
	}
	if err := edit.Check(s.Info, choice); err != nil {
		return nil, err
	}
	return choice, s.where(ctx, named, sel, choice, threads)
}

// Damage returns the damage found so far, including files that changed during the last
// run.
func (s *Source) Damage() (d storage.Damage) {
	if s.closed != nil {
		d = *s.closed
	} else {
		d = s.Reader.Damage()
	}
	d.Warnings = append(slices.Clip(d.Warnings), s.changed...)
	return d
}

// sequential fills b with the next run of messages. It returns io.EOF, with b
// empty, after the last run.
func (s *Source) sequential(b *storage.Batch) error {
	s.notAtStart = true
	if err := s.failed; err != nil {
		s.failed = nil
		return err
	}
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
		if err != nil && len(b.Messages) > 0 {
			s.failed = err // after the messages that came before it
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

// A blockTimes is the time range of a block.
type blockTimes struct {
	start, end int64
	messages   int // -1 when not known
}

// checkIndex compares the messages of a block with the topics and times that the index
// has for it, when the index has decided what is read.
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
