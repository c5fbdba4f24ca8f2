package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/convert/extras"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/guard"
	"github.com/bagconv/bagconv/storage"
)

// listed is what list lists.
var listed = []string{"attachments", "records", "chunks", "connections", "parts"}

// listJSON is what list attachments --json prints.
type listJSON struct {
	SchemaVersion int                           `json:"schema_version"`
	Path          string                        `json:"path"`
	Attachments   []recording.AttachmentSummary `json:"attachments"`
	Metadata      []recording.RecordSummary     `json:"metadata_records"`
	Lost          []convert.Loss                `json:"losses"` // what could not be extracted
	Warnings      []storage.Warning             `json:"warnings"`
}

// list lists what a recording carries besides messages, or what its files consist of.
func (e *env) list(ctx context.Context) error {
	word := e.wordAt(0)
	if len(e.words) > 0 {
		if err := flags.OneOf("list", word, listed...); err != nil {
			if word == "topics" {
				return flags.Usage("bagconv info --topics lists topics", "list shows %s", phrase.OrList(listed))
			}
			return err
		}
	}
	if len(e.words) != 2 {
		return flags.Usage("type: bagconv list attachments IN", "list takes one recording after the word %s",
			phrase.OrList(listed))
	}
	path := e.wordAt(1)
	if word == "attachments" {
		return e.listAttachments(ctx, path)
	}
	return e.listSections(ctx, word, path)
}

// listAttachments shows the attachments and metadata records of a recording, and extracts
// them.
func (e *env) listAttachments(ctx context.Context, path string) (err error) {
	dir := e.set.list.extract
	if e.set.job.Write.Overwrite && dir == "" {
		return flags.Usage("add --extract DIR, or omit --force", "--force has no effect without --extract")
	}
	r, err := e.open(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	in := recording.Describe(r.Info, nil)
	if err := in.Extras(r.Reader); err != nil {
		return err
	}
	out := &listJSON{SchemaVersion: schemaVersion, Path: path, Attachments: in.Attachments, Metadata: in.Records,
		Lost: []convert.Loss{}}
	if dir != "" {
		if err := e.extract(ctx, r.Reader, out, dir); err != nil {
			return err
		}
	}
	out.Warnings = some(r.Reader.Damage().Warnings)
	if e.set.json {
		err = writeJSON(e.Out, out)
	} else {
		err = writeExtras(e.Out, out, dir)
	}
	if err != nil {
		return err
	}
	damaged := e.sayDamage(path, out.Warnings)
	e.writeLines("lost", lossLines(out.Lost, ""))
	return outcome{lossy: damaged || len(out.Lost) > 0}.end()
}

// extract writes what is listed into a folder, and adds to it which file each is.
func (e *env) extract(ctx context.Context, r storage.Reader, out *listJSON, dir string) (err error) {
	f, err := e.detect(out.Path)
	if err != nil {
		return err
	}
	folder, err := e.extrasFolder(f, out.Path, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	lost, err := convert.CopyExtras(ctx, r, folder)
	if err == nil {
		err = folder.Commit()
	}
	if err != nil {
		return explainExtras(dir, err)
	}
	out.Lost = append(out.Lost, lost...)
	rest := folder.Index().Attachments
	for i := range out.Attachments {
		if a := &out.Attachments[i]; len(rest) > 0 && rest[0].Name == a.Name && rest[0].Size == a.Size &&
			rest[0].LogTimeNS == strconv.FormatInt(a.LogTimeNS, 10) {
			a.File, rest = rest[0].File, rest[1:]
		}
	}
	return nil
}

// extrasFolder returns a folder for the attachments and metadata records of a recording, in which
// no file of the recording is replaced.
func (e *env) extrasFolder(f *storage.Format, path, dir string) (*extras.Folder, error) {
	e.cleanUp([]string{extras.StagePath(dir)})
	g := guard.New(e.fs, e.fs, e.formats.Known()...)
	g.Keep(f, path)
	if err := g.Folder(dir); err != nil {
		return nil, explainExtras(dir, err)
	}
	return extras.NewFolder(g.Files(e.fs, e.set.job.Write.Overwrite), dir, e.set.job.Write.Overwrite,
		!e.set.job.Write.NoSync), nil
}

// writeExtras writes attachments and metadata records as text.
func writeExtras(w io.Writer, l *listJSON, dir string) error {
	var b strings.Builder
	lines := extraLines(l.Attachments, l.Metadata, 0)
	for _, line := range lines {
		b.WriteString(line + "\n")
	}
	switch {
	case len(lines) == 0:
		b.WriteString("no attachments and no metadata records\n")
	case dir != "":
		fmt.Fprintf(&b, "extracted into %s: %s and %s\n", phrase.Clean(dir), phrase.Count(int64(len(l.Attachments)),
			"attachment"), extras.IndexName)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// listCommand is the command list.
func (e *env) listCommand() flags.Command {
	return flags.Command{
		Name: "list", Part: lookPart, Call: "list WHAT IN", Summary: "list attachments, or what the files consist of",
		About: `Lists what a recording carries besides messages, or what its files consist of,
in the terms of its format, one per line. WHAT is
  attachments  files such as a calibration, with size, times and media type, and
               metadata records, which are tables of names and texts
  records      the pieces of the files, in their order: records, sections, pages
  chunks       what is compressed or read as a whole
  connections  connections, channels or topics, as the files define them
  parts        the files that have the messages`,
		Note: `Each line has the offset, the size, the stated length, the compression, the
messages with their times, and all header fields. Damage is part of the list: what is broken, and where reading goes on.
Records within chunks are not listed. With --json each line is an object.
Nothing is written without --extract.`,
		Examples: []string{
			"bagconv list attachments drive{attached} --extract files/",
			"bagconv list records drive{file} | head",
			"bagconv list chunks drive{file} --json | jq -r '[.offset, .messages] | @tsv'",
			"bagconv list parts drive_ros2/",
		},
		Exits: flags.Exits{
			0:   "done",
			1:   "the recording cannot be read or has no such list, or DIR cannot be written; no files are left",
			3:   "the recording is damaged; what can be read is listed and extracted",
			130: "interrupted",
		},
		Operands: []flags.Flag{{Kind: flags.OneWord, Values: flags.Words(listed...)}, {Kind: flags.File}},
		Run:      e.list,
	}
}

// listFlags returns the flags of list.
func (s *settings) listFlags() []flags.Flag {
	return flags.AllIn(readGroup, "list",
		flags.Flag{Name: "extract", Arg: "DIR", Kind: flags.File, Set: flags.Put(&s.list.extract),
			Help: "write attachments as files into DIR, which is created if missing, and " + extras.IndexName +
				" with their names, media types, times, and the metadata records. Names never lead out of DIR: folders in a name " +
				"are left out, and a name that is used twice gets a number"},
		s.forceFlag("replace files of the same names in DIR"),
	)
}
