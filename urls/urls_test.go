package urls_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/testing/s3test"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/urls"
)

const demo = "../testdata/demo.bag"

// count reads a recording, and returns its messages.
func count(t *testing.T, files storage.FS, path string) (n int) {
	t.Helper()
	r, err := all.Open(t.Context(), path, storage.ReadOptions{FS: files, Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	for ; err == nil; n++ {
		_, err = r.ReadNext()
	}
	if err = errors.Join(r.Close(), unless(err, io.EOF)); err != nil {
		t.Fatal(err)
	}
	return n - 1
}

func unless(err, end error) error {
	if errors.Is(err, end) {
		return nil
	}
	return err
}

// toStore converts the demo recording from a web server to a store, and reads it there.
func toStore(t *testing.T, bucket string) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	web := httptest.NewServer(http.FileServer(http.Dir("../testdata")))
	defer web.Close()
	files, end := urls.New(t.Context(), urls.Options{Listings: all.Registry().Listings()})
	defer end()
	source, formats := web.URL+"/demo.bag", all.Registry()
	if n := count(t, files, source); n != 636 {
		t.Errorf("%d messages at %s", n, source)
	}
	from, err := formats.DetectIn(files, source)
	if err != nil {
		t.Fatal(err)
	}
	for format, name := range map[string]string{"bag": "o/x.bag", "db3": "o/db", "mcap": "o/x.mcap"} {
		job := convert.Job{
			Source: source, SourceFormat: from, Read: storage.ReadOptions{FS: files}, Sink: bucket + "/" + name,
			SinkFormat: formats.Lookup(format), Write: storage.WriteOptions{FS: files},
			Verify: func(path string, _ []convert.Extra) error { // before it has its name
				if n := count(t, files, path); n != 636 {
					t.Errorf("%s: %d messages", path, n)
				}
				return nil
			},
		}
		if _, err := convert.Run(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		if n := count(t, files, job.Sink); n != 636 {
			t.Errorf("%s: %d messages", job.Sink, n)
		}
		if _, err := convert.Run(t.Context(), job); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s, once more: %v", job.Sink, err)
		}
		if _, err := os.Stat(filepath.FromSlash(strings.Replace(job.Sink, "//", "/", 1))); err == nil {
			t.Errorf("%s is a file of this machine", job.Sink)
		}
	}
	if n := count(t, nil, bucket+"/o/x.bag"); n != 636 { // all.Open has such a file system itself
		t.Errorf("%d messages", n)
	}
	if _, err := convert.File(t.Context(), formats, source, bucket+"/o/y.mcap", convert.Job{}); err != nil {
		t.Error(err)
	}
	if n := count(t, files, bucket+"/o/y.mcap"); n != 636 {
		t.Errorf("%d messages", n)
	}
	plain := storage.NewRegistry(formats.Formats()...)
	if _, err := plain.Open(t.Context(), bucket+"/o/x.bag", storage.ReadOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without such a file system: %v", err)
	}
}

// TestLocate: names of this machine need no file system, a file: URL is one of them, and names that are no paths are
// refused.
func TestLocate(t *testing.T) {
	p, err := urls.Locate(t.Context(), nil, []string{"a.bag", "file:///b.bag"})
	if err != nil || p.FS != nil || p.Names[0] != "a.bag" || p.Names[1] != filepath.FromSlash("/b.bag") {
		t.Errorf("%+v %v", p, err)
	}
	p, err = urls.Locate(t.Context(), nil, []string{"a.bag", "https://example.org/b.bag?key=secret"})
	if err != nil || p.FS == nil || p.Names[0] != "a.bag" || strings.Contains(p.Names[1], "secret") {
		t.Fatalf("%+v %v", p, err)
	}
	p.End()
	if _, err = urls.Locate(t.Context(), nil, []string{"https://example.org/a//b.bag"}); err == nil {
		t.Error("a name with an empty part is taken")
	}
}

// TestFake, TestServer: a program reads https and writes and reads s3, with nothing but the file system.
func TestFake(t *testing.T) {
	s := s3test.NewFake(t)
	toStore(t, "s3://"+s3test.Bucket)
	if left := s.Uploads(); len(left) > 0 {
		t.Errorf("uploads are left: %q", left)
	}
}

func TestServer(t *testing.T) { toStore(t, s3test.Start(t, "versitygw").URL) }

// TestOptions: each file system has its own limits.
func TestOptions(t *testing.T) {
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		http.Error(w, "later", http.StatusServiceUnavailable)
	}))
	defer server.Close()
	all := map[int]storage.FS{}
	for _, retries := range []int{-1, 1, 2} {
		files, end := urls.New(context.Background(), urls.Options{Retries: retries})
		defer end()
		all[retries] = files
	}
	for retries, files := range all {
		asked.Store(0)
		if _, err := files.Stat(server.URL + "/x"); err == nil {
			t.Error("no error")
		}
		if want := int64(max(retries, 0) + 1); asked.Load() != want {
			t.Errorf("retries %d: %d requests, want %d", retries, asked.Load(), want)
		}
	}
}

// TestLocal: other names are files of this machine, and a URL with a secret has a name without it.
func TestLocal(t *testing.T) {
	files, end := urls.New(t.Context(), urls.Options{})
	defer end()
	if n := count(t, files, demo); n != 636 {
		t.Errorf("%d messages", n)
	}
	name, err := urls.Name("https://user:SECRET@host/x.bag?key=SECRET")
	if err != nil || strings.Contains(name, "SECRET") || !strings.HasSuffix(name, "/x.bag") {
		t.Errorf("%s, %v", name, err)
	}
}
