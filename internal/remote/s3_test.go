package remote

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/testing/s3test"
)

// fakeS3 starts a server, and returns a file system that makes its further attempts at once.
func fakeS3(t *testing.T, s *Settings) (*s3test.Fake, *FS) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	return s3test.NewFake(t), newS3(s)
}

func newS3(s *Settings) *FS {
	r := New(context.Background(), s)
	r.link.pause = time.Millisecond
	return r
}

const inBucket = "s3://" + s3test.Bucket + "/"

// mustName checks that an error names the object, has these words, and no secret.
func mustName(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want %q", words)
		return
	}
	for _, w := range append(words, inBucket) {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%v: it lacks %q", err, w)
		}
	}
	for _, secret := range []string{"bagconv-test-secret", "sesame", "Signature"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%v: it has a secret", err)
		}
	}
}

// TestS3Refusals: what a server refuses, and why, is in the error of a read.
func TestS3Refusals(t *testing.T) {
	refuse := func(status int, code string) func(w http.ResponseWriter, r *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			s3test.Refuse(w, status, code, "A sentence of the server.")
			return true
		}
	}
	for _, c := range []struct {
		name      string
		key       string // that the server knows
		env       string // of the key
		fault     func(w http.ResponseWriter, r *http.Request) bool
		words     []string
		is        error
		transient bool
	}{
		{name: "no credentials", key: "right", env: "none", words: []string{"403", "no credentials were found",
			"docs/remote.md"}, is: fs.ErrPermission},
		{name: "wrong key", key: "right", words: []string{"403", "InvalidAccessKeyId"}, is: fs.ErrPermission},
		{name: "expired token", key: "bagconv-test", words: []string{"400", "ExpiredToken", "new ones"}},
		{name: "403", fault: refuse(403, "AccessDenied"), words: []string{"403", "AccessDenied", "A sentence"},
			is: fs.ErrPermission},
		{name: "404", words: []string{"404", "NoSuchKey"}, is: fs.ErrNotExist},
		{name: "500", fault: refuse(500, "InternalError"), words: []string{"500", "after 7 attempts"}, transient: true},
		{name: "503", fault: refuse(503, "SlowDown"), words: []string{"503", "fewer requests", "after 7 attempts"},
			transient: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, r := fakeS3(t, &Settings{})
			f.Key, f.Token, f.Fault = c.key, "sesame", c.fault
			if c.env == "none" {
				t.Setenv("AWS_ACCESS_KEY_ID", "")
				t.Setenv("AWS_SECRET_ACCESS_KEY", "")
				t.Setenv("HOME", t.TempDir())
			}
			_, err := r.Open(inBucket + "x.bag")
			mustName(t, err, c.words...)
			if c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%v is no %v", err, c.is)
			}
			if Transient(err) != c.transient {
				t.Errorf("%v: transient is %v", err, !c.transient)
			}
		})
	}
}

