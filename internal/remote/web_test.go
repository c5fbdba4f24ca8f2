package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A host serves objects, as a web server with ranges does.
type host struct {
	mu      sync.Mutex
	objects map[string][]byte
	version int
	fault   func(w http.ResponseWriter, r *http.Request) bool // true: it has answered
	asked   atomic.Int64
	sent    atomic.Int64
}

func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.asked.Add(1)
	if h.fault != nil && h.fault(w, r) {
		return
	}
	h.mu.Lock()
	data, ok := h.objects[r.URL.Path]
	tag := fmt.Sprintf(`"v%d"`, h.version)
	h.mu.Unlock()
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("ETag", tag)
	http.ServeContent(&counted{w, h}, r, path.Base(r.URL.Path), time.Unix(1_700_000_000, 0), bytes.NewReader(data))
}

type counted struct {
	http.ResponseWriter
	h *host
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.h.sent.Add(int64(n))
	return n, err
}

func start(t testing.TB, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func noise(n int) []byte {
	b := make([]byte, n)
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

func open(t testing.TB, r *FS, name string) storage.File {
	t.Helper()
	f, err := r.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// TestReadAt compares reads at random places, from several goroutines, with the bytes that are
// there; with a server that fails each request once, and cuts each answer.
func TestReadAt(t *testing.T) {
	data := noise(9<<20 + 17)
	for _, faulty := range []bool{false, true} {
		t.Run(fmt.Sprint("faulty=", faulty), func(t *testing.T) {
			h := &host{objects: map[string][]byte{"/a b.bag": data}}
			if faulty {
				h.fault = faults(h)
			}
			meter := &iox.Meter{}
			r := New(context.Background(), &Settings{Meter: meter})
			r.link.pause = time.Millisecond
			f := open(t, r, start(t, h)+"/a b.bag")
			var wait sync.WaitGroup
			for g := range 4 {
				wait.Go(func() {
					rng := rand.New(rand.NewPCG(uint64(g), 2))
					for range 25 {
						off, n := rng.IntN(len(data)), rng.IntN(1<<rng.IntN(21))
						b := make([]byte, n)
						k, err := f.ReadAt(b, int64(off))
						want := data[off:min(off+n, len(data))]
						if short := len(want) < n; short != errors.Is(err, io.EOF) || !short && err != nil || !bytes.Equal(b[:k], want) {
							t.Errorf("%d bytes at %d: %d, %v", n, off, k, err)
							return
						}
					}
				})
			}
			wait.Wait()
			all, err := io.ReadAll(f)
			if err != nil || !bytes.Equal(all, data) {
				t.Errorf("all of it: %d bytes, %v", len(all), err)
			}
			if c := meter.Counts(); c.Read < int64(len(data)) || faulty != (c.Retries > 0) || c.Requests > h.asked.Load() {
				t.Errorf("%+v, and the server counts %d requests", c, h.asked.Load())
			}
		})
	}
}

// TestMeters: what is done for a user of the file system is counted for that user and in all, and not
// for another one.
func TestMeters(t *testing.T) {
	h := &host{objects: map[string][]byte{"/x.bag": noise(1 << 20), "/y.bag": noise(100), "/z.bag": noise(100)}}
	all := &iox.Meter{}
	one, other := all.Part(), all.Part()
	r := New(context.Background(), &Settings{Meter: all})
	url := start(t, h)
	fsys := r.Metered(one)
	f, err := fsys.Open(url + "/x.bag")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.ReadAt(make([]byte, 100_000), 300_000); err != nil {
		t.Fatal(err)
	}
	first := one.Counts()
	if _, err := r.Metered(other).Stat(url + "/y.bag"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Stat(url + "/z.bag"); err != nil {
		t.Fatal(err)
	}
	a, b, sum := one.Counts(), other.Counts(), all.Counts()
	if a != first || a.Requests < 2 || a.Read < 100_000 || b.Requests != 1 || sum.Requests != a.Requests+b.Requests+1 ||
		sum.Requests != h.asked.Load() {
		t.Errorf("counts %+v and %+v, in all %+v; the server counts %d requests", a, b, sum, h.asked.Load())
	}
}

// faults fails every request once, and then cuts its answer at a random byte.
func faults(h *host) func(w http.ResponseWriter, r *http.Request) bool {
	var seen sync.Map
	return func(w http.ResponseWriter, r *http.Request) bool {
		if _, again := seen.LoadOrStore(r.URL.Path+r.Header.Get("Range"), true); !again {
			w.WriteHeader([]int{500, 503, 429, 502}[rand.IntN(4)])
			return true
		}
		rec := httptest.NewRecorder()
		h.mu.Lock()
		data := h.objects[r.URL.Path]
		h.mu.Unlock()
		rec.Header().Set("ETag", fmt.Sprintf(`"v%d"`, h.version))
		http.ServeContent(rec, r, "x", time.Unix(1_700_000_000, 0), bytes.NewReader(data))
		for k, v := range rec.Header() {
			w.Header()[k] = v
		}
		w.WriteHeader(rec.Code)
		body := rec.Body.Bytes()
		_, _ = w.Write(body[:min(len(body), 1+rand.IntN(max(len(body), 1)))])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// TestReadsLittle: what is read in vain is a share of what is asked for.
func TestReadsLittle(t *testing.T) {
	const size = 64 << 20
	h := &host{objects: map[string][]byte{"/x": make([]byte, size)}}
	r := New(context.Background(), &Settings{})
	f := open(t, r, start(t, h)+"/x")
	for at := int64(0); at < size; at += size / 16 {
		if _, err := f.ReadAt(make([]byte, 100), at); err != nil {
			t.Fatal(err)
		}
	}
	if n := h.sent.Load(); n > 17*blockSize {
		t.Errorf("16 reads of 100 bytes: %d bytes were sent", n)
	}
	h.sent.Store(0)
	for at := int64(20 << 20); at < 40<<20; at += 700_000 {
		if _, err := f.ReadAt(make([]byte, 650_000), at); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(50 * time.Millisecond) // what is read ahead
	if n := h.sent.Load(); n > 28<<20 {
		t.Errorf("20 MiB one after the other: %d bytes were sent", n)
	}
	asked := h.asked.Load()
	if again := open(t, r, f.Name()); again != nil {
		if _, err := again.ReadAt(make([]byte, 100), 25<<20); err != nil || h.asked.Load() > asked+1 {
			t.Errorf("what is cached was asked for again: %v", err)
		}
	}
}

// TestPrefetch: what is asked for ahead comes at the same time, and is not asked for again; what is too
// much, or outside of the object, is left out.
func TestPrefetch(t *testing.T) {
	const size, spans = 64 << 20, 8
	var now, most atomic.Int64
	h := &host{objects: map[string][]byte{"/x": noise(size)}}
	h.fault = func(http.ResponseWriter, *http.Request) bool {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(50 * time.Millisecond)
		now.Add(-1)
		return false
	}
	r := New(context.Background(), &Settings{})
	f := open(t, r, start(t, h)+"/x")
	asked := h.asked.Load()
	soon := []iox.Span{{Off: -5, Len: 3}, {Off: size, Len: 10}, {Off: size - 10, Len: 1 << 40}}
	for i := range int64(spans - 1) {
		soon = append(soon, iox.Span{Off: i << 20, Len: 100})
	}
	iox.Prefetch(f, soon...)
	for _, s := range soon[2:] {
		b := make([]byte, 10)
		if _, err := f.ReadAt(b, s.Off); err != nil || !bytes.Equal(b, h.objects["/x"][s.Off:][:10]) {
			t.Errorf("at %d: %x, %v", s.Off, b, err)
		}
	}
	if n := h.asked.Load() - asked; n > spans {
		t.Errorf("%d requests for %d spans", n, spans)
	}
	if most.Load() < 2 {
		t.Error("one after the other")
	}
	iox.Prefetch(f, iox.Span{Off: 0, Len: size})
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	if r.pool.size > aheadMost+spans*blockSize {
		t.Errorf("%d bytes are on their way", r.pool.size)
	}
}

// TestSeen: a name that was looked at is not asked for again at once, unless something may have changed.
func TestSeen(t *testing.T) {
	h := &host{objects: map[string][]byte{"/x": make([]byte, 1<<20)}}
	url := start(t, h)
	r := New(context.Background(), &Settings{})
	for range 3 {
		_, err := r.Stat(url + "/x")
		if _, none := r.Stat(url + "/none"); err != nil || !errors.Is(none, fs.ErrNotExist) {
			t.Fatal(err, none)
		}
	}
	if n := h.asked.Load(); n != 2 {
		t.Errorf("%d requests for two names", n)
	}
	r.Refresh()
	if _, err := r.Stat(url + "/x"); err != nil || h.asked.Load() != 3 {
		t.Errorf("%d requests, %v", h.asked.Load(), err)
	}
}

// TestMemory: what is kept is bounded.
func TestMemory(t *testing.T) {
	const size = 3 * poolSize
	h := &host{objects: map[string][]byte{"/x": make([]byte, size)}}
	r := New(context.Background(), &Settings{})
	f := open(t, r, start(t, h)+"/x")
	if n, err := io.Copy(io.Discard, f); n != size || err != nil {
		t.Fatal(n, err)
	}
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	if r.pool.size > poolSize+aheadMost {
		t.Errorf("%d bytes are kept", r.pool.size)
	}
}

// TestChanged: an object that is replaced is an error, never a mixture.
func TestChanged(t *testing.T) {
	h := &host{objects: map[string][]byte{"/x": bytes.Repeat([]byte{1}, 1<<20)}}
	url := start(t, h)
	r := New(context.Background(), &Settings{})
	f := open(t, r, url+"/x")
	h.mu.Lock()
	h.objects["/x"], h.version = bytes.Repeat([]byte{2}, 1<<20), 1
	h.mu.Unlock()
	if _, err := f.ReadAt(make([]byte, 100), 500_000); !errors.Is(err, errChanged) || !strings.Contains(err.Error(),
		url+"/x") {
		t.Errorf("the error is %v", err)
	}
	b := make([]byte, 100)
	if _, err := open(t, r, url+"/x").ReadAt(b, 500_000); err != nil || b[0] != 2 {
		t.Errorf("opened again: %v, %d", err, b[0])
	}
}

// TestStatus: what a server answers becomes an error that says what to do.
func TestStatus(t *testing.T) {
	status := atomic.Int64{}
	url := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch s := int(status.Load()); s {
		case 200: // it knows no ranges
			_, _ = w.Write(make([]byte, 100))
		case 0: // nothing comes
			<-r.Context().Done()
		default:
			w.WriteHeader(s)
		}
	}))
	r := New(context.Background(), &Settings{Retries: 1, Timeout: time.Second})
	for i, c := range []struct {
		status    int
		is        error
		text      string
		transient bool
	}{
		{401, fs.ErrPermission, "docs/remote.md", false},
		{403, fs.ErrPermission, "expired credentials", false},
		{404, fs.ErrNotExist, "no such object", false},
		{416, nil, "416", false},
		{200, storage.ErrUnsupported, "download it first", false},
		{500, nil, "after 2 attempts", true},
		{503, nil, "fewer requests", true},
		{0, nil, "time limit", true},
	} {
		status.Store(int64(c.status))
		_, err := r.Open(fmt.Sprintf("%s/dir/%d.bag?key=hidden", url, i)) // a name that Name has not seen
		if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.text) ||
			Transient(err) != c.transient || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%d: %v", c.status, err)
		}
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	if _, err := r.Open(gone.URL + "/x"); !Transient(err) {
		t.Errorf("nobody listens: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := New(ctx, &Settings{}).Open(url + "/x"); !errors.Is(err, context.Canceled) {
		t.Errorf("a run that was stopped: %v", err)
	}
}

// TestRedirect: credentials are for the host that was named, and for no other.
func TestRedirect(t *testing.T) {
	var seen atomic.Value
	elsewhere := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Store(r.Header.Get("Authorization") + r.Header.Get("Referer"))
		http.ServeContent(w, r, "x", time.Time{}, strings.NewReader("hello"))
	}))
	var auth atomic.Value
	first := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		auth.Store(r.Header.Get("Authorization") + r.URL.RawQuery)
		http.Redirect(w, r, elsewhere+"/x", http.StatusFound)
	}))
	name, err := Name(strings.Replace(first, "http://", "http://me:secret@", 1) + "/dir/x.bag?token=abc")
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(open(t, New(context.Background(), &Settings{}), name))
	if string(b) != "hello" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	if a := auth.Load().(string); !strings.HasPrefix(a, "Basic ") || !strings.HasSuffix(a, "token=abc") {
		t.Errorf("the host that was named got %q", a)
	}
	if s := seen.Load().(string); s != "" {
		t.Errorf("the other host got %q", s)
	}
}

