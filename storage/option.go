package storage

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An OptionKind is what the values of an option are, as text.
type OptionKind string

// The kinds of options.
const (
	OptionChoice   OptionKind = "choice"   // one of Option.Values
	OptionInteger  OptionKind = "integer"  // "9", 0 or more
	OptionSize     OptionKind = "size"     // bytes, above 0: "1000", "768K" and "4M" (times 1024), "4MB" (times 1000)
	OptionDuration OptionKind = "duration" // above 0: "60s", "1m30s"
	OptionSwitch   OptionKind = "switch"   // "true" or "false", the default
	OptionText     OptionKind = "text"     // any text that Create accepts
	OptionFile     OptionKind = "file"     // the text of a file, which the program's flag names
)

// An Option is what can be chosen of an output of a format. The program has a flag for
// each.
type Option struct {
	Name   string     `json:"name"` // "chunk-size"
	Kind   OptionKind `json:"kind"`
	Values []string   `json:"values"` // of a choice, the default first
	Help   string     `json:"help"`   // what it does, as part of a sentence

	// Asked is set if an output has the default unless another value is asked for, whatever
	// a source of the same format has.
	Asked bool `json:"-"`
}

// The options that WriteOptions has fields for, and usual ones in WriteOptions.Values.
const (
	NameCompression     = "compression"
	NameLevel           = "level"
	NameChunkSize       = "chunk-size"
	NameProfile         = "distro"
	NameSegmentSize     = "segment-size"
	NameSegmentDuration = "segment-duration"
	NameSegmentNames    = "segment-names"

	NameEncrypt         = "encrypt"          // with which key the output is encrypted
	NamePreset          = "preset"           // a choice for several other options
	NameStorage         = "storage"          // of the messages in a folder
	NameCompressionMode = "compression-mode" // what is compressed
)

// An OptionError is a value that an output cannot have. It wraps ErrUnsupported.
type OptionError struct {
	Name string // of the option
	What string // follows the name and a colon
	Hint string // what to do next
}

func (e *OptionError) Error() string { return e.Name + ": " + e.What + "; " + e.Hint }

func (e *OptionError) Unwrap() error { return ErrUnsupported }

// Options are the options of one format.
type Options []Option

// Find returns the option of that name, or nil.
func (list Options) Find(name string) *Option {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

// Choices returns the values of an option that is a choice, the default first; nil if
// there is no such option.
func (list Options) Choices(name string) []string {
	if o := list.Find(name); o != nil {
		return o.Values
	}
	return nil
}

// Set sets an option from its text. The error is an *OptionError.
func (list Options) Set(o *WriteOptions, name, value string) error {
	option := list.Find(name)
	if option == nil {
		return noOption(name)
	}
	n, err := option.parse(value)
	if err != nil {
		return err
	}
	switch name {
	case NameCompression:
		o.Compression = value
	case NameLevel:
		o.Level = int(n)
	case NameChunkSize:
		o.ChunkSize = n
	case NameProfile:
		o.Profile = value
	case NameSegmentSize:
		o.SegmentSize = n
	case NameSegmentDuration:
		o.SegmentDuration = n
	case NameSegmentNames:
		o.SegmentNames = value
	default:
		values := maps.Clone(o.Values)
		if values == nil {
			values = map[string]string{}
		}
		values[name] = value
		o.Values = values
	}
	return nil
}

// Check reports the first value in o that no output of the format can have, as an
// *OptionError. Zero values are defaults, and always right. Every Create begins with it.
func (list Options) Check(o *WriteOptions) error {
	for _, x := range []struct {
		name, value string
		number      int64
	}{
		{NameCompression, o.Compression, 0}, {NameLevel, "", int64(o.Level)}, {NameChunkSize, "", o.ChunkSize}, {NameProfile,
			o.Profile, 0},
		{NameSegmentSize, "", o.SegmentSize}, {NameSegmentDuration, "", o.SegmentDuration}, {NameSegmentNames, o.SegmentNames,
			0},
	} {
		option := list.Find(x.name)
		switch {
		case x.value == "" && x.number == 0:
		case option == nil:
			return noOption(x.name)
		case x.number < 0:
			return &OptionError{x.name, fmt.Sprintf("%d is less than 0", x.number), "0 is the default"}
		case x.value != "":
			if _, err := option.parse(x.value); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Values)) {
		if err := list.Set(&WriteOptions{}, name, o.Values[name]); err != nil {
			return err
		}
	}
	return nil
}

func noOption(name string) error {
	return &OptionError{name, "the format has no such option", "omit it"}
}

// parse checks a value, and returns it as a number if it is one.
func (o *Option) parse(value string) (int64, error) {
	wrong := func(hint, format string, a ...any) (int64, error) {
		return 0, &OptionError{o.Name, fmt.Sprintf(format, a...), hint}
	}
	switch o.Kind {
	case OptionChoice:
		if !slices.Contains(o.Values, value) {
			return wrong("it is one of: "+strings.Join(o.Values, ", "), "unknown value %q", value)
		}
	case OptionSwitch:
		if _, err := strconv.ParseBool(value); err != nil {
			return wrong("it is true or false", "unknown value %q", value)
		}
	case OptionInteger:
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil || n < 0 {
			return wrong("0 is the default", "%q is not a number of 0 or more", value)
		}
		return n, nil
	case OptionSize:
		n, err := ParseSize(value)
		if err != nil {
			return wrong("type for example 768K, 4M or 1000000", "%v", err)
		}
		return n, nil
	case OptionDuration:
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 {
			return wrong("type for example 60s, 5m or 1h", "%q is not a duration above 0", value)
		}
		return int64(d), nil
	}
	return 0, nil
}

// sizeUnits are the multiples that ParseSize knows, lower case.
var sizeUnits = map[string]float64{
	"": 1, "b": 1,
	"k": 1 << 10, "m": 1 << 20, "g": 1 << 30,
	"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30,
	"kb": 1e3, "mb": 1e6, "gb": 1e9,
}

// ParseSize reads a number of bytes above 0: "1000", "768K", "1.5M" (of 1024), "4MB" (of
// 1000).
func ParseSize(s string) (int64, error) {
	digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	unit, ok := sizeUnits[strings.ToLower(s[len(digits):])]
	n, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if !ok || err != nil || !(n > 0) || n*unit < 1 || n*unit > math.MaxInt64/2 {
		return 0, fmt.Errorf("%q is not a size", s)
	}
	return int64(n * unit), nil
}
