package virtual_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/convert/multi"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/live/virtual"
)

// write converts a recording of testdata into a source of a format, in parts of a size.
func write(t *testing.T, from, path, format string, part int64) multi.Input {
	t.Helper()
	formats := all.Registry()
	from = filepath.Join("..", "..", "..", "testdata", from)
	source, err := formats.Detect(from)
	if err != nil {
		t.Fatal(err)
	}
	j := convert.Job{Source: from, SourceFormat: source, Sink: path, SinkFormat: formats.Lookup(format)}
	j.Write.NoSync, j.Write.SegmentSize, j.Write.Overwrite = true, part, true
	if format != "db3" {
		j.Write.Compression, j.Write.ChunkSize = "none", 8<<10
	}
	if _, err := convert.Run(context.Background(), j); err != nil {
		t.Fatal(err)
	}
	return multi.Input{Path: path, Format: formats.Lookup(format)}
}

// A source is a recording that changes.
type source struct {
	inputs []multi.Input
	of     func(from string) []multi.Input // writes it anew
}

func (s source) job(t *testing.T) convert.Job {
	j := convert.Job{Source: s.inputs[0].Path, SourceFormat: s.inputs[0].Format, SinkFormat: all.Registry().Lookup("mcap"),
		Sink: filepath.Join(t.TempDir(), "out.mcap")}
	if len(s.inputs) > 1 {
		j.Source, j.SourceFormat = "several", multi.Format(s.inputs)
	}
	j.Write.NoSync, j.Write.Compression, j.Write.ChunkSize = true, "none", 4<<10
	return j
}

// files lists its files with messages.
func (s source) files(t *testing.T) (paths []string) {
	t.Helper()
	for _, in := range s.inputs {
		set, err := in.Format.FilesOf(nil, in.Path)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, set.Messages...)
	}
	return paths
}

// changes are what happens to a source that is served.
var changes = map[string]func(t *testing.T, s source){
	"grown": func(t *testing.T, s source) {
		file, err := os.OpenFile(slices.Max(s.files(t)), os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = file.Write(bytes.Repeat([]byte{0}, 5000))
			err = errors.Join(err, file.Close())
		}
		must(t, err)
	},
	"cut": func(t *testing.T, s source) {
		path := s.files(t)[0]
		st, err := os.Stat(path)
		must(t, err)
		must(t, os.Truncate(path, st.Size()/2))
	},
	"written anew": func(t *testing.T, s source) { s.of("tiny.bag") },
	"a part more": func(t *testing.T, s source) { // if the format knows it by its name
		last := slices.Max(s.files(t))
		data, err := os.ReadFile(last)
		must(t, err)
		next := regexp.MustCompile(`\d(\.[a-z]+\d?|\.\d{14})?$`).ReplaceAllString(last, "9$1")
		must(t, os.WriteFile(next, data, 0o644))
	},
	"removed": func(t *testing.T, s source) { must(t, os.Remove(s.files(t)[0])) },
	"exchanged": func(t *testing.T, s source) { // by a file of the same size and time
		for _, path := range s.files(t) {
			st, err := os.Stat(path)
			must(t, err)
			data, err := os.ReadFile(path)
			must(t, err)
			other := bytes.ReplaceAll(data, []byte("wheel_l"), []byte("wheel_x"))
			must(t, os.WriteFile(path+".new", other, 0o644))
			must(t, os.Chtimes(path+".new", st.ModTime(), st.ModTime()))
			must(t, os.Rename(path+".new", path))
		}
	},
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestSourceChanges: whatever happens to a source of a format while it is served, a reader gets bytes of
// before or an error, and the next one what convert writes of the new source, or its error.
func TestSourceChanges(t *testing.T) {
	reads := []int{8 << 10}
	if os.Getenv("BAGCONV_EXHAUSTIVE") != "" {
		reads = []int{0, 8 << 10, 200 << 10}
	}
	for name, from := range map[string]func(t *testing.T, dir, from string) []multi.Input{
		"bag": func(t *testing.T, dir, from string) []multi.Input {
			return []multi.Input{write(t, from, dir+"/in.bag", "bag", 0)}
		},
		"record": func(t *testing.T, dir, from string) []multi.Input {
			return []multi.Input{write(t, from, dir+"/in.record", "record", 40<<10)}
		},
		"db3": func(t *testing.T, dir, from string) []multi.Input {
			return []multi.Input{write(t, from, dir+"/db", "db3", 40<<10)}
		},
		"mcap": func(t *testing.T, dir, from string) []multi.Input {
			return []multi.Input{write(t, from, dir+"/in.mcap", "mcap", 0)}
		},
		"folder": func(t *testing.T, dir, from string) []multi.Input {
			return []multi.Input{write(t, from, dir+"/m", "ros2mcap", 40<<10)}
		},
		"merged": func(t *testing.T, dir, from string) []multi.Input {
			return []multi.Input{write(t, from, dir+"/a.bag", "bag", 0), write(t, from, dir+"/b.mcap", "mcap", 0)}
		},
	} {
		for what, change := range changes {
			for _, after := range reads { // bytes that were read before
				t.Run(fmt.Sprintf("%s %s after %d", name, what, after), func(t *testing.T) {
					dir := t.TempDir()
					s := source{of: func(path string) []multi.Input { return from(t, dir, path) }}
					s.inputs = s.of("demo.bag")
					sourceChanges(t, s, change, after)
				})
			}
		}
	}
}

func sourceChanges(t *testing.T, s source, change func(*testing.T, source), after int) {
	ctx := context.Background()
	j := s.job(t)
	if _, err := convert.Run(ctx, j); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(j.Sink)
	must(t, err)
	shelf := virtual.NewShelf(ctx, t.TempDir(), nil)
	defer shelf.Close()
	out, err := shelf.Open(ctx, j, "")
	must(t, err)
	if b := make([]byte, after); after > 0 {
		if _, err := out.ReadAt(ctx, b, 0); err != nil || !bytes.Equal(b, want[:after]) {
			t.Fatal("before:", err)
		}
	}
	change(t, s)
	failed := error(nil)
	for at := 0; at < len(want) && failed == nil; at += 3000 {
		b := make([]byte, min(3000, len(want)-at))
		n, err := out.ReadAt(ctx, b, int64(at))
		if !bytes.Equal(b[:n], want[at:][:n]) {
			t.Fatalf("at %d: a mixture", at)
		}
		failed = err
	}
	if after <= 8<<10 && !errors.Is(failed, recording.ErrChanged) && !strings.Contains(t.Name(), "a_part_more") {
		t.Errorf("the error is %v", failed)
	}
	out.Release()

	j.Write.Overwrite = true
	_, wrong := convert.Run(ctx, j)
	got, _, err := read(shelf, j, "")
	if (err == nil) != (wrong == nil) {
		t.Errorf("afterwards: %v, and convert: %v", err, wrong)
	}
	if err == nil {
		want, err = os.ReadFile(j.Sink)
		must(t, err)
		if !bytes.Equal(got, want) {
			t.Errorf("afterwards: %d bytes that are not the %d of convert", len(got), len(want))
		}
	}
}
