//go:build clouds

package s3test

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// gcsFront starts what stands in front of fake-gcs-server, which puts objects together without
// looking at conditions, and keeps the generation of an object that is replaced so. Google's
// documents: "ifGenerationMatch: 0" is for a name without an object, and each object has a
// generation of its own.
func gcsFront(t *testing.T, endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	proxy := httputil.NewSingleHostReverseProxy(u)
	proxy.ErrorLog = log.New(io.Discard, "", 0) // it is not up yet, or a client was killed
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		target, compose := strings.CutSuffix(r.URL.EscapedPath(), "/compose")
		if !compose {
			proxy.ServeHTTP(w, r)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		req, err := http.NewRequest(http.MethodGet, endpoint+target, nil)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		there := status(req) == http.StatusOK
		if there && r.URL.Query().Get("ifGenerationMatch") == "0" {
			http.Error(w, `{"error":{"code":412,"message":"a condition does not hold"}}`, http.StatusPreconditionFailed)
			return
		}
		if there {
			req.Method = http.MethodDelete
			status(req)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// status makes a request and returns the status of the answer, 0 for none.
func status(req *http.Request) int {
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.Body.Close() != nil {
		return 0
	}
	return resp.StatusCode
}
