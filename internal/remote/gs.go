//go:build clouds

package remote

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
)

// A gsBucket is a bucket of Google Cloud Storage, by its JSON interface
// (cloud.google.com/storage/docs/json_api).
//
// The parts of an object are objects of their own, in a folder that is named as the staging folder
// of an output is (see iox.Output), and Google puts them together ("compose"):
//
//	.NAME.XXXXXXXX.part/00001       part 1; the name of the folder is the id of the upload
//	.NAME.XXXXXXXX.part/1-00001     of more than 32 parts: 32 of them put together
type gsBucket struct {
	link   *link
	base   string // URL of the server
	name   string
	tokens oauth2.TokenSource // nil: there are no credentials
}

const gsScope = "https://www.googleapis.com/auth/devstorage.read_write"

// newGSBucket returns the bucket of that name, with the credentials that Google's programs use too
// ("application default credentials").
func newGSBucket(l *link, name string) (store, error) {
	b := &gsBucket{link: l, base: "https://storage.googleapis.com", name: name}
	if host := os.Getenv("STORAGE_EMULATOR_HOST"); host != "" {
		if !strings.Contains(host, "://") {
			host = "http://" + host
		}
		b.base = strings.TrimSuffix(host, "/")
		return b, nil
	}
	ctx := context.WithValue(l.ctx, oauth2.HTTPClient, &http.Client{Timeout: l.settings.Timeout})
	creds, err := google.FindDefaultCredentials(ctx, gsScope)
	if err == nil {
		b.tokens = creds.TokenSource
	} else if os.Getenv("GOOGLE_APPLICATION_CREDENTIALS") != "" {
		return nil, fmt.Errorf("the credentials that GOOGLE_APPLICATION_CREDENTIALS names: %w", err)
	}
	return b, nil
}

// A gsObject is what Google knows of an object.
type gsObject struct {
	Name       string    `json:"name"`
	Size       int64     `json:"size,string"`
	Generation string    `json:"generation"`
	CRC32C     string    `json:"crc32c"`
	Updated    time.Time `json:"updated"`
}

const gsFields = "name,size,generation,crc32c,updated"

func (o *gsObject) object() object {
	sum, _ := base64.StdEncoding.DecodeString(o.CRC32C) // no sum is like a wrong one
	return object{size: o.Size, etag: o.Generation, modified: o.Updated, mark: gsTag(append(sum, 0, 0, 0, 0), o.Size)}
}

// gsTag returns what identifies bytes: their CRC-32C and their number.
func gsTag(sum []byte, size int64) string { return fmt.Sprintf("%08x/%d", sum[:4], size) }

// A gsRequest is a request to the server.
type gsRequest struct {
	method string
	path   string // of the interface, escaped
	query  url.Values
	header map[string]string
	body   []io.Reader
	length int64 // of body
}

// object returns the path of an object.
func (b *gsBucket) object(key string) string {
	return "/storage/v1/b/" + url.PathEscape(b.name) + "/o/" + url.PathEscape(key)
}

// do makes a request. If it succeeds, the body of the answer is the caller's to close.
func (b *gsBucket) do(ctx context.Context, r *gsRequest) (*http.Response, error) {
	u := b.base + r.path
	if len(r.query) > 0 {
		u += "?" + r.query.Encode()
	}
	var body io.Reader
	if len(r.body) > 0 {
		body = io.MultiReader(r.body...)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, u, body)
	if err != nil {
		return nil, plain(err)
	}
	req.ContentLength = r.length
	req.Header.Set("User-Agent", "bagconv")
	for k, v := range r.header {
		req.Header.Set(k, v)
	}
	if b.tokens != nil {
		token, err := b.tokens.Token()
		if err != nil {
			return nil, tokenError(err)
		}
		token.SetAuthHeader(req)
	}
	resp, err := b.link.client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	return nil, errors.Join(b.refused(resp), resp.Body.Close())
}

// tokenError is the error of a failed request for an access token. Its text never has a token.
func tokenError(err error) error {
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) && refused.Response != nil {
		return &statusError{code: refused.Response.StatusCode,
			text: "no access token from the credentials that were found: " + cmp.Or(refused.ErrorCode, "no reason given")}
	}
	return fmt.Errorf("no access token from the credentials that were found: %w", plain(err))
}

// refused returns the error of an answer.
func (b *gsBucket) refused(resp *http.Response) error {
	err := refusal(resp).(*statusError)
	var answer struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&answer) == nil {
		err.text, _, _ = strings.Cut(answer.Error.Message, "\n")
	}
	if b.tokens == nil && (err.code == 401 || err.code == 403) {
		err.text = "no credentials were found, see docs/remote.md for where they are taken from"
	}
	return err
}

// errNoAnswer is the error of an answer that ends within its text, after a status of success.
var errNoAnswer = errors.New("the answer was cut")

