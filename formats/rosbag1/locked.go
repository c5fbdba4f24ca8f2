package rosbag1

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/storage"
)

// In an encrypted bag the data of chunks is encrypted after it was compressed, and so are both
// header blocks of each connection in the trailer: u32 length, encrypted fields of
// the record, u32 length, encrypted fields of the connection header. All else is in clear: where
// chunks are, how many messages they have, and their times.

// hidden are the connections of a bag that is locked: how many there are, and how many messages
// each id in the CHUNK_INFO records has.
type hidden struct {
	number int
	byID   map[uint32]*connection
}

// connection returns the connection with an id; nil if there are more ids than connections.
func (h *hidden) connection(id uint32) *connection {
	c := h.byID[id]
	if c == nil && len(h.byID) < h.number {
		if h.byID == nil {
			h.byID = map[uint32]*connection{}
		}
		c = &connection{id: id}
		h.byID[id] = c
	}
	return c
}

// fact tells of the connections what can be read without a key.
func (h *hidden) fact() storage.Fact {
	const shown = 16
	var counts []string
	for i, id := range slices.Sorted(maps.Keys(h.byID)) {
		if i == shown {
			counts = append(counts, "...")
			break
		}
		counts = append(counts, fmt.Sprintf("%d: %d", id, h.byID[id].count))
	}
	return storage.Fact{Key: "connections", Value: fmt.Sprintf("%d, with an encrypted topic; messages by id: %s", h.number,
		strings.Join(counts, ", "))}
}

// headerFields returns the fields of a record header that reads well.
func headerFields(b []byte) map[string]string {
	fields := map[string]string{}
	for len(b) > 0 {
		name, value, rest, err := nextField(b)
		if err != nil {
			break
		}
		fields[string(name)], b = string(value), rest
	}
	return fields
}

// unlock gets the key of an encrypted bag. Without a key, only Info can be read, if that is enough.
func (r *reader) unlock(fields map[string]string, o *storage.ReadOptions) error {
	name := fields[fieldEncryptor]
	fact := fmt.Sprintf("%.60s", name)
	if user := fields[fieldGPGUser]; user != "" {
		fact += fmt.Sprintf(", for the gpg user %.200s", user)
	}
	r.src.Facts = append(r.src.Facts, storage.Fact{Key: "encryption", Value: fact})
	enc, err := openEncryptor(r.src.Ctx, fields, o.Key)
	switch {
	case err == nil:
		r.enc = enc
		return nil
	case errors.Is(err, storage.ErrKey) && o.InfoOnlyAbove > 0 && o.Key.Reveal() == nil:
		r.locked = true
		return r.src.Warn("encrypted", int64(len(versionLine)), false,
			"the bag is encrypted, and there is no key: topics and messages cannot be read")
	}
	return r.noKey(fmt.Sprintf("the bag is encrypted with %.60q", name), err)
}

// noKey returns the error for what needs the key.
func (r *reader) noKey(what string, err error) error {
	e := r.src.Fail(-1, what, err)
	e.Hint = hints["encrypted"]
	return e
}

// sealed reports whether the data of a chunk is encrypted.
func (r *reader) sealed(c *chunk) bool { return r.enc != nil && !c.clear }

// lengthsFit reports whether the two lengths of a chunk without compression agree.
func (r *reader) lengthsFit(c *chunk) bool {
	switch {
	case r.locked:
		return true
	case r.sealed(c):
		return c.stored == r.enc.Size(c.size)
	}
	return c.stored == c.size
}

// decrypt decrypts the data of a chunk in b.Scratch: into b.Buf if it is not compressed, else in place.
// What is wrong goes to d.
func (r *reader) decrypt(c *chunk, b *storage.Batch, d *chunked.Damage) {
	out, err := r.enc.Decrypt(b.Buf[:0], b.Scratch)
	if err != nil {
		d.Add("encrypted-data", c.data, 0, "the encrypted data of a chunk is damaged (%v); %d bytes could be decrypted", err,
			len(out))
	}
	b.Buf = out
	if c.codec != compress.None {
		b.Buf, b.Scratch = b.Scratch, out
	}
}

// sealedConnection reads the connection at at in the trailer of an encrypted bag, and
// returns where it ends. Without a key the connection is nil.
func (r *reader) sealedConnection(w *window, at int64) (*connection, int64, error) {
	var parts [2][]byte
	for i := range parts {
		b, err := w.Data(at, 4)
		if err != nil {
			return nil, 0, err
		}
		if len(b) < 4 {
			return nil, 0, storage.ErrTruncated
		}
		n := int64(binary.LittleEndian.Uint32(b))
		if at += 4; n > r.src.Size-at {
			return nil, 0, storage.ErrTruncated
		}
		if r.enc != nil {
			if b, err = w.Data(at, n); err != nil {
				return nil, 0, err
			}
			if parts[i], err = r.enc.Decrypt(nil, b); err != nil {
				return nil, 0, err
			}
		}
		at += n
	}
	if r.enc == nil {
		return nil, at, nil
	}
	var h header
	if err := h.parse(parts[0]); err != nil {
		return nil, 0, err
	}
	if h.op != opConnection {
		return nil, 0, storage.ErrCorrupt
	}
	c, err := parseConnection(&h, parts[1])
	return c, at, err
}

// sealedConnection reads the connection at p, if it is one of an encrypted bag.
func (s *scanner) sealedConnection(p int64) (c *connection, end int64, ok bool) {
	if s.r.enc == nil {
		return nil, 0, false
	}
	c, end, err := s.r.sealedConnection(&s.w, p)
	return c, end, err == nil
}

// sealed adds a connection of the trailer that the scan has met.
func (s *scanner) sealed(at int64, c *connection) error {
	if err := s.endChunk(); err != nil {
		return err
	}
	s.run, s.open, s.trailer = false, false, true
	if old := s.r.conns.byID[c.id]; old != nil {
		return nil // a chunk has defined it
	}
	s.r.conns.add(c)
	return s.r.checkFields(c, at)
}

// proveKey returns an error if the key does not fit: neither the first connection of the trailer nor
// the first chunk become what they should be. An empty bag takes any key.
func (r *reader) proveKey(h *header) error {
	w := r.window()
	tried := false
	if h.connCount > 0 && h.indexPos > 0 && h.indexPos < uint64(r.src.Size) {
		tried = true
		_, _, err := r.sealedConnection(&w, int64(h.indexPos))
		if err == nil {
			return nil
		} else if chunked.IsIO(err) {
			return r.src.Fail(int64(h.indexPos), "connection", err)
		}
	}
	c, err := r.chunkHeader(&block{Block: storage.Block{Offset: r.first}})
	switch {
	case chunked.IsIO(err):
		return r.src.Fail(r.first, "chunk", err)
	case err == nil && c.codec != nil && !c.clear:
		tried = true
		const start = 64 << 10
		b, err := w.Data(c.data, min(c.stored, start))
		if err != nil {
			return r.src.Fail(c.data, "chunk", err)
		}
		var first header
		b, _ = r.enc.Decrypt(nil, b) // it may be cut
		if c.codec != compress.None && hasMagic(c.codec, b) || c.codec == compress.None && first.parseRecord(b) == nil {
			return nil
		}
	}
	if tried {
		return r.noKey("the key does not fit the bag, or the bag is damaged", storage.ErrKey)
	}
	return nil
}
