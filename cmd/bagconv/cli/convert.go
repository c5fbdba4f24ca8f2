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
	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/convert/transcode"
	"github.com/bagconv/bagconv/internal/guard"
	"github.com/bagconv/bagconv/schema/builtin"
	"github.com/bagconv/bagconv/storage"
)

// A conversion is how a command converts.
type conversion struct {
	salvage    bool // report what was saved; a name without a format's ending gets the format of the input
	sameFormat bool // the output has the format of the input, unless --to chooses another
}

// convert runs one conversion.
func (e *env) convert(c *cli.Context, mode conversion) error {
	if err := e.mistypedVerb(e.word); err != nil {
		return err
	}
	if err := e.checkTopicWords(c); err != nil {
		return err
	}
	in, out, err := e.conversionPaths(c)
	if err != nil {
		return err
	}
	source, err := e.detectInput(in, out)
	if err != nil {
		return err
	}
	to := e.keptFormat(source, out)
	if mode.salvage || mode.sameFormat {
		if to == "" && source.Create != nil && mode.sameFormat {
			if to = source.Name; endsInSeparator(out) && !source.Folder {
				return usage("bagconv convert writes other formats and has the same flags; or remove the separator at the end",
					"%s is a folder, but %s keeps the format of its input, %s", clean(out), c.Command.Name, to)
			}
		}
		if to == "" && source.Create != nil && (endsInSeparator(out) && source.Folder || filepath.Ext(out) == "" && !endsInSeparator(out)) {
			to = source.Name
		}
	}
	job, err := e.jobTo(to, out)
	if err != nil {
		return err
	}
	job.Source, job.SourceFormat = in, source
	job.Read.Uncommitted = mode.salvage
	return e.runJob(c, job, mode.salvage)
}

// keptFormat returns the format that the line names for the output. A folder that becomes a folder
// keeps its format, unless the line asks for another storage or for a distribution.
func (e *env) keptFormat(source *storage.Format, out string) string {
	to := e.set.to
	if to == "" && source.Folder && source.Create != nil && !e.command.isSet(storage.NameStorage) && !e.command.isSet(storage.NameProfile) &&
		(endsInSeparator(out) || filepath.Ext(out) == "") {
		return source.Name
	}
	return to
}

// detectInput is detect for the input of a line that also names an output.
func (e *env) detectInput(in, out string) (*storage.Format, error) {
	f, err := e.detect(in)
	var own *failure
	if errors.Is(err, fs.ErrNotExist) && errors.As(err, &own) {
		if other, e := e.formats.DetectIn(e.fs, out); e == nil {
			own.hint = fmt.Sprintf("%s exists (%s): the input comes first, the output last", clean(out), other.Name)
		}
	}
	return f, err
}

// conversionPaths finds the input and the output on the line. All parts of one
// recording are that recording.
func (e *env) conversionPaths(c *cli.Context) (in, out string, err error) {
	args := c.Args().Slice()
	out = e.set.output
	if out == "" && len(args) > 1 {
		out, args = args[len(args)-1], args[:len(args)-1]
	}
	if len(args) > 1 {
		args = e.joinParts(args)
	}
	switch {
	case len(args) == 0:
		return "", "", usage("type: bagconv IN OUT", "no input given")
	case len(args) > 1:
		return "", "", e.severalInputs(args, out)
	case args[0] == "":
		return "", "", usage("is a shell variable empty?", "the name of the input is empty")
	case out == "":
		return "", "", usage("type for example: "+e.exampleLine(c.Command.Name, args[0]), "no output given")
	case out == "-":
		return "", "", usage("give the name of a file or folder", "a recording cannot be written to standard output")
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
	case verb == "split":
		return clean(fmt.Sprintf("bagconv split %s %s_parts/ --max-duration 1m", in, name))
	case verb == "recover":
		name += "_recovered" + cmp.Or(ext, "/")
	case verb == "filter":
		name += "_part" + cmp.Or(ext, "/")
	case ext == e.fileEnding(0):
		name += "_ros2/"
	default:
		name += e.fileEnding(0)
	}
	if verb != defaultCommand {
		in = verb + " " + in
	}
	return clean("bagconv " + in + " " + name)
}

// checkTopicWords finds topics of the input among the files on the line: other
// programs take several words after one --topic.
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
			return usage("repeat the flag for each topic: -t A -t B", "%s is a topic of %s, but stands where a file is expected", clean(word), clean(args[0]))
		}
	}
	return nil
}

