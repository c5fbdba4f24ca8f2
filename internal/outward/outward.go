// Package outward knows which hosts are nearer than others: who names a host elsewhere does not mean what can be
// reached from here alone, such as the credentials that a machine of a cloud asks 169.254.169.254 for.
package outward

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"github.com/bagconv/bagconv/storage"
)

// Check returns an error that wraps storage.ErrUnsupported if a host is nearer than the one that names it. A private
// address may lead to private ones. The error begins with the host.
func Check(ctx context.Context, to, from string) error {
	if to == from {
		return nil
	}
	if k := nearness(ctx, to, false); k > nearness(ctx, from, true) {
		return fmt.Errorf("%.200s, which is %s: %w", to, [...]string{"", "in the private network", "this machine",
			"an address of the link"}[k], storage.ErrUnsupported)
	}
	return nil
}

// nearness is 0 for hosts of the internet, 1 for hosts of a private network, 2 for this machine, and 3 for
// addresses of the link, where machines of a cloud are told their secrets. If own is set, all addresses of this
// machine are this machine.
func nearness(ctx context.Context, host string, own bool) (most int) {
	list, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return 0 // a proxy may know it
	}
	for _, ip := range list {
		switch ip = ip.Unmap(); {
		case ip.Is4() && ip.IsLinkLocalUnicast():
			most = max(most, 3)
		case ip.IsLoopback() || ip.IsUnspecified() || own && isOwn(ip):
			most = max(most, 2)
		// of IPv6, which names of a private network have, too
		case ip.IsPrivate() || carrier.Contains(ip) || ip.IsLinkLocalUnicast():
			most = max(most, 1)
		}
	}
	return most
}

// isOwn reports whether an address is one of this machine.
func isOwn(ip netip.Addr) bool {
	list, err := net.InterfaceAddrs()
	for _, a := range list {
		if p, parseErr := netip.ParsePrefix(a.String()); err == nil && parseErr == nil && p.Addr().Unmap() == ip {
			return true
		}
	}
	return false
}

// carrier has the addresses of RFC 6598, which are private, too.
var carrier = netip.MustParsePrefix("100.64.0.0/10")
