package cli

import (
	"fmt"
	"strings"

	"github.com/bagconv/bagconv/convert"
	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/storage"
)

type formatJSON struct {
	Name         string       `json:"name"`
	Help         string       `json:"help"`
	Read         bool         `json:"read"`
	Write        bool         `json:"write"`
	Folder       bool         `json:"folder"` // an output is a folder
	Extensions   []string     `json:"extensions"`
	Attachments  bool         `json:"attachments"`   // an output has a place for attachments and metadata records
	Encodings    []string     `json:"encodings"`     // of messages, the native one first
	Compressions []string     `json:"compressions"`  // the default first
	Profiles     []string     `json:"profiles"`      // the default first
	SegmentNames []string     `json:"segment_names"` // the default first; empty: an output is not cut
	Options      []optionJSON `json:"options"`       // what can be chosen of an output, those above among it
}

// listFormats reports what each format reads and writes.
func (e *env) listFormats(c *cli.Context) error {
	if c.NArg() > 0 {
		return usage("type: bagconv formats", "formats takes no file")
	}
	var all []formatJSON
	for _, f := range e.formats.Formats() {
		all = append(all, formatJSON{
			f.Name, f.Help, true, f.Create != nil, f.Folder,
			some(f.Extensions), f.Extras, convert.Encodings(f), some(f.Options.Choices(storage.NameCompression)), some(f.Options.Choices(storage.NameProfile)), some(f.Options.Choices(storage.NameSegmentNames)), optionsJSON(f.Options),
		})
	}
	if e.set.json {
		return writeJSON(e.Out, struct {
			SchemaVersion int          `json:"schema_version"`
			Formats       []formatJSON `json:"formats"`
		}{schemaVersion, all})
	}
	for _, f := range all {
		does := "read"
		if f.Write {
			does = "read and written"
		}
		output := "a name in " + strings.Join(f.Extensions, ", ")
		switch {
		case f.Folder && len(f.Extensions) == 0:
			output = "a folder"
		case f.Folder:
			output = "a folder, or " + output
		}
		fmt.Fprintf(e.Out, "%-10s%s: %s\n", f.Name, f.Help, does)
		also := ""
		if f.Attachments {
			also = "attachments, metadata records"
		}
		for _, row := range [][2]string{
			{"output", output}, {"messages", strings.Join(f.Encodings, ", ")}, {"also", also},
			{"compression", strings.Join(f.Compressions, ", ")}, {"profiles", strings.Join(f.Profiles, ", ")},
			{"segments", strings.Join(f.SegmentNames, ", ")},
		} {
			if row[1] == "" {
				continue
			}
			if _, err := fmt.Fprintf(e.Out, "          %-13s%s\n", row[0], wrap(row[1], 23)); err != nil {
				return err
			}
		}
	}
	return nil
}

// wrap breaks a line of words before column 80; further lines are indented.
func wrap(s string, indent int) string { return wrapAt(s, indent, 80) }

// wrapAt does so before another column.
func wrapAt(s string, indent, columns int) string {
	var b strings.Builder
	column := indent
	for i, word := range strings.Fields(s) {
		switch {
		case i > 0 && column+1+len(word) > columns:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		case i > 0:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += len(word)
	}
	return b.String()
}

// some returns a list that JSON shows as one also when it is empty.
func some(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
