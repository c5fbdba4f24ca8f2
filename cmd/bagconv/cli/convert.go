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

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/storage"
)

// A conversion is how a command converts.
type conversion struct {
	salvage    bool // report what was saved; a name without a format's ending gets the format of the input
	sameFormat bool // the output has the format of the input, unless --to chooses another
}

// convert runs one conversion.
func (e *env) convert(ctx context.Context, mode conversion) error {
	if err := e.mistypedVerb(e.word); err != nil {
		return err
	}
	if err := e.checkTopicWords(ctx); err != nil {
		return err
	}
	in, out, err := e.conversionPaths(ctx)
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
			if to = source.Name; storage.NamesFolder(out) && !source.Layout.Folder {
				return flags.Usage("bagconv convert writes other formats and has the same flags; "+
					"or remove the separator at the end",
					"%s is a folder, but %s keeps the format of its input, %s", phrase.Clean(out), e.command.Name, to)
			}
		}
		if to == "" && source.Create != nil && (storage.NamesFolder(out) && source.Layout.Folder || filepath.Ext(out) == "" &&
			!storage.NamesFolder(out)) {
			to = source.Name
		}
	}
	job, err := e.jobTo(to, out)
	if err != nil {
		return err
	}
	job.Source, job.SourceFormat = in, source
	job.Read.Uncommitted = mode.salvage
	if err := e.sendThrough(job); err != nil {
		return err
	}
	return e.runJob(ctx, job, mode.salvage)
}

// detectInput is detect for the input of a line that also names an output.
func (e *env) detectInput(in, out string) (*storage.Format, error) {
	f, err := e.detectOne(in)
	var own *failure
	if errors.Is(err, fs.ErrNotExist) && errors.As(err, &own) {
		if other, e := e.formats.DetectIn(e.fs, out); e == nil {
			own.hint = fmt.Sprintf("%s exists (%s): the input comes first, the output last", phrase.Clean(out), other.Name)
		}
	}
	return f, err
}

// conversionPaths finds the input and the output on the line. All parts of one
// recording are that recording.
func (e *env) conversionPaths(ctx context.Context) (in, out string, err error) {
	args := e.words
	out = e.set.output
	if out == "" && len(args) > 1 {
		out, args = args[len(args)-1], args[:len(args)-1]
	}
	if len(args) > 1 {
		args = e.joinParts(args)
	}
	switch {
	case len(args) == 0:
		return "", "", flags.Usage("type: bagconv IN OUT", "no input given")
	case len(args) > 1:
		return "", "", e.severalInputs(args, out)
	case args[0] == "":
		return "", "", flags.Usage("is a shell variable empty?", "the name of the input is empty")
	case out == "":
		return "", "", flags.Usage("type for example: "+e.exampleLine(e.command.Name, args[0]), "no output given")
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
		return phrase.Clean(fmt.Sprintf("bagconv split %s %s_parts/ --max-duration 1m", in, name))
	case verb == "recover":
		name += "_recovered" + cmp.Or(ext, "/")
	case verb == "export":
		name += "_tables/"
	case verb == "filter":
		name += "_part" + cmp.Or(ext, "/")
	case e.set.to != "" && e.namedEnding() != "":
		name += e.namedEnding()
	case ext == e.fileEnding(0):
		name += "_ros2/"
	default:
		name += e.fileEnding(0)
	}
	if verb != flags.DefaultCommand {
		in = verb + " " + in
	}
	return phrase.Clean("bagconv " + in + " " + name)
}

// namedEnding returns the ending of files of the format that --to names; "" for folders.
func (e *env) namedEnding() string {
	if f := e.formats.Lookup(e.set.to); f != nil && !f.Layout.Folder && len(f.Extensions) > 0 {
		return f.Extensions[0]
	}
	return ""
}

