package mcap

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// copyTopics have types, so that files and folders define them alike.
var copyTopics = []storage.Topic{
	{Name: "/a", Type: "p/msg/A", Encoding: "cdr", Schema: storage.Schema{Encoding: "ros2msg", Data: []byte("int8 a\n")}},
	{Name: "/b", Type: "p/msg/B", Encoding: "cdr", Schema: storage.Schema{Encoding: "ros2msg", Data: []byte("int8 b\n")}},
}

// writeLarge writes a folder of copyTopics.
func writeLarge(t *testing.T, o storage.WriteOptions, messages []storage.Message) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run")
	check(t, storagetest.WriteAll(Folder, path, o, storagetest.Recording{Topics: copyTopics, Messages: messages}))
	return path
}

// largeMessages are 9 MB, so that chunks are large enough to be copied.
func largeMessages() []storage.Message {
	list := make([]storage.Message, 90)
	for i := range list {
		list[i] = storage.Message{Topic: storage.TopicID(i % len(copyTopics)), LogTime: int64(i) * 1e6,
			PublishTime: int64(i) * 1e6, Data: bytes.Repeat([]byte{byte(i)}, 100_000)}
	}
	return list
}

// copyAll copies a folder to writers in turn, a block each, and returns how many blocks were
// copied as they are stored.
func copyAll(t *testing.T, folder string, to ...storage.Writer) (blocks, copied int) {
	t.Helper()
	r, err := openFolder(t.Context(), folder, storage.ReadOptions{Strict: true})
	check(t, err)
	defer func() { check(t, r.Close()) }()
	info := r.Info()
	for _, w := range to {
		var ids []storage.TopicID
		for _, topic := range info.Topics {
			id, err := w.CreateTopic(topic.Topic)
			check(t, err)
			ids = append(ids, id)
		}
		if !w.(storage.BlockCopier).CopyFrom([]storage.Reader{r}, ids) {
			t.Error("nothing is copied")
		}
	}
	list, _, err := r.(storage.BlockReader).Blocks(t.Context(), nil)
	check(t, err)
	for i := range list {
		w, b := to[i%len(to)], storage.Batch{}
		check(t, r.(storage.BlockReader).ReadBlock(t.Context(), i, &b))
		ok, err := w.(storage.BlockCopier).CopyBlock(&b)
		check(t, err)
		if ok {
			copied++
			continue
		}
		for k := range b.Messages {
			check(t, w.Write(&b.Messages[k]))
		}
	}
	for _, w := range to {
		check(t, w.Commit())
		check(t, w.Close())
	}
	return len(list), copied
}

// TestCopyParts: chunks of all parts of a folder are copied, into a file, a folder, and parts
// that end elsewhere, which have the same messages as if none was copied.
func TestCopyParts(t *testing.T) {
	all, o := largeMessages(), storage.WriteOptions{NoSync: true, Compression: "zstd"}
	cut := o
	cut.SegmentSize = 3_100_000
	in := writeLarge(t, cut, all)
	other := o
	other.SegmentSize = 4_300_000
	for i, c := range []struct {
		format *storage.Format
		o      storage.WriteOptions
		least  int // blocks that are copied
	}{{Format, o, 9}, {Folder, o, 9}, {Folder, cut, 9}, {Folder, other, 7}} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run")
			w, err := c.format.Create(t.Context(), path, c.o)
			check(t, err)
			if blocks, copied := copyAll(t, in, w); copied < c.least {
				t.Errorf("%d of %d blocks are copied", copied, blocks)
			}
			got := readBack(t, c.format, path)
			if d := storagetest.Diff(got, all); d != "" {
				t.Error(d)
			}
			if c.o.SegmentSize == 0 {
				return
			}
			if got, want := partCounts(t, path), partCounts(t, writeLarge(t, c.o, all)); !slices.Equal(got, want) {
				t.Errorf("messages of the parts: %v, without copies %v", got, want)
			}
		})
	}
}

