//go:build clouds

package remote

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/bagconv/bagconv/internal/crc"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/ordered"
)

// errSum is the error of an object that the server has with other bytes.
var errSum = errors.New("the server has received other bytes than were sent")

// gsOnly returns the parameters of a request; with only, it may replace nothing.
func gsOnly(only bool) url.Values {
	q := url.Values{"fields": {gsFields}}
	if only {
		q.Set("ifGenerationMatch", "0")
	}
	return q
}

func castagnoli(data []byte) []byte {
	return binary.BigEndian.AppendUint32(nil, crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)))
}

// put sends an object with its checksum, which the server compares.
func (b *gsBucket) put(ctx context.Context, key string, data []byte, only bool) error {
	const boundary = "bagconv-7bd1cf6a1e5f4f3f9d0c"
	sum := castagnoli(data)
	about, err := json.Marshal(map[string]string{"name": key, "contentType": "application/octet-stream",
		"crc32c": base64.StdEncoding.EncodeToString(sum)})
	if err != nil {
		return err
	}
	front := "--" + boundary + "\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n" + string(about) + "\r\n--" +
		boundary + "\r\nContent-Type: application/octet-stream\r\n\r\n"
	end := "\r\n--" + boundary + "--\r\n"
	q := gsOnly(only)
	q.Set("uploadType", "multipart")
	var o gsObject
	err = b.ask(ctx, &gsRequest{
		method: "POST", path: "/upload/storage/v1/b/" + url.PathEscape(b.name) + "/o", query: q,
		header: map[string]string{"Content-Type": "multipart/related; boundary=" + boundary},
		body:   []io.Reader{strings.NewReader(front), bytes.NewReader(data), strings.NewReader(end)},
		length: int64(len(front) + len(data) + len(end)),
	}, &o)
	if err == nil && o.object().mark != gsTag(sum, int64(len(data))) {
		err = errSum
	}
	return done(err)
}

// begin names the folder of the parts.
func (b *gsBucket) begin(_ context.Context, key string) (string, error) {
	dir, base := path.Split(key)
	return fmt.Sprintf("%s.%s.%08x.part/", dir, base, rand.Uint32()), nil
}

func gsPart(id string, number int) string { return fmt.Sprintf("%s%05d", id, number) }

func (b *gsBucket) part(ctx context.Context, _, id string, number int, data []byte) (string, error) {
	return b.tag(id, number, data), b.put(ctx, gsPart(id, number), data, false)
}

// copyPart copies the whole object in one step.
func (b *gsBucket) copyPart(ctx context.Context, _, id string, number int, from string, o *object, _, _ int64) (string,
	error) {
	_, err := b.compose(ctx, gsPart(id, number), []gsSource{{Name: from, Generation: o.etag}}, false)
	return o.mark, done(err)
}

// done takes away the error of a request that has succeeded, but for its answer.
func done(err error) error {
	if errors.Is(err, errNoAnswer) {
		return nil
	}
	return err
}

func (b *gsBucket) piece() int64 { return math.MaxInt64 }

// A gsSource is an object that is put together with others.
type gsSource struct {
	Name       string `json:"name"`
	Generation string `json:"generation,omitempty"`
}

// compose puts objects together, 32 at most.
func (b *gsBucket) compose(ctx context.Context, key string, sources []gsSource, only bool) (o gsObject, err error) {
	text, err := json.Marshal(map[string]any{"sourceObjects": sources,
		"destination": map[string]string{"contentType": "application/octet-stream"}})
	if err != nil {
		return o, err
	}
	err = b.ask(ctx, &gsRequest{
		method: "POST", path: b.object(key) + "/compose", query: gsOnly(only),
		header: map[string]string{"Content-Type": "application/json"},
		body:   []io.Reader{bytes.NewReader(text)}, length: int64(len(text)),
	}, &o)
	return o, err
}

func (b *gsBucket) complete(ctx context.Context, key, id string, tags []string, only bool) error {
	const limit = 32 // objects of one request
	sources := make([]gsSource, len(tags))
	for i := range tags {
		sources[i].Name = gsPart(id, i+1)
	}
	for level := 1; len(sources) > limit; level++ {
		var next []gsSource
		for first := 0; first < len(sources); first += limit {
			name := fmt.Sprintf("%s%d-%05d", id, level, len(next)+1)
			if _, err := b.compose(ctx, name, sources[first:min(first+limit, len(sources))], false); done(err) != nil {
				return err
			}
			next = append(next, gsSource{Name: name})
		}
		sources = next
	}
	o, err := b.compose(ctx, key, sources, only)
	if err == nil && o.object().mark != b.mark(id, tags) {
		err = errSum
	}
	return done(err)
}

// abort removes the parts.
func (b *gsBucket) abort(ctx context.Context, _, id string) (err error) {
	var keys []string
	if err := b.pages(ctx, id, "", false, func(o *gsObject) { keys = append(keys, o.Name) }, nil); err != nil {
		return err
	}
	errs := make([]error, len(keys))
	err = ordered.Each(ctx, b.link.settings.Connections, len(keys), func(i int) error {
		var gone *statusError
		if err := b.remove(ctx, keys[i]); !errors.As(err, &gone) || gone.code != http.StatusNotFound {
			errs[i] = err // the others are removed all the same
		}
		return nil
	})
	return errors.Join(append(errs, err)...)
}

func (b *gsBucket) keepsParts() bool { return true }

func (b *gsBucket) remove(ctx context.Context, key string) error {
	return done(b.ask(ctx, &gsRequest{method: "DELETE", path: b.object(key)}, nil))
}

// uploads lists the folders of parts of the objects whose keys begin with a prefix.
func (b *gsBucket) uploads(ctx context.Context, prefix string) (list []upload, err error) {
	dir, base := path.Split(prefix)
	at := map[string]int{}
	err = b.pages(ctx, dir+"."+base+".", "", false, func(o *gsObject) {
		folder, _, _ := strings.Cut(strings.TrimPrefix(o.Name, dir), "/")
		if !iox.IsTemp(folder) {
			return
		}
		i, known := at[folder]
		if !known {
			i = len(list)
			at[folder] = i
			list = append(list, upload{key: dir + folder[1:len(folder)-len(".XXXXXXXX.part")], id: dir + folder + "/"})
		}
		if o.Updated.After(list[i].last) {
			list[i].last = o.Updated
		}
	}, nil)
	return list, err
}

func (b *gsBucket) lastPart(ctx context.Context, _, id string) (last time.Time, err error) {
	err = b.pages(ctx, id, "", false, func(o *gsObject) {
		if o.Updated.After(last) {
			last = o.Updated
		}
	}, nil)
	return last, err
}

func (b *gsBucket) tag(_ string, _ int, data []byte) string {
	return gsTag(castagnoli(data), int64(len(data)))
}

// mark puts the checksums of parts together.
func (b *gsBucket) mark(_ string, tags []string) string {
	var sum uint32
	var size int64
	for _, tag := range tags {
		text, length, _ := strings.Cut(tag, "/")
		part, _ := strconv.ParseUint(text, 16, 32) // tags are our own
		n, _ := strconv.ParseInt(length, 10, 64)
		sum, size = crc.Join(crc32.Castagnoli, sum, uint32(part), n), size+n
	}
	return gsTag(binary.BigEndian.AppendUint32(nil, sum), size)
}

func (b *gsBucket) where() string { return b.base + "/" + b.name }

var _ interface {
	sink
	copier
} = (*gsBucket)(nil)
