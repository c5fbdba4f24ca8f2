package iox_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/testing/faultio"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// A scenario is an output that replaces something or nothing. A name with / at its end
// is a folder with two files.
type scenario struct {
	name   string
	before []string // what is there
	after  []string // what will stand there instead
	old    []string // names that go without being replaced
	atOnce bool     // there is no moment at which some is old and some is new
	plain  bool     // atOnce, also where names cannot be exchanged
}

var scenarios = []scenario{
	{"file", nil, []string{"x"}, nil, true, true},
	{"file over file", []string{"x"}, []string{"x"}, nil, true, true},
	{"folder", nil, []string{"x/"}, nil, true, true},
	{"folder over folder", []string{"x/"}, []string{"x/"}, nil, true, false},
	{"folder over file", []string{"x"}, []string{"x/"}, nil, true, false},
	{"file over folder", []string{"x/"}, []string{"x"}, nil, true, false},
	{"several", nil, []string{"x.0", "x.1", "x.2/"}, nil, false, false},
	{"several over several", []string{"x.0", "x.1/", "x.3", "x.4/"}, []string{"x.0", "x.1/", "x.2"},
		[]string{"x.3", "x.4/"}, false, false},
}

// put makes files and folders.
func put(fsys storage.FS, dir string, names []string, text string) error {
	one := func(path string) error {
		f, err := fsys.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return err
		}
		_, err = f.Write([]byte(text + " " + filepath.Base(path)))
		return errors.Join(err, f.Sync(), f.Close())
	}
	for _, name := range names {
		base, folder := strings.CutSuffix(name, "/")
		path := filepath.Join(dir, base)
		if !folder {
			if err := one(path); err != nil {
				return err
			}
			continue
		}
		if err := errors.Join(fsys.Mkdir(path, 0o777), one(filepath.Join(path, "a")),
			one(filepath.Join(path, "b"))); err != nil {
			return err
		}
	}
	return nil
}

// write makes the output of a scenario.
func (s *scenario) write(fsys storage.FS, dir string) error {
	path := filepath.Join(dir, "x")
	if len(s.after) == 1 {
		o, err := iox.NewOutput(fsys, path, len(s.before) > 0, true)
		if err != nil {
			return err
		}
		if err := put(fsys, o.TempDir(), s.after, "new"); err != nil {
			return errors.Join(err, o.Abort())
		}
		return o.Commit()
	}
	o, err := iox.NewOutputs(fsys, path, len(s.before) > 0, true)
	if err != nil {
		return err
	}
	if err := put(fsys, o.TempDir(), s.after, "new"); err != nil {
		return errors.Join(err, o.Abort())
	}
	return o.CommitAll(plain(s.after), plain(s.old))
}

func plain(names []string) (out []string) {
	for _, n := range names {
		out = append(out, strings.TrimSuffix(n, "/"))
	}
	return out
}

// files are all below a folder with their text; staging folders apart.
func files(t *testing.T, dir string) (stand, staged map[string]string) {
	t.Helper()
	stand, staged = map[string]string{}, map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		to := stand
		if first, _, _ := strings.Cut(rel, string(filepath.Separator)); iox.IsTemp(first) {
			to = staged
		}
		if d.IsDir() {
			to[rel+"/"] = ""
			return nil
		}
		b, err := os.ReadFile(path)
		to[rel] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return stand, staged
}

// expect returns what stands in the folder before and after.
func (s *scenario) expect(t *testing.T) (before, after map[string]string) {
	dir := t.TempDir()
	s.prepare(t, dir)
	before, _ = files(t, dir)
	if err := s.write(&faultio.FS{FS: iox.OS, NoSync: true}, dir); err != nil {
		t.Fatal(err)
	}
	after, left := files(t, dir)
	if len(left) > 0 || maps.Equal(before, after) {
		t.Fatalf("%v stand, %v are left", after, left)
	}
	for path, text := range after {
		if !strings.HasSuffix(path, "/") && !strings.HasPrefix(text, "new ") && path != "bystander" {
			t.Fatalf("%s is %q", path, text)
		}
	}
	return before, after
}

func (s *scenario) prepare(t *testing.T, dir string) {
	t.Helper()
	disk := &faultio.FS{FS: iox.OS, NoSync: true}
	if err := errors.Join(put(disk, dir, s.before, "old"), put(disk, dir, []string{"bystander"}, "other")); err != nil {
		t.Fatal(err)
	}
}