// TestS3Reads reads through what servers and networks do in the middle of an object.
func TestS3Reads(t *testing.T) {
	data := noise(300_000)
	var once sync.Once
	for _, c := range []struct {
		name  string
		fault func(w http.ResponseWriter, r *http.Request) bool
		fails error
	}{
		{name: "slow down", fault: func(w http.ResponseWriter, r *http.Request) (answered bool) {
			once.Do(func() { s3test.Refuse(w, 503, "SlowDown", "Please reduce your request rate."); answered = true })
			return answered
		}},
		{name: "stops in the middle", fault: func(w http.ResponseWriter, r *http.Request) (answered bool) {
			once.Do(func() {
				w.Header().Set("Content-Length", "100000")
				w.Header().Set("ETag", fmt.Sprintf(`"%s"`, hexSum(data)))
				w.Header().Set("Content-Range", "bytes 100000-199999/300000")
				w.WriteHeader(http.StatusPartialContent)
				_, _ = w.Write(data[100_000:150_000])
				w.(http.Flusher).Flush()
				<-r.Context().Done()
				answered = true
			})
			return answered
		}},
		{name: "412", fails: errChanged, fault: func(w http.ResponseWriter, r *http.Request) bool {
			s3test.Refuse(w, 412, "PreconditionFailed", "")
			return true
		}},
		{name: "416", fails: errChanged, fault: func(w http.ResponseWriter, r *http.Request) bool {
			s3test.Refuse(w, 416, "InvalidRange", "")
			return true
		}},
		{name: "gone", fails: errChanged, fault: func(w http.ResponseWriter, r *http.Request) bool {
			s3test.Refuse(w, 404, "NoSuchKey", "")
			return true
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			once = sync.Once{}
			meter := &iox.Meter{}
			s, r := fakeS3(t, &Settings{Timeout: 300 * time.Millisecond, Meter: meter})
			s.Put("x.bag", data)
			f := open(t, r, inBucket+"x.bag")
			s.Fault = func(w http.ResponseWriter, r *http.Request) bool { return r.Method == "GET" && c.fault(w, r) }
			got := make([]byte, 100_000)
			_, err := f.ReadAt(got, 100_000)
			if c.fails != nil {
				mustName(t, err)
				if !errors.Is(err, c.fails) {
					t.Errorf("%v, not %v", err, c.fails)
				}
			} else if err != nil || string(got) != string(data[100_000:200_000]) || meter.Counts().Retries == 0 {
				t.Errorf("%v, %d further attempts", err, meter.Counts().Retries)
			}
		})
	}
}

// TestS3Replaced: an object that is replaced between two reads is an error.
func TestS3Replaced(t *testing.T) {
	s, r := fakeS3(t, &Settings{})
	s.Put("x.bag", noise(100_000))
	f := open(t, r, inBucket+"x.bag")
	if _, err := f.ReadAt(make([]byte, 10), 0); err != nil {
		t.Fatal(err)
	}
	s.Put("x.bag", noise(100_001)[1:])
	if _, err := f.ReadAt(make([]byte, 10), 90_000); !errors.Is(err, errChanged) {
		t.Errorf("%v", err)
	}
}

// TestS3Redirect: credentials do not go to the host that a redirect names.
func TestS3Redirect(t *testing.T) {
	var asked atomic.Int64
	other := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.Header.Get("Authorization") != "" || r.Header.Get("X-Amz-Security-Token") != "" {
			t.Error("the other host has the credentials")
		}
	}))
	s, r := fakeS3(t, &Settings{})
	for _, status := range []int{301, 302, 307, 308} {
		s.Fault = func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Location", other+r.URL.Path)
			s3test.Refuse(w, status, "TemporaryRedirect", "Please re-send this request.")
			return true
		}
		_, err := r.Open(inBucket + "x.bag")
		mustName(t, err, fmt.Sprint(status), "AWS_REGION")
	}
	if asked.Load() > 0 {
		t.Logf("the other host was asked %d times", asked.Load())
	}
}

