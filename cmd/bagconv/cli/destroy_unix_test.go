//go:build unix

package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/bagconv/bagconv/cmd/bagconv/cli"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/testing/faultio"
	"github.com/bagconv/bagconv/internal/testing/samples"
)

// A world is a folder with everything that a run may be pointed at by mistake. It is
// kept in memory, and made again where a run has changed it.
type world struct {
	t     *testing.T
	files map[string]string // content by path
	links map[string]string
	dirs  []string
	state map[string]string // as snapshot returns it
}

// newWorld makes one in the working directory.
func newWorld(t *testing.T) *world {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := makeBag([]string{"-n", "3", "a.bag"}); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"hidden", "into"} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{
		"a.bag b.bag", "a.bag old.bag",
		"a.bag run --segment-duration 200ms", "a.bag oldrun --segment-duration 200ms", "a.bag into/a", "a.bag into/run",
		"a.bag seg.record --segment-duration 200ms --segment-names old",
		"a.bag oldseg.record --segment-duration 200ms --segment-names old",
		"a.bag x.bag --report report.json", "batch -O made a.bag --manifest old.jsonl",
	} {
		if status, text := runLine(line); status != 0 {
			t.Fatalf("%s: %d\n%s", line, status, text)
		}
	}
	if err := os.RemoveAll("made"); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, files: map[string]string{
		"notes/thesis.txt": "years of work", "thesis.bag": "years of work", "other.json": `{"schema_version":1}`,
		"plus/keep.db3.notes.txt": "mine", "foreign/metadata.yaml": "title: somebody else's\n", "emptyfile.bag": "",
		"old.jsonl.running": "", "foreign.jsonl": "{}\n", "lock.jsonl.running": "mine\n", "into/run/notes.txt": "mine",
		"pointer/x_0.db3": "version https://git-lfs.github.com/spec/v1\n",
	}}
	for path := range snapshot(t) {
		if st, err := os.Lstat(path); err == nil && st.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			w.files[path] = string(text)
		}
	}
	delete(w.files, "old.jsonl.running")
	part, meta := w.files["run/run_0.db3"], w.files["run/metadata.yaml"]
	for _, path := range []string{"ds/run1.db3", "ds/run2.db3", "plus/x.db3", "foreign/x_0.db3", "log.db3"} {
		w.files[path] = part
	}
	w.files["log.db3-wal"] = "frames"
	w.files["linked/metadata.yaml"], w.files["pointer/metadata.yaml"] = meta, meta
	w.files["outside/metadata.yaml"] = strings.ReplaceAll(meta, "run_", "../run/run_")
	w.links = map[string]string{
		"a.link.bag": "a.bag", "run.link": "run", "dangling.bag": "nowhere", "dangling": "nowhere", "null": os.DevNull,
		"linked/run_0.db3": "../run/run_0.db3", "linked/run_1.db3": "../run/run_1.db3", "seg.link": "seg.record.00001",
	}
	w.dirs = []string{"empty", "into/empty", "hidden"}
	w.make()
	return w
}

func runLine(line string) (status int, text string) {
	var out bytes.Buffer
	args := append([]string{"bagconv"}, strings.Fields(line)...)
	status = cli.Run(context.Background(), args, cli.Stdio{Out: &out, Err: &out}, all.Registry())
	return status, out.String()
}

// make makes what is not as it was, and removes what was not there.
func (w *world) make() {
	w.t.Helper()
	must := func(err error) {
		if err != nil {
			w.t.Fatal(err)
		}
	}
	now := snapshot(w.t)
	for path, is := range now {
		if was, ok := w.state[path]; w.state == nil || !ok || was != is {
			must(os.RemoveAll(path))
		}
	}
	now = snapshot(w.t)
	for _, dir := range w.dirs {
		must(os.MkdirAll(dir, 0o777))
	}
	for path, text := range w.files {
		if _, ok := now[path]; !ok {
			must(os.MkdirAll(filepath.Dir(path), 0o777))
			must(os.WriteFile(path, []byte(text), 0o666))
		}
	}
	for path, to := range w.links {
		if _, ok := now[path]; !ok {
			must(os.Symlink(to, path))
		}
	}
	if _, ok := now["pipe"]; !ok {
		must(syscall.Mkfifo("pipe", 0o666))
	}
	if _, ok := now["socket"]; !ok {
		l, err := net.Listen("unix", "socket")
		must(err)
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		must(l.Close())
	}
	if err := os.Remove("a.hard.bag"); err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	must(os.Link("a.bag", "a.hard.bag"))
	if w.state == nil {
		w.state = snapshot(w.t)
	} else if !maps.Equal(w.state, snapshot(w.t)) {
		w.t.Fatal("the folder cannot be made as it was")
	}
}

