package catalogue_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bagconv/bagconv/internal/convert/batch"
	"github.com/bagconv/bagconv/internal/convert/catalogue"
	"github.com/bagconv/bagconv/storage"
)

// odd are names that nobody should give.
var odd = []string{"/imu/data", "", "<script>alert(1)</script>", "'; DROP TABLE topics; --", "a\"b|c\n\td", "\x00\xff\xfe",
	"тема/图像/🤖", strings.Repeat("长", 3000), `\xff`}

// hostile returns what a reader may know of recording n.
func hostile(n int) *storage.Info {
	info := &storage.Info{Format: "bag", Version: "2.0", Messages: int64(n), Compression: map[string]int64{"lz4": 1}}
	times := [][2]int64{{0, 0}, {0, math.MaxInt64}, {math.MinInt64, math.MaxInt64}, {1_700_000_000e9, 1_700_000_010e9},
		{5, 3}}
	info.Start, info.End = times[n%len(times)][0], times[n%len(times)][1]
	topics, names := n%5, len(odd)
	if n == 7 {
		topics, names = 20_000, 4
	}
	for i := range topics {
		t := storage.TopicInfo{ID: storage.TopicID(i), Messages: int64(i), Topic: storage.Topic{
			Name: odd[(n+i)%names] + fmt.Sprint(i), Type: odd[i%names],
			Encoding: "ros1"}}
		if i%2 == 0 {
			t.Schema = storage.Schema{Encoding: "ros1msg", Data: []byte(odd[i%len(odd)])}
		}
		info.Topics = append(info.Topics, t)
	}
	if n%6 == 0 {
		info.Warnings = []storage.Warning{{Code: "truncated", Damage: true}, {Code: "unindexed"},
			{Code: "truncated", Damage: true}}
	}
	return info
}

// contentOf returns what messages of the topics of a recording may have.
func contentOf(info *storage.Info) *catalogue.Content {
	c := &catalogue.Content{Hashes: map[catalogue.Key]string{}, Boxes: map[catalogue.Key]*catalogue.Box{}}
	for i, t := range info.Topics[:len(info.Topics)/2] {
		k := catalogue.Key{Name: t.Name, Type: t.Type, Encoding: t.Encoding}
		c.Hashes[k] = fmt.Sprintf("%064x", i)
		c.Boxes[k] = &catalogue.Box{Fixes: int64(i), LatMin: -90, LatMax: 0.1, LonMin: math.Copysign(0, -1), LonMax: 180}
	}
	return c
}

// inputs are n recordings of hostile.
func inputs(n int) (list []*batch.Input) {
	format := &storage.Format{Name: "bag"}
	for i := range n {
		path := fmt.Sprintf("/d/%02d%s", i*37%n, odd[i%6])
		list = append(list, &batch.Input{Path: path, Files: []string{path}, Size: int64(i), ModTime: time.Unix(0, int64(i)),
			Format: format})
	}
	return list
}

// write writes a catalogue, and returns how many recordings were opened.
func write(t *testing.T, path string, list []*batch.Input, full bool) (*catalogue.Result, int) {
	t.Helper()
	before, err := catalogue.Previous(nil, path, full)
	if err != nil {
		t.Fatal(err)
	}
	var opened atomic.Int64
	numbers := map[*batch.Input]int{}
	for i, in := range list {
		numbers[in] = i
	}
	result, err := catalogue.Write(t.Context(), &catalogue.Job{
		Path: path, Inputs: list, Name: func(in *batch.Input) string { return in.Path }, Workers: 4, Full: full,
		Describe: func(_ context.Context, in *batch.Input) (*storage.Info, *catalogue.Content, error) {
			opened.Add(1)
			if n := numbers[in]; n%11 != 3 {
				return hostile(n), contentOf(hostile(n)), nil
			}
			return nil, nil, errors.New("<b>broken</b>\x00 \xff")
		},
		Explain: error.Error,
	}, before)
	if err != nil {
		t.Fatal(err)
	}
	return result, int(opened.Load())
}

