package main

import (
	"bytes"
	le "encoding/binary"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// reindexAll copies recordings, reindexes the copies and returns those that were written, with the
// number of messages that they have, which is that of before.
func reindexAll(t *testing.T, paths []string) map[string]int {
	t.Helper()
	written := map[string]int{}
	for _, path := range paths {
		copied := filepath.Join(t.TempDir(), filepath.Base(path))
		if out, err := exec.Command("cp", "-rL", "--no-preserve=mode", path, copied).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		f, err := all.Registry().Detect(copied)
		if err != nil {
			continue
		}
		changes, err := f.Reindex(t.Context(), copied, storage.ReindexOptions{NoSync: true})
		if err != nil {
			t.Logf("%s is refused: %v", path, err)
		}
		if err != nil || len(changes) == 0 {
			continue
		}
		_, before := read(t, path)
		_, after := read(t, copied)
		if len(before) != len(after) {
			t.Errorf("%s: %d messages before, %d after", path, len(before), len(after))
		}
		written[copied] = len(after)
	}
	return written
}

// A counting is a line of a program that counts messages.
type counting struct {
	Path     string
	Messages int
	Order    string
	Problem  string
}

// counted runs a program that prints for each path how many messages it reads, or why it reads none.
func counted(t *testing.T, want map[string]int, program ...string) {
	t.Helper()
	cmd := exec.Command(program[0], append(program[1:], sorted(want)...)...)
	cmd.Stderr = os.Stderr
	n := 0
	for _, x := range jsonLines[counting](t, cmd) {
		n++
		if x.Problem != "" || x.Messages != want[x.Path] {
			t.Errorf("%s: %d messages, want %d: %s", x.Path, x.Messages, want[x.Path], x.Problem)
		}
	}
	if n == 0 || n != len(want) {
		t.Errorf("%d of %d read", n, len(want))
	}
}

// counter is a program in Python that reads each path with an expression for the number of
// messages, by p.
func counter(imports, messages string) string {
	return imports + `
import json, sys
for p in sys.argv[1:]:
    try:
        print(json.dumps(dict(path=p, messages=` + messages + `)))
    except Exception as e:
        print(json.dumps(dict(path=p, problem=repr(e))))
`
}

// TestReindexReferees: what reindex has written, of all recordings that are unindexed or whose
// index is damaged, is read whole by the tools of the field.
func TestReindexReferees(t *testing.T) {
	t.Parallel()
	t.Run("bags", func(t *testing.T) {
		want, zero := reindexAll(t, append(samples.Glob(t, "ros1/*/*.bag"),
			samples.Glob(t, "ros1/*/*.active")...)), map[string]int{}
		t.Run("python3-rosbag", func(t *testing.T) { decodeROS1(t, want, sorted(want)) })
		t.Run("rosbag info", func(t *testing.T) {
			if exec.Command("/usr/bin/python3", "-c", "import rosbag").Run() != nil {
				missing(t, "python3-rosbag")
			}
			counted(t, want, "/usr/bin/python3", "-c",
				counter("import rosbag", "len(str(rosbag.Bag(p))) and rosbag.Bag(p).get_message_count()"))
		})
		t.Run("C++", func(t *testing.T) { countCPP(t, want, zero, sorted(want)) })
		for _, r := range bagReaders(t) {
			want := maps.Clone(want)
			switch r.name {
			case "@foxglove/rosbag": // it wants 4096 bytes of each bag
				maps.DeleteFunc(want, func(_ string, messages int) bool { return messages == 0 })
			case "rosbags":
			default:
				continue // its test is above
			}
			t.Run(r.name, func(t *testing.T) { counted(t, want, r.program...) })
		}
	})
	for _, c := range []struct {
		name    string
		paths   []string
		least   int // that are written
		python  string
		program string
	}{
		{"records", samples.Glob(t, "cyber/generated/*.record"), 4, "BAGCONV_CYBER_PYTHON",
			counter("from cyber_record.record import Record", "sum(1 for _ in Record(p).read_messages())")},
		{"folders", recordedFolders(t), 1, "BAGCONV_ROSBAGS_PYTHON",
			counter("from rosbags.rosbag2 import Reader\ndef count(p):\n    with Reader(p) as r:\n        assert "+
				"sum(c.msgcount for c in r.connections) == r.message_count\n        return sum(1 for _ in r.messages())",
				"count(p)")},
		{"MCAP", samples.Glob(t, "mcap/generated/*.mcap"), 15, "BAGCONV_MCAP_PYTHON",
			counter("from mcap.reader import make_reader\ndef count(p):\n    r = make_reader(open(p, 'rb'))\n    n = "+
				"r.get_summary().statistics.message_count\n    assert n == sum(1 for _ in r.iter_messages())\n    return n",
				"count(p)")},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := reindexAll(t, c.paths)
			if len(want) < c.least {
				t.Errorf("only %d were written", len(want))
			}
			// The referees have no serialization but CDR, and want the schema of each channel.
			maps.DeleteFunc(want, func(path string, _ int) bool {
				return strings.Contains(path, "wrong_rmw") || strings.Contains(path, "schema-missing")
			})
			if os.Getenv(c.python) == "" {
				missing(t, "the referee of "+c.python)
			}
			counted(t, want, os.Getenv(c.python), "-c", c.program)
		})
	}
}

