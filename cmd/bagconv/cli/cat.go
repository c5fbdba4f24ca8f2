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

	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/convert/recording"
	"github.com/bagconv/bagconv/convert/render"
	"github.com/bagconv/bagconv/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// A catRun is one run of cat.
type catRun struct {
	*env
	src      *recording.Source
	path     string
	fields   []string        // topics and paths of fields, as on the line; nil: everything
	lossy    bool            // something could not be written, and that was reported
	reported map[string]bool // on the way

	print *printer
	out   *bufio.Writer     // to print
	lines []*render.Line    // index = TopicID; nil: not written
	heads []mapping.Program // what makes their messages those that a line reads; nil: they are
	wrote int64

	published []byte // a line with a publish time
	unprinted int64  // publish times that were not printed
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
	ref, query, r, err := e.catJob(c)
	if err != nil {
		return err
	}
	pick, some, err := e.picked()
	if err != nil {
		return err
	}
	var res *recording.Result
	err = recording.Use(c.Context, []recording.Ref{ref}, func(sources []*recording.Source) (err error) {
		if r.src = sources[0]; some {
			res, err = r.pick(c.Context, query, pick)
		} else {
			res, err = r.src.Read(c.Context, query, r.each(c.Context, r.write))
		}
		return err
	})
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
func (e *env) catJob(c *cli.Context) (ref recording.Ref, q recording.Query, r *catRun, err error) {
	args := c.Args().Slice()
	if len(args) == 0 {
		return ref, q, nil, usage("type: bagconv cat IN", "no input given")
	}
	set := &e.set
	if !c.IsSet("arrays") {
		set.render.Arrays = !e.OutTerminal // who reads a pipe counts on one type for each field
	}
	set.render.Indent = 1
	r = &catRun{env: e, path: args[0], print: &printer{to: e.Out}, reported: map[string]bool{}}
	r.out = bufio.NewWriterSize(r.print, 256<<10)
	if len(args) > 1 {
		r.fields = args[1:]
	}
	if set.raw && (c.IsSet("bytes") || c.IsSet("arrays")) {
		return ref, q, nil, usage("omit one of them", "--raw prints no fields, so --bytes and --arrays have no effect")
	}
	if err = e.checkFramed(c); err != nil {
		return ref, q, nil, err
	}
	q.Select, q.Order, q.Threads, q.Expected = set.job.Select, set.job.Order, set.job.Threads, set.limit
	q.Edit.Latch = selection.NoLatch
	ref, err = e.refOf(r.path)
	return ref, q, r, err
}

// each returns the visitor that has write take the lines.
func (r *catRun) each(ctx context.Context, write func(*storage.Message) error) recording.Each {
	plan := func(info *storage.Info, selected []bool) ([]recording.Topic, error) {
		return r.plan(ctx, info, selected)
	}
	return recording.Each{Topics: plan, Write: write}
}

// checkFramed refuses --framed if it has no effect, or if a person would read the frames.
func (e *env) checkFramed(c *cli.Context) error {
	switch {
	case !e.set.framed:
		return nil
	case !e.set.raw:
		return usage("add --raw", "--framed is for serialized messages")
	case c.IsSet("format"):
		return usage("omit one of them", "--framed prints no text, so --format has no effect")
	case e.OutTerminal:
		return usage("redirect the output to a file or a program", "--framed does not print to a terminal")
	}
	return nil
}

// write takes a line that the workers have made.
func (r *catRun) write(m *storage.Message) error {
	if _, err := r.out.Write(r.text(m)); err != nil {
		return err
	}
	if r.wrote++; r.wrote == r.set.limit {
		return recording.ErrEnough
	}
	return nil
}

// text returns the line of a message, with its publish time if that is another than the log time. It is
// valid until the next call.
func (r *catRun) text(m *storage.Message) []byte {
	if m.PublishTime == m.LogTime {
		return m.Data
	}
	var ok bool
	if r.published, ok = r.lines[m.Topic].AppendPublished(r.published[:0], m.Data, m.LogTime, m.PublishTime); !ok {
		r.unprinted++
	}
	return r.published
}

// report reports what could not be written.
func (r *catRun) report(res *recording.Result) {
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
			if l.Kept {
				continue
			}
			r.lossy = true
			r.say("%s: topic %s: %s: %s", clean(r.path), clean(res.Info.Topics[i].Name), count(l.Messages, "message"), l.Message)
		}
	}
	r.reportNotes(res)
}

// reportNotes names the topics with lists that are written as their length.
func (r *catRun) reportNotes(res *recording.Result) {
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
	if r.unprinted > 0 && !r.set.framed {
		r.say("note: %s with a publish time of their own, for which CSV has no column; --format ndjson prints it", count(r.unprinted, "message"))
	}
	if long != nil {
		r.say("note: of lists of more than %d elements only the length is printed, in %s; --arrays prints them whole", render.LongList, someOf(long))
	}
	if bytes != nil {
		r.say("note: of bytes only the number is printed, in %s; --bytes prints them in base64", someOf(bytes))
	}
}

// someOf names three of several, and counts the others.
func someOf(names []string) string {
	if n := len(names); n > 3 {
		return strings.Join(names[:3], ", ") + fmt.Sprintf(" and %d more", n-3)
	}
	return strings.Join(names, ", ")
}
