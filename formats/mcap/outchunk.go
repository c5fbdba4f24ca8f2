package mcap

import (
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/internal/crc"
	"github.com/bagconv/bagconv/storage"
)

// An outChunk is a chunk on its way to the file. Write fills Buf, Encode makes of it all bytes of the chunk and its
// Message Index records, Append writes them at once. See chunked.OutChunk.
type outChunk struct {
	chunked.OutChunk
	w      *writer
	before []byte // records that stand before the chunk: definitions of a copied chunk
	sum    uint32 // checksum of the bytes before compression
	used   []usedChannel
	index  []indexRef
	start  uint64 // least and greatest log time as the file has them, ns
	end    uint64

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

// newChunk starts a chunk.
func (w *writer) newChunk() *outChunk {
	k := w.freeChunk()
	k.Begin()
	k.used, k.index = k.used[:0], k.index[:0]
	k.start, k.end = math.MaxUint64, 0
	w.Cur = k
	return k
}

func (w *writer) freeChunk() *outChunk {
	k, _ := w.pool.Get().(*outChunk)
	if k == nil {
		k = &outChunk{w: w, OutChunk: chunked.OutChunk{Front: chunkFixed + len(codecName(w.codec))}}
	}
	k.before = k.before[:0]
	return k
}

// Leave lets the channels have other chunks. See chunked.Chunk.
func (k *outChunk) Leave() {
	for i := range k.used {
		k.w.channels[k.used[i].channel].chunk = nil
	}
}

// message adds a message of the channel in slot. It is the last one when its data is
// lent.
func (k *outChunk) message(m *storage.Message, slot int, lend bool) {
	at := k.Size()
	u := &k.used[slot]
	if !lend {
		k.Reserve(len(m.Data)+64, min(k.w.threshold, defaultChunk)) // and its head
	}
	rec := message{channel: u.id, sequence: m.Sequence, log: uint64(m.LogTime), publish: uint64(m.PublishTime),
		data: m.Data}
	k.Buf = rec.appendHead(k.Buf)
	k.Data(m.Data, lend)
	u.count++
	k.start, k.end = min(k.start, rec.log), max(k.end, rec.log)
	k.index = append(k.index, indexRef{rec.log, uint64(at), slot})
}

// Encode compresses the chunk, unless it is already, and what is written of it if the file is
// compressed as a whole. See storage.PendingBlock.
func (k *outChunk) Encode() error {
	err := k.encode()
	if p := k.w.packing; p != nil && err == nil {
		k.frame, err = compress.Zstd.Encode(k.frame[:0], k.Pieces[0], p.level)
	}
	return err
}

func (k *outChunk) encode() error {
	w := k.w
	if !k.Copied {
		k.sum = k.CRC()
	}
	if !w.layout.chunks {
		k.End(k.Buf[k.Front:], len(k.Buf)-k.Front)
		k.whole = k.sum
		return nil
	}
	room, err := k.Pack(w.codec, w.level)
	if err != nil {
		return w.fail("chunk", err)
	}
	out := *room
	k.stored = k.Stored(out)
	k.length = k.Front + k.stored
	h, _ := beginRecord(out[:0], opChunk)
	binary.LittleEndian.PutUint64(h[1:], uint64(k.length-recordHead))
	h = binary.LittleEndian.AppendUint64(h, k.start)
	h = binary.LittleEndian.AppendUint64(h, k.end)
	h = binary.LittleEndian.AppendUint64(h, uint64(k.Raw))
	h = binary.LittleEndian.AppendUint32(h, k.sum)
	h = appendStr(h, codecName(w.codec))
	binary.LittleEndian.AppendUint64(h, uint64(k.stored))
	data := len(out)
	if w.layout.messageIndexes {
		out = k.appendIndex(out)
		*room = out // it may have grown
	}
	k.End(out, data)
	if w.codec == compress.None {
		k.whole = crc.Join(crc32.IEEE, crc32.ChecksumIEEE(out[:k.Front]), k.sum, int64(k.Raw)) // large data is summed once
		k.whole = crc32.Update(k.whole, crc32.IEEETable, out[data:])
	} else {
		k.whole = crc32.ChecksumIEEE(out)
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

// Sum returns the checksum of what Append writes. See storage.Layout.
func (k *outChunk) Sum() uint32 {
	return crc.Join(crc32.IEEE, crc32.ChecksumIEEE(k.before), k.whole, int64(k.Len()))
}

// Append writes the chunk. See storage.PendingBlock.
func (k *outChunk) Append() error {
	w := k.w
	w.Mu.Lock()
	defer w.Mu.Unlock()
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
		w.pos += int64(k.Len())
	} else {
		for _, b := range k.Pieces {
			if err := w.write(b); err != nil {
				return err
			}
		}
	}
	w.sum = crc.Join(crc32.IEEE, w.sum, k.whole, w.pos-offset)
	w.account(k, offset)
	w.Appended++
	if k.Done() {
		w.pool.Put(k)
	}
	return nil
}
