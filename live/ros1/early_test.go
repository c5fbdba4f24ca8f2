package ros1

import "testing"

// TestEarly: what is sent before a topic has a subscriber is counted, but what a later one gets.
func TestEarly(t *testing.T) {
	plain := &publication{topic: "/plain", links: map[*link]bool{}}
	latched := &publication{topic: "/latched", latching: true, links: map[*link]bool{}}
	p := &Player{stations: map[string]*station{"": {pubs: map[string]*publication{"/plain": plain, "/latched": latched}}}}
	for range 3 {
		plain.send([]byte("x"))
		latched.send([]byte("x"))
	}
	if early, heard := p.Early(); heard || early["/plain"] != 3 || early["/latched"] != 2 {
		t.Errorf("%v, %v", early, heard)
	}
	l := &link{}
	plain.add(l)
	plain.remove(l)
	plain.send([]byte("x"))
	if early, heard := p.Early(); !heard || early["/plain"] != 3 {
		t.Errorf("%v, %v after a subscriber", early, heard)
	}
}
