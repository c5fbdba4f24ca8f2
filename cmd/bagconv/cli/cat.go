package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/export"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/convert/render"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/convert/text"
	"github.com/bagconv/bagconv/internal/nearest"
	"github.com/bagconv/bagconv/storage"
)

// A catRun is one run of cat.
type catRun struct {
	*env
	*text.Printer
	path     string
	lossy    bool            // something could not be written, and that was reported
	reported map[string]bool // on the way
}

// cat writes messages as text, in the order of their time.
func (e *env) cat(ctx context.Context) error {
	if e.command.Text("format") == arrowFormat {
		return e.catArrow(ctx)
	}
	ref, query, r, err := e.catJob(ctx)
	if err != nil {
		return err
	}
	var res *recording.Result
	err = recording.Use(ctx, []recording.Ref{ref}, func(sources []*recording.Source) (err error) {
		res, err = r.Read(ctx, sources[0], query)
		return err
	})
	if flushErr := r.Flush(); err == nil {
		err = flushErr
	}
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case err != nil:
		return r.explain(err, query.Pick != nil)
	case e.set.cat.nth > 0 && r.Wrote == 0:
		what := fmt.Sprintf("there is no message number %d in the selection", e.set.cat.nth)
		return &failure{path: r.path, what: what, hint: "bagconv info counts the messages of each topic"}
	}
	r.report(res)
	return outcome{lossy: e.sayDamage(r.path, res.Info.Warnings) || r.lossy}.end()
}

// catJob takes the flags.
func (e *env) catJob(ctx context.Context) (ref recording.Ref, q recording.Query, r *catRun, err error) {
	if len(e.words) == 0 {
		return ref, q, nil, flags.Usage("type: bagconv cat IN", "no input given")
	}
	set := &e.set
	for _, o := range e.formatOptions() {
		if export.OfColumns(o.name) && e.command.IsSet(o.name) {
			return ref, q, nil, flags.Usage("fields are named after IN; or add --format "+arrowFormat,
				"--%s has no effect without --format %s", o.name, arrowFormat)
		}
	}
	if !e.command.IsSet("arrays") {
		set.cat.render.Arrays = !e.OutTerminal // who reads a pipe counts on one type for each field
	}
	if set.cat.raw && (e.command.IsSet("bytes") || e.command.IsSet("arrays")) {
		return ref, q, nil, flags.Usage("omit one of them", "--raw prints no fields, so --bytes and --arrays have no effect")
	}
	if err = e.checkFramed(ctx); err != nil {
		return ref, q, nil, err
	}
	if ref, err = e.refOf(e.wordAt(0)); err != nil {
		return ref, q, nil, err
	}
	q.Select, q.Order, q.Threads = set.job.Select, set.job.Order, set.job.Threads
	q.Edit.Latch = selection.NoLatch
	if q.Pick, err = e.picked(); err != nil {
		return ref, q, nil, err
	}
	r = &catRun{env: e, path: ref.Path, reported: map[string]bool{}}
	r.Printer = text.New(e.Out, text.Options{Render: set.cat.render, Raw: set.cat.raw, Framed: set.cat.framed,
		Define: set.cat.define, Fields: e.words[min(1, len(e.words)):],
		Limit: set.cat.limit, Backwards: set.cat.tail > 0 && !set.cat.reverse, Tell: r.tell})
	return ref, q, r, nil
}

// picked returns the messages that --skip, --nth, --tail and --reverse ask for; nil if they ask for
// nothing.
func (e *env) picked() (*recording.Pick, error) {
	s, pick := &e.set, &recording.Pick{}
	if s.cat.skip == 0 && s.cat.nth == 0 && s.cat.tail == 0 && !s.cat.reverse {
		return nil, nil
	}
	chosen := 0
	for _, n := range []int64{s.cat.nth, s.cat.tail, s.cat.skip} {
		if n > 0 {
			chosen++
		}
	}
	switch {
	case chosen > 1, s.cat.limit > 0 && s.cat.nth+s.cat.tail > 0, s.cat.nth > 0 && s.cat.reverse:
		return nil, flags.Usage("use one of them; --limit and --reverse go with --skip, and --reverse with --tail",
			"--skip, --nth, --tail, --limit and --reverse contradict each other")
	case s.job.Order == recording.OrderFile:
		return nil, flags.Usage("omit --order file",
			"--skip, --nth, --tail and --reverse count messages in the order of time")
	case s.cat.nth > 0:
		s.cat.limit, pick.Skip = 1, s.cat.nth-1
	case s.cat.tail > 0:
		s.cat.limit, pick.Reverse = s.cat.tail, true
	default:
		pick.Skip, pick.Reverse = s.cat.skip, s.cat.reverse
	}
	return pick, nil
}

