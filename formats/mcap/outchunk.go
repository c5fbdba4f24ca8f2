package mcap

import (
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"

	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/internal/crc"
	"github.com/bagconv/bagconv/storage"
)

// An outChunk is a chunk on its way to the file. Write fills buf, Encode makes of it
// all bytes of the chunk and its Message Index records, Append writes them at once.
// The front of buf has room for the Chunk's header, so that plain data is never
// copied. A chunk that is copied from another file comes with its data compressed.
// The data of a large message that ends a plain chunk is not copied either, but lent
// by the caller of Write:
//
//	buf: [header][records ... head of the message] lent: [data] buf: [Message Index records]
type outChunk struct {
	w      *writer
	front  int    // bytes kept for the header
	before []byte // records that stand before the chunk: definitions of a copied chunk
	buf    []byte // front, then records
	ready  bool   // compressed already, with raw and sum known
	raw    int    // bytes before compression
	sum    uint32 // checksum of these bytes
	lent   []byte // data of the last record; nil: it is in buf
	used   []usedChannel
	index  []indexRef
	start  uint64 // least and greatest log time as the file has them, ns
	end    uint64

	packed []byte // compressed: front, then data
	out    []byte // what Append writes, up to the lent data
	after  []byte // what Append writes after the lent data
	whole  uint32 // checksum of all that Append writes but before
	frame  []byte // what Append writes, if the file is compressed as a whole
	stored int    // bytes of the data
	length int    // of the Chunk record
}

// usedChannel is a channel with messages in the chunk.
type usedChannel struct {
	channel int // index of Writer.channels
	id      uint16
	count   int
	at      int // of its Message Index record, after the chunk
}

// indexRef is an entry of a Message Index: time, place, used channel.
type indexRef struct {
	log, at uint64
	slot    int
}

func (k *outChunk) rawSize() int { return len(k.buf) - k.front + len(k.lent) }

// Lent is true while a message's data is not in the chunk. See storage.PendingBlock.
func (k *outChunk) Lent() bool { return k.lent != nil }

// firstRoom is the room of a chunk until it has more: the room of a whole chunk was most of the
// memory of small recordings.
const firstRoom = 64 << 10

// reserve makes room for n bytes. If they do not fit, it makes room for a whole chunk.
func (k *outChunk) reserve(n int) {
	if cap(k.buf)-len(k.buf) < n {
		k.buf = slices.Grow(k.buf, max(n, min(k.w.threshold, defaultChunk)+64<<10-len(k.buf)))
	}
}

// newChunk starts a chunk.
func (w *writer) newChunk() *outChunk {
	k := w.freeChunk()
	if k.buf == nil {
		k.buf = make([]byte, k.front, k.front+firstRoom)
	}
	k.buf = k.buf[:k.front]
	k.used, k.index = k.used[:0], k.index[:0]
	k.start, k.end = math.MaxUint64, 0
	w.cur = k
	return k
}

func (w *writer) freeChunk() *outChunk {
	k, _ := w.pool.Get().(*outChunk)
	if k == nil {
		k = &outChunk{w: w, front: chunkFixed + len(codecName(w.codec))}
	}
	k.ready, k.lent, k.before = false, nil, k.before[:0]
	return k
}

// maxPooled is the largest buffer that is kept for the next chunk.
const maxPooled = 64 << 20

// minLent is the least data that is lent and not copied: a copy of less takes no
// longer than to wait for the write.
const minLent = 256 << 10

// message adds a message of the channel in slot. It is the last one when its data is
// lent.
func (k *outChunk) message(m *storage.Message, slot int, lend bool) {
	at := len(k.buf) - k.front
	u := &k.used[slot]
	if !lend {
		k.reserve(len(m.Data) + 64) // and its head
	}
	rec := message{channel: u.id, sequence: m.Sequence, log: uint64(m.LogTime), publish: uint64(m.PublishTime),
		data: m.Data}
	k.buf = rec.appendHead(k.buf)
	if lend {
		k.lent = m.Data
	} else {
		k.buf = append(k.buf, m.Data...)
	}
	u.count++
	k.start, k.end = min(k.start, rec.log), max(k.end, rec.log)
	k.index = append(k.index, indexRef{rec.log, uint64(at), slot})
}

// Encode compresses the chunk, unless it is already, and what is written of it if the file is
// compressed as a whole. See storage.PendingBlock.
func (k *outChunk) Encode() error {
	err := k.encode()
	if p := k.w.packing; p != nil && err == nil {
		k.frame, err = compress.Zstd.Encode(k.frame[:0], k.out, p.level)
	}
	return err
}

