package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/apollo"
	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/convert/transcode"
	"github.com/bagconv/bagconv/internal/guard"
	"github.com/bagconv/bagconv/schema/builtin"
	"github.com/bagconv/bagconv/storage"
)

func (e *env) convertCommand() *cli.Command {
	return &cli.Command{
		Name:   "convert",
		Flags:  slices.Concat(selectFlags(), editFlags(), e.outputFlags(), extraFlags(), e.runFlags()),
		Action: func(c *cli.Context) error { return e.convert(c, conversion{}) },
	}
}

// outputFlags say what is written and how.
func (e *env) outputFlags() []cli.Flag {
	return slices.Concat([]cli.Flag{
		&cli.StringFlag{Name: "to", Usage: "the output format: " + orList(e.writable())},
		&cli.StringFlag{Name: "o", Aliases: []string{"output"}, Usage: "the output, as the last argument is otherwise"},
		&cli.BoolFlag{Name: "force", Aliases: []string{"f"}, Usage: "replace an existing output"},
	}, e.optionFlags(), []cli.Flag{
		&cli.StringFlag{Name: "distro", Usage: "a ROS 2 distribution, such as humble"},
		&cli.StringFlag{Name: "encoding", Value: "native", Usage: "native, keep, ros1, cdr or protobuf"},
		&cli.StringFlag{Name: "proto-types", Value: "mapped", Usage: "mapped, generated or raw"},
		&cli.StringFlag{Name: "frames", Value: "apollo", Usage: "apollo or rep103"},
		&cli.StringFlag{Name: "apollo-layout", Value: "common_msgs", Usage: "common_msgs or legacy"},
		&cli.StringFlag{Name: "order", Value: "time", Usage: "time or file"},
		&cli.StringFlag{Name: "header-seq", Value: "count", Usage: "count or zero"},
		&cli.StringFlag{Name: "rosout", Value: "keep", Usage: "keep or ros2"},
		&cli.BoolFlag{Name: "no-sync", Usage: "do not wait for the disk"},
	})
}

// runFlags say how to run, and what to say.
func (e *env) runFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "threads", Usage: "a number of workers; 0 is one per core"},
		&cli.StringFlag{Name: "max-memory", Value: "256M", Usage: "a size, such as 256M"},
		&cli.BoolFlag{Name: "strict", Usage: "fail at the first damage or loss"},
		&cli.StringFlag{Name: "verify", Usage: "content, counts or bytes"},
		&cli.StringFlag{Name: "report", Usage: "a file for the report"},
		&cli.BoolFlag{Name: "json", Usage: "the report on standard output"},
		&cli.StringFlag{Name: "progress", Value: "auto", Usage: progressModes},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "no progress, no summary"},
		&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "also say what is lost by design"},
	}
}

// A conversion is how a command converts.
type conversion struct {
	salvage    bool // say what was saved; a name that tells no format means that of the input
	sameFormat bool // the output has the format of the input, unless --to says otherwise
}

// convert runs one conversion.
func (e *env) convert(c *cli.Context, how conversion) error {
	if err := e.mistypedVerb(e.word, e.commands()); err != nil {
		return err
	}
	if err := e.checkTopicWords(c); err != nil {
		return err
	}
	in, out, err := e.conversionPaths(c)
	if err != nil {
		return err
	}
	var source *storage.Format
	to := c.String("to")
	if how.salvage || how.sameFormat {
		if source, err = e.detectInput(in, out); err != nil {
			return err
		}
		if to == "" && source.Create != nil && how.sameFormat {
			if to = source.Name; endsInSeparator(out) && !source.Folder {
				return usage("bagconv convert writes the others, and has the same flags; or leave the separator at its end out",
					"%s names a folder, and %s writes a %s as its input is", clean(out), c.Command.Name, to)
			}
		}
		if to == "" && source.Create != nil && (endsInSeparator(out) && source.Folder || filepath.Ext(out) == "" && !endsInSeparator(out)) {
			to = source.Name
		}
	}
	job, err := e.jobTo(c, to, out)
	if err != nil {
		return err
	}
	job.Source = in
	if job.SourceFormat = source; source == nil {
		if job.SourceFormat, err = e.detectInput(in, out); err != nil {
			return err
		}
	}
	job.Read.Uncommitted = how.salvage
	return e.runJob(c, job, how.salvage)
}

// detectInput is detect for the input of a line that also names an output.
func (e *env) detectInput(in, out string) (*storage.Format, error) {
	f, err := e.detect(in)
	var own *failure
	if errors.Is(err, fs.ErrNotExist) && errors.As(err, &own) {
		if other, e := e.formats.Detect(out); e == nil {
			own.hint = fmt.Sprintf("%s is there (%s): the input comes first, the output last", clean(out), other.Name)
		}
	}
	return f, err
}