// checkFramed refuses --framed if it has no effect, or if a person would read the frames.
func (e *env) checkFramed(ctx context.Context) error {
	switch {
	case !e.set.cat.framed && e.set.cat.define:
		return flags.Usage("add --raw --framed", "--definitions is for serialized messages in frames")
	case !e.set.cat.framed:
		return nil
	case e.set.cat.define && e.set.cat.tail > 0 && !e.set.cat.reverse:
		return flags.Usage("use --start -30s or another time from the end",
			"--definitions has no place among messages that are written backwards")
	case !e.set.cat.raw:
		return flags.Usage("add --raw", "--framed is for serialized messages")
	case e.command.IsSet("format"):
		return flags.Usage("omit one of them", "--framed prints no text, so --format has no effect")
	case e.OutTerminal:
		return flags.Usage("redirect the output to a file or a program", "--framed does not print to a terminal")
	}
	return nil
}

// tell reports a topic that is left out, and remarks about definitions.
func (r *catRun) tell(t *storage.Topic, left error, remarks []mapping.Remark) {
	if left != nil {
		r.lossy = true
		of := ""
		if t.Type != "" {
			of = " type " + t.Type + ":"
		}
		r.sayOnce(fmt.Sprintf("topic %s is left out:%s %v; --raw prints its bytes", t.Name, of, left))
	}
	for _, m := range remarks {
		r.sayOnce("topic " + t.Name + ": " + m.Message)
	}
}

func (r *catRun) sayOnce(text string) {
	if !r.reported[text] {
		r.reported[text] = true
		r.say("%s: %s", phrase.Clean(r.path), phrase.Clean(text))
	}
}

// report reports what could not be written.
func (r *catRun) report(res *recording.Result) {
	for i, t := range r.Topics {
		bad, name := res.Refused[i], phrase.Clean(res.Info.Topics[i].Name)
		if bad.Messages > 0 {
			r.lossy = true
			r.say("%s: left out: %s; the first: %s", phrase.Clean(r.path), phrase.Count(bad.Messages, "message"),
				explain(bad.First))
		}
		for _, l := range mapping.Losses(t.Program) {
			if l.Kept {
				continue
			}
			r.lossy = true
			r.say("%s: topic %s: %s: %s", phrase.Clean(r.path), name, phrase.Count(l.Messages, "message"), l.Message)
		}
	}
	r.reportNotes(res)
}

// reportNotes names the topics with lists that are written as their length.
func (r *catRun) reportNotes(res *recording.Result) {
	var long, bytes []string
	for i, t := range r.Topics {
		if t.Line == nil {
			continue
		}
		lists, blobs := t.Line.Noted()
		name := phrase.Clean(res.Info.Topics[i].Name)
		if lists > 0 && !slices.Contains(long, name) {
			long = append(long, name)
		}
		if blobs > 0 && !slices.Contains(bytes, name) {
			bytes = append(bytes, name)
		}
	}
	if r.Unpublished > 0 && !r.set.cat.framed {
		r.say("note: CSV has no column for publish times; in %s they differ from log times: --format ndjson prints them",
			phrase.Count(r.Unpublished, "message"))
	}
	if long != nil {
		r.say("note: lists of more than %d elements are printed as their length, in %s; --arrays prints them whole",
			render.LongList, nearest.Some(long, 3))
	}
	if bytes != nil {
		r.say("note: bytes are printed as their number, in %s; --bytes prints them in base64", nearest.Some(bytes, 3))
	}
}

// explain returns an error of cat as one about its recording, with the next step.
func (r *catRun) explain(err error, picked bool) error {
	var wrong *text.RequestError
	fail := &failure{path: r.path, what: phrase.Clean(err.Error()), err: err}
	switch {
	case errors.As(err, &wrong):
		return flags.Usage(phrase.Clean(wrong.Hint), "%s", phrase.Clean(wrong.What))
	case errors.As(err, new(*render.PathError)), errors.As(err, new(*text.UnknownError)), errors.Is(err,
		text.ErrPrinted), errors.Is(err, text.ErrNothing):
		return fail
	case picked && errors.Is(err, storage.ErrUnsupported):
		fail.what = "it has no index that finds single messages"
		fail.hint = "omit --skip, --nth, --tail and --reverse, or convert it first"
		return fail
	case picked && errors.Is(err, storage.ErrCorrupt):
		fail.what = "its index is wrong: " + fail.what
		fail.hint = "omit --skip, --nth, --tail and --reverse to read all of it; " +
			"bagconv recover writes a recording with a correct index"
		return fail
	}
	return explainSelection(r.path, err)
}

