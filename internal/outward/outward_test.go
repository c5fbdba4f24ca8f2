package outward

import (
	"net"
	"testing"
)

// TestCheck: nothing leads from elsewhere into this machine or its network.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		from, to string
		may      bool
	}{
		{"93.184.216.34", "8.8.8.8", true}, {"93.184.216.34", "127.0.0.1", false}, {"93.184.216.34", "10.0.0.1", false},
		{"93.184.216.34", "169.254.169.254", false}, {"93.184.216.34", "::1", false}, {"93.184.216.34",
			"::ffff:169.254.169.254", false},
		{"93.184.216.34", "100.100.100.200", false}, {"93.184.216.34", "fd00:ec2::254", false}, {"93.184.216.34", "0.0.0.0",
			false},
		{"192.168.1.2", "10.0.0.1", true}, {"192.168.1.2", "8.8.8.8", true}, {"192.168.1.2", "169.254.169.254",
			false}, {"192.168.1.2", "127.0.0.1", false},
		{"127.0.0.1", "127.0.0.2", true}, {"127.0.0.1", "10.0.0.1", true}, {"127.0.0.1", "169.254.169.254", false},
		{"192.168.1.2", "fe80::1", true}, {"93.184.216.34", "fe80::1", false}, {"fe80::1", "169.254.169.254", false},
		{"169.254.169.254", "169.254.169.254", true}, {"169.254.1.1", "169.254.1.2", true},
	} {
		if err := Check(t.Context(), c.to, c.from); (err == nil) != c.may {
			t.Errorf("%s to %s: %v", c.from, c.to, err)
		}
	}
}

// TestOwn: what this machine names by one of its addresses may be at another one of them.
func TestOwn(t *testing.T) {
	list, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		ip, _, err := net.ParseCIDR(a.String())
		if err != nil || ip.IsLinkLocalUnicast() {
			continue
		}
		if err := Check(t.Context(), "127.0.0.1", ip.String()); err != nil {
			t.Errorf("from %v: %v", ip, err)
		}
	}
}
