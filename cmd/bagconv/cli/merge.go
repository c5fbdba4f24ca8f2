package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/convert/multi"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// merge runs one conversion whose source is several recordings.
func (e *env) merge(ctx context.Context) error {
	paths, out := e.words, e.set.output
	if out == "" && len(paths) > 1 {
		out, paths = paths[len(paths)-1], paths[:len(paths)-1]
	}
	named := len(paths)
	paths = e.joinParts(paths)
	switch {
	case len(paths) == 0 || out == "":
		return flags.Usage("type: bagconv merge IN IN... OUT", "merge needs recordings and an output")
	case named == 1:
		return flags.Usage("to convert one recording type: bagconv IN OUT",
			"merge needs two inputs or more, and an output: %s is taken for the output", phrase.Clean(out))
	}
	e.report.source, e.report.sink = inShort(paths), out
	source, err := e.commonFormat(paths)
	if err != nil {
		return err
	}
	job, err := e.jobTo(e.keptFormat(source, out), out)
	if err != nil {
		return err
	}
	if err := e.takeInputs(job, paths); err != nil {
		return err
	}
	return e.runJob(ctx, job, false)
}

// commonFormat returns the format of recordings, or a format without a folder if they differ.
func (e *env) commonFormat(paths []string) (*storage.Format, error) {
	common := &storage.Format{}
	for i, path := range paths {
		f, err := e.detectOne(path)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			common = f
		} else if f != common {
			return &storage.Format{}, nil
		}
	}
	return common, nil
}

// takeInputs makes recordings, read as one, the source of a job.
func (e *env) takeInputs(job *convert.Job, paths []string) (err error) {
	inputs := make([]multi.Input, len(paths))
	for i, path := range paths {
		for k := range i {
			if iox.SamePath(e.fs, path, paths[k]) {
				return flags.Usage("name each once", "%s: this input is named twice", phrase.Clean(path))
			}
		}
		inputs[i].Path = path
		if inputs[i].Format, err = e.detectOne(path); err != nil {
			return err
		}
	}
	if err := shifts(e.set.merge.shift, inputs); err != nil {
		return err
	}
	switch {
	case job.Dedupe && job.Order == convert.OrderFile:
		return flags.Usage("omit one of them",
			"--dedupe compares messages of equal times, and --order file does not bring them together")
	case job.Dedupe && e.set.verified != "":
		return flags.Usage("omit one of them", "--verify compares all messages of the inputs, and --dedupe leaves some out")
	}
	job.Source, job.SourceFormat = inShort(paths), multi.Format(inputs)
	return nil
}

// inShort names several recordings together.
func inShort(paths []string) string {
	const limit = 4
	if n := len(paths); n > limit {
		return fmt.Sprintf("%s and %d more", strings.Join(paths[:limit-1], ", "), n-limit+1)
	}
	return strings.Join(paths, ", ")
}

// shifts takes the values of --shift.
func shifts(values []string, inputs []multi.Input) error {
	for _, v := range values {
		at := strings.LastIndexByte(v, '=')
		if at < 0 {
			return flags.Usage("write --shift second_ros2=+0.3s", "--shift %q has no =", v)
		}
		by, err := selection.ParseOffset(v[at+1:])
		if err != nil {
			return flags.Usage("", "--shift: %v", err)
		}
		i := slices.IndexFunc(inputs, func(in multi.Input) bool {
			return in.Path == v[:at] || filepath.Clean(in.Path) == filepath.Clean(v[:at])
		})
		if i < 0 {
			return flags.Usage(fmt.Sprintf("name one of them, such as %s", phrase.Clean(inputs[0].Path)),
				"--shift %s: not one of the inputs", phrase.Clean(v[:at]))
		}
		inputs[i].Shift = by
	}
	return nil
}

// mergeCommand is the command merge.
func (e *env) mergeCommand() flags.Command {
	return flags.Command{
		Name: "merge", Part: convertPart, Call: "merge IN IN... OUT", Summary: "join several recordings into one",
		About: `Joins several recordings into one, ordered by time. They may have any formats.
Topics with the same name and type become one. If two recordings use one name
for different types or definitions, both topics are kept: with the same name if
the format of OUT allows that, otherwise the second one gets _2 at its end.
With --order file one follows the other. Memory does not grow with the inputs.`,
		Examples: []string{
			"bagconv merge front{file} rear{file} both_ros2/",
			"bagconv merge drive_0/ drive_1/ drive{other} all{other}",
			"bagconv merge a{file} b{file} -o ab{file} --shift b{file}=-1.25s",
		},
		Exits: flags.Exits{
			0:   "OUT is written; nothing is lost that its format can store",
			1:   "failed; no output. With --strict also if anything is damaged or lost",
			3:   "OUT is written, but an input is damaged or something could not be converted",
			4:   "--verify found a difference; no output",
			130: "interrupted; no output",
		},
		Run: e.merge,
	}
}

// mergeFlags returns the flags of merge alone.
func (s *settings) mergeFlags() []flags.Flag {
	return []flags.Flag{{Name: "shift", Arg: "IN=D", Kind: flags.Input, Suffix: "=", Several: true, Group: mergeGroup,
		On: "merge append", Set: flags.Put(&s.merge.shift),
		Help: "add a duration to all times of one input, such as second{file}=+0.3s; repeat the flag for more inputs"},
		{Name: "dedupe", Kind: flags.OnOff, Group: mergeGroup, On: "merge append", Set: flags.Put(&s.job.Dedupe),
			Brief: "write equal messages once",
			Help: "write messages that are equal in topic, type, log time and bytes once; append also leaves out what " +
				"TARGET has. The report counts what is left out"}}
}
