package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert/check"
	"github.com/bagconv/bagconv/internal/convert/recording"
)

// writeInfo writes a recording as text: a column of keys, the topics aligned.
func (e *env) writeInfo(w io.Writer, in *recording.Description) error {
	var b strings.Builder
	key := func(name, format string, a ...any) {
		fmt.Fprintf(&b, "%-14s"+format+"\n", append([]any{name + ":"}, a...)...)
	}
	key("path", "%s", phrase.Clean(in.Path))
	key("format", "%s %s", in.Format, phrase.Clean(in.Version))
	if in.StartNS != nil {
		key("duration", "%s", span{*in.StartNS, *in.EndNS}.text())
		key("start", "%s", timeAndEpoch(*in.StartNS))
		key("end", "%s", timeAndEpoch(*in.EndNS))
	}
	key("size", "%s", sizeAndBytes(in.Size))
	key("messages", "%s", estimateText(in, in.Messages))
	key("compression", "%s", compressionText(in.Compression))
	for _, f := range in.InOrder {
		key(f.Key, "%s", phrase.Clean(f.Value))
	}
	for i, name := range in.Files {
		if len(in.Files) > 1 {
			fmt.Fprintf(&b, "%-14s%s\n", label(i, "files:"), phrase.Clean(name))
		}
	}
	one := oneEncoding(in)
	if one != "" {
		key("encoding", "%s", phrase.Clean(one))
	}
	key("topics", "%s", map[bool]string{true: "none", false: phrase.Grouped(int64(len(in.Topics)))}[len(in.Topics) == 0])
	for _, line := range topicLines(in, one == "") {
		b.WriteString("  " + line + "\n")
	}
	e.drawInfo(&b, in)
	if n := len(in.Attachments) + len(in.Records); n > 0 {
		key("extras", "%s, %s", phrase.Count(int64(len(in.Attachments)), "attachment"), phrase.Count(int64(len(in.Records)),
			"metadata record"))
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
			key("note", "%s counts messages that the recorder has lost; bagconv check adds them up", phrase.Clean(t.Name))
		}
	}
	if damage, _ := parted(in.Warnings); len(damage) > 0 {
		key("lost", "%s", lostText(in.Lost))
	}
	for i, line := range warningLines("", in.Warnings) {
		fmt.Fprintf(&b, "%-14s%s\n", label(i, "warnings:"), phrase.Clean(line))
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
		codecs[i] = fmt.Sprintf("%s [%s]", phrase.Clean(name), phrase.Count(blocks[name], "block"))
	}
	if len(codecs) == 0 {
		return "none"
	}
	return strings.Join(codecs, ", ")
}

// countText returns a number of messages: of an estimate its first three digits.
func estimateText(in *recording.Description, n int64) string {
	if !in.Estimated {
		return phrase.Grouped(n)
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
	return "about " + phrase.Grouped(n)
}

// oneEncoding returns the encoding of all topics, "" if there are several or none.
func oneEncoding(in *recording.Description) (one string) {
	for _, t := range in.Topics {
		if one != "" && one != t.Encoding {
			return ""
		}
		one = t.Encoding
	}
	return one
}

// topicLines writes a heading and one line per topic, in columns; with encodings, each line has the
// encoding of its messages.
func topicLines(in *recording.Description, encodings bool) []string {
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
		rows = append(rows, []string{phrase.Clean(t.Name), estimateText(in, t.Count), rateText(in, &t), size})
		last = append(last, phrase.Clean(t.Type)+remarks(&t, encodings))
	}
	return table(rows, last)
}

// rateText returns the mean rate of a topic; without a scan that over the whole
// duration, marked.
func rateText(in *recording.Description, t *recording.TopicDescription) string {
	seconds := 0.0
	if in.StartNS != nil {
		seconds = float64(*in.EndNS-*in.StartNS) / 1e9
	}
	switch {
	case t.HzMean != nil:
		return fmt.Sprintf("%.1f Hz", *t.HzMean)
	case in.Scanned || t.Count < 2 || seconds <= 0:
		return "-"
	default:
		return fmt.Sprintf("~%.1f Hz", float64(t.Count-1)/seconds)
	}
}

func remarks(t *recording.TopicDescription, encoding bool) string {
	var r []string
	if encoding && t.Encoding != "" {
		r = append(r, phrase.Clean(t.Encoding))
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
