package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/outward"
	"github.com/bagconv/bagconv/storage"
)

// Settings are the limits of all that a process reads and writes elsewhere. Zeros are defaults.
type Settings struct {
	Connections int           // requests at a time
	Bandwidth   int64         // bytes per second, of all requests; 0: no limit
	Timeout     time.Duration // without a byte, of one request
	Retries     int           // attempts after the first, of a request that gets nowhere; -1: none
	Memory      int64         // bytes of outputs that wait to be sent; more of them wait in a temporary file

	Meter *iox.Meter // counts what is sent and received; nil: nothing is counted

	Note func(text string) // is told what may surprise; nil: nobody is

	Listings []storage.Listing // of folders, for servers that do not list any
}

// The defaults of Settings.
const (
	DefaultConnections = 8
	DefaultTimeout     = 60 * time.Second
	DefaultRetries     = 6
	DefaultMemory      = 64 << 20
)

// Pause is how long to wait before the second attempt of a request, at most; each further one may
// wait twice as long. Tests make it shorter.
var Pause = 200 * time.Millisecond

// A link makes requests within limits, which it takes from the settings at the first request.
type link struct {
	initial  *Settings
	once     sync.Once
	settings Settings
	ctx      context.Context
	client   *http.Client
	slots    chan struct{}

	pause time.Duration // see Pause

	epoch atomic.Int64 // grows with each request that may change something, and if something has changed

	mu   sync.Mutex
	free time.Time // when the bandwidth is free again
}

func newLink(ctx context.Context, s *Settings) *link {
	l := &link{initial: s, ctx: ctx, pause: Pause}
	l.client = &http.Client{Transport: &meter{link: l}, CheckRedirect: redirect}
	return l
}

// ready takes the settings, once.
func (l *link) ready() {
	l.once.Do(func() {
		s := *l.initial
		if s.Connections <= 0 {
			s.Connections = DefaultConnections
		}
		if s.Timeout <= 0 {
			s.Timeout = DefaultTimeout
		}
		if s.Retries == 0 {
			s.Retries = DefaultRetries
		}
		if s.Memory <= 0 {
			s.Memory = DefaultMemory
		}
		transport := http.DefaultTransport.(*http.Transport).Clone()
		transport.MaxIdleConnsPerHost = s.Connections
		transport.DisableCompression = true // ranges are of the stored bytes
		l.client.Transport.(*meter).base = transport
		l.settings, l.slots = s, make(chan struct{}, s.Connections)
	})
}

// redirect follows redirects within a host as they are, and redirects to other hosts without
// credentials.
func redirect(req *http.Request, via []*http.Request) error {
	if len(via) >= 10 {
		return errors.New("the server redirects without end")
	}
	if first := via[0].URL; req.URL.Host != first.Host || first.Scheme == "https" && req.URL.Scheme != "https" {
		for _, h := range []string{"Authorization", "Cookie", "X-Amz-Security-Token"} {
			req.Header.Del(h)
		}
	}
	if err := outward.Check(req.Context(), req.URL.Hostname(), via[0].URL.Hostname()); err != nil {
		return fmt.Errorf("the server redirects to %w: name that URL yourself, if you mean it", err)
	}
	req.Header.Del("Referer") // it would be the URL before, with its query
	return nil
}

// A meter counts what requests send and receive, and slows them down to the bandwidth. A request
// that sends nothing, or receives less than leastBytes, for as long as the time limit is ended.
type meter struct {
	link *link
	base http.RoundTripper
}

func (m *meter) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	counts := iox.MeterOf(ctx)
	counts.AddRequest()
	clock := time.AfterFunc(m.link.settings.Timeout, func() { cancel(errTimeout) })
	w := &meteredBody{link: m.link, counts: counts, clock: clock, cancel: cancel}
	req = req.Clone(ctx)
	if req.Body != nil && req.Body != http.NoBody {
		req.Body = &meteredBody{link: m.link, counts: counts, clock: clock, cancel: func(error) {}, body: req.Body,
			sent: true}
	}
	resp, err := m.base.RoundTrip(req)
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		m.link.epoch.Add(1)
	}
	if err != nil {
		clock.Stop()
		if context.Cause(ctx) == errTimeout {
			err = errTimeout
		} else if errors.Is(err, io.EOF) {
			err = errCut
		}
		cancel(nil)
		return nil, err
	}
	clock.Reset(m.link.settings.Timeout)
	w.body, w.ctx, w.end = resp.Body, ctx, time.Now().Add(m.link.settings.Timeout)
	resp.Body = w
	return resp, nil
}