// TestS3WriteRefusals: whatever step of an upload is refused, the error has the reason, nothing is
// under the name, and no upload is left.
func TestS3WriteRefusals(t *testing.T) {
	data := noise(partSize + 100_000)
	steps := map[string]func(r *http.Request) bool{
		"begin":    func(r *http.Request) bool { return r.Method == "POST" && r.URL.Query().Has("uploads") },
		"part":     func(r *http.Request) bool { return r.Method == "PUT" && r.URL.Query().Has("partNumber") },
		"complete": func(r *http.Request) bool { return r.Method == "POST" && r.URL.Query().Has("uploadId") },
		"put":      func(r *http.Request) bool { return r.Method == "PUT" && !r.URL.Query().Has("partNumber") },
	}
	for _, c := range []struct {
		status    int
		code      string
		words     []string
		transient bool
	}{
		{403, "AccessDenied", []string{"403", "AccessDenied"}, false},
		{403, "QuotaExceeded", []string{"403", "QuotaExceeded", "full"}, false},
		{507, "XMinioStorageFull", []string{"507", "full"}, false},
		{400, "ExpiredToken", []string{"400", "ExpiredToken", "new ones"}, false},
		{500, "InternalError", []string{"500", "attempts"}, true},
		{503, "SlowDown", []string{"503", "attempts"}, true},
	} {
		for step, is := range steps {
			t.Run(fmt.Sprint(c.code, " ", step), func(t *testing.T) {
				s, r := fakeS3(t, &Settings{Retries: 1})
				s.Fault = func(w http.ResponseWriter, q *http.Request) bool {
					if is(q) {
						s3test.Refuse(w, c.status, c.code, "A sentence of the server.")
					}
					return is(q)
				}
				sent := data
				if step == "put" {
					sent = data[:1000]
				}
				f, err := r.OpenFile(inBucket+"x.bag", os.O_CREATE|os.O_WRONLY, 0o666)
				if err != nil {
					t.Fatal(err)
				}
				_, err = f.Write(sent)
				err = errors.Join(err, f.Close())
				mustName(t, err, c.words...)
				if Transient(err) != c.transient {
					t.Errorf("%v: transient is %v", err, !c.transient)
				}
				r.Close()
				if s.Get("x.bag") != nil || len(s.Uploads()) > 0 {
					t.Errorf("%d bytes are there, uploads of %q are left", len(s.Get("x.bag")), s.Uploads())
				}
			})
		}
	}
}

// TestS3Rivals: of two runs whose last requests arrive at the same time one succeeds.
func TestS3Rivals(t *testing.T) {
	for _, size := range []int{1000, partSize + 1000} {
		s, _ := fakeS3(t, &Settings{})
		var both sync.WaitGroup
		both.Add(2)
		s.Fault = func(_ http.ResponseWriter, r *http.Request) bool {
			if last := r.Method == "POST" && r.URL.Query().Has("uploadId") || r.Method == "PUT" &&
				!r.URL.Query().Has("partNumber"); last {
				both.Done()
				both.Wait()
			}
			return false
		}
		errs := make([]error, 2)
		var wait sync.WaitGroup
		for i := range errs {
			wait.Go(func() {
				r := newS3(&Settings{})
				defer r.Close()
				f, err := r.OpenFile(inBucket+"x.bag", os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o666)
				if err == nil {
					_, err = f.Write(slices.Repeat([]byte{byte(i)}, size))
					err = errors.Join(err, f.Close())
				}
				errs[i] = err
			})
		}
		wait.Wait()
		if errs[0] != nil {
			errs[0], errs[1] = errs[1], errs[0]
		}
		if errs[0] != nil || !errors.Is(errs[1], fs.ErrExist) {
			t.Errorf("%d bytes: %v", size, errs)
		}
		if got := s.Get("x.bag"); len(got) != size || len(s.Uploads()) > 0 {
			t.Errorf("%d bytes, uploads of %q", len(got), s.Uploads())
		}
	}
}