// snapshot returns what is at each path below the working directory.
func snapshot(t *testing.T) map[string]string {
	t.Helper()
	state := map[string]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		state[path] = d.Type().String()
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			state[path] += to
			return err
		case d.Type().IsRegular():
			text, err := os.ReadFile(path)
			state[path] += string(text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// An attempt is a line, and what it may change: paths, each with all that lies below it
// or begins with it and a dot or underscore.
type attempt struct {
	line     string
	makes    []string // may be made
	replaces []string // may be replaced, when the run succeeds
	reports  []string // may be replaced or made, also when it fails
}

func covers(paths []string, path string) bool {
	return slices.ContainsFunc(paths, func(p string) bool {
		rest, ok := strings.CutPrefix(path, filepath.Clean(p))
		return ok && (rest == "" || strings.ContainsRune("/._", rune(rest[0])))
	})
}

// judge compares the world with what an attempt may have done to it.
func (w *world) judge(a attempt, status int, text string) {
	w.t.Helper()
	now := snapshot(w.t)
	if maps.Equal(now, w.state) {
		return
	}
	written := status == 0 || status == 3 || status == 5
	bad := ""
	for path, was := range w.state {
		if is, there := now[path]; (!there || is != was) && !covers(a.reports, path) &&
			(!written || !covers(a.replaces, path)) {
			bad += fmt.Sprintf("  %s was changed: %.60q became %.60q\n", path, was, is)
		}
	}
	for path := range now {
		if _, was := w.state[path]; !was && !covers(a.reports, path) && (!written || !covers(a.makes, path)) {
			bad += fmt.Sprintf("  %s was left\n", path)
		}
	}
	if bad != "" {
		w.t.Errorf("bagconv %s: exit status %d\n%s  it said: %.500s", a.line, status, bad, text)
	}
	w.make()
}

// The places for outputs. Those of the first list may be replaced with --force, those of
// the second come to be; all others are none of a run's business.
var (
	ownPlaces = []string{"old.bag", "oldrun", "oldseg.record", "emptyfile.bag", "run", "run.link", "b.bag", "seg.record",
		"seg.link", "a.bag", "hidden/../a.bag", "a.link.bag", "a.hard.bag"}
	newPlaces = []string{"new.bag", "new.record", "new/", "new.db3", "empty/", "hidden/new.bag"}
	badPlaces = []string{"outside", "run/run_0.db3", "run/run_1.db3", "run/new.bag", "run/new/", "run/metadata.yaml",
		"linked", "linked/run_0.db3", "seg.record.00000", "seg.record.00001", "oldseg.record.00000", "dangling.bag",
		"dangling", "null", "pipe", "socket", "notes", "notes/thesis.txt", "thesis.bag", "ds", "plus", "foreign", "pointer",
		"log.db3", "other.json", "report.json", ".", ".."}
	inputs = []string{"a.bag", "run", "run/run_0.db3", "linked", "outside", "seg.record", "seg.record.00000"}
	// kin are inputs that have files in common: none may be replaced while another is read.
	kin = [][]string{{"run", "run/run_0.db3", "linked", "outside", "run.link"}, {"seg.record", "seg.record.00000"},
		{"seg.record", "seg.link"}, {"a.bag", "hidden/../a.bag", "a.link.bag", "a.hard.bag"}}
)

// related reports whether two names stand for something in common.
func related(a, b string) bool {
	return a == b || slices.ContainsFunc(kin, func(k []string) bool {
		return slices.Contains(k, a) && slices.Contains(k,
			b)
	})
}

// attempts are all commands at all places.
func attempts() (list []attempt) {
	i := 0
	add := func(a attempt, format string, args ...any) { // with --force, and every other one without
		a.line = fmt.Sprintf(format, args...) + " --no-sync"
		if len(list)%3 != 2 {
			plain := a
			if !slices.Contains(a.reports, "old.jsonl") {
				plain.replaces = slices.DeleteFunc(slices.Clone(a.replaces), func(p string) bool { return p != "empty/" })
			}
			list = append(list, plain)
		}
		a.line += " -f"
		list = append(list, a)
	}
	for _, in := range inputs {
		for _, out := range slices.Concat(ownPlaces, newPlaces, badPlaces) {
			a := attempt{makes: []string{out}}
			if slices.Contains(ownPlaces, out) && !related(in, out) || out == "empty/" {
				a.replaces = a.makes
			}
			merged := a
			if related("b.bag", out) {
				merged.replaces = nil
			}
			segments := strings.Contains(out, "seg.record") || out == "new.record"
			switch i++; {
			case segments:
				add(a, "convert %s %s --to record --segment-duration 200ms --segment-names old", in, out)
			case i%3 == 0:
				add(a, "filter %s %s -t /chatter", in, out)
			case i%3 == 1:
				add(merged, "merge b.bag %s %s", in, out)
			case !strings.HasPrefix(out, "."):
				a.makes = append(a.makes, strings.TrimSuffix(out, filepath.Ext(out)))
				add(a, "split %s %s --at 100ms", in, out)
			}
			switch filepath.Ext(filepath.Clean(out)) {
			case ".bag":
				add(a, "recover %s %s --to db3", in, out)
			case ".record":
				add(a, "convert %s %s", in, out)
			default:
				add(a, "convert %s %s", in, out)
				add(a, "recover %s %s --to bag", in, out)
			}
		}
	}
	// Reports, where outputs come to be and where they fail.
	for _, place := range slices.Concat(ownPlaces, newPlaces, badPlaces) {
		if place == "pipe" {
			continue // waits for a reader
		}
		a := attempt{makes: []string{"made", place}}
		switch place {
		case "report.json", "emptyfile.bag", "new.bag", "new.record", "new.db3", "hidden/new.bag", "run/new.bag",
			"seg.record", "oldseg.record":
			a.reports = []string{place}
		case "dangling", "dangling.bag":
			a.makes = append(a.makes, "nowhere") // a manifest goes where the link points
		}
		add(a, "convert run made.bag --report %s", place)
		add(a, "convert a.bag made --report %s", place)
		add(a, "convert nothing made.bag --report %s", place)
		switch i++; i % 3 {
		case 0:
			add(a, "split a.bag made.bag --at 100ms --report %s", place)
		case 1:
			add(a, "merge a.bag b.bag made.bag --report %s", place)
		default:
			add(a, "batch -O made a.bag run --report %s", place)
		}
		if place != "made" {
			if a.reports = nil; place == "emptyfile.bag" {
				a.replaces = []string{place}
			}
			add(a, "batch -O made a.bag run --manifest %s", place)
		}
	}
	for _, manifest := range []string{"old.jsonl", "foreign.jsonl", "lock.jsonl"} {
		a := attempt{makes: []string{"made", manifest}}
		if manifest == "old.jsonl" {
			a.replaces, a.reports = []string{manifest}, []string{manifest}
		}
		add(a, "batch -O made a.bag run --manifest %s", manifest)
	}
	for _, out := range []string{"into", "run", "a.bag", ".", "empty", "notes", "linked", "hidden"} {
		a := attempt{makes: []string{out}, replaces: []string{"into/a"}}
		if out == "." {
			a.makes = []string{"a", "manifest.jsonl", "linked.record", "run.record"}
		}
		add(a, "batch -O %s a.bag run", out)
		add(a, "batch -O %s a.bag --to bag", out)
		add(a, "batch -O %s run linked seg.record --to record", out)
	}
	add(attempt{makes: []string{"into/manifest.jsonl", "into/into"}}, "batch -O into a.bag into/a/a_0.db3")
	return list
}

// TestNothingDestroyed: whatever the output, the report or the manifest is called, every
// byte that a run did not make is there after it, but for a recording that --force
// replaces, and nothing that it made is left where it fails.
func TestNothingDestroyed(t *testing.T) {
	w := newWorld(t)
	list := attempts()
	step := 1
	if testing.Short() {
		step = 11
	}
	for i := 0; i < len(list); i += step {
		status, text := runLine(list[i].line)
		w.judge(list[i], status, text)
	}
}

// part is what a snapshot has of paths.
func part(state map[string]string, paths []string) map[string]string {
	out := map[string]string{}
	for path, is := range state {
		if covers(paths, path) {
			out[path] = is
		}
	}
	return out
}

// TestNothingDestroyedByFaults: the same where each third operation of the file system fails, and with
// BAGCONV_EXHAUSTIVE=1 each.
func TestNothingDestroyedByFaults(t *testing.T) {
	w := newWorld(t)
	system := iox.OS
	defer func() { iox.OS = system }()
	for i, a := range []attempt{
		{line: "convert run old.bag -f --report report.json", replaces: []string{"old.bag"}, makes: []string{"old.bag"},
			reports: []string{"report.json"}},
		{line: "filter a.bag new.bag --report fresh.json", makes: []string{"new.bag"}, reports: []string{"fresh.json"}},
		{line: "convert a.bag oldrun -f", replaces: []string{"oldrun"}, makes: []string{"oldrun"}},
		{line: "convert a.bag empty", replaces: []string{"empty"}, makes: []string{"empty"}},
		{line: "recover run oldseg.record -f --segment-duration 200ms --segment-names old",
			replaces: []string{"oldseg.record"}, makes: []string{"oldseg.record"}},
		{line: "merge a.bag seg.record new.bag", makes: []string{"new.bag"}},
		{line: "filter run/run_0.db3 run -f -t /chatter"},
		{line: "filter seg.record.00000 seg.record -f --segment-duration 200ms"},
	} {
		step := int64(samples.Pick(1, 3, 7))
		status, text := runLine(a.line + " --no-sync")
		whole := snapshot(t) // what the run makes where nothing fails
		w.judge(a, status, text)
		for n := 1 + int64(i)%3; ; n += step {
			disk := &faultio.FS{FS: system, N: n}
			iox.OS = disk
			status, text := runLine(a.line + " --no-sync")
			iox.OS = system
			if now := snapshot(t); status == 1 && strings.Contains(text, "report") && maps.Equal(part(now, a.makes),
				part(whole, a.makes)) {
				status = 0 // the output is whole, and the report could not be written
			}
			w.judge(a, status, text)
			if !disk.Fired() {
				break
			}
			if t.Failed() {
				t.Fatalf("at operation %d", n)
			}
		}
	}
}
