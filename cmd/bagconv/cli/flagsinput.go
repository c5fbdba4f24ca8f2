package cli

import (
	"strings"

	"github.com/bagconv/bagconv/convert/selection"
)

// selectFlags select messages, by topic and time. Selection.Resolve applies the selection
// to a recording; its errors go through
// explainSelection.
func (e *env) selectFlags() []flag {
	s := &e.set.job.Select
	from := flag{name: "from", arg: "FORMAT", kind: oneWord, values: words(e.readable()...), set: func(f *flag) error {
		e.from = e.formats.Lookup(f.String())
		return nil
	},
		help: "format of IN, if its first bytes are damaged: " + orList(e.readable())}
	duration := func(f *flag) error {
		if s.End.Set() {
			return usage("omit one of them", "--duration and --end both set the end")
		}
		return parsed(&s.Duration, selection.ParseDuration)(f)
	}
	return append(allIn(selectGroup, selectCommands,
		flag{name: "topic", short: "t", arg: "P", kind: aTopic, several: true, set: parsedEach(&s.Topics, selection.ParsePattern),
			help: "only these topics. P is a name, a glob (* matches any characters, / too), or re: and a regular expression for the whole name; repeat the flag for more topics"},
		flag{name: "exclude-topic", short: "x", arg: "P", kind: aTopic, several: true, set: parsedEach(&s.ExcludeTopics, selection.ParsePattern),
			help: "leave out these topics"},
		flag{name: "type", arg: "P", kind: aType, several: true, set: parsedEach(&s.Types, selection.ParsePattern),
			help: "only topics of these types, such as sensor_msgs/Image, sensor_msgs/msg/Image or apollo.drivers.Image"},
		flag{name: "exclude-type", arg: "P", kind: aType, several: true, set: parsedEach(&s.ExcludeTypes, selection.ParsePattern),
			help: "leave out topics of these types"},
		flag{name: "start", short: "S", arg: "TIME", set: parsed(&s.Start, selection.ParseTime), help: "begin at this time"},
		flag{name: "end", short: "E", arg: "TIME", set: parsed(&s.End, selection.ParseTime), help: "end before this time"},
		flag{name: "duration", short: "u", arg: "D", set: duration, help: "length, from --start or from the start of the recording"},
		from,
	), from.in(readGroup, "", "info", "topics", "du", "list", "schema", "check", "gen", "migrate", "play"))
}

// editFlags change the selected messages.
func (s *settings) editFlags() []flag {
	edit := &s.job.Edit
	return allIn(editGroup, editCommands,
		flag{name: "remap", short: "m", arg: "OLD:=NEW", kind: aTopic, suffix: ":=", several: true, set: parsedEach(&edit.Remap, selection.ParseRename),
			help: "rename a topic; with globs: '/camera/*:=/cam/*'"},
		flag{name: "prefix", arg: "NAME", set: parsed(&edit.Prefix, parsePrefix), help: "put NAME before all topic names, such as /robot1"},
		flag{name: "throttle", arg: "TOPIC=HZ", kind: aTopic, suffix: "=", several: true, set: parsedEach(&edit.Rates, selection.ParseThrottle),
			help: "keep at most HZ messages per second"},
		flag{name: "every", arg: "TOPIC=N", kind: aTopic, suffix: "=", several: true, set: parsedEach(&edit.Rates, selection.ParseEvery),
			help: "keep every N-th message"},
		flag{name: "restamp", kind: oneWord, values: words("header", "log"), set: nth(&edit.Restamp, selection.RestampHeader, selection.RestampLog),
			help: "header: set log times to the header stamps; log: set header stamps to the log times"},
		flag{name: "offset", arg: "D", set: parsed(&edit.Offset, selection.ParseOffset), help: "add a duration to all log times, such as +0.3s or -1h"},
		flag{name: "latch", arg: "auto|none|P", kind: aTopic, values: words("auto", "none"), several: true,
			set: func(f *flag) (err error) {
				edit.Latch, err = selection.ParseLatch(f.texts)
				return err
			},
			help: "messages from before --start that are repeated there. auto (default): those of latched, transient local and /tf_static topics; none: nothing; P: the last message of topics P"},
	)
}

func parsePrefix(text string) (string, error) {
	if strings.Trim(text, "/") == "" {
		return "", usage("type for example --prefix /robot1", "--prefix %q is empty", text)
	}
	return text, nil
}
