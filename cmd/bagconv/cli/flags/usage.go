package flags

import (
	"fmt"
	"strings"

	"github.com/bagconv/bagconv/internal/nearest"
)

// A UsageError is an error of the command line. Its exit status is 2.
type UsageError struct{ What, Hint string }

func (e *UsageError) Error() string {
	if e.Hint == "" {
		return e.What
	}
	return e.What + "; " + e.Hint
}

// Usage makes a UsageError: the next step, then what is wrong.
func Usage(hint, what string, a ...any) error {
	return &UsageError{What: fmt.Sprintf(what, a...), Hint: hint}
}

// OneOf checks the value of a flag that takes a few words.
func OneOf(flag, value string, choices ...string) error {
	for _, c := range choices {
		if c == value {
			return nil
		}
	}
	hint := "it is one of: " + strings.Join(choices, ", ")
	if near := nearest.Suggest(strings.ToLower(value), choices); near != "" && len(value) > 2 {
		hint += "; did you mean " + near + "?"
	}
	return Usage(hint, "%s: unknown value %q", flag, value)
}
