package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/convert/verify"
)

// The JSON of verify, documented in docs/cli.md.
type (
	verifyJSON struct {
		SchemaVersion int           `json:"schema_version"`
		Error         string        `json:"error,omitempty"` // why they could not be compared; nothing is known then
		Level         string        `json:"level"`
		Equal         bool          `json:"equal"`
		A             verifyEnd     `json:"a"`
		B             verifyEnd     `json:"b"`
		Topics        []verifyTopic `json:"topics"`
		Extras        []verifyExtra `json:"extras"` // attachments and metadata records that differ
		Exceptions    []exceptJSON  `json:"exceptions"`
	}
	verifyEnd struct {
		Path      string         `json:"path"`
		Format    string         `json:"format"`
		Version   string         `json:"version"`
		Size      int64          `json:"size"`
		Messages  int64          `json:"messages"`
		Selection *selectionJSON `json:"selection"`
		Warnings  []warningJSON  `json:"warnings"`
		Damaged   bool           `json:"damaged"`

		Attachments     int `json:"attachments"`
		MetadataRecords int `json:"metadata_records"`
	}
	verifyExtra struct {
		Record bool        `json:"metadata_record"` // else it is an attachment
		Name   string      `json:"name"`
		Kind   verify.Kind `json:"kind"`
		Path   string      `json:"path"`
		A      string      `json:"a"`
		B      string      `json:"b"`
	}
	verifyTopic struct {
		Name      string          `json:"name"`
		Equal     bool            `json:"equal"`
		Basis     string          `json:"basis"` // "content", "bytes", "counts"; "" when nothing was compared
		A         *verifySide     `json:"a"`     // null when it does not have the topic
		B         *verifySide     `json:"b"`
		Different int64           `json:"different"`
		First     *differenceJSON `json:"first"` // null when they are equal
		Demanded  []verify.Code   `json:"demanded"`
	}
	verifySide struct {
		Name     string `json:"name"`
		Type     string `json:"type"`
		Encoding string `json:"encoding"`
		Messages int64  `json:"messages"`
		Hash     string `json:"hash"`
		Sum      string `json:"sum"`
	}
	differenceJSON struct {
		Kind   verify.Kind `json:"kind"`
		Index  *int64      `json:"index"`   // null when it is about the topic
		TimeNS *string     `json:"time_ns"` // the same
		Path   string      `json:"path"`
		A      string      `json:"a"`
		B      string      `json:"b"`
	}
	exceptJSON struct {
		Code    verify.Code `json:"code"`
		Topic   string      `json:"topic"`
		Count   int64       `json:"count"`
		Message string      `json:"message"`
		Fields  int         `json:"fields,omitempty"` // that the other side has no place for
	}
)

// verifyOf makes the JSON of a comparison, or of its failure.
func verifyOf(job *verify.Job, r *verify.Result, err error) *verifyJSON {
	out := &verifyJSON{SchemaVersion: schemaVersion, Topics: []verifyTopic{}, Extras: []verifyExtra{}, Exceptions: []exceptJSON{}}
	if err != nil {
		out.Error, out.Level = explain(err), job.Level.String()
		out.A = verifyEnd{Path: job.A.Path, Format: job.A.Format.Name, Warnings: []warningJSON{}}
		out.B = verifyEnd{Path: job.B.Path, Format: job.B.Format.Name, Warnings: []warningJSON{}}
		return out
	}
	out.Level, out.Equal = r.Level.String(), r.Equal
	end := func(e *verify.End) verifyEnd {
		return verifyEnd{e.Path, e.Format, e.Version, e.Size, e.Messages, selectionResult(e.Selection), warningsJSON(slices.Concat(e.Warnings, e.Doubts)), e.Damaged, e.Attachments, e.MetadataRecords}
	}
	out.A, out.B = end(&r.A), end(&r.B)
	for i := range r.Topics {
		out.Topics = append(out.Topics, verifyTopicOf(&r.Topics[i]))
	}
	for _, x := range r.Extras {
		out.Extras = append(out.Extras, verifyExtra(x))
	}
	for _, e := range r.Exceptions {
		out.Exceptions = append(out.Exceptions, exceptJSON(e))
	}
	return out
}

func verifyTopicOf(t *verify.Topic) verifyTopic {
	side := func(e verify.TopicEnd) *verifySide {
		if e.Name == "" && e.Type == "" && e.Encoding == "" {
			return nil
		}
		s := verifySide(e)
		return &s
	}
	out := verifyTopic{Name: t.Name, Equal: t.Equal, Basis: t.Basis, A: side(t.A), B: side(t.B), Different: t.Different, Demanded: t.Demanded}
	if out.Demanded == nil {
		out.Demanded = []verify.Code{}
	}
	if d := t.First; d != nil {
		out.First = &differenceJSON{Kind: d.Kind, Path: d.Path, A: d.A, B: d.B}
		if d.Index >= 0 {
			out.First.Index, out.First.TimeNS = &d.Index, nsText(d.Time)
		}
	}
	return out
}

