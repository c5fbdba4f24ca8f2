package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/internal/ingest"
	"github.com/bagconv/bagconv/internal/ingest/lerobot"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// importFlags returns the flags that only import has.
func (s *settings) importFlags() []flags.Flag {
	return flags.AllIn(importGroup, "import",
		flags.Flag{Name: "format", Arg: "FORM", Kind: flags.OneWord, Values: flags.Words(ingest.Forms()...),
			Set:  flags.Put(&s.imports.form),
			Help: phrase.OrList(ingest.Forms()) + "; default: by the first bytes"},
		flags.Flag{Name: "topic", Short: "t", Arg: "NAME", Kind: flags.PlainText, Set: flags.Put(&s.imports.topic),
			Help: "topic of values whose input names none"},
		flags.Flag{Name: "type", Arg: "TYPE", Kind: flags.Type, Set: flags.Put(&s.imports.typ),
			Help: "type of topics whose type neither IN nor --like has, such as sensor_msgs/msg/Imu"},
		flags.Flag{Name: "like", Arg: "REC", Kind: flags.File, Several: true, Set: flags.Put(&s.imports.like),
			Brief: "recording that has definition and QoS of topics",
			Help: "topics that IN does not declare get encoding, definition, quality of service and metadata from this " +
				"recording, and OUT gets its metadata. Its messages, attachments and metadata records are not copied. " +
				"Repeat the flag for more recordings, the first that has a topic counts"},
	)
}

// importStream converts an input that is no recording.
func (e *env) importStream(ctx context.Context) error {
	words, out := e.words, e.set.output
	if out == "" && len(words) > 0 {
		out, words = words[len(words)-1], words[:len(words)-1]
	}
	in := ingest.Stdin
	switch {
	case out == "":
		return flags.Usage("type for example: bagconv import < drive.frames drive"+e.fileEnding(0), "no output given")
	case len(words) > 1:
		return flags.Usage("import them one by one, then bagconv merge joins them",
			"import takes one input, and these are %d", len(words))
	case len(words) == 1:
		in = words[0]
	}
	e.report.source, e.report.sink = in, out
	job, err := e.jobTo(e.set.to, out)
	if err != nil {
		return err
	}
	if lerobot.IsDataset(e.fs, in) {
		for _, name := range []string{"format", "topic", "type", "like"} {
			if e.command.IsSet(name) {
				return flags.Usage("omit it", "--%s has no effect on a data set of LeRobot", name)
			}
		}
		job.Source, job.SourceFormat = in, lerobot.Source()
		return e.runJob(ctx, job, false)
	}
	o := ingest.Options{Form: e.set.imports.form, In: os.Stdin, Topic: e.set.imports.topic, Type: e.set.imports.typ,
		Definitions: job.Definitions, Distro: job.Distro}
	if o.TempDir = filepath.Dir(job.Sink); iox.IsURL(out) {
		o.TempDir = os.TempDir()
	}
	for _, path := range e.set.imports.like {
		like, err := e.likeOf(ctx, path)
		if err != nil {
			return err
		}
		o.Like = append(o.Like, like)
	}
	job.Source, job.SourceFormat = in, ingest.Source(o)
	return e.runJob(ctx, job, false)
}

// likeOf returns what a recording of --like has about its topics.
func (e *env) likeOf(ctx context.Context, path string) (like ingest.Like, err error) {
	src, err := e.openWith(ctx, path, storage.ReadOptions{})
	if err != nil {
		return like, err
	}
	like = ingest.Like{Info: src.Info, Path: path}
	like.Mapper, err = src.Mapper(ctx, src.Info)
	return like, errors.Join(err, src.Close())
}

// importCommand is the command import.
func (e *env) importCommand() flags.Command {
	return flags.Command{
		Name: "import", Part: exportPart, Call: "import [IN] OUT", Summary: "make a recording of frames, values or tables",
		About: `Makes a recording of what another program writes: messages in frames, as bagconv
cat --raw --framed writes them, values in lines of JSON, as bagconv cat --bytes
does, tables in Arrow or Parquet, or a data set of LeRobot. IN is a file, the folder
of an export or of a data set, or - for standard input, which is the default. Its
form is found by its content. OUT can have any format.

Types come from the input if it declares them (cat --definitions), else from a
recording with the same topics (--like), from --defs, or from the standard
definitions. A topic that none of them knows is an error.`,
		Note: `Input that is wrong or ends early leaves no output; the message names the place.
docs/import.md draws the frames, and says which values a field takes.`,
		Examples: []string{
			"... | python3 blur.py | bagconv import --like drive{file} out{file}",
			"bagconv cat drive{file} --raw --framed --definitions > drive.frames",
			"bagconv import drive.frames drive_ros2/",
			"bagconv import tables/ drive{file}",
			"bagconv import fix.json fix/ --topic /fix --type sensor_msgs/msg/NavSatFix",
		},
		Exits: flags.Exits{
			0:   "OUT is written; nothing is lost that its format can store",
			1:   "failed; no output. With --strict also if anything is lost",
			3:   "OUT is written, but values were left out or something could not be converted",
			130: "interrupted; no output",
		},
		Run: e.importStream,
	}
}