// readBack returns the messages of a recording that has no damage.
func readBack(t *testing.T, f *storage.Format, path string) []storage.Message {
	t.Helper()
	r, err := f.Open(t.Context(), path, storage.ReadOptions{Strict: true})
	check(t, err)
	defer func() { check(t, r.Close()) }()
	list, err := storagetest.ReadAll(r)
	check(t, err)
	return list
}

// partCounts returns how many messages each part of a folder has.
func partCounts(t *testing.T, dir string) (list []int) {
	files, err := Folder.FilesOf(nil, dir)
	check(t, err)
	for _, path := range files.Messages {
		list = append(list, len(readBack(t, Format, path)))
	}
	return list
}

// TestCopyToSeveral: several Writers with the same topics copy chunks of one Reader, as those of
// the parts of a split do.
func TestCopyToSeveral(t *testing.T) {
	all, o := largeMessages(), storage.WriteOptions{NoSync: true, Compression: "zstd"}
	in := writeLarge(t, o, all)
	dir := t.TempDir()
	var to []storage.Writer
	for i := range 3 {
		w, err := createWriter(t.Context(), filepath.Join(dir, fmt.Sprint(i)), o)
		check(t, err)
		to = append(to, w)
	}
	if blocks, copied := copyAll(t, in, to...); copied < blocks-1 {
		t.Errorf("%d of %d blocks are copied", copied, blocks)
	}
	n := 0
	for i := range to {
		n += len(readBack(t, Format, filepath.Join(dir, fmt.Sprint(i))))
	}
	if n != len(all) {
		t.Errorf("%d messages of %d", n, len(all))
	}
}