// writeVerify shows a comparison as text.
func writeVerify(w io.Writer, r *verifyJSON) error {
	var b strings.Builder
	different, also := topicDifferences(r), extraDifferences(r)
	a, other := clean(r.A.Path), clean(r.B.Path)
	if r.Equal {
		in, left := r.Level, leftText(r)
		if left != "" {
			in = "what both can hold"
		}
		fmt.Fprintf(&b, "%s and %s are equal in %s%s: %s, %s%s%s\n", a, other, in, asFarAs(r), count(int64(len(r.Topics)), "topic"), count(r.A.Messages, "message"), extrasText(r), left)
	} else {
		more := ""
		if len(also) > 0 {
			more = fmt.Sprintf(", and in %s", count(int64(len(also)), "attachment or metadata record"))
		}
		fmt.Fprintf(&b, "%s and %s differ on %d of %s%s\n", a, other, len(different), count(int64(len(r.Topics)), "topic"), more)
	}
	for _, end := range []*verifyEnd{&r.A, &r.B} {
		if text := windowText(end.Selection); text != "" {
			fmt.Fprintf(&b, "selected of %s: %s\n", clean(end.Path), text)
		}
	}
	for _, line := range append(different, also...) {
		fmt.Fprintf(&b, "different: %s\n", clean(line))
	}
	var excepted, others []lossJSON
	for _, e := range r.Exceptions {
		list := &excepted
		if e.Code == verify.Extras {
			list = &others
		}
		*list = append(*list, lossJSON{Code: string(e.Code), Topic: e.Topic, Count: e.Count, Message: e.Message})
	}
	for _, line := range append(lossLines(others, "attachment or metadata record"), lossLines(excepted, "message")...) {
		fmt.Fprintf(&b, "excepted: %s\n", clean(line))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// asFarAs names the damaged sides, of which only the rest is compared.
func asFarAs(r *verifyJSON) string {
	var names []string
	for _, end := range []*verifyEnd{&r.A, &r.B} {
		if end.Damaged {
			names = append(names, clean(end.Path))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ", as far as " + strings.Join(names, " and ") + " can be read"
}

// extrasText counts the attachments and metadata records of A, as the end of a sentence.
func extrasText(r *verifyJSON) (text string) {
	if n := r.A.Attachments; n > 0 {
		text += ", " + count(int64(n), "attachment")
	}
	if n := r.A.MetadataRecords; n > 0 {
		text += ", " + count(int64(n), "metadata record")
	}
	return text
}

// differenceLines reports what differs, a line for each topic and what else there is.
func differenceLines(r *verifyJSON) []string {
	return append(topicDifferences(r), extraDifferences(r)...)
}

// extraDifferences reports in what attachments and metadata records differ.
func extraDifferences(r *verifyJSON) (lines []string) {
	for _, x := range r.Extras {
		what := "attachment"
		if x.Record {
			what = "metadata record"
		}
		line := fmt.Sprintf("%s %q", what, x.Name)
		switch x.Kind {
		case verify.KindMissing:
			line += " is not in B"
		case verify.KindExtra:
			line += " is not in A"
		default:
			line += fmt.Sprintf(": %s is %s in A, %s in B", x.Path, cmp.Or(x.A, "empty"), cmp.Or(x.B, "empty"))
		}
		lines = append(lines, line)
	}
	return lines
}

// topicDifferences reports where topics differ first, a line for each.
func topicDifferences(r *verifyJSON) (lines []string) {
	for i := range r.Topics {
		if t := &r.Topics[i]; !t.Equal {
			line := t.Name + ": " + differenceText(t.First, partText("A", &r.A), partText("B", &r.B))
			if t.First.Index != nil && t.Different > 1 {
				line += fmt.Sprintf("; %s in all", count(t.Different, "difference"))
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// partText returns what a side is called.
func partText(name string, end *verifyEnd) string {
	if end.Selection == nil {
		return name
	}
	return "the selection of " + name
}

// windowText reports what was left out of a recording: "from ..., until ..., without
// 2 topics".
func windowText(s *selectionJSON) string {
	if s == nil {
		return ""
	}
	var parts []string
	if s.StartNS != nil {
		parts = append(parts, "from "+whenText(*s.StartNS))
	}
	if s.EndNS != nil {
		parts = append(parts, "until "+whenText(*s.EndNS))
	}
	if n := len(s.LeftOut); n > 0 {
		parts = append(parts, "without "+count(int64(n), "topic"))
	}
	return strings.Join(parts, ", ")
}

func differenceText(d *differenceJSON, a, b string) string {
	at := ""
	if d.Index != nil {
		at = fmt.Sprintf("message %d at %s ns", *d.Index, *d.TimeNS)
	}
	switch d.Kind {
	case verify.KindMissingTopic:
		return b + " does not have the topic: " + d.A
	case verify.KindExtraTopic:
		return a + " does not have the topic: " + d.B
	case verify.KindType, verify.KindEncoding:
		return fmt.Sprintf("the %s is %s in A, %s in B", d.Kind, d.A, d.B)
	case verify.KindFlaw:
		return d.B + "; A does not have this flaw"
	case verify.KindMissing:
		return at + " is not in " + b
	case verify.KindExtra:
		return at + " is not in " + a
	case verify.KindException:
		return fmt.Sprintf("%s [%s]", d.A, d.Path)
	case verify.KindCount:
		return fmt.Sprintf("%s in A, %s in B", countText(d.A), countText(d.B))
	}
	hint := ""
	if strings.HasSuffix(d.Path, "header.seq") {
		hint = " (--ignore header-seq leaves the counter out)"
	}
	return fmt.Sprintf("%s: %s is %s in A, %s in B%s", at, d.Path, d.A, d.B, hint)
}

func countText(n string) string {
	if n == "1" {
		return "1 message"
	}
	return n + " messages"
}

// leftText counts the fields that were not compared, as one side has no place for them.
func leftText(r *verifyJSON) string {
	fields, topics := 0, map[string]bool{}
	for _, x := range r.Exceptions {
		if x.Fields > 0 {
			fields += x.Fields
			topics[x.Topic] = true
		}
	}
	if fields == 0 {
		return ""
	}
	return fmt.Sprintf("; not compared: %s of %s", count(int64(fields), "field"), count(int64(len(topics)), "topic"))
}
