package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert"

	"github.com/bagconv/bagconv/storage"
)

type formatJSON struct {
	Name         string          `json:"name"`
	Help         string          `json:"help"`
	Read         bool            `json:"read"`
	Write        bool            `json:"write"`
	Folder       bool            `json:"folder"` // an output is a folder
	Extensions   []string        `json:"extensions"`
	Attachments  bool            `json:"attachments"`   // an output has a place for attachments and metadata records
	Encodings    []string        `json:"encodings"`     // of messages, the native one first
	Compressions []string        `json:"compressions"`  // the default first
	Profiles     []string        `json:"profiles"`      // the default first
	SegmentNames []string        `json:"segment_names"` // the default first; empty: an output is not cut
	Options      storage.Options `json:"options"`       // what can be chosen of an output, the options above included
}

// listFormats reports what each format reads and writes.
func (e *env) listFormats(ctx context.Context) error {
	if len(e.words) > 0 {
		return flags.Usage("type: bagconv formats", "formats takes no file")
	}
	var all []formatJSON
	for _, f := range e.formats.Known() {
		options := append(storage.Options{}, f.Options...)
		for i := range options {
			options[i].Values = some(options[i].Values)
		}
		all = append(all, formatJSON{
			f.Name, f.Help, f.Open != nil, f.Create != nil, f.Layout.Folder,
			some(f.Extensions), f.Holds.Extras, convert.Encodings(f), some(f.Options.Choices(storage.NameCompression)),
			some(f.Options.Choices(storage.NameProfile)), some(f.Options.Choices(storage.NameSegmentNames)), options,
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
		switch {
		case !f.Read:
			does = "written"
		case f.Write:
			does = "read and written"
		}
		output := "a name in " + strings.Join(f.Extensions, ", ")
		switch {
		case f.Folder && len(f.Extensions) == 0:
			output = "a folder"
		case f.Folder:
			output = "a folder, or " + output
		case !f.Write:
			output = ""
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
			if _, err := fmt.Fprintf(e.Out, "          %-13s%s\n", row[0], phrase.Wrap(row[1], 23)); err != nil {
				return err
			}
		}
	}
	return nil
}

// formatsCommand is the command formats.
func (e *env) formatsCommand() flags.Command {
	return flags.Command{
		Name: "formats", Call: "formats", Summary: "list the formats that can be read and written",
		About: `Lists the formats: which can be read and written, the endings that choose them,
their message encodings, codecs (--compression) and profiles (--distro). The
first value of a list is the default.`,
		Examples: []string{
			"bagconv formats",
			"bagconv formats --json | jq -r '.formats[].name'",
		},
		Exits:    flags.Exits{0: "done"},
		Operands: []flags.Flag{{}},
		Run:      e.listFormats,
	}
}
