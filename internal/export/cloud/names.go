package cloud

import (
	"strconv"
	"strings"
)

// maxName is how long the name of a field may become, bytes. A header repeats it for each value in PLY.
const maxName = 255

// cleanName returns the name of a field as both formats can hold it: printable ASCII without spaces, not empty, and
// not "_", which PCD readers skip as padding. Each other character becomes '_'.
func cleanName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return '_'
		}
		return r
	}, name[:min(len(name), maxName)])
	if clean == "" || clean == "_" {
		return "unnamed"
	}
	return clean
}

// uniqueNames gives each column a name of its own: the first of equal ones keeps it, the next get "_2", "_3". In
// PLY the names of all values of a column must be free.
func uniqueNames(columns []column, kind fileKind) {
	used := make(map[string]bool, len(columns))
	next := map[string]int{} // what to try for a name, so that a thousand equal names take no million attempts
	for i := range columns {
		c := &columns[i]
		base := c.name
		for !c.namesFree(used, kind) {
			n := max(next[base], 2)
			next[base] = n + 1
			c.name = base + "_" + strconv.Itoa(n)
		}
		for v := range c.names(kind) {
			used[c.valueName(v, kind)] = true
		}
	}
}

func (c *column) namesFree(used map[string]bool, kind fileKind) bool {
	for v := range c.names(kind) {
		if used[c.valueName(v, kind)] {
			return false
		}
	}
	return true
}

// names returns how many names a column has in a header.
func (c *column) names(kind fileKind) int {
	if kind == ply {
		return int(c.count)
	}
	return 1
}

// valueName returns the name of value v of a column.
func (c *column) valueName(v int, kind fileKind) string {
	if kind == ply && c.count > 1 {
		return c.name + "_" + strconv.Itoa(v)
	}
	return c.name
}
