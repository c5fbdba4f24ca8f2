package main

import (
	"crypto/sha256"
	le "encoding/binary"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// TestMCAPValues: PyPI's mcap and its support packages decode the values of ROS 1, CDR and
// protobuf messages in a file as they were in the recording that it was made from.
func TestMCAPValues(t *testing.T) {
	python := os.Getenv("BAGCONV_MCAP_PYTHON")
	if python == "" {
		missing(t, "PyPI's mcap (set BAGCONV_MCAP_PYTHON to a python that has it)")
	}
	dir := t.TempDir()
	for _, c := range []struct {
		source, encoding string
		messages         int
	}{{"demo.bag", "native", 636}, {"demo.bag", "keep", 636}, {"demo.record", "keep", 646}} {
		path, lines := filepath.Join(dir, c.source+c.encoding+".mcap"), filepath.Join(dir, "want.jsonl")
		source := filepath.Join("../../testdata", c.source)
		convert(t, source, path, "--no-sync", "--encoding", c.encoding)
		want, err := exec.Command(binary, "cat", source, "--bytes").Output()
		if err == nil {
			err = os.WriteFile(lines, want, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		got := jsonLines[struct {
			Messages int
			Problems []string
		}](t, exec.Command(python, "testdata/referee/mcap/values.py", path, lines))
		if len(got) != 1 || got[0].Messages != c.messages || len(got[0].Problems) > 0 {
			t.Errorf("%s, --encoding %s: %+v", c.source, c.encoding, got)
		}
	}
}

// A nodeReading is what npm's @mcap/core reads of a file.
type nodeReading struct {
	Messages, Attachments, Metadata int
	Topics                          map[string]string
}

// TestMCAPNode: npm's @mcap/core reads what bagconv reads, as a stream and by the index, of
// files that were converted, compressed, copied and added to.
func TestMCAPNode(t *testing.T) {
	r := findReferees(t)
	dir := t.TempDir()
	var paths []string
	const source = "../../testdata/demo.bag"
	for _, codec := range []string{"none", "lz4", "zstd"} {
		path := filepath.Join(dir, codec+".mcap")
		convert(t, source, path, "--no-sync", "--compression", codec, "--chunk-size", "20K")
		again := filepath.Join(dir, codec+"-copy.mcap")
		convert(t, path, again, "--no-sync")
		added := filepath.Join(dir, codec+"-added.mcap") // twice, with a topic more
		convert(t, source, added, "--no-sync", "--compression", codec, "--chunk-size", "20K", "-x", "/odom")
		for _, shift := range []string{"+10s", "+20s"} {
			if status, text := bagconv(t, "append", "-q", "--no-sync", "--shift", source+"="+shift, added, source); status != 0 {
				t.Fatalf("append: %d: %s", status, text)
			}
		}
		paths = append(paths, path, again, added)
	}
	cmd := exec.Command(r.node, append([]string{"testdata/referee/mcap/read.mjs"}, paths...)...)
	cmd.Env = append(os.Environ(), "BAGCONV_NODE_MODULES="+r.modules)
	readings := jsonLines[struct {
		Path          string
		Stream, Index nodeReading
	}](t, cmd)
	if len(readings) != len(paths) {
		t.Fatalf("%d readings of %d files", len(readings), len(paths))
	}
	for _, got := range readings {
		want := nodeReading{Topics: map[string]string{}}
		info, msgs := read(t, got.Path)
		hashes := map[string][]byte{}
		for _, m := range msgs {
			want.Messages++
			name := info.Topics[m.Topic].Name
			hashes[name] = appendMessage(hashes[name], &m)
		}
		for name, b := range hashes {
			want.Topics[name] = fmt.Sprintf("%x", sha256.Sum256(b))
		}
		for way, n := range map[string]nodeReading{"stream": got.Stream, "index": got.Index} {
			if n.Messages != want.Messages || !maps.Equal(n.Topics, want.Topics) {
				t.Errorf("%s, by its %s: %d messages, want %d; topics %v", strings.TrimPrefix(got.Path, dir), way, n.Messages,
					want.Messages, n.Topics)
			}
		}
	}
}

// appendMessage appends what read.mjs hashes of a message.
func appendMessage(b []byte, m *storage.Message) []byte {
	b = le.LittleEndian.AppendUint64(b, uint64(m.LogTime))
	b = le.LittleEndian.AppendUint64(b, uint64(m.PublishTime))
	b = le.LittleEndian.AppendUint32(b, m.Sequence)
	b = le.LittleEndian.AppendUint32(b, uint32(len(m.Data)))
	return append(b, m.Data...)
}
