package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/engine"
	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/convert/render"
	"github.com/bagconv/bagconv/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

func (e *env) catCommand() *cli.Command {
	return &cli.Command{
		Name: "cat",
		Flags: append(selectFlags(),
			&cli.StringFlag{Name: "format", Value: "ndjson", Usage: "ndjson, yaml or csv"},
			&cli.Int64Flag{Name: "limit", Usage: "a number of messages"},
			&cli.BoolFlag{Name: "raw", Usage: "the serialized bytes in base64, instead of fields"},
			&cli.BoolFlag{Name: "bytes", Usage: "lists of bytes in base64, instead of their length"},
			&cli.BoolFlag{Name: "arrays", Usage: "long lists whole, also on a terminal"},
			&cli.StringFlag{Name: "distro", Usage: "a ROS 2 distribution, such as humble"},
			&cli.StringFlag{Name: "order", Value: "time", Usage: "time or file"},
			&cli.IntFlag{Name: "threads", Usage: "a number of workers; 0 is one per core"},
		),
		Action: e.cat,
	}
}

var catStyles = map[string]render.Style{"ndjson": render.JSON, "yaml": render.YAML, "csv": render.CSV}

// A catRun is one run of cat.
type catRun struct {
	*env
	path   string
	fields []string // topics and paths of fields, as on the line; nil: everything
	raw    bool
	limit  int64
	distro string
	o      render.Options
	lossy  bool            // something could not be written, and that was said
	said   map[string]bool // on the way

	print *printer
	out   *bufio.Writer     // to print
	lines []*render.Line    // index = TopicID; nil: not written
	heads []mapping.Program // what makes their messages those that a line reads; nil: they are
	wrote int64
}

// A printer knows whether something was printed.
type printer struct {
	to      io.Writer
	printed bool
}

func (p *printer) Write(b []byte) (int, error) {
	p.printed = true
	return p.to.Write(b)
}

// cat writes messages as text, in the order of their time.
func (e *env) cat(c *cli.Context) error {
	job, r, err := e.catJob(c)
	if err != nil {
		return err
	}
	res, err := engine.Stream(c.Context, job, r.plan, r.write)
	if flushErr := r.out.Flush(); err == nil {
		err = flushErr
	}
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case err != nil:
		return explainSelection(r.path, err)
	}
	r.report(res)
	if in := infoOf(res.Info, nil); in.damaged() {
		r.lossy = true
		e.writeLines("damaged", warningLines(r.path, in.Warnings))
	}
	return outcome{lossy: r.lossy}.end()
}

// catJob takes the flags.
func (e *env) catJob(c *cli.Context) (engine.StreamJob, *catRun, error) {
	var job engine.StreamJob
	args := c.Args().Slice()
	if len(args) == 0 {
		return job, nil, usage("type: bagconv cat IN", "there is no input on the line")
	}
	style, known := catStyles[c.String("format")]
	arrays := c.Bool("arrays") || !c.IsSet("arrays") && !e.OutTerminal // who reads a pipe counts on one type for each field
	r := &catRun{env: e, path: args[0], raw: c.Bool("raw"), limit: c.Int64("limit"), distro: c.String("distro"),
		o: render.Options{Style: style, Bytes: c.Bool("bytes"), Arrays: arrays, Indent: 1}, print: &printer{to: e.Out}, said: map[string]bool{}}
	r.out = bufio.NewWriterSize(r.print, 256<<10)
	if len(args) > 1 {
		r.fields = args[1:]
	}
	threads, err := threadsOf(c)
	if err == nil {
		err = oneOf("--order", c.String("order"), "time", "file")
	}
	if !known {
		err = oneOf("--format", c.String("format"), "ndjson", "yaml", "csv")
	}
	switch {
	case err != nil:
	case c.IsSet("limit") && r.limit < 1:
		err = usage("leave it out to have all", "--limit is a number of messages above 0, not %d", r.limit)
	case r.raw && (c.Bool("bytes") || c.Bool("arrays")):
		err = usage("leave one of them out", "--raw writes no fields, which --bytes and --arrays are about")
	default:
		_, err = distroOf(c)
	}
	if err != nil {
		return job, nil, err
	}
	if job.Select, err = selectionOf(c); err != nil {
		return job, nil, err
	}
	job.Edit.Latch = selection.NoLatch
	if job.Format, err = e.detect(r.path); err != nil {
		return job, nil, err
	}
	if c.String("order") == "file" {
		job.Order = convert.OrderFile
	}
	job.Path, job.Expected, job.Threads = r.path, r.limit, threads
	return job, r, nil
}

// write takes a line that the workers have made.
func (r *catRun) write(m *storage.Message) error {
	if _, err := r.out.Write(m.Data); err != nil {
		return err
	}
	if r.wrote++; r.wrote == r.limit {
		return engine.ErrEnough
	}
	return nil
}

// report says what could not be written.
func (r *catRun) report(res *engine.StreamResult) {
	for i, bad := range res.Refused {
		if bad.Messages > 0 {
			r.lossy = true
			r.say("%s: left out: %s; the first: %s", clean(r.path), count(bad.Messages, "message"), explain(bad.First))
		}
		if l := r.lines[i]; l != nil && l.Unknown() > 0 {
			r.lossy = true
			r.say("%s: topic %s: %s with fields that their descriptor does not have; these are left out", clean(r.path), clean(res.Info.Topics[i].Name), count(l.Unknown(), "message"))
		}
		for _, l := range mapping.Losses(r.heads[i]) {
			r.lossy = true
			r.say("%s: topic %s: %s: %s", clean(r.path), clean(res.Info.Topics[i].Name), count(l.Messages, "message"), l.Message)
		}
	}
	r.reportNotes(res)
}

// reportNotes names the topics with lists that are written as their length.
func (r *catRun) reportNotes(res *engine.StreamResult) {
	var long, bytes []string
	for i, l := range r.lines {
		if l == nil {
			continue
		}
		lists, blobs := l.Noted()
		name := clean(res.Info.Topics[i].Name)
		if lists > 0 && !slices.Contains(long, name) {
			long = append(long, name)
		}
		if blobs > 0 && !slices.Contains(bytes, name) {
			bytes = append(bytes, name)
		}
	}
	if long != nil {
		r.say("note: lists of more than %d elements are written as their length, in %s; --arrays writes them whole", render.LongList, someOf(long))
	}
	if bytes != nil {
		r.say("note: bytes are written as their number, in %s; --bytes writes them in base64", someOf(bytes))
	}
}

// someOf names three of several, and counts the others.
func someOf(names []string) string {
	if n := len(names); n > 3 {
		return strings.Join(names[:3], ", ") + fmt.Sprintf(" and %d more", n-3)
	}
	return strings.Join(names, ", ")
}
