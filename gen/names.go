package gen

import (
	"encoding/json"
	"strconv"
	"strings"
)

// A scope gives out names that differ.
type scope struct {
	used map[string]bool
}

// newScope returns a scope in which words cannot be names.
func newScope(words ...string) *scope {
	s := &scope{used: map[string]bool{}}
	for _, w := range words {
		s.used[w] = true
	}
	return s
}

// name returns a name for text: an identifier that is neither in use nor reserved. A reserved name
// gets an underscore, a name in use gets a number.
func (s *scope) name(text string, reserved map[string]bool) string {
	base := identifier(text)
	if reserved[base] {
		base += "_"
	}
	name := base
	for i := 2; s.used[name] || reserved[name]; i++ {
		name = strings.TrimSuffix(base, "_") + "_" + strconv.Itoa(i)
	}
	s.used[name] = true
	return name
}

// identifier makes a name of letters, digits and underscores, a letter first. Underscores at its
// beginning are left out, and two of them become one: C++ reserves such names.
func identifier(text string) string {
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			b.WriteByte(c)
		case c >= '0' && c <= '9':
			if b.Len() == 0 {
				b.WriteString("n")
			}
			b.WriteByte(c)
		case b.Len() > 0 && b.String()[b.Len()-1] != '_':
			b.WriteByte('_')
		}
	}
	if b.Len() == 0 {
		return "x"
	}
	return b.String()
}

// words returns a set of words.
func words(lists ...string) map[string]bool {
	m := map[string]bool{}
	for _, list := range lists {
		for _, w := range strings.Fields(list) {
			m[w] = true
		}
	}
	return m
}

// jsonText is a name as a string of JSON.
func jsonText(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return `""` // a string always has a text
	}
	return strings.TrimSuffix(b.String(), "\n")
}
