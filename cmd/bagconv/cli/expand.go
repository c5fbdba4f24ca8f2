package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/bagconv/bagconv/storage"
)

// expand fills in what a help text leaves to the formats:
//
//	{formats}, {folder}  names of those that are written, and of the one that is a folder
//	{file}, {other}      endings of two of them, for examples
//	{attached}           ending of one that has attachments
//	{endings}            a line for each ending
//	{kinds}              a line for each format
//	{options}            what can be chosen of an output
//
// Lines that become too long are broken.
func (e *env) expand(text string) string {
	const width, column = 80, 24
	text = strings.NewReplacer("{options}\n", e.optionsHelp(), "{endings}\n", e.endingsHelp(), "{kinds}\n", e.kindsHelp()).Replace(text)
	file := e.fileEnding(0)
	words := strings.NewReplacer("{formats}", orList(e.writable()), "{folder}", e.folderFormat(),
		"{file}", file, "{other}", cmp.Or(e.fileEnding(1), file),
		"{attached}", cmp.Or(e.attachedEnding(), file))
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = words.Replace(line)
		if lines[i] == line || len(lines[i]) <= width {
			continue
		}
		if strings.HasPrefix(line, "  -") && len(line) > column {
			lines[i] = lines[i][:column] + wrap(lines[i][column:], column)
		} else {
			lines[i] = wrap(lines[i], 0)
		}
	}
	return strings.Join(lines, "\n")
}

// endingsHelp lists which ending chooses which format.
func (e *env) endingsHelp() string {
	var b strings.Builder
	for _, f := range e.formats.Formats() {
		if f.Create != nil && len(f.Extensions) > 0 {
			fmt.Fprintf(&b, "  %-22s%s\n", strings.Join(f.Extensions, ", "), wrap(f.Help+" ("+f.Name+")", 24))
		}
	}
	return b.String()
}

// kindsHelp lists the formats.
func (e *env) kindsHelp() string {
	var b strings.Builder
	for _, f := range e.formats.Formats() {
		fmt.Fprintf(&b, "  %-11s%s\n", f.Name, wrap(f.Help, 13))
	}
	return b.String() + "\n"
}

// fileEnding is the ending of the n-th format, from 0, whose outputs are files; "" if
// there are fewer.
func (e *env) fileEnding(n int) string {
	for _, f := range e.formats.Formats() {
		if f.Create == nil || f.Folder || len(f.Extensions) == 0 {
			continue
		}
		if n == 0 {
			return f.Extensions[0]
		}
		n--
	}
	return ""
}

// withExtras are the formats whose outputs have a place for attachments.
func (e *env) withExtras() (list []*storage.Format) {
	for _, f := range e.formats.Formats() {
		if f.Create != nil && f.Extras {
			list = append(list, f)
		}
	}
	return list
}

// attachedEnding is the ending of one of them whose outputs are files; "" if there is none.
func (e *env) attachedEnding() string {
	for _, f := range e.withExtras() {
		if !f.Folder && len(f.Extensions) > 0 {
			return f.Extensions[0]
		}
	}
	return ""
}

// folderFormat is the name of the format whose outputs are folders; that of the first
// one if there is none.
func (e *env) folderFormat() string {
	name := ""
	for _, f := range e.formats.Formats() {
		switch {
		case f.Create == nil:
		case f.Folder:
			return f.Name
		default:
			name = cmp.Or(name, f.Name)
		}
	}
	return name
}
