package flags

import (
	"fmt"
	"slices"
	"strconv"
)

// Put sets a variable to the value as it is: true or false, a text, texts, or a number.
func Put[T bool | string | []string | int | int64 | float64](p *T) func(*Flag) error {
	return func(f *Flag) (err error) {
		switch p := any(p).(type) {
		case *bool:
			*p, err = strconv.ParseBool(f.String())
		case *string:
			*p = f.String()
		case *[]string:
			*p = f.Texts
		case *int:
			*p, err = strconv.Atoi(f.String())
		case *int64:
			*p, err = strconv.ParseInt(f.String(), 10, 64)
		case *float64:
			*p, err = strconv.ParseFloat(f.String(), 64)
		}
		return err
	}
}

// Parsed sets a variable to what parse makes of the value.
func Parsed[T any](p *T, parse func(string) (T, error)) func(*Flag) error {
	return func(f *Flag) (err error) {
		v, err := parse(f.String())
		if err == nil {
			*p = v
		}
		return err
	}
}

// ParsedEach adds to a variable what parse makes of each value.
func ParsedEach[T any](p *[]T, parse func(string) (T, error)) func(*Flag) error {
	return func(f *Flag) error {
		for _, text := range f.Texts {
			v, err := parse(text)
			if err != nil {
				return err
			}
			*p = append(*p, v)
		}
		return nil
	}
}

// Nth sets a variable to constants, in the order of the words of the flag.
func Nth[T any](p *T, constants ...T) func(*Flag) error {
	return func(f *Flag) error {
		at := slices.Index(f.ValueWords(), f.String())
		if at < 0 || at >= len(constants) {
			return fmt.Errorf("unknown value %q", f.String())
		}
		*p = constants[at]
		return nil
	}
}
