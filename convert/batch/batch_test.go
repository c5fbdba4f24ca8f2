package batch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
)

// formats are the real ones, which open nothing.
func formats() *storage.Registry {
	var list []*storage.Format
	for _, f := range all.Registry().Known() {
		f := *f
		if f.Open != nil {
			f.Open = func(context.Context, string, storage.ReadOptions) (storage.Reader, error) {
				return nil, errors.New("not here")
			}
		}
		list = append(list, &f)
	}
	return storage.NewRegistry(list...)
}

// heads are what files of a kind begin with.
var heads = map[string]string{
	"bag": "#ROSBAG V2.0\n", "record": strings.Repeat("\x00", 8) + "\x01" + strings.Repeat("\x00", 7) + "\x08",
	"db3": "SQLite format 3\x00", "rosbag2": "rosbag2_bagfile_information:",
}

// tree makes files, each "path" or "path=content", the name of one of heads among them;
// without a content the ending tells it.
func tree(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		path, content, ok := strings.Cut(f, "=")
		if !ok {
			for _, x := range []string{"bag", "record", "db3"} {
				if strings.Contains(path, "."+x) {
					content = x
				}
			}
		}
		if head, is := heads[content]; is {
			content = head
		}
		path = filepath.Join(dir, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(content), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFind(t *testing.T) {
	dir := tree(t, "a.bag", "b/a.bag", "b/c.bag.active=bag", "b/odd.bag.off=bag", "b/notes.txt=hi", "b/broken.bag=", "b/.hidden.bag", "b/x.mcap=",
		"rec/x.record.00000", "rec/x.record.00001", "rec/y.record.00000.20230101000000=record", "rec/z.record", "rec/z.record.00000",
		"ros2/drive/metadata.yaml=rosbag2", "ros2/drive/q_0.db3", "ros2/drive/q_1.db3", "ros2/drive/q_1.db3-wal=w", "ros2/drive/q_1.db3-shm=s", "ros2/drive/extra.bag", "ros2/drive/more/m.bag",
		"ros2/parts/p_0.db3", "ros2/parts/p_1.db3", "ros2/single/s.db3", "ros2/single/s.db3-wal=w", "ros2/several/u.db3", "ros2/several/v.db3",
		"ros2/mcap/metadata.yaml=rosbag2", "ros2/mcap/m_0.mcap=")
	if err := os.Symlink(filepath.Join(dir, "b"), filepath.Join(dir, "rec", "link")); err != nil {
		t.Skip(err) // a system without links
	}
	registry := formats()
	find := func(base string, words ...string) []string {
		t.Helper()
		for i := range words {
			words[i] = filepath.Join(dir, words[i])
		}
		if base != "" {
			base = filepath.Join(dir, base)
		}
		f := Finder{Formats: registry, Detect: registry.Detect, Base: base, Skip: []string{filepath.Join(dir, "ros2", "several")}}
		found, err := f.Find(words)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, in := range found.Inputs {
			rel, _ := filepath.Rel(dir, in.Path)
			format := "-"
			if in.Format != nil {
				format = in.Format.Name
			}
			if (in.Err == nil) != (in.Format != nil) {
				t.Errorf("%s: %v, %v", rel, in.Format, in.Err)
			}
			got = append(got, fmt.Sprintf("%s %s %s %d/%d", rel, in.Name, format, len(in.Files), in.Size))
		}
		return append(got, fmt.Sprintf("others %d links %d", found.Others, len(found.Links)))
	}
	for _, c := range []struct {
		base  string
		words []string
		want  []string
	}{
		{"", []string{"."}, []string{
			"a.bag a bag 1/13", "b/a.bag b/a bag 1/13", "b/broken.bag b/broken - 1/0", "b/c.bag.active b/c bag 1/13", "b/odd.bag.off b/odd.bag.off bag 1/13", "b/x.mcap b/x - 1/0",
			"rec/x.record rec/x record 2/34", "rec/y.record rec/y record 1/17", "rec/z.record rec/z record 1/17", "rec/z.record.00000 rec/z record 1/17",
			"ros2/drive ros2/drive db3 4/61", "ros2/drive/extra.bag ros2/drive/extra bag 1/13", "ros2/drive/more/m.bag ros2/drive/more/m bag 1/13",
			"ros2/mcap ros2/mcap ros2mcap 2/28", "ros2/parts ros2/parts db3 2/32", "ros2/single/s.db3 ros2/single/s db3 2/17", "others 1 links 1"}},
		{"", []string{"b", "rec/link"}, []string{
			"b/a.bag a bag 1/13", "b/broken.bag broken - 1/0", "b/c.bag.active c bag 1/13", "b/odd.bag.off odd.bag.off bag 1/13", "b/x.mcap x - 1/0",
			"rec/link/a.bag a bag 1/13", "rec/link/broken.bag broken - 1/0", "rec/link/c.bag.active c bag 1/13", "rec/link/odd.bag.off odd.bag.off bag 1/13", "rec/link/x.mcap x - 1/0", "others 2 links 0"}},
		{"", []string{"a.bag", "b/a.bag", "a.bag"}, []string{"a.bag a bag 1/13", "b/a.bag b/a bag 1/13", "others 0 links 0"}},
		{"", []string{"b/a.bag"}, []string{"b/a.bag a bag 1/13", "others 0 links 0"}},
		{".", []string{"b/a.bag", "ros2/single"}, []string{"b/a.bag b/a bag 1/13", "ros2/single/s.db3 ros2/single/s db3 2/17", "others 0 links 0"}},
		{"", []string{"*/*a*.bag", "rec/x.record.*"}, []string{"b/a.bag b/a bag 1/13", "ros2/drive/extra.bag ros2/drive/extra bag 1/13", "others 0 links 0"}},
		{"", []string{"rec/x.record.*"}, []string{"rec/x.record x record 2/34", "others 0 links 0"}},
		{"", []string{"rec/x.record"}, []string{"rec/x.record x record 2/34", "others 0 links 0"}},
		{"", []string{"rec/x.record.00001"}, []string{"rec/x.record.00001 x record 1/17", "others 0 links 0"}},
		{"", []string{"ros2/drive/*.db3"}, []string{"ros2/drive drive db3 4/61", "others 0 links 0"}},
		{"", []string{"ros2/drive/q_1.db3"}, []string{"ros2/drive/q_1.db3 q_1 db3 2/17", "others 0 links 0"}},
		{"", []string{"ros2/parts"}, []string{"ros2/parts parts db3 2/32", "others 0 links 0"}},
		{"", []string{"ros2/parts/*"}, []string{"ros2/parts parts db3 2/32", "others 0 links 0"}},
		{"", []string{"missing.bag", "none*.bag"}, []string{"missing.bag missing - 1/0", "none*.bag none* - 1/0", "others 0 links 0"}},
		{"", []string{"ros2/several"}, []string{"others 0 links 0"}},
	} {
		words := slices.Clone(c.words)
		want := slices.Clone(c.want)
		if words[0] == "*/*a*.bag" { // both words: the folder in common is the top
			want = []string{"b/a.bag b/a bag 1/13", "rec/x.record rec/x record 2/34", "others 0 links 0"}
			words[0] = "b/a*.bag"
		}
		if got := find(c.base, words...); !slices.Equal(got, want) {
			t.Errorf("%v:\n got %q\nwant %q", c.words, got, want)
		}
	}
	f := Finder{Formats: registry, Detect: registry.Detect}
	if _, err := f.Find([]string{"[x"}); !errors.Is(err, filepath.ErrBadPattern) {
		t.Errorf("a bad glob: %v", err)
	}
}

func TestPlace(t *testing.T) {
	registry := formats()
	in := func(name, format string) *Input {
		return &Input{Path: "/in/" + name + "." + format, Name: name, Format: registry.Lookup(format)}
	}
	inputs := []*Input{in("drive", "bag"), in("drive", "db3"), in("drive", "record"), in("Drive", "bag"), {Path: "/in/drive.mcap", Name: "drive"},
		in("x", "bag"), in("x/y", "bag"), in("kept", "record"), in("k/z", "bag"), in("k/z_bag", "bag")}
	got := Place(inputs, "/out", "", map[string]string{"/in/kept.record": "/out/elsewhere", "/in/gone.bag": "/out/k"})
	want := []string{"/out/drive", "/out/drive_db3", "/out/drive_record", "/out/Drive_bag", "/out/drive_file", "/out/x_bag", "/out/x/y", "/out/elsewhere", "/out/k_2/z", "/out/k_2/z_bag"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	got = Place(inputs[:4], "/out", ".bag", nil)
	if want := []string{"/out/drive.bag", "/out/drive_db3.bag", "/out/drive_record.bag", "/out/Drive_bag.bag"}; !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	// Any set of names: no two outputs are one, and none lies in another.
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var list []*Input
		for i := range 8 {
			parts := make([]string, 1+random.IntN(3))
			for k := range parts {
				parts[k] = []string{"a", "A", "a_bag", "a_2", "b"}[random.IntN(5)]
			}
			n := in(strings.Join(parts, "/"), []string{"bag", "db3"}[random.IntN(2)])
			n.Path += fmt.Sprint(i)
			list = append(list, n)
		}
		kept := map[string]string{}
		for i, p := range Place(list[:4], "/out", "", nil) { // and as a later run goes on
			kept[list[i].Path] = p
		}
		outs := Place(list, "/out", "", kept)
		for i, p := range outs {
			for k, q := range outs {
				if i != k && (strings.EqualFold(p, q) || within(strings.ToLower(p), strings.ToLower(q))) {
					t.Fatalf("%q and %q of %q", p, q, outs)
				}
			}
		}
	}
}

func entry(input, status string) *Entry {
	return &Entry{SchemaVersion: SchemaVersion, Input: input, Output: input + ".out", Status: status, OutputFiles: []string{}, Options: []string{}, LossCodes: []string{}, ByDesign: []string{}, DamageCodes: []string{},
		ModTime: time.Unix(1700000000, 123456789).UTC()}
}

// written makes a manifest with entries.
func written(t *testing.T, path string, entries ...*Entry) []byte {
	t.Helper()
	m, err := Open(path, true, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Begin([]string{"/o/1", "/o/2"}, nil); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := m.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestTorn: a manifest cut anywhere is mended, and loses the torn line alone.
func TestTorn(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.jsonl")
	entries := []*Entry{entry("/a", StatusOK), entry("/b", StatusFailed), entry("/c \"\n", StatusLossy)}
	text := written(t, path, entries...)
	if n := bytes.Count(text, []byte{'\n'}); n != 3 {
		t.Fatalf("%d lines: %s", n, text)
	}
	for cut := 0; cut < len(text); cut++ {
		if cut%8 != 0 && text[cut] != '\n' && (cut == 0 || text[cut-1] != '\n') {
			continue // each takes a few waits for the disk
		}
		if err := os.WriteFile(path, text[:cut], 0o666); err != nil {
			t.Fatal(err)
		}
		whole := bytes.Count(text[:cut], []byte{'\n'})
		m, err := Open(path, true, false)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if got := m.Entries(); len(got) != whole {
			t.Fatalf("cut at %d: %d entries, want %d", cut, len(got), whole)
		}
		for i := range whole {
			if got := m.Entries()[i]; !reflect.DeepEqual(got, *entries[i]) {
				t.Errorf("cut at %d: %+v", cut, got)
			}
		}
		if err := m.Begin(nil, nil); err != nil {
			t.Fatal(err)
		}
		for _, e := range entries[whole:] {
			if err := m.Append(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); !bytes.Equal(got, text) {
			t.Fatalf("cut at %d: mended to %s", cut, got)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// TestAgain: of several lines about one input the last counts, the lines of
// inputs that are done again go, and those of other inputs stay.
func TestAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.jsonl")
	written(t, path, entry("/a", StatusFailed), entry("/b", StatusOK), entry("/a", StatusOK), entry("/c", StatusFailed))
	m, err := Open(path, true, false)
	if err != nil {
		t.Fatal(err)
	}
	if e := m.Entries(); len(e) != 3 || e[0].Input != "/a" || e[0].Status != StatusOK {
		t.Errorf("%+v", e)
	}
	if err := m.Begin([]string{"/c.out"}, map[string]bool{"/c": true}); err != nil {
		t.Fatal(err)
	}
	// As a kill leaves it: no Close. Whoever comes next knows what was claimed.
	if err := m.running.file.Close(); err != nil {
		t.Fatal(err)
	}
	next, err := Open(path, true, false)
	if err != nil {
		t.Fatal(err)
	}
	if e := next.Entries(); len(e) != 2 || e[0].Input != "/a" || e[1].Input != "/b" || !next.Claimed("/c.out") || next.Claimed("/a.out") {
		t.Errorf("%+v, claims %v", e, next.running.old)
	}
	if _, err := Open(path, true, false); !removeLast && !errors.Is(err, ErrRunning) {
		t.Errorf("a second one at the same time: %v", err)
	}
	if look, err := Read(path, true, false); err != nil || len(look.Entries()) != 2 || !look.Claimed("/c.out") {
		t.Errorf("looking at it: %v", err)
	}
	// A run that is about something else leaves the claim to one that is about it.
	if err := errors.Join(next.Begin([]string{"/d.out"}, nil), next.Close()); err != nil {
		t.Fatal(err)
	}
	if next, err = Open(path, true, false); err != nil || !next.Claimed("/c.out") || next.Claimed("/d.out") {
		t.Fatalf("%v, %v", next, err)
	}
	if err := errors.Join(next.Begin([]string{"/c.out"}, nil), next.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + ".running"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock stays: %v", err)
	}
	if _, err := Open(path, false, false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("without resume: %v", err)
	}
	anew, err := Open(path, false, true)
	if err != nil || len(anew.Entries()) != 0 {
		t.Fatalf("anew: %v", err)
	}
	if err := errors.Join(anew.Begin(nil, nil), anew.Close()); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(path); err != nil || st.Size() != 0 {
		t.Errorf("%v, %v", st, err)
	}
}

// TestFullDisk: lines for which there is no room are written when there is.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no disk that is always full")
	}
	path := filepath.Join(t.TempDir(), "m.jsonl")
	m, err := Open(path, false, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Begin([]string{"/a.out"}, nil); err != nil {
		t.Fatal(err)
	}
	file := m.file
	m.file = full
	if err := m.Append(entry("/a", StatusOK)); err != nil {
		t.Error(err)
	}
	m.file = file
	if err := m.Append(entry("/b", StatusOK)); err != nil {
		t.Error(err)
	}
	m.file = full
	if err := m.Append(entry("/c", StatusOK)); err != nil {
		t.Error(err)
	}
	if err := m.Close(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a line is lost: %v", err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	next, err := Open(path, true, false)
	if err != nil {
		t.Fatal(err)
	}
	if len(next.Entries()) != 2 || !next.Claimed("/a.out") {
		t.Errorf("%v, claims %v", next.Entries(), next.running.old)
	}
	if err := errors.Join(next.Begin(nil, nil), next.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestForeign: a file that is no manifest is refused and stays as it is.
func TestForeign(t *testing.T) {
	for _, text := range []string{"hello\n", "hello", "{}\n", "{\"schema_version\":1}", "{\"schema_version\":2,\"input\":\"/a\",\"status\":\"ok\"}\n", "{\"schema_version\":1,\"input\":\"/a\"}\n", "\n", "[1]\n", "{\"schema_version\":1,\"input\":\"/a\",\"status\":\"ok\"}\nx\n", "{\"schema_version\":1,\"input\":\"/a\",\"status\":\"ok\"}\n\n{"} {
		path := filepath.Join(t.TempDir(), "m.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, replace := range []bool{false, true} {
			if _, err := Open(path, !replace, replace); !errors.Is(err, ErrNoManifest) {
				t.Errorf("%q: %v", text, err)
			}
		}
		if got, _ := os.ReadFile(path); string(got) != text {
			t.Errorf("%q became %q", text, got)
		}
		if _, err := os.Stat(path + ".running"); err == nil {
			t.Errorf("%q: the lock stays", text)
		}
	}
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte("{\"schema_version\":1,\"input\":\"/a\",\"status\":\"ok\"}\n{\"schema_version\":1,\"input\":\"/b\",\"sta"))
	f.Add([]byte("{\"schema_version\":1,\"input\":\"/a\",\"status\":\"ok\",\"mtime\":\"2023-11-14T22:13:20.5Z\"}\n{\"schema_version\":1,\"input\":\"/a\",\"status\":\"failed\"}\n"))
	f.Add([]byte("null\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var m Manifest
		if m.parse(text) != nil {
			return
		}
		var again []byte
		for i := range m.entries {
			again = appendLine(again, &m.entries[i])
		}
		var second Manifest
		if err := second.parse(again); err != nil || second.torn || !reflect.DeepEqual(second.entries, m.entries) {
			t.Errorf("%q, written again %q: %v", text, again, err)
		}
	})
}

func TestHash(t *testing.T) {
	dir := tree(t, "a=hello\n", "b=")
	in := &Input{Files: []string{filepath.Join(dir, "a")}}
	const hello = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03" // sha256sum a
	if h, err := in.Hash(t.Context()); h != hello || err != nil {
		t.Errorf("%s, %v", h, err)
	}
	in.Files = append(in.Files, filepath.Join(dir, "b"))
	// sha256sum a b | sha256sum
	if h, err := in.Hash(t.Context()); h != "a63274ae4ed2aefabdeb54e957f7578ef7251e73327728ca66f13480bfd9e237" || err != nil {
		t.Errorf("%s, %v", h, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := in.Hash(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// runTasks runs tasks on a disk with room for so many bytes.
func runTasks(t *testing.T, room int64, jobs int, expects ...int64) (errs []error, most int64) {
	t.Helper()
	var used, at, peak atomic.Int64
	r := runner{free: func(string) (int64, bool) { return room - used.Load(), true }, running: map[*Task]bool{}}
	r.ended = sync.NewCond(&r.mu)
	errs = make([]error, len(expects))
	var tasks []*Task
	for _, n := range expects {
		tasks = append(tasks, &Task{Output: "/out/x", Expect: n})
	}
	r.run(t.Context(), tasks, jobs, func(_ context.Context, task *Task, err error) {
		i := slices.Index(tasks, task)
		if errs[i] = err; err != nil {
			return
		}
		now := at.Add(1)
		for p := peak.Load(); now > p && !peak.CompareAndSwap(p, now); p = peak.Load() {
		}
		for k := range 10 {
			used.Add(task.Expect * 8 / 100) // somewhat less than expected
			task.Progress(float64(k+1) / 10)
			time.Sleep(time.Millisecond)
		}
		at.Add(-1)
	})
	if used.Load() > room {
		t.Errorf("%d bytes on a disk of %d", used.Load(), room)
	}
	return errs, peak.Load()
}

func TestRun(t *testing.T) {
	errs, most := runTasks(t, 1000, 3, 100, 100, 100, 100, 100, 100)
	if err := errors.Join(errs...); err != nil || most != 3 {
		t.Errorf("%v, %d at a time", err, most)
	}
	// Beside each other these would not fit, by what is expected of them.
	errs, most = runTasks(t, 900, 3, 600, 350)
	if err := errors.Join(errs...); err != nil || most != 1 {
		t.Errorf("%v, %d at a time", err, most)
	}
	var space *SpaceError
	errs, _ = runTasks(t, 1000, 2, 100, 5000, 200)
	if errs[0] != nil || errs[2] != nil || !errors.As(errs[1], &space) || !errors.Is(errs[1], syscall.ENOSPC) || space.Need != 2500 {
		t.Errorf("%v", errs)
	}
}

// TestRunCancelled: nothing begins after the cancellation, and Run waits for
// what had begun.
func TestRunCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var began, ended atomic.Int64
	Run(ctx, []*Task{{Output: "/x"}, {Output: "/x"}, {Output: "/x"}, {Output: "/x"}}, 2, func(ctx context.Context, _ *Task, _ error) {
		if began.Add(1) == 2 {
			cancel()
		}
		<-ctx.Done()
		time.Sleep(10 * time.Millisecond)
		ended.Add(1)
	})
	if began.Load() != 2 || ended.Load() != 2 {
		t.Errorf("%d began, %d ended", began.Load(), ended.Load())
	}
}

func TestFreeSpace(t *testing.T) {
	if removeLast {
		t.Skip("this system is not asked")
	}
	if n, known := freeSpace(t.TempDir()); !known || n <= 0 {
		t.Errorf("%d, %v", n, known)
	}
	if _, known := freeSpace("/nonexistent"); known {
		t.Error("of a folder that is not there")
	}
	if got := standing("/nonexistent/a/b"); got != "/" {
		t.Errorf("%s", got)
	}
}

// TestForeignLock: a file in the place of the lock that is none stays as it is.
func TestForeignLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.jsonl")
	for _, text := range []string{"hello\n", "\"/a\"\nhello", "{}"} {
		if err := os.WriteFile(path+".running", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, false, false); !errors.Is(err, ErrNoManifest) {
			t.Errorf("%q: %v", text, err)
		}
		if got, _ := os.ReadFile(path + ".running"); string(got) != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
