// Package flags has the shape of bagconv's command line, as data: what a flag and a command are, and how a line is
// read. Help, the manual page, completion, files of --config and docs/cli.md are made from the same entries.
//
// An entry is for one run: it keeps the values that the line gives it. Nothing here may be used concurrently.
package flags

import (
	"strconv"
	"strings"
)

// A Flag is an entry of the table of flags, with everything about it.
type Flag struct {
	Name, Short string
	Old         []string // former long names, which go on working and stand in no help
	On          string   // the names of the commands that take it; "": all of them
	Group       *Group   // under which the help has it; nil: only the help of the program has it
	Kind        Kind
	Arg         string // stands for the value in the help; "": the values do
	Values      []Word // of OneWord and SomeWords; of the other kinds, values that are words
	Suffix      string // of Topic and Input: what follows in the same word
	Second      string // stands for a second value: the next word, also one of Texts; "": the flag takes one value
	SecondAfter string // the first value that has a second one; "": any
	Several     bool   // may be given several times
	ByOutput    bool   // the values depend on the format of the output, and the command checks them
	LineOnly    bool   // cannot stand in a file of --config
	Default     string
	NoValue     string // the value if the flag stands without one; "": it needs one. Only of Decimal
	Help        string // a sentence, or several
	Brief       string // what completion shows; "": the beginning of Help

	Set   func(*Flag) error // what it sets; called with the default too, unless that is ""
	Texts []string          // given on the line or in a file; nil: the default
}

// A Kind is what the value of a flag is, or a word of the line.
type Kind int

const (
	PlainText Kind = iota // what nobody can complete
	OnOff                 // true or false; the flag alone is true
	Number
	Decimal
	OneWord   // one of the values
	SomeWords // some of the values, with commas between
	File      // or a folder
	Topic     // of an input
	Field     // a topic of an input, or a field of its messages; of a flag, in an expression
	Type      // of messages of an input
	Input     // a word of the line
	Key       // of the JSON of info
	Name      // of a command
)

// A Group is a part of the flags of a command, with a heading in the help.
type Group struct {
	Title, Note string
	Topic       string // the page of help that has the flags for all commands; "": each command has them
}

// A Word is a word that may stand in a place, and what it means.
type Word struct{ Value, About string }

// Words returns words that need no explanation.
func Words(values ...string) (list []Word) {
	for _, v := range values {
		list = append(list, Word{Value: v})
	}
	return list
}

// In returns the flag for other commands, with its help there; "": the same help.
func (f Flag) In(g *Group, help, on string) Flag {
	if f.Group, f.On = g, on; help != "" {
		f.Help = help
	}
	return f
}

// AllIn returns flags as the same commands have them, in one group.
func AllIn(g *Group, on string, list ...Flag) []Flag {
	for i := range list {
		list[i] = list[i].In(g, "", on)
	}
	return list
}

// TakenBy reports whether a command takes the flag.
func (f *Flag) TakenBy(command string) bool {
	for name := range strings.FieldsSeq(f.On) {
		if name == command {
			return true
		}
	}
	return f.On == ""
}

// Commands lists the names of the commands that take the flag, nil for all of them.
func (f *Flag) Commands() []string { return strings.Fields(f.On) }

// IsSet reports whether the line or a file has the flag.
func (f *Flag) IsSet() bool { return f.Texts != nil }

// String returns the last value, or the default.
func (f *Flag) String() string {
	if len(f.Texts) == 0 {
		return f.Default
	}
	return f.Texts[len(f.Texts)-1]
}

// Add adds a value, as text.
func (f *Flag) Add(text string) { f.Texts = append(f.Texts, text) }

// Takes reports whether a text can be a value of the flag, by its kind.
func (f *Flag) Takes(text string) bool {
	var err error
	switch f.Kind {
	case OnOff:
		_, err = strconv.ParseBool(text)
	case Number:
		_, err = strconv.ParseInt(text, 10, 64)
	case Decimal:
		_, err = strconv.ParseFloat(text, 64)
	}
	return err == nil
}

// Apply checks the value, and sets what the flag sets. Errors are usage errors.
func (f *Flag) Apply() error {
	if f.Kind == OneWord && f.Texts != nil && !f.ByOutput {
		if err := OneOf("--"+f.Name, f.String(), f.ValueWords()...); err != nil {
			return err
		}
	}
	if f.Set == nil || f.Texts == nil && f.Default == "" {
		return nil
	}
	err := f.Set(f)
	if _, ok := err.(*UsageError); err == nil || ok {
		return err
	}
	return Usage("", "--%s: %v", f.Name, err)
}

// ValueWords returns the values that are words.
func (f *Flag) ValueWords() (list []string) {
	for _, v := range f.Values {
		list = append(list, v.Value)
	}
	return list
}

// Spellings returns how the flag is written: "-t, --topic".
func (f *Flag) Spellings() string {
	if f.Short == "" {
		return Dashed(f.Name)
	}
	return Dashed(f.Short) + ", " + Dashed(f.Name)
}

// Argument returns what stands for the value in the help; "" if nothing does.
func (f *Flag) Argument() string {
	if f.NoValue != "" {
		return "[" + f.Arg + "]"
	}
	if f.Arg == "" && f.Kind != OnOff {
		return strings.Join(f.ValueWords(), "|")
	}
	if f.Second != "" && f.SecondAfter == "" {
		return f.Arg + " " + f.Second
	}
	return f.Arg
}

// hasSecond reports whether a second value follows a first one.
func (f *Flag) hasSecond(first string) bool {
	return f.Second != "" && (f.SecondAfter == "" || f.SecondAfter == first)
}

// Summary returns what the flag is about, in a few words.
func (f *Flag) Summary() string {
	if f.Brief != "" {
		return f.Brief
	}
	text := f.Help
	for _, end := range []string{". ", "; ", ": ", " ("} {
		text, _, _ = strings.Cut(text, end)
	}
	text = strings.TrimSuffix(strings.Join(strings.Fields(text), " "), ":")
	for len(text) > briefWidth {
		at := strings.LastIndex(text, ", ")
		if at <= briefWidth/3 {
			break
		}
		text = text[:at]
	}
	return text
}

// briefWidth is how long a summary can be that has a clause after a comma.
const briefWidth = 56

// names returns all names of the flag, short and former ones too.
func (f *Flag) names() []string {
	names := append([]string{f.Name}, f.Old...)
	if f.Short != "" {
		names = append(names, f.Short)
	}
	return names
}
