package remote

import (
	"bytes"
	"context"
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
)

// A bucket is a bucket of S3, or of a server that speaks its language.
type bucket struct {
	core *minio.Core
	name string
	anon bool // there are no credentials
}

// impatient makes the library wait no longer than link.do does: it would even after the last attempt.
var impatient = sync.OnceFunc(func() { minio.DefaultRetryUnit = time.Nanosecond })

// newBucket returns the bucket of that name, with the endpoint, region and credentials of the
// environment.
func newBucket(l *link, name string) (*bucket, error) {
	impatient()
	conf, err := awsConfig(l)
	if err != nil {
		return nil, err
	}
	core, err := minio.NewCore(conf.host, &minio.Options{
		Creds: conf.creds, Secure: conf.secure, Transport: conf.transport, Region: conf.region, BucketLookup: conf.lookup,
		MaxRetries: 1, // link.do makes further attempts
	})
	if err != nil {
		return nil, err
	}
	return &bucket{core, name, conf.anonymous}, nil
}

// refused turns the answer of a server into a statusError.
func (b *bucket) refused(err error) error {
	var r minio.ErrorResponse
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errTimeout):
		return errTimeout
	case !errors.As(err, &r) || r.StatusCode == 0 && r.Code == "":
		return err
	case r.StatusCode == 0 || r.StatusCode == 200: // an error in an answer that began well
		r.StatusCode = map[string]int{"InternalError": 500, "SlowDown": 503, "ServiceUnavailable": 503,
			"PreconditionFailed": 412, "NoSuchKey": 404, "NoSuchBucket": 404, "NoSuchUpload": 404}[r.Code]
	case r.Code == "RequestTimeout":
		r.StatusCode = 408
	}
	s := &statusError{code: r.StatusCode, text: r.Code}
	switch {
	case s.code == 403 && b.anon:
		s.text += "; no credentials were found, see docs/remote.md for where they are taken from"
	case r.Message != "" && r.Message != r.Code:
		s.text += ": " + r.Message
	}
	return s
}

func (b *bucket) head(ctx context.Context, key string) (o object, _ []byte, err error) {
	st, err := b.core.StatObject(ctx, b.name, key, minio.StatObjectOptions{})
	var r minio.ErrorResponse
	if errors.As(err, &r) && (r.StatusCode == 400 || r.StatusCode == 403) { // the answer to HEAD has no reason
		err = b.reason(ctx, key, err)
	}
	if err != nil {
		return o, nil, b.refused(err)
	}
	return object{size: st.Size, etag: st.ETag, modified: st.LastModified, mark: st.ETag}, nil, nil
}

// reason asks for the first byte of an object that was refused without a reason.
func (b *bucket) reason(ctx context.Context, key string, refused error) error {
	var options minio.GetObjectOptions
	if err := options.SetRange(0, 0); err != nil {
		return refused
	}
	body, _, _, err := b.core.GetObject(ctx, b.name, key, options)
	if err == nil {
		return errors.Join(refused, body.Close())
	}
	return err
}

func (b *bucket) get(ctx context.Context, key string, o *object, off, n int64) (io.ReadCloser, error) {
	var options minio.GetObjectOptions
	if err := options.SetRange(off, off+n-1); err != nil {
		return nil, err
	}
	if o.etag != "" { // some servers have no tag for objects that were put into their folder
		if err := options.SetMatchETag(o.etag); err != nil {
			return nil, err
		}
	}
	body, st, _, err := b.core.GetObject(ctx, b.name, key, options)
	if err != nil {
		err = b.refused(err)
		var s *statusError
		if errors.As(err, &s) && (s.code == http.StatusPreconditionFailed ||
			s.code == http.StatusRequestedRangeNotSatisfiable || s.code == http.StatusNotFound) {
			return nil, errChanged
		}
		return nil, err
	}
	if st.ETag != o.etag || o.etag == "" && !st.LastModified.Equal(o.modified) { // the server knows no If-Match
		return nil, errors.Join(errChanged, body.Close())
	}
	return body, nil
}

func (b *bucket) list(ctx context.Context, dir string, few bool) (entries []entry, err error) {
	limit := 1000
	if few {
		limit = 2 // one may be the mark of the folder
	}
	for token := ""; ; {
		page, err := b.core.ListObjectsV2(b.name, dir, "", token, "/", limit)
		if err != nil {
			return nil, b.refused(err)
		}
		for _, p := range page.CommonPrefixes {
			entries = append(entries, entry{name: strings.TrimSuffix(strings.TrimPrefix(p.Prefix, dir), "/"), dir: true})
		}
		for _, c := range page.Contents {
			if c.Key != dir { // which marks a folder
				entries = append(entries, entry{name: strings.TrimPrefix(c.Key, dir),
					object: object{size: c.Size, etag: strings.Trim(c.ETag, `"`), modified: c.LastModified}})
			}
		}
		if token = page.NextContinuationToken; !page.IsTruncated || token == "" || few || ctx.Err() != nil {
			return entries, ctx.Err()
		}
	}
}

