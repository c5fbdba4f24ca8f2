package content

import (
	"crypto/sha256"
	"math"

	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// A rosReader is one message on its way.
type rosReader struct {
	ros.Reader
	w     *Writer
	fuel  int
	marks []int
	units []uint16

	around  schema.Extensibility // of the struct that is read
	attempt int                  // see attempts
	limit   int                  // of canonical bytes, where a field is absent
}

func readROS(p *Program, w *Writer, src []byte) error {
	err := readOnce(p, w, src, 0)
	if !p.varied || err == nil && !w.Rest {
		return err
	}
	var found []int
	digests := map[[sha256.Size]byte]bool{}
	for i := range attempts - 1 {
		trial := NewWriter(false)
		trial.Reset()
		if readOnce(p, trial, src, i+1) == nil && !trial.Rest {
			found = append(found, i+1)
			digests[trial.Sum()] = true
		}
	}
	switch {
	case len(digests) > 1:
		return malformed(0, "maps or lists of enums that can be read in two ways")
	case len(found) > 0:
		w.Reset()
		return readOnce(p, w, src, found[0])
	}
	w.Reset()
	return readOnce(p, w, src, 0)
}

func readOnce(p *Program, w *Writer, src []byte, attempt int) error {
	r := rosReader{w: w, fuel: maxFuel, attempt: attempt, limit: maxExtra + 2*maxGrowth*len(src)}
	extent, err := r.open(p, src)
	if err != nil {
		return misfit(err)
	}
	if end := r.body(p.ros, extent); end >= 0 && r.Pos() > end {
		r.Fail("a struct of fewer bytes than its fields have")
	}
	if rest := r.Rest(); len(rest) > 0 && !p.cdr {
		r.Fail("%d bytes are left over", len(rest))
	} else if !ros.IsPadding(rest) {
		w.Rest = true
	}
	if !r.OK() {
		return misfit(r.Err())
	}
	return nil
}

// body reads the fields of a struct of that kind. It returns where the struct ends, or -1 if it has
// no size.
func (r *rosReader) body(n *rosNode, extent schema.Extensibility) int {
	outer := r.around
	end := r.enter(extent)
	if end >= 0 && n.hasInner {
		r.Fail("%s in delimited CDR cannot be compared with its other form", n.name)
		return -1
	}
	var members []member
	if extent == schema.Mutable {
		members, end = r.members(n, end)
	}
	chosen := -1
	if n.empty && r.Filler {
		r.U8()
	}
	open := len(r.marks)
	for range n.marks {
		r.marks = append(r.marks, 0)
	}
	for i := range n.steps {
		switch s := &n.steps[i]; s.op {
		case opValue:
			if n.msg.Union && s.field == 0 {
				chosen = r.choose(n.msg, members)
			}
			if s.member != nil || members != nil {
				r.member(n, s, chosen, members)
			} else {
				r.value(s)
			}
		case opZero:
			r.w.zeros(s.size)
		case opMark:
			r.marks[open+s.mark] = r.Pos()
		case opSeek:
			r.Seek(r.marks[open+s.mark])
		}
		if !r.OK() {
			return -1
		}
	}
	r.marks, r.around = r.marks[:open], outer
	if members != nil {
		r.Seek(end)
		return -1
	}
	return end
}

// leave goes to the end of a struct that has a size.
func (r *rosReader) leave(end int) {
	if end >= 0 && !ros.IsPadding(r.End(end)) {
		r.w.Rest = true
	}
}

// value reads a field.
func (r *rosReader) value(s *rosStep) {
	n := s.count
	if s.form == formNumber && !s.list && !s.enums {
		if s.emit && s.tell {
			r.w.u32(uint32(n))
		}
		r.numbers(s, n)
		return
	}
	switch sized := r.Sizes && r.hasSize(s); {
	case sized && (s.pairs || s.enums):
		end := r.Delimiter()
		defer func() {
			if r.OK() && r.Pos() != end {
				r.Fail("a map or list of another size than its values")
			}
		}()
	case sized:
		r.Size()
	}
	if s.list {
		n = r.Count(s.min)
	} else if n > 1 && s.min > 0 && n > r.Len()/s.min {
		r.Fail("a list of %d elements, but only %d bytes are left", n, r.Len())
	}
	if !r.OK() {
		return
	}
	if s.emit && (s.list || s.tell) {
		r.w.u32(uint32(n))
	}
	switch {
	case s.form == formNumber:
		r.numbers(s, n)
	case s.form == formStruct && s.min == 0 && !r.Filler: // without bytes
		if s.list {
			r.burn(n)
		}
	default:
		for range n {
			was := r.Pos()
			if r.one(s); r.Pos() == was {
				r.burn(1)
			}
			if !r.OK() {
				return
			}
		}
	}
}

// burn takes fuel for n values that take no bytes.
func (r *rosReader) burn(n int) {
	if r.fuel -= n; r.fuel < 0 {
		r.Fail("too many values that take no bytes")
	}
}

func (r *rosReader) numbers(s *rosStep, n int) {
	p := r.Numbers(n, s.size)
	switch {
	case !s.emit:
	case s.table != nil && s.size == 1:
		for _, v := range p {
			r.w.bytes([]byte{s.table[v]})
		}
	case r.BigEndian && s.size > 1:
		r.w.swapped(p, s.class, s.size)
	default:
		r.w.numbers(p, s.class)
	}
}

// one reads a value that is not a number.
func (r *rosReader) one(s *rosStep) {
	switch s.form {
	case formStruct:
		r.leave(r.body(s.node, r.extentOf(s.extent)))
	case formText:
		r.text(s.emit)
	case formWide:
		if s.emit {
			r.wide()
		} else {
			r.SkipWide()
		}
	case formCounter:
		if v := r.U32(); s.emit {
			r.w.counter(v)
		}
	default:
		r.time(s)
	}
}

// time reads two words.
func (r *rosReader) time(s *rosStep) {
	outer := r.around
	end := r.enter(r.extentOf(s.extent))
	r.around = outer
	sec, nsec := r.U32(), r.U32()
	r.leave(end)
	if !s.emit {
		return
	}
	// time of ROS 1 is u32 and u32, its duration i32 and i32; both are i32 and u32 in ROS 2.
	whole, part := int64(int32(sec)), int64(nsec)
	if !r.NUL && s.form == formTime {
		whole = int64(sec)
	}
	if !r.NUL && s.form == formDuration {
		part = int64(int32(nsec))
	}
	if part < 0 || part >= 1e9 {
		r.w.Odd++
	}
	r.w.time(whole, part, s.form == formDuration)
}

func (r *rosReader) text(emit bool) {
	p := r.Bytes()
	if !emit {
		return
	}
	if last := len(p) - 1; r.NUL && last >= 0 {
		if p[last] == 0 {
			p = p[:last]
		} else {
			r.w.Open = true
		}
	}
	r.w.text(p)
}

// wide reads a wide string. A surrogate that stands alone is written as if it were a
// character, and so is different from all others.
func (r *rosReader) wide() {
	units, whole := r.Wide(r.units[:0])
	r.units = units
	out, paired := ros.AppendUTF8(nil, units, !r.w.inMemory)
	if !(whole && paired) && r.w.within != nil {
		r.w.Replaced = true
	}
	if len(out) > math.MaxUint32 {
		r.Fail("a wide string becomes %d bytes of UTF-8, more than a string may have", len(out))
		return
	}
	r.w.text(out)
}
