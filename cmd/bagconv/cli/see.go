package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert/verify"
	"github.com/bagconv/bagconv/internal/guard"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/remote"
	"github.com/bagconv/bagconv/internal/report"
	"github.com/bagconv/bagconv/internal/report/page"
	"github.com/bagconv/bagconv/internal/stdio"
	"github.com/bagconv/bagconv/storage"
)

// seeJSON is the JSON of report, documented in docs/see.md, with a JSON Schema in docs/schemas.
type seeJSON struct {
	SchemaVersion int `json:"schema_version"`
	*report.Report
}

// pageKind is what a page may take the place of.
var pageKind = guard.Kind{Name: "page of bagconv report", Is: func(head []byte) bool {
	return bytes.HasPrefix(head, []byte("<!DOCTYPE html>")) &&
		bytes.Contains(head, []byte(`<meta name="generator" content="bagconv`))
}}

// see writes the report of one or two recordings.
func (e *env) see(ctx context.Context) error {
	e.words = e.eachIn(e.words)
	out, err := e.pagePlace()
	if err != nil {
		return err
	}
	version, _ := buildVersion()
	r := &report.Report{Program: "bagconv " + version, Recordings: []report.Recording{}}
	if len(e.words) == 2 && !e.set.see.quick {
		if r.Difference, err = e.difference(ctx, e.words[0], e.words[1]); err != nil {
			return err
		}
	}
	var ended outcome
	for _, path := range e.words {
		one, damaged, err := e.gather(ctx, path)
		if err != nil {
			return err
		}
		ended.lossy = ended.lossy || damaged
		if len(e.words) == 2 && e.set.see.quick {
			one.LeftOut = append(one.LeftOut, "how the recordings differ: --quick reads no more than the index and samples")
		}
		r.Recordings = append(r.Recordings, *one)
	}
	if out != "" {
		if err := e.writePage(out, r); err != nil {
			return err
		}
	}
	if e.set.json {
		if err := json.NewEncoder(e.Out).Encode(seeJSON{schemaVersion, r}); err != nil { // one line: it has a lot of numbers
			return err
		}
	}
	return ended.end()
}

// pagePlace returns where the page goes: stream for standard output, "" for nowhere.
func (e *env) pagePlace() (string, error) {
	out := e.set.output
	switch {
	case len(e.words) == 0:
		return "", flags.Usage("type: bagconv report IN", "no input given")
	case len(e.words) > 2:
		return "", flags.Usage("write a page for each of them", "report takes one recording, or two to compare, not %d",
			len(e.words))
	case e.set.see.quick && e.set.see.hash:
		return "", flags.Usage("omit one of them", "--hash reads all messages, and --quick samples of them")
	case out == "" && e.set.json:
		return "", nil
	case out == stream && e.set.json:
		return "", flags.Usage("omit one of them", "-o - and --json both write to standard output")
	case out == stream && e.OutTerminal:
		return "", flags.Usage("name a file: -o drive.html", "a page is not written to a terminal")
	case out == stream:
		return out, nil
	case out == "" && slices.Contains(e.words, stdio.In):
		return "", flags.Usage("add -o drive.html", "standard input has no name that the page could have")
	case out == "":
		var names []string
		for _, path := range e.words {
			format, err := e.detectOne(path)
			if err != nil {
				return "", err
			}
			names = append(names, format.StemOf(nameOf(path)))
		}
		out = strings.Join(names, "_") + ".html"
	case storage.NamesFolder(out):
		return "", flags.Usage("give the name of a file: -o drive.html", "-o %s is a folder", phrase.Clean(out))
	}
	if _, err := e.fs.Stat(out); err == nil && !e.set.job.Write.Overwrite {
		return "", &failure{path: out, what: "it exists already", hint: "choose another name with -o, or use --force to " +
			"replace it", err: fs.ErrExist}
	}
	if err := pageKind.Check(e.fs, out); err != nil {
		var r *guard.Refusal
		if errors.As(err, &r) {
			return "", flags.Usage(r.Hint, "-o %s: %s", phrase.Clean(out), phrase.Clean(r.What))
		}
		return "", err
	}
	e.cleanUp([]string{out})
	return out, nil
}

