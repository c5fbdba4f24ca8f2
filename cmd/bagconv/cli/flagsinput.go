package cli

import (
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/internal/convert/multi"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/convert/where"
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
	list := flags.AllIn(selectGroup, writes+" serve verify cat play",
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
	)
	list = append(list, flags.AllIn(selectGroup, "batch plan export",
		flags.Flag{Name: "missing-topics", Kind: flags.OneWord, Values: flags.Words("error", "ok"), Default: "error",
			Set: flags.Nth(&s.MissingOK, false, true),
			Help: "ok: a recording may lack topics that flags name; if it has none of --topic and --type, it is counted, and " +
				"has no output. error (default): it fails"},
	)...)
	list = append(list, whereFlags(s)...)
	return append(list, from.In(urlGroup, "", writes+" serve verify cat play info list defs check report gen"))
}

// whereFlags select messages by their values.
func whereFlags(s *selection.Selection) []flags.Flag {
	return flags.AllIn(selectGroup, writes+" serve verify cat",
		flags.Flag{Name: "where", Arg: "EXPR", Kind: flags.Field, Several: true,
			Set: flags.ParsedEach(&s.Where.Conditions, where.Parse),
			Help: "only messages for which EXPR holds, such as '/odom.pose.pose.position.x > 2'; other topics stay " +
				"whole: docs/fields.md"},
		flags.Flag{Name: "within", Arg: "D", Set: stretch(&s.Where, "within", func(f *flags.Flag) error {
			s.Where.Near = true
			return flags.Parsed(&s.Where.Within, selection.ParseDuration)(f)
		}),
			Help: "with --where: everything within D of a message for which EXPR holds"},
		flags.Flag{Name: "while", Kind: flags.OnOff, Set: stretch(&s.Where, "while", flags.Put(&s.Where.While)),
			Help: "with --where: everything from a message for which EXPR holds to the next for which it does not"},
	)
}

// stretch sets a flag about the stretches of --where, whose value comes before.
func stretch(w *selection.Where, name string, set func(*flags.Flag) error) func(*flags.Flag) error {
	return func(f *flags.Flag) error {
		switch {
		case len(w.Conditions) == 0:
			return flags.Usage("add --where EXPR", "--%s has no effect without --where", name)
		case w.Stretched():
			return flags.Usage("omit one of them", "--within and --while contradict each other")
		}
		return set(f)
	}
}

// fieldFlags change the values of messages.
func (s *settings) fieldFlags() []flags.Flag {
	f := &s.job.Edit.Fields
	return flags.AllIn(editGroup, writes,
		flags.Flag{Name: "set", Arg: "'FIELD = VALUE'", Kind: flags.Topic, Suffix: ".", Several: true,
			Set: flags.ParsedEach(&f.Set, where.ParseAssignment),
			Help: "give a field another value, such as '/imu.header.frame_id = \"imu\"'; VALUE is an expression as in " +
				"--where: docs/fields.md"},
		flags.Flag{Name: "drop-field", Arg: "FIELD", Kind: flags.Topic, Suffix: ".", Several: true,
			Set:  flags.ParsedEach(&f.Drop, where.ParseDrop),
			Help: "empty a field that is large or private, such as /cam.data: it gets its default, and the type stays"},
		flags.Flag{Name: "frame", Arg: "OLD:=NEW", Several: true, Set: flags.ParsedEach(&f.Frames, selection.ParseRename),
			Help: "rename a frame in all headers and transforms; with globs: 'robot1/*:=*'"},
		flags.Flag{Name: "strip-frame-slash", Kind: flags.OnOff, Set: flags.Put(&f.Slashes),
			Help: "remove leading slashes of frames, before --frame"},
		flags.Flag{Name: "drop-tf", Arg: "'[PARENT] CHILD'", Several: true,
			Set:  flags.ParsedEach(&f.Transforms, selection.ParseEdge),
			Help: "remove transforms to the frame CHILD, of all parents or of one; both by their names in IN, or globs"},
		flags.Flag{Name: "static", Arg: "'PARENT CHILD x y z qx qy qz qw'", Several: true,
			Set:  flags.ParsedEach(&f.Static.Add, multi.ParseTransform),
			Help: "add a transform to /tf_static, at the start, latched; all of them are in one message"},
		flags.Flag{Name: "static-once", Kind: flags.OnOff, Set: flags.Put(&f.Static.Once),
			Help: "put all transforms of /tf_static into one latched message at the start, after --static"},
	)
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
	list = append(list, s.throughFlags()...)
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