// read returns all rows of a catalogue.
func read(t *testing.T, path string) (list []*catalogue.Recording) {
	t.Helper()
	r, err := catalogue.Open(nil, path)
	if err != nil {
		t.Fatal(err)
	}
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, row)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestKinds: both kinds of files have the same rows, of recordings with odd names, times and 20,000 topics. What has
// not changed is not opened again, and the file stays the same to the byte; what is gone, changed or could not be read
// is treated so.
func TestKinds(t *testing.T) {
	dir := t.TempDir()
	var rows []*catalogue.Recording
	for _, ending := range []string{".parquet", ".sqlite"} {
		path := filepath.Join(dir, "c"+ending)
		list := inputs(40)
		first, opened := write(t, path, list, false)
		if opened != 40 || first.Recordings != 40 || first.Read != 40 || first.Failed != 4 || first.Topics < 20_000 ||
			first.Damaged != 6 || first.LeftOut == 0 {
			t.Errorf("%s: %d opened, %+v", ending, opened, first)
		}
		was, _ := os.ReadFile(path)
		got := read(t, path)
		if rows == nil {
			rows = got
		}
		if !reflect.DeepEqual(rows, got) {
			t.Errorf("%s has other rows", ending)
		}
		// Names that are not UTF-8 may stand for several recordings, and are read again, as what failed.
		again, opened := write(t, path, list, false)
		if now, _ := os.ReadFile(path); !bytes.Equal(was, now) {
			t.Errorf("%s: not the same bytes", ending)
		}
		if opened != 10 || again.Kept != 30 || again.Gone != 0 {
			t.Errorf("%s: %d opened, %+v", ending, opened, again)
		}
		list[1].Size++
		list[2].ModTime = list[2].ModTime.Add(1)
		list[4].Files = append(list[4].Files, "/d/more")
		changed, opened := write(t, path, list[:38], false)
		if opened != 13 || changed.Gone != 2 || changed.Recordings != 38 {
			t.Errorf("%s: %d opened, %+v", ending, opened, changed)
		}
		if _, opened := write(t, path, list, true); opened != 40 {
			t.Errorf("%s: %d opened with Full", ending, opened)
		}
	}
	for _, r := range rows {
		for _, topic := range r.Topics {
			if len(topic.Name) > catalogue.MaxText || strings.Contains(topic.Name, "\x00") {
				t.Errorf("%q", topic.Name)
			}
		}
	}
}

// TestSameNames: recordings that are shown by one name are not taken for each other.
func TestSameNames(t *testing.T) {
	for _, ending := range []string{".parquet", ".sqlite"} {
		path := filepath.Join(t.TempDir(), "c"+ending)
		list := inputs(6)
		for _, in := range list[1:5] {
			in.Path = list[1].Path
		}
		write(t, path, list, false)
		was, _ := os.ReadFile(path)
		result, opened := write(t, path, list, false)
		if now, _ := os.ReadFile(path); opened != 5 || result.Kept != 1 || !bytes.Equal(was, now) {
			t.Errorf("%s: %d opened, %+v, the same bytes: %v", ending, opened, result, bytes.Equal(was, now))
		}
	}
}

// TestRefused: what is no catalogue is not replaced, a broken one only if nothing of it is needed, and a run that fails
// leaves the catalogue as it is.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	for _, ending := range []string{".parquet", ".sqlite"} {
		path := filepath.Join(dir, "c"+ending)
		for _, text := range []string{"hello", "SQLite format 3\x00" + strings.Repeat("x", 1000), "PAR1....PAR1"} {
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			if _, err := catalogue.Previous(nil, path, true); !errors.Is(err, catalogue.ErrOther) || catalogue.Is(nil, path) {
				t.Errorf("%s, %.5q: %v", ending, text, err)
			}
		}
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		write(t, path, inputs(6), false)
		whole, _ := os.ReadFile(path)
		if !catalogue.Is(nil, path) {
			t.Errorf("%s is no catalogue", path)
		}
		before, err := catalogue.Previous(nil, path, false)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		_, err = catalogue.Write(ctx, &catalogue.Job{Path: path, Inputs: inputs(20), Workers: 2,
			Name: func(in *batch.Input) string { return in.Path },
			Describe: func(context.Context, *batch.Input) (*storage.Info, *catalogue.Content, error) {
				cancel()
				return hostile(1), nil, nil
			},
			Explain: error.Error}, before)
		now, _ := os.ReadFile(path)
		if !errors.Is(err, context.Canceled) || !bytes.Equal(now, whole) {
			t.Errorf("%s: %v; it has changed: %v", ending, err, !bytes.Equal(now, whole))
		}
		if names, _ := filepath.Glob(filepath.Join(dir, ".*")); len(names) > 0 {
			t.Errorf("left are %q", names)
		}
		for at := 0; at < len(whole); at += len(whole)/40 + 1 { // it never panics or hangs
			broken := bytes.Clone(whole)
			for i := at; i < min(at+64, len(broken)); i++ {
				broken[i] ^= 0xa5
			}
			if err := os.WriteFile(path, broken, 0o666); err != nil {
				t.Fatal(err)
			}
			r, err := catalogue.Previous(nil, path, false)
			for err == nil {
				_, err = r.Next()
			}
			if r != nil {
				err = errors.Join(err, r.Close())
			}
			if !errors.Is(err, io.EOF) && !errors.Is(err, catalogue.ErrOther) && !errors.Is(err, storage.ErrCorrupt) &&
				!errors.Is(err, storage.ErrUnsupported) && !errors.Is(err, storage.ErrTruncated) {
				t.Errorf("%s, bytes from %d: %v", ending, at, err)
			}
		}
	}
}
