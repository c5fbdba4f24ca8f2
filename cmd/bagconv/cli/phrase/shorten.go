package phrase

import (
	"fmt"
	"slices"
	"sort"
)

// dots stand for what is left out of a name.
const dots = "..."

// LeastRoom is the least room for Shorten.
const LeastRoom = 12

// Shorten shortens names that take more than room columns, at least LeastRoom. Left out is what similar names have in
// common, as far as there is room for the rest: different names stay different, with a number if nothing else helps.
func Shorten(names []string, room int) []string {
	room = max(room, LeastRoom)
	distinct := slices.Clone(names)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	short, used := map[string]string{}, map[string]bool{}
	var long []*longName
	for _, name := range distinct {
		if Columns(name) > room {
			long = append(long, newLongName(name))
		} else {
			short[name], used[name] = name, true
		}
	}
	if len(long) == 0 {
		return slices.Clone(names)
	}
	findDifferences(long)
	numbers := map[string]int{}
	for _, n := range long {
		text := n.window(room)
		for base := text; used[text]; {
			numbers[base]++
			mark := fmt.Sprintf("~%d", numbers[base]+1)
			text = n.window(room-len(mark)) + mark
		}
		short[string(n.text)], used[text] = text, true
	}
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = short[name]
	}
	return out
}

// A longName is a name without room.
type longName struct {
	text     []rune
	upTo     []int // how many columns the first characters take: index = their number
	from, to int   // the part in which it differs from the names that are most similar to it
}

func newLongName(name string) *longName {
	n := &longName{text: []rune(name), upTo: []int{0}}
	for i, r := range n.text {
		n.upTo = append(n.upTo, n.upTo[i]+columnsOf(r))
	}
	return n
}

// findDifferences sets the parts in which names differ. They are sorted and different. The names that begin most
// like a name stand beside it in this order, and the names that end most like it beside it in the order of their ends.
// Of a name that resembles no other, this is its end.
func findDifferences(names []*longName) {
	for _, n := range names {
		n.from, n.to = len(n.text), 0
	}
	beside := func(list []*longName, equal func(a, b []rune) int) {
		for i, n := range list {
			var near *longName
			for _, k := range []int{i - 1, i + 1} {
				if k >= 0 && k < len(list) && (near == nil || equal(n.text, list[k].text) > equal(n.text, near.text)) {
					near = list[k]
				}
			}
			if near != nil && 2*(equalStart(n.text, near.text)+equalEnd(n.text, near.text)) >= len(n.text) {
				n.from = min(n.from, equalStart(n.text, near.text))
				n.to = max(n.to, len(n.text)-equalEnd(n.text, near.text))
			}
		}
	}
	beside(names, equalStart)
	ends := slices.Clone(names)
	sort.Slice(ends, func(i, j int) bool {
		a, b := ends[i].text, ends[j].text
		n := equalEnd(a, b)
		if n == len(a) || n == len(b) {
			return len(a) < len(b)
		}
		return a[len(a)-1-n] < b[len(b)-1-n]
	})
	beside(ends, equalEnd)
	for _, n := range names {
		n.to = max(n.to, n.from) // of "aa" and "aaa" both ends are equal; of others, the end stays
	}
}

// equalStart returns how many characters are equal at the start of both.
func equalStart(a, b []rune) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// equalEnd returns how many characters are equal at the end of both.
func equalEnd(a, b []rune) (n int) {
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

// columns returns how many columns a part takes with its dots.
func (n *longName) columns(from, to int) int {
	columns := n.upTo[to] - n.upTo[from]
	if from > 0 {
		columns += len(dots)
	}
	if to < len(n.text) {
		columns += len(dots)
	}
	return columns
}

// part returns a part with its dots.
func (n *longName) part(from, to int) string {
	text := string(n.text[from:to])
	if from > 0 {
		text = dots + text
	}
	if to < len(n.text) {
		text += dots
	}
	return text
}

// window returns the part in which a name differs, from its beginning, and as much around it as there is room for:
// first the rest of the words between slashes.
func (n *longName) window(room int) string {
	from, to := n.from, n.to
	for to > from && n.columns(from, to) > room {
		to--
	}
	begin, end := from, to
	for begin > 0 && n.text[begin-1] != '/' {
		begin--
	}
	for end < len(n.text) && n.text[end] != '/' {
		end++
	}
	for _, wider := range [][2]int{{begin, to}, {from, len(n.text)}, {begin, len(n.text)}, {from, end}, {begin, end}} {
		f, t := min(from, wider[0]), max(to, wider[1])
		if n.columns(f, t) <= room {
			from, to = f, t
		}
	}
	for to < len(n.text) && n.columns(from, to+1) <= room {
		to++
	}
	for from > 0 && n.columns(from-1, to) <= room {
		from--
	}
	return n.part(from, to)
}