// TestS3Looks: that a name was free a moment ago does not let a run replace what is there now.
func TestS3Looks(t *testing.T) {
	s, r := fakeS3(t, &Settings{})
	if _, err := r.Stat(inBucket + "x.bag"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	s.Put("x.bag", []byte("of another run"))
	f, err := r.OpenFile(inBucket+"x.bag", os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o666)
	if err == nil {
		_, err = f.Write([]byte("mine"))
		err = errors.Join(err, f.Close())
	}
	if !errors.Is(err, fs.ErrExist) || string(s.Get("x.bag")) != "of another run" {
		t.Errorf("%v; %s", err, s.Get("x.bag"))
	}
	f, err = r.OpenFile(inBucket+"y.bag", os.O_CREATE|os.O_WRONLY, 0o666)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Stat(inBucket + "y.bag"); err != nil {
		t.Error(err)
	}
}

// TestS3Stale: an upload of another machine is given up when its lease has ended.
func TestS3Stale(t *testing.T) {
	s, r := fakeS3(t, &Settings{})
	s.Begin("x.bag") // a moment ago
	s.Age = lease + time.Hour
	s.Begin("x.bag")
	s.Begin("other.bag")
	found, err := r.CleanUp(inBucket + "x.bag")
	if err != nil || len(found) != 1 || found[0].Err != nil || len(s.Uploads()) != 2 {
		t.Errorf("%v, %v; %q are left", found, err, s.Uploads())
	}
}

// TestS3Begun: an upload whose id a killed run has not learnt is given up. Those of the same name that
// began at another time, or of which something was sent, are not its own.
func TestS3Begun(t *testing.T) {
	s, r := fakeS3(t, &Settings{})
	to, _, err := r.sink(inBucket + "x.bag")
	if err != nil {
		t.Fatal(err)
	}
	var dead ledger
	dead.begin(to, "x.bag")
	dead.close() // unlocks it, as the end of a process does
	own := s.Begin("x.bag")
	sent := s.Begin("x.bag")
	if _, err := to.(*bucket).part(context.Background(), "x.bag", sent, 1, []byte("x")); err != nil {
		t.Fatal(err)
	}
	s.Age = 10 * time.Minute
	s.Begin("x.bag")
	for i, want := range []int{1, 0, 1, 0} {
		if i == 2 { // the store begins it only now
			s.Age = 0
			s.Begin("x.bag")
		}
		found, err := r.CleanUp(inBucket + "y.bag")
		if err != nil || len(found) != want || want > 0 && found[0].Err != nil || len(s.Uploads()) != 2 {
			t.Errorf("clean-up %d: %v, %v; %q are left", i, found, err, s.Uploads())
		}
	}
	if _, err := to.(*bucket).part(context.Background(), "x.bag", own, 1, []byte("x")); err == nil {
		t.Error("the upload is still there")
	}
}

// TestS3Appearing: an object of a staging folder is written down before the store is asked for it, and one that
// appears only after the first clean-up, because its request was still on its way, is removed by the next.
func TestS3Appearing(t *testing.T) {
	s, r := fakeS3(t, &Settings{})
	to, _, err := r.sink(inBucket + "x.bag")
	if err != nil {
		t.Fatal(err)
	}
	key := ".x.0123abcd.part/x.bag"
	d := r.newDraft(to, inBucket+key, key)
	if _, err := d.writeAt([]byte("x"), 0); err != nil {
		t.Fatal(err)
	}
	if err := d.close(); err != nil {
		t.Fatal(err)
	}
	if err := d.owe(); err != nil {
		t.Fatal(err)
	}
	r.ledger.close() // unlocks it, as the end of a process does
	for i, want := range []int{0, 1, 0} {
		if i == 1 {
			if err := to.put(context.Background(), key, []byte("x"), false); err != nil {
				t.Fatal(err)
			}
		}
		found, err := r.CleanUp(inBucket + "y.bag")
		if err != nil || len(found) != want || want > 0 && found[0].Err != nil || s.Get(key) != nil {
			t.Errorf("clean-up %d: %v, %v; %d bytes are left", i, found, err, len(s.Get(key)))
		}
	}
}

// TestS3Keys writes, lists and reads objects with all kinds of characters in their keys.
func TestS3Keys(t *testing.T) {
	s, r := fakeS3(t, &Settings{})
	names := []string{" a", "100%", "a%2Fb", "a+b&c=d", "q?x#y", "日本 ü", "x~(1)!*'.bag", "..."}
	for i, name := range names {
		f, err := r.OpenFile(inBucket+"d/"+name, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o666)
		if err == nil {
			_, err = f.Write(noise(i + 1))
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Get("d/" + name); string(got) != string(noise(i+1)) {
			t.Errorf("%q: the server has %d bytes", name, len(got))
		}
		if got, err := io.ReadAll(open(t, r, inBucket+"d/"+name)); err != nil || string(got) != string(noise(i+1)) {
			t.Errorf("%q: %d bytes, %v", name, len(got), err)
		}
	}
	var got []string
	list, err := r.ReadDir(inBucket + "d")
	for _, e := range list {
		got = append(got, e.Name())
	}
	slices.Sort(names)
	if slices.Sort(got); err != nil || !slices.Equal(got, names) {
		t.Errorf("%q, %v, not %q", got, err, names)
	}
}

// TestS3NoPath: objects whose keys no path can name are left out with a note, and do not send a walk
// in circles or to other places.
func TestS3NoPath(t *testing.T) {
	var notes []string
	s := s3test.NewFake(t)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	r := New(context.Background(), &Settings{Note: func(text string) { notes = append(notes, text) }})
	defer r.Close()
	for _, key := range []string{"d/x.bag", "d//empty.bag", "d/../up.bag", "d/./here.bag", "d/e/..", "d/e/y.bag"} {
		s.Put(key, []byte(key))
	}
	var got []string
	err := iox.WalkDir(r, inBucket+"d", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			got = append(got, Show(path))
		}
		return err
	})
	if want := []string{inBucket + "d/e/y.bag", inBucket + "d/x.bag"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, not %q", got, err, want)
	}
	if text := strings.Join(notes, "\n"); !strings.Contains(text, "d//") || !strings.Contains(text, "d/../") ||
		!strings.Contains(text, "d/e/..") {
		t.Errorf("the notes are %q", notes)
	}
	for _, name := range []string{"d//empty.bag", "d/../up.bag", "d/./here.bag"} {
		if _, err := Name(inBucket + name); err == nil {
			t.Errorf("%s is a name", name)
		}
	}
}