// TestFolder: a folder is one with a file that lists others.
func TestFolder(t *testing.T) {
	h := &host{objects: map[string][]byte{
		"/d/bag/names":     []byte("bag_0.db3 bag_1.db3"),
		"/d/bag/bag_0.db3": []byte("one"),
	}}
	url := start(t, h)
	words := func(text []byte) []string { return strings.Fields(string(text)) }
	r := New(context.Background(), &Settings{Listings: []storage.Listing{{Name: "other", Files: words},
		{Name: "names", Files: words}}})
	st, err := r.Stat(url + "/d/bag/")
	if err != nil || !st.IsDir() || st.Name() != "bag" {
		t.Fatal(st, err)
	}
	entries, err := r.ReadDir(url + "/d/bag")
	if err != nil || fmt.Sprint(entries) != "[- names - bag_0.db3]" {
		t.Errorf("%v, %v", entries, err)
	}
	if _, err := r.ReadDir(url + "/d"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that cannot be listed: %v", err)
	}
	for _, err := range []error{r.Mkdir(url+"/x", 0o777), r.Rename(url+"/x", url+"/y"), r.Remove(url + "/x"),
		r.RemoveAll(url + "/x")} {
		if !errors.Is(err, storage.ErrUnsupported) {
			t.Errorf("writing: %v", err)
		}
	}
}

