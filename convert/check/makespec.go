package check

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"unicode"

	"github.com/bagconv/bagconv/internal/convert/contract"
	"github.com/bagconv/bagconv/internal/convert/selection"
)

// A Contract describes what a recording must have, in YAML: docs/check.md explains the keys. It is not changed after it
// was made. Its method Format writes it.
type Contract = contract.Contract

// MaxContract bounds the text of a contract, bytes.
const MaxContract = contract.MaxSize

// ParseContract reads a contract. Errors name the line or the topic, and what is wrong there.
func ParseContract(text []byte) (*Contract, error) { return contract.Parse(text) }

// MakeContract writes the contract that the recording keeps, with room for
// others like it: rates from four fifths to five quarters, gaps and silent edges
// twice as long. A topic that is not regular must have a message; one without
// messages may be missing.
func MakeContract(r *Result) *Contract {
	c := &Contract{Version: contract.Version, Topics: map[string]*contract.Rule{}}
	regular := map[string]bool{}
	for i := range r.Topics {
		t := &r.Topics[i]
		regular[t.Name] = t.Regular
	}
	for _, t := range r.named() {
		rule := &contract.Rule{}
		for _, typ := range t.types {
			if p, ok := exactly(typ); ok && typ != "" {
				rule.Type = append(rule.Type, p)
			}
		}
		if len(rule.Type) < len(t.types) { // one is not known
			rule.Type = nil
		}
		one := int64(1)
		switch hz := t.hz(); {
		case t.n == 0:
			rule.Optional = true
		case regular[t.name] && len(t.types) == 1 && hz > 0 && t.maxGap > 0:
			least, most := round(hz*0.8, 3, math.Floor), round(hz*1.25, 3, math.Ceil)
			rule.Rate = &contract.Range[float64]{Min: &least, Max: &most}
			rule.MaxGap = doubled(t.maxGap)
			rule.MaxEdge = max(doubled(t.edge(r)), 1e9)
		default:
			rule.Count = &contract.Range[int64]{Min: &one}
		}
		if p, ok := exactly(t.name); ok {
			c.Topics[p] = rule
		}
	}
	return c
}

// doubled returns twice a time, rounded up to two digits.
func doubled(ns int64) contract.Duration {
	v := round(2*float64(ns), 2, math.Ceil)
	return contract.Duration(min(v, 1<<62))
}

// round rounds a number above 0 to some digits.
func round(v float64, digits int, rounding func(float64) float64) float64 {
	if !(v > 0) {
		return 0
	}
	exp := digits - 1 - int(math.Floor(math.Log10(v)))
	if exp < 0 {
		unit := math.Pow10(-exp)
		return rounding(v/unit) * unit
	}
	unit := math.Pow10(exp)
	return rounding(v*unit) / unit
}

// exactly writes a name as a pattern, which cannot be done for some that are not UTF-8.
func exactly(name string) (pattern string, ok bool) {
	pattern = escape(name)
	p, err := selection.ParsePattern(pattern)
	return pattern, err == nil && p.Match(name)
}

// escape writes a name as a pattern that matches nothing else.
func escape(name string) string {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		expr := "re:"
		for _, r := range name {
			if unicode.IsPrint(r) {
				expr += regexp.QuoteMeta(string(r))
			} else {
				expr += fmt.Sprintf(`\x{%x}`, r)
			}
		}
		return expr
	}
	text := strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(name)
	if strings.HasPrefix(text, "re:") {
		text = "[r]" + text[1:]
	}
	return text
}
