package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	bagconvert "github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/testing/faultio"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// A killing is a conversion of testdata/tiny.bag that is killed at an operation on the
// files of its output.
type killing struct {
	name     string
	to       string // a format
	out      string // in a folder of its own; the stem of split
	parts    int    // of split; 0 for one output
	segments bool
	atOnce   bool // by a single step, where names can be exchanged
	joint    bool // parts of what another killing writes alone
}

var killings = []killing{
	{"file", "bag", "x.bag", 0, false, true, false},
	{"folder", "db3", "x", 0, false, true, false},
	{"folder of MCAP files", "ros2mcap", "x", 0, false, true, false},
	{"segments", "record", "x.record", 0, true, false, false},
	{"parts", "bag", "x", 3, false, false, false},
	{"folders", "db3", "x", 2, false, false, false},
	{"folders of MCAP files", "ros2mcap", "x", 2, false, false, true},
	{"parts in segments", "record", "x", 2, true, false, true},
}

// run writes the output into dir. Of an old one it writes less, which so has other
// bytes and fewer segments and parts.
func (k *killing) run(dir string, old bool, o storage.WriteOptions) error {
	registry := all.Registry()
	job := bagconvert.Job{
		Source: filepath.Join("..", "..", "testdata", "tiny.bag"), SourceFormat: registry.Lookup("bag"),
		Sink: filepath.Join(dir, k.out), SinkFormat: registry.Lookup(k.to), Write: o, Threads: 1, Formats: registry,
	}
	if k.segments {
		job.Write.SegmentSize, job.Write.SegmentNames = 300, "old"
	}
	if old {
		job.Edit.Offset = 1_000_000_000
		job.Write.SegmentSize *= 2
	}
	if k.parts == 0 {
		_, err := bagconvert.Run(context.Background(), job)
		return err
	}
	stage, err := bagconvert.NewStage(job.Sink, &job)
	if err != nil {
		return err
	}
	for i := range k.parts {
		part := job
		part.Sink = fmt.Sprintf("%s_%03d", job.Sink, i)
		if ext := job.SinkFormat.Extensions; !job.SinkFormat.Layout.Folder || k.segments {
			part.Sink += ext[0]
		}
		part.Stage = stage
		part.Edit.Offset += int64(i)
		if old && i == k.parts-1 {
			break // it had a part less
		}
		if _, err := bagconvert.Run(context.Background(), part); err != nil {
			return errors.Join(err, stage.Abort())
		}
	}
	return stage.Commit()
}

// prepare makes a folder with what stands there before.
func (k *killing) prepare(t *testing.T, dir string, force bool) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "bystander.bag"), []byte("somebody's"), 0o666); err != nil {
		t.Fatal(err)
	}
	if force {
		if err := k.run(dir, true, storage.WriteOptions{NoSync: true}); err != nil {
			t.Fatal(err)
		}
	}
}

// standing are the files of a folder without those of staging folders, and whether
// there is one.
func standing(t *testing.T, dir string) (files map[string]string, staged bool) {
	t.Helper()
	files = everything(t, dir)
	for path := range files {
		if first, _, _ := strings.Cut(path, string(filepath.Separator)); iox.IsTemp(first) {
			delete(files, path)
			staged = true
		}
	}
	return files, staged
}

// expect returns what stands there before and after a run that nobody kills.
func (k *killing) expect(t *testing.T, force bool) (before, after map[string]string) {
	t.Helper()
	dir := t.TempDir()
	k.prepare(t, dir, force)
	before, _ = standing(t, dir)
	if err := k.run(dir, false, storage.WriteOptions{NoSync: true, Overwrite: force}); err != nil {
		t.Fatal(err)
	}
	after, staged := standing(t, dir)
	if staged || equal(before, after) || len(after) < 2 || after["bystander.bag"] != before["bystander.bag"] {
		t.Fatalf("%v before, %v after", before, after)
	}
	return before, after
}

