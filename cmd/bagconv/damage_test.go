package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	bagconvert "github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
)

// TestDamage cuts small recordings at every byte and flips every byte, and
// converts what is left: a clear error or an output, no panic, no hang, little
// memory. By default it takes a sample of the places; BAGCONV_EXHAUSTIVE=1 takes all.
func TestDamage(t *testing.T) {
	step := 97
	if os.Getenv("BAGCONV_EXHAUSTIVE") != "" {
		step = 1
	}
	demo, err := os.ReadFile("../../testdata/tiny.bag")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	bag := filepath.Join(dir, "tiny.bag")
	if err := os.WriteFile(bag, demo, 0o666); err != nil {
		t.Fatal(err)
	}
	db3 := filepath.Join(dir, "tiny.db3")
	convert(t, bag, db3)
	lz4 := filepath.Join(dir, "lz4.bag")
	convert(t, bag, lz4, "--compression", "lz4")

	for name, path := range map[string]string{"bag": bag, "lz4": lz4, "db3": db3} {
		t.Run(name, func(t *testing.T) {
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			w := t.TempDir()
			victim, out := filepath.Join(w, "victim"), filepath.Join(w, "out.bag")
			most := 0
			for at := 0; at < len(whole); at += step {
				n := damaged(t, victim, out, whole[:at], fmt.Sprintf("cut at %d", at))
				most = max(most, n)
				b := append([]byte(nil), whole...)
				b[at] ^= 0xff
				damaged(t, victim, out, b, fmt.Sprintf("flip at %d", at))
			}
			if most == 0 {
				t.Error("no cut file gave a message")
			}
		})
	}
}

// damageBytes is how much a conversion of a file of TestDamage may allocate in all. The files have
// some kilobytes, so that what a length from the file asked for would stand out.
const damageBytes = 64 << 20

// damaged converts one damaged file and returns how many messages it gave.
func damaged(t *testing.T, victim, out string, content []byte, what string) int {
	t.Helper()
	if err := os.WriteFile(victim, content, 0o666); err != nil {
		t.Fatal(err)
	}
	reg := all.Registry()
	f, err := reg.Detect(victim)
	if err != nil {
		if !errors.Is(err, storage.ErrUnknownFormat) {
			t.Errorf("%s: %v", what, err)
		}
		return 0
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	defer func() {
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > damageBytes {
			t.Errorf("%s: %d bytes were allocated", what, n)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	r, err := bagconvert.Run(ctx, bagconvert.Job{
		Source: victim, SourceFormat: f, Sink: out, SinkFormat: reg.Lookup("bag"), Threads: 2,
		Write: storage.WriteOptions{Overwrite: true, NoSync: true},
	})
	if ctx.Err() != nil {
		t.Fatalf("%s: hangs", what)
	}
	if err != nil {
		if !errors.Is(err, storage.ErrCorrupt) && !errors.Is(err, storage.ErrTruncated) &&
			!errors.Is(err, storage.ErrUnsupported) {
			t.Errorf("%s: an error of no kind: %v", what, err)
		}
		if _, err := os.Stat(out); err == nil {
			_ = os.Remove(out)
		}
		return 0
	}
	return int(r.Sink.Messages)
}
