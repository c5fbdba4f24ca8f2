package ros

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

// A reference reads the same as a Reader, from the drawing in the package comment
// and byte by byte. It shares nothing with the Reader, and is meant to stay so.
type reference struct {
	body  []byte
	pos   int
	cdr   bool
	two   bool // XCDR2
	delim bool
	big   bool
	wrong bool
}

func newReference(message []byte, cdr bool) *reference {
	if !cdr {
		return &reference{body: message}
	}
	if len(message) < 4 || message[0] != 0 {
		return nil
	}
	f := &reference{body: message[4:], cdr: true, big: message[1]%2 == 0}
	switch message[1] {
	case 0, 1:
	case 6, 7, 16, 17:
		f.two = true
	case 8, 9, 20, 21:
		f.two, f.delim = true, true
	default:
		return nil
	}
	return f
}

func (f *reference) align(n int) {
	if f.two && n == 8 {
		n = 4
	}
	for f.cdr && f.pos%n != 0 {
		f.pos++
	}
	if f.pos > len(f.body) {
		f.wrong = true
	}
}

func (f *reference) take(n uint64) (out []byte) {
	for range n {
		if f.wrong || f.pos >= len(f.body) {
			f.wrong = true
			return nil
		}
		out = append(out, f.body[f.pos])
		f.pos++
	}
	return out
}

func (f *reference) number(n int) (v uint64) {
	f.align(n)
	for i, b := range f.take(uint64(n)) {
		if f.big {
			v = v<<8 | uint64(b)
		} else {
			v |= uint64(b) << (8 * i)
		}
	}
	return v
}

func (f *reference) text() []byte {
	b := f.take(f.number(4))
	if f.cdr && len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	return b
}

func (f *reference) wide() (out []rune, whole bool) {
	n, width := f.number(4), 4
	whole = true
	if f.two {
		n, width = n/2, 2
	} else if n*4 > uint64(len(f.body)-f.pos) {
		width = 2
	}
	for range n {
		if f.wrong {
			return nil, true
		}
		v := uint64(0)
		for i, b := range f.take(uint64(width)) {
			if f.big {
				v = v<<8 | uint64(b)
			} else {
				v |= uint64(b) << (8 * i)
			}
		}
		switch {
		case v > 0x10ffff:
			out, whole = append(out, 0xfffd), false
		case v > 0xffff:
			out = append(out, rune(0xd800+(v-0x10000)/0x400), rune(0xdc00+(v-0x10000)%0x400))
		default:
			out = append(out, rune(v))
		}
	}
	return out, whole
}

// step reads one thing with both, as text, so that a difference can be seen.
func step(r *Reader, f *reference, what byte) (got, want string) {
	n := int(what >> 4)
	switch what & 15 {
	case 0:
		return fmt.Sprint(r.U8()), fmt.Sprint(f.number(1))
	case 1:
		return fmt.Sprint(r.U16()), fmt.Sprint(f.number(2))
	case 2:
		return fmt.Sprint(r.U32()), fmt.Sprint(f.number(4))
	case 3:
		return fmt.Sprint(r.U64()), fmt.Sprint(f.number(8))
	case 4:
		return fmt.Sprintf("%x", r.String()), fmt.Sprintf("%x", f.text())
	case 5:
		return fmt.Sprintf("%x", r.Bytes()), fmt.Sprintf("%x", f.take(f.number(4)))
	case 6:
		units, whole := r.Wide(nil)
		wantUnits, wantWhole := f.wide()
		return fmt.Sprint(units, whole), fmt.Sprint(wantUnits, wantWhole)
	case 7:
		got := r.SkipWide()
		units, _ := f.wide()
		return fmt.Sprint(got), fmt.Sprint(len(units) > 0)
	case 8:
		size := 1 << (n & 3)
		got := r.Numbers(n>>2, size)
		if n>>2 > 0 {
			f.align(size)
		}
		return fmt.Sprintf("%x", got), fmt.Sprintf("%x", f.take(uint64(n>>2*size)))
	case 9:
		return fmt.Sprintf("%x", r.Take(n)), fmt.Sprintf("%x", f.take(uint64(n)))
	case 10:
		r.Align(1 << (n & 3))
		f.align(1 << (n & 3))
	case 11:
		count := f.number(4)
		if !f.wrong && n > 0 && count*uint64(n) > uint64(len(f.body)-f.pos) {
			f.wrong = true
		}
		return fmt.Sprint(r.Count(n)), fmt.Sprint(count)
	case 12:
		if r.Size(); f.two {
			f.number(4)
		}
	case 13: // a struct of n bytes, and of what more there is
		end, want := r.Struct(), uint64(0)
		if f.delim {
			want = f.number(4)
			f.wrong = f.wrong || want > uint64(len(f.body)-f.pos) || want < uint64(n)
			want -= uint64(n)
		}
		r.Take(n)
		f.take(uint64(n))
		got := r.End(end)
		return fmt.Sprintf("%x", got), fmt.Sprintf("%x", f.take(want))
	case 14:
		var sec int64
		if f.cdr {
			sec = int64(int32(f.number(4)))
		} else {
			sec = int64(f.number(4))
		}
		return fmt.Sprint(r.Time()), fmt.Sprint(sec*1e9 + int64(f.number(4)))
	case 15:
		r.Seek(r.Pos())
	}
	return "", ""
}

