package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/multi"
	"github.com/bagconv/bagconv/convert/selection"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// merge runs one conversion whose source is several recordings.
func (e *env) merge(c *cli.Context) error {
	paths, out := c.Args().Slice(), e.set.output
	if out == "" && len(paths) > 1 {
		out, paths = paths[len(paths)-1], paths[:len(paths)-1]
	}
	named := len(paths)
	paths = e.joinParts(paths)
	switch {
	case len(paths) == 0 || out == "":
		return usage("type: bagconv merge IN IN... OUT", "merge needs recordings and an output")
	case named == 1:
		return usage("to convert one recording type: bagconv IN OUT",
			"merge needs two inputs or more, and an output: %s is taken for the output", clean(out))
	case out == "-":
		return usage("give the name of a file or folder", "a recording cannot be written to standard output")
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
	return e.runJob(c, job, false)
}

// commonFormat returns the format of recordings, or a format without a folder if they differ.
func (e *env) commonFormat(paths []string) (*storage.Format, error) {
	common := &storage.Format{}
	for i, path := range paths {
		f, err := e.detect(path)
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
				return usage("name each once", "%s: this input is named twice", clean(path))
			}
		}
		inputs[i].Path = path
		if inputs[i].Format, err = e.detect(path); err != nil {
			return err
		}
	}
	if err := shifts(e.set.shift, inputs); err != nil {
		return err
	}
	switch {
	case job.Dedupe && job.Order == convert.OrderFile:
		return usage("omit one of them", "--dedupe compares messages of equal times, and --order file does not bring them together")
	case job.Dedupe && e.set.verified != "":
		return usage("omit one of them", "--verify compares all messages of the inputs, and --dedupe leaves some out")
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
			return usage("write --shift second_ros2=+0.3s", "--shift %q has no =", v)
		}
		by, err := selection.ParseOffset(v[at+1:])
		if err != nil {
			return usage("", "--shift: %v", err)
		}
		i := slices.IndexFunc(inputs, func(in multi.Input) bool {
			return in.Path == v[:at] || filepath.Clean(in.Path) == filepath.Clean(v[:at])
		})
		if i < 0 {
			return usage(fmt.Sprintf("name one of them, such as %s", clean(inputs[0].Path)), "--shift %s: not one of the inputs", clean(v[:at]))
		}
		inputs[i].Shift = by
	}
	return nil
}
