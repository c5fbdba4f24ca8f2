package storagetest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/testing/faultio"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// appending adds to recordings: what was there stays and what is added follows it, a
// contradiction is refused, and at every moment the target reads as before or as after.
func (c *Config) appending(t *testing.T) {
	if c.Format.AppendTo == nil || c.NoAppend != "" {
		c.appendsNot(t)
		return
	}
	t.Run("twice", c.appendTwice)
	t.Run("refused", c.appendRefused)
	t.Run("contradiction", c.appendContradiction)
	if c.FaultFS {
		t.Run("faults", c.appendFaults)
	}
}

// Adding returns a format whose Create adds to the recording at the path, as AppendTo of f.
func Adding(f *storage.Format) *storage.Format {
	adding := *f
	adding.Create = func(ctx context.Context, path string, o storage.WriteOptions) (storage.Writer, error) {
		w, _, err := f.AppendTo(ctx, path, o)
		return w, err
	}
	return &adding
}

// appendsNot: a recording that nothing can be added to is refused, and does not change.
func (c *Config) appendsNot(t *testing.T) {
	if c.Format.AppendTo == nil {
		return
	}
	path := c.written(t, c.small())
	before := digest(t, filepath.Dir(path))
	if err := WriteAll(Adding(c.Format), path, storage.WriteOptions{}, c.addition()); !errors.Is(err,
		storage.ErrUnsupported) {
		t.Errorf("Append: %v", err)
	}
	if digest(t, filepath.Dir(path)) != before {
		t.Error("the recording has changed")
	}
}

// written writes a recording into a folder of its own.
func (c *Config) written(t *testing.T, r Recording) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), c.Name)
	if err := WriteAll(c.Format, path, storage.WriteOptions{NoSync: true}, r); err != nil {
		t.Fatal(err)
	}
	return path
}

// addition returns what is added to small: topics that it has, in another order, and one more.
func (c *Config) addition() Recording {
	r := c.Generate(21, Spec{Topics: 3, Messages: 200, MaxSize: 3000, Step: 1_000_000, Jitter: 2_000_000})
	r.Topics[0].Name, r.Topics[2].Name = "/topic_2", "/added"
	for i := range r.Messages { // some before the end of what is there
		r.Messages[i].LogTime += 300_000_000
		r.Messages[i].PublishTime += 300_000_000
	}
	return r
}

// added returns a recording with another recording after it.
func added(r, more Recording) Recording {
	out := Recording{Topics: slices.Clone(r.Topics), Messages: slices.Clone(r.Messages), Metadata: r.Metadata}
	ids := make([]storage.TopicID, len(more.Topics))
	for i, t := range more.Topics {
		k := slices.IndexFunc(out.Topics, func(o storage.Topic) bool { return o.Name == t.Name })
		if k < 0 {
			k, out.Topics = len(out.Topics), append(out.Topics, t)
		}
		ids[i] = storage.TopicID(k)
	}
	for _, m := range more.Messages {
		m.Topic = ids[m.Topic]
		out.Messages = append(out.Messages, m)
	}
	return out
}

// appendTwice adds through Write, and again through blocks.
func (c *Config) appendTwice(t *testing.T) {
	want := c.small()
	path := c.written(t, want)
	for i, write := range []func(*storage.Format, string, storage.WriteOptions, Recording) error{WriteAll, WriteBlocks} {
		if err := write(Adding(c.Format), path, storage.WriteOptions{}, c.addition()); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		want = added(want, c.addition())
		c.check(t, path, want)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("%d entries beside each other, want the recording alone", len(entries))
	}
}

// appendRefused: no target, two writers, a damaged target; and Close without Commit. All of
// them leave what is there.
func (c *Config) appendRefused(t *testing.T) {
	appendTo := func(path string) (storage.Writer, []storage.Topic, error) {
		return c.Format.AppendTo(context.Background(), path, storage.WriteOptions{})
	}
	if _, _, err := appendTo(filepath.Join(t.TempDir(), c.Name)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no recording is there: %v", err)
	}
	path := c.written(t, c.small())
	dir := filepath.Dir(path)
	before := digest(t, dir)
	for _, n := range []int{0, 200} {
		w, have, err := appendTo(path)
		if err != nil {
			t.Fatal(err)
		}
		more := c.addition()
		more.Messages = more.Messages[:n]
		if err := fill(w, more); err != nil {
			t.Error(err)
		}
		if len(have) != len(c.small().Topics) {
			t.Errorf("it does not tell which topics are there: %v", have)
		}
		if second, _, err := appendTo(path); err == nil {
			t.Error("two writers add to one recording")
			_ = second.Close()
		} else if !errors.Is(err, storage.ErrLocked) {
			t.Errorf("a second writer: %v", err)
		}
		c.reads(t, path, c.small().Messages)
		for range 2 {
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		}
		if digest(t, dir) != before {
			t.Errorf("Close without Commit after %d messages: the recording has changed", n)
		}
	}
	c.appendDamaged(t, path)
}

