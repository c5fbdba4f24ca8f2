// Package access decides which requests a server of this machine answers. Any web page can make a
// browser connect to it: pages from elsewhere are refused by their Origin, and names that somebody
// else controls by their Host. Rules are safe for concurrent use while nobody changes them.
package access

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Rules are who may connect. The zero value allows this machine, addresses, and pages of this machine.
type Rules struct {
	Origins []string // of pages that may read, such as https://app.foxglove.dev; "*": all
	Hosts   []string // names of this server, in lower case, besides the names of the machine itself and addresses
}

// Refuse returns the status and the reason for which a request is not answered; 0 if it is.
func (a *Rules) Refuse(r *http.Request) (status int, reason string) {
	origin := r.Header.Get("Origin")
	switch {
	case !a.Host(r.Host):
		return http.StatusMisdirectedRequest, "This server has no such name; use its address, or start it with that name " +
			"as its address."
	case origin != "" && !a.Origin(origin, r.Host):
		return http.StatusForbidden, "Pages of this origin may not read here; --allow-origin ORIGIN allows it."
	}
	return 0, ""
}

// Host reports whether the Host of a request is this server: any address, as only names can be
// made to mean another machine, and the names that it has.
func (a *Rules) Host(hostport string) bool {
	host := hostOf(hostport)
	return host != "" && (net.ParseIP(host) != nil || isLocal(host) || slices.Contains(a.Hosts, host))
}

// Origin reports whether a page may read: one of this server, of this machine, or one that was
// allowed. A sandboxed page, and a file, have the origin "null".
func (a *Rules) Origin(origin, host string) bool {
	if slices.Contains(a.Origins, "*") || slices.Contains(a.Origins, strings.ToLower(origin)) {
		return true
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" {
		return false
	}
	return ThisMachine(u.Host) || strings.EqualFold(u.Host, host)
}

// ThisMachine reports whether the Host of a request is the machine of the browser that sent it.
func ThisMachine(hostport string) bool {
	name := hostOf(hostport)
	ip := net.ParseIP(name)
	return isLocal(name) || ip != nil && ip.IsLoopback()
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
