package cli

import (
	"context"
	"errors"
	"io"
	"reflect"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/storage"
)

// info shows recordings one after the other. One that cannot be read does not
// keep the others from being shown.
func (e *env) info(ctx context.Context) error {
	key, err := e.infoView(ctx)
	if err != nil {
		return err
	}
	paths := e.eachIn(e.words)
	var ended outcome
	var all []any
	for i, path := range paths {
		in, part, err := e.describeInput(ctx, path)
		switch {
		case errors.Is(err, context.Canceled):
			return err
		case err != nil:
			ended.failed = true
			e.sayError(explain(err))
			if !e.set.info.topics && !e.set.info.sizes { // whose objects have no place for an error
				in = recording.Describe(&storage.Info{Path: path}, nil)
				in.SchemaVersion, in.Error = schemaVersion, explain(err)
				all = append(all, in)
			}
			continue
		case part != nil:
			all = append(all, part.json)
		default:
			all = append(all, in)
		}
		if !e.set.json {
			if err := e.writeView(in, part, key, i > 0, len(paths) > 1); err != nil {
				return err
			}
		}
		if damage, _ := parted(in.Warnings); len(damage) > 0 {
			ended.lossy = true
			if part != nil {
				e.sayDamage(path, in.Warnings)
			}
		}
	}
	if e.set.json && len(all) > 0 {
		if len(paths) == 1 {
			err = writeJSON(e.Out, all[0])
		} else {
			err = writeJSON(e.Out, all)
		}
		if err != nil {
			return err
		}
	}
	return ended.end()
}

// infoView checks the flags that choose what info shows, and returns the value that --key names.
func (e *env) infoView(ctx context.Context) (key []keyStep, err error) {
	s := &e.set
	switch {
	case len(e.words) == 0:
		return nil, flags.Usage("type: bagconv info IN", "no input given")
	case s.info.topics && s.info.sizes:
		return nil, flags.Usage("omit one of them", "--topics lists the topics, --sizes their bytes")
	case s.info.sizes && s.info.scan == "never":
		return nil, flags.Usage("omit --scan", "--sizes reads all messages")
	case s.info.topics && !e.command.IsSet("scan"):
		s.info.scan = "never"
	case s.info.sizes:
		s.info.scan = "always"
	}
	if !e.command.IsSet("key") {
		return nil, nil
	}
	for flag, set := range map[string]bool{"json": s.json, "topics": s.info.topics, "sizes": s.info.sizes} {
		if set {
			return nil, flags.Usage("omit one of them", "--%s prints everything, --key a single value", flag)
		}
	}
	return parseKey(s.info.key)
}

// writeView writes a recording as text: whole, a part of it, or the value of a key.
func (e *env) writeView(in *recording.Description, part *infoPart, key []keyStep, later, several bool) error {
	before := ""
	switch {
	case key != nil && several:
		before = phrase.Clean(in.Path) + "\t"
		fallthrough
	case key != nil:
		return writeKey(e.Out, before, reflect.ValueOf(in), key)
	case later:
		before = "\n"
	}
	if _, err := io.WriteString(e.Out, before); err != nil {
		return err
	}
	if part != nil {
		return writeLinesOf(e.Out, in.Path, several, part.lines)
	}
	return e.writeInfo(e.Out, in)
}

// describeInput opens a recording, reads all of it when that is asked for, and
// returns what info shows; part is nil without --topics and --sizes.
func (e *env) describeInput(ctx context.Context, path string) (in *recording.Description, part *infoPart, err error) {
	open, mode := e.glance, e.set.info.scan
	if mode == "always" {
		open = e.open
	}
	r, err := open(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	info := r.Info
	var scan *recording.Totals
	if e.set.info.sizes || !info.Locked && (mode == "always" || mode == "auto" && info.Size <= infoLimit) {
		show := e.newProgress()
		scan, err = r.Totals(ctx, recording.Query{Threads: e.set.job.Threads, Progress: show.update})
		show.stop()
		if err != nil {
			return nil, nil, err
		}
	}
	info.Damage = r.Reader.Damage() // with what was met on the way
	in = recording.Describe(info, scan)
	in.SchemaVersion = schemaVersion
	if part = e.partOfInfo(in); part == nil {
		err = in.Extras(r.Reader)
	}
	return in, part, err
}

// infoCommand is the command info.
func (e *env) infoCommand() flags.Command {
	return flags.Command{
		Name: "info", Part: lookPart, Old: map[string]string{"du": "--sizes", "topics": "--topics"}, Call: "info IN...",
		Summary: "show topics, times and damage of recordings",
		About: `Shows what recordings contain: times, size, compression, topics (with number of
messages, mean rate and size), attachments, metadata records, and damage.
Nothing is written. For a folder of recordings, all in it are shown, but not
what lies below.`,
		Note: `--sizes lists the bytes of topics, the largest first: stored, their share of
the chunks, pages or sections in the files, and raw, their messages before
compression. Topics share the stored bytes of a chunk in proportion to their raw
bytes in it. The rest of the files consists of indexes, definitions, other
headers, and unused space in pages.`,
		Examples: []string{
			"bagconv info drive{file}",
			"bagconv info --json --scan always drive_ros2/ | jq .messages",
			"bagconv info -k duration_ns *{file}",
			"bagconv info --topics drive{file} --json | jq -r '.topics[].name'",
			"bagconv info --sizes drive_ros2/",
		},
		Exits: flags.Exits{
			0:   "sound",
			1:   "a recording cannot be read; the others are shown",
			3:   "a recording is damaged; what can be read is shown",
			130: "interrupted",
		},
		Run: e.info,
	}
}

// infoFlags returns the flags of info, list and formats.
func (s *settings) infoFlags() []flags.Flag {
	json := s.jsonFlag()
	keys := flags.Words(jsonNames(reflect.TypeFor[recording.Description]())...)
	return []flags.Flag{
		json.In(readGroup, "print JSON: an object, or an array for several recordings", "info check"),
		json.In(readGroup, "print JSON: one object with attachments and the values of metadata records; for records, "+
			"chunks, connections and parts, one object per line", "list"),
		json.In(readGroup, "", "formats"),
		{Name: "key", Short: "k", Arg: "PATH", Kind: flags.Key, Values: keys, Group: readGroup, On: "info",
			Set:  flags.Put(&s.info.key),
			Help: "print one value of the JSON, such as messages or topics.name; for several recordings, each after its name"},
		{Name: "topics", Kind: flags.OnOff, Group: readGroup, On: "info", Set: flags.Put(&s.info.topics),
			Help: "only list the topics, one per line: name, number of messages (from the index), type, encoding. With --json " +
				"also publishers, quality of service and hashes"},
		{Name: "sizes", Kind: flags.OnOff, Group: readGroup, On: "info", Set: flags.Put(&s.info.sizes),
			Help: "only list the bytes of each topic, stored and raw; reads all messages"},
		{Name: "scan", Kind: flags.OneWord, Values: flags.Words("auto", "always", "never"), Default: "auto", Group: readGroup,
			On: "info", Set: flags.Put(&s.info.scan),
			Brief: "whether to read all messages, for exact counts",
			Help:  `read all messages, for exact counts, sizes and rates of topics; auto does so up to 16 MB. Otherwise counts come from the index; without an index they are estimated and printed with "about"`},
		{Name: "no-timeline", Kind: flags.OnOff, Group: readGroup, On: "info check", Set: flags.Put(&s.info.noTimeline),
			Help: "do not draw the timeline, which shows when topics have messages and findings. It is drawn on a terminal if " +
				"all messages were read; JSON always has its numbers"},
	}
}
