package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/extras"
	"github.com/bagconv/bagconv/internal/guard"
	"github.com/bagconv/bagconv/storage"
)

// listed is what list lists.
var listed = []string{"attachments", "records", "chunks", "connections", "parts"}

// listJSON is what list attachments --json prints.
type listJSON struct {
	SchemaVersion int              `json:"schema_version"`
	Path          string           `json:"path"`
	Attachments   []attachmentJSON `json:"attachments"`
	Metadata      []recordJSON     `json:"metadata_records"`
	Lost          []lossJSON       `json:"losses"` // what could not be extracted
	Warnings      []warningJSON    `json:"warnings"`
}

// list lists what a recording carries besides messages, or what its files consist of.
func (e *env) list(c *cli.Context) error {
	word := c.Args().First()
	if c.NArg() > 0 {
		if err := oneOf("list", word, listed...); err != nil {
			if word == "topics" {
				return usage("bagconv topics lists topics", "list shows %s", orList(listed))
			}
			return err
		}
	}
	if c.NArg() != 2 {
		return usage("type: bagconv list attachments IN", "list takes one recording after the word %s", orList(listed))
	}
	path := c.Args().Get(1)
	if word == "attachments" {
		return e.listAttachments(c, path)
	}
	return e.listSections(c, word, path)
}

// listAttachments shows the attachments and metadata records of a recording, and extracts
// them.
func (e *env) listAttachments(c *cli.Context, path string) (err error) {
	dir := e.set.extract
	if e.set.job.Write.Overwrite && dir == "" {
		return usage("add --extract DIR, or omit --force", "--force has no effect without --extract")
	}
	r, err := e.open(c.Context, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	out := &listJSON{SchemaVersion: schemaVersion, Path: path, Lost: []lossJSON{}}
	if out.Attachments, out.Metadata, err = extrasOf(r.Reader); err != nil {
		return err
	}
	if dir != "" {
		if err := e.extract(c, r.Reader, out, dir); err != nil {
			return err
		}
	}
	out.Warnings = warningsJSON(r.Reader.Damage().Warnings)
	if e.set.json {
		err = writeJSON(e.Out, out)
	} else {
		err = writeExtras(e.Out, out, dir)
	}
	if err != nil {
		return err
	}
	damaged := (&infoJSON{Warnings: out.Warnings}).damaged()
	if damaged {
		e.writeLines("damaged", warningLines(path, out.Warnings))
	}
	e.writeLines("lost", lossLines(out.Lost, ""))
	return outcome{lossy: damaged || len(out.Lost) > 0}.end()
}

// extract writes what is listed into a folder, and adds to it which file each is.
func (e *env) extract(c *cli.Context, r storage.Reader, out *listJSON, dir string) (err error) {
	f, err := e.detect(out.Path)
	if err != nil {
		return err
	}
	folder, err := e.extrasFolder(f, out.Path, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	lost, err := convert.CopyExtras(c.Context, r, folder)
	if err == nil {
		err = folder.Commit()
	}
	if err != nil {
		return explainExtras(dir, err)
	}
	for _, l := range lost {
		out.Lost = append(out.Lost, lossJSON(l))
	}
	rest := folder.Index().Attachments
	for i := range out.Attachments {
		if a := &out.Attachments[i]; len(rest) > 0 && rest[0].Name == a.Name && rest[0].Size == a.Size && rest[0].LogTimeNS == a.LogTimeNS {
			a.File, rest = rest[0].File, rest[1:]
		}
	}
	return nil
}

// extrasFolder returns a folder for the attachments and metadata records of a recording, in which
// no file of the recording is replaced.
func (e *env) extrasFolder(f *storage.Format, path, dir string) (*extras.Folder, error) {
	e.cleanUp([]string{extras.StagePath(dir)})
	g := guard.New(e.fs, e.fs, e.formats.Formats()...)
	g.Keep(f, path)
	if err := g.Folder(dir); err != nil {
		return nil, explainExtras(dir, err)
	}
	return extras.NewFolder(g.Files(e.fs, e.set.job.Write.Overwrite), dir, e.set.job.Write.Overwrite, !e.set.job.Write.NoSync), nil
}

// explainExtras adds the next step to an error about the folder of --extract or --extras.
func explainExtras(dir string, err error) error {
	var r *guard.Refusal
	var pe *fs.PathError
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &r):
		return &failure{path: r.Path, what: clean(r.What), hint: clean(r.Hint), err: err}
	case errors.Is(err, fs.ErrExist) && errors.As(err, &pe):
		return &failure{path: pe.Path, what: "it exists already", hint: "choose another folder, or use --force to replace files", err: err}
	case errors.Is(err, fs.ErrNotExist) && tempFolder(err) == "":
		return &failure{path: dir, what: "its parent folder does not exist", hint: "create that first", err: err}
	}
	return err
}

// writeExtras writes attachments and metadata records as text.
func writeExtras(w io.Writer, l *listJSON, dir string) error {
	var b strings.Builder
	lines := extraLines(l.Attachments, l.Metadata)
	for _, line := range lines {
		b.WriteString(line + "\n")
	}
	switch {
	case len(lines) == 0:
		b.WriteString("no attachments and no metadata records\n")
	case dir != "":
		fmt.Fprintf(&b, "extracted into %s: %s and %s\n", clean(dir), count(int64(len(l.Attachments)), "attachment"), extras.IndexName)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
