package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/storage"
)

// sectionKinds are the words of list that name sections.
var sectionKinds = map[string]storage.SectionKind{
	"records": storage.SectionRecords, "chunks": storage.SectionChunks,
	"connections": storage.SectionConnections, "parts": storage.SectionParts,
}

// sectionJSON is a line of list records --json and its like.
type sectionJSON struct {
	SchemaVersion int        `json:"schema_version"`
	File          string     `json:"file"`
	Kind          string     `json:"kind"` // "" for bytes that are not sections
	Offset        *int64     `json:"offset"`
	Size          int64      `json:"size"`
	Data          *int64     `json:"data"` // bytes after the header, by it; null: it states none
	Compression   string     `json:"compression,omitempty"`
	Raw           *int64     `json:"raw"` // bytes before compression; null: not known
	Messages      *int64     `json:"messages"`
	StartNS       *string    `json:"start_ns"`
	EndNS         *string    `json:"end_ns"`
	Fields        fieldsJSON `json:"fields"`
	Broken        string     `json:"broken,omitempty"`
}

// fieldsJSON is an object with its keys in their order.
type fieldsJSON struct{ list []storage.Fact }

// MarshalJSON writes a key that is there again with its number after it.
func (f fieldsJSON) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	seen := map[string]int{}
	b.WriteByte('{')
	for i, x := range f.list {
		if i > 0 {
			b.WriteByte(',')
		}
		if seen[x.Key]++; seen[x.Key] > 1 {
			x.Key += "#" + strconv.Itoa(seen[x.Key])
		}
		for k, text := range []string{x.Key, x.Value} {
			if k > 0 {
				b.WriteByte(':')
			}
			if err := enc.Encode(text); err != nil {
				return nil, err
			}
			b.Truncate(b.Len() - 1) // the end of the line
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func sectionOf(s *storage.Section) *sectionJSON {
	known := func(n int64) *int64 {
		if n < 0 {
			return nil
		}
		return &n
	}
	out := &sectionJSON{
		SchemaVersion: schemaVersion, File: s.File, Kind: s.Kind, Offset: known(s.Offset), Size: s.Size, Data: known(s.Data), Compression: s.Compression,
		Raw: known(s.Raw), Messages: known(s.Messages), Fields: fieldsJSON{s.Fields}, Broken: s.Broken,
	}
	if s.Timed {
		out.StartNS, out.EndNS = nsText(s.Start), nsText(s.End)
	}
	return out
}

// listSections lists what the files of a recording consist of, a line for each.
func (e *env) listSections(c *cli.Context, word, path string) (err error) {
	if e.set.extract != "" || e.set.job.Write.Overwrite {
		return usage("omit them, or type: bagconv list attachments "+clean(path), "--extract and --force are for attachments")
	}
	r, err := e.open(c.Context, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	lists := storage.ReaderCapabilities(r.Reader).Lists
	if lists == nil {
		return unlisted(path, word, nil)
	}
	out := bufio.NewWriterSize(e.Out, 64<<10)
	broken := int64(0)
	t := sectionText{out: out, several: word != "parts", what: strings.TrimSuffix(word, "s")}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for s, err := range lists.Sections(c.Context, sectionKinds[word]) {
		if err == nil {
			if s.Broken != "" {
				broken++
			}
			if e.set.json {
				err = enc.Encode(sectionOf(s))
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
	in := &infoJSON{Warnings: warningsJSON(r.Damage().Warnings)}
	if in.damaged() {
		e.writeLines("damaged", warningLines(path, in.Warnings))
	}
	return outcome{lossy: in.damaged() || broken > 0}.end()
}

// unlisted returns the error for sections that a format does not have.
func unlisted(path, word string, err error) error {
	f := &failure{path: path, what: "this format has no list of " + word, hint: "bagconv list records lists what its files consist of", err: err}
	var e *storage.Error
	if errors.As(err, &e) {
		f.what = clean(e.What)
		if e.Hint != "" {
			f.hint = clean(e.Hint)
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
		fmt.Fprintf(t.out, "%s\n", clean(s.File))
	}
	if !t.wrote {
		t.wrote = true
		fmt.Fprintf(t.out, "%14s  %12s  %s\n", "offset", "size", t.what)
	}
	offset, kind := "-", s.Kind
	if s.Offset >= 0 {
		offset = strconv.FormatInt(s.Offset, 10)
	}
	if kind == "" {
		kind = "(none)"
	}
	line := fmt.Sprintf("%14s  %12d  %-14s", offset, s.Size, clean(kind))
	if !t.several {
		line += " " + fieldWord("file", s.File)
	}
	for _, n := range []struct {
		key   string
		value int64
	}{{"data", s.Data}, {"raw", s.Raw}, {"messages", s.Messages}} {
		if n.value >= 0 {
			line += fmt.Sprintf(" %s=%d", n.key, n.value)
		}
	}
	if s.Timed {
		line += fmt.Sprintf(" from=%s to=%s", timeText(s.Start), timeText(s.End))
	}
	if s.Compression != "" && !slices.ContainsFunc(s.Fields, func(f storage.Fact) bool { return f.Key == "compression" }) {
		line += " " + fieldWord("codec", s.Compression)
	}
	for _, f := range s.Fields {
		line += " " + fieldWord(f.Key, f.Value)
	}
	if s.Broken != "" {
		line += " BROKEN: " + clean(s.Broken)
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
	text = clean(text)
	if text == "" || strings.ContainsAny(text, ` "=`) {
		text = `"` + strings.ReplaceAll(text, `"`, `\"`) + `"`
	}
	return clean(key) + "=" + text + cut
}
