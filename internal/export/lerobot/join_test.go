package lerobot_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/export/lerobot"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/testing/faultio"
	"github.com/bagconv/bagconv/storage"
)

// partOf makes the episodes of a recording whose state is first, first + 1 and so on.
func partOf(t testing.TB, name string, first, frames int, mapping string) lerobot.Part {
	t.Helper()
	w := &world{}
	for i := range frames {
		w.joints(float64(i)*100, "/s", float64(first+i))
		w.picture(float64(i)*100, "/a", 64, 64, uint8(i))
	}
	job := jobOf(t, w.write(t), lerobot.PartName, mapping)
	if _, err := convert.Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	return lerobot.Part{Dir: job.Sink, Source: name}
}

// small rotates its files after some episodes.
const small = "fps: 10\ntask: x\nstate: /s:position\ncameras: {a: /a}\ncodec: images\n"

// TestJoin: a data set of several recordings is the same as one to which some were added, but for its files, and the
// rows, the episodes and the statistics follow each other.
func TestJoin(t *testing.T) {
	var parts []lerobot.Part
	for i := range 5 {
		parts = append(parts, partOf(t, fmt.Sprint("r", i), 100*i, 10+i, strings.Replace(small, "task: x",
			fmt.Sprint("task: t", i%2), 1)))
	}
	whole := filepath.Join(t.TempDir(), "whole")
	if _, err := (&lerobot.Join{Path: whole, Parts: parts}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	grown := filepath.Join(t.TempDir(), "grown")
	if _, err := (&lerobot.Join{Path: grown, Parts: parts[:2]}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := filesOf(t, grown)
	r, err := (&lerobot.Join{Path: grown, Parts: parts[2:], Append: true}).Run(t.Context())
	if err != nil || len(r.Episodes) != 3 || r.Episodes[0].Index != 2 || r.Episodes[0].Source != "r2" {
		t.Fatalf("%+v, %v", r, err)
	}
	for name, text := range filesOf(t, grown) {
		if strings.HasSuffix(name, "file-000.parquet") && text != before[name] {
			t.Errorf("%s has changed", name)
		}
	}
	var want []float64
	for i := range 5 {
		for k := range 10 + i {
			want = append(want, float64(100*i+k))
		}
	}
	for _, dir := range []string{whole, grown} {
		if got := first(column(t, dir, "observation.state")); !slices.Equal(got, want) {
			t.Errorf("%s: %v", dir, got)
		}
		for i, row := range column(t, dir, "index") {
			if row[0] != float64(i) {
				t.Errorf("index %v of row %d", row, i)
			}
		}
		episodes := filepath.Join(dir, "meta/episodes/*/*.parquet")
		if got := first(table(t, episodes, "dataset_to_index")); !slices.Equal(got, []float64{10, 21, 33, 46, 60}) {
			t.Errorf("dataset_to_index %v", got)
		}
		if got := first(table(t, episodes, "stats/index/max")); !slices.Equal(got, []float64{9, 20, 32, 45, 59}) {
			t.Errorf("stats/index/max %v", got)
		}
		if got := first(column(t, dir, "task_index")); got[0] != 0 || got[10] != 1 || got[59] != 0 {
			t.Errorf("task_index %v", got)
		}
	}
	a, b := filesOf(t, whole), filesOf(t, grown)
	for _, name := range []string{"meta/info.json", "meta/tasks.parquet", "meta/bagconv.json"} {
		if a[name] != b[name] {
			t.Errorf("%s differs:\n%s\n%s", name, a[name], b[name])
		}
	}
	if _, err := (&lerobot.Join{Path: grown, Parts: parts[:1], Append: true}).Run(t.Context()); err == nil ||
		!strings.Contains(err.Error(), "has the episodes of r0 already") {
		t.Error(err)
	}
}

// TestShards: files are followed by the next at their sizes, and folders after some files.
func TestShards(t *testing.T) {
	mapping := small + "data_files_size_in_mb: 1\nchunks_size: 2\n"
	var parts []lerobot.Part
	for i := range 5 {
		w := &world{}
		for k := range 3 {
			w.joints(float64(k)*100, "/s", 0)
			// a long comment
			w.data(float64(k)*100, "/a", append(jpegOf(64, 64, 9)[:2], append([]byte{0xff, 0xfe, 0xff, 0xff},
				append(make([]byte, 65533), jpegOf(64, 64, 9)[2:]...)...)...))
		}
		for k := range 6 {
			w.data(float64(k)*50, "/a", append(jpegOf(64, 64, 9)[:2], append([]byte{0xff, 0xfe, 0xff, 0xff},
				append(make([]byte, 65533), jpegOf(64, 64, 9)[2:]...)...)...))
		}
		job := jobOf(t, w.write(t), lerobot.PartName, strings.Replace(mapping, "fps: 10", "fps: 40", 1))
		if _, err := convert.Run(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, lerobot.Part{Dir: job.Sink, Source: fmt.Sprint(i)})
	}
	dir := filepath.Join(t.TempDir(), "set")
	if _, err := (&lerobot.Join{Path: dir, Parts: parts}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range filesOf(t, dir) {
		if strings.HasPrefix(name, "data/") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if want := []string{"data/chunk-000/file-000.parquet", "data/chunk-000/file-001.parquet",
		"data/chunk-001/file-000.parquet", "data/chunk-001/file-001.parquet",
		"data/chunk-002/file-000.parquet"}; !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
	if got := first(table(t, filepath.Join(dir, "meta/episodes/*/*.parquet"), "data/chunk_index")); !slices.Equal(got,
		[]float64{0, 0, 1, 1, 2}) {
		t.Errorf("data/chunk_index %v", got)
	}
}

// TestOthers: what does not go with a data set is refused, and the data set stays as it was.
func TestOthers(t *testing.T) {
	set := filepath.Join(t.TempDir(), "set")
	if _, err := (&lerobot.Join{Path: set, Parts: []lerobot.Part{partOf(t, "r0", 0, 5, small)}}).Run(
		t.Context()); err != nil {
		t.Fatal(err)
	}
	before := filesOf(t, set)
	for change, want := range map[[2]string]string{
		{"fps: 10", "fps: 5"}:                        "fps is 10, and 5 here",
		{"/s:position", "[/s:position, '/s:tip.x']"}: "observation.state is float32[1], and float32[2] here",
		{"/s:position", "/s:tip.x"}:                  "observation.state has the names [a], and [x] here",
		{"{a: /a}", "{b: /a}"}:                       "there is no observation.images.b",
		{"state: /s:position\n", ""}:                 "observation.state is missing",
		{"state: /s", "action: /s:tip.x\nstate: /s"}: "there is no action",
	} {
		part := partOf(t, "r1", 0, 5, strings.Replace(small, change[0], change[1], 1))
		_, err := (&lerobot.Join{Path: set, Parts: []lerobot.Part{part}, Append: true}).Run(t.Context())
		if err == nil || !strings.Contains(err.Error(), "the episodes of r1 do not go with the data set: "+want) ||
			!errors.Is(err, storage.ErrUnsupported) {
			t.Errorf("%v: %v, want %q", change, err, want)
		}
	}
	same(t, filesOf(t, set), before)
}

// TestAppendFaults: whichever operation on files fails, and if the disk is full at any moment, a data set that is added
// to stays as it was, and nothing is left beside it.
func TestAppendFaults(t *testing.T) {
	parts := []lerobot.Part{partOf(t, "r0", 0, 5, small), partOf(t, "r1", 5, 5, small)}
	home := t.TempDir()
	set := filepath.Join(home, "set")
	begin := func() map[string]string {
		if err := os.RemoveAll(set); err != nil {
			t.Fatal(err)
		}
		if _, err := (&lerobot.Join{Path: set, Parts: parts[:1]}).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		return filesOf(t, set)
	}
	before := begin()
	counted := &faultio.FS{FS: iox.OS}
	if _, err := (&lerobot.Join{FS: counted, Path: set, Parts: parts[1:], Append: true}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := filesOf(t, set)
	check := func(what string, err error) {
		if err == nil {
			begin()
			return
		}
		got := filesOf(t, set)
		if len(got) == len(after) {
			same(t, got, after) // the swap was done before the operation that failed
			begin()
		} else {
			same(t, got, before)
		}
		if left, _ := os.ReadDir(home); len(left) != 1 && errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: %d names are left: %v", what, len(left), err)
		}
	}
	begin()
	step := max(1, counted.Count()/40)
	for n := int64(1); n <= counted.Count(); n += step {
		_, err := (&lerobot.Join{FS: &faultio.FS{FS: iox.OS, N: n}, Path: set, Parts: parts[1:], Append: true}).Run(
			t.Context())
		check(fmt.Sprint("operation ", n), err)
	}
	for room := int64(0); room < 60_000; room += 3_000 {
		_, err := (&lerobot.Join{FS: faultio.NewDisk(iox.OS, room), Path: set, Parts: parts[1:], Append: true}).Run(
			t.Context())
		check(fmt.Sprint("room for ", room), err)
	}
}

// TestFaults: whichever operation on files fails, no data set is made, and nothing is left.
func TestFaults(t *testing.T) {
	w := cameras(3)
	source := w.write(t)
	counted := &faultio.FS{FS: iox.OS}
	run := func(fsys storage.FS) (convert.Job, error) {
		job := jobOf(t, source, lerobot.Name, twoCameras+"codec: images\n")
		job.Write.FS, job.Write.NoSync, job.Threads = fsys, false, 1
		_, err := convert.Run(t.Context(), job)
		return job, err
	}
	if _, err := run(counted); err != nil {
		t.Fatal(err)
	}
	failed, tried := 0, 0
	for n := int64(1); n <= counted.Count(); n += max(1, counted.Count()/50) {
		job, err := run(&faultio.FS{FS: iox.OS, N: n})
		if tried++; err == nil {
			continue
		}
		failed++
		if left, _ := os.ReadDir(filepath.Dir(job.Sink)); len(left) > 0 && !lerobot.IsDataset(nil, job.Sink) ||
			!errors.Is(err, faultio.ErrFault) {
			t.Errorf("operation %d: %v, %v", n, err, left)
		}
	}
	if failed < tried/2 {
		t.Errorf("%d of %d operations failed the run", failed, tried)
	}
}

// TestReferees: data sets of recordings that rosbags has made pass lerobot-doctor without a warning, and an independent
// program finds the values and the pictures of the recordings in them, read by pyarrow and av.
func TestReferees(t *testing.T) {
	python := os.Getenv("BAGCONV_LEROBOT_PYTHON")
	if python == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("BAGCONV_LEROBOT_PYTHON is missing")
		}
		t.Skip("BAGCONV_LEROBOT_PYTHON names no python with lerobot-doctor, rosbags and Pillow")
	}
	needFFmpeg(t)
	script := func(args ...string) string {
		out, err := exec.Command(python, args...).CombinedOutput()
		if err != nil {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	dir := t.TempDir()
	const mapping = "fps: 30\ntask: /task:data\nrobot_type: so100\nstate: [/joint_states:position, " +
		"/joint_states:velocity]\n" +
		"action: /leader/joint_states:position\ncameras: {front: /front/image/compressed, wrist: /wrist/image/compressed}\n"
	var recordings []string
	for i, size := range []string{"96x64", "96x64"} {
		recordings = append(recordings, filepath.Join(dir, fmt.Sprint("r", i)))
		script("testdata/record.py", recordings[i], "4", fmt.Sprint(i), size)
	}
	for _, codec := range []string{"h264", "stored", "images"} {
		var parts []lerobot.Part
		for _, r := range recordings {
			job := jobOf(t, r, lerobot.PartName, mapping+"codec: "+codec)
			if _, err := convert.Run(t.Context(), job); err != nil {
				t.Fatal(err)
			}
			parts = append(parts, lerobot.Part{Dir: job.Sink, Source: filepath.Base(r)})
		}
		set := filepath.Join(dir, codec)
		if _, err := (&lerobot.Join{Path: set, Parts: parts}).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if out := script(append([]string{"testdata/compare.py", set, "30", "100"}, recordings...)...); !strings.HasPrefix(out,
			"100 of 240 frames are those") {
			t.Error(out)
		}
		doctor := exec.Command(filepath.Join(filepath.Dir(python), "lerobot-doctor"), "check", set)
		out, err := doctor.CombinedOutput()
		if err != nil || strings.Count(string(out), "[PASS]") != 11 || strings.Contains(string(out), "WARN") ||
			strings.Contains(string(out), "FAIL") {
			t.Errorf("%s: %v\n%s", codec, err, out)
		}
	}
}

// TestAlgebra: the statistics of a data set are those of its episodes, put together.
func TestAlgebra(t *testing.T) {
	parts := []lerobot.Part{partOf(t, "r0", 0, 10, small), partOf(t, "r1", 50, 30, small)}
	set := filepath.Join(t.TempDir(), "set")
	if _, err := (&lerobot.Join{Path: set, Parts: parts}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	var values []float64
	for _, row := range column(t, set, "observation.state") {
		values = append(values, row[0])
	}
	mean, squares := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		squares += (v - mean) * (v - mean) / float64(len(values))
	}
	text := filesOf(t, set)["meta/stats.json"]
	s := statsOf(t, text, "observation.state")
	if math.Abs(s["mean"]-mean) > 1e-9 || math.Abs(s["std"]-math.Sqrt(squares)) > 1e-9 || s["min"] != 0 ||
		s["max"] != 79 || s["count"] != 40 {
		t.Errorf("%v, want mean %v, std %v", s, mean, math.Sqrt(squares))
	}
}
