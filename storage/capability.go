package storage

import (
	"context"
	"unsafe"
)

// The interfaces of this file, Querier, SectionLister, ExtraReader and ExtraWriter are
// optional. ReaderCapabilities and WriterCapabilities are the one place where they are probed. The
// plain path has the same result without them, and storagetest compares both with each other.

// A BlockReader can read parts of the recording independently.
type BlockReader interface {
	// Blocks lists the independently readable blocks in the order of the file, and what the recording promises about
	// their times. Reading all of them returns the messages of ReadNext in the same order. The list belongs to the
	// caller.
	//
	// If times are wanted, the Reader finds out the times of blocks that may have messages in this range, without
	// reading all messages: by an index of times, or by what stands before the data of messages. Then the promise is
	// OrderBlocks, in which the times of other blocks may be wider bounds, outside the range. If only reading all
	// messages can find the times, list and promise are as without wanted.
	Blocks(ctx context.Context, wanted *TimeRange) ([]Block, Order, error)

	// ReadBlock reads block i of Blocks into b, replacing what b held. It may be
	// called concurrently, with different batches. In a damaged block it returns
	// what it could read and adds a warning to Damage.
	ReadBlock(ctx context.Context, i int, b *Batch) error
}

// Order is what a recording promises about the log times of its blocks. Promises of an
// index are hints: it may be damaged.
type Order uint8

const (
	OrderNone   Order = iota // nothing
	OrderParts               // Start and End of a block bound the part of the recording that it lies in, such as a file
	OrderBlocks              // Start and End belong to each block itself; a block that is not Timed has no messages
)

// A TimeRange is the log times from First to Last, both included.
type TimeRange struct{ First, Last int64 }

// A Block is a part of a recording that can be read by itself.
type Block struct {
	Offset, Size int64 // where it lies and how many bytes are read there; Offset is -1 if that has no meaning
	RawSize      int64 // bytes of memory that reading it takes, approximately
	Messages     int64 // -1 when not known
	Start, End   int64 // least and greatest LogTime, when Timed, as the Order promises
	Timed        bool  // Start and End are known

	// Topics are the topics of the block's messages, each once. They come from an index
	// and are hints, too; empty if not known. Blocks may share a slice: it must not be
	// changed.
	Topics []TopicID
}

// A Batch holds the messages of one block and their memory, to be used again
// and again. The zero value is ready. Messages[i].Data points into Buf, and is
// valid until the next ReadBlock into this batch.
type Batch struct {
	Messages []Message
	Buf      []byte // the bytes that Data points into; grown by ReadBlock and kept
	Scratch  []byte // second buffer of ReadBlock, for bytes before decompression

	// Wanted has the topics that are asked for, by TopicID; nil: all. ReadBlock may leave out messages of other
	// topics, and what is damaged in them, where it need not read them. It then sets neither File nor Stored.
	Wanted []bool

	// File is the file in which Buf lies from At on, byte by byte, as long as Messages are valid. "": it lies in no
	// file, such as after decompression. A ReadBlock may set it; who uses the Batch again clears it first.
	File string
	At   int64

	// Stored is what a BlockCopier of the same format needs to write the block as it is stored,
	// together with Scratch; nil if the block cannot be copied. It is valid as long as Messages.
	Stored any
}

// Place points the Data of all messages into Buf, where they lie one after the other: until then only their lengths
// count, as Buf may move while it grows.
func (b *Batch) Place() {
	at := 0
	for i := range b.Messages {
		n := len(b.Messages[i].Data)
		b.Messages[i].Data = b.Buf[at : at+n : at+n]
		at += n
	}
}

// PlaceOf returns where data lies in a file; file is "" if it does not, or is no part of Buf.
func (b *Batch) PlaceOf(data []byte) (file string, offset int64) {
	if b.File == "" || len(data) == 0 || len(b.Buf) == 0 {
		return "", 0
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(data))) - uintptr(unsafe.Pointer(unsafe.SliceData(b.Buf)))
	if at > uintptr(len(b.Buf)-1) || uintptr(len(data)) > uintptr(len(b.Buf))-at {
		return "", 0
	}
	return b.File, b.At + int64(at)
}

// Grow returns a slice of length n that reuses buf's memory if it can. The
// contents are undefined.
func Grow(buf []byte, n int) []byte {
	if cap(buf) >= n {
		return buf[:n]
	}
	buf = make([]byte, n)
	large(buf)
	return buf
}

