package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/storage"
)

// endingsHelp lists which ending chooses which format.
func (e *env) endingsHelp() string {
	var b strings.Builder
	for _, f := range e.formats.Formats() {
		if f.Create != nil && len(f.Extensions) > 0 {
			fmt.Fprintf(&b, "  %-22s%s\n", strings.Join(f.Extensions, ", "), phrase.Wrap(f.Help+" ("+f.Name+")", 24))
		}
	}
	return b.String()
}

// fileEnding returns the ending of the n-th format, from 0, whose outputs are files; "" if
// there are fewer.
func (e *env) fileEnding(n int) string {
	for _, f := range e.formats.Formats() {
		if f.Create == nil || f.Layout.Folder || len(f.Extensions) == 0 {
			continue
		}
		if n == 0 {
			return f.Extensions[0]
		}
		n--
	}
	return ""
}

// withExtras returns the formats whose outputs have a place for attachments.
func (e *env) withExtras() (list []*storage.Format) {
	for _, f := range e.formats.Formats() {
		if f.Create != nil && f.Holds.Extras {
			list = append(list, f)
		}
	}
	return list
}

// attachedEnding returns the ending of one of these formats whose outputs are files; "" if no
// format has one.
func (e *env) attachedEnding() string {
	for _, f := range e.withExtras() {
		if !f.Layout.Folder && len(f.Extensions) > 0 {
			return f.Extensions[0]
		}
	}
	return ""
}

// folderFormat returns the name of the format whose outputs are folders; without one, of the first
// format that can be written.
func (e *env) folderFormat() string {
	name := ""
	for _, f := range e.formats.Formats() {
		switch {
		case f.Create == nil:
		case f.Layout.Folder:
			return f.Name
		default:
			name = cmp.Or(name, f.Name)
		}
	}
	return name
}