// options are for writing an object; with only, the server is asked to refuse if there is an object.
func options(only bool) (o minio.PutObjectOptions) {
	o.ContentType = "application/octet-stream"
	if only {
		o.SetMatchETagExcept("*")
	}
	return o
}

func hexSum(data []byte) string { return fmt.Sprintf("%x", md5.Sum(data)) }

func digest(data []byte) string {
	sum := md5.Sum(data)
	return base64.StdEncoding.EncodeToString(sum[:])
}

func (b *bucket) put(ctx context.Context, key string, data []byte, only bool) error {
	_, err := b.core.PutObject(ctx, b.name, key, bytes.NewReader(data), int64(len(data)), digest(data), "", options(only))
	return b.refused(err)
}

func (b *bucket) begin(ctx context.Context, key string) (string, error) {
	id, err := b.core.NewMultipartUpload(ctx, b.name, key, options(false))
	return id, b.refused(err)
}

func (b *bucket) part(ctx context.Context, key, id string, number int, data []byte) (string, error) {
	p, err := b.core.PutObjectPart(ctx, b.name, key, id, number, bytes.NewReader(data), int64(len(data)),
		minio.PutObjectPartOptions{Md5Base64: digest(data)})
	return strings.Trim(p.ETag, `"`), b.refused(err)
}

func (b *bucket) copyPart(ctx context.Context, key, id string, number int, from string, o *object, off,
	n int64) (string, error) {
	p, err := b.core.CopyObjectPart(ctx, b.name, from, b.name, key, id, number, off, n,
		map[string]string{"x-amz-copy-source-if-match": o.etag})
	return strings.Trim(p.ETag, `"`), b.refused(err)
}

func (b *bucket) complete(ctx context.Context, key, id string, tags []string, only bool) error {
	parts := make([]minio.CompletePart, len(tags))
	for i, tag := range tags {
		parts[i] = minio.CompletePart{PartNumber: i + 1, ETag: tag}
	}
	_, err := b.core.CompleteMultipartUpload(ctx, b.name, key, id, parts, options(only))
	return b.refused(err)
}

func (b *bucket) abort(ctx context.Context, key, id string) error {
	return b.refused(b.core.AbortMultipartUpload(ctx, b.name, key, id))
}

func (b *bucket) piece() int64     { return 256 << 20 } // the answer comes when all is copied
func (b *bucket) keepsParts() bool { return false }

func (b *bucket) tag(_ string, _ int, data []byte) string { return hexSum(data) }

// mark returns the tag that S3 gives an object of such parts.
func (b *bucket) mark(_ string, tags []string) string {
	all := md5.New()
	for _, tag := range tags {
		sum, _ := hex.DecodeString(tag) // another kind of tag makes one that no object has
		all.Write(sum)
	}
	return fmt.Sprintf("%x-%d", all.Sum(nil), len(tags))
}

func (b *bucket) remove(ctx context.Context, key string) error {
	return b.refused(b.core.RemoveObject(ctx, b.name, key, minio.RemoveObjectOptions{}))
}

func (b *bucket) uploads(ctx context.Context, prefix string) (list []upload, err error) {
	for key, id := "", ""; ; {
		page, err := b.core.ListMultipartUploads(ctx, b.name, prefix, key, id, "", 1000)
		if err != nil {
			return nil, b.refused(err)
		}
		for _, u := range page.Uploads {
			list = append(list, upload{key: u.Key, id: u.UploadID, last: u.Initiated})
		}
		if key, id = page.NextKeyMarker, page.NextUploadIDMarker; !page.IsTruncated || key == "" {
			return list, nil
		}
	}
}

func (b *bucket) lastPart(ctx context.Context, key, id string) (last time.Time, err error) {
	for marker := 0; ; {
		page, err := b.core.ListObjectParts(ctx, b.name, key, id, marker, 1000)
		if err != nil {
			return last, b.refused(err)
		}
		for _, p := range page.ObjectParts {
			if p.LastModified.After(last) {
				last = p.LastModified
			}
		}
		if marker = page.NextPartNumberMarker; !page.IsTruncated || marker == 0 {
			return last, nil
		}
	}
}

// where describes the bucket so that another process finds it.
func (b *bucket) where() string {
	u := b.core.EndpointURL()
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/" + b.name}).String()
}

var _ interface {
	sink
	copier
} = (*bucket)(nil)

var errEndpoint = fmt.Errorf("AWS_ENDPOINT_URL must be a URL such as https://minio.example.org:9000")
