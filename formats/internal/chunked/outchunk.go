package chunked

import (
	"hash/crc32"
	"slices"

	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/storage"
)

// An OutChunk is the bytes of a chunk on its way to the file. The front of Buf has room for the chunk's header, so
// that plain data is never copied. A chunk that is copied from another file comes compressed. The data of a large
// message that ends a plain chunk is not copied either, but lent by the caller of Write:
//
//	Buf: [header][records ... head of the message] lent: [data] Buf: [index of the chunk]
type OutChunk struct {
	Front  int       // bytes kept for the header
	Buf    []byte    // front, then records
	Copied bool      // it comes compressed
	Raw    int       // bytes before compression, from Pack on
	Pieces [3][]byte // what Append writes, from End on

	packed []byte // compressed: front, then data
	lent   []byte // data of the last record; nil: it is in Buf
}

// The sizes of what a chunk has, in bytes.
const (
	firstRoom = 64 << 10  // room until there is more: the room of a whole chunk was most of the memory of small recordings
	maxPooled = 64 << 20  // the largest buffer that is kept for the next chunk
	MinLent   = 256 << 10 // the least data that is lent: a copy of less takes no longer than to wait for the write
)

// Begin makes the chunk an empty one.
func (k *OutChunk) Begin() {
	if k.Buf == nil {
		k.Buf = make([]byte, k.Front, k.Front+firstRoom)
	}
	k.Buf, k.Copied, k.lent = k.Buf[:k.Front], false, nil
}

// Copy makes the chunk one whose data is compressed already, from raw bytes.
func (k *OutChunk) Copy(data []byte, raw int) {
	k.Copied, k.Raw, k.lent = true, raw, nil
	k.packed = append(storage.Grow(k.packed[:0], k.Front), data...)
}

// Size returns how many bytes the records have so far.
func (k *OutChunk) Size() int { return len(k.Buf) - k.Front + len(k.lent) }

// Stored returns how many bytes the data has as it is stored in a buffer of Pack.
func (k *OutChunk) Stored(packed []byte) int { return len(packed) - k.Front + len(k.lent) }

// CRC returns the CRC-32 (IEEE) of the records.
func (k *OutChunk) CRC() uint32 {
	return crc32.Update(crc32.ChecksumIEEE(k.Buf[k.Front:]), crc32.IEEETable, k.lent)
}

// Lent is true while a message's data is not in the chunk. See storage.PendingBlock.
func (k *OutChunk) Lent() bool { return k.lent != nil }

// Reserve makes room for n bytes. If they do not fit, it makes room for a whole chunk.
func (k *OutChunk) Reserve(n, whole int) {
	if cap(k.Buf)-len(k.Buf) < n {
		k.Buf = slices.Grow(k.Buf, max(n, whole+64<<10-len(k.Buf)))
	}
}

// Data adds the data of a message after its head. It ends the chunk if it is lent.
func (k *OutChunk) Data(data []byte, lend bool) {
	if lend {
		k.lent = data
	} else {
		k.Buf = append(k.Buf, data...)
	}
}

// Pack compresses the chunk, unless it is already, and returns the buffer with the front and the data as they are
// stored, but for lent data.
func (k *OutChunk) Pack(codec *compress.Codec, level int) (*[]byte, error) {
	if k.Copied {
		return &k.packed, nil
	}
	if k.Raw = k.Size(); codec == compress.None {
		return &k.Buf, nil
	}
	if cap(k.packed) < k.Front {
		k.packed = make([]byte, k.Front, k.Front+k.Raw/2)
	}
	var err error
	k.packed, err = codec.Encode(k.packed[:k.Front], k.Buf[k.Front:], level)
	return &k.packed, err
}

// End makes the pieces that Append writes of a buffer that has the whole chunk, and after n bytes what follows the
// lent data.
func (k *OutChunk) End(out []byte, n int) {
	k.Pieces = [3][]byte{out}
	if k.Lent() {
		k.Pieces = [3][]byte{out[:n], k.lent, out[n:]}
	}
}

// Len returns how many bytes Append writes.
func (k *OutChunk) Len() int { return len(k.Pieces[0]) + len(k.Pieces[1]) + len(k.Pieces[2]) }

// Done lets go of what was written, and reports whether the chunk is to be used again.
func (k *OutChunk) Done() bool {
	k.Pieces, k.lent = [3][]byte{}, nil
	return max(cap(k.Buf), cap(k.packed)) <= maxPooled
}
