// Package fake has recordings in memory for tests of what reads and writes them.
package fake

import (
	"cmp"
	"context"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/storage"
)

// A Bag is a recording in memory, with every freedom that a real file has to
// be odd: blocks that overlap, indexes that lie, reads that fail.
type Bag struct {
	Topics  []storage.Topic
	Blocks  [][]storage.Message
	Timed   func(i int) (start, end int64) // what the index has; nil: no times
	Has     func(i int) []storage.TopicID  // the topics of a block, as the index has them; nil: it does not
	Grouped int                            // blocks have the times of so many together
	Plain   bool                           // hide the blocks: only ReadNext
	Fail    map[int]error                  // ReadBlock of block i
	Format  storage.Format
	Files   []string // Info.Files
}

// Source returns a job's source side. The path exists, because Run looks.
func (f *Bag) Source(t *testing.T) (string, *storage.Format) {
	path := filepath.Join(t.TempDir(), "source")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	f.Format = storage.Format{
		Name: "fake", Holds: storage.Capacity{
			Native:      "cdr",
			PublishTime: true,
			Sequence:    true,
		},
		Sniff: func(storage.FS, string, []byte) bool { return true },
		Open: func(context.Context, string, storage.ReadOptions) (storage.Reader, error) {
			r := &Reader{Bag: f}
			if f.Plain {
				return struct{ storage.Reader }{r}, nil
			}
			return r, nil
		},
	}
	return path, &f.Format
}

// A Reader reads a Bag, by blocks too.
type Reader struct {
	Bag        *Bag
	block, pos int
	data       []byte
	Stored     bool // ReadBlock sets Batch.Stored
}

// Info has the topics, and no counts.
func (r *Reader) Info() *storage.Info {
	info := &storage.Info{Format: "fake", Files: r.Bag.Files}
	for i, t := range r.Bag.Topics {
		info.Topics = append(info.Topics, storage.TopicInfo{Topic: t, ID: storage.TopicID(i)})
	}
	return info
}

// Damage returns no damage.
func (r *Reader) Damage() storage.Damage { return storage.Damage{} }

// Close does nothing.
func (r *Reader) Close() error { return nil }

// ReadNext returns the messages in the order of the file; the data is used again.
func (r *Reader) ReadNext() (*storage.Message, error) {
	for r.block < len(r.Bag.Blocks) && r.pos == len(r.Bag.Blocks[r.block]) {
		r.block, r.pos = r.block+1, 0
	}
	if r.block == len(r.Bag.Blocks) {
		return nil, io.EOF
	}
	if err := r.Bag.Fail[r.block]; err != nil {
		return nil, err
	}
	m := r.Bag.Blocks[r.block][r.pos]
	r.pos++
	r.data = append(r.data[:0], m.Data...) // reused: a caller that keeps it will see it change
	m.Data = r.data
	return &m, nil
}

// Blocks returns what the index has about the blocks.
func (r *Reader) Blocks(context.Context, *storage.TimeRange) ([]storage.Block, storage.Order, error) {
	out := make([]storage.Block, len(r.Bag.Blocks))
	for i, msgs := range r.Bag.Blocks {
		out[i] = storage.Block{Offset: int64(i), Size: 1, Messages: int64(len(msgs))}
		if r.Bag.Timed != nil {
			out[i].Start, out[i].End = r.Bag.Timed(i)
			out[i].Timed = true
		}
		if r.Bag.Has != nil {
			out[i].Topics = r.Bag.Has(i)
		}
		if r.Bag.Grouped > 0 {
			out[i].Messages = -1
			out[i].Start, out[i].End, out[i].Timed = r.Bag.group(i-i%r.Bag.Grouped, r.Bag.Grouped)
		}
	}
	return out, r.order(), nil
}

// order is what the index promises.
func (r *Reader) order() storage.Order {
	switch {
	case r.Bag.Timed != nil:
		return storage.OrderBlocks
	case r.Bag.Grouped > 0:
		return storage.OrderParts
	}
	return storage.OrderNone
}

// group returns the times of n blocks from block i on.
func (f *Bag) group(i, n int) (start, end int64, some bool) {
	for _, msgs := range f.Blocks[i:min(i+n, len(f.Blocks))] {
		for _, m := range msgs {
			if !some {
				start, end, some = m.LogTime, m.LogTime, true
			}
			start, end = min(start, m.LogTime), max(end, m.LogTime)
		}
	}
	return start, end, true
}

// ReadBlock returns the messages of a block, or its error in Fail.
func (r *Reader) ReadBlock(ctx context.Context, i int, b *storage.Batch) error {
	if err := r.Bag.Fail[i]; err != nil {
		time.Sleep(time.Millisecond) // until others are at the blocks after it
		return err
	}
	b.Messages, b.Buf = b.Messages[:0], b.Buf[:0]
	n := 0
	for _, m := range r.Bag.Blocks[i] {
		n += len(m.Data)
	}
	b.Buf = storage.Grow(b.Buf, n)[:0]
	for _, m := range r.Bag.Blocks[i] {
		at := len(b.Buf)
		b.Buf = append(b.Buf, m.Data...)
		m.Data = b.Buf[at:]
		b.Messages = append(b.Messages, m)
	}
	if r.Stored {
		b.Stored = r.Bag.Blocks[i]
	}
	return nil
}

// Random makes blocks whose times wander by jitter around a rising line. The
// data of each message is its number in the file.
func Random(seed uint64, blocks, perBlock int, jitter int64) *Bag {
	rng := rand.New(rand.NewPCG(seed, 1))
	f := &Bag{}
	for i := range 3 {
		f.Topics = append(f.Topics, storage.Topic{Name: string(rune('a' + i)), Type: "p/msg/T", Encoding: "cdr"})
	}
	n := 0
	for range blocks {
		var msgs []storage.Message
		for range rng.IntN(perBlock + 1) {
			at := int64(n)*10 + rng.Int64N(jitter+1)
			data := binary.LittleEndian.AppendUint32(nil, uint32(n))
			data = append(data, make([]byte, rng.IntN(40))...)
			msgs = append(msgs, storage.Message{Topic: storage.TopicID(rng.IntN(3)), LogTime: at, PublishTime: at + 1,
				Sequence: uint32(n), Data: data})
			n++
		}
		f.Blocks = append(f.Blocks, msgs)
	}
	return f
}

// Honest returns the true times of the blocks, for Timed.
func (f *Bag) Honest() func(int) (int64, int64) {
	return func(i int) (start, end int64) {
		for k, m := range f.Blocks[i] {
			if k == 0 {
				start, end = m.LogTime, m.LogTime
			}
			start, end = min(start, m.LogTime), max(end, m.LogTime)
		}
		return start, end
	}
}

// Want returns the messages in an order.
func (f *Bag) Want(o recording.Order) []storage.Message {
	var all []storage.Message
	for _, b := range f.Blocks {
		all = append(all, b...)
	}
	if o == recording.OrderTime {
		slices.SortStableFunc(all, func(a, b storage.Message) int { return cmp.Compare(a.LogTime, b.LogTime) })
	}
	return all
}

// Span returns the least and the greatest time, and how many messages there are.
func (f *Bag) Span() (start, end int64, n int64) {
	for _, msgs := range f.Blocks {
		for _, m := range msgs {
			if n == 0 {
				start, end = m.LogTime, m.LogTime
			}
			start, end, n = min(start, m.LogTime), max(end, m.LogTime), n+1
		}
	}
	return start, end, n
}