// TestS3Many lists 100,000 keys: in as many requests as the server wants, and in proportion to them.
func TestS3Many(t *testing.T) {
	meter := &iox.Meter{}
	s, r := fakeS3(t, &Settings{Meter: meter})
	keys := 100_000
	if testing.Short() {
		keys = 10_000
	}
	for i := range keys {
		s.Put(fmt.Sprintf("in/%06d.bag", i), nil)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	list, err := r.ReadDir(inBucket + "in")
	runtime.GC()
	runtime.ReadMemStats(&after)
	if err != nil || len(list) != keys {
		t.Fatalf("%d entries, %v", len(list), err)
	}
	if got, most := meter.Counts().Requests, int64(keys/1000+2); got > most {
		t.Errorf("%d requests, more than %d", got, most)
	}
	if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > int64(keys)*600 {
		t.Errorf("%d bytes are kept, %d for each key", kept, kept/int64(keys))
	}
	runtime.KeepAlive(list)
}

// TestS3TLS: AWS_CA_BUNDLE names who may sign certificates; without it an own one is refused at once.
func TestS3TLS(t *testing.T) {
	s, _ := fakeS3(t, &Settings{})
	s.Put("x.bag", noise(1000))
	server := httptest.NewTLSServer(s)
	t.Cleanup(server.Close)
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	r := newS3(&Settings{})
	_, err := r.Open(inBucket + "x.bag")
	mustName(t, err, "certificate", "AWS_CA_BUNDLE", "SSL_CERT_FILE")
	if Transient(err) {
		t.Errorf("%v: it is tried again", err)
	}
	bundle := filepath.Join(t.TempDir(), "ca.pem")
	t.Setenv("AWS_CA_BUNDLE", bundle)
	_, err = newS3(&Settings{}).Open(inBucket + "x.bag")
	mustName(t, err, "AWS_CA_BUNDLE")
	if err := os.WriteFile(bundle, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = newS3(&Settings{}).Open(inBucket + "x.bag")
	mustName(t, err, "AWS_CA_BUNDLE")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(bundle, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := newS3(&Settings{}).Open(inBucket + "x.bag"); err != nil {
		t.Error(err)
	}
}
