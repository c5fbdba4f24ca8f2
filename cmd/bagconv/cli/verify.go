package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert/verify"
)

// verify compares two recordings.
func (e *env) verify(ctx context.Context) error {
	job, err := e.verifyJob(ctx)
	if err != nil {
		return err
	}
	show := e.newProgress()
	job.Progress = show.update
	res, err := verify.Run(ctx, *job)
	show.stop()
	if err != nil && (!e.set.json || errors.Is(err, context.Canceled)) {
		return err
	}
	out := verifyJSON{schemaVersion, "", res}
	if err != nil {
		out.Error, out.Result = explain(err), verify.NewResult(job)
	}
	switch {
	case e.set.json:
		if writeErr := writeJSON(e.Out, out); writeErr != nil {
			return writeErr
		}
	case !out.Equal || !e.set.quiet:
		if err := writeVerify(e.Out, res); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	for _, end := range []*verify.End{&res.A, &res.B} {
		damage, odd := parted(end.Warnings)
		e.writeLines("damaged", warningLines(end.Path, damage))
		e.writeLines("warning", warningLines(end.Path, odd))
	}
	return outcome{findings: !out.Equal, lossy: out.A.Damaged || out.B.Damaged}.end()
}

// verifyJob takes the flags.
func (e *env) verifyJob(ctx context.Context) (*verify.Job, error) {
	args := e.words
	switch {
	case len(args) == 0:
		return nil, flags.Usage("type: bagconv verify A B", "no recordings given")
	case len(args) == 1:
		return nil, flags.Usage(fmt.Sprintf("type: bagconv verify %s B", phrase.Clean(args[0])),
			"only one recording given; verify compares two")
	case len(args) > 2:
		return nil, flags.Usage("compare them two by two", "verify compares two recordings, not %d", len(args))
	}
	job, set := e.set.verify.job, &e.set.job
	job.Target, job.Frames, job.Threads = set.Target, set.Frames, set.Threads
	job.A.Select, job.A.Edit = set.Select, set.Edit
	for _, code := range job.Exact {
		if slices.Contains(job.Ignore, code) {
			return nil, flags.Usage("omit one of them", "--ignore and --exact both name %s", code)
		}
	}
	var err error
	if job.A.Edit, err = comparableEdit(job.A.Edit, "--compare", job.Level); err != nil {
		return nil, err
	}
	if e.set.verify.both {
		if job.A.Select.All() {
			return nil, flags.Usage("add for example --topic /imu", "--both needs a selection, which it applies to B, too")
		}
		job.B.Select, job.B.Edit.Latch = job.A.Select, job.A.Edit.Latch
	}
	for i, side := range []*verify.Side{&job.A, &job.B} {
		if side.Ref, err = e.refOf(args[i]); err != nil {
			return nil, err
		}
	}
	return &job, nil
}

// verifyCommand is the command verify.
func (e *env) verifyCommand() flags.Command {
	return flags.Command{
		Name: "verify", Part: lookPart, Aliases: []string{"diff"}, Call: "verify A B", Summary: "compare two recordings",
		About: `Compares two recordings. They are equal if they have the same topics, each with the
same messages at the same times in the same order, and the same attachments and
metadata records. They may have different formats: ROS 1 serialization, CDR and
protobuf of the same values are equal, and so are types that convert maps to
each other. For each topic that differs, the first difference is shown: number
of the message (from 0), log time, field, and both values. Nothing is written.
verify does not read messages with the code that convert uses to write them.`,
		Note: `Never compared: quality of service, latching, callerid, the number of
publishers, constants and defaults in definitions, metadata, and the order of
messages of different topics. An md5sum or type hash must match its definition.
verify uses the rules of convert for Apollo's types, so it cannot find errors in
them. docs/content-hash.md lists everything that verify cannot find.

Flags that select and change apply to A: A is compared as a conversion with the
same flags would write it. So you can check that B is a certain part of A, or A
with other names. All of B is compared. --restamp log changes messages, and needs
--compare counts.

docs/content-hash.md defines the content hash, so that others can compute it.`,
		Examples: []string{
			"bagconv verify drive{file} drive_ros2/",
			"bagconv verify drive{other} drive{file} --exact types,fields",
			"bagconv verify drive{file} cut{other} -S 10 -u 60 -x '/camera/*' --prefix /car",
			"bagconv verify a{file} b{file} -t /imu --both",
			"bagconv verify a{file} b{file} --compare bytes --json | jq .topics",
		},
		Exits: flags.Exits{
			0:   "equal, except for differences by design, which are named",
			1:   "a recording cannot be read, or has no such topic, type or time",
			3:   "equal as far as both can be read; one of them is damaged",
			4:   "different, damaged or not",
			130: "interrupted",
		},
		Run: e.verify,
	}
}

// verifyFlags returns the flags of verify.
func (s *settings) verifyFlags() []flags.Flag {
	parse := func(p *[]verify.Code) func(*flags.Flag) error {
		return func(f *flags.Flag) (err error) {
			if *p, err = verify.ParseCodes(f.String()); err != nil {
				return flags.Usage("it has words of: "+strings.Join(codes(), ", "), "--%s: %v", f.Name, err)
			}
			return nil
		}
	}
	return append(flags.AllIn(readGroup, "verify",
		flags.Flag{Name: "both", Kind: flags.OnOff, Set: flags.Put(&s.verify.both),
			Help: "apply the selection to B, too, with B's own topics and times: /imu of both, the first minute of both"},
		flags.Flag{Name: "compare", Old: []string{"level"}, Kind: flags.OneWord, Values: flags.Words(verify.Levels()...),
			Default: verify.Content.String(), Set: flags.Nth(&s.verify.job.Level, verify.Content, verify.Counts, verify.Bytes),
			Help: "what to compare. content (default): all fields of all messages; counts: only number, first and last time " +
				"of messages; bytes: messages byte by byte, if they have the same encoding"},
		flags.Flag{Name: "ignore", Arg: "WORDS", Kind: flags.SomeWords, Values: flags.Words(codes()...),
			Set: parse(&s.verify.job.Ignore),
			Help: "differences that do not count, separated by commas: header-seq, extras (all attachments and metadata " +
				"records), or unconvertible (topics, messages and unknown fields that a conversion leaves out and reports)"},
		flags.Flag{Name: "exact", Arg: "WORDS", Kind: flags.SomeWords, Values: append(exactCodes, flags.Words("all")...),
			Set:  parse(&s.verify.job.Exact),
			Help: "differences by design that count as differences, or all:"},
	), s.jsonFlag().In(readGroup, "print JSON, with the content hash of each topic", "verify"))
}

// codes lists the words that --ignore and --exact take.
func codes() (names []string) {
	for _, c := range verify.Codes() {
		names = append(names, string(c))
	}
	return names
}

// exactCodes are the words of --exact: what they demand.
var exactCodes = []flags.Word{
	{Value: string(verify.HeaderSeq), About: "Header.seq, if one side has none"},
	{Value: string(verify.Types), About: "types that a conversion maps to each other"},
	{Value: string(verify.Fields), About: "fields that the other type has no place for"},
	{Value: string(verify.Presence), About: "whether protobuf fields with the default value are set"},
	{Value: string(verify.PublishTime), About: "publish times"},
	{Value: string(verify.Encoding), About: "bytes without meaning, such as padding"},
	{Value: string(verify.Times), About: "the same time in other seconds and nanoseconds"},
	{Value: string(verify.Renamed), About: "a second topic of the same name that was renamed"},
	{Value: string(verify.EmptyTopics), About: "topics without messages"},
	{Value: string(verify.Definitions), About: "messages without a definition on one side"},
	{Value: string(verify.Extras), About: "attachments and metadata records for which the other format has no place"},
	{Value: string(verify.Flaws), About: "flaws of A that other readers refuse; flaws of B always count"},
}