// recordedFolders lists the rosbag2 folders with parts.
func recordedFolders(t *testing.T) (list []string) {
	for _, path := range append(samples.Glob(t, "rosbag2/*"), samples.Glob(t, "rosbag2/*/*")...) {
		for _, ext := range []string{"*.db3*", "*.mcap*"} {
			if parts, _ := filepath.Glob(filepath.Join(path, ext)); len(parts) > 0 {
				list = append(list, path)
				break
			}
		}
	}
	return list
}

// withoutIndexData takes the INDEX_DATA records out of a bag.
func withoutIndexData(t *testing.T, b []byte) []byte {
	t.Helper()
	const first = 13 // behind the version line
	out := bytes.Clone(b[:first])
	moved := map[uint64]uint64{}
	trailer := uint64(0)
	for at := first; at < len(b); {
		header := int(le.LittleEndian.Uint32(b[at:]))
		next := at + 8 + header + int(le.LittleEndian.Uint32(b[at+4+header:]))
		record := bytes.Clone(b[at:next])
		op := record[bytes.Index(record, []byte("op="))+3]
		switch op {
		case 4: // INDEX_DATA
			at = next
			continue
		case 5: // CHUNK
			moved[uint64(at)] = uint64(len(out))
		case 6: // CHUNK_INFO
			pos := record[bytes.Index(record, []byte("chunk_pos="))+10:]
			le.LittleEndian.PutUint64(pos, moved[le.LittleEndian.Uint64(pos)])
		case 7: // CONNECTION, of the trailer
			if trailer == 0 {
				trailer = uint64(len(out))
			}
		}
		out = append(out, record...)
		at = next
	}
	le.LittleEndian.PutUint64(out[bytes.Index(out, []byte("index_pos="))+10:], trailer)
	return out
}

// TestReindexWithoutIndexData: a bag whose chunks have no INDEX_DATA is refused by its readers,
// so that reindex refuses it too, and stays as it is. That of the last chunk alone is no hindrance.
func TestReindexWithoutIndexData(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.bag")
	if status, stderr := bagconv(t, "../../testdata/demo.bag", path, "-q", "--chunk-size", "64K"); status != 0 {
		t.Fatalf("exit status %d: %s", status, stderr)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b = withoutIndexData(t, b)
	open := bytes.Clone(b)
	at := bytes.Index(open, []byte("index_pos=")) + 10
	open = open[:le.LittleEndian.Uint64(open[at:])]
	clear(open[at : at+8])
	if err := os.WriteFile(path, open, 0o666); err != nil {
		t.Fatal(err)
	}
	if status, stderr := bagconv(t, "reindex", path); status != 1 ||
		!strings.Contains(stderr, "the index records after it count 0") {
		t.Errorf("exit status %d: %s", status, stderr)
	}
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	if exec.Command("/usr/bin/python3", "-c", "import rosbag").Run() != nil {
		missing(t, "python3-rosbag")
	}
	for _, option := range []string{"", ", skip_index=True", ", allow_unindexed=True"} {
		script := "import rosbag, sys\nprint(sum(1 for _ in rosbag.Bag(sys.argv[1]" + option + ").read_messages(raw=True)))"
		if out, err := exec.Command("/usr/bin/python3", "-c", script, path).CombinedOutput(); err == nil ||
			!strings.Contains(string(out), "Unindexed bag") && !strings.Contains(string(out), "Expected op code: INDEX_DATA") {
			t.Errorf("python3-rosbag%s reads it: %s; so reindex can write it", option, out)
		}
	}
}
