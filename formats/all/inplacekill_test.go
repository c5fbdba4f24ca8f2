package all

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/testing/faultio"
	"github.com/bagconv/bagconv/storage"
)

// toChange returns files of a recording on which a step changes something: the recording for append, and for reindex
// the recording with the first damage that is mended.
func (x *changed) toChange(t *testing.T, step string) map[string][]byte {
	if step == "append" {
		return x.indexed(t)
	}
	rng := rand.New(rand.NewPCG(3, 8))
	files := x.files
	for range 3000 {
		path, _ := x.put(t, files)
		changes, err := x.format.Reindex(t.Context(), path, storage.ReindexOptions{NoSync: true, DryRun: true})
		if _ = os.RemoveAll(filepath.Dir(path)); err == nil && len(changes) > 0 {
			return files
		}
		files, _ = x.withDamages(rng)
	}
	return nil
}

// indexed returns the files of a recording that has all its indexes.
func (x *changed) indexed(t *testing.T) map[string][]byte {
	path, dir := x.put(t, x.files)
	if err := x.do(t, "reindex", path, nil); err != nil {
		t.Logf("%s: %v", x, err)
	}
	return filesIn(t, dir)
}

// each calls f for the steps of one recording of each kind, with files on which the step changes something, and with
// the number of operations that it needs.
func each(t *testing.T, f func(t *testing.T, x *changed, step string, files map[string][]byte, operations int64)) {
	for kind, list := range inPlace(t) {
		for _, step := range list[0].steps() {
			t.Run(kind+"/"+step, func(t *testing.T) {
				t.Parallel()
				for _, x := range list {
					files := x.toChange(t, step)
					if files == nil {
						continue
					}
					path, _ := x.put(t, files)
					disk := &faultio.FS{FS: iox.OS, NoSync: true}
					if err := x.do(t, step, path, disk); err != nil {
						continue
					}
					f(t, x, step, files, disk.Count())
					return
				}
				t.Errorf("no recording is changed by %s", step)
			})
		}
	}
}

// survives reads a recording after a step that has failed, does the step once more, and returns what is missing then.
func (x *changed) survives(t *testing.T, step, path string, before map[string]int) error {
	if err := less(before, content(x.format, path, t)); err != nil {
		return err
	}
	if err := x.do(t, step, path, nil); err != nil {
		return fmt.Errorf("the next run: %w", err)
	}
	after := content(x.format, path, t)
	if err := less(before, after); err != nil {
		return fmt.Errorf("after the next run: %w", err)
	}
	if step == "append" && total(after) < total(before)+len(x.more.Messages) {
		return errors.New("the next run has added nothing")
	}
	return nil
}

// TestInPlaceFaults: each operation fails in turn, moves half of its bytes, or is the last one of the process: all that
// could be read before can be read, and the next run does the step.
func TestInPlaceFaults(t *testing.T) {
	every := int64(17)
	if exhaustive() {
		every = 1
	}
	each(t, func(t *testing.T, x *changed, step string, files map[string][]byte, operations int64) {
		faults := 0
		for _, fault := range []faultio.Fault{faultio.Error, faultio.Short, faultio.Death} {
			for n := int64(1); n <= operations; n += every {
				path, _ := x.put(t, files)
				before := content(x.format, path, t)
				disk := &faultio.FS{FS: iox.OS, N: n, Fault: fault, NoSync: true}
				err := x.do(t, step, path, disk)
				if !disk.Fired() {
					continue
				}
				faults++
				if lost := x.survives(t, step, path, before); lost != nil {
					t.Errorf("%s, fault %d at operation %d (%v): %v", x, fault, n, err, lost)
				}
				_ = os.RemoveAll(filepath.Dir(path))
			}
		}
		t.Logf("%s: %d faults, %d operations", x, faults, operations)
	})
}

// killed is the variable that makes a process of this test do a step until it is killed: format, step,
// operation and path.
const killed = "BAGCONV_INPLACE_KILLED"

// TestInPlaceKilled is the process that TestInPlaceKills starts, and that is killed at an operation.
func TestInPlaceKilled(t *testing.T) {
	text := os.Getenv(killed)
	if text == "" {
		return
	}
	var format, step, path string
	var n int64
	if _, err := fmt.Sscanf(text, "%s %s %d %q", &format, &step, &n, &path); err != nil {
		t.Fatal(err)
	}
	x := &changed{format: Registry().Lookup(format), name: filepath.Base(path)}
	x.files = filesOf(t, path)
	x.more = x.first(t)
	t.Log(x.do(t, step, path, &faultio.FS{FS: iox.OS, N: n, Fault: faultio.Kill, NoSync: true}))
}

// filesOf returns the files of the recording at path.
func filesOf(t *testing.T, path string) map[string][]byte {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return filesIn(t, path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{filepath.Base(path): b}
}

// TestInPlaceKills: a process is killed (SIGKILL) at operations evenly over a step: all that could be read before can
// be read, and the next run does the step.
func TestInPlaceKills(t *testing.T) {
	kills := int64(howMany(t, "BAGCONV_INPLACE_KILLS", 3))
	each(t, func(t *testing.T, x *changed, step string, files map[string][]byte, operations int64) {
		died := 0
		for k := range kills {
			path, _ := x.put(t, files)
			before, at := content(x.format, path, t), 1+k*operations/kills
			cmd := exec.Command(os.Args[0], "-test.run=^TestInPlaceKilled$", "-test.v")
			cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %d %q", killed, x.format.Name, step, at, path))
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.Exited() {
				t.Fatalf("%s was not killed: %v\n%s", x, err, out)
			}
			died++
			if lost := x.survives(t, step, path, before); lost != nil {
				t.Errorf("%s, killed at operation %d of %d: %v", x, at, operations, lost)
			}
			_ = os.RemoveAll(filepath.Dir(path))
		}
		t.Logf("%s: %d kills over %d operations", x, died, operations)
	})
}
