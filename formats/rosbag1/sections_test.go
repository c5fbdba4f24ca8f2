package rosbag1

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// sectionsOf lists the sections of a kind.
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

// TestSectionsReferee compares the list of records with that of an independent parser, for
// each bag that it can read.
func TestSectionsReferee(t *testing.T) {
	tool, err := filepath.Abs("../../../shared/tools/ros1_inspect.py")
	if err == nil {
		_, err = os.Stat(tool)
	}
	if err != nil {
		t.Skip("ros1_inspect.py is not there") // it is not installed with the other referees
	}
	var paths []string
	for _, root := range samples.Roots(t) {
		_ = filepath.WalkDir(filepath.Join(root, "ros1"), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.Contains(path, ".bag") {
				return nil
			}
			if st, err := d.Info(); err != nil || testing.Short() && st.Size() > 64<<10 {
				return nil
			}
			paths = append(paths, path)
			return nil
		})
	}
	if len(paths) == 0 {
		t.Fatal("there are no bags to compare")
	}
	out, err := exec.Command("python3", append([]string{tool, "--records"}, paths...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	var last string                 // path of the last summary
	topics := map[string][]string{} // by path
	compared := 0
	for line := range strings.Lines(string(out)) {
		switch words := strings.Join(strings.Fields(line), " "); {
		case strings.Contains(words, " hdr="):
			want = append(want, words)
		case strings.HasPrefix(words, "file="): // the summary of a file, after its records
			path, _, _ := strings.Cut(strings.TrimPrefix(words, "file="), " size=")
			if compareRecords(t, path, want) {
				compared++
			}
			want, last = nil, path
		case strings.HasPrefix(words, "topic="):
			topics[last] = append(topics[last], words)
		}
	}
	for path, want := range topics {
		compareTopics(t, path, want)
	}
	if compared < len(paths)/2 {
		t.Errorf("%d of %d bags are compared", compared, len(paths))
	}
}

// compareTopics compares the topics of a bag of before version 2.0 with the referee's.
func compareTopics(t *testing.T, path string, want []string) {
	r, err := openReader(context.Background(), path, storage.ReadOptions{})
	if err != nil {
		return
	}
	defer func() { _ = r.Close() }()
	if info := r.Info(); info.Version >= "2" {
		return
	}
	got := map[string]int64{}
	for _, s := range sectionsOf(t, r, storage.SectionConnections) {
		fields := map[string]string{}
		for _, f := range s.Fields {
			fields[f.Key] = f.Value
		}
		got[fields["topic"]+" "+fields["type"]+" "+fields["md5sum"]] += int64(s.Messages)
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d topics, and of the referee %d", path, len(got), len(want))
	}
	for _, line := range want {
		fields := map[string]string{}
		for _, word := range strings.Fields(line) {
			key, value, _ := strings.Cut(word, "=")
			fields[key] = value
		}
		if key := fields["topic"] + " " + fields["type"] + " " + fields["md5"]; fmt.Sprint(got[key]) != fields["n"] {
			t.Errorf("%s: %s has %d messages, and of the referee %s", path, key, got[key], fields["n"])
		}
	}
}

// compareRecords compares the records of a bag with what the referee lists, which stops at
// damage. It is false for a bag that is refused, as encrypted ones are, and for one without
// records.
func compareRecords(t *testing.T, path string, want []string) bool {
	r, err := openReader(context.Background(), path, storage.ReadOptions{})
	if err != nil {
		return false
	}
	defer func() { _ = r.Close() }()
	if storage.ReaderCapabilities(r).Sections == nil {
		return false
	}
	got := sectionsOf(t, r, storage.SectionRecords)
	for i, line := range want {
		if i >= len(got) {
			t.Errorf("%s: there are %d records, the referee lists %d", path, len(got), len(want))
			break
		}
		var keys []string
		for _, f := range got[i].Fields {
			keys = append(keys, f.Key)
		}
		kind := strings.TrimPrefix(got[i].Kind, "OP_")
		if text := fmt.Sprintf("%d %s hdr=%s data=%d", got[i].Offset, kind, strings.Join(keys, ","),
			got[i].Data); text != line {
			t.Errorf("%s: record %d is %q, and of the referee %q", path, i, text, line)
			break
		}
	}
	return len(want) > 0
}

// checkSections checks that the records of a bag cover it: each begins where the one before
// ends, but where a chunk is opened or damage is gone over again.
func checkSections(t *testing.T, path string, size int64) (records, broken int) {
	t.Helper()
	r, err := openReader(context.Background(), path, storage.ReadOptions{})
	if err != nil {
		return 0, 0
	}
	defer func() { _ = r.Close() }()
	at, was := int64(len(versionLine)), storage.Section{}
	for _, s := range sectionsOf(t, r, storage.SectionRecords) {
		if s.Offset < 0 || s.Size < 0 || int64(s.Offset)+s.Size > size {
			t.Errorf("%d bytes: a section is out of the file: %+v", size, s)
		}
		inside := was.Kind == "CHUNK" && s.Offset > was.Offset && int64(s.Offset) < at
		if int64(s.Offset) != at && !inside && s.Broken == "" && was.Broken == "" {
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
	for _, kind := range []storage.SectionKind{storage.SectionChunks, storage.SectionConnections, storage.SectionParts} {
		sectionsOf(t, r, kind)
	}
	return records, broken
}

// TestSectionsDamage cuts bags at each byte, and damages each byte.
func TestSectionsDamage(t *testing.T) {
	dir := t.TempDir()
	for _, codec := range []string{"none", "lz4"} {
		sound := filepath.Join(dir, codec+".bag")
		write(t, sound, storage.WriteOptions{Compression: codec, ChunkSize: 300, NoSync: true}, testMessages(12))
		b, err := os.ReadFile(sound)
		if err != nil {
			t.Fatal(err)
		}
		if n, broken := checkSections(t, sound, int64(len(b))); broken > 0 || n < 10 {
			t.Errorf("%s: %d records of a sound bag, %d broken", codec, n, broken)
		}
		step := 1
		if testing.Short() {
			step = 41
		}
		found := 0
		path := filepath.Join(dir, "broken.bag")
		for i := headerSize; i < len(b); i += step {
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
