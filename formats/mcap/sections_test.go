package mcap

import (
	"cmp"
	"context"
	"encoding/json"
	"io/fs"
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

// inspect prints what an independent parser finds in files: a line for each, with null for
// one that it finds to be odd.
const inspect = `
import json, os, sys
sys.path.insert(0, os.path.dirname(sys.argv[1]))
import mcap_inspect
for path in sys.argv[2:]:
    m = mcap_inspect.read(open(path, 'rb').read())
    whole = not m.odd and m.footer and not any(c.get('broken') for c in m.chunks)
    out = [['Chunk', c['at'], c['length'], c['compression'] or 'none', c['usize'], c['messages']] for c in m.chunks] if whole else []
    out += [['Attachment', a['at'], a['length']] for a in m.attachments]
    out += [['Metadata', x[2], x[3]] for x in m.metadata]
    out += [['MessageIndex', x[0], sum(1 for e in x[3])] for x in m.indexes]
    out += [['ChunkIndex', len(m.chunk_indexes)], ['SummaryOffset', len(m.summary_offsets)]]
    print(json.dumps(sorted(out, key=lambda x: (x[1], x[0])) if whole else None))
`

// TestSectionsReferee compares the records of files with what an independent parser finds.
func TestSectionsReferee(t *testing.T) {
	tool, err := filepath.Abs("../../../shared/tools/mcap_inspect.py")
	if err == nil {
		_, err = os.Stat(tool)
	}
	python := os.Getenv("BAGCONV_MCAP_PYTHON")
	if err != nil || python == "" {
		t.Skip("mcap_inspect.py is not there") // it is not installed with the other referees
	}
	var paths []string
	for _, root := range samples.Roots(t) {
		_ = filepath.WalkDir(filepath.Join(root, "mcap"), func(path string, d fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".mcap" {
				return nil
			}
			if st, err := d.Info(); err == nil && st.Size() < 4<<20 && (!testing.Short() || len(paths) < 150) {
				paths = append(paths, path)
			}
			return nil
		})
	}
	if len(paths) == 0 {
		t.Fatal("there are no files to compare")
	}
	out, err := exec.Command(python, append([]string{"-c", inspect, tool}, paths...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	compared := 0
	for i, path := range paths {
		if lines[i] == "null" {
			continue
		}
		compared++
		r, err := openReader(context.Background(), path, storage.ReadOptions{})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if got := listed(sectionsOf(t, r, storage.SectionRecords)); got != lines[i] {
			t.Errorf("%s:\n%s\nand of the referee\n%s", path, got, lines[i])
		}
		_ = r.Close()
	}
	if compared < len(paths)/4 {
		t.Errorf("%d of %d files are compared", compared, len(paths))
	}
	t.Logf("%d of %d files", compared, len(paths))
}

// listed writes sections as the script inspect does.
func listed(sections []storage.Section) string {
	var rows [][]any
	count := map[string]int64{}
	for _, s := range sections {
		switch s.Kind {
		case "Chunk":
			rows = append(rows, []any{s.Kind, int64(s.Offset), s.Size, s.Compression, int64(s.Raw), int64(s.Messages)})
		case "Attachment", "Metadata":
			rows = append(rows, []any{s.Kind, int64(s.Offset), s.Size})
		case "MessageIndex":
			rows = append(rows, []any{s.Kind, int64(s.Offset), int64(s.Messages)})
		}
		count[s.Kind]++
	}
	for _, kind := range []string{"ChunkIndex", "SummaryOffset"} {
		rows = append(rows, []any{kind, count[kind]})
	}
	slices.SortStableFunc(rows, func(a, b []any) int {
		return cmp.Or(cmp.Compare(a[1].(int64), b[1].(int64)), cmp.Compare(a[0].(string), b[0].(string)))
	})
	b, _ := json.Marshal(rows)
	return strings.ReplaceAll(string(b), ",", ", ")
}

// checkSections checks that the records of a file cover it: each begins where the one before
// ends, but where a chunk is opened.
func checkSections(t *testing.T, path string, size int64) (records, broken int) {
	t.Helper()
	r, err := openReader(context.Background(), path, storage.ReadOptions{})
	if err != nil {
		return 0, 0
	}
	defer func() { _ = r.Close() }()
	at, was := int64(0), storage.Section{}
	for _, s := range sectionsOf(t, r, storage.SectionRecords) {
		if s.Offset < 0 || s.Size < 0 || int64(s.Offset)+s.Size > size {
			t.Errorf("%d bytes: a section is out of the file: %+v", size, s)
		}
		if inside := was.Kind == "Chunk" && s.Offset > was.Offset && int64(s.Offset) < at; int64(s.Offset) != at && !inside {
			t.Errorf("%d bytes: a section begins at byte %d, and the one before ends at %d: %+v", size, s.Offset, at, s)
		}
		if s.Broken != "" {
			broken++
		}
		if s.Kind == "" && s.Broken == "" {
			t.Errorf("nothing is reported of %+v", s)
		}
		records++
		at, was = int64(s.Offset)+s.Size, s
	}
	if at != size && records > 0 {
		t.Errorf("%d bytes: the list ends at byte %d", size, at)
	}
	for _, kind := range []storage.SectionKind{storage.SectionChunks, storage.SectionConnections, storage.SectionParts} {
		sectionsOf(t, r, kind)
	}
	return records, broken
}

// TestSectionsDamage cuts files at each byte, and damages each byte.
func TestSectionsDamage(t *testing.T) {
	dir := t.TempDir()
	for _, codec := range Format.Options.Choices(storage.NameCompression) {
		sound := filepath.Join(dir, codec+".mcap")
		write(t, sound, storage.WriteOptions{Compression: codec, ChunkSize: 300}, fullLayout, testMessages(12))
		b, err := os.ReadFile(sound)
		if err != nil {
			t.Fatal(err)
		}
		if n, broken := checkSections(t, sound, int64(len(b))); broken > 0 || n < 10 {
			t.Errorf("%s: %d records of a sound file, %d broken", codec, n, broken)
		}
		step := 1
		if testing.Short() {
			step = 41
		}
		found := 0
		path := filepath.Join(dir, "broken.mcap")
		for i := len(magic); i < len(b); i += step {
			if err := os.WriteFile(path, b[:i], 0o600); err != nil {
				t.Fatal(err)
			}
			_, broken := checkSections(t, path, int64(i))
			found += broken
			flipped := append([]byte(nil), b...)
			flipped[i] ^= 0xff
			if err := os.WriteFile(path, flipped, 0o600); err != nil {
				t.Fatal(err)
			}
			checkSections(t, path, int64(len(b)))
		}
		if found == 0 {
			t.Errorf("%s: no damage was listed", codec)
		}
	}
}
