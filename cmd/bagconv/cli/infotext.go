package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// writeInfo writes a recording as text: a column of keys, the topics aligned.
func writeInfo(w io.Writer, in *infoJSON) error {
	var b strings.Builder
	key := func(name, format string, a ...any) {
		fmt.Fprintf(&b, "%-14s"+format+"\n", append([]any{name + ":"}, a...)...)
	}
	key("path", "%s", clean(in.Path))
	key("format", "%s %s", in.Format, clean(in.Version))
	if in.StartNS != nil {
		key("duration", "%s", durationText(in.end-in.start))
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
	for i, line := range topicLines(in) {
		fmt.Fprintf(&b, "%-14s%s\n", label(i, "topics:"), line)
	}
	if len(in.Topics) == 0 {
		key("topics", "none")
	}
	switch {
	case in.Estimated:
		key("note", "the numbers of messages are estimated from some of them; all are counted by --scan always")
	case !in.Scanned && in.Messages > 0:
		key("note", "sizes and rates of topics need all of the file: --scan always")
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

// label is the key of a list's first line.
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

// countText is a number of messages: of an estimate its first three digits.
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

// topicLines writes one line per topic, in columns.
func topicLines(in *infoJSON) []string {
	topics := in.Topics
	rows := make([][]string, len(topics))
	for i, t := range topics {
		hz, size := "-", "-"
		if t.HzMean != nil {
			hz = fmt.Sprintf("%.1f Hz", *t.HzMean)
		}
		if t.Bytes != nil {
			size = sizeText(*t.Bytes)
		}
		messages := in.countText(t.Count) + " msgs"
		if t.Count == 1 && !in.Estimated {
			messages = "1 msg " // aligned with the others
		}
		rows[i] = []string{clean(t.Name), messages, hz, size}
	}
	align(rows)
	lines := make([]string, len(topics))
	for i, t := range topics {
		lines[i] = fmt.Sprintf("%s : %s [%s]%s", strings.Join(rows[i], "  "), clean(t.Type), clean(t.Encoding), remarks(&t))
	}
	return lines
}

func remarks(t *topicJSON) string {
	var r []string
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
