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
	"github.com/bagconv/bagconv/storage"
)

// writeInfo writes a recording as text: a column of keys, the topics aligned.
func (e *env) writeInfo(w io.Writer, in *recording.Description) error {
	var b strings.Builder
	key := func(name, format string, a ...any) {
		b.WriteString(e.keyed(name+":", fmt.Sprintf(format, a...), infoIndent))
	}
	lines := func(list []string) {
		for _, line := range list {
			b.WriteString("  " + line + "\n")
		}
	}
	fmt.Fprintf(&b, "%-*s%s\n", infoIndent, "path:", phrase.Clean(in.Path)) // it can be copied
	key("format", "%s", e.formatText(in))
	if distro := in.Metadata[storage.MetaDistro]; distro != "" {
		key("distro", "%s", phrase.Clean(distro))
	}
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
			fmt.Fprintf(&b, "%-*s%s\n", infoIndent, label(i, "files:"), phrase.Clean(name))
		}
	}
	one := oneEncoding(in)
	if one != "" {
		key("encoding", "%s", phrase.Clean(one))
	}
	quality := oneQoS(in)
	if quality != "" {
		key("qos", "%s", quality)
	}
	key("topics", "%s", map[bool]string{true: "none", false: phrase.Grouped(int64(len(in.Topics)))}[len(in.Topics) == 0])
	lines(e.topicLines(in, one == "", quality == ""))
	e.drawInfo(&b, in)
	if n := len(in.Attachments) + len(in.Records); n > 0 {
		key("extras", "%s, %s", phrase.Count(int64(len(in.Attachments)), "attachment"), phrase.Count(int64(len(in.Records)),
			"metadata record"))
		lines(extraLines(in.Attachments, in.Records, e.room()))
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
		b.WriteString(e.keyed(label(i, "warnings:"), phrase.Clean(line), infoIndent))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// infoIndent is where the values begin.
const infoIndent = 14

// room returns how wide lines may be after two blanks; 0: as wide as they are.
func (e *env) room() int { return max(0, e.columns()-2) }

// formatText names the format, for a folder also in words: its names are no words of those who record.
func (e *env) formatText(in *recording.Description) string {
	text := in.Format + " " + phrase.Clean(in.Version)
	if f := e.formats.Lookup(in.Format); f != nil && f.Layout.Folder {
		text += " (" + f.Help + ")"
	}
	return strings.TrimSpace(text)
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

// topicLines writes a heading and one line per topic, in columns, if the terminal is wide enough; with encodings, each
// line has the encoding of its messages, with quality the quality of service.
func (e *env) topicLines(in *recording.Description, encodings, quality bool) []string {
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
		last = append(last, phrase.Clean(t.Type)+remarks(&t, encodings, quality))
	}
	return fitted(rows, last, e.room())
}

// leastRate is from how many messages on a topic has a rate: two have only a distance.
const leastRate = 3

// rateText returns the mean rate of a topic; without a scan that over the whole
// duration, marked.
func rateText(in *recording.Description, t *recording.TopicDescription) string {
	seconds := 0.0
	if in.StartNS != nil {
		seconds = float64(*in.EndNS-*in.StartNS) / 1e9
	}
	switch {
	case t.Count < leastRate:
		return "-"
	case t.HzMean != nil:
		return fmt.Sprintf("%.1f Hz", *t.HzMean)
	case in.Scanned || seconds <= 0:
		return "-"
	default:
		return fmt.Sprintf("~%.1f Hz", float64(t.Count-1)/seconds)
	}
}

// remarks returns what else is known of a topic, in parentheses.
func remarks(t *recording.TopicDescription, encoding, quality bool) string {
	var r []string
	if encoding && t.Encoding != "" {
		r = append(r, phrase.Clean(t.Encoding))
	}
	if t.Connections > 1 {
		r = append(r, fmt.Sprintf("%d connections", t.Connections))
	}
	if text := qosText(t); quality && text != "" {
		r = append(r, text)
	}
	if t.Latched {
		r = append(r, "latched")
	}
	if len(r) == 0 {
		return ""
	}
	return " (" + strings.Join(r, ", ") + ")"
}
