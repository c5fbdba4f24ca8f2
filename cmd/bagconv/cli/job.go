package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/guard"
	"github.com/bagconv/bagconv/internal/identify"
	"github.com/bagconv/bagconv/internal/stdio"
	"github.com/bagconv/bagconv/storage"
)

// keptFormat returns the format that the line names for the output. A folder that becomes a folder
// keeps its format, unless the line asks for another storage or for a distribution.
func (e *env) keptFormat(source *storage.Format, out string) string {
	to := e.set.to
	if to == "" && !e.command.IsSet(storage.NameStorage) && !e.command.IsSet(storage.NameProfile) &&
		identify.KeepsFormat(source, out) {
		return source.Name
	}
	return to
}

// topicNames lists the topics of a recording; nil if it cannot be read.
func (e *env) topicNames(ctx context.Context, path string) (names []string) {
	r, err := e.openWith(ctx, path, storage.ReadOptions{InfoOnlyAbove: 1})
	if err != nil {
		return nil
	}
	defer r.Close() // it was only read
	return namesOf(r.Info)
}

func namesOf(info *storage.Info) (names []string) {
	for i := range info.Topics {
		names = append(names, info.Topics[i].Name)
	}
	return names
}

// jobTo makes the job that writes out, in the format to, or else in the format of the name.
func (e *env) jobTo(to, out string) (*convert.Job, error) {
	sink, err := e.sinkFormat(to, out, e.command.Text)
	if err != nil {
		return nil, err
	}
	job, err := e.jobFor(sink)
	if err != nil {
		return nil, err
	}
	job.Sink, job.Formats = filepath.Clean(out), e.formats
	if text := e.oddEnding(sink, out); text != "" && !e.set.quiet {
		e.writeLines("note", []string{phrase.Clean(out) + ": " + text})
	}
	return job, nil
}

// oddEnding returns why other programs may not take an output for what it is, by its name; "" if they do.
func (e *env) oddEnding(sink *storage.Format, out string) string {
	if other := e.formats.Named(out); other != nil {
		if other == sink {
			return ""
		}
		return fmt.Sprintf("the output is a %s, although its name has the ending of a %s", sink.Name, other.Name)
	}
	if sink.Layout.Folder || len(sink.Extensions) == 0 || out == stdio.Out || filepath.Ext(out) != "" {
		return ""
	}
	if st, err := e.fs.Stat(out); err == nil && !st.Mode().IsRegular() {
		return ""
	}
	return "the name has no ending; other programs look for " + sink.Extensions[0]
}

// jobFor returns the conversion that the flags ask for, to a format.
func (e *env) jobFor(sink *storage.Format) (*convert.Job, error) {
	job := e.set.job
	job.SinkFormat = sink
	if e.set.verified != "" && sink.Open == nil {
		return nil, flags.Usage("omit --verify", "--verify reads the output back, and %s is only written", sink.Name)
	}
	if err := e.setOptions(&job); err != nil {
		return nil, err
	}
	if err := e.set.setAbout(&job); err != nil {
		return nil, err
	}
	if slices.Contains(sink.Options.Choices(storage.NameProfile), job.Distro) {
		job.Write.Profile = job.Distro
	}
	if slices.Contains(job.Attach, "") || e.command.IsSet("extras") && job.Extras == "" {
		return nil, flags.Usage("is a shell variable empty?", "the name after --attach or --extras is empty")
	}
	job.Encoding = cmp.Or(job.Encoding, "native") // of export, which has no such flag
	known := append([]string{"native", convert.EncodingKeep}, convert.Encodings(sink)...)
	if err := flags.OneOf("--encoding of "+sink.Name, job.Encoding, known...); err != nil {
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
		return nil // the codec of the source may be kept
	}
	codecs := slices.DeleteFunc(slices.Clone(sink.Options.Choices(storage.NameCompression)),
		func(s string) bool { return s == "none" })
	switch {
	case job.Write.Level == 0:
	case codec == "none" || codec == "" && job.Write.Values[storage.NameCompressionMode] == "" &&
		sink.Options.Choices(storage.NameCompression)[0] == "none":
		return flags.Usage("add --compression "+phrase.OrList(codecs), "--level has no effect without compression")
	}
	return nil
}

// explainRun adds the next step to an error of a run.
func (e *env) explainRun(ctx context.Context, job *convert.Job, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && job.SinkFormat.Layout.Live:
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
		return &failure{path: job.Source, what: "nothing was written because of --strict: " + refusedText(err),
			hint: "without --strict all that can be read is converted"}
	case job.Read.Strict && (errors.Is(err, storage.ErrCorrupt) || errors.Is(err, storage.ErrTruncated) ||
		errors.Is(err, mapping.ErrMalformed)):
		return fmt.Errorf("%w; without --strict all that can be read is converted", err)
	}
	return explainSelection(job.Source, err)
}

// refusedText reports what a strict run was refused for, on one line: the first of it,
// and how much more there is.
func refusedText(err error) string {
	var refused *convert.LossError
	if !errors.As(err, &refused) {
		return err.Error()
	}
	lines := append(lossLines(refused.Losses, "message"), warningLines("", refused.Damage)...)
	text := lines[0]
	if n := len(lines) - 1; n > 0 {
		text += fmt.Sprintf(", and %d more; --report FILE lists all", n)
	}
	return text
}