var errTimeout = errors.New("no answer within the time limit, or next to nothing of it")

// A meteredBody is what is sent or received.
type meteredBody struct {
	link   *link
	counts *iox.Meter
	clock  *time.Timer
	cancel func(error)
	ctx    context.Context
	body   io.ReadCloser
	sent   bool

	got int       // bytes since end was set
	end time.Time // when the clock ends the request
}

// leastBytes is how much of an answer must come within the time limit, unless it ends: a server that sends one byte
// now and then would otherwise be waited for without end.
const leastBytes = 16 << 10

func (b *meteredBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p[:min(len(p), 256<<10)])
	b.clock.Stop()
	if b.sent {
		b.counts.AddWritten(int64(n))
	} else {
		b.counts.AddRead(int64(n))
	}
	waited := b.link.pace(n)
	if b.got += n; b.sent || b.got >= leastBytes {
		b.got, b.end = 0, time.Now().Add(b.link.settings.Timeout)
	} else {
		b.end = b.end.Add(waited)
	}
	b.clock.Reset(time.Until(b.end))
	if err != nil && b.ctx != nil && context.Cause(b.ctx) == errTimeout {
		err = errTimeout
	}
	return n, err
}

func (b *meteredBody) Close() error {
	b.clock.Stop()
	err := b.body.Close()
	b.cancel(nil)
	return err
}

// pace waits until n more bytes fit into the bandwidth, and returns for how long.
func (l *link) pace(n int) time.Duration {
	if l.settings.Bandwidth <= 0 || n == 0 {
		return 0
	}
	l.mu.Lock()
	now := time.Now()
	if l.free.Before(now) {
		l.free = now
	}
	l.free = l.free.Add(time.Duration(float64(n) / float64(l.settings.Bandwidth) * float64(time.Second)))
	wait := l.free.Sub(now)
	l.mu.Unlock()
	select {
	case <-time.After(wait):
	case <-l.ctx.Done():
	}
	return wait
}

// do calls f until it succeeds, fails for good, or has failed too often: the count begins anew when f
// returns that it got further. Each call waits for its turn among the requests.
func (l *link) do(ctx context.Context, f func(ctx context.Context) (further bool, err error)) error {
	for tries, failed := 1, 0; ; tries++ {
		select {
		case l.slots <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		further, err := f(ctx)
		<-l.slots
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err = plain(err)
		if !temporary(err) {
			return err
		}
		if failed++; further {
			failed = 1
		}
		if failed > max(l.settings.Retries, 0) {
			return &transientError{tries, err}
		}
		iox.MeterOf(ctx).AddRetry()
		select {
		case <-time.After(l.backoff(failed, err)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// backoff returns how long to wait after so many failures in a row: any time up to a limit that
// doubles, so that many clients do not come back together.
func (l *link) backoff(failed int, err error) time.Duration {
	const most = 20 * time.Second
	wait := time.Duration(rand.Int64N(int64(min(l.pause<<min(failed-1, 10), most))))
	var s *statusError
	if errors.As(err, &s) && s.after > 0 {
		wait += min(s.after, most)
	}
	return wait
}

// plain takes the URL, with its query, away from an error of a request.
func plain(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	var c *tls.CertificateVerificationError
	if errors.As(err, &c) {
		return fmt.Errorf("%w; if you trust the server, set SSL_CERT_FILE, or for S3 AWS_CA_BUNDLE, to a file with the "+
			"certificate of its authority", err)
	}
	return err
}

// temporary reports whether another attempt may succeed.
func temporary(err error) bool {
	var s *statusError
	var n net.Error
	var dns *net.DNSError
	switch {
	case errors.As(err, &s):
		return s.transient()
	case errors.As(err, &dns):
		return !dns.IsNotFound
	case errors.As(err, &n), errors.Is(err, errTimeout), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return true
	}
	return errors.Is(err, errCut)
}
