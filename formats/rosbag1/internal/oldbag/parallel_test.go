package oldbag

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/storage"
)

// A bagFile is a bag in memory.
type bagFile struct {
	storage.File
	*bytes.Reader
}

func (f bagFile) Read(p []byte) (int, error)                { return f.Reader.Read(p) }
func (f bagFile) ReadAt(p []byte, off int64) (int, error)   { return f.Reader.ReadAt(p, off) }
func (f bagFile) Seek(off int64, whence int) (int64, error) { return f.Reader.Seek(off, whence) }

var _ io.ReaderAt = bagFile{}

// randomBag returns a bag of a version with n messages of topics that come up over time; the
// messages of some have what looks like records.
func randomBag(random *rand.Rand, version string, n int) []byte {
	u32 := func(v int) string { return string(binary.LittleEndian.AppendUint32(nil, uint32(v))) }
	record := func(fields ...string) (out string) {
		for _, f := range fields {
			out += u32(len(f)) + f
		}
		return u32(len(out)) + out
	}
	md5 := strings.Repeat("0a", 16)
	message := func(i, id int, data string) string {
		switch topic := fmt.Sprint("/topic", id); version {
		case "1.2":
			return record("md5="+md5, "nsec="+u32(i), "op=\x02", "sec="+u32(7), "topic="+topic, "type=a/B") + u32(len(data)) + data
		case "1.1":
			return topic + "\n" + md5 + "\na/B\n" + u32(7) + u32(i) + u32(len(data)) + data
		default:
			return topic + "\n" + u32(7) + u32(i) + u32(len(data)) + data
		}
	}
	var b strings.Builder
	b.WriteString(map[string]string{"1.2": "#ROSRECORD V1.2\n", "1.1": "#ROSRECORD V1.1\n", "1.0": "#ROSLOG V1.0\n"}[version])
	if version == "1.0" {
		fmt.Fprintf(&b, "%04d\n", n)
		for i := range n {
			fmt.Fprintf(&b, "/topic%d\n%s\na/B\n", i, md5)
		}
	}
	defined := 0
	for i := range n {
		id := random.IntN(1 + i/5)
		for ; version == "1.2" && defined <= id; defined++ {
			b.WriteString(record("def=int8 x", "md5="+md5, "op=\x01", "topic="+fmt.Sprint("/topic", defined), "type=a/B") + u32(0))
		}
		data := strings.Repeat("data/", random.IntN(20))
		for random.IntN(6) == 0 {
			data += message(i, random.IntN(3), "within")
		}
		b.WriteString(message(i, id, data))
	}
	return []byte(b.String())
}

// scanned is what a bag has, scanned by one goroutine or by several in parts of some bytes.
type scanned struct {
	Topics   []topic
	Messages []storage.Message
	Gaps     []gap
	Warnings []storage.Warning
	Lost     storage.Lost
	Guessed  bool
}

func scanBag(t *testing.T, b []byte, version string, workers int, part int64) scanned {
	t.Helper()
	src := chunked.NewSource(t.Context(), "bag", "x.bag", bagFile{Reader: bytes.NewReader(b)}, false, nil)
	src.Size = int64(len(b))
	first := bytes.IndexByte(b, '\n') + 1
	r := &Reader{src: src, version: Version{Name: version, first: int64(first)}, byKey: map[string]storage.TopicID{}, blockSize: 4 << 10}
	if err := r.begin(); err != nil {
		t.Fatal(err)
	}
	s := scanner{r: r, w: src.Window(), part: part, defs: map[definition]string{}}
	p, err := s.walk(r.first, r.first+part/4)
	if err == nil && workers > 1 {
		p, err = s.parallel(p, workers)
	}
	if err == nil {
		_, err = s.walk(p, src.Size)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.endRun()
	s.define()
	if err := s.account(); err != nil {
		t.Fatal(err)
	}
	out := scanned{Topics: r.topics, Gaps: s.gaps, Guessed: s.guessed}
	d := src.Damage()
	out.Warnings, out.Lost = d.Warnings, d.Lost
	for i := range r.blocks {
		var batch storage.Batch
		if err := r.ReadBlock(t.Context(), i, &batch); err != nil {
			t.Fatal(err)
		}
		bl := &r.blocks[i]
		counts := make([]int64, len(r.topics))
		for _, m := range batch.Messages {
			counts[m.Topic]++
			if m.LogTime < bl.Start || m.LogTime > bl.End {
				t.Fatalf("block %d of %d to %d has a message of %d", i, bl.Start, bl.End, m.LogTime)
			}
			m.Data = bytes.Clone(m.Data)
			out.Messages = append(out.Messages, m)
		}
		for k, id := range bl.Topics {
			if counts[id] != bl.counts[k] || k > 0 && bl.Topics[k-1] >= id {
				t.Fatalf("block %d has %d messages of topic %d, it counts %d", i, counts[id], id, bl.counts[k])
			}
			counts[id] = 0
		}
		if slices.Max(counts) > 0 {
			t.Fatalf("block %d has messages of topics that it does not name", i)
		}
	}
	return out
}

// TestParallel: parts that are scanned at the same time add up to what one scan finds, whatever
// is damaged.
func TestParallel(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		version := []string{"1.2", "1.1", "1.0"}[seed%3]
		b := randomBag(random, version, 600)
		for range int(seed) / 3 % 5 {
			switch at := 30_000 + random.IntN(len(b)-31_000); random.IntN(3) {
			case 0:
				b[at] ^= byte(1 + random.IntN(255))
			case 1:
				b = slices.Delete(b, at, at+random.IntN(900))
			default:
				b = slices.Insert(b, at, bytes.Repeat([]byte("noise"), random.IntN(900))...)
			}
		}
		if random.IntN(3) == 0 {
			b = b[:len(b)-random.IntN(300)]
		}
		want := scanBag(t, b, version, 1, 0)
		if len(want.Messages) < 200 {
			t.Fatalf("seed %d: only %d messages", seed, len(want.Messages))
		}
		for _, part := range []int64{1000, 4 << 10, 20_000} {
			if got := scanBag(t, b, version, 3, part); !reflect.DeepEqual(got, want) {
				t.Errorf("seed %d, parts of %d bytes of %d: %d messages, %d gaps, %v; want %d messages, %d gaps, %v", seed, part, len(b),
					len(got.Messages), len(got.Gaps), got.Warnings, len(want.Messages), len(want.Gaps), want.Warnings)
			}
		}
	}
}

// TestParallelCut: the last record is cut off behind a message that has what looks like records,
// which may be where a part begins.
func TestParallelCut(t *testing.T) {
	for seed := range uint64(90) {
		version := []string{"1.2", "1.1", "1.0"}[seed%3]
		b := randomBag(rand.New(rand.NewPCG(seed, 2)), version, 60)
		b = b[:len(b)-1]
		want := scanBag(t, b, version, 1, 0)
		for part := int64(100); part < 1500; part += 200 {
			if got := scanBag(t, b, version, 3, part); !reflect.DeepEqual(got, want) {
				t.Errorf("seed %d, parts of %d bytes: %d messages, %v; want %d messages, %v", seed, part,
					len(got.Messages), got.Warnings, len(want.Messages), want.Warnings)
			}
		}
	}
}