func (k *outChunk) encode() error {
	w := k.w
	if !w.layout.chunks {
		k.out = k.buf[k.front:]
		k.whole = crc32.Update(crc32.ChecksumIEEE(k.out), crc32.IEEETable, k.lent)
		return nil
	}
	out := k.packed
	if !k.ready {
		k.raw = k.rawSize()
		k.sum = crc32.Update(crc32.ChecksumIEEE(k.buf[k.front:]), crc32.IEEETable, k.lent)
		if out = k.buf; w.codec != compress.None {
			if cap(k.packed) < k.front {
				k.packed = make([]byte, k.front, k.front+k.raw/2)
			}
			var err error
			k.packed, err = w.codec.Encode(k.packed[:k.front], k.buf[k.front:], w.level)
			if err != nil {
				return w.fail("chunk", err)
			}
			out = k.packed
		}
	}
	k.stored = len(out) - k.front + len(k.lent)
	k.length = len(out) + len(k.lent)
	h, _ := beginRecord(out[:0], opChunk)
	binary.LittleEndian.PutUint64(h[1:], uint64(k.length-recordHead))
	h = binary.LittleEndian.AppendUint64(h, k.start)
	h = binary.LittleEndian.AppendUint64(h, k.end)
	h = binary.LittleEndian.AppendUint64(h, uint64(k.raw))
	h = binary.LittleEndian.AppendUint32(h, k.sum)
	h = appendStr(h, codecName(w.codec))
	binary.LittleEndian.AppendUint64(h, uint64(k.stored))
	data := len(out)
	if w.layout.messageIndexes {
		out = k.appendIndex(out)
	}
	if w.codec == compress.None {
		k.buf = out // it may have grown
	} else {
		k.packed = out
	}
	if k.out = out; w.codec == compress.None {
		k.whole = crc.Join(crc32.IEEE, crc32.ChecksumIEEE(out[:k.front]), k.sum, int64(k.raw)) // large data is summed once
		k.whole = crc32.Update(k.whole, crc32.IEEETable, out[data:])
	} else {
		k.whole = crc32.ChecksumIEEE(out)
	}
	k.after = nil
	if k.Lent() {
		k.out, k.after = out[:data], out[data:]
	}
	return nil
}

// appendIndex appends the Message Index records: channels in the order of id, entries
// in the order of the chunk.
func (k *outChunk) appendIndex(out []byte) []byte {
	order := make([]int, len(k.used))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(k.used[a].id, k.used[b].id) })
	start := len(out)
	out = slices.Grow(out, len(k.used)*(recordHead+indexFixed+len(padding))+len(k.index)*indexEntry)
	next := make([]int, len(k.used)) // where the next entry of each channel goes
	for _, slot := range order {
		u := &k.used[slot]
		u.at = len(out) - start
		var at int
		out, at = beginRecord(out, opMessageIndex)
		out = binary.LittleEndian.AppendUint16(out, u.id)
		out = binary.LittleEndian.AppendUint32(out, uint32(u.count*indexEntry))
		next[slot] = len(out)
		out = endRecord(out[:len(out)+u.count*indexEntry], at)
	}
	for i := range k.index {
		e := &k.index[i]
		b := out[next[e.slot]:][:indexEntry]
		next[e.slot] += indexEntry
		binary.LittleEndian.PutUint64(b, e.log)
		binary.LittleEndian.PutUint64(b[8:], e.at)
	}
	slices.SortFunc(k.used, func(a, b usedChannel) int { return cmp.Compare(a.id, b.id) })
	return out
}

// Sum returns the checksum of what Append writes. See Streamable of storage.Format.
func (k *outChunk) Sum() uint32 {
	return crc.Join(crc32.IEEE, crc32.ChecksumIEEE(k.before), k.whole, int64(len(k.out)+len(k.lent)+len(k.after)))
}

// Append writes the chunk. See storage.PendingBlock.
func (k *outChunk) Append() error {
	w := k.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.begin(); err != nil {
		return err
	}
	if err := w.put(k.before); err != nil {
		return err
	}
	offset := w.pos
	if w.packing != nil {
		if err := w.packing.put(w, k.frame); err != nil {
			return err
		}
		w.pos += int64(len(k.out))
	} else {
		for _, b := range [][]byte{k.out, k.lent, k.after} {
			if err := w.write(b); err != nil {
				return err
			}
		}
	}
	w.sum = crc.Join(crc32.IEEE, w.sum, k.whole, w.pos-offset)
	w.account(k, offset)
	w.appended++
	k.out, k.lent, k.after = nil, nil, nil
	if max(cap(k.buf), cap(k.packed)) <= maxPooled {
		w.pool.Put(k)
	}
	return nil
}