// topicNames lists the topics of a recording; nil if it cannot be read.
func (e *env) topicNames(ctx context.Context, path string) (names []string) {
	r, err := e.openWith(ctx, path, storage.ReadOptions{InfoOnlyAbove: 1})
	if err != nil {
		return nil
	}
	defer r.Close() // it was only read
	for i := range r.Info.Topics {
		names = append(names, r.Info.Topics[i].Name)
	}
	return names
}

// jobTo makes the job that writes out, in the format to or in that of its name.
func (e *env) jobTo(to, out string) (*convert.Job, error) {
	sink, err := e.sinkFormat(to, out, e.command.text)
	if err != nil {
		return nil, err
	}
	job, err := e.jobFor(sink)
	if err != nil {
		return nil, err
	}
	job.Sink, job.Formats = filepath.Clean(out), e.formats
	if other := e.formats.Named(out); other != nil && other != sink && !e.set.quiet {
		e.writeLines("note", []string{fmt.Sprintf("%s: the output is a %s, although its name has the ending of a %s", out, sink.Name, other.Name)})
	}
	return job, nil
}

// jobFor returns the conversion that the flags ask for, to a format.
func (e *env) jobFor(sink *storage.Format) (*convert.Job, error) {
	job := e.set.job
	job.SinkFormat = sink
	if err := e.setOptions(&job); err != nil {
		return nil, err
	}
	if err := e.set.setAbout(&job); err != nil {
		return nil, err
	}
	if slices.Contains(sink.Options.Choices(storage.NameProfile), job.Distro) {
		job.Write.Profile = job.Distro
	}
	if slices.Contains(job.Attach, "") || e.command.isSet("extras") && job.Extras == "" {
		return nil, usage("is a shell variable empty?", "the name after --attach or --extras is empty")
	}
	known := append([]string{"native", convert.EncodingKeep}, convert.Encodings(sink)...)
	if err := oneOf("--encoding of "+sink.Name, job.Encoding, known...); err != nil {
		return nil, err
	}
	if job.Encoding == "native" {
		job.Encoding = ""
	}
	return &job, nil
}

// checkLevel refuses a level if nothing is compressed.
func checkLevel(job *convert.Job) error {
	codec, sink := job.Write.Compression, job.SinkFormat
	if codec == "" && job.SourceFormat != nil && job.SourceFormat.Name == sink.Name {
		return nil // it may be that of the source
	}
	codecs := slices.DeleteFunc(slices.Clone(sink.Options.Choices(storage.NameCompression)), func(s string) bool { return s == "none" })
	switch {
	case job.Write.Level == 0:
	case codec == "none" || codec == "" && job.Write.Values[storage.NameCompressionMode] == "" && sink.Options.Choices(storage.NameCompression)[0] == "none":
		return usage("add --compression "+orList(codecs), "--level has no effect without compression")
	}
	return nil
}

// distros lists the ROS 2 distributions whose types are built in.
func distros() (names []string) {
	return slices.DeleteFunc(slices.Clone(builtin.Distros()), func(d string) bool { return !mapping.KnownDistro(d) })
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

// refusedText reports what a strict run was refused for, on one line: the first of it,
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
func (e *env) explainRun(ctx context.Context, job *convert.Job, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && job.SinkFormat.Live:
		return &failure{path: job.Sink, what: "interrupted", err: context.Canceled}
	case ctx.Err() != nil:
		return &failure{path: job.Sink, what: "interrupted; nothing was written", err: context.Canceled}
	case errors.As(err, new(*storage.OptionError)):
		return optionUsage(err)
	case errors.Is(err, convert.ErrNoPlace):
		return noPlace(job)
	case job.Extras != "" && e.aboutFolder(err, job.Extras):
		return explainExtras(job.Extras, err)
	case errors.Is(err, fs.ErrExist), errors.As(err, new(*guard.Refusal)):
		return explainOutput(job, err)
	case errors.Is(err, convert.ErrLossy):
		return &failure{path: job.Source, what: "nothing was written because of --strict: " + refusedText(err), hint: "without --strict all that can be read is converted"}
	case job.Read.Strict && (errors.Is(err, storage.ErrCorrupt) || errors.Is(err, storage.ErrTruncated) || errors.Is(err, transcode.ErrMalformed)):
		return fmt.Errorf("%w; without --strict all that can be read is converted", err)
	}
	return explainSelection(job.Source, err)
}
