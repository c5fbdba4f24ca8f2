package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bagconv/bagconv/convert/check"
)

// writeInfo writes a recording as text: a column of keys, the topics aligned.
func (e *env) writeInfo(w io.Writer, in *infoJSON) error {
	var b strings.Builder
	key := func(name, format string, a ...any) {
		fmt.Fprintf(&b, "%-14s"+format+"\n", append([]any{name + ":"}, a...)...)
	}
	key("path", "%s", clean(in.Path))
	key("format", "%s %s", in.Format, clean(in.Version))
	if in.StartNS != nil {
		key("duration", "%s", span{in.start, in.end}.text())
		key("start", "%s", timeAndEpoch(in.start))
		key("end", "%s", timeAndEpoch(in.end))
	}
	key("size", "%s", sizeAndBytes(in.Size))
	key("messages", "%s", in.countText(in.Messages))
	key("compression", "%s", compressionText(in.Compression))
	for _, f := range in.facts {
		key(f.Key, "%s", clean(f.Value))
	}
	for i, name := range in.Files {
		if len(in.Files) > 1 {
			fmt.Fprintf(&b, "%-14s%s\n", label(i, "files:"), clean(name))
		}
	}
	one := in.oneEncoding()
	if one != "" {
		key("encoding", "%s", clean(one))
	}
	key("topics", "%s", map[bool]string{true: "none", false: grouped(int64(len(in.Topics)))}[len(in.Topics) == 0])
	for _, line := range topicLines(in, one == "") {
		b.WriteString("  " + line + "\n")
	}
	e.drawInfo(&b, in)
	if n := len(in.Attachments) + len(in.Records); n > 0 {
		key("extras", "%s, %s", count(int64(len(in.Attachments)), "attachment"), count(int64(len(in.Records)), "metadata record"))
		for _, line := range extraLines(in.Attachments, in.Records) {
			b.WriteString("  " + line + "\n")
		}
	}
	switch {
	case in.Estimated:
		key("note", "message counts are estimated; --scan always counts all messages")
	case !in.Scanned && in.Messages > 0:
		key("note", "rates marked ~ are averages over the whole duration; --scan always also reports sizes")
	}
	for _, t := range in.Topics {
		if check.TellsLosses(t.Type) && t.Count > 0 {
			key("note", "%s counts messages that the recorder has lost; bagconv check adds them up", clean(t.Name))
		}
	}
	if in.damaged() {
		key("lost", "%s", in.Lost.text())
	}
	for i, line := range warningLines("", in.Warnings) {
		fmt.Fprintf(&b, "%-14s%s\n", label(i, "warnings:"), clean(line))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// label returns the key of a list's first line.
func label(i int, key string) string {
	if i > 0 {
		return ""
	}
	return key
}

// compressionText writes "lz4 [12 chunks], none [1 chunk]".
func compressionText(blocks map[string]int64) string {
	var codecs []string
	for name := range blocks {
		codecs = append(codecs, name)
	}
	slices.Sort(codecs)
	for i, name := range codecs {
		codecs[i] = fmt.Sprintf("%s [%s]", clean(name), count(blocks[name], "block"))
	}
	if len(codecs) == 0 {
		return "none"
	}
	return strings.Join(codecs, ", ")
}

// countText returns a number of messages: of an estimate its first three digits.
func (in *infoJSON) countText(n int64) string {
	if !in.Estimated {
		return grouped(n)
	}
	unit := int64(1)
	for n/unit >= 1000 {
		unit *= 10
	}
	n = (n + unit/2) / unit * unit
	switch {
	case n == 0:
		return "few"
	case n >= 1e6:
		return "about " + strconv.FormatFloat(float64(n)/1e6, 'f', -1, 64) + " million"
	}
	return "about " + grouped(n)
}

// oneEncoding returns the encoding of all topics, "" if there are several or none.
func (in *infoJSON) oneEncoding() (one string) {
	for _, t := range in.Topics {
		if one != "" && one != t.Encoding {
			return ""
		}
		one = t.Encoding
	}
	return one
}

// topicLines writes a heading and one line per topic, in columns; with encodings,
// each line has that of its messages.
func topicLines(in *infoJSON, encodings bool) []string {
	if len(in.Topics) == 0 {
		return nil
	}
	rows := [][]string{{"topic", "messages", "rate", "size"}}
	last := []string{"type"} // the last column is not aligned
	for _, t := range in.Topics {
		size := "-"
		if t.Bytes != nil {
			size = sizeText(*t.Bytes)
		}
		rows = append(rows, []string{clean(t.Name), in.countText(t.Count), in.rateText(&t), size})
		last = append(last, clean(t.Type)+remarks(&t, encodings))
	}
	return table(rows, last)
}

// table writes rows in columns, and after each what is not aligned.
func table(rows [][]string, last []string) []string {
	align(rows)
	lines := make([]string, len(rows))
	for i, row := range rows {
		lines[i] = strings.Join(row, "  ") + "  " + last[i]
	}
	return lines
}

// rateText returns the mean rate of a topic; without a scan that over the whole
// duration, marked.
func (in *infoJSON) rateText(t *topicJSON) string {
	switch seconds := float64(in.end-in.start) / 1e9; {
	case t.HzMean != nil:
		return fmt.Sprintf("%.1f Hz", *t.HzMean)
	case in.Scanned || t.Count < 2 || seconds <= 0:
		return "-"
	default:
		return fmt.Sprintf("~%.1f Hz", float64(t.Count-1)/seconds)
	}
}

func remarks(t *topicJSON, encoding bool) string {
	var r []string
	if encoding && t.Encoding != "" {
		r = append(r, clean(t.Encoding))
	}
	if t.Connections > 1 {
		r = append(r, fmt.Sprintf("%d connections", t.Connections))
	}
	if t.Latched {
		r = append(r, "latched")
	}
	if len(r) == 0 {
		return ""
	}
	return " (" + strings.Join(r, ", ") + ")"
}

// align pads the cells of each column to one width: the first column on its
// right, the others on their left.
func align(rows [][]string) {
	if len(rows) == 0 {
		return
	}
	for col := range rows[0] {
		width := 0
		for _, r := range rows {
			width = max(width, utf8.RuneCountInString(r[col]))
		}
		for _, r := range rows {
			pad := strings.Repeat(" ", width-utf8.RuneCountInString(r[col]))
			if col == 0 {
				r[col] += pad
			} else {
				r[col] = pad + r[col]
			}
		}
	}
}
