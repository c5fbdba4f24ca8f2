package serve

import (
	"net"
	"net/http"
	"testing"
	"time"
)

// TestHalfRequests: connections that never send a whole request do not keep others out.
func TestHalfRequests(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const most = 4
	server := &http.Server{ConnContext: withConn, ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { hasWhole(r.Context()) })}
	go func() { _ = server.Serve(limitListener(l, most)) }()
	defer server.Close()
	for range 3 * most {
		c, err := net.Dial("tcp", l.Addr().String())
		if err == nil {
			defer c.Close()
			_, err = c.Write([]byte("GET / HT"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	client := http.Client{Timeout: 20 * time.Second}
	for range most + 1 { // those that have asked stay
		resp, err := client.Get("http://" + l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
}
