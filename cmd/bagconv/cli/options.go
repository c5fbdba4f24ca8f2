package cli

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/storage"
)

// A formatOption is an option with the formats that have it, and what it is in each.
type formatOption struct {
	name    string
	formats []*storage.Format
}

// formatOptions lists the options of the formats that are written. The distribution,
// which is also about definitions, has a flag of its own.
func (e *env) formatOptions() (list []formatOption) {
	for _, f := range e.formats.Formats() {
		if f.Create == nil {
			continue
		}
		for _, o := range f.Options {
			i := slices.IndexFunc(list, func(x formatOption) bool { return x.name == o.Name })
			switch {
			case o.Name == storage.NameProfile:
			case i < 0:
				list = append(list, formatOption{o.Name, []*storage.Format{f}})
			default:
				list[i].formats = append(list[i].formats, f)
			}
		}
	}
	return list
}

// first returns the option in the first format that has it.
func (o *formatOption) first() *storage.Option { return o.formats[0].Options.Find(o.name) }

// values returns those of an option that is a choice, in all formats.
func (o *formatOption) values() (values []string) {
	for _, f := range o.formats {
		for _, v := range f.Options.Choices(o.name) {
			if !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
	}
	return values
}

// setOptions takes the flags of options for an output.
func (e *env) setOptions(job *convert.Job) error {
	sink := job.SinkFormat
	for _, o := range e.formatOptions() {
		if !e.command.isSet(o.name) {
			continue
		}
		value := e.command.text(o.name)
		if o.first().Kind == storage.OptionInteger && value == "0" {
			continue // the default of every format
		}
		option := sink.Options.Find(o.name)
		if option == nil {
			return usage("omit it", "--%s: a %s has no such option", o.name, sink.Name)
		}
		if option.Kind == storage.OptionChoice {
			if err := oneOf("--"+o.name+" of "+sink.Name, value, option.Values...); err != nil {
				return err
			}
		}
		if err := sink.Options.Set(&job.Write, o.name, value); err != nil {
			return optionUsage(err)
		}
		if o.name == storage.NameEncrypt {
			if err := takeOutputKey(job, value); err != nil {
				return err
			}
		}
	}
	if w := job.Write; w.SegmentNames != "" && w.SegmentSize == 0 && w.SegmentDuration == 0 {
		return usage("add --segment-size or --segment-duration", "--segment-names has no effect without segments")
	}
	return nil
}

// optionUsage makes an error of the line of one about an option.
func optionUsage(err error) error {
	var o *storage.OptionError
	if !errors.As(err, &o) {
		return err
	}
	return usage(o.Hint, "--%s: %s", o.Name, o.What)
}

// optionChoices returns the values of an option in the format of the output; nil if that is
// not known.
func (e *env) optionChoices(l *line, name string) []string {
	out := l.text("output")
	if out == "" && len(l.words) > 1 {
		out = l.words[len(l.words)-1]
	}
	to := l.text("to")
	if to == "" && out == "" {
		return nil
	}
	f, err := e.sinkFormat(to, cmp.Or(out, "x"), l.text)
	if err != nil {
		return nil
	}
	return f.Options.Choices(name)
}

// optionArgs stand for the value of an option in the help.
var optionArgs = map[storage.OptionKind]string{
	storage.OptionChoice: "VALUE", storage.OptionInteger: "N", storage.OptionSize: "SIZE", storage.OptionDuration: "D", storage.OptionText: "TEXT",
}

// text describes the option in each format: "none (default), lz4 or bz2 (bag): codec of the
// chunks; ...".
func (o *formatOption) text() string {
	type meaning struct{ values, help string }
	var meanings []meaning
	names := map[meaning][]string{} // of formats, by what it means in them
	var helps []string
	for _, f := range o.formats {
		option := f.Options.Find(o.name)
		if option.Kind == storage.OptionChoice && len(option.Values) < 2 {
			continue // there is nothing to choose
		}
		m := meaning{help: option.Help}
		if option.Kind == storage.OptionChoice {
			values := slices.Clone(option.Values)
			values[0] += " (default)"
			m.values = orList(values)
		}
		if names[m] == nil {
			meanings = append(meanings, m)
			if !slices.Contains(helps, m.help) {
				helps = append(helps, m.help)
			}
		}
		names[m] = append(names[m], f.Name)
	}
	var parts []string
	for _, help := range helps {
		var values []string
		for _, m := range meanings {
			formats := " (" + strings.Join(names[m], ", ") + ")"
			switch {
			case m.help != help:
			case m.values == "":
				parts = append(parts, help+formats)
			default:
				values = append(values, m.values+formats)
			}
		}
		if values != nil {
			parts = append(parts, strings.Join(values, ", ")+": "+help)
		}
	}
	return strings.Join(parts, "; ")
}

// optionJSON is an option in the JSON of bagconv formats.
type optionJSON struct {
	Name   string   `json:"name"`
	Kind   string   `json:"kind"`
	Values []string `json:"values"` // of a choice, the default first
	Help   string   `json:"help"`
}

func optionsJSON(options storage.Options) []optionJSON {
	list := []optionJSON{}
	for _, o := range options {
		list = append(list, optionJSON{o.Name, string(o.Kind), some(o.Values), o.Help})
	}
	return list
}