// conversionPaths finds the input and the output on the line. All parts of one
// recording are that recording.
func (e *env) conversionPaths(c *cli.Context) (in, out string, err error) {
	args := c.Args().Slice()
	out = c.String("o")
	if out == "" && len(args) > 1 {
		out, args = args[len(args)-1], args[:len(args)-1]
	}
	if len(args) > 1 {
		args = e.joinParts(args)
	}
	switch {
	case len(args) == 0:
		return "", "", usage("type: bagconv IN OUT", "there is no input on the line")
	case len(args) > 1:
		return "", "", e.severalInputs(args, out)
	case args[0] == "":
		return "", "", usage("is a variable of the shell empty?", "the name of the input is empty")
	case out == "":
		return "", "", usage("type for example: "+e.exampleLine(c.Command.Name, args[0]), "there is no output on the line")
	case out == "-":
		return "", "", usage("give the name of a file or folder", "an output cannot be written to standard output")
	}
	e.report.source, e.report.sink = args[0], out
	return args[0], out, nil
}

// exampleLine makes up a command line for a hint.
func (e *env) exampleLine(verb, in string) string {
	_, base := splitPath(in)
	ext := filepath.Ext(base)
	name := strings.TrimSuffix(base, ext)
	switch {
	case verb == "recover":
		name += "_recovered" + cmp.Or(ext, "/")
	case verb == "filter":
		name += "_part" + cmp.Or(ext, "/")
	case ext == e.fileEnding(0):
		name += "_ros2/"
	default:
		name += e.fileEnding(0)
	}
	if verb != defaultVerb {
		in = verb + " " + in
	}
	return clean("bagconv " + in + " " + name)
}

// checkTopicWords finds topics of the input among the files on the line: other
// programs take several words behind one --topic.
func (e *env) checkTopicWords(c *cli.Context) error {
	args := c.Args().Slice()
	if len(args) < 2 || !c.IsSet("topic") && !c.IsSet("exclude-topic") {
		return nil
	}
	var names []string
	for _, word := range args[1:] {
		if !strings.HasPrefix(word, "/") {
			continue
		}
		if names == nil {
			names = e.topicNames(c.Context, args[0])
		}
		if slices.Contains(names, word) {
			return usage("give the flag once for each topic: -t A -t B", "%s is a topic of %s, and stands in the place of a file", clean(word), clean(args[0]))
		}
	}
	return nil
}

// topicNames lists the topics of a recording; nil if it cannot be read.
func (e *env) topicNames(ctx context.Context, path string) (names []string) {
	r, err := e.formats.Open(ctx, path, storage.ReadOptions{InfoOnlyAbove: 1})
	if err != nil {
		return nil
	}
	defer r.Close()
	info, err := r.Info()
	if err != nil {
		return nil
	}
	for i := range info.Topics {
		names = append(names, info.Topics[i].Name)
	}
	return names
}

// jobTo makes the job that writes out, in the format to or in that of its name.
func (e *env) jobTo(c *cli.Context, to, out string) (*convert.Job, error) {
	sink, err := e.sinkFormat(to, out, c.String)
	if err != nil {
		return nil, err
	}
	job, err := e.jobOf(c, sink)
	if err != nil {
		return nil, err
	}
	job.Sink, job.Formats = filepath.Clean(out), e.formats
	if other := e.formats.Named(out); other != nil && other != sink && !c.Bool("quiet") {
		e.writeLines("note", []string{fmt.Sprintf("%s: a %s is written, and the ending of this name is that of %s", out, sink.Name, other.Name)})
	}
	return job, nil
}

// threadsOf takes the number of workers.
func threadsOf(c *cli.Context) (int, error) {
	n := c.Int("threads")
	if n < 0 || n > convert.MaxThreads {
		return 0, usage(fmt.Sprintf("0 is one per core, %d is the most", convert.MaxThreads), "--threads is a number of workers, not %d", n)
	}
	return n, nil
}

// minMemory is what a conversion cannot well do without, in bytes.
const minMemory = 64 << 20

// jobOf takes the flags that say how to convert.
func (e *env) jobOf(c *cli.Context, sink *storage.Format) (*convert.Job, error) {
	job := &convert.Job{
		SinkFormat: sink,
		Read:       storage.ReadOptions{Strict: c.Bool("strict")},
		Write: storage.WriteOptions{
			Overwrite: c.Bool("force"), NoSync: c.Bool("no-sync"),
		},
	}
	var err error
	if job.Select, err = selectionOf(c); err != nil {
		return nil, err
	}
	if job.Edit, err = editOf(c); err != nil {
		return nil, err
	}
	if job.Threads, err = threadsOf(c); err != nil {
		return nil, err
	}
	if job.MaxMemory, err = storage.ParseSize(c.String("max-memory")); err != nil || job.MaxMemory < minMemory {
		return nil, usage("", "--max-memory is a size of at least 64M, not %q", c.String("max-memory"))
	}
	if err := e.setOptions(c, job); err != nil {
		return nil, err
	}
	if job.Distro, err = distroOf(c); err != nil {
		return nil, err
	}
	if slices.Contains(sink.Options.Choices(storage.NameProfile), job.Distro) {
		job.Write.Profile = job.Distro
	}
	if err := setExtras(c, job); err != nil {
		return nil, err
	}
	if err := encodingFlag(c, job); err != nil {
		return nil, err
	}
	if err := protoFlags(c, job); err != nil {
		return nil, err
	}
	order, seq, rosout := c.String("order"), c.String("header-seq"), c.String("rosout")
	if err := errors.Join(
		oneOf("--order", order, "time", "file"),
		oneOf("--header-seq", seq, "count", "zero"),
		oneOf("--rosout", rosout, "keep", "ros2"),
	); err != nil {
		return nil, err
	}
	if order == "file" {
		job.Order = convert.OrderFile
	}
	if seq == "zero" {
		job.HeaderSeq = convert.SeqZero
	}
	if rosout == "ros2" {
		job.Rosout = mapping.RosoutROS2
	}
	return job, nil
}

