package remote

import "testing"

// elsewhere is a sink of which only the place matters.
type elsewhere struct {
	sink
	place string
}

func (e elsewhere) where() string { return e.place }

// TestLedgerStores: uploads of one key in two stores are two debts.
func TestLedgerStores(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	var l ledger
	defer l.close()
	a, b := elsewhere{place: "s3 a"}, elsewhere{place: "s3 b"}
	for _, s := range []sink{a, b} {
		l.begin(s, "key")
		l.owe(s, "key", "mark")
	}
	if len(l.open) != 4 {
		t.Errorf("%d debts, not 4: %v", len(l.open), l.open)
	}
	l.add(a, "key", "1")
	l.remove(objectID(a, "key"))
	want := map[string]bool{"1": true, beginID(b, "key"): true, objectID(b, "key"): true}
	for id := range l.open {
		if !want[id] {
			t.Errorf("%s is open", id)
		}
		delete(want, id)
	}
	if len(want) > 0 {
		t.Errorf("%v are not", want)
	}
}

// TestSendAfterAbort: a part that waits for room is not sent when the object was given up meanwhile.
func TestSendAfterAbort(t *testing.T) {
	_, fsys := fakeS3(t, &Settings{})
	to, n, err := fsys.sink(inBucket + "x")
	if err != nil {
		t.Fatal(err)
	}
	for range sending {
		fsys.sending <- struct{}{}
	}
	d := fsys.newDraft(to, inBucket+"x", n.path)
	done := make(chan error)
	go func() {
		_, err := d.writeAt(make([]byte, partSize), partSize)
		done <- err
	}()
	for waits := false; !waits; { // for room
		d.mu.Lock()
		waits = len(d.tags) > 1
		d.mu.Unlock()
	}
	d.mu.Lock()
	d.err = errGone
	d.mu.Unlock()
	<-fsys.sending
	if err := <-done; err != errGone || len(fsys.sending) != sending-1 {
		t.Errorf("%v, %d parts on their way", err, len(fsys.sending))
	}
}
