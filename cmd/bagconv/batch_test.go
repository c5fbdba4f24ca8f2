package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/convert/batch"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// manifest reads a manifest; each input must have one line.
func manifest(t *testing.T, path string) map[string]batch.Entry {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	entries := map[string]batch.Entry{}
	for line := range bytes.Lines(text) {
		var e batch.Entry
		if err := json.Unmarshal(line, &e); err != nil || line[len(line)-1] != '\n' {
			t.Fatalf("%s: %q: %v", path, line, err)
		}
		if _, double := entries[e.Input]; double {
			t.Errorf("%s has two lines about %s", path, e.Input)
		}
		entries[e.Input] = e
	}
	return entries
}

// everything lists the files below a folder with their digests, but for the
// manifest.
func everything(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "manifest.jsonl" {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		files[rel] = digest(t, path)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return files
}

func equal(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if b[k] != v {
			return false
		}
	}
	return true
}

// allSamples returns the folders with all recordings, as absolute paths.
func allSamples(t *testing.T) (dirs []string) {
	t.Helper()
	for _, root := range samples.Roots(t) {
		dir, err := filepath.Abs(root)
		if err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

// TestBatchAll: all recordings become rosbag2 folders. What the manifest has of each
// is compared with the files themselves, read again.
func TestBatchAll(t *testing.T) {
	data := allSamples(t)
	out := filepath.Join(t.TempDir(), "out")
	status, stderr := bagconv(t, append([]string{"batch", "-j", "2", "-O", out, "--no-sync", "--checksum"}, data...)...)
	if status != 5 {
		t.Fatalf("exit status %d: %s", status, stderr)
	}
	entries := manifest(t, filepath.Join(out, "manifest.jsonl"))
	formats := all.Registry()
	counts, files, folders := map[string]int{}, map[string]bool{}, map[string]bool{}
	for _, e := range entries {
		counts[e.Status]++
		f, err := formats.Detect(e.Input)
		if e.Status == batch.StatusFailed {
			if e.Error == "" || e.OutputSize != 0 {
				t.Errorf("%+v", e)
			}
			if _, err := os.Lstat(e.Output); err == nil {
				t.Errorf("%s failed, and there is an output", e.Input)
			}
			continue
		}
		if err != nil || f.Name != e.SourceFormat || e.Format != "db3" || e.SHA256 == "" {
			t.Errorf("%+v: %v", e, err)
		}
		if st, err := os.Stat(e.Input); err == nil && st.Mode().IsRegular() && (st.Size() != e.Size ||
			!st.ModTime().Equal(e.ModTime) || digest(t, e.Input) != e.SHA256) {
			if _, err := os.Stat(e.Input + "-wal"); err != nil { // the log of a database belongs to it
				t.Errorf("%+v: size %d, time %v, SHA-256 %s", e, st.Size(), st.ModTime(), digest(t, e.Input))
			}
		}
		_, in := read(t, e.Input)
		info, msgs := read(t, e.Output)
		if int64(len(msgs)) != e.Written || len(info.Warnings) > 0 {
			t.Errorf("%s: %d messages in the output, %d in the manifest, %v", e.Input, len(msgs), e.Written, info.Warnings)
		}
		if int64(len(in)) != e.Read {
			t.Errorf("%s: %d messages, %d in the manifest", e.Input, len(in), e.Read)
		}
		if e.Status == batch.StatusOK && (e.Read != e.Written || len(e.LossCodes) > 0 || len(e.DamageCodes) > 0 ||
			e.Lost.Messages > 0) ||
			e.Status == batch.StatusLossy && len(e.LossCodes) == 0 && len(e.DamageCodes) == 0 {
			t.Errorf("%+v", e)
		}
		if !e.Stands(nil) {
			t.Errorf("%s: size %d, files %v", e.Output, e.OutputSize, e.OutputFiles)
		}
		if files[strings.ToLower(e.Output)] {
			t.Errorf("%s is the output of two inputs", e.Output)
		}
		files[strings.ToLower(e.Output)], folders[e.Output] = true, true
	}
	if counts[batch.StatusOK] < 60 || counts[batch.StatusLossy] < 5 || counts[batch.StatusFailed] < 2 {
		t.Errorf("%v", counts)
	}
	t.Logf("%d inputs: %v", len(entries), counts)
	// Each file of a format is in one of the inputs, and nothing else lies in OUT.
	for _, dir := range data {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, _ error) error {
			if f, err := formats.Detect(path); !d.IsDir() && err == nil && !belongs(entries, path) {
				t.Errorf("%s, a %s, is in no input", path, f.Name)
			}
			return nil
		})
	}
	for name := range everything(t, out) {
		if !folders[filepath.Dir(filepath.Join(out, name))] {
			t.Errorf("%s lies in no output", name)
		}
	}
	// Nothing is done twice.
	before := everything(t, out)
	status, stderr = bagconv(t, append([]string{"batch", "-j", "2", "-O", out, "--no-sync", "--resume", "--progress",
		"plain"}, data...)...)
	if status != 5 || strings.Contains(stderr, "] ok: ") || strings.Contains(stderr, "] lossy: ") ||
		!equal(before, everything(t, out)) {
		t.Errorf("again: exit status %d: %s", status, stderr)
	}
	if len(manifest(t, filepath.Join(out, "manifest.jsonl"))) != len(entries) {
		t.Error("the manifest has other inputs")
	}
}