// TestLimits: the bandwidth and the number of requests at a time.
func TestLimits(t *testing.T) {
	var now, most atomic.Int64
	h := &host{objects: map[string][]byte{"/x": make([]byte, 2<<20)}}
	url := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		defer now.Add(-1)
		time.Sleep(time.Millisecond)
		h.ServeHTTP(w, r)
	}))
	begin := time.Now()
	r := New(context.Background(), &Settings{Connections: 2, Bandwidth: 8 << 20})
	f := open(t, r, url+"/x")
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			if _, err := f.ReadAt(make([]byte, 1<<18), int64(i)<<18); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if d := time.Since(begin); d < 200*time.Millisecond {
		t.Errorf("2 MiB at 8 MiB/s took %v", d)
	}
	if most.Load() > 2 {
		t.Errorf("%d requests at a time", most.Load())
	}
}

// TestConnectionsOfListing: the files of a folder are asked for no more at a time than --connections says.
func TestConnectionsOfListing(t *testing.T) {
	var now, most atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		for was := most.Load(); n > was && !most.CompareAndSwap(was, n); was = most.Load() {
		}
		time.Sleep(5 * time.Millisecond)
		text := "x"
		if path.Base(r.URL.Path) == "index" {
			text = "parts"
		}
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(text))
	}))
	defer server.Close()
	names := make([]string, 20)
	for i := range names {
		names[i] = fmt.Sprint("part", i)
	}
	listing := storage.Listing{Name: "index", Files: func([]byte) []string { return names }}
	fsys := New(t.Context(), &Settings{Connections: 2, Listings: []storage.Listing{listing}})
	name, err := Name(server.URL + "/folder")
	if err != nil {
		t.Fatal(err)
	}
	list, err := fsys.ReadDir(name)
	if err != nil || len(list) != 21 || most.Load() > 2 {
		t.Errorf("%d files, %d requests at a time, %v", len(list), most.Load(), err)
	}
}

