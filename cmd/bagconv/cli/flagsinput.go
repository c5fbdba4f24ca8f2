package cli

import (
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/internal/convert/selection"
)

// selectFlags select messages, by topic and time. Selection.Resolve applies the selection
// to a recording; its errors go through
// explainSelection.
func (e *env) selectFlags() []flags.Flag {
	s := &e.set.job.Select
	from := flags.Flag{Name: "from", Arg: "FORMAT", Kind: flags.OneWord, Values: flags.Words(e.readable()...),
		Set: func(f *flags.Flag) error {
			e.from = e.formats.Lookup(f.String())
			return nil
		},
		Help: "format of IN, if its first bytes are damaged: " + phrase.OrList(e.readable())}
	duration := func(f *flags.Flag) error {
		if s.End.Set() {
			return flags.Usage("omit one of them", "--duration and --end both set the end")
		}
		return flags.Parsed(&s.Duration, selection.ParseDuration)(f)
	}
	return append(flags.AllIn(selectGroup, writes+" serve verify cat play",
		flags.Flag{Name: "topic", Short: "t", Arg: "P", Kind: flags.Topic, Several: true, Set: flags.ParsedEach(&s.Topics,
			selection.ParsePattern),
			Help: "only these topics. P is a name, a glob (* matches any characters, / too), or re: and a regular expression " +
				"for the whole name; repeat the flag for more topics"},
		flags.Flag{Name: "exclude-topic", Short: "x", Arg: "P", Kind: flags.Topic, Several: true,
			Set:  flags.ParsedEach(&s.ExcludeTopics, selection.ParsePattern),
			Help: "leave out these topics"},
		flags.Flag{Name: "type", Arg: "P", Kind: flags.Type, Several: true, Set: flags.ParsedEach(&s.Types,
			selection.ParsePattern),
			Help: "only topics of these types, such as sensor_msgs/Image, sensor_msgs/msg/Image or apollo.drivers.Image"},
		flags.Flag{Name: "exclude-type", Arg: "P", Kind: flags.Type, Several: true, Set: flags.ParsedEach(&s.ExcludeTypes,
			selection.ParsePattern),
			Help: "leave out topics of these types"},
		flags.Flag{Name: "start", Short: "S", Arg: "TIME", Set: flags.Parsed(&s.Start, selection.ParseTime),
			Help: "begin at this time"},
		flags.Flag{Name: "end", Short: "E", Arg: "TIME", Set: flags.Parsed(&s.End, selection.ParseTime),
			Help: "end before this time"},
		flags.Flag{Name: "duration", Short: "u", Arg: "D", Set: duration,
			Help: "length, from --start or from the start of the recording"},
	), from.In(urlGroup, "", writes+" serve verify cat play info list defs check gen"))
}

// editFlags change the selected messages.
func (s *settings) editFlags() []flags.Flag {
	edit := &s.job.Edit
	list := flags.AllIn(editGroup, writes+" serve verify",
		flags.Flag{Name: "remap", Short: "m", Arg: "OLD:=NEW", Kind: flags.Topic, Suffix: ":=", Several: true,
			Set:  flags.ParsedEach(&edit.Remap, selection.ParseRename),
			Help: "rename a topic; with globs: '/camera/*:=/cam/*'"},
		flags.Flag{Name: "prefix", Arg: "NAME", Set: flags.Parsed(&edit.Prefix, parsePrefix),
			Help: "put NAME before all topic names, such as /robot1"},
		flags.Flag{Name: "throttle", Arg: "TOPIC=HZ", Kind: flags.Topic, Suffix: "=", Several: true,
			Set:  flags.ParsedEach(&edit.Rates, selection.ParseThrottle),
			Help: "keep at most HZ messages per second"},
		flags.Flag{Name: "every", Arg: "TOPIC=N", Kind: flags.Topic, Suffix: "=", Several: true,
			Set:  flags.ParsedEach(&edit.Rates, selection.ParseEvery),
			Help: "keep every N-th message"},
		flags.Flag{Name: "restamp", Kind: flags.OneWord, Values: flags.Words("header", "log"),
			Set:  flags.Nth(&edit.Restamp, selection.RestampHeader, selection.RestampLog),
			Help: "header: set log times to the header stamps; log: set header stamps to the log times"},
		flags.Flag{Name: "offset", Arg: "D", Set: flags.Parsed(&edit.Offset, selection.ParseOffset),
			Help: "add a duration to all log times, such as +0.3s or -1h"},
		flags.Flag{Name: "latch", Arg: "auto|none|P", Kind: flags.Topic, Values: flags.Words("auto", "none"), Several: true,
			Set: func(f *flags.Flag) (err error) {
				edit.Latch, err = selection.ParseLatch(f.Texts)
				return err
			},
			Help: "messages from before --start that are repeated there. auto (default): messages of latched, transient " +
				"local and /tf_static topics; none: nothing; P: the last message of topics P"},
	)
	for i, f := range list {
		switch f.Name {
		case "remap", "prefix", "throttle", "every":
			list[i].On += " record play"
		case "latch":
			list[i].On += " play"
		}
	}
	return list
}

func parsePrefix(text string) (string, error) {
	if strings.Trim(text, "/") == "" {
		return "", flags.Usage("type for example --prefix /robot1", "--prefix %q is empty", text)
	}
	return text, nil
}
