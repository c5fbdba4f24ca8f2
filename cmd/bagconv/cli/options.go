package cli

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/export/lerobot"
	"github.com/bagconv/bagconv/storage"
)

// A formatOption is an option with the formats that have it, and what it is in each.
type formatOption struct {
	name    string
	formats []*storage.Format
	all     bool // every format of an export has the option, and no other format
}

// formatOptions lists the options of the formats that are written. The distribution,
// which is also about definitions, has a flag of its own.
func (e *env) formatOptions() (list []formatOption) {
	for _, f := range e.formats.Writable() {
		for _, o := range f.Options {
			i := slices.IndexFunc(list, func(x formatOption) bool { return x.name == o.Name })
			switch {
			case o.Name == storage.NameProfile:
			case i < 0:
				list = append(list, formatOption{name: o.Name, formats: []*storage.Format{f}})
			default:
				list[i].formats = append(list[i].formats, f)
			}
		}
	}
	exports := len(e.exported())
	for i := range list {
		list[i].all = list[i].exported() && len(list[i].formats) == exports
	}
	return list
}

// exported reports whether only exports have the option.
func (o *formatOption) exported() bool {
	return !slices.ContainsFunc(o.formats, func(f *storage.Format) bool { return f.Open != nil })
}

// first returns the option in the first format that has it.
func (o *formatOption) first() *storage.Option { return o.formats[0].Options.Find(o.name) }

// values returns the values of an option that is a choice, in all formats.
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
		if !e.command.IsSet(o.name) {
			continue
		}
		value := e.command.Text(o.name)
		if o.first().Kind == storage.OptionInteger && value == "0" {
			continue // the default of every format
		}
		option := sink.Options.Find(o.name)
		if option == nil {
			return flags.Usage("omit it", "--%s: a %s has no such option", o.name, sink.Name)
		}
		if option.Kind == storage.OptionChoice {
			if err := flags.OneOf("--"+o.name+" of "+sink.Name, value, option.Values...); err != nil {
				return err
			}
		}
		if option.Kind == storage.OptionFile {
			if value = e.set.texts[o.name]; o.name == lerobot.OptionMap {
				if err := selectMapped(job, value); err != nil {
					return err
				}
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
	if e.command.IsSet("apollo-layout") && sink.Holds.Native != "protobuf" && e.set.job.Encoding != "protobuf" &&
		!e.set.quiet {
		e.writeLines("note", []string{"--apollo-layout: without effect, because a " + sink.Name +
			" gets no descriptors of Apollo without --encoding protobuf"})
	}
	if w := job.Write; w.SegmentNames != "" && w.SegmentSize == 0 && w.SegmentDuration == 0 {
		return flags.Usage("add --segment-size or --segment-duration", "--segment-names has no effect without segments")
	}
	return nil
}

// maxOptionFile is how large a file of an option may be, in bytes.
const maxOptionFile = 1 << 20

// readOption reads the file that an option names.
func (e *env) readOption(f *flags.Flag) error {
	text, err := readSome(e.fs, f.String(), maxOptionFile)
	if err != nil {
		return flags.Usage("", "%s: %v", phrase.Clean(f.String()), plainError(err))
	}
	if e.set.texts == nil {
		e.set.texts = map[string]string{}
	}
	e.set.texts[f.Name] = string(text)
	e.set.named = append(e.set.named, text)
	return nil
}

// optionUsage makes an error of the line of one about an option.
func optionUsage(err error) error {
	var o *storage.OptionError
	if !errors.As(err, &o) {
		return err
	}
	return flags.Usage(o.Hint, "--%s: %s", o.Name, o.What)
}

// optionChoices returns the values of an option in the format of the output; nil if that is
// not known.
func (e *env) optionChoices(l *flags.Line, name string) []string {
	out := l.Text("output")
	if out == "" && len(l.Words) > 1 {
		out = l.Words[len(l.Words)-1]
	}
	to := l.Text("to")
	if to == "" && out == "" {
		return nil
	}
	f, err := e.sinkFormat(to, cmp.Or(out, "x"), l.Text)
	if err != nil {
		return nil
	}
	return f.Options.Choices(name)
}

// brief says in a few words what the option is, with the values of one of exports.
func (o *formatOption) brief() string {
	text := (&flags.Flag{Help: o.first().Help}).Summary()
	if o.exported() && o.first().Kind == storage.OptionChoice {
		text += ": " + phrase.OrList(o.values())
	}
	return text
}

// optionArgs stand for the value of an option in the help.
var optionArgs = map[storage.OptionKind]string{
	storage.OptionChoice: "VALUE", storage.OptionInteger: "N", storage.OptionSize: "SIZE", storage.OptionDuration: "D",
	storage.OptionText: "TEXT",
	storage.OptionFile: "FILE",
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
			m.values = phrase.OrList(values)
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
			if o.all && len(meanings) == 1 {
				formats = "" // the group of the flags says which
			}
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

// selectMapped selects the topics of a mapping, unless the line selects some, or gives them other names.
func selectMapped(job *convert.Job, text string) error {
	m, err := lerobot.ParseMapping(text)
	if err != nil {
		return optionUsage(err)
	}
	s, edit := &job.Select, &job.Edit
	if len(s.Topics) > 0 || len(s.Types) > 0 || len(edit.Remap) > 0 || edit.Prefix != "" {
		return nil
	}
	for _, topic := range m.Topics() {
		s.Topics = append(s.Topics, selection.Exactly(topic))
	}
	return nil
}
