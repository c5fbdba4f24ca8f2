package serve

import (
	"net/http"

	"github.com/bagconv/bagconv/internal/live/access"
)

// admit answers requests that are not to be answered otherwise: of strangers, of other methods, and
// requests that ask what is allowed. It sets the headers that all answers have.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) bool {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin") // of what pages load without asking
	h.Set("Referrer-Policy", "no-referrer")
	h.Add("Vary", "Origin")
	if status, reason := s.rules().Refuse(r); status != 0 {
		fail(w, status, reason)
		return false
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers",
			"Accept-Ranges, Content-Encoding, Content-Length, Content-Range, Content-Type, ETag, Last-Modified")
	}
	const methods = "GET, HEAD, OPTIONS"
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return true
	case http.MethodOptions:
		h.Set("Allow", methods)
		if r.Header.Get("Origin") != "" {
			h.Set("Access-Control-Allow-Methods", methods)
			h.Set("Access-Control-Allow-Headers", "Range, If-Range, If-None-Match, If-Modified-Since, Cache-Control")
			h.Set("Access-Control-Max-Age", "600")
			if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
				h.Set("Access-Control-Allow-Private-Network", "true")
			}
		}
		w.WriteHeader(http.StatusNoContent)
	default:
		h.Set("Allow", methods)
		fail(w, http.StatusMethodNotAllowed, "This server only reads: "+methods+".")
	}
	return false
}

// rules are who may connect.
func (s *Server) rules() *access.Rules {
	return &access.Rules{Origins: s.config.Origins, Hosts: s.config.Hosts}
}
