package mapping

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// PlainName makes a topic name that every format can have: bytes that are not UTF-8
// become %FF, and an empty name becomes "unnamed".
func PlainName(name string) string {
	if name == "" {
		return "unnamed"
	}
	var b strings.Builder
	for i, r := range name {
		if _, n := utf8.DecodeRuneInString(name[i:]); r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, "%%%02X", name[i])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