// each runs f for all scenarios, with and without names that can be exchanged.
func each(t *testing.T, f func(t *testing.T, s *scenario, plain bool)) {
	for i := range scenarios {
		for _, plain := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, plain=%v", scenarios[i].name, plain), func(t *testing.T) { f(t, &scenarios[i], plain) })
		}
	}
}

// A run that dies at any operation leaves what was there or what was to be there,
// once the next one has cleaned up; and nothing else. Cleaning up may die, too.
func TestDeathAnywhere(t *testing.T) {
	each(t, func(t *testing.T, s *scenario, plain bool) {
		before, after := s.expect(t)
		// Of the operations at which cleaning up dies; over all n they are all of them. 3 with BAGCONV_EXHAUSTIVE=1.
		step := int64(samples.Pick(3, 6, 10))
		atOnce := s.atOnce && (!plain || s.plain)
		for n := int64(1); ; n++ {
			for m := int64(0); ; m += step { // operation at which cleaning up dies; 0: it does not
				dir := t.TempDir()
				s.prepare(t, dir)
				dying := &faultio.FS{FS: iox.OS, N: n, Fault: faultio.Death, Plain: plain, NoSync: true}
				err := s.write(dying, dir)
				if !dying.Fired() {
					if err != nil || n < 5 {
						t.Errorf("%d operations: %v", n, err)
					}
					return
				}
				stand, staged := files(t, dir)
				if err == nil && !maps.Equal(stand, after) {
					t.Fatalf("dead at %d, without an error: %v stand", n, stand)
				}
				if atOnce && !maps.Equal(stand, before) && !maps.Equal(stand, after) {
					t.Fatalf("dead at %d: %v stand", n, stand)
				}
				if !maps.Equal(stand, after) {
					s.nothingIsGone(t, before, stand, staged)
				}
				cleaning := &faultio.FS{FS: iox.OS, N: m, Fault: faultio.Death, Plain: plain, NoSync: true}
				_, _ = iox.CleanUp(cleaning, filepath.Join(dir, "x"))
				_, journal := staged[journalOf(staged)]
				found, err := iox.CleanUp(&faultio.FS{FS: iox.OS, NoSync: true}, filepath.Join(dir, "x"))
				for _, l := range found {
					err = errors.Join(err, l.Err)
				}
				if err != nil {
					t.Fatalf("dead at %d, and at %d in cleaning up: %v", n, m, err)
				}
				stand, staged = files(t, dir)
				if len(staged) > 0 || !maps.Equal(stand, before) && !maps.Equal(stand, after) {
					t.Fatalf("dead at %d, and at %d in cleaning up: %v stand, %v are left", n, m, stand, staged)
				}
				if m > 0 && !cleaning.Fired() || !journal && n%8 > 0 {
					break
				}
				if m == 0 {
					m = n%step - step + 1
				}
			}
		}
	})
}

// journalOf returns the path of the journal, "" without one.
func journalOf(staged map[string]string) string {
	for path := range staged {
		if filepath.Base(path) == "journal" {
			return path
		}
	}
	return ""
}

// nothingIsGone: every file that stood there stands there, or is kept aside.
func (s *scenario) nothingIsGone(t *testing.T, before, stand, staged map[string]string) {
	t.Helper()
	kept := map[string]bool{}
	for _, m := range []map[string]string{stand, staged} {
		for path, text := range m {
			parts := strings.Split(path, "/")
			for i := range parts {
				kept[strings.Join(parts[i:], "/")+"="+text] = true
			}
		}
	}
	for path, text := range before {
		if !kept[path+"="+text] {
			t.Fatalf("%s is gone: %v stand, %v are staged", path, stand, staged)
		}
	}
}

// A run in which any operation fails, and which lives on, puts all back by itself.
func TestFailureAnywhere(t *testing.T) {
	each(t, func(t *testing.T, s *scenario, plain bool) {
		before, after := s.expect(t)
		for n := int64(1); ; n++ {
			dir := t.TempDir()
			s.prepare(t, dir)
			disk := &faultio.FS{FS: iox.OS, N: n, Plain: plain, NoSync: true}
			err := s.write(disk, dir)
			stand, staged := files(t, dir)
			if !disk.Fired() {
				break
			}
			want := before
			if err == nil || plain && s.plain && s.before != nil && maps.Equal(stand, after) {
				want = after // a file was replaced in one step, which cannot be taken back
			}
			if len(staged) > 0 || !maps.Equal(stand, want) {
				t.Fatalf("failed at %d with %v: %v stand, %v are left", n, err, stand, staged)
			}
		}
	})
}
