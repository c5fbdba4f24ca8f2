package rosbag1

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/storage"
)

// An outChunk is a chunk on its way to the file. Write fills Buf, Encode makes of it all bytes of the chunk and its
// index records, INDEX_DATA, Append writes them at once. See chunked.OutChunk.
type outChunk struct {
	chunked.OutChunk
	w     *writer
	used  []usedConn
	index []indexRef
	start int64 // least and greatest time, ns
	end   int64

	defines bool   // it has the record of one of its connections
	sealed  []byte // encrypted: front, then data
}

// usedConn is a connection with messages in the chunk.
type usedConn struct {
	conn    int // index of Writer.conns
	id      uint32
	count   uint32
	last    uint64 // time of its last message, as sortable words
	sorted  bool   // its messages came in the order of time
	defined bool   // of a chunk that is copied: its record stands before its messages
}

// indexRef is an index entry: used connection, time, place.
type indexRef struct {
	when uint64 // seconds << 32 | nanoseconds
	slot uint32
	at   uint32
}

// newChunk starts a chunk.
func (w *writer) newChunk() *outChunk {
	k := w.freeChunk()
	k.Begin()
	k.used, k.index = k.used[:0], k.index[:0]
	k.start, k.end = math.MaxInt64, math.MinInt64
	k.defines = false
	w.Cur = k
	return k
}

func (w *writer) freeChunk() *outChunk {
	k, _ := w.pool.Get().(*outChunk)
	if k == nil {
		k = &outChunk{w: w, OutChunk: chunked.OutChunk{Front: chunkHead(w.codec)}}
	}
	return k
}

// chunkHead is the size of a CHUNK record without its data.
func chunkHead(c *compress.Codec) int {
	return 8 + 4 + len("compression=") + len(c.Name()) + 8 + 4 + len("size=") + 4
}

// messageHead is a MSG_DATA record up to its data, with zeros for what differs.
const messageHead = "\x26\x00\x00\x00" + "\x09\x00\x00\x00conn=\x00\x00\x00\x00" + "\x04\x00\x00\x00op=\x02" +
	"\x0d\x00\x00\x00time=\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00\x00"

// Leave lets the connections have other chunks. See chunked.Chunk.
func (k *outChunk) Leave() {
	for i := range k.used {
		k.w.conns[k.used[i].conn].chunk = nil
	}
}

// message adds a message of the connection in slot. It is the last one when its
// data is lent.
func (k *outChunk) message(m *storage.Message, slot int, lend bool) {
	at := len(k.Buf)
	if !lend {
		k.Reserve(len(m.Data)+64, min(k.w.threshold, defaultChunk)) // and its head
	}
	k.Buf = append(k.Buf, messageHead...)
	head := k.Buf[at : at+messageFixed]
	sec := uint64(m.LogTime) / 1e9
	nsec := uint64(m.LogTime) - sec*1e9
	u := &k.used[slot]
	binary.LittleEndian.PutUint32(head[13:], u.id)
	binary.LittleEndian.PutUint64(head[34:], nsec<<32|sec)
	binary.LittleEndian.PutUint32(head[42:], uint32(len(m.Data)))
	k.Data(m.Data, lend)

	when := sec<<32 | nsec
	u.add(when)
	k.start, k.end = min(k.start, m.LogTime), max(k.end, m.LogTime)
	k.index = append(k.index, indexRef{when, uint32(slot), uint32(at - k.Front)})
}

// add counts a message at a time, as sortable words.
func (u *usedConn) add(when uint64) {
	u.count++
	if when < u.last {
		u.sorted = false
	}
	u.last = when
}

// Encode compresses the chunk, unless it is already. See storage.PendingBlock.
func (k *outChunk) Encode() error {
	room, err := k.Pack(k.w.codec, k.w.level)
	if err == nil && k.w.enc != nil {
		data := (*room)[k.Front:]
		if room = &k.sealed; cap(k.sealed) < k.Front {
			k.sealed = make([]byte, k.Front, k.Front+len(data)+64)
		}
		k.sealed, err = k.w.enc.Encrypt(k.sealed[:k.Front], data)
	}
	if err != nil {
		return k.w.fail("chunk", err)
	}
	out := *room
	stored := k.Stored(out)
	if stored > maxChunk {
		return createError(k.w.path, fmt.Sprintf("chunk of %d bytes", stored), storage.ErrUnsupported,
			"choose a smaller chunk size")
	}
	h := binary.LittleEndian.AppendUint32(out[:0], uint32(k.Front-8))
	h = appendField(h, "compression", k.w.codec.Name())
	h = appendOp(h, opChunk)
	h = appendU32Field(h, "size", uint32(k.Raw))
	binary.LittleEndian.AppendUint32(h, uint32(stored))
	*room = k.appendIndex(out) // it may have grown
	k.End(*room, len(out))
	return nil
}

