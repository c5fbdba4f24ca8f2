package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/convert/transcode"
	"github.com/bagconv/bagconv/schema/builtin"
	"github.com/bagconv/bagconv/storage"
)

func (e *env) convertCommand() *cli.Command {
	return &cli.Command{
		Name: "convert",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "to", Usage: "the output format: " + strings.Join(e.writable(), " or ")},
			&cli.StringFlag{Name: "o", Aliases: []string{"output"}, Usage: "the output, as the last argument is otherwise"},
			&cli.BoolFlag{Name: "force", Aliases: []string{"f"}, Usage: "replace an existing output"},
			&cli.StringFlag{Name: "compression", Usage: "a codec of the output format, see bagconv formats"},
			&cli.IntFlag{Name: "level", Usage: "the codec's level"},
			&cli.StringFlag{Name: "chunk-size", Usage: "a size, such as 768K or 4M"},
			&cli.StringFlag{Name: "distro", Usage: "a ROS 2 distribution, such as humble"},
			&cli.StringFlag{Name: "order", Value: "time", Usage: "time or file"},
			&cli.StringFlag{Name: "header-seq", Value: "count", Usage: "count or zero"},
			&cli.StringFlag{Name: "rosout", Value: "keep", Usage: "keep or ros2"},
			&cli.IntFlag{Name: "threads", Usage: "a number of workers; 0 is one per core"},
			&cli.BoolFlag{Name: "strict", Usage: "fail at the first damage or loss"},
			&cli.StringFlag{Name: "report", Usage: "a file for the report"},
			&cli.BoolFlag{Name: "json", Usage: "the report on standard output"},
			&cli.StringFlag{Name: "progress", Value: "auto", Usage: progressModes},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "no progress, no summary"},
			&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Usage: "also say what is lost by design"},
			&cli.BoolFlag{Name: "no-sync", Usage: "do not wait for the disk"},
		},
		Action: e.convert,
	}
}

// convert runs one conversion.
func (e *env) convert(c *cli.Context) error {
	in, out, err := conversionPaths(c)
	if err != nil {
		return err
	}
	sink, err := e.sinkFormat(c.String("to"), out)
	if err != nil {
		return err
	}
	job, err := jobOf(c, sink)
	if err != nil {
		return err
	}
	show := newProgress(c.String("progress"), e.Stdio)
	if show == nil {
		return usage("", "--progress is %s, not %q", progressModes, c.String("progress"))
	}
	if c.Bool("quiet") {
		show = noProgress{}
	}
	job.Source, job.Sink, job.Progress = in, filepath.Clean(out), show.update
	if job.SourceFormat, err = e.detect(in); err != nil {
		return err
	}
	if err := e.checkOutput(job, c.String("report")); err != nil {
		return err
	}
	file, err := newReportFile(c.String("report"))
	if err != nil {
		return err
	}
	defer file.abort()

	report, runErr := convert.Run(c.Context, *job)
	show.stop()
	result := resultOf(report, explainRun(c.Context, job, runErr))
	if err := file.write(result); err != nil {
		return err
	}
	if c.Bool("json") {
		if err := writeJSON(e.Out, result); err != nil {
			return err
		}
	}
	if _, events := show.(*jsonProgress); events {
		writeEvents(e.Err, result)
	} else {
		e.writeSummary(result, c.Bool("quiet"), c.Bool("verbose"))
	}
	if result.ExitStatus != exitOK {
		return exitStatus(result.ExitStatus)
	}
	return nil
}

// conversionPaths finds the input and the output on the line.
func conversionPaths(c *cli.Context) (in, out string, err error) {
	args := c.Args().Slice()
	out = c.String("o")
	if out == "" && len(args) > 1 {
		out, args = args[len(args)-1], args[:len(args)-1]
	}
	switch {
	case len(args) == 0:
		return "", "", usage("type: bagconv IN OUT", "there is no input on the line")
	case len(args) > 1:
		return "", "", usage("convert them one by one", "there are %d inputs, and inputs are never merged silently", len(args))
	case args[0] == "":
		return "", "", usage("", "the name of the input is empty")
	case out == "":
		return "", "", usage(fmt.Sprintf("type for example: bagconv %s %s", clean(args[0]), exampleOutput(args[0])), "there is no output on the line")
	case out == "-":
		return "", "", usage("give the name of a file or folder", "an output cannot be written to standard output")
	}
	return args[0], out, nil
}

// exampleOutput makes up an output for a hint.
func exampleOutput(in string) string {
	_, base := splitPath(in)
	ext := filepath.Ext(base)
	name := clean(strings.TrimSuffix(base, ext))
	if ext == ".bag" {
		return name + "_ros2/"
	}
	return name + ".bag"
}

// jobOf takes the flags that say how to convert.
func jobOf(c *cli.Context, sink *storage.Format) (*convert.Job, error) {
	job := &convert.Job{
		SinkFormat: sink,
		Read:       storage.ReadOptions{Strict: c.Bool("strict")},
		Write: storage.WriteOptions{
			Compression: c.String("compression"), Level: c.Int("level"),
			Overwrite: c.Bool("force"), NoSync: c.Bool("no-sync"),
		},
		Threads: c.Int("threads"),
	}
	if job.Threads < 0 {
		return nil, usage("0 is one per core", "--threads is a number of workers, not %d", job.Threads)
	}
	if job.Write.Level < 0 {
		return nil, usage("0 is the codec's default", "--level is a number above 0, not %d", job.Write.Level)
	}
	if s := job.Write.Compression; s != "" {
		if err := oneOf("--compression of "+sink.Name, s, sink.Compressions...); err != nil {
			return nil, err
		}
	}
	if s := c.String("chunk-size"); s != "" {
		n, err := parseSize(s)
		if err != nil {
			return nil, usage("type for example 768K, 4M or 1000000", "--chunk-size: %v", err)
		}
		job.Write.ChunkSize = n
	}
	if s := c.String("distro"); s != "" {
		if err := oneOf("--distro", s, distros(mapping.KnownDistro)...); err != nil {
			return nil, err
		}
		job.Distro = s
		for _, p := range sink.Profiles {
			if p == s {
				job.Write.Profile = s
			}
		}
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

// distros lists the built-in distributions that keep accepts.
func distros(keep func(string) bool) (names []string) {
	for _, d := range builtin.Distros() {
		if keep(d) {
			names = append(names, d)
		}
	}
	return names
}

// oneOf checks the value of a flag that takes a few words.
func oneOf(flag, value string, choices ...string) error {
	for _, c := range choices {
		if c == value {
			return nil
		}
	}
	hint := "it is one of: " + strings.Join(choices, ", ")
	if near := nearest(value, choices); near != "" && len(value) > 2 {
		hint += "; did you mean " + near + "?"
	}
	return usage(hint, "%s: unknown value %q", flag, value)
}

// explainRun adds the next step to an error of a run.
func explainRun(ctx context.Context, job *convert.Job, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return &failure{path: job.Sink, what: "interrupted, nothing is written", err: context.Canceled}
	case errors.Is(err, fs.ErrExist):
		return existsError(job.Sink)
	case errors.Is(err, convert.ErrLossy):
		return &failure{path: job.Source, what: "damaged, or not all of it can be converted, and --strict is set; nothing is written", hint: "without --strict all that can be read is converted"}
	case job.Read.Strict && (errors.Is(err, storage.ErrCorrupt) || errors.Is(err, storage.ErrTruncated) || errors.Is(err, transcode.ErrMalformed)):
		return fmt.Errorf("%w; without --strict all that can be read is converted", err)
	}
	return err
}
