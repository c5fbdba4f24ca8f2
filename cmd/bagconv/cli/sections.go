package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/storage"
)

// sectionKinds are the words of list that name sections.
var sectionKinds = map[string]storage.SectionKind{
	"records": storage.SectionRecords, "chunks": storage.SectionChunks,
	"connections": storage.SectionConnections, "parts": storage.SectionParts,
}

// sectionJSON is a line of list records --json and its like.
type sectionJSON struct {
	SchemaVersion int `json:"schema_version"`
	*storage.Section
}

// listSections lists what the files of a recording consist of, a line for each.
func (e *env) listSections(ctx context.Context, word, path string) (err error) {
	if e.set.list.extract != "" || e.set.job.Write.Overwrite {
		return flags.Usage("omit them, or type: bagconv list attachments "+phrase.Clean(path),
			"--extract and --force are for attachments")
	}
	r, err := e.open(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	lists := storage.ReaderCapabilities(r.Reader).Sections
	if lists == nil {
		return unlisted(path, word, nil)
	}
	out := bufio.NewWriterSize(e.Out, 64<<10)
	broken := int64(0)
	t := sectionText{out: out, several: word != "parts", what: strings.TrimSuffix(word, "s")}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for s, err := range lists.Sections(ctx, sectionKinds[word]) {
		if err == nil {
			if s.Broken != "" {
				broken++
			}
			if e.set.json {
				err = enc.Encode(sectionJSON{schemaVersion, s})
			} else {
				err = t.write(s)
			}
		}
		if err != nil {
			err = errors.Join(err, out.Flush())
			if errors.Is(err, storage.ErrUnsupported) {
				return unlisted(path, word, err)
			}
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return outcome{lossy: e.sayDamage(path, r.Damage().Warnings) || broken > 0}.end()
}

// unlisted returns the error for sections that a format does not have.
func unlisted(path, word string, err error) error {
	f := &failure{path: path, what: "this format has no list of " + word,
		hint: "bagconv list records lists what its files consist of", err: err}
	var e *storage.Error
	if errors.As(err, &e) {
		f.what = phrase.Clean(e.What)
		if e.Hint != "" {
			f.hint = phrase.Clean(e.Hint)
		}
	}
	return f
}

// sectionText writes sections as text.
type sectionText struct {
	out     *bufio.Writer
	what    string // they are, for the heading
	several bool   // of a file
	file    string // of the last one
	wrote   bool
}

func (t *sectionText) write(s *storage.Section) error {
	if s.File != t.file && t.several && (t.wrote || s.File != "") {
		t.file = s.File
		fmt.Fprintf(t.out, "%s\n", phrase.Clean(s.File))
	}
	if !t.wrote {
		t.wrote = true
		fmt.Fprintf(t.out, "%14s  %12s  %s\n", "offset", "size", t.what)
	}
	offset, kind := "-", s.Kind
	if s.Offset >= 0 {
		offset = strconv.FormatInt(int64(s.Offset), 10)
	}
	if kind == "" {
		kind = "(none)"
	}
	line := fmt.Sprintf("%14s  %12d  %-14s", offset, s.Size, phrase.Clean(kind))
	if !t.several {
		line += " " + fieldWord("file", s.File)
	}
	for _, n := range []struct {
		key   string
		value storage.Known
	}{{"data", s.Data}, {"raw", s.Raw}, {"messages", s.Messages}} {
		if n.value >= 0 {
			line += fmt.Sprintf(" %s=%d", n.key, n.value)
		}
	}
	if s.Start != nil {
		line += fmt.Sprintf(" from=%s to=%s", timeText(*s.Start), timeText(*s.End))
	}
	if s.Compression != "" && !slices.ContainsFunc(s.Fields, func(f storage.Fact) bool { return f.Key == "compression" }) {
		line += " " + fieldWord("codec", s.Compression)
	}
	for _, f := range s.Fields {
		line += " " + fieldWord(f.Key, f.Value)
	}
	if s.Broken != "" {
		line += " BROKEN: " + phrase.Clean(s.Broken)
	}
	_, err := t.out.WriteString(strings.TrimRight(line, " ") + "\n")
	return err
}

// maxFieldText is how much of a value the text has, in bytes; JSON has all of it.
const maxFieldText = 100

// fieldWord writes a field as key=value, the value in quotes if it is not one word.
func fieldWord(key, value string) string {
	text, cut := value, ""
	if len(text) > maxFieldText {
		text, cut = strings.ToValidUTF8(text[:maxFieldText], ""), "..."
	}
	text = phrase.Clean(text)
	if text == "" || strings.ContainsAny(text, ` "=`) {
		text = `"` + strings.ReplaceAll(text, `"`, `\"`) + `"`
	}
	return phrase.Clean(key) + "=" + text + cut
}