// A BlockWriter can leave the costly part of writing, compression and the write
// itself, to its caller's goroutines.
type BlockWriter interface {
	// OnBlock must be called before the first Write. From then on each full
	// block is handed to f from within Write or Flush, instead of being encoded
	// and written there. The caller runs Encode of each block, in any goroutine,
	// then Append of each in the order in which f received them. Append may run
	// while Write fills the next block, but for a block that is Lent. An error from
	// f fails the Write.
	OnBlock(f func(PendingBlock) error)

	// Flush hands out the last, partly filled block. All blocks must have been appended before Finish or Commit
	// is called. If more messages will follow, such as of a running system, the messages so far can be read when
	// the blocks have been appended, even if the process is killed, as far as the format can do it; else only
	// Finish or Commit may follow.
	Flush(more bool) error
}

// A PendingBlock is a full block on its way to the file.
type PendingBlock interface {
	Encode() error // compress; may run concurrently with everything else
	Append() error // write to the file, in order, one at a time

	// Lent is true for a block that points into the Data of the message that is
	// being written, which saves a copy of a large one: f must have appended it,
	// and so all blocks before it, when it returns.
	Lent() bool
}

// A BlockCopier can take blocks of a Reader of its own format as they are
// stored, instead of packing and compressing their messages again.
type BlockCopier interface {
	// CopyFrom sets the readers whose blocks may be copied, and the topics of the writer for their topics: topics[i] is
	// the writer's topic for topic i of the first reader, NoTopic if its messages are left out or changed; the topics of
	// the second reader follow, and so on. It is called after the last CreateTopic and before the first message. It
	// returns true if some blocks may be copied: ReadBlock sets Batch.Stored of blocks that are read from then on.
	// Several writers that were made alike and have the same topics may copy from the same readers, each block into one
	// of them.
	CopyFrom(readers []Reader, topics []TopicID) bool

	// CopyBlock does what writing all of b.Messages would do, which must be all
	// that ReadBlock returned, unchanged. It returns false if the block cannot
	// be copied at this point: then nothing was written, and its messages are to
	// be written one by one. It keeps no reference to Buf and Scratch.
	CopyBlock(b *Batch) (bool, error)
}

// A Resumer is a Reader of something that goes on, such as a running system. It reads in rounds:
// ReadNext waits for messages, and returns io.EOF at the end of a round. A round ends before the
// first message of a topic that Info does not have, and at least every few seconds.
type Resumer interface {
	// Resume begins the next round, after io.EOF. Info then also has the topics that came
	// meanwhile, after the earlier ones. more is false if nothing can follow: the next round is the
	// last one, and has no messages.
	Resume() (more bool, err error)
}

// A LossLister is a Writer that looks inside messages, such as the Writer of an export: it may have
// to leave out messages, or values of messages.
type LossLister interface {
	// Losses lists what was lost, in the order of the topics. It is called when all blocks have
	// been appended.
	Losses() []WriterLoss
}

// A WriterLoss is a loss that a Writer has found itself.
type WriterLoss struct {
	Topic    TopicID
	Code     string // short and stable, as in convert.Loss
	Messages int64
	Message  string
	LeftOut  bool // the messages are not in the output; else values of them are lost or changed
	ByDesign bool // the format has no place for it by its nature
	Note     bool // nothing is lost: it is a decision worth knowing
}

// ReaderCaps are the optional interfaces of a Reader, nil if not implemented.
type ReaderCaps struct {
	Blocks   BlockReader
	Query    Querier
	Extras   ExtraReader
	Sections SectionLister
	Resume   Resumer
}

// ReaderCapabilities probes r.
func ReaderCapabilities(r Reader) ReaderCaps {
	var c ReaderCaps
	r = reader(r)
	c.Blocks, _ = r.(BlockReader)
	c.Query, _ = r.(Querier)
	c.Extras, _ = r.(ExtraReader)
	c.Sections, _ = r.(SectionLister)
	c.Resume, _ = r.(Resumer)
	return c
}

// WriterCaps are the optional interfaces of a Writer, nil if not implemented.
type WriterCaps struct {
	Blocks BlockWriter
	Copy   BlockCopier
	Extras ExtraWriter
	Losses LossLister
}

// WriterCapabilities probes w.
func WriterCapabilities(w Writer) WriterCaps {
	var c WriterCaps
	c.Blocks, _ = w.(BlockWriter)
	c.Copy, _ = w.(BlockCopier)
	c.Extras, _ = w.(ExtraWriter)
	c.Losses, _ = w.(LossLister)
	return c
}
