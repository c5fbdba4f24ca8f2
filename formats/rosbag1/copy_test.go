package rosbag1

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/storage"
)

// copyBag writes all of r to path: the blocks that repack names are packed anew,
// those that can be copied are, and the others are packed anew, too. It returns
// how many were copied. edit changes a topic, and leaves it out with false.
func copyBag(t testing.TB, r *reader, path string, o storage.WriteOptions, threshold int,
	edit func(*storage.Topic) bool, repack func(i int) bool) int {
	t.Helper()
	sw, err := createWriter(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	w := sw.(*writer)
	if threshold > 0 {
		w.threshold = threshold
	}
	topics := make([]storage.TopicID, len(r.conns.list))
	for i, info := range info(t, r).Topics {
		topics[i] = storage.NoTopic
		if edit == nil || edit(&info.Topic) {
			if topics[i], err = w.CreateTopic(info.Topic); err != nil {
				t.Fatal(err)
			}
		}
	}
	copies := w.CopyFrom([]storage.Reader{r}, topics)
	var b storage.Batch
	for i := range r.blocks {
		if err := r.ReadBlock(context.Background(), i, &b); err != nil {
			t.Fatal(err)
		}
		if copies && (repack == nil || !repack(i)) {
			copied, err := w.CopyBlock(&b)
			if err != nil {
				t.Fatal(err)
			}
			if copied {
				clear(b.Buf) // no reference is kept
				clear(b.Scratch)
				continue
			}
		}
		for _, m := range b.Messages {
			if m.Topic = topics[m.Topic]; m.Topic == storage.NoTopic {
				continue
			}
			if err := w.Write(&m); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	return w.copied
}

// sameBag compares a bag with messages: read by the index, by a scan that finds
// connections where they are first used, and by queries, which go by index entries.
func sameBag(t *testing.T, path string, want []storage.Message, names []string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	unindexed := bytes.Clone(raw)
	copy(unindexed, (&writer{}).fileHeader(0))
	h, _, err := open(t, path, storage.ReadOptions{}).readHead(&storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{raw, unindexed, unindexed[:h.indexPos]} { // the last one without the trailer
		sr, err := openReader(context.Background(), path, storage.ReadOptions{Strict: true, FS: memFS{b: b}})
		if err != nil {
			t.Fatal(err)
		}
		r := sr.(*reader)
		i := info(t, r)
		got := readAll(t, r)
		if len(got) != len(want) || i.Messages != int64(len(want)) {
			t.Fatalf("%d messages, %d in the info, want %d", len(got), i.Messages, len(want))
		}
		for k := range got {
			g, w := &got[k], &want[k]
			if i.Topics[g.Topic].Name+i.Topics[g.Topic].Metadata["callerid"] != names[w.Topic] || g.LogTime != w.LogTime ||
				!bytes.Equal(g.Data, w.Data) {
				t.Fatalf("message %d is %+v, want %+v", k, g, w)
			}
		}
	}
	r := open(t, path, storage.ReadOptions{Strict: true})
	sorted := slices.Clone(want)
	slices.SortStableFunc(sorted, func(a, b storage.Message) int { return int(a.LogTime - b.LogTime) })
	k := 0
	for m, err := range r.Query(context.Background(), storage.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		if m.LogTime != sorted[k].LogTime || !bytes.Equal(m.Data, sorted[k].Data) {
			t.Fatalf("message %d of a query is %+v, want %+v", k, m, sorted[k])
		}
		k++
	}
	if k != len(want) {
		t.Errorf("a query gives %d of %d messages", k, len(want))
	}
}

var testNames = func() (names []string) {
	for _, t := range testTopics {
		names = append(names, t.Name+t.Metadata["callerid"])
	}
	return names
}()

// TestCopy: a bag with copied chunks is the one whose messages are written one by
// one, wherever the change from one to the other comes.
func TestCopy(t *testing.T) {
	messages := testMessages(600)
	for _, codec := range Format.Options.Choices(storage.NameCompression)[1:] {
		t.Run(codec, func(t *testing.T) {
			dir := t.TempDir()
			in, out := filepath.Join(dir, "in.bag"), filepath.Join(dir, "out.bag")
			write(t, in, storage.WriteOptions{Compression: codec, ChunkSize: 2000, NoSync: true}, messages)
			n := len(open(t, in, storage.ReadOptions{}).blocks)
			for name, c := range map[string]struct {
				repack func(i int) bool
				want   int
			}{
				"all":          {nil, n - 1}, // the last one is small
				"second":       {func(i int) bool { return i%2 == 0 }, (n - 1) / 2},
				"but first":    {func(i int) bool { return i == 0 }, n - 2},
				"but the last": {func(i int) bool { return i > n-3 }, n - 2},
			} {
				o := storage.WriteOptions{Compression: codec, Overwrite: true, NoSync: true}
				if got := copyBag(t, open(t, in, storage.ReadOptions{}), out, o, 2000, nil, c.repack); got != c.want {
					t.Errorf("%s: %d of %d chunks are copied, want %d", name, got, n, c.want)
				}
				sameBag(t, out, messages, testNames)
			}
			a, _ := os.ReadFile(in)
			o := storage.WriteOptions{Compression: codec, Overwrite: true, NoSync: true}
			copyBag(t, open(t, in, storage.ReadOptions{}), out, o, 2000, nil, nil)
			if b, _ := os.ReadFile(out); !bytes.Equal(a, b) {
				t.Error("a bag of ours that is copied as a whole is another")
			}
		})
	}
}

// TestCopyRefused: what asks for other chunks than the bag has is never copied.
func TestCopyRefused(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out.bag")
	messages := testMessages(600)
	for _, codec := range []string{"none", "lz4"} {
		write(t, filepath.Join(dir, codec), storage.WriteOptions{Compression: codec, ChunkSize: 2000, NoSync: true}, messages)
	}
	for name, c := range map[string]struct {
		o         storage.WriteOptions
		threshold int
	}{
		"another compression": {storage.WriteOptions{Compression: "bz2"}, 2000},
		"none":                {storage.WriteOptions{}, 2000},
		"a level":             {storage.WriteOptions{Compression: "lz4", Level: 3}, 2000},
		"a chunk size":        {storage.WriteOptions{Compression: "lz4", ChunkSize: 2000}, 0},
		"nothing compressed":  {storage.WriteOptions{}, 2000},
		"small chunks":        {storage.WriteOptions{Compression: "lz4"}, 5000},
	} {
		c.o.Overwrite, c.o.NoSync = true, true
		in := filepath.Join(dir, "lz4")
		if name == "nothing compressed" {
			in = filepath.Join(dir, "none")
		}
		if n := copyBag(t, open(t, in, storage.ReadOptions{}), out, c.o, c.threshold, nil, nil); n != 0 {
			t.Errorf("%s: %d chunks are copied", name, n)
		}
		sameBag(t, out, messages, testNames)
	}
}

// checkCopy copies a bag, whatever it is, and reads from the copy what it reads
// from the bag.
func checkCopy(t *testing.T, b []byte, codec string) {
	t.Helper()
	o := storage.ReadOptions{FS: memFS{b: b}}
	sr, err := openReader(context.Background(), "x.bag", o)
	if err != nil {
		return
	}
	r := sr.(*reader)
	want := readAll(t, r)
	if slices.ContainsFunc(want, func(m storage.Message) bool { return m.LogTime > maxTime }) ||
		slices.ContainsFunc(info(t, r).Topics, func(t storage.TopicInfo) bool { _, empty := t.Metadata[""]; return empty }) {
		return // is refused by the Writer
	}
	out := filepath.Join(t.TempDir(), "out.bag")
	copyBag(t, r, out, storage.WriteOptions{Compression: codec, NoSync: true}, 300, nil, nil)
	got := readAll(t, open(t, out, storage.ReadOptions{Strict: true}))
	if len(got) != len(want) {
		t.Fatalf("%d messages, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i].LogTime != want[i].LogTime || !bytes.Equal(got[i].Data, want[i].Data) {
			t.Fatalf("message %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}

// TestCopyDamaged: no chunk is copied in which a byte has changed, unless it reads
// as it should and has the same content.
func TestCopyDamaged(t *testing.T) {
	for _, codec := range []string{"lz4", "bz2"} {
		whole, _ := smallBag(t, codec)
		step := 11
		if testing.Short() || codec == "bz2" { // which is slow
			step = 101
		}
		for at := headerSize + 8 + len(versionLine); at < len(whole); at += step {
			b := bytes.Clone(whole)
			b[at] ^= 0x55
			checkCopy(t, b, codec)
		}
	}
}

func FuzzCopy(f *testing.F) {
	whole, _ := smallBag(f, "lz4")
	f.Add(whole)
	c := &rawChunk{}
	for range 10 {
		c.connection(0, &testTopics[0])
		c.message(0, 7)
	}
	f.Add(rawBag(compress.LZ4, c, c))
	f.Fuzz(func(t *testing.T, b []byte) { checkCopy(t, b, "lz4") })
}

// copyLate writes a bag of ours anew: a first message, the chunks but the first,
// copied without their connections having been used, and the rest of the first. It
// returns the messages in their new order.
func copyLate(t *testing.T, in, out, codec string) []storage.Message {
	t.Helper()
	r := open(t, in, storage.ReadOptions{})
	sw, err := createWriter(context.Background(), out, storage.WriteOptions{Compression: codec, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	w := sw.(*writer)
	w.threshold = 2000
	var topics []storage.TopicID
	for _, topic := range testTopics {
		id, err := w.CreateTopic(topic)
		if err != nil {
			t.Fatal(err)
		}
		topics = append(topics, id)
	}
	if !w.CopyFrom([]storage.Reader{r}, topics) {
		t.Fatal("no chunk can be copied")
	}
	var first storage.Batch
	if err := r.ReadBlock(context.Background(), 0, &first); err != nil {
		t.Fatal(err)
	}
	var all []storage.Message
	put := func(msgs []storage.Message) {
		for i := range msgs {
			if err := w.Write(&msgs[i]); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, msgs...)
	}
	put(first.Messages[:1])
	for i := range r.blocks[1:] {
		var b storage.Batch
		if err := r.ReadBlock(context.Background(), i+1, &b); err != nil {
			t.Fatal(err)
		}
		copied, err := w.CopyBlock(&b)
		if err != nil || !copied && i+2 < len(r.blocks) {
			t.Fatalf("chunk %d is not copied: %v", i+1, err)
		}
		if copied {
			all = append(all, b.Messages...)
		} else {
			put(b.Messages)
		}
	}
	put(first.Messages[1:])
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestCopyLate: connections that a copied chunk does not define are defined in the
// one before it.
func TestCopyLate(t *testing.T) {
	in, out := filepath.Join(t.TempDir(), "in.bag"), filepath.Join(t.TempDir(), "out.bag")
	write(t, in, storage.WriteOptions{Compression: "lz4", ChunkSize: 2000, NoSync: true}, testMessages(600))
	sameBag(t, out, copyLate(t, in, out, "lz4"), testNames)
}

// copiedBags writes bags of which most chunks are copied.
func copiedBags(t *testing.T, messages []storage.Message) (paths []string) {
	dir := t.TempDir()
	for _, codec := range Format.Options.Choices(storage.NameCompression)[1:] {
		in, out := filepath.Join(dir, "in.bag"), filepath.Join(dir, codec+"-copied.bag")
		write(t, in, storage.WriteOptions{Compression: codec, ChunkSize: 2000, Overwrite: true, NoSync: true}, messages)
		repack := func(i int) bool { return i%3 == 0 }
		if n := copyBag(t, open(t, in, storage.ReadOptions{}), out, storage.WriteOptions{Compression: codec, NoSync: true},
			2000, nil, repack); n < 4 {
			t.Fatalf("%d chunks are copied", n)
		}
		late := filepath.Join(dir, codec+"-late.bag")
		copyLate(t, in, late, codec)
		paths = append(paths, out, late)
	}
	return paths
}

func BenchmarkCopy(b *testing.B) {
	dir := b.TempDir()
	in, out := filepath.Join(dir, "in.bag"), filepath.Join(dir, "out.bag")
	benchMatrix(b, func(b *testing.B, codec string, size, n int) {
		if codec == "none" {
			b.Skip("is not copied")
		}
		b.SetBytes(writeBench(b, in, codec, size, n))
		r := open(b, in, storage.ReadOptions{})
		for _, packed := range []bool{false, true} {
			b.Run(map[bool]string{false: "copied", true: "packed"}[packed], func(b *testing.B) {
				for b.Loop() {
					copyBag(b, r, out, storage.WriteOptions{Compression: codec, NoSync: true, Overwrite: true}, 0, nil,
						func(int) bool { return packed })
				}
			})
		}
	})
}