// nameOf returns the last element of a path or URL.
func nameOf(path string) string {
	path, _, _ = strings.Cut(filepath.ToSlash(remote.Show(path)), "?")
	return filepath.Base(strings.TrimRight(path, "/"))
}

// gather gathers what is shown of a recording, says what may be missed, and reports whether the recording is damaged.
func (e *env) gather(ctx context.Context, path string) (rec *report.Recording, damaged bool, err error) {
	before := e.meter.Counts().Read
	r, err := e.openWith(ctx, path, storage.ReadOptions{CheckIndexes: !e.set.see.quick})
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	o := report.Options{Name: nameOf(path), Path: remote.Show(path), Check: e.set.check.options, Plots: e.set.see.plots,
		Quick: e.set.see.quick, Read: func() int64 { return e.meter.Counts().Read - before }}
	o.Check.Definitions, o.Check.Distro, o.Check.Threads = e.set.job.Definitions, e.set.job.Distro, e.set.job.Threads
	show := e.newProgress()
	o.Check.Progress = show.update
	rec, doubts, err := report.Gather(ctx, r.Reader, o)
	show.stop()
	if err != nil {
		return nil, false, err
	}
	if e.set.see.hash {
		if rec.Hash, err = e.contentHash(ctx, path); err != nil {
			return nil, false, err
		}
	}
	for i, line := range doubts {
		if i == maxLines-1 && len(doubts) > maxLines {
			e.writeLines("left out", []string{fmt.Sprintf("%d more of these lines; the report has all", len(doubts)-i)})
			break
		}
		e.writeLines("left out", []string{rec.Name + ": " + line})
	}
	damage, _ := parted(r.Damage().Warnings)
	return rec, len(damage) > 0, nil
}

// contentHash returns the hash of the content of a recording: of the name and the content hash of each topic with
// messages, which the comparison of the recording with itself has.
func (e *env) contentHash(ctx context.Context, path string) (string, error) {
	ref, err := e.refOf(path)
	if err != nil {
		return "", err
	}
	side := verify.Side{Ref: ref}
	res, err := verify.Run(ctx, verify.Job{A: side, B: side, Threads: e.set.job.Threads})
	if err != nil {
		return "", err
	}
	var lines []string
	for _, t := range res.Topics {
		if t.A != nil && t.A.Messages > 0 {
			lines = append(lines, t.A.Name+" "+t.A.Hash+"\n")
		}
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "")))
	return hex.EncodeToString(sum[:]), nil
}

// difference compares two recordings.
func (e *env) difference(ctx context.Context, a, b string) (*report.Difference, error) {
	job := verify.Job{Level: verify.Content, Threads: e.set.job.Threads}
	var err error
	for i, side := range []*verify.Side{&job.A, &job.B} {
		if side.Ref, err = e.refOf([]string{a, b}[i]); err != nil {
			return nil, err
		}
	}
	show := e.newProgress()
	job.Progress = show.update
	res, err := verify.Run(ctx, job)
	show.stop()
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	if err := writeVerify(&text, res); err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSpace(iox.ShowAll(text.String())), "\n")
	return report.NewDifference(res.Equal, lines[0], lines[1:]), nil
}