// TestLeastSpeed: a server that sends a byte now and then is given up, one that is slow is not, and neither is one that
// the own limit slows down.
func TestLeastSpeed(t *testing.T) {
	data := noise(400_000)
	for name, c := range map[string]struct {
		piece     int
		pause     time.Duration
		bandwidth int64
		whole     bool
	}{
		"a byte now and then": {1, 20 * time.Millisecond, 0, false},
		"slow":                {4 << 10, 10 * time.Millisecond, 0, true},
		"own limit":           {len(data), 0, 200_000, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("ETag", `"1"`)
				if r.Header.Get("Range") == "" || r.Method == http.MethodHead {
					http.ServeContent(w, r, "x", time.Time{}, bytes.NewReader(data))
					return
				}
				http.ServeContent(&slowWriter{w, c.piece, c.pause}, r, "x", time.Time{}, bytes.NewReader(data))
			}))
			defer server.Close()
			r := New(t.Context(), &Settings{Retries: 1, Timeout: time.Second, Bandwidth: c.bandwidth})
			defer r.Close()
			begun := time.Now()
			f, err := r.Open(server.URL + "/x")
			if err == nil {
				_, err = f.ReadAt(make([]byte, len(data)), 0)
			}
			if c.whole && err != nil {
				t.Error(err)
			}
			if took := time.Since(begun); !c.whole && (!Transient(err) || took > 20*time.Second) {
				t.Errorf("after %v: %v", took, err)
			}
		})
	}
}

// A slowWriter sends pieces, and pauses.
type slowWriter struct {
	http.ResponseWriter
	piece int
	pause time.Duration
}

func (s *slowWriter) Write(p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var k int
		k, err = s.ResponseWriter.Write(p[n:min(len(p), n+s.piece)])
		n += k
		_ = http.NewResponseController(s.ResponseWriter).Flush()
		time.Sleep(s.pause)
	}
	return n, err
}
