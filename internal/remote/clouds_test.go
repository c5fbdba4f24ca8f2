//go:build clouds

package remote

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/s3test"
)

// TestCloudParts puts an object of more parts together than Google takes at once, asks for it again
// by its mark, refuses to replace it, and reads no mixture after it was replaced.
func TestCloudParts(t *testing.T) {
	for _, name := range s3test.Clouds {
		t.Run(name, func(t *testing.T) {
			s := s3test.Start(t, name)
			t.Setenv("XDG_CACHE_HOME", t.TempDir())
			ctx := context.Background()
			r := New(ctx, &Settings{})
			to, n, err := r.sink(s.URL + "/a b%20/ü?.bin")
			if err != nil {
				t.Fatal(err)
			}
			data := noise(70_000)
			write := func(only bool) (mark string, err error) {
				id, err := to.begin(ctx, n.path)
				if err != nil {
					t.Fatal(err)
				}
				tags := make([]string, 70)
				for i := range tags {
					k := (i*31 + 7) % 70 // in any order
					piece := data[k*1000 : (k+1)*1000]
					if tags[k], err = to.part(ctx, n.path, id, k+1, piece); err != nil || tags[k] != to.tag(id, k+1, piece) {
						t.Fatal(err, tags[k])
					}
				}
				err = to.complete(ctx, n.path, id, tags, only)
				return to.mark(id, tags), errors.Join(err, to.abort(ctx, n.path, id))
			}
			mark, err := write(true)
			if err != nil {
				t.Fatal(err)
			}
			if o, _, err := to.head(ctx, n.path); err != nil || o.mark != mark || o.size != 70_000 {
				t.Errorf("%+v, %v; the mark is %q", o, err, mark)
			}
			f := open(t, r, s.URL+"/"+n.path)
			if got, err := io.ReadAll(f); err != nil || string(got) != string(data) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			var refused *statusError
			if _, err := write(true); !errors.As(err, &refused) || refused.code != 412 && refused.code != 409 {
				t.Errorf("it is there already: %v", err)
			}
			if err := to.put(ctx, n.path, data, true); !errors.As(err, &refused) || refused.code != 412 && refused.code != 409 {
				t.Errorf("it is there already: %v", err)
			}
			later := open(t, New(ctx, &Settings{}), s.URL+"/"+n.path)
			data = noise(70_001)[1:]
			if _, err := write(false); err != nil {
				t.Fatal(err)
			}
			if _, err := later.ReadAt(make([]byte, 10), 40_000); !errors.Is(err, errChanged) {
				t.Errorf("it was replaced: %v", err)
			}
			if _, err := r.Open(s.URL + "/none"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("there is none: %v", err)
			}
			if left := s.Uploads(t); len(left) > 0 {
				t.Errorf("%q is left", left)
			}
			if err := r.Remove(s.URL + "/" + n.path); err != nil {
				t.Error(err)
			}
			if err := r.Remove(s.URL + "/" + n.path); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Error(err)
			}
		})
	}
}