// checkTopicWords finds topics of the input among the files on the line: other
// programs take several words after one --topic.
func (e *env) checkTopicWords(ctx context.Context) error {
	args := e.words
	if len(args) < 2 || !e.command.IsSet("topic") && !e.command.IsSet("exclude-topic") {
		return nil
	}
	var names []string
	for _, word := range args[1:] {
		if !strings.HasPrefix(word, "/") {
			continue
		}
		if names == nil {
			names = e.topicNames(ctx, args[0])
		}
		if slices.Contains(names, word) {
			return flags.Usage("repeat the flag for each topic: -t A -t B",
				"%s is a topic of %s, but stands where a file is expected", phrase.Clean(word), phrase.Clean(args[0]))
		}
	}
	return nil
}

// convertCommand is the command convert.
func (e *env) convertCommand() flags.Command {
	return flags.Command{
		Name: "convert", Part: convertPart, Call: "[convert] IN OUT", Summary: "convert a recording",
		About: `Converts one recording. The format of IN is found by its content. The format of
OUT is chosen by --to, or else by the ending of its name:
{endings}
A name with / at its end, or without an ending, becomes a folder ({folder}).
OUT appears only when it is complete; a run that fails leaves no output. If a
recording has several files, name their folder, their common name, or all of
them to read them as one; a single file is read alone. IN or OUT can be - for
standard input or output, OUT with --to.`,
		Examples: []string{
			"bagconv drive{file} drive_ros2/",
			"bagconv drive{file} drive_ros2/ --distro jazzy --report report.json",
			"bagconv drive_ros2 drive{file} --compression lz4 --force",
			"bagconv drive{file} cut{file} -S 1m30s -u 10 -t /imu -t '/camera/*'",
			"bagconv drive{file} cut/ -S -30s -m /imu:=/imu/data --throttle /imu=50",
		},
		Exits: convertExits,
		Run:   func(ctx context.Context) error { return e.convert(ctx, conversion{}) },
	}
}

// filterCommand is the command filter.
func (e *env) filterCommand() flags.Command {
	return flags.Command{
		Name: "filter", Part: convertPart, Call: "filter IN OUT", Summary: "copy part of a recording, in its format",
		About: `Copies a part of a recording. OUT has the format of IN, whatever its name. In all
else it is like bagconv convert.`,
		Examples: []string{
			"bagconv filter drive{file} imu{file} -t /imu",
			"bagconv filter drive_ros2/ ten_seconds/ -S 1m30s -u 10",
		},
		Exits: convertExits,
		Run:   func(ctx context.Context) error { return e.convert(ctx, conversion{sameFormat: true}) },
	}
}

// recoverCommand is the command recover.
func (e *env) recoverCommand() flags.Command {
	return flags.Command{
		Name: "recover", Part: repairPart, Call: "recover IN OUT", Summary: "write a clean recording from a damaged one",
		About: `Writes all messages that can be read from the damaged recording IN into a clean
recording OUT, and reports what was saved and what is lost, in messages, bytes
and blocks (chunks). IN is not changed. OUT may have any format; if its name
has no ending of a format, it has the format of IN. Index, header and counts of
OUT are new, and its messages are in order. Messages that were written to a
database but never committed are recovered, too. A recording that is whole, but
has no index, needs only bagconv reindex.`,
		Examples: []string{
			"bagconv recover cut{file} whole{file}",
			"bagconv recover drive{other} whole{other} --report what.json",
		},
		Exits: flags.Exits{
			0:   "OUT is written; nothing was lost",
			1:   "nothing could be read; no output",
			3:   "OUT is written, but something is lost; the report names it",
			4:   "--verify found a difference; no output",
			130: "interrupted; no output",
		},
		Run: func(ctx context.Context) error { return e.convert(ctx, conversion{salvage: true}) },
	}
}

// convertExits is what convert and filter end with.
var convertExits = flags.Exits{
	0:   "OUT is written; nothing is lost that its format can store",
	1:   "failed; no output. With --strict also if anything is damaged or lost",
	3:   "OUT is written, but IN is damaged or something could not be converted",
	4:   "--verify found a difference; no output",
	130: "interrupted; no output",
}
