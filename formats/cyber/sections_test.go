package cyber

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

func sectionsOf(t *testing.T, r storage.Reader, kind storage.SectionKind) (list []storage.Section) {
	t.Helper()
	for s, err := range storage.ReaderCapabilities(r).Sections.Sections(context.Background(), kind) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, *s)
	}
	return list
}

// walkSections walks the headers of sections with nothing but their two numbers, and asks
// cyber_record how many messages each channel has.
const walkSections = `
import json, struct, sys, warnings
warnings.filterwarnings('ignore')
from cyber_record.record import Record
kinds = ['HEADER', 'CHUNK_HEADER', 'CHUNK_BODY', 'INDEX', 'CHANNEL']
for path in sys.argv[1:]:
    b, at, out = open(path, 'rb').read(), 0, []
    while at < len(b):
        t, n = struct.unpack_from('<I4xq', b, at)
        end = 2064 if at == 0 else at + 16 + n
        out.append([at, kinds[t], end - at])
        if kinds[t] == 'INDEX':
            break
        at = end
    with Record(path) as r:
        channels = sorted([c.name, c.message_type, c.message_number] for c in r.get_channel_cache())
    print(json.dumps([out, channels]))
`

// TestSectionsReferee compares the sections of sound records with a walk in Python, and
// their channels with what PyPI's cyber_record has.
func TestSectionsReferee(t *testing.T) {
	python := os.Getenv("BAGCONV_CYBER_PYTHON")
	if python == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("CI must have PyPI's cyber_record: BAGCONV_CYBER_PYTHON")
		}
		t.Skip("BAGCONV_CYBER_PYTHON names no python with cyber_record")
	}
	paths := []string{"../../testdata/demo.record"}
	for _, name := range []string{"daohu527-cyber_record-example.record.00000", "generated/multichunk-v10.record",
		"generated/sensor-v10.record", "generated/sensor-v60.record", "generated/overlap-v60.record",
		"generated/split-tf-v10.record"} {
		paths = append(paths, samples.Glob(t, filepath.Join("cyber", name))...)
	}
	cmd := exec.Command(python, append([]string{"-c", walkSections}, paths...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for i, path := range paths {
		r, err := openReader(context.Background(), path, storage.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var sections, channels [][]any
		for _, s := range sectionsOf(t, r, storage.SectionRecords) {
			sections = append(sections, []any{s.Offset, s.Kind, s.Size})
		}
		for _, s := range sectionsOf(t, r, storage.SectionConnections) {
			channels = append(channels, []any{s.Fields[0].Value, s.Fields[1].Value, s.Messages})
		}
		slices.SortFunc(channels, func(a, b []any) int { return strings.Compare(a[0].(string), b[0].(string)) })
		b, _ := json.Marshal([]any{sections, channels})
		if got := strings.ReplaceAll(string(b), ",", ", "); got != lines[i] {
			t.Errorf("%s:\n%s\nand of the referee\n%s", path, got, lines[i])
		}
		_ = r.Close()
	}
}

// checkSections checks that the sections of a record cover it.
func checkSections(t *testing.T, path string, size int64) (records, broken int) {
	t.Helper()
	r, err := openReader(context.Background(), path, storage.ReadOptions{})
	if err != nil {
		return 0, 0
	}
	defer func() { _ = r.Close() }()
	at, again := int64(0), false
	for _, s := range sectionsOf(t, r, storage.SectionRecords) {
		if s.Offset < 0 || s.Size < 0 && !again || int64(s.Offset)+s.Size > size {
			t.Errorf("%d bytes: a section is out of the file: %+v", size, s)
		}
		if int64(s.Offset) != at && !again {
			t.Errorf("%d bytes: a section begins at byte %d, and the one before ends at %d: %+v", size, s.Offset, at, s)
		}
		if s.Broken != "" {
			broken++
			again = true // it may have been read too far before
		}
		records++
		at = int64(s.Offset) + s.Size
	}
	if at != size && records > 0 {
		t.Errorf("%d bytes: the list ends at byte %d", size, at)
	}
	for _, kind := range []storage.SectionKind{storage.SectionChunks, storage.SectionConnections, storage.SectionParts} {
		sectionsOf(t, r, kind)
	}
	return records, broken
}

// TestSectionsDamage cuts a record at each byte, and damages each byte.
func TestSectionsDamage(t *testing.T) {
	dir := t.TempDir()
	msgs := []msg{{"/a", 1_700_000_000_000_000_000, "one"}, {"/b", 1_700_000_000_100_000_000, "two"},
		{"/a", 1_700_000_000_200_000_000, "three"}}
	b := newRecord(nil).channel("/a", "test.String", nil).channel("/b", "test.String", nil).
		section(1, chunkHeader(msgs...)).section(2, body(msgs...)).section(1, chunkHeader(msgs...)).section(2,
		body(msgs...)).b
	path := filepath.Join(dir, "x.record")
	check := func(b []byte) (records, broken int) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return checkSections(t, path, int64(len(b)))
	}
	if n, broken := check(b); n != 7 || broken != 0 {
		t.Errorf("%d sections of a sound record, %d broken", n, broken)
	}
	step, found := 1, 0
	if testing.Short() {
		step = 11
	}
	for i := sectionHead + 1; i < len(b); i += step {
		if i == 64 {
			i = headerEnd - 16 // what is between means nothing
		}
		_, broken := check(b[:i])
		found += broken
		flipped := append([]byte(nil), b...)
		flipped[i] ^= 0xff
		check(flipped)
	}
	if found == 0 {
		t.Error("no damage was listed")
	}
	zeros := append(append([]byte(nil), b...), make([]byte, 5000)...)
	if _, broken := check(zeros); broken != 1 {
		t.Errorf("%d broken sections in a record with zeros at its end", broken)
	}
}