// killedAt checks what a run that was killed at an operation has left once it is cleaned
// up, and with again that the next run has its way.
func (k *killing) killedAt(t *testing.T, dir, at string, atOnce bool, before, after map[string]string, force,
	again bool) {
	t.Helper()
	now, _ := standing(t, dir)
	for path, digest := range now {
		if digest != before[path] && digest != after[path] {
			t.Fatalf("%s: %s is neither old nor new", at, path)
		}
	}
	if atOnce && !equal(now, before) && !equal(now, after) {
		t.Fatalf("%s: there is a mixture: %v", at, now)
	}
	var staged bool
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		found, err := iox.CleanUp(iox.OS, filepath.Join(dir, k.out))
		for _, l := range found {
			err = errors.Join(err, l.Err)
		}
		if err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		// A child that another test starts has a copy of each lock until it runs its own program.
		if now, staged = standing(t, dir); !staged || time.Now().After(end) {
			break
		}
	}
	if staged || !equal(now, before) && !equal(now, after) {
		t.Fatalf("%s: cleaned up, there stand %v, and debris: %v", at, now, staged)
	}
	if entries, _ := os.ReadDir(dir); len(entries) > len(now) {
		t.Fatalf("%s: %v", at, entries)
	}
	if !again {
		return
	}
	err := k.run(dir, false, storage.WriteOptions{NoSync: true, Overwrite: force})
	if now, staged := standing(t, dir); staged || !equal(now, after) || err != nil && !errors.Is(err, os.ErrExist) {
		t.Fatalf("%s: the next run: %v; there stand %v", at, err, now)
	}
}

// A conversion whose disk dies at any operation leaves what stood there, or all that
// is new; the next run finds no debris, and its own way. Each second or seventh operation
// is tried, and with BAGCONV_EXHAUSTIVE=1 every one.
func TestOutputsDeathAnywhere(t *testing.T) {
	t.Parallel()
	for i := range killings {
		k, variant := &killings[i], int64(0)
		for _, force := range []bool{false, true} {
			for _, plain := range []bool{false, true} {
				step := int64(samples.Pick(1, 2, 9))
				if force != plain || k.joint {
					step = int64(samples.Pick(1, 7, 9)) // the two others have more, or what these join has
				}
				variant++
				first := 1 + (int64(i)+variant)%step // each operation is one of some variant
				t.Run(fmt.Sprintf("%s, force=%v, plain=%v", k.name, force, plain), func(t *testing.T) {
					before, after := k.expect(t, force)
					model := t.TempDir()
					k.prepare(t, model, force)
					dir := filepath.Join(t.TempDir(), "d")
					for n := first; ; n += step {
						if err := os.CopyFS(dir, os.DirFS(model)); err != nil {
							t.Fatal(err)
						}
						disk := &faultio.FS{FS: iox.OS, N: n, Fault: faultio.Death, Plain: plain, NoSync: true}
						err := k.run(dir, false, storage.WriteOptions{FS: disk, Overwrite: force})
						if !disk.Fired() {
							if err != nil || n < 15 {
								t.Errorf("%d operations: %v", n, err)
							}
							return
						}
						atOnce := k.atOnce && (k.to == "bag" || !force || !plain)
						k.killedAt(t, dir, fmt.Sprintf("dead at operation %d", n), atOnce, before, after, force, (n-first)/step%10 == 0)
						if err := os.RemoveAll(dir); err != nil {
							t.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// killedChild names, for a child process of TestOutputsKilled, what it is to write and
// at which operation it is killed.
const killedChild = "BAGCONV_TEST_KILLED_CHILD"

func runKilledChild(what string) int {
	var i int
	var n int64
	var dir string
	if _, err := fmt.Sscanf(what, "%d %d %s", &i, &n, &dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	disk := &faultio.FS{FS: iox.OS, N: n, Fault: faultio.Kill}
	if err := killings[i].run(dir, false, storage.WriteOptions{FS: disk, Overwrite: true}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Print(disk.Count())
	return 0
}

// The same with processes that are killed with SIGKILL: locks are let go by the
// system.
func TestOutputsKilled(t *testing.T) {
	child := func(i int, n int64, dir string) (out string, killed bool) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %s", killedChild, i, n, dir))
		cmd.Stderr = os.Stderr
		b, err := cmd.Output()
		killed = cmd.ProcessState.ExitCode() < 0
		if err != nil && !killed {
			t.Fatal(err)
		}
		return string(b), killed
	}
	for i := range killings {
		k := &killings[i]
		t.Run(k.name, func(t *testing.T) {
			before, after := k.expect(t, true)
			dir := t.TempDir()
			k.prepare(t, dir, true)
			var total int64
			if out, _ := child(i, 0, dir); out != "" {
				fmt.Sscan(out, &total)
			}
			if total < 15 {
				t.Fatalf("%d operations", total)
			}
			for _, n := range []int64{3, total / 2, total - 12, total - 8, total - 6, total - 4, total - 2} {
				dir := t.TempDir()
				k.prepare(t, dir, true)
				if _, killed := child(i, n, dir); !killed {
					t.Fatalf("not killed at operation %d of %d", n, total)
				}
				k.killedAt(t, dir, fmt.Sprintf("killed at operation %d of %d", n, total), k.atOnce, before, after, true, true)
			}
		})
	}
}
