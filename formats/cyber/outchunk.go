package cyber

import (
	"encoding/binary"
	"sync"

	pb "github.com/bagconv/bagconv/proto/cyber"
	"github.com/bagconv/bagconv/storage"
	"google.golang.org/protobuf/encoding/protowire"
)

// An outChunk is a chunk on its way to the file, a pair of sections:
//
//	CHUNK_HEADER  16 bytes, ChunkHeader{begin_time, end_time, message_number, raw_size}
//	CHUNK_BODY    16 bytes, ChunkBody{messages...}
//
// Write appends each message to the body as it comes, as bytes of a
// SingleMessage:
//
//	0a length  0a length channel_name  10 time  1a length content
//
// The body stands in blocks of one size, so that it never has to be copied to
// grow. The front of the first block has room for what stands before the body. The
// data of a message that is larger than a chunk ends it, and is not copied, but lent
// by the caller of Write.
type outChunk struct {
	w        *writer
	seg      *outSegment
	channels []*outChannel // channels known when the chunk was full
	blocks   [][]byte      // full, of blockSize
	tail     []byte        // the block being filled
	lent     []byte        // data of the last message, after tail; nil: it is in the blocks
	body     int64         // bytes of ChunkBody
	raw      int64         // bytes of content
	count    int64
	begin    int64 // least and greatest time by earlier and later, ns
	end      int64
}

const (
	blockSize   = 256 << 10
	sectionHead = 16
	maxFront    = sectionHead + 4*(1+binary.MaxVarintLen64) + sectionHead // what can stand before the body
	maxFixed    = 3 + 3*binary.MaxVarintLen64                             // of a message, without name and content
)

// A block holds the head of any message.
var _ [blockSize - maxFront - maxName - 8 - maxFixed]struct{}

// blockPool has free *[blockSize]byte.
var blockPool = sync.Pool{New: func() any { return new([blockSize]byte) }}

// messagePrefix is what a SingleMessage of a channel starts with: its name and
// the tag of the time.
func messagePrefix(name string) []byte {
	b := protowire.AppendTag(nil, 1, protowire.BytesType)
	b = protowire.AppendString(b, name)
	return protowire.AppendTag(b, 2, protowire.VarintType)
}

// newChunk starts a chunk with a first message at time t.
func (w *writer) newChunk(t int64) *outChunk {
	w.Cur = &outChunk{w: w, seg: w.seg, tail: blockPool.Get().(*[blockSize]byte)[:maxFront], begin: t, end: t}
	return w.Cur
}

// Leave takes the channels that are known by now. See chunked.Chunk.
func (k *outChunk) Leave() { k.channels = k.w.channels[:len(k.w.channels):len(k.w.channels)] }

// add appends a message: size is the length of the SingleMessage, whole is size with its tag and
// length. The message is the last one if its data is lent.
func (k *outChunk) add(prefix []byte, m *storage.Message, size, whole int64, lend bool) {
	b := k.tail
	if cap(b)-len(b) < len(prefix)+maxFixed {
		b = k.grow(b)
	}
	b = append(b, 1<<3|byte(protowire.BytesType))
	b = protowire.AppendVarint(b, uint64(size))
	b = append(b, prefix...)
	b = protowire.AppendVarint(b, uint64(m.LogTime))
	b = append(b, 3<<3|byte(protowire.BytesType))
	b = protowire.AppendVarint(b, uint64(len(m.Data)))
	data := m.Data
	if lend {
		k.lent, data = data, nil
	}
	for len(data) > cap(b)-len(b) {
		n := cap(b) - len(b)
		b = k.grow(append(b, data[:n]...))
		data = data[n:]
	}
	k.tail = append(b, data...)
	k.body += whole
	k.raw += int64(len(m.Data))
	k.count++
	k.begin, k.end = earlier(k.begin, m.LogTime), later(k.end, m.LogTime)
}

// grow puts b among the full blocks and returns an empty one.
func (k *outChunk) grow(b []byte) []byte {
	k.blocks = append(k.blocks, b)
	return blockPool.Get().(*[blockSize]byte)[:0]
}

// earlier and later compare times as the file has them, without a sign.
func earlier(a, b int64) int64 { return int64(min(uint64(a), uint64(b))) }
func later(a, b int64) int64   { return int64(max(uint64(a), uint64(b))) }

// Encode has nothing to do. See storage.PendingBlock.
func (k *outChunk) Encode() error { return nil }

// Lent is true while a message's data is not in the chunk. See storage.PendingBlock.
func (k *outChunk) Lent() bool { return k.lent != nil }

// Append writes the chunk, and before it the channels that its segment does not
// have yet. See storage.PendingBlock.
func (k *outChunk) Append() error {
	w := k.w
	w.Mu.Lock()
	defer w.Mu.Unlock()
	if w.broken != nil {
		return w.broken
	}
	err := w.enter(k.seg)
	if err == nil {
		err = k.seg.putChunk(k)
	}
	if err == nil {
		err = k.seg.out.Flush() // a chunk can be read if the process is killed
	}
	if err != nil {
		w.broken = err
		return err
	}
	w.Appended++
	for _, b := range k.blocks {
		blockPool.Put((*[blockSize]byte)(b[:blockSize]))
	}
	k.blocks, k.tail, k.lent = nil, nil, nil // they are others' now
	return nil
}

// close ends the last block and puts the headers of both sections before the
// body. It returns how many bytes at the front of the first block are not used,
// and the length of the first section with its header.
func (k *outChunk) close() (skip int, head int64) {
	k.blocks = append(k.blocks, k.tail)
	b := appendSection(make([]byte, 0, maxFront), pb.SectionType_SECTION_CHUNK_HEADER, 0)
	b = appendVarintField(b, 1, k.begin)
	b = appendVarintField(b, 2, k.end)
	b = appendVarintField(b, 3, k.count)
	b = appendVarintField(b, 4, k.raw)
	head = int64(len(b))
	appendSection(b[:0], pb.SectionType_SECTION_CHUNK_HEADER, head-sectionHead)
	b = appendSection(b, pb.SectionType_SECTION_CHUNK_BODY, k.body)
	skip = maxFront - len(b)
	copy(k.blocks[0][skip:], b)
	return skip, head
}

// appendSection appends a section header: u32 type, 4 bytes of padding in
// Apollo's struct, i64 size of what follows.
func appendSection(b []byte, t pb.SectionType, size int64) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(t))
	b = append(b, 0, 0, 0, 0)
	return binary.LittleEndian.AppendUint64(b, uint64(size))
}

// appendVarintField appends field n. v is not negative.
func appendVarintField(b []byte, n protowire.Number, v int64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), uint64(v))
}

// appendStringField appends field n, also when s is empty.
func appendStringField(b []byte, n protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, n, protowire.BytesType), s)
}

// appendBytesHead appends tag and length of field n, whose bytes follow.
func appendBytesHead(b []byte, n protowire.Number, length int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.BytesType), uint64(length))
}

var _ storage.PendingBlock = (*outChunk)(nil)
