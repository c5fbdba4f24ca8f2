package ulog

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// TestTruncated: cut at each byte, a log has the messages that are whole, and a warning unless it ends with a whole
// one.
func TestTruncated(t *testing.T) {
	l := each()
	all := mustRead(t, l)
	for n := headSize; n < len(l.b); n++ {
		x, err := readBytes(t, l.b[:n], storage.ReadOptions{})
		if err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		for i, m := range x.messages {
			if !bytes.Equal(m.Data, all.messages[i].Data) || m.LogTime != all.messages[i].LogTime {
				t.Fatalf("%d bytes: message %d is another", n, i)
			}
		}
		between := slices.Contains(l.at, n)
		if damaged := slices.Contains(x.codes(), "truncated"); damaged == between {
			t.Errorf("%d bytes: %v", n, x.damage)
		}
		whole := 0
		for _, at := range l.at[1:] {
			if at <= n {
				whole++
			}
		}
		if _, err := readBytes(t, l.b[:n], storage.ReadOptions{Strict: true}); (err == nil) != (between &&
			whole < len(l.at)-3) {
			t.Errorf("%d bytes, strict: %v", n, err)
		}
	}
}

// TestFlips: each bit of each byte changed. What is missing is reported, and reading goes on.
func TestFlips(t *testing.T) {
	l := each()
	all := mustRead(t, l)
	for at := headSize + headLen + flagsSize; at < len(l.b); at++ {
		for bit := range 8 {
			b := bytes.Clone(l.b)
			b[at] ^= 1 << bit
			x, err := readBytes(t, b, storage.ReadOptions{})
			if err != nil {
				t.Fatalf("bit %d of byte %d: %v", bit, at, err)
			}
			lost := x.damage.Lost
			// The message of a later version is a loss in any case.
			if len(x.messages) < len(all.messages) && lost.Messages == 0 && lost.Bytes <= all.damage.Lost.Bytes {
				t.Errorf("bit %d of byte %d: %d messages, lost %+v", bit, at, len(x.messages), lost)
			}
			if len(x.messages) < len(all.messages)-4 {
				t.Errorf("bit %d of byte %d: only %d messages, %v", bit, at, len(x.messages), x.damage.Warnings)
			}
		}
	}
}

// TestGarbage: noise between messages costs no message that is whole, wherever it stands in the data.
func TestGarbage(t *testing.T) {
	l := sample(400)
	all := mustRead(t, l)
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range samples.Pick(1000, 100, 30) {
		at := l.at[8+rng.IntN(len(l.at)-8)] // after the subscriptions
		noise := make([]byte, 1+rng.IntN(3000))
		for i := range noise {
			noise[i] = byte(rng.Uint32())
		}
		if round%3 == 0 {
			clear(noise)
		}
		x, err := readBytes(t, slices.Concat(l.b[:at], noise, l.b[at:]), storage.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(x.messages) < len(all.messages)-1 || len(x.damage.Warnings) == 0 { // a head of noise may take the next message
			t.Errorf("round %d: %d bytes at %d: %d of %d messages, %v", round, len(noise), at, len(x.messages),
				len(all.messages), x.damage)
		}
	}
}

// TestOverwritten: bytes that are overwritten cost the messages that lie there, and no others.
func TestOverwritten(t *testing.T) {
	l := sample(400)
	all := mustRead(t, l)
	rng := rand.New(rand.NewPCG(3, 4))
	for round := range samples.Pick(1000, 100, 30) {
		from := l.at[8] + rng.IntN(len(l.b)-l.at[8])
		to := min(len(l.b), from+1+rng.IntN(2000))
		b := bytes.Clone(l.b)
		for i := from; i < to; i++ {
			b[i] = byte(rng.Uint32())
		}
		touched := 0
		for i := 0; i+1 < len(l.at); i++ {
			if l.at[i] < to && l.at[i+1] > from {
				touched++
			}
		}
		x, err := readBytes(t, b, storage.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(x.messages) < len(all.messages)-touched-1 {
			t.Errorf("round %d: bytes %d to %d touch %d messages, and %d of %d are read; %v", round, from, to, touched,
				len(x.messages), len(all.messages), x.damage)
		}
	}
}

// TestZeroTail: what a card has after a loss of power.
func TestZeroTail(t *testing.T) {
	l := sample(100)
	n := len(mustRead(t, l).messages)
	x, err := readBytes(t, append(l.b, make([]byte, 5000)...), storage.ReadOptions{})
	if err != nil || len(x.messages) != n || !slices.Equal(x.codes(), []string{"zero-tail"}) ||
		x.damage.Lost.Bytes != 5000 {
		t.Errorf("%d messages, %+v, %v", len(x.messages), x.damage, err)
	}
}

// TestLostSubscription: messages that no subscription describes are counted once for their id.
func TestLostSubscription(t *testing.T) {
	l := newLog(0).add(opFormat, "a:uint64_t timestamp;").subscribe(0, 0, "a")
	for i := range 50 {
		l.data(uint16(i%2*7), uint64(i+1))
	}
	x := mustRead(t, l)
	if len(x.messages) != 25 || !slices.Equal(x.codes(), []string{"no-subscription"}) || x.damage.Lost.Messages != 25 {
		t.Errorf("%d messages, %+v", len(x.messages), x.damage)
	}
	if _, err := readBytes(t, l.b, storage.ReadOptions{Strict: true}); err == nil {
		t.Error("a strict reader takes it")
	}
}

// TestLostFormats: subscriptions of formats that are lost do not take the others with them.
func TestLostFormats(t *testing.T) {
	l := newLog(0).add(opFormat, "a:uint64_t timestamp;")
	for i := range 5 {
		l.subscribe(0, uint16(i+1), "lost_"+string(rune('a'+i)))
	}
	l.subscribe(0, 0, "a").data(3, 1).data(0, 2).data(0, 3)
	x := mustRead(t, l)
	if len(x.messages) != 2 || slices.Contains(x.codes(), "gap") || x.damage.Lost.Messages != 1 {
		t.Errorf("%d messages, %+v", len(x.messages), x.damage)
	}
}
