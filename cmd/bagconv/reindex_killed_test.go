package main

import (
	"bytes"
	le "encoding/binary"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "github.com/bagconv/bagconv/proto/cyber"
)

// unindex takes the index of a recording away, as a recorder leaves it that is killed.
func unindex(t *testing.T, format, path string) {
	t.Helper()
	if format == "db3" || format == "ros2mcap" {
		if err := os.Remove(filepath.Join(path, "metadata.yaml")); err != nil {
			t.Fatal(err)
		}
		return
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	switch format {
	case "bag":
		at := bytes.Index(b, []byte("index_pos=")) + 10
		b = b[:le.LittleEndian.Uint64(b[at:])]
		clear(b[at : at+8])
	case "record":
		size, h := le.LittleEndian.Uint64(b[8:]), pb.Header{}
		if err := proto.Unmarshal(b[16:16+size], &h); err != nil {
			t.Fatal(err)
		}
		b = b[:h.GetIndexPosition()]
		h.IndexPosition, h.MessageNumber, h.IsComplete = nil, nil, proto.Bool(false)
		text, err := proto.Marshal(&h)
		if err != nil {
			t.Fatal(err)
		}
		le.LittleEndian.PutUint64(b[8:], uint64(len(text)))
		clear(b[16:2064])
		copy(b[16:], text)
	case "mcap":
		b = b[:le.LittleEndian.Uint64(b[len(b)-28:])-13]
	}
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestReindexKilled: kill -9 at random moments of bagconv reindex leaves a recording with the same
// messages, and the next run writes its index. 50 moments with BAGCONV_EXHAUSTIVE=1.
func TestReindexKilled(t *testing.T) {
	t.Parallel()
	moments := 4
	if os.Getenv("BAGCONV_EXHAUSTIVE") != "" {
		moments = 50
	}
	in := generated(t, "-profile", "small", "-mb", "4")
	_, all := read(t, in)
	for _, format := range []string{"bag", "record", "mcap", "db3", "ros2mcap"} {
		dir := t.TempDir()
		fresh, target := filepath.Join(dir, "fresh"), filepath.Join(dir, "x")
		convert(t, in, fresh, "--to", format)
		unindex(t, format, fresh)
		took, killed := time.Duration(0), 0
		for i := 0; i <= moments || killed == 0 && i < 50; i++ {
			if out, err := exec.Command("cp", "-r", fresh, target).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			cmd := exec.Command(binary, "reindex", "-q", target)
			began := time.Now()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if i > 0 { // the first one is timed
				time.Sleep(time.Duration(rand.Int64N(int64(took))))
				_ = cmd.Process.Kill()
			}
			switch {
			case cmd.Wait() != nil:
				killed++
			case i == 0:
				took = time.Since(began)
			default: // the first one was slower than others are
				took = max(took*3/4, time.Millisecond)
			}
			if _, msgs := read(t, target); len(msgs) != len(all) {
				t.Errorf("%s, moment %d: %d messages, want %d", format, i, len(msgs), len(all))
			}
			if status, stderr := bagconv(t, "reindex", "-q", target); status != 0 {
				t.Errorf("%s, moment %d: the next run: %s", format, i, stderr)
			}
			if info, msgs := read(t, target); len(msgs) != len(all) || len(info.Warnings) > 0 {
				t.Errorf("%s, moment %d: the next run: %d messages, want %d, %+v", format, i, len(msgs), len(all), info.Warnings)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
				t.Errorf("%s, moment %d: the next run has left %v", format, i, left)
			}
			if err := os.RemoveAll(target); err != nil {
				t.Fatal(err)
			}
		}
		if killed == 0 {
			t.Errorf("none of %d runs on a %s was killed in time", moments, format)
		}
	}
}