func compare(t *testing.T, cdr bool, script, message []byte) {
	t.Helper()
	var r Reader
	err := r.Open(message, cdr)
	f := newReference(message, cdr)
	if (err == nil) != (f != nil) {
		t.Fatalf("% x: %v", message, err)
	}
	if err != nil {
		return
	}
	for i, what := range script {
		got, want := step(&r, f, what)
		if r.OK() == f.wrong {
			t.Fatalf("step %d, %x: %v, the reference fails: %v", i, what, r.Err(), f.wrong)
		}
		if f.wrong {
			var e *Error
			if err := r.Err(); !errors.As(err, &e) || e.Offset > len(message) {
				t.Fatal(err)
			}
			if r.Len() != 0 || r.U64() != 0 || r.Count(0) != 0 || len(r.String()) != 0 || len(r.End(r.Struct())) != 0 {
				t.Fatal("after an error there is something left")
			}
			return
		}
		if got != want || r.Pos() != f.pos || !bytes.Equal(r.Rest(), f.body[f.pos:]) {
			t.Fatalf("step %d, %x: %s at %d, not %s at %d", i, what, got, r.Pos(), want, f.pos)
		}
	}
}

// FuzzReader: whatever is read of whatever bytes, a Reader returns what the reference does.
func FuzzReader(f *testing.F) {
	script := []byte{0, 1, 2, 3, 4, 5, 6, 8 | 0xb0, 13 | 0x40, 12, 11 | 0x20, 14, 0}
	for _, id := range []byte{0, 1, 6, 7, 8, 9, 0x10, 0x11, 0x14, 0x15} {
		f.Add(true, script, append([]byte{0, id, 0, 0}, bytes.Repeat([]byte{0, 0, 0, 4, 0, 0, 0}, 20)...))
		f.Add(true, []byte{13, 6, 6, 4}, append([]byte{0, id, 0, 0}, bytes.Repeat([]byte{2, 0, 0, 0}, 10)...))
	}
	f.Add(false, script, bytes.Repeat([]byte{3, 0, 0, 0, 0}, 20))
	f.Add(true, []byte{0x83}, []byte{0, 1})
	f.Fuzz(func(t *testing.T, cdr bool, script, message []byte) { compare(t, cdr, script, message) })
}

func TestAgainstReference(t *testing.T) {
	for id := range 256 {
		for what := range 256 {
			message := []byte{0, byte(id), 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 5, 0, 0, 1, 0, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0,
				0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 1, 0xf6}
			for n := range message {
				compare(t, true, []byte{byte(what), byte(what), 1, 13}, message[:n])
				compare(t, false, []byte{byte(what), 3, byte(what)}, message[4:max(4, n)])
			}
		}
		if testing.Short() && id > 0x20 {
			return
		}
	}
}
