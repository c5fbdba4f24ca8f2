package batch

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func entry(input, status string) *Entry {
	return &Entry{SchemaVersion: SchemaVersion, Input: input, Output: input + ".out", Status: status,
		OutputFiles: []string{}, Options: []string{}, LossCodes: []string{}, ByDesign: []string{}, DamageCodes: []string{},
		ModTime: time.Unix(1700000000, 123456789).UTC()}
}

// written makes a manifest with entries.
func written(t *testing.T, path string, entries ...*Entry) []byte {
	t.Helper()
	m, err := Open(nil, path, true, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Begin(); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := m.Append(e, func() {}); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestTorn: a manifest cut anywhere is mended, and loses the torn line alone.
func TestTorn(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.jsonl")
	entries := []*Entry{entry("/a", StatusOK), entry("/b", StatusFailed), entry("/c \"\n", StatusLossy)}
	text := written(t, path, entries...)
	if n := bytes.Count(text, []byte{'\n'}); n != 3 {
		t.Fatalf("%d lines: %s", n, text)
	}
	for cut := 0; cut < len(text); cut++ {
		if cut%8 != 0 && text[cut] != '\n' && (cut == 0 || text[cut-1] != '\n') {
			continue // each takes a few waits for the disk
		}
		if err := os.WriteFile(path, text[:cut], 0o666); err != nil {
			t.Fatal(err)
		}
		whole := bytes.Count(text[:cut], []byte{'\n'})
		m, err := Open(nil, path, true, false)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		if got := m.Entries(); len(got) != whole {
			t.Fatalf("cut at %d: %d entries, want %d", cut, len(got), whole)
		}
		for i := range whole {
			if got := m.Entries()[i]; !reflect.DeepEqual(got, *entries[i]) {
				t.Errorf("cut at %d: %+v", cut, got)
			}
		}
		if err := m.Begin(); err != nil {
			t.Fatal(err)
		}
		for _, e := range entries[whole:] {
			if err := m.Append(e, func() {}); err != nil {
				t.Fatal(err)
			}
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); !bytes.Equal(got, text) {
			t.Fatalf("cut at %d: mended to %s", cut, got)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// TestAgain: of several lines about one input the last counts. The line of an input that is done again stays until
// there is the new one, also after a kill. In the end each input has one line.
func TestAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.jsonl")
	written(t, path, entry("/a", StatusFailed), entry("/b", StatusOK), entry("/a", StatusOK), entry("/c", StatusFailed))
	m, err := Open(nil, path, true, false)
	if err != nil {
		t.Fatal(err)
	}
	if e := m.Entries(); len(e) != 3 || e[0].Input != "/a" || e[0].Status != StatusOK {
		t.Errorf("%+v", e)
	}
	if err := errors.Join(m.Begin(), m.Append(entry("/c", StatusLossy), func() {})); err != nil {
		t.Fatal(err)
	}
	// As a kill leaves it: no Close.
	if err := m.lock.Close(); err != nil {
		t.Fatal(err)
	}
	next, err := Open(nil, path, true, false)
	if err != nil {
		t.Fatal(err)
	}
	if e := next.Entries(); len(e) != 3 || e[2].Input != "/c" || e[2].Status != StatusLossy {
		t.Errorf("%+v", e)
	}
	if _, err := Open(nil, path, true, false); !removeLast && !errors.Is(err, ErrRunning) {
		t.Errorf("a second one at the same time: %v", err)
	}
	if look, err := Read(nil, path, true, false); err != nil || len(look.Entries()) != 3 {
		t.Errorf("looking at it: %v", err)
	}
	if err := errors.Join(next.Begin(), next.Append(entry("/a", StatusFailed), func() {}),
		next.Append(entry("/d", StatusOK), func() {}), next.Close()); err != nil {
		t.Fatal(err)
	}
	var want []byte
	for _, e := range []*Entry{entry("/b", StatusOK), entry("/c", StatusLossy), entry("/a", StatusFailed),
		entry("/d", StatusOK)} {
		want = appendLine(want, e)
	}
	if got, _ := os.ReadFile(path); !bytes.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if _, err := os.Stat(path + ".running"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock stays: %v", err)
	}
	if _, err := Open(nil, path, false, false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("without resume: %v", err)
	}
	anew, err := Open(nil, path, false, true)
	if err != nil || len(anew.Entries()) != 0 {
		t.Fatalf("anew: %v", err)
	}
	if err := errors.Join(anew.Begin(), anew.Close()); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(path); err != nil || st.Size() != 0 {
		t.Errorf("%v, %v", st, err)
	}
}

// TestFullDisk: lines for which there is no room are written when there is.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no disk that is always full")
	}
	path := filepath.Join(t.TempDir(), "m.jsonl")
	m, err := Open(nil, path, false, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Begin(); err != nil {
		t.Fatal(err)
	}
	var safe atomic.Int64
	add := func(input string) {
		t.Helper()
		if err := m.Append(entry(input, StatusOK), func() { safe.Add(1) }); err != nil {
			t.Error(err)
		}
	}
	file := m.file
	m.file = full
	if add("/a"); safe.Load() != 0 {
		t.Error("a line that is not written is safe")
	}
	m.file = file
	if add("/b"); safe.Load() != 2 {
		t.Errorf("%d of 2 lines are safe", safe.Load())
	}
	m.file = full
	add("/c")
	if err := m.Close(); !errors.Is(err, syscall.ENOSPC) || safe.Load() != 2 {
		t.Errorf("a line is lost: %v, %d are safe", err, safe.Load())
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	next, err := Open(nil, path, true, false)
	if err != nil {
		t.Fatal(err)
	}
	if len(next.Entries()) != 2 {
		t.Errorf("%v", next.Entries())
	}
	if err := errors.Join(next.Begin(), next.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestForeign: a file that is not a manifest is refused and stays as it is.
func TestForeign(t *testing.T) {
	for _, text := range []string{"hello\n", "hello", "{}\n", "{\"schema_version\":1}",
		"{\"schema_version\":2,\"input\":\"/a\",\"status\":\"ok\"}\n", "{\"schema_version\":1,\"input\":\"/a\"}\n", "\n",
		"[1]\n", "{\"schema_version\":1,\"input\":\"/a\",\"status\":\"ok\"}\nx\n",
		"{\"schema_version\":1,\"input\":\"/a\",\"status\":\"ok\"}\n\n{"} {
		path := filepath.Join(t.TempDir(), "m.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, replace := range []bool{false, true} {
			if _, err := Open(nil, path, !replace, replace); !errors.Is(err, ErrNoManifest) {
				t.Errorf("%q: %v", text, err)
			}
		}
		if got, _ := os.ReadFile(path); string(got) != text {
			t.Errorf("%q became %q", text, got)
		}
		if _, err := os.Stat(path + ".running"); err == nil {
			t.Errorf("%q: the lock stays", text)
		}
	}
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte("{\"schema_version\":1,\"input\":\"/a\",\"status\":\"ok\"}\n{\"schema_version\":1,\"input\":\"/b\",\"sta"))
	f.Add([]byte("{\"schema_version\":1,\"input\":\"/a\",\"status\":\"ok\",\"mtime\":\"2023-11-14T22:13:20.5Z\"}\n{\"schema_version\":1,\"input\":\"/a\",\"status\":\"failed\"}\n"))
	f.Add([]byte("null\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var m Manifest
		if m.parse(text) != nil {
			return
		}
		var again []byte
		for i := range m.entries {
			again = appendLine(again, &m.entries[i])
		}
		var second Manifest
		if err := second.parse(again); err != nil || second.torn || !reflect.DeepEqual(second.entries, m.entries) {
			t.Errorf("%q, written again %q: %v", text, again, err)
		}
	})
}

func TestHash(t *testing.T) {
	dir := tree(t, "a=hello\n", "b=")
	in := &Input{Files: []string{filepath.Join(dir, "a")}}
	const hello = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03" // sha256sum a
	if h, err := in.Hash(t.Context()); h != hello || err != nil {
		t.Errorf("%s, %v", h, err)
	}
	in.Files = append(in.Files, filepath.Join(dir, "b"))
	// sha256sum a b | sha256sum
	if h, err := in.Hash(t.Context()); h != "a63274ae4ed2aefabdeb54e957f7578ef7251e73327728ca66f13480bfd9e237" ||
		err != nil {
		t.Errorf("%s, %v", h, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := in.Hash(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestForeignLock: a file in the place of the lock that is none stays as it is.
func TestForeignLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.jsonl")
	for _, text := range []string{"hello\n", "\"/a\"\n", "{}"} {
		if err := os.WriteFile(path+".running", []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(nil, path, false, false); !errors.Is(err, ErrNoManifest) {
			t.Errorf("%q: %v", text, err)
		}
		if got, _ := os.ReadFile(path + ".running"); string(got) != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