// TestCopySeveral: chunks of several files are copied if their channels have the same ids, and have the same messages.
// If the ids differ, the larger file keeps its ids.
func TestCopySeveral(t *testing.T) {
	for name, c := range map[string]struct {
		cut      int // messages of the first file
		reversed bool
		want     []bool
	}{
		"the next drive":               {45, false, []bool{true, true}},
		"the second has other ids":     {60, true, []bool{true, false}},
		"the larger second keeps them": {30, true, []bool{false, true}},
	} {
		t.Run(name, func(t *testing.T) {
			all, o := largeMessages(), storage.WriteOptions{NoSync: true, Compression: "zstd"}
			var readers []storage.Reader
			for i, part := range [][]storage.Message{all[:c.cut], all[c.cut:]} {
				rec := storagetest.Recording{Topics: slices.Clone(copyTopics), Messages: slices.Clone(part)}
				if c.reversed && i > 0 {
					slices.Reverse(rec.Topics)
					for k := range rec.Messages {
						rec.Messages[k].Topic = 1 - rec.Messages[k].Topic
					}
				}
				in := filepath.Join(t.TempDir(), "in.mcap")
				check(t, storagetest.WriteAll(Format, in, o, rec))
				r, err := Format.Open(t.Context(), in, storage.ReadOptions{Strict: true})
				check(t, err)
				defer func() { check(t, r.Close()) }()
				readers = append(readers, r)
			}
			path := filepath.Join(t.TempDir(), "joined.mcap")
			if got := joinFiles(t, readers, path, o); !slices.Equal(got, c.want) {
				t.Errorf("copied: %v, want %v", got, c.want)
			}
			r, err := Format.Open(t.Context(), path, storage.ReadOptions{Strict: true})
			check(t, err)
			defer func() { check(t, r.Close()) }()
			got, err := storagetest.ReadAll(r)
			check(t, err)
			for i, topics := 0, r.Info().Topics; i < len(got); i++ { // they are listed by id
				got[i].Topic = storage.TopicID(slices.IndexFunc(copyTopics, func(o storage.Topic) bool {
					return o.Name == topics[got[i].Topic].Name
				}))
			}
			if d := storagetest.Diff(got, all); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestCopyWhole: a file of ours that is copied is the same file, also if its first chunk defines a channel that only a
// later chunk uses.
func TestCopyWhole(t *testing.T) {
	all, o := largeMessages(), storage.WriteOptions{NoSync: true, Compression: "zstd"}
	for i := range all {
		all[i].Topic = storage.TopicID(i / 45)
	}
	in, out := filepath.Join(t.TempDir(), "in.mcap"), filepath.Join(t.TempDir(), "out.mcap")
	check(t, storagetest.WriteAll(Format, in, o, storagetest.Recording{Topics: copyTopics, Messages: all}))
	r, err := Format.Open(t.Context(), in, storage.ReadOptions{Strict: true})
	check(t, err)
	defer func() { check(t, r.Close()) }()
	joinFiles(t, []storage.Reader{r}, out, o)
	a, err := os.ReadFile(in)
	check(t, err)
	b, err := os.ReadFile(out)
	check(t, err)
	if !bytes.Equal(a, b) {
		t.Errorf("%d bytes have become %d", len(a), len(b))
	}
}

// TestAboutTopics: the metadata record of a file by itself has no topics, unless a distribution is asked for, whose
// recorder writes them. It is read as before.
func TestAboutTopics(t *testing.T) {
	for profile, want := range map[string]bool{"": false, "jazzy": true} {
		path := filepath.Join(t.TempDir(), "in.mcap")
		check(t, storagetest.WriteAll(Format, path, storage.WriteOptions{NoSync: true, Profile: profile,
			Metadata: map[string]string{storage.MetaDistro: "rolling", "k": "v"}},
			storagetest.Recording{Topics: copyTopics, Messages: largeMessages()[:2]}))
		r, err := Format.Open(t.Context(), path, storage.ReadOptions{Strict: true})
		check(t, err)
		defer func() { check(t, r.Close()) }()
		info, text := r.Info(), r.(*reader).own.serialized
		if some := strings.Contains(text, "name: /a"); some != want || !strings.Contains(text, "message_count: 2") {
			t.Errorf("%q: the record is %s", profile, text)
		}
		if len(info.Topics) != 2 || info.Metadata[storage.MetaDistro] != "rolling" || info.Metadata["k"] != "v" {
			t.Errorf("%q: %d topics, %v", profile, len(info.Topics), info.Metadata)
		}
	}
}

// joinFiles writes files of copyTopics one after the other, and returns of which chunks were copied: all but the last,
// which is small.
func joinFiles(t *testing.T, readers []storage.Reader, path string, o storage.WriteOptions) (copied []bool) {
	t.Helper()
	w, err := Format.Create(t.Context(), path, o)
	check(t, err)
	ids, topics := map[string]storage.TopicID{}, []storage.TopicID(nil)
	for _, topic := range copyTopics {
		ids[topic.Name], err = w.CreateTopic(topic)
		check(t, err)
	}
	for _, r := range readers {
		for _, info := range r.Info().Topics {
			topics = append(topics, ids[info.Name])
		}
	}
	if !w.(storage.BlockCopier).CopyFrom(readers, topics) {
		t.Error("nothing is copied")
	}
	for _, r := range readers {
		blocks, n := r.(storage.BlockReader), 0
		list, _, err := blocks.Blocks(t.Context(), nil)
		check(t, err)
		for i := range list {
			var b storage.Batch
			check(t, blocks.ReadBlock(t.Context(), i, &b))
			ok, err := w.(storage.BlockCopier).CopyBlock(&b)
			check(t, err)
			if ok {
				n++
				continue
			}
			for k := range b.Messages {
				b.Messages[k].Topic = topics[b.Messages[k].Topic]
				check(t, w.Write(&b.Messages[k]))
			}
		}
		topics = topics[len(r.Info().Topics):]
		if copied = append(copied, n >= len(list)-1); n > 0 && n < len(list)-1 {
			t.Errorf("%d of %d chunks are copied", n, len(list))
		}
	}
	check(t, w.Commit())
	check(t, w.Close())
	return copied
}