// appendIndex appends the INDEX_DATA records: connections in the order of id, entries in the order of time and
// then of the chunk.
func (k *outChunk) appendIndex(out []byte) []byte {
	order := make([]int, len(k.used))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(k.used[a].id, k.used[b].id) })
	total := len(k.used)*indexHead + len(k.index)*indexEntry
	out = slices.Grow(out, total)
	next := make([]int, len(k.used)) // where the next entry of each connection goes
	for _, slot := range order {
		u := &k.used[slot]
		out = k.w.order.appendHead(out, u.id, u.count)
		next[slot] = len(out)
		out = out[:len(out)+int(u.count)*indexEntry]
	}
	for _, e := range k.index {
		b := out[next[e.slot]:][:indexEntry]
		next[e.slot] += indexEntry
		binary.LittleEndian.PutUint64(b, e.when<<32|e.when>>32)
		binary.LittleEndian.PutUint32(b[8:], e.at)
	}
	for slot := range k.used {
		if u := &k.used[slot]; !u.sorted {
			k.sortEntries(out[next[slot]-int(u.count)*indexEntry : next[slot]])
		}
	}
	return out
}

// sortEntries sorts index entries by time, and by offset if it is equal.
func (k *outChunk) sortEntries(b []byte) {
	refs := make([]indexRef, 0, len(b)/indexEntry)
	for p := b; len(p) > 0; p = p[indexEntry:] {
		t := binary.LittleEndian.Uint64(p)
		refs = append(refs, indexRef{t<<32 | t>>32, 0, binary.LittleEndian.Uint32(p[8:])})
	}
	slices.SortFunc(refs, func(a, b indexRef) int {
		if c := cmp.Compare(a.when, b.when); c != 0 {
			return c
		}
		return cmp.Compare(a.at, b.at)
	})
	for i, e := range refs {
		binary.LittleEndian.PutUint64(b[i*indexEntry:], e.when<<32|e.when>>32)
		binary.LittleEndian.PutUint32(b[i*indexEntry+8:], e.at)
	}
}

// Append writes the chunk. See storage.PendingBlock.
func (k *outChunk) Append() error {
	w := k.w
	w.Mu.Lock()
	defer w.Mu.Unlock()
	if w.File == nil {
		return w.fail("the writer is closed", nil)
	}
	start := w.pos
	for _, b := range k.Pieces {
		if len(b) == 0 {
			continue
		}
		if _, err := w.File.WriteAt(b, w.pos); err != nil {
			return w.fail("chunk", err)
		}
		w.pos += int64(len(b))
	}
	w.infos = k.appendInfo(w.infos, start)
	w.Appended++
	if k.Done() {
		w.pool.Put(k)
	}
	return nil
}

// appendInfo appends the CHUNK_INFO record of a chunk at pos.
func (k *outChunk) appendInfo(dst []byte, pos int64) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = appendU64Field(dst, "chunk_pos", uint64(pos))
	dst = appendU32Field(dst, "count", uint32(len(k.used)))
	dst = appendTimeField(dst, "end_time", k.end)
	dst = appendOp(dst, opChunkInfo)
	dst = appendTimeField(dst, "start_time", k.start)
	dst = appendU32Field(dst, "ver", 1)
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(8*len(k.used)))
	slices.SortFunc(k.used, func(a, b usedConn) int { return cmp.Compare(a.id, b.id) })
	for _, u := range k.used {
		dst = binary.LittleEndian.AppendUint32(dst, u.id)
		dst = binary.LittleEndian.AppendUint32(dst, u.count)
	}
	return dst
}

var _ storage.PendingBlock = (*outChunk)(nil)
