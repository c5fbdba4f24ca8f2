package sqlitefile

import "math"

// An indexKey is an entry of the index. Keys are in the order of times, then of rowids.
type indexKey struct{ time, id int64 }

var minKey, maxKey = indexKey{math.MinInt64, math.MinInt64}, indexKey{math.MaxInt64, math.MaxInt64}

func (k indexKey) less(o indexKey) bool { return k.time < o.time || k.time == o.time && k.id < o.id }

// after returns the least key that is greater; ok is false if there is none.
func (k indexKey) after() (next indexKey, ok bool) {
	switch {
	case k.id < math.MaxInt64:
		return indexKey{k.time, k.id + 1}, true
	case k.time < math.MaxInt64:
		return indexKey{k.time + 1, math.MinInt64}, true
	}
	return k, false
}

// before returns the greatest key that is less.
func (k indexKey) before() (next indexKey, ok bool) {
	switch {
	case k.id > math.MinInt64:
		return indexKey{k.time, k.id - 1}, true
	case k.time > math.MinInt64:
		return indexKey{k.time - 1, math.MaxInt64}, true
	}
	return k, false
}

// An indexWalk visits the entries of the index between two keys, in order or in
// reverse. A page is as a table's (see walker), but each cell of an interior page has
// an entry, which lies between the entries of the children on both sides of it.
//
//	cell of a leaf:            payload bytes (varint), payload
//	cell of an interior page:  page of the left child (4), then the same
//	payload:                   03 | time type | rowid type | time | rowid
//
// Keys must ascend and stay between the parent's keys, so that no page with a key
// is visited twice, whatever a damaged tree points at.
type indexWalk struct {
	*pager
	root    uint32
	lo, hi  indexKey // both included
	reverse bool
	n       int // ends when out has so many
	out     []Head
	levels  [maxDepth + 1]indexPage
}

// An indexPage is a page on the way down, decoded.
type indexPage struct {
	keys  []indexKey
	child []uint32 // one more than keys; none for a leaf
}

// visit goes over the entries under a page, which must be from lo to hi. done
// means that no more entries are wanted.
func (x *indexWalk) visit(no uint32, lo, hi indexKey, depth int) (done bool, err error) {
	if depth > maxDepth {
		return false, corrupt("page %d: the index is too deep", no)
	}
	p := &x.levels[depth]
	if err := x.decode(no, p, lo, hi); err != nil {
		return false, err
	}
	for slot := range 2*len(p.keys) + 1 {
		if x.reverse {
			slot = 2*len(p.keys) - slot
		}
		i := slot / 2
		if slot%2 == 1 {
			k := p.keys[i]
			if k.less(x.lo) || x.hi.less(k) {
				if x.reverse == k.less(x.lo) {
					return true, nil // and so are all that follow
				}
				continue
			}
			x.out = append(x.out, Head{Time: k.time, ID: k.id})
			if len(x.out) >= x.n {
				return true, nil
			}
			continue
		}
		if p.child == nil {
			continue
		}
		from, to, ok := lo, hi, true
		if i > 0 {
			from, ok = p.keys[i-1].after()
		}
		if ok && i < len(p.keys) {
			to, ok = p.keys[i].before()
		}
		if !ok || to.less(from) {
			return false, corrupt("page %d: nothing is left for child %d", no, i)
		}
		if to.less(x.lo) || x.hi.less(from) {
			continue
		}
		if done, err := x.visit(p.child[i], from, to, depth+1); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

// decode reads a page of the index.
func (x *indexWalk) decode(no uint32, p *indexPage, lo, hi indexKey) error {
	b, err := x.get(no)
	if err != nil {
		return err
	}
	head := 8
	p.keys, p.child = p.keys[:0], nil
	if no == 1 || b[0] != indexLeaf && b[0] != indexInterior {
		return corrupt("page %d: kind %d in the index", no, b[0])
	}
	n := int(get16(b[3:]))
	if b[0] == indexInterior {
		head = 12
		p.child = make([]uint32, 0, n+1)
	}
	if head+2*n > len(b) {
		return corrupt("page %d: %d cells in the index", no, n)
	}
	for i := range n {
		at := int(get16(b[head+2*i:]))
		if at < head+2*n || at+4 > len(b) {
			return corrupt("page %d: a cell of the index at %d", no, at)
		}
		if b[0] == indexInterior {
			p.child = append(p.child, get32(b[at:]))
			at += 4
		}
		k, err := parseKey(b[at:])
		if err != nil {
			return err
		}
		if k.less(lo) || hi.less(k) || i > 0 && !p.keys[i-1].less(k) {
			return corrupt("page %d: entry %d of the index is out of order", no, i)
		}
		p.keys = append(p.keys, k)
	}
	if b[0] == indexInterior {
		p.child = append(p.child, get32(b[8:]))
	}
	return nil
}

// parseKey decodes an entry. What is not a pair of integers is left to SQLite.
func parseKey(b []byte) (k indexKey, err error) {
	if len(b) < 4 || b[0] < 3 || b[0] > 19 || b[1] != 3 {
		return k, declined("the index has other entries")
	}
	tt, it := b[2], b[3]
	if tt == 0 || tt == 7 || tt > 9 || it == 0 || it == 7 || it > 9 {
		return k, declined("the index has values of other types")
	}
	nt, ni := serialBytes[tt], serialBytes[it]
	if int(b[0]) != 3+nt+ni || 4+nt+ni > len(b) {
		return k, corrupt("an entry of the index has %d bytes", b[0])
	}
	return indexKey{getInt(b[4:], tt), getInt(b[4+nt:], it)}, nil
}
