package serve

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// admit answers requests that are not to be answered otherwise: of strangers, of other methods,
// and those that ask what is allowed. It sets the headers that all answers have.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) bool {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin") // of what pages load without asking
	h.Set("Referrer-Policy", "no-referrer")
	h.Add("Vary", "Origin")
	if !s.isHost(r.Host) {
		fail(w, http.StatusMisdirectedRequest, "This server has no such name; use its address, or start it with --listen NAME:PORT.")
		return false
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		if !s.isOrigin(origin, r.Host) {
			fail(w, http.StatusForbidden, "Pages of this origin may not read here; bagconv serve --allow-origin ORIGIN allows it.")
			return false
		}
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Expose-Headers", "Accept-Ranges, Content-Encoding, Content-Length, Content-Range, Content-Type, ETag, Last-Modified")
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

// isHost reports whether the Host of a request is this server: any address, as only names can be
// made to mean another machine, and the names that it has.
func (s *Server) isHost(hostport string) bool {
	host := hostOf(hostport)
	return host != "" && (net.ParseIP(host) != nil || isLocal(host) || slices.Contains(s.config.Hosts, host))
}

// isOrigin reports whether a page may read: one of this server, of this machine, or one that was
// allowed. A sandboxed page, and a file, have the origin "null".
func (s *Server) isOrigin(origin, host string) bool {
	if slices.Contains(s.config.Origins, "*") || slices.Contains(s.config.Origins, strings.ToLower(origin)) {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return false
	}
	name := hostOf(u.Host)
	if ip := net.ParseIP(name); ip != nil && ip.IsLoopback() {
		return true
	}
	return isLocal(name) || strings.EqualFold(u.Host, host)
}

// isLocal reports whether a name always means this machine.
func isLocal(name string) bool { return name == "localhost" || strings.HasSuffix(name, ".localhost") }

// hostOf returns the host of a host with or without a port, in lower case, without a dot at its end.
func hostOf(hostport string) string {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	} else {
		host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}
