package recording

import (
	"math"
	"slices"

	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// A Sink takes messages of a run: an output, or a function.
type Sink struct {
	Format *storage.Format   // whose limits the messages keep
	Choice *selection.Choice // what it takes
	Edit   *selection.Edit   // what is changed of times and rates; of which topics the state before a cut is repeated

	// To be set between Prepare and Run:
	Write  func(*storage.Message) error
	Places PlaceWriter         // takes messages with their places in files; nil: it does not
	Copier storage.BlockCopier // takes whole blocks as they are stored; nil: it cannot
	Blocks storage.BlockWriter // leaves its blocks to be compressed in parallel; nil: it does not
	Routes []Route             // index = TopicID of the source

	Counts []Count // the same, of the last run; nil before it

	// Share is how much of what the sink takes is read; less than 1 only with Pipeline.Sample.
	Share float64

	PartWriter PartWriter // for a Window; nil: its outputs cannot be made in parts

	state []storage.Message // of latched topics, to be repeated at its start
}

// A Route describes what happens to the messages of one topic of the source in a sink.
type Route struct {
	to      *Sink
	Drop    bool
	Sink    storage.TopicID
	Kind    int             // topics of the sink with one name, type and encoding have one number, for Pipeline.Dedupe
	Program mapping.Program // nil: the bytes move untouched
	Seq     *Counter        // nil: nothing to count
	SeqAt   int             // where the counter lies in the output

	HeaderSeq mapping.HeaderSeq

	Skip       bool            // not asked for, and not counted
	thin       *selection.Thin // nil: all messages stay
	ReadStamp  *mapping.Stamp  // in the source; the log time is set to it
	WriteStamp *mapping.Stamp  // in the sink: becomes the log time's
}

// A Counter numbers the messages of one topic of the sink in their order.
type Counter struct{ next uint32 }

// Skip counts messages that another output has.
func (c *Counter) Skip(messages int64) { c.next += uint32(messages) }

// Count counts the messages of one topic, by what became of them.
type Count struct {
	Read, Written   int64
	Thinned         int64 // not in written
	Filtered        int64 // left out by Choice.Filters
	Undecided       int64 // left out, because a filter cannot decide it
	Duplicates      int64 // equal to a message before, not in written
	Present         int64 // equal to a message of Pipeline.Prior, and written again
	Repeated        int64 // not in read
	Through         int64 // that programs were asked about
	Changed         int64 // by them
	Unstamped       int64 // messages without the stamp that was asked for
	PublishTimes    int64 // written without their own, which the format does not keep
	Sequences       int64 // likewise
	Bad, OutOfRange int64
	TooLarge        int64
	FirstBad        error // of the first unreadable message in the order of blocks
	firstBadBlock   int
	FirstUndecided  error // likewise
	undecidedBlock  int
	Unedited        int64 // left out, because an edit is refused
	FirstUnedited   error // likewise
	uneditedBlock   int
	Emptied         int64 // left out, because no transform of them is left
}

func (c *Count) join(o *Count) {
	if o.Bad > 0 && (c.Bad == 0 || o.firstBadBlock < c.firstBadBlock) {
		c.FirstBad, c.firstBadBlock = o.FirstBad, o.firstBadBlock
	}
	if o.Undecided > 0 && (c.Undecided == 0 || o.undecidedBlock < c.undecidedBlock) {
		c.FirstUndecided, c.undecidedBlock = o.FirstUndecided, o.undecidedBlock
	}
	if o.Unedited > 0 && (c.Unedited == 0 || o.uneditedBlock < c.uneditedBlock) {
		c.FirstUnedited, c.uneditedBlock = o.FirstUnedited, o.uneditedBlock
	}
	c.Unedited += o.Unedited
	c.Emptied += o.Emptied
	c.Filtered += o.Filtered
	c.Undecided += o.Undecided
	c.Read += o.Read
	c.Written += o.Written
	c.Repeated += o.Repeated
	c.Unstamped += o.Unstamped
	c.Bad += o.Bad
	c.OutOfRange += o.OutOfRange
	c.TooLarge += o.TooLarge
	c.Through += o.Through
	c.Changed += o.Changed
}

// Add adds the counts of another run, after this one.
func (c *Count) Add(o Count) {
	o.firstBadBlock, o.undecidedBlock, o.uneditedBlock = math.MaxInt, math.MaxInt, math.MaxInt
	c.join(&o)
	c.Thinned += o.Thinned
	c.Duplicates += o.Duplicates
	c.Present += o.Present
	c.PublishTimes += o.PublishTimes
	c.Sequences += o.Sequences
}

// startCopy has a sink copy blocks as they are stored, if that can be. For several
// sinks blocks are copied if all take the same topics.
func (s *Sink) startCopy(src *Source, first *Sink) {
	if s.Copier != nil && (s.Edit.Offset != 0 || !slices.Equal(s.Choice.Topics, first.Choice.Topics) ||
		!s.Copier.CopyFrom(src.readers(), copied(s.Routes))) {
		s.Copier = nil
	}
}

// readers lists the readers whose blocks the source has as they are.
func (s *Source) readers() []storage.Reader {
	if several, ok := s.Reader.(interface{ Readers() []storage.Reader }); ok {
		return several.Readers()
	}
	return []storage.Reader{s.Reader}
}

// Inputs lists the first topics of the inputs of which a source is made; nil: it is made of one recording.
func (s *Source) Inputs() (first []int) {
	several, ok := s.Reader.(interface{ Inputs() []int })
	if !ok {
		return nil
	}
	return several.Inputs()
}

// EarlierInputs counts the inputs of a source that begin before an input that stands before them ends.
func (s *Source) EarlierInputs() int {
	if several, ok := s.Reader.(interface{ Earlier() int }); ok {
		return several.Earlier()
	}
	return 0
}

// copied lists what becomes of topics whose messages go through unchanged, for
// BlockCopier.CopyFrom.
func copied(routes []Route) []storage.TopicID {
	topics := make([]storage.TopicID, len(routes))
	for i := range routes {
		topics[i] = storage.NoTopic
		if rt := &routes[i]; !rt.Drop && !rt.Skip && rt.Program == nil && rt.thin == nil && rt.ReadStamp == nil &&
			rt.WriteStamp == nil {
			topics[i] = rt.Sink
		}
	}
	return topics
}

// thinOut sets the counter that the topics of one name share. Counters of a round before stay.
func thinOut(routes []Route, edit *selection.Edit, info *storage.Info) {
	shared := map[string]*selection.Thin{}
	for i := range routes {
		if rt := &routes[i]; rt.thin != nil {
			shared[info.Topics[i].Name] = rt.thin
		}
	}
	for i := range routes {
		name := info.Topics[i].Name
		if _, known := shared[name]; !known {
			shared[name] = edit.Thin(name)
		}
		routes[i].thin = shared[name]
	}
}

// A PlaceWriter is a storage.Writer that may write where a message lies instead of its bytes.
type PlaceWriter interface {
	// WriteAt is Write of a message whose Data lies in a file at an offset, as it is but for values of fixed size
	// that a conversion has changed.
	WriteAt(m *storage.Message, file string, offset int64) error

	// WantsPlaces reports whether WriteAt differs from Write.
	WantsPlaces() bool
}

// A PartWriter is a storage.BlockWriter whose blocks do not depend on their place in the file, nor on the
// blocks before, except that the first one may have what later ones need. Its blocks are SummedBlocks.
type PartWriter interface {
	// SkipPreamble makes the next block a later one: what only the first block has, such as definitions, is
	// not written. All topics are created before, and CopyFrom is called.
	SkipPreamble()
}

// A SummedBlock is a storage.PendingBlock that knows the sum of its bytes.
type SummedBlock interface {
	storage.PendingBlock

	// Sum returns the CRC-32 (IEEE) of the bytes that Append writes, without a head of the file. It is
	// called between Encode and Append.
	Sum() uint32
}
