package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/bagconv/bagconv/internal/ordered"
	"github.com/bagconv/bagconv/storage"
)

// A web is a host that is asked by http. Its folders cannot be listed: a folder is there if it has
// a file that lists the others.
type web struct {
	link     *link
	scheme   string
	host     string
	secret   secret
	listings []storage.Listing
}

// headBytes is how much of a file comes with the first answer.
const headBytes = blockSize

// request makes a GET request of an object.
func (w *web) request(ctx context.Context, key string) (*http.Request, error) {
	path := strings.ReplaceAll(key, " ", "%20")
	u, err := url.Parse(w.scheme + "://" + w.host + "/" + path)
	if err != nil { // a percent sign that stands for itself
		u = &url.URL{Scheme: w.scheme, Host: w.host, Path: "/" + key}
	}
	u.RawQuery = w.secret.query
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, plain(err)
	}
	if user := w.secret.user; user != nil {
		password, _ := user.Password()
		req.SetBasicAuth(user.Username(), password)
	}
	req.Header.Set("User-Agent", "bagconv")
	return req, nil
}

// head asks for the first bytes: many servers, and URLs that are signed, refuse HEAD.
func (w *web) head(ctx context.Context, key string) (o object, first []byte, err error) {
	req, err := w.request(ctx, key)
	if err != nil {
		return o, nil, err
	}
	req.Header.Set("Range", fmt.Sprintf("bytes=0-%d", headBytes-1))
	resp, err := w.link.client.Do(req)
	if err != nil {
		return o, nil, err
	}
	defer func() { _ = resp.Body.Close() }() // what matters of it was read
	o = objectOf(resp)
	switch resp.StatusCode {
	case http.StatusPartialContent:
		from, to, size, err := contentRange(resp)
		if err != nil || from != 0 {
			return o, nil, errRanges
		}
		o.size = size
		first, err = io.ReadAll(io.LimitReader(resp.Body, to+1))
		if err != nil || int64(len(first)) != to+1 {
			first = nil // they can be asked for again
		}
		return o, first, nil
	case http.StatusRequestedRangeNotSatisfiable: // of an empty file
		if strings.HasSuffix(resp.Header.Get("Content-Range"), "/0") {
			return o, nil, nil
		}
	case http.StatusOK:
		if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") && strings.HasSuffix(resp.Request.URL.Path, "/") {
			return o, nil, &statusError{code: 404, text: "a page that lists a folder"}
		}
		if o.size = resp.ContentLength; o.size == 0 {
			return o, nil, nil
		}
		return o, nil, errRanges
	}
	return o, nil, refusal(resp)
}

// get asks for a range, of the version that is known.
func (w *web) get(ctx context.Context, key string, o *object, off, n int64) (io.ReadCloser, error) {
	req, err := w.request(ctx, key)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", off, off+n-1))
	if o.etag != "" && !strings.HasPrefix(o.etag, "W/") {
		req.Header.Set("If-Match", o.etag)
	}
	resp, err := w.link.client.Do(req)
	if err != nil {
		return nil, err
	}
	switch resp.StatusCode {
	case http.StatusPartialContent:
		from, _, size, err := contentRange(resp)
		if now := objectOf(resp); err != nil || from != off {
			err = errRanges
		} else if size != o.size || now.etag != o.etag || o.etag == "" && !now.modified.Equal(o.modified) {
			err = errChanged
		}
		if err != nil {
			return nil, errors.Join(err, resp.Body.Close())
		}
		return resp.Body, nil
	case http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable, http.StatusNotFound:
		err = errChanged
	case http.StatusOK:
		err = errRanges
	default:
		err = refusal(resp)
	}
	_ = resp.Body.Close() // the status says enough
	return nil, err
}

// list returns the files that the listing file of a folder names.
func (w *web) list(ctx context.Context, dir string, _ bool) (entries []entry, err error) {
	const most = 16 << 20 // bytes
	for _, l := range w.listings {
		req, err := w.request(ctx, dir+l.Name)
		if err != nil {
			return nil, err
		}
		resp, err := w.link.client.Do(req)
		if err != nil {
			return nil, err
		}
		o := objectOf(resp)
		text, err := io.ReadAll(io.LimitReader(resp.Body, most))
		switch err = errors.Join(err, resp.Body.Close()); {
		case resp.StatusCode == http.StatusNotFound:
			continue
		case resp.StatusCode != http.StatusOK:
			return nil, refusal(resp)
		case err != nil:
			return nil, err
		}
		o.size = int64(len(text))
		return w.listed(ctx, dir, []entry{{name: l.Name, object: o}}, l.Files(text))
	}
	return nil, nil
}

// listed appends to a list the files that are there among some names.
func (w *web) listed(ctx context.Context, dir string, list []entry, names []string) ([]entry, error) {
	found := make([]*object, len(names))
	err := ordered.Each(ctx, w.link.settings.Connections, len(names), func(i int) error {
		var refused *statusError
		o, _, err := w.head(ctx, dir+names[i])
		if err == nil {
			found[i] = &o
		} else if errors.As(err, &refused) && !refused.transient() {
			err = nil
		}
		return err
	})
	for i, name := range names {
		if found[i] != nil {
			list = append(list, entry{name: name, object: *found[i]})
		}
	}
	return list, err
}

func objectOf(resp *http.Response) object {
	modified, _ := http.ParseTime(resp.Header.Get("Last-Modified")) // zero without the header
	return object{etag: resp.Header.Get("ETag"), modified: modified}
}

// contentRange reads "bytes 0-99/1000".
func contentRange(resp *http.Response) (from, to, size int64, err error) {
	_, err = fmt.Sscanf(resp.Header.Get("Content-Range"), "bytes %d-%d/%d", &from, &to, &size)
	if err == nil && (from < 0 || to < from || to >= size) {
		err = errRanges
	}
	return from, to, size, err
}

// refusal returns the error of a status.
func refusal(resp *http.Response) error {
	after, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
	return &statusError{code: resp.StatusCode, after: time.Duration(min(max(after, 0), 3600)) * time.Second}
}
