package inplace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"maps"
	"slices"

	"github.com/bagconv/bagconv/storage"
)

// An Opener opens a recording for reading; it is Format.Open.
type Opener func(ctx context.Context, path string, o storage.ReadOptions) (storage.Reader, error)

// A Proof shows that a change loses nothing: the reader of the format finds every message of the
// recording before the change, with its times and bytes, also in the recording after it; so it
// finds attachments and metadata records, and no more damage.
type Proof struct {
	Format string
	Path   string // of the recording
	Open   Opener
	Hint   string // the next step if the proof fails

	Before, After storage.FS
	Indexes       []string // see Options
	Ownerless     []string // the same

	// Kept tells that no byte of the files that are read before changes, and that messages are not compressed otherwise
	// after: blocks that are described alike are not read, nor the contents of attachments.
	Kept bool

	// Same reports whether no byte of a block changes. If it is so for all blocks, and they are described
	// alike before and after, their messages are not read. Nil: all messages are read.
	Same func(*storage.Block) bool
}

// Run makes the proof. The error wraps storage.ErrUnsupported if something would be lost.
func (p *Proof) Run(ctx context.Context) (err error) {
	c := &comparison{proof: p}
	if c.before, err = p.Open(ctx, p.Path, storage.ReadOptions{FS: p.Before}); err != nil {
		if unreadable(err) {
			return nil // there is nothing to be lost
		}
		return err
	}
	defer func() { err = errors.Join(err, c.before.Close()) }()
	if c.after, err = p.Open(ctx, p.Path, storage.ReadOptions{FS: p.After, CheckIndexes: len(p.Indexes)+
		len(p.Ownerless) > 0}); err != nil {
		if unreadable(err) {
			return p.refuse("it could not be opened (%v)", err)
		}
		return err
	}
	defer func() { err = errors.Join(err, c.after.Close()) }()
	return c.run(ctx)
}

// unreadable reports whether an error says that a recording cannot be opened, whoever asks for it.
func unreadable(err error) bool {
	return storage.IsDamage(err) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, storage.ErrUnsupported)
}

func (p *Proof) refuse(format string, args ...any) error {
	return &storage.Error{
		Format: p.Format, Path: p.Path, Offset: -1, Hint: p.Hint, Err: storage.ErrUnsupported,
		What: "it is left as it is, because after the change " + fmt.Sprintf(format, args...),
	}
}

// A comparison is of the same recording before and after a change.
type comparison struct {
	proof         *Proof
	before, after storage.Reader
	topics        [2][]storage.Topic // before and after
	keys          [2][]int           // of the topics, equal for the same topic
}

func (c *comparison) run(ctx context.Context) error {
	if err := c.readTopics(); err != nil {
		return err
	}
	if err := c.compareExtras(); err != nil {
		return err
	}
	same, err := c.sameBlocks(ctx)
	if err == nil && !same {
		err = c.compareMessages(ctx)
	}
	if err == nil {
		err = c.compareDamage()
	}
	return err
}

// readTopics fills in topics and keys. Topics of one name, type and encoding are one.
func (c *comparison) readTopics() error {
	type identity struct{ name, typ, encoding string }
	known := map[identity]int{}
	schemas := map[int]storage.Schema{}
	for i, r := range []storage.Reader{c.before, c.after} {
		info := r.Info()
		for k := range info.Topics {
			t := &info.Topics[k]
			id := identity{t.Name, t.Type, t.Encoding}
			key, ok := known[id]
			if !ok {
				key = len(known)
				known[id] = key
			}
			c.topics[i], c.keys[i] = append(c.topics[i], t.Topic), append(c.keys[i], key)
			if i == 0 {
				if len(schemas[key].Data) == 0 {
					schemas[key] = t.Schema
				}
				continue
			}
			if was := schemas[key]; len(was.Data) > 0 && !slices.ContainsFunc(c.topics[0], func(o storage.Topic) bool {
				return o.Name == t.Name && o.Schema.Encoding == t.Schema.Encoding && bytes.Equal(o.Schema.Data, t.Schema.Data)
			}) {
				return c.proof.refuse("topic %.200q would have another definition", t.Name)
			}
		}
	}
	return nil
}

// sameBlocks reports whether the blocks before are the first ones after, so that their messages need
// not be read.
func (c *comparison) sameBlocks(ctx context.Context) (bool, error) {
	was, now := storage.ReaderCapabilities(c.before).Blocks, storage.ReaderCapabilities(c.after).Blocks
	if c.proof.Same == nil && !c.proof.Kept || was == nil || now == nil {
		return false, nil
	}
	a, _, err := was.Blocks(ctx, nil)
	if err != nil {
		return false, err
	}
	b, _, err := now.Blocks(ctx, nil)
	if err != nil || len(b) < len(a) {
		return false, err
	}
	for i := range a {
		x, y := &a[i], &b[i]
		same := x.Offset == y.Offset && x.Size == y.Size && x.RawSize == y.RawSize && x.Messages == y.Messages &&
			x.Timed == y.Timed && x.Start == y.Start && x.End == y.End &&
			slices.EqualFunc(x.Topics, y.Topics, func(s, t storage.TopicID) bool { return c.keys[0][s] == c.keys[1][t] })
		if !same || !c.proof.Kept && !c.proof.Same(x) {
			return false, nil
		}
	}
	return true, nil
}

