package mcap

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// An oddCase is what must come of a file: expected.json beside them.
type oddCase struct {
	About     string
	Want, Min int
	Exit      []int // of the program: 0 sound, 3 with losses, 1 refused
	Truth     [][5]any
	Topics    []string
	Flags     []string
	Folder    bool

	Attachments [][4]any
	Metadata    [][2]any
}

// less lists the odd files of which less is read than is in them, and why.
var less = map[string]int{
	"lz4-raw-block.mcap": 0, // no lz4 frame, which nothing that records writes
}

// TestOddFiles: of each odd file everything is read that can be, nothing that was not
// written, and the damage is reported.
func TestOddFiles(t *testing.T) {
	for path, c := range samples.Expected[oddCase](t, "mcap/generated/expected.json") {
		test := testOdd
		if c.Folder {
			test = testOddFolder
		}
		t.Run(filepath.Base(path), func(t *testing.T) { test(t, path, &c) })
	}
}

func testOdd(t *testing.T, path string, c *oddCase) {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, info, r, err := openBytes(t, b, storage.ReadOptions{})
	if err == nil {
		readExtras(t, r, c)
		info = storagetest.InfoOf(r)
	}
	if err != nil {
		if c.Min > 0 || !slices.Contains(c.Exit, 1) {
			t.Fatalf("%s: refused: %v", c.About, err)
		}
		return
	}
	truth := map[string]int{}
	for _, m := range c.Truth {
		topic := m[0]
		if slices.Contains(c.Flags, "bad-topic") {
			topic = nil
		}
		truth[fmt.Sprintln(topic, m[1], m[2], m[3], m[4])]++
	}
	for _, m := range got {
		var topic any = info.Topics[m.Topic].Name
		if slices.Contains(c.Flags, "bad-topic") {
			topic = nil
		}
		k := fmt.Sprintln(topic, uint64(m.LogTime), uint64(m.PublishTime), m.Sequence,
			fmt.Sprintf("%x", sha256.Sum256(m.Data))[:16])
		if truth[k]--; truth[k] < 0 && !slices.Contains(c.Flags, "any-content") {
			t.Errorf("a message that was not there: %s", k)
		}
	}
	want := c.Want
	if n, ok := less[filepath.Base(path)]; ok {
		want = n
	}
	if len(got) < want {
		t.Errorf("%s: %d messages, want %d", c.About, len(got), want)
	}
	if len(got) < c.Want && !damaged(info) || !slices.Contains(c.Exit, 0) && !damaged(info) {
		t.Errorf("%s: no damage is told: %+v", c.About, info.Warnings)
	}
	if !slices.Contains(c.Exit, 3) && damaged(info) {
		t.Errorf("%s: damage is told: %+v", c.About, info.Warnings)
	}
	if slices.Equal(c.Exit, []int{0}) {
		names := map[string]bool{}
		for i := range info.Topics {
			names[info.Topics[i].Name] = true
		}
		if len(names) != len(c.Topics) || len(r.attachments) != len(c.Attachments) || len(r.metadata) != len(c.Metadata) {
			t.Errorf("%d topics, %d attachments, %d metadata records, want %d, %d, %d", len(names), len(r.attachments),
				len(r.metadata),
				len(c.Topics), len(c.Attachments), len(c.Metadata))
		}
		if info.Messages != int64(len(got)) {
			t.Errorf("info says %d messages of %d", info.Messages, len(got))
		}
	}
	if testing.Verbose() {
		for _, w := range info.Warnings {
			t.Logf("%+v", w)
		}
		t.Logf("%d messages, lost %+v", len(got), info.Lost)
	}
}

// readExtras reads attachments and metadata records, and compares them with what must
// be there.
func readExtras(t *testing.T, r *reader, c *oddCase) {
	want := map[string]int{}
	for _, a := range c.Attachments {
		want[fmt.Sprintln(a[:]...)]++
	}
	for i := range r.attachments {
		a := &r.attachments[i]
		x, err := r.openAttachment(a)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(x)
		if err != nil || x.Close() != nil {
			t.Fatal(err)
		}
		want[fmt.Sprintln(a.name, a.mediaType, len(b), fmt.Sprintf("%x", sha256.Sum256(b))[:16])]--
	}
	for _, m := range c.Metadata {
		want[fmt.Sprint(m[0], m[1])]++
	}
	for _, p := range r.metadata {
		m, err := r.metadataAt(p)
		if err != nil {
			t.Fatal(err)
		}
		values := map[string]any{}
		for _, v := range m.values {
			values[v.key] = v.value
		}
		want[fmt.Sprint(m.name, values)]--
	}
	for k, n := range want {
		if n != 0 && slices.Contains(c.Exit, 0) {
			t.Errorf("attachment or metadata record %q: %d too few", k, n)
		}
	}
}

// TestLatching: the words of MCAP's registry for latching are those of a bag, of ROS 1 topics alone.
func TestLatching(t *testing.T) {
	for _, c := range [][3]string{{"ros1", "true", "1"}, {"ros1", "False", "0"}, {"ros1", "1", "1"}, {"ros1", "?", "?"},
		{"cdr", "true", "true"}} {
		own := topic{channel: channel{topic: "/a", encoding: c[0], metadata: []pair{{storage.MetaLatching, c[1]}}}}
		own.fill(nil)
		if got := own.Metadata[storage.MetaLatching]; got != c[2] {
			t.Errorf("%s in %s is read as %q, want %q", c[1], c[0], got, c[2])
		}
	}
}

// TestCompressedChecksum: data whose own checksum is wrong are damage, if the chunk has none that
// shows that they are right.
func TestCompressedChecksum(t *testing.T) {
	records := bytes.Repeat([]byte("0123456789"), 100)
	for _, codec := range []*compress.Codec{compress.LZ4, compress.Zstd} {
		frame, err := codec.Encode(nil, records, 0)
		if err != nil {
			t.Fatal(err)
		}
		wrong := bytes.Clone(frame)
		wrong[len(wrong)-1] ^= 1
		for name, x := range map[string]struct {
			data           []byte
			crc            uint32
			places         int
			repaired, left bool
		}{
			"sound":                         {frame, 0, 0, false, true},
			"wrong checksum":                {wrong, 0, 1, false, false},
			"wrong checksum, chunk has one": {wrong, crc32.ChecksumIEEE(records), 1, true, false},
			"bytes behind":                  {append(bytes.Clone(frame), 1, 2, 3, 4, 5), 0, 1, true, true},
			"cut checksum":                  {frame[:len(frame)-1], 0, 1, false, false},
		} {
			c := chunk{size: uint64(len(records)), crc: x.crc, compression: codec.Name(), data: x.data}
			var d chunked.Damage
			out := c.decode(nil, 0, &d)
			if d.Places != x.places || d.Repaired != x.repaired {
				t.Errorf("%s, %s: %+v", codec.Name(), name, d)
			}
			if x.left && !bytes.Equal(out, records) {
				t.Errorf("%s, %s: %d bytes of %d", codec.Name(), name, len(out), len(records))
			}
		}
	}
}
