package s3test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Faults starts a proxy that fails each request once, every other time after the server has done
// what was asked. Then it cuts the answer at a random byte: the answer with a range each time, other
// answers once, or with always each time. It sets the environment for the proxy.
func (s *Server) Faults(t *testing.T, always bool) {
	t.Helper()
	p := &proxy{always: always, host: s.host(), seen: map[string]int{}, rng: rand.New(rand.NewPCG(1, 2))}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	s.Use(t, server.URL)
}

type proxy struct {
	always bool
	host   string
	mu     sync.Mutex
	seen   map[string]int
	rng    *rand.Rand
}

// next returns how often a request has come, and a random number.
func (p *proxy) next(r *http.Request) (times, random int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := r.Method + r.URL.String() + r.Header.Get("Range")
	p.seen[k]++
	return p.seen[k], p.rng.IntN(1 << 30)
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	times, random := p.next(r)
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if times == 1 && random%2 == 0 {
		w.WriteHeader([]int{500, 502, 503, 504, 429}[random%5])
		return
	}
	req, err := http.NewRequestWithContext(r.Context(), r.Method, "http://"+p.host+r.URL.RequestURI(),
		bytes.NewReader(body))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	req.Header, req.Host, req.ContentLength = r.Header, r.Host, int64(len(body)) // signatures are of that host
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	answer, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || times == 1 {
		panic(http.ErrAbortHandler) // it is done, and nobody knows
	}
	for k, v := range resp.Header {
		w.Header()[k] = v
	}
	w.WriteHeader(resp.StatusCode)
	ranged := resp.StatusCode == http.StatusPartialContent
	if cut := len(answer) > 0 && (ranged || times == 2 || p.always) && !strings.Contains(r.Method, "HEAD"); cut {
		n := 1 + random%len(answer)
		_, _ = w.Write(answer[:n])
		w.(http.Flusher).Flush()
		if n < len(answer) {
			panic(http.ErrAbortHandler)
		}
		return
	}
	_, _ = w.Write(answer)
}