// catCommand is the command cat.
func (e *env) catCommand() flags.Command {
	return flags.Command{
		Name: "cat", Part: lookPart, Call: "cat IN [FIELD]...", Summary: "print messages as JSON, YAML or CSV",
		About: `Prints messages as text, one JSON object per line, ordered by time:
  {"topic":"/imu","time":"1700000000000000000","fields":{"header":{...},...}}
Times are log times in ns since 1970. Words after IN name topics (or globs) and
single fields: /imu.linear_acceleration.x, /tf.transforms[0].child_frame_id.
Without an index, /tf.transforms.child_frame_id prints a list of all values.`,
		Note: `64-bit integers are strings, as are "NaN", "Infinity" and "-Infinity"; floats have a decimal point. docs/text.md has all rules.`,
		Examples: []string{
			"bagconv cat drive{file} /imu --limit 3",
			"bagconv cat drive{file} /imu --nth 1000",
			"bagconv cat drive{file} --tail 5",
			"bagconv cat drive{file} -t '/camera/*' -S 10 -u 1 | jq -c .fields.header",
			"bagconv cat drive_ros2/ --format csv /imu.angular_velocity.z /odom.pose",
		},
		Exits: flags.Exits{
			0:   "everything is printed",
			1:   "IN cannot be read, or has no such topic, field or time",
			3:   "IN is damaged, or something could not be decoded; standard error names it",
			130: "interrupted",
		},
		Operands: []flags.Flag{{Kind: flags.File}, {Kind: flags.Field}},
		Run:      e.cat,
	}
}

// catFlags returns the flags of cat.
func (s *settings) catFlags() []flags.Flag {
	return flags.AllIn(readGroup, "cat",
		flags.Flag{Name: "format", Kind: flags.OneWord, Values: flags.Words("ndjson", "yaml", "csv", arrowFormat),
			Default: "ndjson", Set: flags.Nth(&s.cat.render.Style, render.JSON, render.YAML, render.CSV, render.JSON),
			Brief: "how messages are printed; ndjson is the default",
			Help: "ndjson (default): one JSON object per line; yaml: one document per message; csv: one column per named " +
				"field (a struct has a column for each of its fields), or per field of the topic; arrow: a stream of Arrow IPC, " +
				"of several topics in pieces with a head: docs/export.md draws it"},
		flags.Flag{Name: "limit", Arg: "N", Kind: flags.Number, Set: s.numberFlag("limit", 1, &s.cat.limit),
			Help: "print only the first N messages"},
		flags.Flag{Name: "skip", Arg: "N", Kind: flags.Number, Set: s.numberFlag("skip", 0, &s.cat.skip),
			Help: "leave out the first N of the selected messages; the index finds the next one"},
		flags.Flag{Name: "nth", Arg: "N", Kind: flags.Number, Set: s.numberFlag("nth", 1, &s.cat.nth),
			Help: "print only the N-th message, counted from 1; with one topic, the N-th of that topic"},
		flags.Flag{Name: "tail", Arg: "N", Kind: flags.Number, Set: s.numberFlag("tail", 1, &s.cat.tail),
			Help: "print only the last N messages, in the order of time"},
		flags.Flag{Name: "reverse", Kind: flags.OnOff, Set: flags.Put(&s.cat.reverse), Help: "print the last message first"},
		flags.Flag{Name: "bytes", Kind: flags.OnOff, Set: flags.Put(&s.cat.render.Bytes),
			Help: `print uint8[], byte[] and bytes as base64, not as {"$bytes":N}; a field that is named is always printed`},
		flags.Flag{Name: "arrays", Kind: flags.OnOff, Set: flags.Put(&s.cat.render.Arrays),
			Brief: "print long lists whole, on a terminal too",
			Help:  `on a terminal, print lists of more than 128 elements whole, not as {"$length":N}; a list that is named is always whole. In a pipe or file all lists are whole, unless --arrays=false is set`},
		flags.Flag{Name: "raw", Kind: flags.OnOff, Set: flags.Put(&s.cat.raw),
			Help: `print serialized messages as base64, under "raw"`},
		flags.Flag{Name: "framed", Kind: flags.OnOff, Set: flags.Put(&s.cat.framed), Help: "with --raw, print serialized " +
			"messages as they are, each behind its time, encoding, type and topic, for other programs; docs/import.md draws " +
			"the bytes"},
		flags.Flag{Name: "definitions", Kind: flags.OnOff, Set: flags.Put(&s.cat.define),
			Brief: "begin --framed with the recording and its topics", Help: "with --framed, begin with frames that declare " +
				"the recording and its topics, and put publish times and sequence numbers before messages that have them, so " +
				"that import needs nothing else"},
	)
}
