package sqlitefile

import "github.com/bagconv/bagconv/storage"

// times holds the times of all rows and returns them in the order of the
// index: by time, equal times by rowid.
//
// 8 bytes a row are kept, in chunks; rows that come in order need no more. Rows
// out of order are sorted by their bits, which takes another 24 bytes a row while
// it lasts. When limit does not hold that, what there is goes to a temporary file
// as a sorted run (spill.go), and the runs are merged at the end.
type times struct {
	limit int64                        // bytes of memory
	temp  func() (storage.File, error) // makes the temporary file; nil: no file, and no limit

	chunks  [][]int64 // of the run that is being collected
	n       int       // rows of the run
	base    int64     // rowid before its first
	last    int64
	ordered bool // the run is in order
	sorts   sortSpace
	runs    runFile
}

const (
	chunkBits = 16
	chunkLen  = 1 << chunkBits // times in a chunk
	firstLen  = 1 << 10        // for which the first chunk has room

	keptBytes = 8              // a row, in order
	sortBytes = keptBytes + 24 // a row, while it is sorted
)

// add takes the time of the next row.
func (t *times) add(v int64) error {
	ordered := t.n == 0 || t.ordered && v >= t.last
	most := t.limit / keptBytes
	if !ordered {
		most = t.limit / sortBytes
	}
	if int64(t.n) >= most && t.n > 0 && t.temp != nil {
		if err := t.spill(); err != nil {
			return err
		}
		ordered = true
	}
	at := t.n >> chunkBits
	if at == len(t.chunks) {
		room := chunkLen
		if at == 0 {
			room = firstLen // it grows
		}
		t.chunks = append(t.chunks, make([]int64, 0, room))
	}
	if i := t.n & (chunkLen - 1); i < len(t.chunks[at]) { // after a spill
		t.chunks[at][i] = v
	} else {
		t.chunks[at] = append(t.chunks[at], v)
	}
	t.n++
	t.ordered, t.last = ordered, v
	return nil
}

// each calls f for all rows in order. It ends the life of t.
func (t *times) each(f func(t, rowid int64) error) error {
	if t.runs.file == nil {
		return t.run(f)
	}
	if err := t.spill(); err != nil {
		return err
	}
	t.chunks, t.sorts = nil, sortSpace{}
	return t.runs.merge(t.limit, f)
}

// run calls f for the rows that are in memory, in order.
func (t *times) run(f func(t, rowid int64) error) error {
	if t.ordered {
		rowid := t.base
		left := t.n
		for _, chunk := range t.chunks {
			for _, v := range chunk[:min(left, chunkLen)] {
				rowid++
				if err := f(v, rowid); err != nil {
					return err
				}
			}
			left -= min(left, chunkLen)
		}
		return nil
	}
	keys, index := t.sorts.sort(t.chunks, t.n)
	for i, k := range keys {
		if err := f(signed(k), t.base+1+int64(index[i])); err != nil {
			return err
		}
	}
	return nil
}

// unsigned and signed turn a time into a number of the same order, and back.
func unsigned(v int64) uint64 { return uint64(v) ^ 1<<63 }
func signed(k uint64) int64   { return int64(k ^ 1<<63) }

// sortSpace is the memory of a sort, to be used again.
type sortSpace struct {
	keys  [2][]uint64
	index [2][]uint32
}

const digitBits = 11

// sort returns the n times in order, as unsigned does, with the place that each
// had. It is a radix sort over the bits in which they differ: stable, so that
// equal times stay in the order of their rows.
func (s *sortSpace) sort(chunks [][]int64, n int) ([]uint64, []uint32) {
	if cap(s.keys[0]) < n {
		for i := range s.keys {
			s.keys[i], s.index[i] = make([]uint64, n), make([]uint32, n)
		}
	}
	from, to := s.keys[0][:n], s.keys[1][:n]
	fromAt, toAt := s.index[0][:n], s.index[1][:n]
	least, most := ^uint64(0), uint64(0)
	for i := range from {
		k := unsigned(chunks[i>>chunkBits][i&(chunkLen-1)])
		from[i], fromAt[i] = k, uint32(i)
		least, most = min(least, k), max(most, k)
	}
	var count [1 << digitBits]uint32
	for shift := 0; shift < 64 && (most-least)>>shift != 0; shift += digitBits {
		clear(count[:])
		for _, k := range from {
			count[(k-least)>>shift&(1<<digitBits-1)]++
		}
		sum := uint32(0)
		for i, c := range count {
			count[i] = sum
			sum += c
		}
		for i, k := range from {
			d := &count[(k-least)>>shift&(1<<digitBits-1)]
			to[*d], toAt[*d] = k, fromAt[i]
			*d++
		}
		from, to, fromAt, toAt = to, from, toAt, fromAt
	}
	return from, fromAt
}
