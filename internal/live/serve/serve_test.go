package serve_test

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/live/serve"
	"github.com/bagconv/bagconv/storage"
)

// content is what the files of tests have.
const content = "0123456789abcdefghijklmnopqrstuvwxyz"

const secret = "this is nobody's business"

// tree makes a folder with recordings, and a secret beside it and through a link in it.
func tree(t testing.TB) (dir string, config serve.Config) {
	t.Helper()
	top := t.TempDir()
	dir = filepath.Join(top, "drives")
	if err := os.MkdirAll(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{"drives/a b.bag": content, "drives/folder/part.db3": content,
		"drives/other.txt": secret, "secret.bag": secret} {
		if err := os.WriteFile(filepath.Join(top, filepath.FromSlash(path)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(top, "secret.bag"), filepath.Join(dir, "link.bag")); err != nil {
		t.Skip("this system has no links:", err)
	}
	fsys, err := serve.Confine(iox.OS, []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fsys.Close() })
	format := &storage.Format{Name: "bag"}
	at := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	return dir, serve.Config{FS: fsys, Find: func() ([]serve.Recording, error) {
		return []serve.Recording{
			{Name: "a b.bag", Path: at("a b.bag"), Format: format, Files: []serve.File{{Path: at("a b.bag")}}},
			{Name: "folder", Path: at("folder"), Format: format,
				Files: []serve.File{{Part: "part.db3", Path: at("folder", "part.db3")}}},
			{Name: "link.bag", Path: at("link.bag"), Format: format, Files: []serve.File{{Path: at("link.bag")}}},
			{Name: "gone.mcap", Path: at("gone.mcap"), Format: format, Files: []serve.File{{Path: at("gone.mcap")}}},
		}, nil
	}}
}

// ask sends a request with headers, as "Name: value".
func ask(t testing.TB, s http.Handler, method, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	r.Host, r.RemoteAddr = "127.0.0.1:8765", "127.0.0.1:40000"
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if r.Header.Add(name, value); name == "Host" {
			r.Host = value
		}
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// TestRanges: whole files, ranges of every kind, and conditions.
func TestRanges(t *testing.T) {
	dir, config := tree(t)
	s := serve.New(config)
	const path = "/files/a%20b.bag"
	whole := ask(t, s, "GET", path)
	tag, changed := whole.Header().Get("Etag"), whole.Header().Get("Last-Modified")
	if whole.Code != 200 || whole.Body.String() != content || whole.Header().Get("Accept-Ranges") != "bytes" ||
		len(tag) < 10 || changed == "" {
		t.Fatalf("%d %v %q", whole.Code, whole.Header(), whole.Body)
	}
	for _, c := range []struct {
		headers []string
		status  int
		body    string
		ranged  string // Content-Range
	}{
		{[]string{"Range: bytes=0-0"}, 206, "0", "bytes 0-0/36"},
		{[]string{"Range: bytes=10-15"}, 206, "abcdef", "bytes 10-15/36"},
		{[]string{"Range: bytes=30-"}, 206, "uvwxyz", "bytes 30-35/36"},
		{[]string{"Range: bytes=-3"}, 206, "xyz", "bytes 33-35/36"},
		{[]string{"Range: bytes=-100"}, 206, content, "bytes 0-35/36"},
		{[]string{"Range: bytes=33-1000"}, 206, "xyz", "bytes 33-35/36"},
		{[]string{"Range: bytes=36-"}, 416, "", "bytes */36"},
		{[]string{"Range: bytes=99999999999999999999-"}, 416, "", ""},
		{[]string{"Range: bytes=5-2"}, 416, "", ""},
		{[]string{"Range: lines=1-2"}, 416, "", ""},
		{[]string{"Range: bytes=10-12", "If-Range: " + tag}, 206, "abc", "bytes 10-12/36"},
		{[]string{"Range: bytes=10-12", "If-Range: \"other\""}, 200, content, ""},
		{[]string{"Range: bytes=10-12", "If-Range: " + changed}, 206, "abc", "bytes 10-12/36"},
		{[]string{"If-None-Match: " + tag}, 304, "", ""},
		{[]string{"If-Match: \"other\""}, 412, "", ""},
	} {
		w := ask(t, s, "GET", path, c.headers...)
		if w.Code != c.status || c.body != "" && w.Body.String() != c.body || c.ranged != "" &&
			w.Header().Get("Content-Range") != c.ranged {
			t.Errorf("%v: %d %q %v", c.headers, w.Code, w.Body, w.Header())
		}
	}
	if w := ask(t, s, "HEAD", path, "Range: bytes=0-4"); w.Code != 206 || w.Body.Len() > 0 ||
		w.Header().Get("Content-Length") != "5" {
		t.Errorf("HEAD: %d %v", w.Code, w.Header())
	}
	w := ask(t, s, "GET", path, "Range: bytes=0-1,10-11")
	_, params, err := mime.ParseMediaType(w.Header().Get("Content-Type"))
	if err != nil || w.Code != 206 {
		t.Fatal(w.Code, w.Header(), err)
	}
	parts := multipart.NewReader(w.Body, params["boundary"])
	for _, want := range []string{"01", "ab"} {
		part, err := parts.NextPart()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(part); string(got) != want || err != nil {
			t.Errorf("part %q, %v, want %q", got, err, want)
		}
	}
	if w := ask(t, s, "GET", "/files/folder/part.db3"); w.Body.String() != content {
		t.Errorf("a part of a folder: %d %q", w.Code, w.Body)
	}
	if err := os.WriteFile(filepath.Join(dir, "a b.bag"), []byte("new content"), 0o644); err != nil {
		t.Fatal(err)
	}
	if w := ask(t, s, "GET", path, "Range: bytes=0-2", "If-Range: "+tag); w.Code != 200 ||
		w.Body.String() != "new content" {
		t.Errorf("after a change: %d %q", w.Code, w.Body)
	}
}

// TestOnlyTheseFiles: nothing else is served, whatever the path looks like.
func TestOnlyTheseFiles(t *testing.T) {
	_, config := tree(t)
	var events []serve.Event
	config.Log = func(e serve.Event) { events = append(events, e) }
	s := serve.New(config)
	for _, path := range []string{
		"/files/", "/files/folder", "/files/folder/", "/files/other.txt", "/files/../secret.bag", "/files/..%2fsecret.bag",
		"/files//secret.bag",
		"/files/folder/../../secret.bag", "/files/%2e%2e/secret.bag", "/files/a%20b.bag/", "/files/a%20b.bag%00",
		"/files/A%20B.BAG", "/secret.bag", "/files/C:%5Csecret.bag",
	} {
		if w := ask(t, s, "GET", path); w.Code < 300 || strings.Contains(w.Body.String(), secret) {
			t.Errorf("%s: %d %q", path, w.Code, w.Body)
		}
	}
	for _, path := range []string{"/files/link.bag", "/files/gone.mcap"} {
		events = nil
		w := ask(t, s, "GET", path)
		if w.Code != 500 || strings.Contains(w.Body.String(), secret) || strings.Contains(w.Body.String(), "drives") {
			t.Errorf("%s: %d %q", path, w.Code, w.Body)
		}
		if len(events) != 1 || events[0].Err == nil || events[0].Status != 500 {
			t.Errorf("%s: %+v", path, events)
		}
	}
}

// TestStrangers: other names of this machine, other pages, and methods that write are refused.
func TestStrangers(t *testing.T) {
	_, config := tree(t)
	config.Origins, config.Hosts = []string{"https://viewer.example"}, []string{"robot"}
	s := serve.New(config)
	for host, status := range map[string]int{
		"127.0.0.1:8765": 200, "[::1]:8765": 200, "localhost": 200, "localhost:1": 200, "192.168.0.7:8765": 200,
		"Robot:8765": 200, "robot.": 200, "x.localhost": 200,
		"evil.example": 421, "evil.example:8765": 421, "localhost.evil.example": 421, "": 421, "127.0.0.1.evil.example": 421,
		"robot2": 421,
	} {
		if w := ask(t, s, "GET", "/files/a%20b.bag", "Host: "+host); w.Code != status {
			t.Errorf("Host %s: %d, want %d", host, w.Code, status)
		}
	}
	for origin, ok := range map[string]bool{
		"https://viewer.example": true, "http://localhost:8080": true, "http://127.0.0.1:3000": true, "http://[::1]:1": true,
		"http://127.0.0.1:8765": true,
		"https://evil.example":  false, "null": false, "http://viewer.example": false,
		"https://viewer.example.evil.example": false, "http://localhost.evil.example": false, "file://": false,
		"http://10.0.0.1": false,
	} {
		w := ask(t, s, "GET", "/files/a%20b.bag", "Origin: "+origin)
		if ok && (w.Code != 200 || w.Header().Get("Access-Control-Allow-Origin") != origin) ||
			!ok && (w.Code != 403 || w.Header().Get("Access-Control-Allow-Origin") != "") {
			t.Errorf("Origin %s: %d %v", origin, w.Code, w.Header())
		}
	}
	w := ask(t, s, "OPTIONS", "/files/a%20b.bag", "Origin: https://viewer.example", "Access-Control-Request-Method: GET",
		"Access-Control-Request-Headers: range", "Access-Control-Request-Private-Network: true")
	h := w.Header()
	if w.Code != 204 || !strings.Contains(h.Get("Access-Control-Allow-Headers"), "Range") ||
		h.Get("Access-Control-Allow-Private-Network") != "true" || !strings.Contains(h.Get("Access-Control-Expose-Headers"),
		"Accept-Ranges") {
		t.Errorf("OPTIONS: %d %v", w.Code, h)
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "PROPFIND"} {
		if w := ask(t, s, method, "/files/a%20b.bag"); w.Code != 405 || w.Header().Get("Allow") == "" {
			t.Errorf("%s: %d", method, w.Code)
		}
	}
}

// TestPage: the page and its JSON list the recordings, with links that lead to their bytes and into
// the viewers that may read them; names are no markup.
func TestPage(t *testing.T) {
	dir, config := tree(t)
	find := config.Find
	config.Find = func() ([]serve.Recording, error) {
		list, err := find()
		list[1].Name = `<script>"x"`
		return list, err
	}
	var x serve.Index
	w := ask(t, serve.New(config), "GET", "/index.json")
	if err := json.Unmarshal(w.Body.Bytes(), &x); err != nil || len(x.Recordings) != 4 {
		t.Fatalf("%v %s", err, w.Body)
	}
	e := x.Recordings[0]
	if e.Name != "a b.bag" || e.Size != 36 || len(e.Files) != 1 ||
		e.Files[0].URL != "http://127.0.0.1:8765/files/a%20b.bag" {
		t.Errorf("%+v", e)
	}
	if len(e.Open) != 0 || len(x.Obstacles) != 3 || !strings.Contains(x.Obstacles[0].Why, "--allow-origin https://app.foxglove.dev") {
		t.Errorf("%+v, %+v", e.Open, x.Obstacles)
	}
	config.Fetch = func(_ context.Context, address string) (string, error) { return "<title>Lichtblick</title>", nil }
	w = ask(t, serve.New(config), "GET", "/index.json")
	if err := json.Unmarshal(w.Body.Bytes(), &x); err != nil {
		t.Fatal(err)
	}
	if e = x.Recordings[0]; len(e.Open) != 1 || !strings.Contains(e.Open[0].URL, "ds.url=http%3A%2F%2F127.0.0.1%3A8765%2Ffiles%2Fa%2520b.bag") {
		t.Errorf("%+v", e.Open)
	}
	config.Origins = []string{"https://app.foxglove.dev"}
	page := ask(t, serve.New(config), "GET", "/")
	body := page.Body.String()
	for _, want := range []string{"a b.bag", `href="https://app.foxglove.dev/`, "&lt;script&gt;",
		`href="http://127.0.0.1:8765/files/%3Cscript%3E%22x%22/part.db3"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page has no %s:\n%s", want, body)
		}
	}
	if strings.Contains(body, "<script") || strings.Contains(body, dir) ||
		!strings.Contains(page.Header().Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("%v\n%s", page.Header(), body)
	}
}

// TestViewersOfOthers: no link to a viewer of this machine for other machines, and no link to a page with encryption
// that would have to read from another machine without it.
func TestViewersOfOthers(t *testing.T) {
	_, config := tree(t)
	config.Origins = []string{"*"}
	config.Fetch = func(context.Context, string) (string, error) { return "Lichtblick", nil }
	r := httptest.NewRequest("GET", "/index.json", nil)
	r.Host, r.RemoteAddr = "192.168.1.7:8765", "192.168.1.9:40000"
	w := httptest.NewRecorder()
	serve.New(config).ServeHTTP(w, r)
	var x serve.Index
	if err := json.Unmarshal(w.Body.Bytes(), &x); err != nil || len(x.Recordings) != 4 || len(x.Obstacles) != 3 {
		t.Fatalf("%v %s", err, w.Body)
	}
	for _, e := range x.Recordings {
		if len(e.Open) > 0 {
			t.Errorf("%s opens in %v", e.Name, e.Open)
		}
	}
}

// TestSearch: all words must be in the name, the format, or the topics; topics are read once; what there was no time
// for is counted.
func TestSearch(t *testing.T) {
	_, config := tree(t)
	reads, slow := 0, false
	config.Topics = func(ctx context.Context, rec serve.Recording) ([]string, error) {
		if slow {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		reads++
		if rec.Name == "folder" {
			return []string{"/camera/front sensor_msgs/Image", "/imu sensor_msgs/Imu"}, nil
		}
		return nil, errors.New("it cannot be opened")
	}
	server := serve.New(config)
	for query, want := range map[string]string{"": "a b.bag,folder,link.bag,gone.mcap", "B.BAG": "a b.bag", "camera+FOLDER": "folder",
		"camera+a": "folder", "camera+none": "", "link": "link.bag", "%3Cscript%3E": ""} {
		for _, path := range []string{"/index.json", "/"} {
			w := ask(t, server, "GET", path+"?q="+query)
			if path == "/" {
				if strings.Contains(w.Body.String(), "<script") || w.Code != 200 {
					t.Errorf("%q: %d %s", query, w.Code, w.Body)
				}
				continue
			}
			var x serve.Index
			if err := json.Unmarshal(w.Body.Bytes(), &x); err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, e := range x.Recordings {
				names = append(names, e.Name)
			}
			if got := strings.Join(names, ","); got != want {
				t.Errorf("%q finds %s, want %s", query, got, want)
			}
		}
	}
	if reads > 2 {
		t.Errorf("topics were read %d times", reads)
	}
	slow = true
	if page := ask(t, serve.New(config), "GET", "/?q=camera").Body.String(); !strings.Contains(page, "2 were not opened yet") {
		t.Errorf("a search without time:\n%s", page)
	}
}

// TestMessages: a table has bounds, and no value is markup.
func TestMessages(t *testing.T) {
	_, config := tree(t)
	config.Messages = func(_ context.Context, rec serve.Recording, topic string) (*serve.Table, error) {
		row := make([]string, 100)
		for i := range row {
			row[i] = "<script>" + strings.Repeat("é", 1000)
		}
		return &serve.Table{Columns: slices.Clone(row), Rows: [][]string{row}, Notes: []string{"<b>"}}, nil
	}
	page := ask(t, serve.New(config), "GET", "/messages/a%20b.bag?topic=/%3Cscript%3E").Body.String()
	if len(page) > 200_000 || strings.Contains(page, "<script") || strings.Contains(page, "<b>") ||
		!strings.Contains(page, "20 further columns are left out") || !strings.Contains(page, "<h1>/&lt;script&gt;</h1>") {
		t.Errorf("%d bytes: %.3000s", len(page), page)
	}
	if w := ask(t, serve.New(config), "GET", "/messages/none?topic=/x"); w.Code != 404 {
		t.Errorf("%d", w.Code)
	}
}

// TestDownload: a file and a folder that were made are sent, and removed; a failure has no words of it.
func TestDownload(t *testing.T) {
	_, config := tree(t)
	made := filepath.Join(t.TempDir(), "out")
	removed := 0
	config.Formats = []string{"file", "folder", "broken"}
	config.Make = func(_ context.Context, _ serve.Recording, format string) (*serve.Made, error) {
		path := made + "." + format
		switch format {
		case "broken":
			return nil, errors.New(secret)
		case "folder":
			path = filepath.Join(path, "part")
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return nil, err
			}
		}
		err := os.WriteFile(path, []byte(content), 0o644)
		return &serve.Made{Path: made + "." + format, Remove: func() { removed++ }}, err
	}
	server := serve.New(config)
	if w := ask(t, server, "GET", "/as/file/a%20b.bag"); w.Body.String() != content ||
		w.Header().Get("Content-Disposition") != "attachment; filename=out.file" {
		t.Errorf("%v %s", w.Header(), w.Body)
	}
	r := tar.NewReader(ask(t, server, "GET", "/as/folder/a%20b.bag").Body)
	if h, err := r.Next(); err != nil || h.Name != "out.folder/part" {
		t.Errorf("%+v, %v", h, err)
	}
	if b, err := io.ReadAll(r); err != nil || string(b) != content {
		t.Errorf("%s, %v", b, err)
	}
	if w := ask(t, server, "GET", "/as/broken/a%20b.bag"); w.Code != 500 || strings.Contains(w.Body.String(), secret) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := ask(t, server, "GET", "/as/other/a%20b.bag"); w.Code != 404 || removed != 2 {
		t.Errorf("%d; %d were removed", w.Code, removed)
	}
}

// start runs a server, and returns its address and what ends it.
func start(t testing.TB, config serve.Config) (address string, end func() error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- serve.New(config).Serve(ctx, l) }()
	end = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() { _ = end() })
	return l.Addr().String(), end
}

// TestManyClients: a thousand clients at once get what they ask for.
func TestManyClients(t *testing.T) {
	_, config := tree(t)
	address, end := start(t, config)
	clients := 1000
	if testing.Short() {
		clients = 200
	}
	var all sync.WaitGroup
	failed := make(chan error, clients)
	for i := range clients {
		all.Go(func() {
			client := &http.Client{Transport: &http.Transport{}, Timeout: time.Minute} // each has connections of its own
			defer client.CloseIdleConnections()
			from, to := i%36, 35-(i%7)
			from = min(from, to)
			r, _ := http.NewRequest("GET", "http://"+address+"/files/a%20b.bag", nil)
			r.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", from, to))
			res, err := client.Do(r)
			if err != nil {
				failed <- err
				return
			}
			defer res.Body.Close()
			if got, err := io.ReadAll(res.Body); err != nil || string(got) != content[from:to+1] {
				failed <- fmt.Errorf("%d-%d: %q, %v", from, to, got, err)
			}
		})
	}
	all.Wait()
	close(failed)
	for err := range failed {
		t.Error(err)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
}

// TestEnd: a server ends although a client takes nothing.
func TestEnd(t *testing.T) {
	dir, config := tree(t)
	if err := os.Truncate(filepath.Join(dir, "a b.bag"), 64<<20); err != nil {
		t.Fatal(err)
	}
	address, end := start(t, config)
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET /files/a%20b.bag HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := end(); err != nil || time.Since(began) > 30*time.Second {
		t.Errorf("it ended with %v after %v", err, time.Since(began))
	}
}

// TestNoBody: who announces a body that does not come is answered, and cut off.
func TestNoBody(t *testing.T) {
	_, config := tree(t)
	address, end := start(t, config)
	for _, body := range []string{"Transfer-Encoding: chunked", "Content-Length: 100",
		"Content-Length: 100\r\nExpect: 100-continue"} {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(time.Minute))
		if _, err := io.WriteString(c, "GET /files/a%20b.bag HTTP/1.1\r\nHost: localhost\r\n"+body+"\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if answer, err := io.ReadAll(c); err != nil || !strings.HasSuffix(string(answer), content) {
			t.Errorf("%s: %q, %v", body, answer, err)
		}
	}
	if err := end(); err != nil {
		t.Error(err)
	}
}

// failing is an Output that breaks in the middle, as one of a source that changes does.
type failing struct{ released *int }

func (failing) ReadAt(_ context.Context, p []byte, off int64) (int, error) {
	if off >= 50_000 {
		return 0, errors.New("the source has changed")
	}
	return len(p), nil
}
func (failing) Size() int64        { return 100_000 }
func (failing) ModTime() time.Time { return time.Unix(1_700_000_000, 0) }
func (failing) Tag() string        { return "tag" }
func (f failing) Release()         { *f.released++ }

// TestBrokenOutput: an output that breaks ends the answer too early, and the log has the cause.
func TestBrokenOutput(t *testing.T) {
	_, config := tree(t)
	released := 0
	events := make(chan serve.Event, 10)
	config.Log = func(e serve.Event) { events <- e }
	config.Sink = &storage.Format{Name: "sink", Extensions: []string{".out"}}
	config.Open = func(_ context.Context, r serve.Recording) (serve.Output, error) {
		if r.Name == "folder" {
			return nil, errors.New("it cannot be read")
		}
		return failing{&released}, nil
	}
	address, end := start(t, config)
	get := func(path, ranged string) (*http.Response, []byte, error) {
		r, _ := http.NewRequest("GET", "http://"+address+path, nil)
		r.Header.Set("Range", ranged)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		return res, b, err
	}
	if res, b, err := get("/sink/a%20b.bag.out", "bytes=10-19"); res.StatusCode != 206 || len(b) != 10 || err != nil ||
		res.Header.Get("Etag") != `"tag"` {
		t.Errorf("%d %d bytes, %v", res.StatusCode, len(b), err)
	}
	if e := <-events; e.Err != nil {
		t.Error(e.Err)
	}
	if _, b, err := get("/sink/a%20b.bag.out", "bytes=0-"); err == nil || len(b) == 100_000 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	if e := <-events; e.Err == nil {
		t.Errorf("the log has %+v", e)
	}
	if res, b, _ := get("/sink/folder.out", "bytes=0-"); res.StatusCode != 500 ||
		strings.Contains(string(b), "it cannot") {
		t.Errorf("%d %s", res.StatusCode, b)
	}
	if res, _, _ := get("/sink/none.out", "bytes=0-"); res.StatusCode != 404 {
		t.Errorf("%d", res.StatusCode)
	}
	if err := end(); err != nil || released != 2 {
		t.Errorf("%v, %d were released", err, released)
	}
}

// TestHostileRequests: requests of random paths and headers, as bytes on a connection. No answer
// has the secret, and the server goes on.
func TestHostileRequests(t *testing.T) {
	_, config := tree(t)
	config.Sink = &storage.Format{Name: "sink", Extensions: []string{".out"}}
	config.Open = func(context.Context, serve.Recording) (serve.Output, error) { return nil, errors.New(secret) }
	config.Report = func(context.Context, serve.Recording, serve.ReportRequest) ([]byte, error) {
		return nil, errors.New(secret)
	}
	config.Topics = func(context.Context, serve.Recording) ([]string, error) { return nil, errors.New(secret) }
	config.Messages = func(context.Context, serve.Recording, string) (*serve.Table, error) {
		return nil, errors.New(secret)
	}
	config.Play = func(w http.ResponseWriter, r *http.Request, rec serve.Recording) (int64, error) {
		return 0, errors.Join(errors.New(secret), json.NewEncoder(w).Encode(rec.Name))
	}
	address, _ := start(t, config)
	requests := 100_000
	if testing.Short() || os.Getenv("BAGCONV_EXHAUSTIVE") == "" {
		requests = 4_000
	}
	const workers = 8
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			random := rand.New(rand.NewSource(int64(w)))
			for range requests / workers {
				request := hostile(random)
				answer, err := exchange(address, request)
				if err != nil {
					t.Errorf("%q: %v", request, err)
					return
				}
				if bytes.Contains(answer, []byte(secret)) {
					t.Errorf("%q returned the secret", request)
				}
			}
		})
	}
	all.Wait()
	res, err := http.Get("http://" + address + "/files/a%20b.bag")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if got, _ := io.ReadAll(res.Body); string(got) != content {
		t.Errorf("afterwards: %q", got)
	}
}

// hostile makes up a request.
func hostile(r *rand.Rand) []byte {
	pick := func(list ...string) string { return list[r.Intn(len(list))] }
	var b bytes.Buffer
	b.WriteString(pick("GET", "GET", "GET", "HEAD", "OPTIONS", "POST", "get", "G\x00T", strings.Repeat("X", 300)) + " ")
	b.WriteString(pick("/files/", "/files", "/", "//", "http://localhost/files/", "files/", "/index.json", "/info/",
		"/sink/", "/ws/", "/ws/a%20b.bag", "*"))
	for range r.Intn(8) {
		b.WriteString(pick("..", "../", "..%2f", "%2e%2e/", "..\\", "%5c", "secret.bag", "link.bag", "a%20b.bag", "folder/",
			"part.db3", "/", "//", "%00", "%", "%zz", "?", "#", "\xff\xfe", "....//", "~", "C:",
			strings.Repeat("a/", r.Intn(2000))))
	}
	b.WriteString(" " + pick("HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/9.9", "", "\x00") + "\r\n")
	b.WriteString("Host: " + pick("localhost", "127.0.0.1", "evil.example", "", "[::1", "a b", strings.Repeat("h", 500)) +
		"\r\nConnection: close\r\n")
	for range r.Intn(4) {
		b.WriteString(pick("Range", "If-Range", "Origin", "If-None-Match", "Content-Length", "Transfer-Encoding", "Expect",
			"Host", "Upgrade", "Connection", "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Protocol",
			"X-Forwarded-Host", "\x01", ""))
		b.WriteString(": " + pick("bytes=0-", "bytes=-0", "bytes=-9223372036854775808", "bytes=9-1,2-3",
			"bytes="+strings.Repeat("0-0,", r.Intn(500)), "null", "http://localhost", "*", "W/\"", "-1", "99999999999999999999",
			"chunked", "100-continue", "websocket", "\x00", strings.Repeat("v", r.Intn(20000))) + "\r\n")
	}
	b.WriteString("\r\n")
	return b.Bytes()
}

// exchange sends bytes, and returns what comes until the server closes. A server that cuts the
// connection before it has read everything is no error.
func exchange(address string, request []byte) ([]byte, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	_, _ = c.Write(request)
	_ = c.(*net.TCPConn).CloseWrite()
	answer, err := io.ReadAll(c)
	if e, ok := err.(net.Error); ok && e.Timeout() {
		return nil, err
	}
	return answer, nil
}
