package cyber

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/internal/inplace"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/testing/faultio"
	"github.com/bagconv/bagconv/internal/testing/samples"
	pb "github.com/bagconv/bagconv/proto/cyber"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// adding adds to recordings that are there.
var adding = storagetest.Adding(Format)

// inThree writes a recording whole, then two more parts of it behind each other. Topics are
// created when they have messages.
func inThree(t testing.TB, path string, o storage.WriteOptions, r storagetest.Recording) {
	t.Helper()
	n := len(r.Messages)
	for i, part := range [][]storage.Message{r.Messages[:n/3], r.Messages[n/3 : n/2], r.Messages[n/2:]} {
		f := Format
		if i > 0 {
			f = adding
			o.SegmentSize, o.SegmentDuration, o.SegmentNames = 0, 0, ""
		}
		more := storagetest.Recording{Messages: slices.Clone(part)}
		ids := map[storage.TopicID]storage.TopicID{}
		for j, m := range part {
			if _, ok := ids[m.Topic]; !ok {
				ids[m.Topic] = storage.TopicID(len(more.Topics))
				more.Topics = append(more.Topics, r.Topics[m.Topic])
			}
			more.Messages[j].Topic = ids[m.Topic]
		}
		if err := storagetest.WriteBlocks(f, path, o, more); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAppendApollo: Apollo's reader and viewer return all that was added, and find sections in
// the place of the old indexes that they skip.
func TestAppendApollo(t *testing.T) {
	c := suite("x.record")
	for _, chunk := range []int64{0, 300} {
		rec := c.Generate(1, storagetest.Spec{Topics: 5, Messages: 400, MaxSize: 200, Step: 300_000_000})
		path := filepath.Join(t.TempDir(), "x.record")
		inThree(t, path, storage.WriteOptions{ChunkSize: chunk}, rec)
		w := walkFile(t, path)
		if len(w.viewed) != len(rec.Messages) {
			t.Fatalf("the viewer shows %d of %d messages", len(w.viewed), len(rec.Messages))
		}
		for i, m := range w.viewed {
			if want := &rec.Messages[i]; m.GetTime() != uint64(want.LogTime) || !bytes.Equal(m.Content, want.Data) ||
				m.GetChannelName() != rec.Topics[want.Topic].Name {
				t.Fatalf("message %d differs", i)
			}
		}
		if w.disused != 2 || w.header.GetSegmentInterval() != 0 {
			t.Errorf("%d sections that were an index; header %v", w.disused, w.header)
		}
		if chunk > 0 && w.header.GetChunkRawSize() != uint64(chunk) {
			t.Errorf("header %v", w.header)
		}
	}
}

// TestAppendFill: the field that hides the rest of an index can have any size.
func TestAppendFill(t *testing.T) {
	for room := int64(0); room < 40_000; room++ {
		b, ok := appendFill(nil, room)
		if !ok {
			if room != 1 && room != 2 && room != 0 {
				t.Fatalf("no field of %d bytes", room)
			}
			continue
		}
		for rest := append(b, make([]byte, room)...)[:room]; len(rest) > 0; {
			num, typ, n := protowire.ConsumeField(rest)
			if n < 0 || num != disusedField || typ != protowire.BytesType {
				t.Fatalf("%d bytes: field %d of type %d, length %d", room, num, typ, n)
			}
			rest = rest[n:]
		}
	}
}

// TestAppendEarlyIndex: a run that was killed while it overwrote leaves a record that reads
// whole, and the next one finishes it.
func TestAppendEarlyIndex(t *testing.T) {
	c := suite("x.record")
	first := c.Generate(3, storagetest.Spec{Topics: 2, Messages: 60, MaxSize: 100, Step: 1000})
	more := c.Generate(4, storagetest.Spec{Topics: 2, Messages: 30, MaxSize: 100, Step: 1000})
	for i := range more.Messages {
		more.Messages[i].LogTime += 1e12
	}
	states := map[string]bool{}
	for n := int64(1); ; n++ {
		path := filepath.Join(t.TempDir(), "x.record")
		if err := storagetest.WriteAll(Format, path, storage.WriteOptions{NoSync: true}, first); err != nil {
			t.Fatal(err)
		}
		disk := &faultio.FS{FS: iox.OS, N: n, Fault: faultio.Death}
		_ = storagetest.WriteAll(adding, path, storage.WriteOptions{FS: disk}, more)
		if !disk.Fired() {
			break
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		msgs, info, err := openBytes(t, b, storage.ReadOptions{Strict: true})
		if err != nil || len(msgs) != 60 && len(msgs) != 90 || damaged(info) {
			t.Fatalf("death at operation %d: %d messages, %v", n, len(msgs), err)
		}
		for code := range codes(info) {
			states[code] = true
		}
		if !codes(info)["early-index"] {
			continue
		}
		if err := storagetest.WriteAll(adding, path, storage.WriteOptions{},
			storagetest.Recording{}); err != nil {
			t.Fatal(err)
		}
		if w := walkFile(t, path); len(w.messages) != 90 {
			t.Errorf("Apollo's reader finds %d messages", len(w.messages))
		}
	}
	if !states["early-index"] || !states["stale-tail"] {
		t.Errorf("seen: %v", states)
	}
}

// TestAppendSegments: what is added to segments is one more, which has its name at the end.
func TestAppendSegments(t *testing.T) {
	c := suite("x")
	rec := c.Generate(7, storagetest.Spec{Topics: 3, Messages: 300, MaxSize: 100, Step: 1_000_000_000})
	for _, names := range []string{namesNew, namesOld} {
		dir := t.TempDir()
		stem := filepath.Join(dir, "x")
		inThree(t, stem, storage.WriteOptions{SegmentDuration: 30e9, SegmentNames: names}, rec)
		checkSegments := func(want int) (files []string) {
			t.Helper()
			r, err := openReader(context.Background(), dir, storage.ReadOptions{Strict: true})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			msgs, err := storagetest.ReadAll(r)
			info := r.Info()
			if err != nil || len(msgs) != want || len(info.Warnings) > 0 || len(info.Topics) != 3 {
				t.Fatalf("%s: %d messages, %d topics, %v, %v", names, len(msgs), len(info.Topics), info.Warnings, err)
			}
			return info.Files
		}
		files := checkSegments(300)
		for _, f := range files {
			walkFile(t, f)
		}
		more := c.Generate(8, storagetest.Spec{Topics: 2, Messages: 10, MaxSize: 100, Step: 1000})
		if err := storagetest.WriteAll(adding, stem, storage.WriteOptions{},
			storagetest.Recording{Topics: more.Topics}); err != nil {
			t.Error(err)
		}
		if got := checkSegments(300); len(got) != len(files) {
			t.Errorf("nothing was added, and there are %d segments, before %d", len(got), len(files))
		}
		for n := int64(1); ; n++ {
			disk := &faultio.FS{FS: iox.OS, N: n, Fault: faultio.Fault(n % 2), NoSync: true}
			err := storagetest.WriteAll(adding, stem, storage.WriteOptions{FS: disk}, more)
			if !disk.Fired() {
				if err != nil || n < 5 {
					t.Errorf("after %d operations: %v", n, err)
				}
				break
			}
			if err == nil { // what was left over was not removed
				break
			}
			checkSegments(300)
		}
		if got := checkSegments(310); len(got) != len(files)+1 {
			t.Errorf("%d segments, before %d", len(got), len(files))
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != len(files)+1 {
			t.Errorf("%d entries, %d segments, %v", len(entries), len(files)+1, err)
		}
	}
}

// TestAppendRefused: what cannot be added to, or not in this way, stays as it is.
func TestAppendRefused(t *testing.T) {
	c := suite("x.record")
	rec := c.Generate(3, storagetest.Spec{Topics: 2, Messages: 60, MaxSize: 100, Step: 1000})
	whole := filepath.Join(t.TempDir(), "x.record")
	if err := storagetest.WriteAll(Format, whole, storage.WriteOptions{}, rec); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	incomplete := newRecord(&pb.Header{MajorVersion: proto.Uint32(1)}).channel("/a", "test.String",
		testDesc()).chunk(msg{"/a", 1, "x"})
	for name, test := range map[string]struct {
		bytes []byte
		o     storage.WriteOptions
		want  error
	}{
		"no index":       {incomplete.b, storage.WriteOptions{}, storage.ErrCorrupt},
		"index cut":      {b[:len(b)-1], storage.WriteOptions{}, storage.ErrCorrupt},
		"segments":       {b, storage.WriteOptions{SegmentSize: 1}, storage.ErrUnsupported},
		"segment names":  {b, storage.WriteOptions{SegmentNames: namesOld}, storage.ErrUnsupported},
		"compression":    {b, storage.WriteOptions{Compression: "lz4"}, storage.ErrUnsupported},
		"no record":      {[]byte("hello"), storage.WriteOptions{}, storage.ErrTruncated},
		"not a file":     {nil, storage.WriteOptions{}, fs.ErrNotExist},
		"no channels":    {emptyRecord(t), storage.WriteOptions{}, storage.ErrUnsupported},
		"without header": {append(bytes.Repeat([]byte{0xff}, 16), b[16:]...), storage.WriteOptions{}, storage.ErrCorrupt},
	} {
		path := filepath.Join(t.TempDir(), "y.record")
		if test.bytes != nil {
			if err := os.WriteFile(path, test.bytes, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		w, err := adding.Create(context.Background(), path, test.o)
		if !errors.Is(err, test.want) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			_ = w.Close()
		}
		if now, _ := os.ReadFile(path); !bytes.Equal(now, test.bytes) {
			t.Errorf("%s: the file has changed", name)
		}
		if _, err := os.Stat(inplace.JournalPath(path)); err == nil {
			t.Errorf("%s: a journal is left", name)
		}
	}
}

func emptyRecord(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.record")
	if err := storagetest.WriteAll(Format, path, storage.WriteOptions{}, storagetest.Recording{}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestAppendData: files of Apollo's recorders, sound and odd, are added to, or refused and
// left alone.
func TestAppendData(t *testing.T) {
	files := slices.Concat(samples.Glob(t, "cyber/*.record*"), samples.Glob(t, "cyber/generated/*"))
	added := 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil || len(b) > 8<<20 {
			continue
		}
		path := filepath.Join(t.TempDir(), filepath.Base(file))
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		before, info, err := openBytes(t, b, storage.ReadOptions{})
		if err != nil || len(info.Topics) == 0 {
			continue
		}
		topic := info.Topics[0].Topic
		more := storagetest.Recording{Topics: []storage.Topic{topic},
			Messages: []storage.Message{{LogTime: info.End + 1e9, PublishTime: info.End + 1e9}}}
		err = storagetest.WriteAll(adding, path, storage.WriteOptions{}, more)
		now, _ := os.ReadFile(path)
		if err != nil {
			t.Logf("%s: %v", filepath.Base(file), err)
			if !bytes.Equal(now, b) {
				t.Errorf("%s: it was refused (%v), and has changed", filepath.Base(file), err)
			}
			continue
		}
		added++
		msgs, after, err := openBytes(t, now, storage.ReadOptions{Strict: true})
		if err != nil || len(msgs) != len(before)+1 || damaged(after) || fact(after, "counts") != "from the index" {
			t.Errorf("%s: %d messages, before %d: %v", filepath.Base(file), len(msgs), len(before), err)
		}
	}
	if added < 5 {
		t.Errorf("only %d of %d files were added to", added, len(files))
	}
}

func fact(info *storage.Info, key string) string {
	for _, f := range info.Facts {
		if f.Key == key {
			return f.Value
		}
	}
	return ""
}

// TestAppendReferee: cyber_record reads a record that was added to twice.
func TestAppendReferee(t *testing.T) {
	rec := suite("").Generate(5, storagetest.Spec{Topics: 4, Messages: 500, MaxSize: 1, Step: 100_000_000})
	var want bytes.Buffer
	for i := range rec.Messages { // a test.String each
		m := &rec.Messages[i]
		m.Data = append([]byte{0x0a, byte(i % 100)}, bytes.Repeat([]byte("x"), i%100)...)
		fmt.Fprintln(&want, rec.Topics[m.Topic].Name, m.LogTime, len(m.Data)-2)
	}
	path := filepath.Join(t.TempDir(), "x.record")
	inThree(t, path, storage.WriteOptions{ChunkSize: 3000}, rec)
	if out := cyberRecord(t, path); out != want.String() {
		t.Errorf("cyber_record reads %.300s..., want %.300s...", out, want.String())
	}
}

// TestAppendCost: what is written does not depend on the size of the record.
func TestAppendCost(t *testing.T) {
	target := int64(300 << 20)
	if !testing.Short() && os.Getenv("BAGCONV_EXHAUSTIVE") != "" {
		target = 10 << 30
	}
	path := filepath.Join(t.TempDir(), "large.record")
	fill := func(f *storage.Format, o storage.WriteOptions, from, size int64) {
		w, err := f.Create(context.Background(), path, o)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if _, err := w.CreateTopic(storage.Topic{Name: "/a", Type: "test.String", Encoding: encoding,
			Schema: storage.Schema{Encoding: encoding, Data: testSet()}}); err != nil {
			t.Fatal(err)
		}
		data := make([]byte, 1<<20)
		for at := from; at < from+size; at += int64(len(data)) {
			if err := w.Write(&storage.Message{LogTime: 1e9 + at, Data: data}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	fill(Format, storage.WriteOptions{NoSync: true, FS: iox.Sparse(iox.OS)}, 0, target)
	counter := &faultio.Counter{FS: iox.OS}
	fill(adding, storage.WriteOptions{NoSync: true, FS: counter}, target, 10<<20)
	if n := counter.Written.Load(); n > 12<<20 {
		t.Errorf("10 MiB behind %d MiB: %d bytes are written", target>>20, n)
	}
	r, err := openReader(context.Background(), path, storage.ReadOptions{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if info := r.Info(); info.Messages != target>>20+10 {
		t.Errorf("%d messages, %v", info.Messages, err)
	}
}

// TestAppendCut: whatever is left behind the index after a death is no part of the record.
func TestAppendCut(t *testing.T) {
	c := suite("x.record")
	first := c.Generate(3, storagetest.Spec{Topics: 2, Messages: 60, MaxSize: 100, Step: 1000})
	more := c.Generate(4, storagetest.Spec{Topics: 3, Messages: 30, MaxSize: 3000, Step: 1000})
	var left []byte
	end := 0
	for n := int64(1); ; n++ {
		path := filepath.Join(t.TempDir(), "x.record")
		if err := storagetest.WriteAll(Format, path, storage.WriteOptions{NoSync: true}, first); err != nil {
			t.Fatal(err)
		}
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		disk := &faultio.FS{FS: iox.OS, N: n, Fault: faultio.Death, NoSync: true}
		_ = storagetest.WriteAll(adding, path, storage.WriteOptions{ChunkSize: 9000, FS: disk}, more)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if msgs, _, err := openBytes(t, b, storage.ReadOptions{Strict: true}); err != nil || len(msgs) != 60 {
			break // it has all
		}
		left, end = b, int(st.Size())
	}
	if len(left) < end+10_000 {
		t.Fatalf("a death leaves %d bytes behind %d", len(left)-end, end)
	}
	for n := len(left); n >= end; n -= 41 {
		msgs, info, err := openBytes(t, left[:n], storage.ReadOptions{Strict: true})
		if err != nil || len(msgs) != 60 || damaged(info) {
			t.Fatalf("%d of %d bytes: %d messages, %v", n, len(left), len(msgs), err)
		}
	}
}