// writePage writes the page, which appears in one step.
func (e *env) writePage(path string, r *report.Report) error {
	if path == stream {
		return page.Write(e.Out, r)
	}
	var b bytes.Buffer
	if err := page.Write(&b, r); err != nil {
		return err
	}
	size := int64(b.Len())
	err := e.writeFile(pageKind, path, func(w io.Writer) error {
		_, err := b.WriteTo(w)
		return err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &failure{path: path, what: "it cannot be written: its folder is not there", hint: "make the folder", err: err}
	case err != nil:
		return err
	}
	if !e.set.quiet {
		e.say("%s: %s", phrase.Clean(path), sizeText(size))
	}
	return nil
}

// parsePlots reads TOPIC.FIELD, several with commas between them. A field begins at the first point after the last
// slash.
func parsePlots(text string) (list []report.FieldName, err error) {
	for one := range strings.SplitSeq(text, ",") {
		slash := strings.LastIndexByte(one, '/') + 1
		topic, field, ok := strings.Cut(one[slash:], ".")
		if !ok || one[:slash]+topic == "" || field == "" {
			return nil, flags.Usage("type for example --plot /odom.twist.twist.linear.x",
				"--plot: %q does not have the form TOPIC.FIELD", one)
		}
		list = append(list, report.FieldName{Topic: one[:slash] + topic, Path: field})
	}
	return list, nil
}

// seeCommand is the command report.
func (e *env) seeCommand() flags.Command {
	return flags.Command{
		Name: "report", Part: lookPart, Call: "report IN [IN2]", Summary: "show a recording as one page for a browser",
		About: `Writes one HTML file that shows what is in a recording and whether it is any
good: what check finds, when each topic has messages, its rate and its gaps,
plots of speeds, IMUs and batteries, tracks, pictures of each camera, a point
cloud, the tree of transforms, and the definitions. The file needs no network
and is about 1 MB. Of two recordings, what verify finds comes first.
docs/see.md explains the page.`,
		Note: `Without -o, the page of drive{file} is drive.html in the current folder. --json
prints the numbers behind the page, and writes a page only with -o.`,
		Examples: []string{
			"bagconv report drive{file}",
			"bagconv report drive_ros2/ -o drive.html --plot /battery.voltage",
			"bagconv report https://example.org/drive{other} --quick -o drive.html",
			"bagconv report before{file} after{file} -o both.html",
			"bagconv report drive{file} --json | jq '.recordings[0].topics[].rate'",
		},
		Exits: flags.Exits{
			0:   "written, whatever was found",
			1:   "a recording cannot be read, or the page cannot be written; there is no new page",
			3:   "written, but a recording is damaged",
			130: "interrupted; there is no new page",
		},
		Run: e.see,
	}
}

// seeFlags returns the flags of report alone.
func (s *settings) seeFlags() []flags.Flag {
	return flags.AllIn(readGroup, "report",
		flags.Flag{Name: "output", Short: "o", Arg: "FILE", Kind: flags.File, Set: flags.Put(&s.output),
			Help: "the page; - is standard output; default: the name of IN with the ending .html, in the current folder"},
		s.forceFlag("replace FILE if it is a page of bagconv report"),
		flags.Flag{Name: "plot", Arg: "TOPIC.FIELD", Kind: flags.Topic, Suffix: ".", Several: true,
			Set: func(f *flags.Flag) error {
				for _, text := range f.Texts {
					list, err := parsePlots(text)
					if err != nil {
						return err
					}
					s.see.plots = append(s.see.plots, list...)
				}
				return nil
			},
			Help: "plot this number of the messages, such as /odom.twist.twist.linear.x, in place of what is guessed; commas, " +
				"or the flag again, for more"},
		flags.Flag{Name: "quick", Kind: flags.OnOff, Set: flags.Put(&s.see.quick),
			Help: "read only the index and samples of messages: a small part of a huge recording, or of one by URL"},
		flags.Flag{Name: "hash", Kind: flags.OnOff, Set: flags.Put(&s.see.hash),
			Help: "also read all messages for a hash of their content, which copies in other formats share"},
		s.jsonFlag().In(nil, "print the numbers behind the page as JSON, and write a page only with -o", ""),
		flags.Flag{Name: "quiet", Short: "q", Kind: flags.OnOff, Set: flags.Put(&s.quiet),
			Help: "do not name the page that is written"},
	)
}
