package apollo

import (
	"math"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/bagconv/bagconv/internal/wire/ros"
)

// A rosReader reads results; it fails the test when something is left over.
type rosReader struct {
	t *testing.T
	ros.Reader
	cdr bool
}

func newReader(t *testing.T, b []byte, cdr bool) *rosReader {
	t.Helper()
	if cdr {
		if string(b[:4]) != "\x00\x01\x00\x00" {
			t.Fatalf("encapsulation %x", b[:4])
		}
		b = b[4:]
	}
	return &rosReader{t, ros.NewReader(b, cdr), cdr}
}

func (r *rosReader) end() {
	r.t.Helper()
	if r.Err() != nil || r.Len() != 0 {
		r.t.Fatalf("err %v, %d bytes left over", r.Err(), r.Len())
	}
}

type rosHeader struct {
	seq   uint32
	stamp int64
	frame string
}

func (r *rosReader) header() (h rosHeader) {
	if !r.cdr {
		h.seq = r.U32()
	}
	h.stamp = r.Time()
	h.frame = string(r.String())
	return h
}

func (r *rosReader) floats(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = r.F64()
	}
	return out
}

// near compares numbers; NaN is near NaN.
func near(t *testing.T, what string, got []float64, want ...float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
	for i, g := range got {
		if math.IsNaN(g) != math.IsNaN(want[i]) || math.Abs(g-want[i]) > 1e-9*max(1, math.Abs(want[i])) {
			t.Errorf("%s: %v, want %v", what, got, want)
			return
		}
	}
}

func toROS(t *testing.T, m proto.Message, o Options) *rosReader {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	p, err := ToROS(m.ProtoReflect().Descriptor(), o)
	if err != nil {
		t.Fatal(err)
	}
	prefix := []byte("prefix")
	out, err := p.AppendAt(slices.Clone(prefix), b, now)
	if err != nil {
		t.Fatal(err)
	}
	if string(out[:len(prefix)]) != string(prefix) {
		t.Fatal("what dst had is overwritten")
	}
	return newReader(t, out[len(prefix):], o.CDR)
}

func bothWires(t *testing.T, f func(t *testing.T, cdr bool)) {
	t.Run("ros1", func(t *testing.T) { f(t, false) })
	t.Run("cdr", func(t *testing.T) { f(t, true) })
}
