package cli

import (
	std "flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A flag is an entry of the table of flags, with everything about it. The parser,
// help, the manual page, completion, files of --config and docs/cli.md are made from it.
// It is a flag of urfave/cli.
type flag struct {
	name, short string
	on          []string // the commands that take it; nil: all of them
	group       *group   // under which the help has it; nil: only that of the program has it
	kind        kind
	arg         string      // stands for the value in the help; "": the values do
	values      []candidate // of oneWord and someWords; of the other kinds, values that are words
	suffix      string      // of aTopic and anInput: what follows in the same word
	several     bool        // may be given several times
	byOutput    bool        // the values depend on the format of the output, and the command checks them
	lineOnly    bool        // cannot stand in a file of --config
	init        string      // the default
	noValue     string      // the value if the flag stands without one; "": it needs one. Only of aDecimal
	help        string      // a sentence, or several
	brief       string      // what completion shows; "": the beginning of help

	set   func(*flag) error // what it sets; called with the default too, unless that is ""
	texts []string          // given on the line or in a file; nil: the default
}

// A kind is what the value of a flag is, or a word of the line.
type kind int

const (
	plainText kind = iota // what nobody can complete
	onOff                 // true or false; the flag alone is true
	aNumber
	aDecimal
	oneWord   // one of the values
	someWords // some of the values, with commas between
	aFile     // or a folder
	aTopic    // of an input
	aType     // of messages of an input
	anInput   // a word of the line
	aKey      // of the JSON of info
	aCommand
)

// A group is a part of the flags of a command, with a heading in the help.
type group struct{ title, note string }

// in returns the flag for other commands, with its help there; "": the same help.
func (f flag) in(g *group, help string, commands ...string) flag {
	if f.group, f.on = g, commands; help != "" {
		f.help = help
	}
	return f
}

// allIn returns flags as the same commands have them, in one group.
func allIn(g *group, commands []string, list ...flag) []flag {
	for i := range list {
		list[i] = list[i].in(g, "", commands...)
	}
	return list
}

// takenBy reports whether a command takes the flag.
func (f *flag) takenBy(command string) bool {
	return f.on == nil || slices.Contains(f.on, command)
}

// Names, IsSet, String, Set, IsBoolFlag and Apply are for urfave/cli.
func (f *flag) Names() []string { return []string{f.name} }

// IsSet reports whether the line or a file has the flag.
func (f *flag) IsSet() bool { return f.texts != nil }

// String returns the last value, or the default.
func (f *flag) String() string {
	if len(f.texts) == 0 {
		return f.init
	}
	return f.texts[len(f.texts)-1]
}

// Set adds a value, as text.
func (f *flag) Set(text string) error {
	f.texts = append(f.texts, text)
	return nil
}

// IsBoolFlag reports whether the flag may stand without a value.
func (f *flag) IsBoolFlag() bool { return f.kind == onOff }

// Apply makes the flag one of a set.
func (f *flag) Apply(set *std.FlagSet) error {
	set.Var(f, f.name, "")
	return nil
}

// takes reports whether a text can be a value of the flag, by its kind.
func (f *flag) takes(text string) bool {
	var err error
	switch f.kind {
	case onOff:
		_, err = strconv.ParseBool(text)
	case aNumber:
		_, err = strconv.ParseInt(text, 10, 64)
	case aDecimal:
		_, err = strconv.ParseFloat(text, 64)
	}
	return err == nil
}

// apply checks the value, and sets what the flag sets. Errors are usage errors.
func (f *flag) apply() error {
	if f.kind == oneWord && f.texts != nil && !f.byOutput {
		if err := oneOf("--"+f.name, f.String(), f.words()...); err != nil {
			return err
		}
	}
	if f.set == nil || f.texts == nil && f.init == "" {
		return nil
	}
	err := f.set(f)
	if _, ok := err.(*usageError); err == nil || ok {
		return err
	}
	return usage("", "--%s: %v", f.name, err)
}

// words returns the values that are words.
func (f *flag) words() (list []string) {
	for _, v := range f.values {
		list = append(list, v.value)
	}
	return list
}

// spellings returns how the flag is written: "-t, --topic".
func (f *flag) spellings() string {
	if f.short == "" {
		return dashed(f.name)
	}
	return dashed(f.short) + ", " + dashed(f.name)
}

// argument returns what stands for the value in the help; "" if there is none.
func (f *flag) argument() string {
	if f.noValue != "" {
		return "[" + f.arg + "]"
	}
	if f.arg == "" && f.kind != onOff {
		return strings.Join(f.words(), "|")
	}
	return f.arg
}

// summary returns what the flag is about, in a few words.
func (f *flag) summary() string {
	if f.brief != "" {
		return f.brief
	}
	text := f.help
	for _, end := range []string{". ", "; ", ": ", " ("} {
		text, _, _ = strings.Cut(text, end)
	}
	return strings.TrimSuffix(strings.Join(strings.Fields(text), " "), ":")
}

// put sets a variable to the value as it is: true or false, a text, texts, or a number.
func put[T bool | string | []string | int | int64 | float64](p *T) func(*flag) error {
	return func(f *flag) (err error) {
		switch p := any(p).(type) {
		case *bool:
			*p, err = strconv.ParseBool(f.String())
		case *string:
			*p = f.String()
		case *[]string:
			*p = f.texts
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

// parsed sets a variable to what parse makes of the value.
func parsed[T any](p *T, parse func(string) (T, error)) func(*flag) error {
	return func(f *flag) (err error) {
		v, err := parse(f.String())
		if err == nil {
			*p = v
		}
		return err
	}
}

// parsedEach adds to a variable what parse makes of each value.
func parsedEach[T any](p *[]T, parse func(string) (T, error)) func(*flag) error {
	return func(f *flag) error {
		for _, text := range f.texts {
			v, err := parse(text)
			if err != nil {
				return err
			}
			*p = append(*p, v)
		}
		return nil
	}
}

// nth sets a variable to constants, in the order of the words of the flag.
func nth[T any](p *T, constants ...T) func(*flag) error {
	return func(f *flag) error {
		at := slices.Index(f.words(), f.String())
		if at < 0 || at >= len(constants) {
			return fmt.Errorf("unknown value %q", f.String())
		}
		*p = constants[at]
		return nil
	}
}
