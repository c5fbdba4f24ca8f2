package main

import (
	"bytes"
	"cmp"
	"context"
	encbin "encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// TestMergeMany merges 50 recordings of all formats, 2 GB in all (200 MB unless large
// files are wanted), that overlap in time from end to end, some of them out of order
// and some with another definition of the same type. The memory that it takes is bounded, and what comes out is what
// a sort of all messages returns, message by message. The sort has nothing in common
// with the merge but ReadNext: messages are decoded here, by hand.
func TestMergeMany(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 500 MB")
	}
	limit, memory, scale := 64, "64M", 10 // MB; messages are that many times shorter
	if large() {
		limit, memory, scale = 256, "256M", 1
	}
	env := []string{"GOMAXPROCS=16"} // memory must not grow with the cores
	dir := t.TempDir()
	var paths []string
	var want []blob
	var bytes int64
	for i := range 50 {
		path, n := blobs(t, dir, i, scale)
		paths = append(paths, path)
		want = append(want, readBlobs(t, path)...)
		bytes += n
	}
	slices.SortStableFunc(want, func(a, b blob) int { return cmp.Compare(a.time, b.time) })
	t.Logf("%d messages, %d MB", len(want), bytes/1e6)
	if want := int64(2e9) / int64(scale); bytes < want {
		t.Errorf("%d bytes of messages, want %d", bytes, want)
	}
	for _, out := range []string{"out.bag", "out/", "out.record"} {
		path := filepath.Join(dir, out)
		held := heldMB(t, env, slices.Concat([]string{"merge", "-q", "--no-sync", "--max-memory", memory, "-o",
			path + out[len(strings.TrimRight(out, "/")):]}, paths)...)
		t.Logf("%s: %d MB", out, held)
		if most := limit + limit/4 + programMB; held > most {
			t.Errorf("%s: %d MB are held, want %d at most", out, held, most)
		}
		got := readBlobs(t, path)
		if len(got) != len(want) {
			t.Errorf("%s: %d messages, want %d", out, len(got), len(want))
		}
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Errorf("%s: message %d is %+v, want %+v", out, i, got[i], want[i])
				break
			}
		}
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
}

// A blob is the content of a message.
type blob struct {
	time   int64
	topic  string
	number uint32
	length int
	hash   uint64 // of the data
}

var blobSeed = maphash.MakeSeed()

// blobDefinitions are two of one type name.
var blobDefinitions = [2]string{"uint32 number\nuint8[] data\n", "uint8[] data\nuint32 number\n"}

// blobNoise is what data are slices of; it compresses to about a half.
var blobNoise = func() []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 4<<20)
	for i := range b {
		b[i] = byte(rng.Uint32()) & 15
	}
	return b
}()

