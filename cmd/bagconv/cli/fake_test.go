package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// realOptions are those of all built-in formats, so that commands have all flags.
func realOptions() storage.Options {
	list := storage.Options{{Name: storage.NameProfile, Kind: storage.OptionChoice,
		Values: []string{"universal", "humble"}}}
	for _, o := range (&env{formats: all.Registry()}).formatOptions() {
		list = append(list, *o.first())
	}
	return list
}

// fake is a format whose recordings are files that begin with "fake". What
// reading one does is in its second word.
var fake = &storage.Format{
	Name: "fake", Help: "a format for tests", Extensions: []string{".fake"}, Holds: storage.Capacity{Native: "cdr"},
	Options: realOptions(),
	Sniff:   func(_ storage.FS, _ string, head []byte) bool { return bytes.HasPrefix(head, []byte("fake")) },
	Open: func(_ context.Context, path string, _ storage.ReadOptions) (storage.Reader, error) {
		return openFake(path)
	},
	Create: createFake,
}

type fakeReader struct {
	path, does string
	left       int
}

// interrupts are the cancel functions of the recordings that cancel their run.
var interrupts = map[string]func(){}

func openFake(path string) (storage.Reader, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return &fakeReader{path, strings.TrimPrefix(string(data), "fake "), 3}, nil
}

func (r *fakeReader) Info() *storage.Info {
	info := &storage.Info{
		Format: "fake", Version: "1", Path: r.path, Size: 100, Files: []string{r.path}, Messages: 3, Start: 1, End: 3,
		Topics: []storage.TopicInfo{{Topic: storage.Topic{Name: "/a\x1b[31m", Type: "a_msgs/msg/A", Encoding: "cdr"},
			Messages: 3}},
	}
	if r.does == "big" {
		info.Size = scanLimit + 1
	}
	info.Damage = r.Damage()
	return info
}

func (r *fakeReader) ReadNext() (*storage.Message, error) {
	switch r.does {
	case "interrupt":
		interrupts[r.path]()
	case "corrupt":
		return nil, &storage.Error{Format: "fake", Path: r.path, Offset: 12, What: "record", Err: storage.ErrCorrupt}
	}
	if r.left == 0 {
		return nil, io.EOF
	}
	r.left--
	return &storage.Message{LogTime: int64(3 - r.left), Data: []byte{0, 1, 0, 0}}, nil
}

func (r *fakeReader) Damage() (d storage.Damage) {
	if r.does == "damaged" {
		d.Warnings = []storage.Warning{{Code: "gap", Message: "5 bytes are lost", Offset: 7, Damage: true}}
	}
	return d
}

func (r *fakeReader) Close() error { return nil }

type fakeWriter struct{ path string }