// ask makes a request and reads the JSON of its answer.
func (b *gsBucket) ask(ctx context.Context, r *gsRequest, into any) error {
	resp, err := b.do(ctx, r)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if r.method != http.MethodGet && err != nil { // it is done, as the status says
		return errors.Join(resp.Body.Close(), errNoAnswer)
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	if err = errors.Join(err, resp.Body.Close()); err != nil || into == nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("the server's answer is not JSON: %w", err)
	}
	return nil
}

func (b *gsBucket) head(ctx context.Context, key string) (object, []byte, error) {
	var o gsObject
	err := b.ask(ctx, &gsRequest{method: "GET", path: b.object(key), query: url.Values{"fields": {gsFields}}}, &o)
	if errors.Is(err, errNoAnswer) {
		return b.headers(ctx, key)
	}
	return o.object(), nil, err
}

// headers is head by the headers of an answer, which arrive although its text is cut.
func (b *gsBucket) headers(ctx context.Context, key string) (o object, _ []byte, err error) {
	resp, err := b.do(ctx, &gsRequest{method: "GET", path: b.object(key), query: url.Values{"alt": {"media"}},
		header: map[string]string{"Range": "bytes=0-0", "Accept-Encoding": "gzip"}})
	if err != nil {
		return o, nil, err
	}
	h := resp.Header
	g := gsObject{Generation: h.Get("X-Goog-Generation")}
	_, length, _ := strings.Cut(h.Get("Content-Range"), "/")
	g.Size, err = strconv.ParseInt(length, 10, 64)
	for _, values := range h.Values("X-Goog-Hash") {
		for _, v := range strings.Split(values, ",") {
			if sum, ok := strings.CutPrefix(strings.TrimSpace(v), "crc32c="); ok {
				g.CRC32C = sum
			}
		}
	}
	g.Updated, _ = http.ParseTime(h.Get("Last-Modified"))
	if _ = resp.Body.Close(); err != nil || g.Generation == "" || g.CRC32C == "" {
		return o, nil, errCut
	}
	return g.object(), nil, nil
}

func (b *gsBucket) get(ctx context.Context, key string, o *object, off, n int64) (io.ReadCloser, error) {
	resp, err := b.do(ctx, &gsRequest{
		method: "GET", path: b.object(key), query: url.Values{"alt": {"media"}, "generation": {o.etag}},
		// stored bytes, not unpacked ones
		header: map[string]string{"Range": fmt.Sprintf("bytes=%d-%d", off, off+n-1), "Accept-Encoding": "gzip"},
	})
	var s *statusError
	switch {
	case errors.As(err, &s) && (s.code == http.StatusNotFound || s.code == http.StatusPreconditionFailed ||
		s.code == http.StatusRequestedRangeNotSatisfiable):
		return nil, errChanged
	case err != nil:
		return nil, err
	case resp.Header.Get("X-Goog-Generation") != "" && resp.Header.Get("X-Goog-Generation") != o.etag:
		err = errChanged
	case resp.StatusCode != http.StatusPartialContent && (off > 0 || n < o.size):
		err = errRanges
	default:
		return resp.Body, nil
	}
	return nil, errors.Join(err, resp.Body.Close())
}

// pages lists the objects with a prefix, and with a delimiter the folders among them; with few, some of
// them.
func (b *gsBucket) pages(ctx context.Context, prefix, delimiter string, few bool, object func(*gsObject),
	folder func(string)) error {
	for token := ""; ; {
		var page struct {
			Items    []*gsObject `json:"items"`
			Prefixes []string    `json:"prefixes"`
			Next     string      `json:"nextPageToken"`
		}
		q := url.Values{"prefix": {prefix}, "delimiter": {delimiter}, "maxResults": {"1000"},
			"fields": {"items(" + gsFields + "),prefixes,nextPageToken"}}
		if few {
			q.Set("maxResults", "2") // one may be the mark of the folder
		}
		if token != "" {
			q.Set("pageToken", token)
		}
		if err := b.ask(ctx, &gsRequest{method: "GET", path: "/storage/v1/b/" + url.PathEscape(b.name) + "/o", query: q},
			&page); err != nil {
			return err
		}
		for _, o := range page.Items {
			object(o)
		}
		for _, p := range page.Prefixes {
			folder(p)
		}
		if token = page.Next; token == "" || few {
			return nil
		}
	}
}

func (b *gsBucket) list(ctx context.Context, dir string, few bool) (entries []entry, err error) {
	err = b.pages(ctx, dir, "/", few, func(o *gsObject) {
		if o.Name != dir { // which marks a folder
			entries = append(entries, entry{name: strings.TrimPrefix(o.Name, dir), object: o.object()})
		}
	}, func(p string) {
		entries = append(entries, entry{name: strings.TrimSuffix(strings.TrimPrefix(p, dir), "/"), dir: true})
	})
	return entries, err
}
