package mcap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// addTo adds messages of a topic that files of write have and of a new one.
func addTo(t *testing.T, path string, o storage.WriteOptions) {
	t.Helper()
	more := testMessages(60)
	for i := range more {
		more[i].LogTime += 1e12
	}
	topics := []storage.Topic{testTopics[0], {Name: "/new", Type: "a/B", Encoding: "json"}}
	o.NoSync = true
	if err := storagetest.WriteAll(storagetest.Adding(Format), path, o, storagetest.Recording{Topics: topics,
		Messages: more}); err != nil {
		t.Fatal(err)
	}
}

// TestAppend: chunks, attachments, metadata records and definitions of the file stay, with their ids and bytes; what is
// added is compressed as they are, and the summary has all.
func TestAppend(t *testing.T) {
	for _, codec := range Format.Options.Choices(storage.NameCompression) {
		path := filepath.Join(t.TempDir(), "x.mcap")
		write(t, path, storage.WriteOptions{Compression: codec, ChunkSize: 2000}, fullLayout, testMessages(300))
		if err := os.Chmod(path, 0o640); err != nil {
			t.Fatal(err)
		}
		old, _, before := opened(t, path)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		addTo(t, path, storage.WriteOptions{ChunkSize: 1000})
		now, r, after := opened(t, path)
		b2, err := os.ReadFile(path)
		if err != nil || string(b2[:before.dataEnd]) != string(b[:before.dataEnd]) {
			t.Errorf("%s: the data section has changed: %v", codec, err)
		}
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o640 {
			t.Errorf("%s: the permissions have changed: %v, %v", codec, st.Mode(), err)
		}
		s := after.statistics
		if now.Messages != old.Messages+60 || s.messages != uint64(now.Messages) || s.attachments != 1 || s.metadata != 1 ||
			int(s.chunks) != len(after.chunks) || len(after.chunks) < len(before.chunks)+2 || len(now.Compression) != 1 ||
			s.channels != 3 || len(after.channels) != 3 || len(after.attachments) != 1 || len(after.metadata) != 1 ||
			s.start != before.statistics.start || s.end <= before.statistics.end {
			t.Errorf("%s: %+v, %d channels, %d chunks", codec, s, len(after.channels), len(after.chunks))
		}
		for i := range before.channels {
			if got, want := after.channels[i], before.channels[i]; got.id != want.id || got.topic != want.topic {
				t.Errorf("%s: channel %+v was %+v", codec, got, want)
			}
		}
		if w := r.Damage().Warnings; len(w) > 0 {
			t.Errorf("%s: %v", codec, w)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if n, err := readAudited(path); n != 360 || err != nil { // the checksum of the data section is compared, too
			t.Errorf("%s: %d messages: %v", codec, n, err)
		}
	}
}

// opened opens a file, which must be sound, with its summary.
func opened(t *testing.T, path string) (*storage.Info, *reader, *summary) {
	t.Helper()
	src, err := openReader(context.Background(), path, storage.ReadOptions{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	r := src.(*reader)
	t.Cleanup(func() { _ = r.Close() })
	s, why, err := r.readSummary()
	if err != nil || why != "" {
		t.Fatal(why, err)
	}
	return r.Info(), r, s
}

// readAudited reads a file, with all indexes and checksums.
func readAudited(path string) (int, error) {
	r, err := openReader(context.Background(), path, storage.ReadOptions{Strict: true, CheckIndexes: true})
	if err != nil {
		return 0, err
	}
	messages, err := storagetest.ReadAll(r)
	return len(messages), errors.Join(err, r.Close())
}

// TestAppendForeign: a file whose ids are not those that are given here, and whose library is another. Its checksum of
// the data section cannot be gone on with.
func TestAppendForeign(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.mcap")
	sw, err := createWriter(t.Context(), path, storage.WriteOptions{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	w := sw.(*writer)
	w.header.library = "others"
	for _, topic := range testTopics {
		if _, err := w.CreateTopic(topic); err != nil {
			t.Fatal(err)
		}
	}
	w.channels[0].id, w.channels[1].id = 3, 0xffff
	w.schemas[0].id, w.channels[0].channel.schema = 2, 2
	for _, m := range testMessages(30) {
		if err := w.Write(&m); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		addTo(t, path, storage.WriteOptions{})
		_, r, s := opened(t, path)
		if sum, want, err := r.dataSum(s); want != 0 || err != nil {
			t.Errorf("the checksum is %d, want %d: %v", sum, want, err)
		}
		ids := ""
		for _, c := range s.channels {
			ids += fmt.Sprintf("%d %s %d, ", c.id, c.topic, c.schema)
		}
		if ids != "3 /chatter 2, 4 /new 3, 65535 /odd 0, " {
			t.Errorf("%d: channels are %s", n, ids)
		}
		if got, err := readAudited(path); got != 30+60*(n+1) || err != nil {
			t.Errorf("%d messages: %v", got, err)
		}
	}
}

// TestAppendNothing: a file to which nothing is added stays the same file.
func TestAppendNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.mcap")
	write(t, path, storage.WriteOptions{}, fullLayout, testMessages(30))
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := storagetest.WriteAll(storagetest.Adding(Format), path, storage.WriteOptions{},
		storagetest.Recording{Topics: testTopics}); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
		t.Errorf("it is another file: %v", err)
	}
}

// TestAppendRefused: what has no sound summary, or no place for more, is named with the next step, and stays.
func TestAppendRefused(t *testing.T) {
	layoutWithout := func(change func(l *layout)) layout {
		l := fullLayout
		change(&l)
		return l
	}
	for name, c := range map[string]struct {
		layout layout
		change func(path string) error
		want   string
	}{
		"no footer": {fullLayout, func(path string) error {
			st, err := os.Stat(path)
			return errors.Join(err, os.Truncate(path, st.Size()-20))
		}, "does not end with a footer"},
		"no statistics": {layoutWithout(func(l *layout) { l.statistics = false }), nil,
			"its statistics do not have its messages"},
		"no chunks": {layoutWithout(func(l *layout) { l.chunks = false }), nil, "messages lie outside of chunks"},
		"no chunk indexes": {layoutWithout(func(l *layout) { l.chunkIndexes = false }), nil,
			"its summary does not have all chunks"},
		"two names": {fullLayout, func(path string) error { return os.Link(path, path+".other") }, "hard links"},
		"a part of a folder": {fullLayout, func(path string) error {
			return os.WriteFile(filepath.Join(filepath.Dir(path), "metadata.yaml"), []byte(`rosbag2_bagfile_information:
  version: 5
  storage_identifier: mcap
  duration: {nanoseconds: 0}
  starting_time: {nanoseconds_since_epoch: 0}
  message_count: 0
  topics_with_message_count: []
  compression_format: ""
  compression_mode: ""
  relative_file_paths: [x.mcap]
`), 0o666)
		}, "a part of a rosbag2 folder"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.mcap")
			write(t, path, storage.WriteOptions{ChunkSize: 500}, c.layout, testMessages(60))
			if c.change != nil {
				if err := c.change(path); err != nil {
					t.Fatal(err)
				}
			}
			before, _ := os.ReadFile(path)
			_, _, err := appendTo(t.Context(), path, storage.WriteOptions{})
			var e *storage.Error
			if err == nil || !strings.Contains(err.Error(), c.want) || !errors.As(err, &e) || e.Hint == "" {
				t.Errorf("%v", err)
			}
			if now, err := os.ReadFile(path); err != nil || string(now) != string(before) {
				t.Errorf("it has changed: %v", err)
			}
		})
	}
}

// TestAppendLink: a link stays a link, and its target gets what is added.
func TestAppendLink(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "x.mcap"), filepath.Join(t.TempDir(), "link.mcap")
	write(t, path, storage.WriteOptions{}, fullLayout, testMessages(30))
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	addTo(t, link, storage.WriteOptions{})
	if st, err := os.Lstat(link); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v: %v", st.Mode(), err)
	}
	if n, err := readAudited(path); n != 90 || err != nil {
		t.Errorf("%d messages: %v", n, err)
	}
}
