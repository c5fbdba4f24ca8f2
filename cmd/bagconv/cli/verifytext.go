package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/verify"
)

// verifyJSON is the JSON of verify, documented in docs/json.md.
type verifyJSON struct {
	SchemaVersion int    `json:"schema_version"`
	Error         string `json:"error,omitempty"` // why they could not be compared; nothing is known then
	*verify.Result
}

// writeVerify shows a comparison as text.
func writeVerify(w io.Writer, r *verify.Result) error {
	var b strings.Builder
	different := differenceLines(r)
	a, other := phrase.Clean(r.A.Path), phrase.Clean(r.B.Path)
	if r.Equal {
		in, left := r.Level.String(), leftText(r)
		if left != "" {
			in = "what both can hold"
		}
		fmt.Fprintf(&b, "%s and %s are equal in %s%s: %s, %s%s%s\n", a, other, in, asFarAs(r),
			phrase.Count(int64(len(r.Topics)), "topic"), phrase.Count(r.A.Messages, "message"), extrasText(r), left)
	} else {
		more := ""
		extras := len(r.Extras)
		if extras > 0 {
			more = fmt.Sprintf(", and in %s", phrase.Count(int64(extras), "attachment or metadata record"))
		}
		fmt.Fprintf(&b, "%s and %s differ on %d of %s%s\n", a, other, len(different)-extras,
			phrase.Count(int64(len(r.Topics)), "topic"), more)
	}
	for _, end := range []*verify.End{&r.A, &r.B} {
		if text := windowText(end.Selection); text != "" {
			fmt.Fprintf(&b, "selected of %s: %s\n", phrase.Clean(end.Path), text)
		}
	}
	for _, line := range different {
		fmt.Fprintf(&b, "different: %s\n", phrase.Clean(line))
	}
	var excepted, others []convert.Loss
	for _, e := range r.Exceptions {
		list := &excepted
		if e.Code == verify.Extras {
			list = &others
		}
		*list = append(*list, convert.Loss{Code: string(e.Code), Topic: e.Topic, Count: e.Count, Message: e.Message})
	}
	for _, line := range append(lossLines(others, "attachment or metadata record"), lossLines(excepted, "message")...) {
		fmt.Fprintf(&b, "not counted: %s\n", phrase.Clean(line))
	}
	b.WriteString(bothText(r))
	_, err := io.WriteString(w, b.String())
	return err
}

// bothText leads on whoever compares recordings that have only some topics in common; "" for others.
func bothText(r *verify.Result) string {
	var both []string
	for i := range r.Topics {
		if t := &r.Topics[i]; t.A != nil && t.B != nil {
			both = append(both, "-t "+phrase.Clean(t.Name))
		}
	}
	one := len(r.Topics) - len(both)
	if len(both) == 0 || one == 0 {
		return ""
	}
	only, what := phrase.Count(int64(one), "topic")+" in one recording only", "--both with -t TOPIC compares the others"
	if len(both) <= 4 {
		what = "--both " + strings.Join(both, " ") + " compares the rest"
	}
	return fmt.Sprintf("%s; %s\n", only, what)
}

// asFarAs names the damaged sides, of which only the rest is compared.
func asFarAs(r *verify.Result) string {
	var names []string
	for _, end := range []*verify.End{&r.A, &r.B} {
		if end.Damaged {
			names = append(names, phrase.Clean(end.Path))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ", as far as " + strings.Join(names, " and ") + " can be read"
}

// extrasText counts the attachments and metadata records of A, as the end of a sentence.
func extrasText(r *verify.Result) (text string) {
	if n := r.A.Attachments; n > 0 {
		text += ", " + phrase.Count(int64(n), "attachment")
	}
	if n := r.A.MetadataRecords; n > 0 {
		text += ", " + phrase.Count(int64(n), "metadata record")
	}
	return text
}

// differenceLines reports what differs, a line for each topic and what else there is.
func differenceLines(r *verify.Result) []string {
	lines := topicDifferences(r)
	for i := range r.Extras {
		lines = append(lines, r.Extras[i].Text())
	}
	return lines
}

// topicDifferences reports where topics differ first, a line for each.
func topicDifferences(r *verify.Result) (lines []string) {
	for i := range r.Topics {
		if t := &r.Topics[i]; !t.Equal {
			line := t.Name + ": " + t.First.Text(partText("A", &r.A), partText("B", &r.B))
			if t.First.Index >= 0 && t.Different > 1 {
				line += fmt.Sprintf("; %s in all", phrase.Count(t.Different, "difference"))
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// partText returns what a side is called.
func partText(name string, end *verify.End) string {
	if end.Selection == nil {
		return name
	}
	return "the selection of " + name
}

// windowText reports what was left out of a recording: "from ..., until ..., without
// 2 topics".
func windowText(s *convert.Selection) string {
	if s == nil {
		return ""
	}
	text := takenText(s)
	if n := len(s.LeftOut); n > 0 {
		text += ", without " + phrase.Count(int64(n), "topic")
	}
	return strings.TrimPrefix(text, ", ")
}

// leftText counts the fields that were not compared, as one side has no place for them.
func leftText(r *verify.Result) string {
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
	return fmt.Sprintf("; not compared: %s of %s", phrase.Count(int64(fields), "field"), phrase.Count(int64(len(topics)),
		"topic"))
}