// blobs writes the i-th recording: 42 s, with 100 messages of up to 200 bytes per
// second, 10 of 60 kB and every 4 s one of 1.5 MB. Times are whole milliseconds, so
// that many are equal. The larger ones are scale times shorter. It returns the size of all messages.
func blobs(t *testing.T, dir string, i, scale int) (path string, size int64) {
	t.Helper()
	format := all.Registry().Lookup([]string{"bag", "bag", "db3", "record", "bag"}[i%5])
	definition, o := 0, storage.WriteOptions{NoSync: true}
	if i%5 == 1 {
		o.Compression = "lz4"
	}
	switch i {
	case 9, 17, 28: // a bag, a database, a record
		definition = 1
	case 10, 33:
		o.ChunkSize = 16 << 20
	}
	path = filepath.Join(dir, fmt.Sprintf("in%02d", i))
	w, err := format.Create(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	var ids [3]storage.TopicID
	var plan mapping.Program
	for k, name := range []string{"/shared/small", "/shared/large", fmt.Sprintf("/own%d", i)} {
		topic := blobTopic(t, name, definition)
		if encoding := format.Holds.Native; encoding != topic.Encoding {
			m, err := mapping.New(mapping.Options{Encoding: encoding, Distro: "humble"}).Map(&topic)
			if err != nil {
				t.Fatal(err)
			}
			topic, plan = m.Topic, m.Plan
		}
		if ids[k], err = w.CreateTopic(topic); err != nil {
			t.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(uint64(i), 3))
	var buf, out []byte
	for _, step := range blobSteps(i) {
		k, n := 0, 100+rng.IntN(100)
		if step%10 == 5 {
			k, n = 1, 60_000/scale+rng.IntN(100)
		} else if step%400 == 9 {
			k, n = 2, 1_500_000/scale+rng.IntN(100)
		}
		at := rng.IntN(len(blobNoise) - n)
		buf = appendBlob(buf[:0], definition, uint32(step), blobNoise[at:at+n])
		data := buf
		if plan != nil {
			if out, err = plan.Append(out[:0], buf); err != nil {
				t.Fatal(err)
			}
			data = out
		}
		size += int64(len(data))
		when := 1_700_000_000_000_000_000 + int64(step*10+i*40+rng.IntN(10))*1_000_000
		if err := w.Write(&storage.Message{Topic: ids[k], LogTime: when, PublishTime: when, Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	return path, size
}

// blobSteps is the order in which the i-th recording has its messages.
func blobSteps(i int) (steps []int) {
	for s := range 4200 {
		steps = append(steps, s)
	}
	switch {
	case i%11 == 3: // topic by topic
		slices.SortStableFunc(steps, func(a, b int) int { return cmp.Compare(a%10, b%10) })
	case i == 20: // from the end to the start
		slices.Reverse(steps)
	case i%4 == 1: // a little out of order
		for k := 2; k < len(steps); k += 3 {
			steps[k-2], steps[k] = steps[k], steps[k-2]
		}
	}
	return steps
}

func blobTopic(t *testing.T, name string, definition int) storage.Topic {
	t.Helper()
	text := blobDefinitions[definition]
	msg, err := rosmsg.Parse("acme_msgs/Blob", nil, rosmsg.ROS1, func(string) (string, bool) { return text, true })
	if err != nil {
		t.Fatal(err)
	}
	return storage.Topic{Name: name, Type: "acme_msgs/Blob", Encoding: "ros1", Schema: storage.Schema{Encoding: "ros1msg",
		Data: []byte(text)},
		Metadata: map[string]string{storage.MetaMD5Sum: schema.MD5(msg)}}
}

func appendBlob(b []byte, definition int, number uint32, data []byte) []byte {
	if definition == 0 {
		b = encbin.LittleEndian.AppendUint32(b, number)
	}
	b = append(encbin.LittleEndian.AppendUint32(b, uint32(len(data))), data...)
	if definition == 1 {
		b = encbin.LittleEndian.AppendUint32(b, number)
	}
	return b
}

// readBlobs reads a recording from its start to its end.
func readBlobs(t *testing.T, path string) (blobs []blob) {
	t.Helper()
	f, err := all.Registry().Detect(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.Open(context.Background(), path, storage.ReadOptions{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	info := r.Info()
	for {
		m, err := r.ReadNext()
		if errors.Is(err, io.EOF) {
			return blobs
		}
		if err != nil {
			t.Fatal(err)
		}
		topic := &info.Topics[m.Topic]
		number, data := parseBlob(t, topic, m.Data)
		blobs = append(blobs, blob{
			time: m.LogTime, topic: strings.TrimSuffix(topic.Name, "_2"), // one name has one type in a record
			number: number, length: len(data), hash: maphash.Bytes(blobSeed, data),
		})
	}
}

// parseBlob decodes a message in any of the three encodings.
func parseBlob(t *testing.T, topic *storage.TopicInfo, b []byte) (number uint32, data []byte) {
	t.Helper()
	whole := len(b)
	u32 := func() uint32 {
		v := encbin.LittleEndian.Uint32(b)
		b = b[4:]
		return v
	}
	fields := func() {
		n := int(u32())
		data, b = b[:n], b[n:]
	}
	switch topic.Encoding {
	case "protobuf":
		for len(b) > 0 {
			_, typ, n := protowire.ConsumeTag(b)
			b = b[max(n, 0):]
			if typ == protowire.BytesType {
				data, n = protowire.ConsumeBytes(b)
			} else {
				number, n = protowire.ConsumeFixed32(b)
			}
			if n < 0 {
				t.Fatal(protowire.ParseError(n))
			}
			b = b[n:]
		}
		return number, data
	case "cdr":
		b = b[4:]
	}
	if bytes.Index(topic.Schema.Data, []byte("number")) < bytes.Index(topic.Schema.Data, []byte("data")) {
		number = u32()
		fields()
	} else {
		fields()
		if topic.Encoding == "cdr" {
			b = b[-(whole-len(b))&3:]
		}
		number = u32()
	}
	if len(b) > 0 {
		t.Fatalf("%s: %d bytes left of a message of %d", topic.Name, len(b), whole)
	}
	return number, data
}