// belongs reports whether a file is an input, lies in one, or is a segment of one.
func belongs(entries map[string]batch.Entry, path string) bool {
	for in := range entries {
		if path == in || strings.HasPrefix(path, in+".") || filepath.Dir(path) == in {
			return true
		}
	}
	return false
}

// recordings makes a folder of bags, n MB each, for a batch.
func recordings(t *testing.T, n int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "in")
	for i, name := range []string{"a", "b", "monday/c", "monday/d", "monday/e", "f"} {
		path := filepath.Join(dir, name+".bag")
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		made := generated(t, "-profile", "small", "-mb", []string{"1", "4", "8"}[(i+n)%3], "-seed",
			[]string{"1", "2", "3", "4", "5", "6"}[i])
		if err := os.Rename(made, path); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestBatchDiskFull: on a disk of 24 MB one recording cannot fit, and one grows
// too large on the way. Both fail with a clear error and leave nothing; the
// others are whole, also one that had to make room for it.
func TestBatchDiskFull(t *testing.T) {
	disk := t.TempDir()
	if os.Getuid() != 0 || runtime.GOOS != "linux" || exec.Command("mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs",
		disk).Run() != nil {
		t.Skip("a small disk can be made by root alone")
	}
	defer func() {
		if err := exec.Command("umount", disk).Run(); err != nil {
			t.Error(err)
		}
	}()
	in := recordings(t, 0)
	for name, args := range map[string][]string{
		"c_large.bag":    {"-profile", "small", "-mb", "60"},
		"d_squeezed.bag": nil, // 100 MB of zeros, in lz4
	} {
		path := filepath.Join(in, name)
		if args == nil {
			squeezed(t, path)
		} else if err := os.Rename(generated(t, args...), path); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(filepath.Join(in, "monday")); err != nil { // so that the others fit
		t.Fatal(err)
	}
	out := filepath.Join(disk, "out")
	for _, jobs := range []string{"1", "2"} {
		status, stderr := bagconv(t, "batch", "-j", jobs, "-O", out, in)
		if status != 5 {
			t.Fatalf("exit status %d: %s", status, stderr)
		}
		entries := manifest(t, filepath.Join(out, "manifest.jsonl"))
		var finished []string
		for path, e := range entries {
			name := strings.TrimSuffix(filepath.Base(path), ".bag")
			switch name {
			case "c_large":
				if e.Status != batch.StatusFailed || !strings.Contains(e.Error, "MB left, but the output needs") {
					t.Errorf("%+v", e)
				}
			case "d_squeezed":
				if e.Status != batch.StatusFailed ||
					!strings.Contains(e.Error, "no space left on device; make room, or choose an output on another disk") {
					t.Errorf("%+v", e)
				}
			default:
				if e.Status != batch.StatusOK || !e.Stands(nil) {
					t.Errorf("%+v", e)
				}
				_, msgs := read(t, e.Output)
				if int64(len(msgs)) != e.Written {
					t.Errorf("%s: %d messages, %d in the manifest", e.Output, len(msgs), e.Written)
				}
				finished = append(finished, name)
			}
		}
		if len(entries) != 5 {
			t.Errorf("%d lines", len(entries))
		}
		left, err := os.ReadDir(out)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range left {
			names = append(names, e.Name())
		}
		want := append(finished, "manifest.jsonl")
		slices.Sort(want)
		if !slices.Equal(names, want) {
			t.Errorf("-j %s: left %v, want %v; %s", jobs, names, want, stderr)
		}
		if err := os.RemoveAll(out); err != nil {
			t.Fatal(err)
		}
	}
}

// squeezed makes a bag of 100 messages of 1 MB of zeros.
func squeezed(t *testing.T, path string) {
	t.Helper()
	w, err := all.Registry().Lookup("bag").Create(t.Context(), path, storage.WriteOptions{Compression: "lz4"})
	if err != nil {
		t.Fatal(err)
	}
	id, err := w.CreateTopic(storage.Topic{Name: "/zeros", Type: "acme_msgs/Zeros", Encoding: "ros1",
		Schema:   storage.Schema{Encoding: "ros1msg", Data: []byte("uint8[1000000] data\n")},
		Metadata: map[string]string{storage.MetaMD5Sum: "*"}})
	for i := 0; i < 100 && err == nil; i++ {
		err = w.Write(&storage.Message{Topic: id, LogTime: int64(i + 1), PublishTime: int64(i + 1),
			Data: make([]byte, 1_000_000)})
	}
	if err == nil {
		err = w.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
}
