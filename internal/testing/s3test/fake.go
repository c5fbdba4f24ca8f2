package s3test

import (
	"bytes"
	"cmp"
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Fake is an S3 server in memory, for what the real ones here cannot be made to do. It knows the conditions
// of AWS, also the condition of completing an upload, and who may ask; it does not check signatures.
type Fake struct {
	// Fault may answer in its place, and then returns true.
	Fault func(w http.ResponseWriter, r *http.Request) bool
	Key   string        // the only access key that it knows, "" for any
	Token string        // the session token that it asks for with Key
	Age   time.Duration // of uploads when they begin

	mu      sync.Mutex
	objects map[string]*fakeObject
	sorted  []string // keys of objects; nil if they have changed
	uploads map[string]*fakeUpload
	next    int
}

type fakeObject struct {
	data     []byte
	etag     string
	modified time.Time
}

type fakeUpload struct {
	key   string
	start time.Time
	parts map[int]*fakeObject
}

// NewFake starts a server with an empty bucket, and sets the environment for it.
func NewFake(t *testing.T) *Fake {
	f := &Fake{objects: map[string]*fakeObject{}, uploads: map[string]*fakeUpload{}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	useS3(t, server.URL)
	return f
}

// Put puts an object.
func (f *Fake) Put(key string, data []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.objects[key] = newFakeObject(data, fmt.Sprintf("%x", md5.Sum(data)))
	f.sorted = nil
}

func newFakeObject(data []byte, etag string) *fakeObject {
	return &fakeObject{data, etag, time.Now().UTC()}
}

// Get returns the bytes of an object, nil for none.
func (f *Fake) Get(key string) []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o := f.objects[key]; o != nil {
		return o.data
	}
	return nil
}

// Begin begins an upload as another program does, and returns its id.
func (f *Fake) Begin(key string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next++
	id := fmt.Sprint("upload-", f.next)
	f.uploads[id] = &fakeUpload{key, time.Now().Add(-f.Age).UTC(), map[int]*fakeObject{}}
	return id
}

// Uploads lists the keys of the uploads that are not complete.
func (f *Fake) Uploads() (keys []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, u := range f.uploads {
		keys = append(keys, u.key)
	}
	return keys
}

// Refuse answers with an error of S3.
func Refuse(w http.ResponseWriter, status int, code, message string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", code, message)
}

func (f *Fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := fakeBody(r)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	switch {
	case f.Fault != nil && f.Fault(w, r):
		return
	case f.Key != "" && !strings.Contains(r.Header.Get("Authorization"), "Credential="+f.Key+"/"):
		Refuse(w, 403, "InvalidAccessKeyId", "nobody has this key id")
		return
	case f.Key != "" && r.Header.Get("X-Amz-Security-Token") != f.Token:
		Refuse(w, 400, "ExpiredToken", "the token is too old")
		return
	}
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if bucket != Bucket {
		Refuse(w, 404, "NoSuchBucket", "no bucket has this name")
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	q := r.URL.Query()
	id := q.Get("uploadId")
	switch {
	case key == "" && r.Method == "GET" && q.Has("uploads"):
		f.listUploads(w, q)
	case key == "" && r.Method == "GET":
		f.list(w, q)
	case q.Has("uploads") && r.Method == "POST":
		f.mu.Unlock()
		id := f.Begin(key)
		f.mu.Lock()
		answer(w, "InitiateMultipartUploadResult", "<UploadId>"+id+"</UploadId>")
	case id != "" && f.uploads[id] == nil:
		Refuse(w, 404, "NoSuchUpload", "no upload has this id")
	case id != "":
		f.upload(w, r, key, id, body)
	case r.Method == "GET" || r.Method == "HEAD":
		f.read(w, r, key)
	case r.Method == "PUT":
		f.write(w, r, key, newFakeObject(body, fmt.Sprintf("%x", md5.Sum(body))))
	case r.Method == "DELETE":
		delete(f.objects, key)
		f.sorted = nil
		w.WriteHeader(http.StatusNoContent)
	}
}

// fakeBody reads a body, which may be in chunks that are signed: "SIZE;chunk-signature=...\r\n" before each.
func fakeBody(r *http.Request) ([]byte, error) {
	text, err := io.ReadAll(r.Body)
	if err != nil || !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		return text, err
	}
	var body []byte
	for {
		line, rest, _ := bytes.Cut(text, []byte("\r\n"))
		hexSize, _, _ := bytes.Cut(line, []byte(";"))
		n, err := strconv.ParseInt(string(hexSize), 16, 32)
		if err != nil || n == 0 || int(n)+2 > len(rest) {
			return body, err
		}
		body, text = append(body, rest[:n]...), rest[n+2:]
	}
}

func (f *Fake) read(w http.ResponseWriter, r *http.Request, key string) {
	o := f.objects[key]
	if o == nil {
		Refuse(w, 404, "NoSuchKey", "no object has this key")
		return
	}
	w.Header().Set("ETag", `"`+o.etag+`"`)
	http.ServeContent(w, r, "x.bin", o.modified, bytes.NewReader(o.data))
}

// write makes an object appear.
func (f *Fake) write(w http.ResponseWriter, r *http.Request, key string, o *fakeObject) bool {
	if r.Header.Get("If-None-Match") == "*" && f.objects[key] != nil {
		Refuse(w, 412, "PreconditionFailed", "a condition does not hold")
		return false
	}
	if !sumFits(r, o.data) {
		Refuse(w, 400, "BadDigest", "the MD5 belongs to other bytes")
		return false
	}
	f.objects[key], f.sorted = o, nil
	w.Header().Set("ETag", `"`+o.etag+`"`)
	return true
}

func sumFits(r *http.Request, data []byte) bool {
	want := r.Header.Get("Content-Md5")
	sum := md5.Sum(data)
	return want == "" || r.Method != "PUT" || want == base64.StdEncoding.EncodeToString(sum[:])
}

// upload answers a request about an upload.
func (f *Fake) upload(w http.ResponseWriter, r *http.Request, key, id string, body []byte) {
	u := f.uploads[id]
	number, _ := strconv.Atoi(r.URL.Query().Get("partNumber"))
	switch r.Method {
	case "GET":
		var text strings.Builder
		for _, n := range slices.Sorted(maps.Keys(u.parts)) {
			fmt.Fprintf(&text, "<Part><PartNumber>%d</PartNumber><LastModified>%s</LastModified></Part>", n,
				u.start.Format(time.RFC3339))
		}
		answer(w, "ListPartsResult", text.String())
	case "PUT":
		if from := r.Header.Get("X-Amz-Copy-Source"); from != "" {
			from, _ = url.PathUnescape(strings.TrimPrefix(from, "/"))
			var first, last int64
			_, _ = fmt.Sscanf(r.Header.Get("X-Amz-Copy-Source-Range"), "bytes=%d-%d", &first, &last)
			source := f.objects[strings.TrimPrefix(from, Bucket+"/")]
			if source == nil || last >= int64(len(source.data)) {
				Refuse(w, 404, "NoSuchKey", "no object has this key")
				return
			}
			body = source.data[first : last+1]
		}
		o := newFakeObject(body, fmt.Sprintf("%x", md5.Sum(body)))
		if !sumFits(r, body) {
			Refuse(w, 400, "BadDigest", "the MD5 belongs to other bytes")
			return
		}
		u.parts[number] = o
		w.Header().Set("ETag", `"`+o.etag+`"`)
		answer(w, "CopyPartResult", "<ETag>"+o.etag+"</ETag>")
	case "POST":
		all := md5.New()
		var data []byte
		for _, n := range slices.Sorted(maps.Keys(u.parts)) {
			sum, _ := hex.DecodeString(u.parts[n].etag)
			all.Write(sum)
			data = append(data, u.parts[n].data...)
		}
		if f.write(w, r, key, newFakeObject(data, fmt.Sprintf("%x-%d", all.Sum(nil), len(u.parts)))) {
			delete(f.uploads, id)
			answer(w, "CompleteMultipartUploadResult", "<Bucket>"+Bucket+"</Bucket><ETag>"+f.objects[key].etag+"</ETag>")
		}
	case "DELETE":
		delete(f.uploads, id)
		w.WriteHeader(http.StatusNoContent)
	}
}

func (f *Fake) listUploads(w http.ResponseWriter, q url.Values) {
	var text strings.Builder
	for id, u := range f.uploads {
		if strings.HasPrefix(u.key, q.Get("prefix")) {
			fmt.Fprintf(&text, "<Upload><Key>%s</Key><UploadId>%s</UploadId><Initiated>%s</Initiated></Upload>", escaped(u.key),
				id, u.start.Format(time.RFC3339))
		}
	}
	answer(w, "ListMultipartUploadsResult", text.String())
}

// list answers with as many keys as are asked for.
func (f *Fake) list(w http.ResponseWriter, q url.Values) {
	if f.sorted == nil {
		f.sorted = slices.Sorted(maps.Keys(f.objects))
	}
	prefix, delimiter := q.Get("prefix"), q.Get("delimiter")
	at, _ := slices.BinarySearch(f.sorted, cmp.Or(q.Get("continuation-token"), prefix))
	most, err := strconv.Atoi(q.Get("max-keys"))
	if err != nil || most > 1000 {
		most = 1000
	}
	var text strings.Builder
	for count, last := 0, ""; at < len(f.sorted) && strings.HasPrefix(f.sorted[at], prefix); at++ {
		key := f.sorted[at]
		if count == most {
			fmt.Fprintf(&text, "<IsTruncated>true</IsTruncated><NextContinuationToken>%s</NextContinuationToken>", escaped(key))
			break
		}
		if i := strings.Index(key[len(prefix):], delimiter); i >= 0 && delimiter != "" {
			folder := key[:len(prefix)+i+1]
			if folder != last {
				fmt.Fprintf(&text, "<CommonPrefixes><Prefix>%s</Prefix></CommonPrefixes>", escaped(url.QueryEscape(folder)))
				count++
			}
			last = folder
			continue
		}
		o := f.objects[key]
		fmt.Fprintf(&text, "<Contents><Key>%s</Key><Size>%d</Size><ETag>%s</ETag><LastModified>%s</LastModified></Contents>",
			escaped(url.QueryEscape(key)), len(o.data), o.etag, o.modified.Format(time.RFC3339))
		count++
	}
	answer(w, "ListBucketResult", "<EncodingType>url</EncodingType>"+text.String())
}

func escaped(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a buffer takes everything
	return b.String()
}

func answer(w http.ResponseWriter, name, text string) {
	w.Header().Set("Content-Type", "application/xml")
	fmt.Fprintf(w, "<%s>%s</%s>", name, text, name)
}
