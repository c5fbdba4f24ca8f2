package batch

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
// without a content the ending decides.
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
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(content),
			0o666)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFind(t *testing.T) {
	dir := tree(t, "a.bag", "b/a.bag", "b/c.bag.active=bag", "b/odd.bag.off=bag", "b/notes.txt=hi", "b/broken.bag=",
		"b/.hidden.bag", "b/x.mcap=",
		"rec/x.record.00000", "rec/x.record.00001", "rec/y.record.00000.20230101000000=record", "rec/z.record",
		"rec/z.record.00000",
		"ros2/drive/metadata.yaml=rosbag2", "ros2/drive/q_0.db3", "ros2/drive/q_1.db3", "ros2/drive/q_1.db3-wal=w",
		"ros2/drive/q_1.db3-shm=s", "ros2/drive/extra.bag", "ros2/drive/more/m.bag",
		"ros2/parts/p_0.db3", "ros2/parts/p_1.db3", "ros2/single/s.db3", "ros2/single/s.db3-wal=w", "ros2/several/u.db3",
		"ros2/several/v.db3",
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
		f := Finder{Formats: registry, Detect: registry.Detect, Base: base,
			Skip: []string{filepath.Join(dir, "ros2", "several")}}
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
			"a.bag a bag 1/13", "b/a.bag b/a bag 1/13", "b/broken.bag b/broken - 1/0", "b/c.bag.active b/c bag 1/13",
			"b/odd.bag.off b/odd.bag.off bag 1/13", "b/x.mcap b/x - 1/0",
			"rec/x.record rec/x record 2/34", "rec/y.record rec/y record 1/17", "rec/z.record rec/z record 1/17",
			"rec/z.record.00000 rec/z record 1/17",
			"ros2/drive ros2/drive db3 4/61", "ros2/drive/extra.bag ros2/drive/extra bag 1/13",
			"ros2/drive/more/m.bag ros2/drive/more/m bag 1/13",
			"ros2/mcap ros2/mcap ros2mcap 2/28", "ros2/parts ros2/parts db3 2/32", "ros2/single/s.db3 ros2/single/s db3 2/17",
			"others 1 links 1"}},
		// Equal names of two folders: below the folder that they have in common.
		{"", []string{"b", "rec/link"}, []string{
			"b/a.bag b/a bag 1/13", "b/broken.bag b/broken - 1/0", "b/c.bag.active b/c bag 1/13",
			"b/odd.bag.off b/odd.bag.off bag 1/13", "b/x.mcap b/x - 1/0", "rec/link/a.bag rec/link/a bag 1/13",
			"rec/link/broken.bag rec/link/broken - 1/0", "rec/link/c.bag.active rec/link/c bag 1/13",
			"rec/link/odd.bag.off rec/link/odd.bag.off bag 1/13", "rec/link/x.mcap rec/link/x - 1/0", "others 2 links 0"}},
		{"", []string{"b", "ros2/single"}, []string{
			"b/a.bag a bag 1/13", "b/broken.bag broken - 1/0", "b/c.bag.active c bag 1/13", "b/odd.bag.off odd.bag.off bag 1/13",
			"b/x.mcap x - 1/0", "ros2/single/s.db3 s db3 2/17", "others 1 links 0"}},
		{"", []string{"a.bag", "b/a.bag", "a.bag"}, []string{"a.bag a bag 1/13", "b/a.bag b/a bag 1/13", "others 0 links 0"}},
		{"", []string{"b/a.bag"}, []string{"b/a.bag a bag 1/13", "others 0 links 0"}},
		{".", []string{"b/a.bag", "ros2/single"}, []string{"b/a.bag b/a bag 1/13", "ros2/single/s.db3 ros2/single/s db3 2/17",
			"others 0 links 0"}},
		{"", []string{"*/*a*.bag", "rec/x.record.*"}, []string{"b/a.bag b/a bag 1/13",
			"ros2/drive/extra.bag ros2/drive/extra bag 1/13", "others 0 links 0"}},
		{"", []string{"rec/x.record.*"}, []string{"rec/x.record x record 2/34", "others 0 links 0"}},
		{"", []string{"rec/x.record"}, []string{"rec/x.record x record 2/34", "others 0 links 0"}},
		{"", []string{"rec/x.record.00001"}, []string{"rec/x.record.00001 x record 1/17", "others 0 links 0"}},
		{"", []string{"ros2/drive/*.db3"}, []string{"ros2/drive drive db3 4/61", "others 0 links 0"}},
		{"", []string{"ros2/drive/q_1.db3"}, []string{"ros2/drive/q_1.db3 q_1 db3 2/17", "others 0 links 0"}},
		{"", []string{"ros2/parts"}, []string{"ros2/parts parts db3 2/32", "others 0 links 0"}},
		{"", []string{"ros2/parts/*"}, []string{"ros2/parts parts db3 2/32", "others 0 links 0"}},
		{"", []string{"missing.bag", "none*.bag"}, []string{"missing.bag missing - 1/0", "none*.bag none* - 1/0",
			"others 0 links 0"}},
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
	inputs := []*Input{in("drive", "bag"), in("drive", "db3"), in("drive", "record"), in("Drive", "bag"),
		{Path: "/in/drive.mcap", Name: "drive"},
		in("x", "bag"), in("x/y", "bag"), in("kept", "record"), in("k/z", "bag"), in("k/z_bag", "bag")}
	got := Place(inputs, "/out", "", map[string]string{"/in/kept.record": "/out/elsewhere", "/in/gone.bag": "/out/k"})
	want := []string{"/out/drive", "/out/drive_db3", "/out/drive_record", "/out/Drive_bag", "/out/drive_file",
		"/out/x_bag", "/out/x/y", "/out/elsewhere", "/out/k_2/z", "/out/k_2/z_bag"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	got = Place(inputs[:4], "/out", ".bag", nil)
	if want := []string{"/out/drive.bag", "/out/drive_db3.bag", "/out/drive_record.bag",
		"/out/Drive_bag.bag"}; !slices.Equal(got, want) {
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
