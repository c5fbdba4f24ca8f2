package storagetest

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// blockCopier: an output whose blocks are copied if they can be is what
// writing their messages would have made, inline and with OnBlock. Blocks with a
// topic that is left out are not to be copied.
func (c *Config) blockCopier(t *testing.T) {
	all := c.Generate(18, Spec{Topics: 3, Messages: 2400, MaxSize: 2000, Step: 1_000_000, Jitter: 2_000_000})
	for i := range all.Messages[1000:] {
		all.Messages[1000+i].Topic %= 2 // the last blocks are without topic 2
	}
	some := Recording{Topics: all.Topics[:2]}
	for _, m := range all.Messages {
		if m.Topic < 2 {
			some.Messages = append(some.Messages, m)
		}
	}
	inline := func(_ storage.Writer, f func() error) error { return f() }
	for i, codec := range c.Format.Options.Choices(storage.NameCompression) {
		if i > 1 && testing.Short() {
			break
		}
		o := storage.WriteOptions{Compression: codec, NoSync: true}
		in := filepath.Join(t.TempDir(), c.Name)
		if err := WriteAll(c.Format, in, o, all); err != nil {
			t.Fatal(err)
		}
		for _, through := range []func(storage.Writer, func() error) error{inline, throughBlocks} {
			for _, want := range []Recording{all, some} {
				out := filepath.Join(t.TempDir(), c.Name)
				blocks, copied, err := c.copyTo(in, out, o, len(want.Topics), through)
				if errors.Is(err, errors.ErrUnsupported) {
					t.Skip("the writer copies no blocks")
				}
				if err != nil {
					t.Fatalf("%s: %v", codec, err)
				}
				c.check(t, out, want)
				if whole := len(want.Topics) == 3; copied == 0 && codec != "none" || copied == blocks && !whole {
					t.Errorf("%s: %d of %d blocks are copied with %d topics of 3", codec, copied, blocks, len(want.Topics))
				}
			}
		}
	}
}

// copyTo copies the blocks of a recording, or else its messages. It keeps the topics whose names
// are among the first n that Generate makes.
func (c *Config) copyTo(in, out string, o storage.WriteOptions, n int,
	through func(storage.Writer, func() error) error) (blocks, copied int, err error) {
	ctx := context.Background()
	r, err := c.Format.Open(ctx, in, storage.ReadOptions{Strict: true})
	if err != nil {
		return 0, 0, err
	}
	defer r.Close()
	info := r.Info()
	w, err := c.Format.Create(ctx, out, o)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	copier, reader := storage.WriterCapabilities(w).Copy, storage.ReaderCapabilities(r).Blocks
	if copier == nil {
		return 0, 0, errors.ErrUnsupported
	}
	topics := make([]storage.TopicID, len(info.Topics))
	wanted := c.Generate(0, Spec{Topics: n}).Topics
	for i, topic := range info.Topics {
		topics[i] = storage.NoTopic
		if slices.ContainsFunc(wanted, func(t storage.Topic) bool { return t.Name == topic.Name }) {
			if topics[i], err = w.CreateTopic(topic.Topic); err != nil {
				return 0, 0, err
			}
		}
	}
	list, _, err := reader.Blocks(context.Background(), nil)
	if err != nil {
		return 0, 0, err
	}
	copies := copier.CopyFrom([]storage.Reader{r}, topics)
	err = through(w, func() error {
		var b storage.Batch
		for i := range list {
			if err := reader.ReadBlock(ctx, i, &b); err != nil {
				return err
			}
			if copies && b.Stored != nil {
				ok, err := copier.CopyBlock(&b)
				if err != nil {
					return err
				}
				if ok { // it keeps no reference
					copied++
					spoil(b.Buf)
					spoil(b.Scratch)
					continue
				}
			}
			for _, m := range b.Messages {
				if m.Topic = topics[m.Topic]; m.Topic == storage.NoTopic {
					continue
				}
				if err := w.Write(&m); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err == nil {
		err = w.Commit()
	}
	return len(list), copied, err
}

func spoil(b []byte) {
	for i := range b {
		b[i] = 0xdd
	}
}