// compareMessages looks for the messages before the change among the messages after it: first in the
// same order, which needs no memory; if the order differs, by their sums.
func (c *comparison) compareMessages(ctx context.Context) error {
	missing, err := c.findInOrder()
	if err != nil || missing == nil {
		return err
	}
	sums, err := c.equalSums(ctx)
	if err != nil || sums {
		return err
	}
	return missing
}

// findInOrder returns an error about the first message that is missing, nil if there is no such message.
func (c *comparison) findInOrder() (missing, err error) {
	for {
		m, err := c.before.ReadNext()
		if err == io.EOF || storage.IsDamage(err) {
			break
		}
		if err != nil {
			return nil, err
		}
		for {
			n, err := c.after.ReadNext()
			if err == io.EOF || storage.IsDamage(err) {
				t := &c.topics[0][m.Topic]
				return c.proof.refuse("a message of topic %.200q, at %d.%09d, could not be read", t.Name, m.LogTime/1e9,
					m.LogTime%1e9), nil
			}
			if err != nil {
				return nil, err
			}
			if c.keys[0][m.Topic] == c.keys[1][n.Topic] && m.LogTime == n.LogTime && m.PublishTime == n.PublishTime &&
				m.Sequence == n.Sequence && bytes.Equal(m.Data, n.Data) {
				break
			}
		}
	}
	for { // what follows is new; reading it shows its damage
		if _, err := c.after.ReadNext(); err == io.EOF || storage.IsDamage(err) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
	}
}

// A sum is of messages in any order.
type sum struct{ n, a, b uint64 }

// equalSums reads both recordings again, and reports whether they have the same messages.
func (c *comparison) equalSums(ctx context.Context) (bool, error) {
	seeds := [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
	var sums [2]map[int]sum
	for i, fsys := range []storage.FS{c.proof.Before, c.proof.After} {
		var err error
		if sums[i], err = c.sumOf(ctx, fsys, c.keys[i], seeds); err != nil {
			return false, err
		}
	}
	return maps.Equal(sums[0], sums[1]), nil
}

// sumOf returns the sums of the messages by the keys of their topics.
func (c *comparison) sumOf(ctx context.Context, fsys storage.FS, keys []int, seeds [2]maphash.Seed) (_ map[int]sum,
	err error) {
	r, err := c.proof.Open(ctx, c.proof.Path, storage.ReadOptions{FS: fsys})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	sums := map[int]sum{}
	for {
		m, err := r.ReadNext()
		if err == io.EOF || storage.IsDamage(err) {
			return sums, nil
		}
		if err != nil {
			return nil, err
		}
		key := keys[m.Topic]
		s := sums[key]
		head := [3]int64{m.LogTime, m.PublishTime, int64(m.Sequence)}
		s.n++
		s.a += maphash.Comparable(seeds[0], head) ^ maphash.Bytes(seeds[0], m.Data)
		s.b += maphash.Comparable(seeds[1], head) ^ maphash.Bytes(seeds[1], m.Data)
		sums[key] = s
	}
}

// compareDamage refuses a change after which the reader reports damage that it does not report now, a wrong index, or
// messages of no channel.
func (c *comparison) compareDamage() error {
	was, now := c.before.Damage(), c.after.Damage()
	known := map[string]bool{}
	for _, w := range was.Warnings {
		known[w.Code] = known[w.Code] || w.Damage
	}
	for _, w := range now.Warnings {
		if slices.Contains(c.proof.Ownerless, w.Code) {
			return c.proof.refuse("its index would have messages at which other readers end (%s)", w.Message)
		}
		if w.Damage && !known[w.Code] {
			return c.proof.refuse("it would be damaged (%s)", w.Message)
		}
		if slices.Contains(c.proof.Indexes, w.Code) {
			return c.proof.refuse("an index would be wrong (%s)", w.Message)
		}
	}
	switch a, b := was.Lost, now.Lost; {
	case b.Messages > a.Messages:
		return c.proof.refuse("%d more messages would be missing", b.Messages-a.Messages)
	case b.Blocks > a.Blocks:
		return c.proof.refuse("%d more blocks would be damaged", b.Blocks-a.Blocks)
	}
	return nil
}

// Audit reads the recording at path whole, and returns an error that wraps storage.ErrUnsupported if an index is
// wrong; see Options.Indexes. It is for a recording of which nothing is to be changed.
func Audit(ctx context.Context, path string, o Options) (err error) {
	r, err := o.Read(ctx, path, storage.ReadOptions{FS: o.FS, CheckIndexes: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for err == nil {
		_, err = r.ReadNext()
	}
	if err != io.EOF && !storage.IsDamage(err) {
		return err
	}
	for _, w := range r.Damage().Warnings {
		if slices.Contains(o.Indexes, w.Code) {
			return &storage.Error{
				Format: o.Format, Path: path, Offset: int64(w.Offset), Hint: o.Hint, Err: storage.ErrUnsupported,
				What: "an index is wrong that cannot be written in place (" + w.Message + ")",
			}
		}
	}
	return nil
}
