package selection

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/nearest"
	"github.com/bagconv/bagconv/internal/schema/facts"
	"github.com/bagconv/bagconv/storage"
)

// A Pattern names topics or types in one of three ways:
//
//	/imu            exactly
//	/camera/*       glob, when it has one of * ? [ : * is any run of characters,
//	                slashes included, ? one character, [a-z] one of a class
//	re:/cam[0-9]+   regular expression (RE2) that must match the whole name
type Pattern struct {
	text string
	re   *regexp.Regexp // nil: exactly text
}

// ParsePattern reads a pattern.
func ParsePattern(s string) (Pattern, error) {
	if s == "" {
		return Pattern{}, fmt.Errorf("the pattern is empty")
	}
	p := Pattern{text: s}
	expr, isRegexp := strings.CutPrefix(s, "re:")
	var err error
	switch {
	case isRegexp:
		if p.re, err = regexp.Compile("^(?:" + expr + ")$"); err != nil {
			return p, fmt.Errorf("%q is not a regular expression: %s", expr, reason(err))
		}
	case isGlob(s):
		if p.re, err = globExpr(s, false); err != nil {
			return p, err
		}
	}
	return p, nil
}

// Exactly returns the pattern of one name, whatever characters that has.
func Exactly(name string) Pattern { return Pattern{text: name} }

// reason returns the error of the regexp package, without the expression that we wrapped.
func reason(err error) string {
	text, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "error parsing regexp: "), ": `")
	return text
}

// String returns the pattern as it was written.
func (p Pattern) String() string { return p.text }

// Match reports whether the name is meant.
func (p Pattern) Match(name string) bool {
	if p.re == nil {
		return p.text == name
	}
	return p.re.MatchString(name)
}

// MatchType is Match for type names: pkg/Type and pkg/msg/Type are the same.
func (p Pattern) MatchType(name string) bool {
	short := facts.ShortName(name)
	if p.re == nil {
		return facts.ShortName(p.text) == short
	}
	return p.re.MatchString(name) || p.re.MatchString(short) || p.re.MatchString(longType(short))
}

func longType(name string) string {
	if strings.Count(name, "/") != 1 {
		return name
	}
	return strings.Replace(name, "/", "/msg/", 1)
}

func isGlob(s string) bool { return strings.ContainsAny(s, "*?[") }

// globExpr makes a regular expression of a glob; with groups each * is a group.
func globExpr(glob string, groups bool) (*regexp.Regexp, error) {
	var b strings.Builder
	b.WriteString("(?s)^")
	for i := 0; i < len(glob); {
		switch c := glob[i]; c {
		case '*':
			if groups {
				b.WriteString("(.*)")
			} else {
				b.WriteString(".*")
			}
			i++
		case '?':
			b.WriteByte('.')
			i++
		case '[':
			n := strings.IndexByte(glob[i:], ']')
			if n < 2 {
				return nil, fmt.Errorf("%q is not a glob: [ without ]", glob)
			}
			class := glob[i+1 : i+n]
			b.WriteByte('[')
			if class[0] == '!' || class[0] == '^' {
				b.WriteByte('^')
				class = class[1:]
			}
			for _, r := range class {
				if r != '-' {
					b.WriteString(regexp.QuoteMeta(string(r)))
					continue
				}
				b.WriteByte('-')
			}
			b.WriteByte(']')
			i += n + 1
		default:
			next := strings.IndexAny(glob[i+1:], "*?[")
			if next < 0 {
				next = len(glob) - i - 1
			}
			b.WriteString(regexp.QuoteMeta(glob[i : i+1+next]))
			i += 1 + next
		}
	}
	b.WriteByte('$')
	re, err := regexp.Compile(b.String())
	if err != nil {
		return nil, fmt.Errorf("%q is not a glob: %s", glob, reason(err))
	}
	return re, nil
}

// An UnknownError is a pattern that matches nothing in the recording.
type UnknownError struct {
	Flag    string // as on the command line: "--topic"
	Pattern string
	What    string   // "topic" or "type"
	LeftOut bool     // the recording has it, but the selection does not take it
	Known   []string // the names that the recording has, sorted, each once
}

// Error says what is unknown, and the next step.
func (e *UnknownError) Error() string {
	if e.LeftOut {
		return fmt.Sprintf("%s %s: this %s is not selected; omit one of the two flags", e.Flag, e.Pattern, e.What)
	}
	hint := nearest.Meant(nearest.Suggest(e.Pattern, e.Known), "bagconv info --topics lists what it has")
	names := strings.Split(e.Pattern, ",")
	if len(names) > 1 && !slices.ContainsFunc(names, func(s string) bool { return !slices.Contains(e.Known, s) }) {
		hint = "repeat the flag for each: " + e.Flag + " " + strings.Join(names, " "+e.Flag+" ")
	}
	return fmt.Sprintf("%s %s: the recording has no such %s; %s", e.Flag, e.Pattern, e.What, hint)
}

func unknown(flag string, p Pattern, info *storage.Info, typ bool) *UnknownError {
	e := &UnknownError{Flag: flag, Pattern: p.text, What: "topic"}
	if typ {
		e.What = "type"
	}
	for i := range info.Topics {
		if typ {
			e.Known = append(e.Known, info.Topics[i].Type)
		} else {
			e.Known = append(e.Known, info.Topics[i].Name)
		}
	}
	slices.Sort(e.Known)
	e.Known = slices.Compact(e.Known)
	return e
}