// appendDamaged cuts the largest file of a recording.
func (c *Config) appendDamaged(t *testing.T, path string) {
	files, err := c.Format.FilesOf(nil, path)
	if err != nil || len(files.Messages) == 0 {
		t.Fatal(err)
	}
	victim := files.Messages[len(files.Messages)-1]
	st, err := os.Stat(victim)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(victim, st.Size()*2/3); err != nil {
		t.Fatal(err)
	}
	before := digest(t, filepath.Dir(path))
	if err := WriteAll(Adding(c.Format), path, storage.WriteOptions{}, c.addition()); !errors.Is(err,
		storage.ErrCorrupt) && !errors.Is(err, storage.ErrTruncated) {
		t.Errorf("a damaged recording: %v", err)
	}
	if digest(t, filepath.Dir(path)) != before {
		t.Error("a damaged recording has changed")
	}
}

// appendContradiction adds topics that are otherwise in the recording.
func (c *Config) appendContradiction(t *testing.T) {
	path := c.written(t, c.small())
	before := digest(t, filepath.Dir(path))
	wrong := map[string]storage.Topic{}
	for _, d := range c.Others {
		topic := c.topic("/topic_1")
		topic.Type, topic.Schema = d.Type, d.Schema
		delete(topic.Metadata, storage.MetaMD5Sum)
		delete(topic.Metadata, storage.MetaTypeHash)
		if len(c.Metadata) > 0 && d.Type == c.topic("").Type {
			continue // its hash would show it
		}
		wrong["definition of "+d.Type] = topic
	}
	for name, topic := range wrong {
		w, _, err := c.Format.AppendTo(context.Background(), path, storage.WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.CreateTopic(topic); !errors.Is(err, storage.ErrContradicts) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := w.CreateTopic(c.topic("/topic_1")); err != nil {
			t.Errorf("%s: the writer does not go on: %v", name, err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	if digest(t, filepath.Dir(path)) != before {
		t.Error("the recording has changed")
	}
}

// readsAs reports whether a recording reads whole with just these messages.
func (c *Config) readsAs(t *testing.T, path string, want []storage.Message) bool {
	t.Helper()
	r, err := c.Format.Open(context.Background(), path, storage.ReadOptions{})
	if err != nil {
		t.Logf("open: %v", err)
		return false
	}
	defer r.Close()
	got, err := ReadAll(r)
	if err != nil {
		t.Logf("read: %v", err)
		return false
	}
	for _, w := range r.Damage().Warnings {
		if w.Damage {
			t.Logf("damage: %+v", w)
			return false
		}
	}
	if len(got) != len(want) {
		return false
	}
	for i := range got {
		if got[i].LogTime != want[i].LogTime || !slices.Equal(got[i].Data, want[i].Data) {
			return false
		}
	}
	return true
}

func (c *Config) reads(t *testing.T, path string, want []storage.Message) {
	t.Helper()
	if !c.readsAs(t, path, want) {
		t.Errorf("%s does not read with the %d messages that it should have", path, len(want))
	}
}

// appendFaults lets every third operation fail in turn, and the process die at every second one, with
// BAGCONV_EXHAUSTIVE=1 at each.
func (c *Config) appendFaults(t *testing.T) {
	first := c.Generate(22, Spec{Topics: 2, Messages: 40, MaxSize: 2000, Step: 1000})
	more := c.Generate(23, Spec{Topics: 3, Messages: 40, MaxSize: 2000, Step: 1000})
	both := added(first, more)
	for i, fault := range []faultio.Fault{faultio.Error, faultio.Short, faultio.Death} {
		step := int64(samples.Pick(1, 3, 4))
		if fault == faultio.Death {
			step = int64(samples.Pick(1, 2, 2))
		}
		for n := 1 + int64(i)%step; ; n += step { // not all at the same ones
			path := c.written(t, first)
			disk := &faultio.FS{FS: iox.OS, N: n, Fault: fault, NoSync: true}
			err := WriteAll(Adding(c.Format), path, storage.WriteOptions{FS: disk, ChunkSize: 20 << 10}, more)
			if !disk.Fired() {
				if err != nil || n < 5 {
					t.Errorf("after %d operations: %v", n, err)
				}
				c.check(t, path, both)
				break
			}
			whole := c.readsAs(t, path, both.Messages)
			switch {
			case whole:
			case err == nil:
				t.Errorf("fault %d, operation %d: no error, and messages are missing", fault, n)
			case fault != faultio.Death && !errors.Is(err, faultio.ErrFault):
				t.Errorf("fault %d, operation %d: the error hides its cause: %v", fault, n, err)
			case !c.readsAs(t, path, first.Messages):
				t.Errorf("fault %d, operation %d: the recording reads neither as before nor as after", fault, n)
			}
			if !whole {
				if err := WriteAll(Adding(c.Format), path, storage.WriteOptions{NoSync: true}, more); err != nil {
					t.Errorf("fault %d, operation %d: the next run: %v", fault, n, err)
				}
				c.reads(t, path, both.Messages)
			}
			if n > 10_000 {
				t.Fatal("the operations have no end")
			}
		}
	}
}
