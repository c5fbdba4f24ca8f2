package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/bagconv/bagconv/storage"
)

// An object is what a store knows of an object, in one version.
type object struct {
	size     int64
	etag     string // of this version; "" if the store has none
	modified time.Time
	mark     string // identifies an object that this program has written; see sink.mark
}

// An entry of a listing is an object, or a folder of objects.
type entry struct {
	name string // without its folder
	dir  bool
	object
}

// A store has objects by key. Its methods make one attempt each; a Reader fails at any byte.
type store interface {
	// head returns what is known of an object. first has what came with the answer of the
	// object's first bytes; nil if nothing did.
	head(ctx context.Context, key string) (o object, first []byte, err error)

	// get returns n bytes at off of the object in the version of o. The error of another
	// version is errChanged.
	get(ctx context.Context, key string, o *object, off, n int64) (io.ReadCloser, error)

	// list returns what is in the folder dir, which ends with a slash or is "". An empty
	// folder is one that does not exist. With few, some of it is enough.
	list(ctx context.Context, dir string, few bool) ([]entry, error)
}

// A sink is a store that objects can be written to. An object appears when it is whole. With
// only, no object of that key may exist: if one does, the error is a statusError 409 or 412, if the
// store can tell.
type sink interface {
	store

	// put writes an object at once.
	put(ctx context.Context, key string, data []byte, only bool) error

	// begin starts an object in parts, which complete puts together, in the order of their
	// numbers, from 1 on. Parts may be sent in any order.
	begin(ctx context.Context, key string) (id string, err error)
	part(ctx context.Context, key, id string, number int, data []byte) (tag string, err error)
	complete(ctx context.Context, key, id string, tags []string, only bool) error
	abort(ctx context.Context, key, id string) error

	// keepsParts reports whether an object that is complete must be aborted, too.
	keepsParts() bool

	// tag returns what part returns for these bytes, and mark the mark of an object of such
	// parts. The id of an object that put writes is "", and its mark is its tag.
	tag(id string, number int, data []byte) string
	mark(id string, tags []string) string

	remove(ctx context.Context, key string) error

	// uploads lists the objects that were begun, and not completed; lastPart returns
	// when the last part of an upload was sent, zero if nothing was.
	uploads(ctx context.Context, prefix string) ([]upload, error)
	lastPart(ctx context.Context, key, id string) (time.Time, error)

	// where describes the store for other processes.
	where() string
}

// A copier is a sink whose server copies objects by itself.
type copier interface {
	// copyPart is part, with n bytes at off of the object from in the version of o; n is no larger
	// than piece.
	copyPart(ctx context.Context, key, id string, number int, from string, o *object, off, n int64) (tag string, err error)
	piece() int64
}

// An upload is an object that was begun.
type upload struct {
	key, id string
	last    time.Time // when something was last sent
}

// Errors of objects.
var (
	errChanged = fmt.Errorf("it was replaced while it was read; read it again: %w", storage.ErrCorrupt)
	errRanges  = fmt.Errorf(
		"the server sends whole files only, no ranges; download it first (curl -O), and read the file: %w",
		storage.ErrUnsupported)
)

// A statusError is the answer of a server that refuses.
type statusError struct {
	code  int
	text  string // of the server, "" for none
	after time.Duration
}

func (e *statusError) Error() string {
	what := map[int]string{
		301: "the server redirects to another one (status 301): set AWS_REGION or AWS_ENDPOINT_URL",
		302: "the server redirects to another one (status 302): set AWS_REGION or AWS_ENDPOINT_URL",
		307: "the server redirects to another one (status 307): set AWS_REGION or AWS_ENDPOINT_URL",
		308: "the server redirects to another one (status 308): set AWS_REGION or AWS_ENDPOINT_URL",
		401: "it takes a password or a key (status 401); see docs/remote.md for where they are taken from",
		403: "no permission, or wrong or expired credentials (status 403)",
		404: "no such object (status 404)",
		412: "it was changed meanwhile (status 412)",
		416: "it is shorter than expected (status 416)",
		429: "too many requests (status 429)",
		503: "the server asks for fewer requests (status 503)",
		507: "the store is full (status 507): free some of it, or write elsewhere",
	}[e.code]
	switch {
	case strings.HasPrefix(e.text, "ExpiredToken"):
		what = fmt.Sprintf("the credentials have expired: get new ones (status %d)", e.code)
	case strings.HasPrefix(e.text, "QuotaExceeded"):
		what = fmt.Sprintf("the store is full (status %d): free some of it, or write elsewhere", e.code)
	case what == "":
		what = fmt.Sprintf("status %d", e.code)
	}
	if e.text != "" {
		what += ": " + e.text
	}
	return what
}

// Is maps the statuses of HTTP to the errors of package fs.
func (e *statusError) Is(target error) bool {
	switch target {
	case fs.ErrNotExist:
		return e.code == 404 || e.code == 410
	case fs.ErrPermission:
		return e.code == 401 || e.code == 403
	}
	return false
}

// transient reports whether another attempt may succeed.
func (e *statusError) transient() bool {
	switch e.code {
	case 408, 429, 500, 502, 503, 504:
		return true
	}
	return false
}

// Transient reports whether an error may be gone if the same is done later: the
// network, or a server that is overloaded.
func Transient(err error) bool {
	var t *transientError
	return errors.As(err, &t)
}

// A transientError is what attempts have ended with.
type transientError struct {
	tries int
	err   error
}

func (e *transientError) Error() string {
	if e.tries == 1 {
		return e.err.Error()
	}
	return fmt.Sprintf("%v (after %d attempts)", e.err, e.tries)
}

// Transient reports that the same may succeed later.
func (e *transientError) Transient() bool { return true }

func (e *transientError) Unwrap() error { return e.err }
