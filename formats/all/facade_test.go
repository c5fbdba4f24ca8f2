package all_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/check"
	"github.com/bagconv/bagconv/convert/verify"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/formats/mcap"
	"github.com/bagconv/bagconv/storage"
)

// TestOutput: an output has the format of its name.
func TestOutput(t *testing.T) {
	folder := string(filepath.Separator)
	for name, want := range map[string]string{
		"x.bag": "bag", "x.MCAP": "mcap", "a/x.record": "record", "x.db3": "db3", "x": "db3", "x" + folder: "db3",
		"x.y" + folder: "db3", "s3://bucket/x.mcap": "mcap",
	} {
		if f, err := all.Registry().Output(name); err != nil || f.Name != want {
			t.Errorf("%s: %v %v", name, f, err)
		}
	}
	for _, name := range []string{"x.txt", "x.bag.zip"} {
		if f, err := all.Registry().Output(name); !errors.Is(err, storage.ErrUnknownFormat) {
			t.Errorf("%s: %v %v", name, f, err)
		}
	}
	only := storage.NewRegistry(mcap.Format)
	if f, err := only.Output("x" + folder); !errors.Is(err, storage.ErrUnknownFormat) {
		t.Errorf("a folder without a format of folders: %v %v", f, err)
	}
}

// TestMessagesEnd: a loop that is left goes on with the next one, and one whose context ends says why. What Open adds
// to a reader hides none of its capabilities.
func TestMessagesEnd(t *testing.T) {
	r, err := all.Open(t.Context(), "../../testdata/tiny.bag", storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if storage.ReaderCapabilities(r) != storage.ReaderCapabilities(r.Reader) ||
		storage.ReaderCapabilities(r).Blocks == nil {
		t.Error("a recording has other capabilities than its reader")
	}
	for range r.Messages(t.Context()) {
		break
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	enough := errors.New("enough")
	n := 1
	for m, err := range r.Messages(ctx) {
		if n++; n == 5 {
			cancel(enough)
		}
		if (err != nil) != (n == 6) || (m == nil) != (n == 6) || n == 6 && !errors.Is(err, enough) {
			t.Errorf("message %d: %v %v", n, m, err)
		}
	}
	for _, err := range r.Messages(t.Context()) {
		if n++; err != nil {
			t.Error(err)
		}
	}
	if n != 21 { // the one at which the context had ended was read, and is lost to the loop
		t.Errorf("%d messages", n)
	}
}

// TestFiles: conversions, comparisons and checks by name, of URLs too, and their errors.
func TestFiles(t *testing.T) {
	server := httptest.NewServer(http.FileServer(http.Dir("../../testdata")))
	defer server.Close()
	ctx, formats, dir := t.Context(), all.Registry(), t.TempDir()
	out := filepath.Join(dir, "x.mcap")
	if _, err := convert.File(ctx, formats, server.URL+"/tiny.bag?key=1", out, convert.Job{}); err != nil {
		t.Fatal(err)
	}
	if res, err := verify.Files(ctx, formats, server.URL+"/tiny.bag", out, verify.Job{}); err != nil || !res.Equal {
		t.Errorf("%+v %v", res, err)
	}
	if res, err := check.File(ctx, formats, server.URL+"/tiny.bag", check.Options{}); err != nil || res.Messages != 21 {
		t.Errorf("%+v %v", res, err)
	}
	text := filepath.Join(dir, "text.bag")
	if err := os.WriteFile(text, []byte("text"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{text: storage.ErrUnknownFormat,
		filepath.Join(dir, "none.bag"): os.ErrNotExist, server.URL + "/none.bag": os.ErrNotExist} {
		_, converted := convert.File(ctx, formats, name, filepath.Join(dir, "y.mcap"), convert.Job{})
		_, compared := verify.Files(ctx, formats, out, name, verify.Job{})
		_, checked := check.File(ctx, formats, name, check.Options{})
		for _, err := range []error{converted, compared, checked} {
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", name, err, want)
			}
		}
	}
	if _, err := convert.File(ctx, formats, "../../testdata/tiny.bag", out, convert.Job{}); !errors.Is(err, os.ErrExist) {
		t.Errorf("onto another: %v", err)
	}
	if _, err := storage.NewRegistry(mcap.Format).Open(ctx, server.URL+"/tiny.bag", storage.ReadOptions{}); !errors.Is(err,
		os.ErrNotExist) {
		t.Errorf("a registry without URLs: %v", err)
	}
}