func createFake(_ context.Context, path string, o storage.WriteOptions) (storage.Writer, error) {
	if _, err := os.Stat(path); err == nil && !o.Overwrite {
		return nil, &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	return &fakeWriter{path}, nil
}

func (w *fakeWriter) CreateTopic(storage.Topic) (storage.TopicID, error) { return 0, nil }
func (w *fakeWriter) Identity() storage.Identity                         { return storage.IdentityTopic }
func (w *fakeWriter) Write(*storage.Message) error                       { return nil }
func (w *fakeWriter) Finish() (storage.Output, error)                    { return storage.Output{Path: w.path}, nil }
func (w *fakeWriter) Commit() error {
	return os.WriteFile(w.path,
		[]byte("fake written"), 0o666)
}
func (w *fakeWriter) Close() error { return nil }

// runFake runs bagconv on a recording of the fake format.
func runFake(t *testing.T, does string, args ...string) (status int, out, errOut, dir string) {
	t.Helper()
	dir = t.TempDir()
	in := filepath.Join(dir, "in.fake")
	if err := os.WriteFile(in, []byte("fake "+does), 0o666); err != nil {
		t.Fatal(err)
	}
	for i, a := range args {
		args[i] = strings.ReplaceAll(a, "DIR", dir)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	interrupts[in] = cancel
	defer delete(interrupts, in)
	var o, e bytes.Buffer
	status = Run(ctx, append([]string{"bagconv"}, args...), Stdio{Out: &o, Err: &e}, storage.NewRegistry(fake))
	return status, o.String(), e.String(), dir
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestInterrupted(t *testing.T) {
	status, out, errOut, dir := runFake(t, "interrupt", "DIR/in.fake", "DIR/out.fake", "--json")
	if status != exitInterrupted || exists(filepath.Join(dir, "out.fake")) {
		t.Errorf("status %d, output there: %v", status, exists(filepath.Join(dir, "out.fake")))
	}
	if !strings.HasSuffix(errOut, "out.fake: interrupted; nothing was written\n") || strings.Count(errOut, "\n") != 1 {
		t.Errorf("said %q", errOut)
	}
	if !strings.Contains(out, `"status": "interrupted"`) || !strings.Contains(out, `"exit_status": 130`) {
		t.Errorf("reported %s", out)
	}
	if status, _, errOut, _ := runFake(t, "interrupt", "info", "DIR/in.fake"); status != exitInterrupted ||
		errOut != "bagconv: interrupted\n" {
		t.Errorf("info: status %d, %q", status, errOut)
	}
}

func TestCorrupt(t *testing.T) {
	status, out, errOut, dir := runFake(t, "corrupt", "DIR/in.fake", "DIR/out.fake", "--strict")
	if status != exitFailed || out != "" || exists(filepath.Join(dir, "out.fake")) {
		t.Errorf("status %d, output there: %v", status, exists(filepath.Join(dir, "out.fake")))
	}
	if !strings.Contains(errOut, "in.fake: fake: record at byte 12: corrupt; without --strict") ||
		strings.Count(errOut, "\n") != 1 {
		t.Errorf("said %q", errOut)
	}
}

// TestStrictLoss: what --strict finds out only at the end leaves no output either.
func TestStrictLoss(t *testing.T) {
	status, _, errOut, dir := runFake(t, "damaged", "DIR/in.fake", "DIR/out.fake", "--strict")
	if status != exitFailed || exists(filepath.Join(dir, "out.fake")) {
		t.Errorf("status %d, output there: %v, %s", status, exists(filepath.Join(dir, "out.fake")), errOut)
	}
	if !strings.Contains(errOut, "nothing was written because of --strict: 5 bytes are lost, at byte 7 [gap]; without") {
		t.Errorf("said %q", errOut)
	}
	if status, _, errOut, _ := runFake(t, "damaged", "DIR/in.fake", "DIR/out.fake", "-q"); status != exitLossy ||
		!strings.Contains(errOut, "damaged: ") {
		t.Errorf("without --strict: status %d, %q", status, errOut)
	}
}

func TestInfoOfFake(t *testing.T) {
	status, out, _, _ := runFake(t, "damaged", "info", "DIR/in.fake")
	if status != exitLossy || !strings.Contains(out, "warnings:     5 bytes are lost, at byte 7 [gap]\n") {
		t.Errorf("status %d, %s", status, out)
	}
	if strings.Contains(out, "\x1b") || !strings.Contains(out, `/a\x1b[31m`) {
		t.Errorf("escape sequence in %q", out)
	}
	_, out, _, _ = runFake(t, "big", "info", "DIR/in.fake")
	if !strings.Contains(out, "--scan always") {
		t.Errorf("a big recording was scanned: %s", out)
	}
	_, out, _, _ = runFake(t, "big", "info", "--scan", "always", "DIR/in.fake")
	if strings.Contains(out, "--scan always") || !strings.Contains(out, "12 bytes") {
		t.Errorf("not scanned: %s", out)
	}
	_, out, _, _ = runFake(t, "big", "info", "--json", "DIR/in.fake")
	if !strings.Contains(out, `"bytes": null`) || !strings.Contains(out, `"scanned": false`) {
		t.Errorf("%s", out)
	}
}

func TestExplain(t *testing.T) {
	_, err := os.Open("/nonexistent/drive.bag")
	if got := explain(err); got != "/nonexistent/drive.bag: no such file or directory" {
		t.Errorf("%q", got)
	}
	for cause, want := range map[error]string{
		syscall.ENOSPC: "out: no space left on device; make room, or choose an output on another disk",
		syscall.EACCES: "out: no permission to write in this folder; choose another output",
		syscall.ENOENT: "out: the folder does not exist; create it first",
	} {
		for _, path := range []string{"out/.drive.bag.6a61d65a.part", "out/.drive.0c9d5cb9.part/drive_0.db3"} {
			if got := explain(fmt.Errorf("drive.bag: bag: output: %w", &fs.PathError{Op: "open", Path: path,
				Err: cause})); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
	staged := ".s.0123abcd.part/new/.s_000.bag.01234567.part/new/s_000.bag"
	if got := explain(fmt.Errorf("out/%s: bag: write %s: no", staged,
		staged)); got != "out/s_000.bag: bag: write s_000.bag: no" {
		t.Errorf("%q", got)
	}
	if got := explain(errors.Join(errors.New("a"), errors.New("b"))); got != "a; b" {
		t.Errorf("%q", got)
	}
}

func TestProgress(t *testing.T) {
	at := func(seconds float64, bytes int64) convert.Progress {
		return convert.Progress{Bytes: bytes, Total: 1_000_000_000, Messages: bytes / 1000,
			Elapsed: time.Duration(seconds * 1e9)}
	}
	steps := []convert.Progress{at(0.1, 0), at(1, 100_000_000), at(1.5, 150_000_000), at(5, 500_000_000),
		at(7, 700_000_000), at(10, 1_000_000_000)}
	for _, c := range []struct {
		mode     string
		terminal bool
		want     string
	}{
		{"none", true, ""},
		{"auto", false, " 50%  500.0 MB of 1.0 GB, 100 MB/s, 5s left, 500,000 messages\n100%  1.0 GB of 1.0 GB, 100 MB/s, " +
			"0s left, 1,000,000 messages\n"},
		{"json", false, `{"event":"progress","bytes":100000000,"total":1000000000,"messages":100000,"mb_per_s":100,"eta_s":9,"elapsed_s":1,"io":{"bytes_read":0,"bytes_written":0,"requests":0,"retries":0}}
{"event":"progress","bytes":500000000,"total":1000000000,"messages":500000,"mb_per_s":100,"eta_s":5,"elapsed_s":5,"io":{"bytes_read":0,"bytes_written":0,"requests":0,"retries":0}}
{"event":"progress","bytes":700000000,"total":1000000000,"messages":700000,"mb_per_s":100,"eta_s":3,"elapsed_s":7,"io":{"bytes_read":0,"bytes_written":0,"requests":0,"retries":0}}
{"event":"progress","bytes":1000000000,"total":1000000000,"messages":1000000,"mb_per_s":100,"eta_s":0,"elapsed_s":10,"io":{"bytes_read":0,"bytes_written":0,"requests":0,"retries":0}}
`},
	} {
		var b bytes.Buffer
		p := newProgress(c.mode, Stdio{Err: &b, Terminal: c.terminal}, nil)
		for _, s := range steps {
			p.update(s)
		}
		p.stop()
		if b.String() != c.want {
			t.Errorf("%s: %q", c.mode, b.String())
		}
	}
}

// TestQuietProgress: --quiet shows no progress, in every command.
func TestQuietProgress(t *testing.T) {
	for _, mode := range []string{"auto", "bar", "plain", "json"} {
		var b bytes.Buffer
		e := &env{Stdio: Stdio{Err: &b}, set: settings{progress: mode, quiet: true}, meter: &iox.Meter{}}
		p := e.newProgress()
		p.update(convert.Progress{Bytes: 250_000_000, Total: 1_000_000_000, Elapsed: time.Hour})
		p.stop()
		if b.Len() > 0 {
			t.Errorf("--progress %s --quiet: %q", mode, b.String())
		}
	}
}

// TestBar: auto is a bar on a terminal. It draws the last state that it got, has no
// colour, and a run that is over at once draws nothing.
func TestBar(t *testing.T) {
	var b bytes.Buffer
	p := newProgress("auto", Stdio{Err: &b, Terminal: true}, nil)
	p.update(convert.Progress{Elapsed: barDelay / 2, Total: 10})
	p.stop()
	if b.Len() > 0 {
		t.Errorf("a short run drew %q", b.String())
	}
	p = newProgress("auto", Stdio{Err: &b, Terminal: true}, nil)
	for i := range 5 {
		p.update(convert.Progress{Bytes: int64(i) * 250_000_000, Total: 1_000_000_000, Elapsed: time.Second})
	}
	p.stop()
	if out := b.String(); !strings.Contains(out, "[=") || !strings.Contains(out, "MB of 1.0 GB") ||
		strings.Contains(out, "\x1b") || !strings.HasSuffix(out, " \r") {
		t.Errorf("drew %q", out)
	}
}