// checkLevel refuses a level where nothing is compressed.
func checkLevel(job *convert.Job) error {
	codec, sink := job.Write.Compression, job.SinkFormat
	if codec == "" && job.SourceFormat != nil && job.SourceFormat.Name == sink.Name {
		return nil // it may be that of the source
	}
	codecs := slices.DeleteFunc(slices.Clone(sink.Options.Choices(storage.NameCompression)), func(s string) bool { return s == "none" })
	switch {
	case job.Write.Level == 0:
	case codec == "none" || codec == "" && sink.Options.Choices(storage.NameCompression)[0] == "none":
		return usage("add --compression "+orList(codecs), "--level: nothing is compressed without a codec")
	}
	return nil
}

// encodingFlag takes the encoding of the messages in the output.
func encodingFlag(c *cli.Context, job *convert.Job) error {
	s := c.String("encoding")
	known := append([]string{"native", convert.EncodingKeep}, convert.Encodings(job.SinkFormat)...)
	if err := oneOf("--encoding of "+job.SinkFormat.Name, s, known...); err != nil {
		return err
	}
	if s != "native" {
		job.Encoding = s
	}
	return nil
}

// protoFlags takes the flags about protobuf.
func protoFlags(c *cli.Context, job *convert.Job) error {
	types, frames, layout := c.String("proto-types"), c.String("frames"), c.String("apollo-layout")
	if err := errors.Join(
		oneOf("--proto-types", types, "mapped", "generated", "raw"),
		oneOf("--frames", frames, "apollo", "rep103"),
		oneOf("--apollo-layout", layout, convert.ApolloLayouts()...),
	); err != nil {
		return err
	}
	switch types {
	case "generated":
		job.ProtoTypes = mapping.ProtoGenerated
	case "raw":
		job.ProtoTypes = mapping.ProtoRaw
	}
	if frames == "rep103" {
		job.Frames = apollo.FramesREP103
	}
	job.ApolloLayout = layout
	return nil
}

// distros lists the ROS 2 distributions whose types are built in.
func distros() (names []string) {
	return slices.DeleteFunc(slices.Clone(builtin.Distros()), func(d string) bool { return !mapping.KnownDistro(d) })
}

// distroOf takes --distro; "" if it is not set.
func distroOf(c *cli.Context) (string, error) {
	d := c.String("distro")
	if d == "" {
		return "", nil
	}
	return d, oneOf("--distro", d, distros()...)
}

// oneOf checks the value of a flag that takes a few words.
func oneOf(flag, value string, choices ...string) error {
	for _, c := range choices {
		if c == value {
			return nil
		}
	}
	hint := "it is one of: " + strings.Join(choices, ", ")
	if near := suggest(strings.ToLower(value), choices); near != "" && len(value) > 2 {
		hint += "; did you mean " + near + "?"
	}
	return usage(hint, "%s: unknown value %q", flag, value)
}

// refusedText says what a strict run was refused for, on one line: the first of it,
// and how much more there is.
func refusedText(err error) string {
	var refused *convert.LossError
	if !errors.As(err, &refused) {
		return err.Error()
	}
	var losses []lossJSON
	for _, l := range refused.Losses {
		losses = append(losses, lossJSON(l))
	}
	lines := append(lossLines(losses, "message"), warningLines("", warningsJSON(refused.Damage))...)
	text := lines[0]
	if n := len(lines) - 1; n > 0 {
		text += fmt.Sprintf(", and %d more; --report FILE lists all", n)
	}
	return text
}

// explainRun adds the next step to an error of a run.
func explainRun(ctx context.Context, job *convert.Job, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return &failure{path: job.Sink, what: "interrupted, nothing is written", err: context.Canceled}
	case errors.Is(err, convert.ErrNoPlace):
		return noPlace(job)
	case job.Extras != "" && aboutFolder(err, job.Extras):
		return explainExtras(job.Extras, err)
	case errors.Is(err, fs.ErrExist), errors.As(err, new(*guard.Refusal)):
		return explainOutput(job, err)
	case errors.Is(err, convert.ErrLossy):
		return &failure{path: job.Source, what: "nothing is written because of --strict: " + refusedText(err), hint: "without --strict all that can be read is converted"}
	case job.Read.Strict && (errors.Is(err, storage.ErrCorrupt) || errors.Is(err, storage.ErrTruncated) || errors.Is(err, transcode.ErrMalformed)):
		return fmt.Errorf("%w; without --strict all that can be read is converted", err)
	}
	return explainSelection(job.Source, err)
}
