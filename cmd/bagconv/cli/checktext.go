package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert/check"
)

// checkJSON is the JSON of check, documented in docs/check.md, with a JSON Schema in docs/schemas.
type checkJSON struct {
	SchemaVersion int `json:"schema_version"`
	*check.Result
}

// writeCheck writes what was found as text.
func (e *env) writeCheck(w io.Writer, out *check.Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%-11s%s\n", "path:", phrase.Clean(out.Path))
	fmt.Fprintf(&b, "%-11s%s %s, %s\n", "format:", out.Format, phrase.Clean(out.Version), sizeText(out.Size))
	fmt.Fprintf(&b, "%-11s%s in %s, %s; %s decoded\n", "read:", phrase.Count(out.Messages, "message"),
		phrase.Count(int64(len(out.Topics)), "topic"), sizeText(out.Bytes), phrase.Grouped(out.Decoded))
	fmt.Fprintf(&b, "%-11s%s, %s, %s\n", "findings:", phrase.Count(int64(out.Errors), "error"),
		phrase.Count(int64(out.Warnings), "warning"), phrase.Count(int64(out.Notes), "note"))
	e.drawFindings(&b, out)
	for _, f := range out.Findings {
		fmt.Fprintf(&b, "\n%d. %s %s", f.Number, f.Severity, f.Code)
		if f.Topic != "" {
			fmt.Fprintf(&b, ", topic %s", phrase.Clean(f.Topic))
		}
		if f.Time != nil {
			fmt.Fprintf(&b, ", at %s", timeText(*f.Time))
		}
		if f.Offset >= 0 {
			fmt.Fprintf(&b, ", byte %d", f.Offset)
		}
		fmt.Fprintf(&b, "\n   %s\n", phrase.Clean(f.Message))
		if f.Hint != "" {
			fmt.Fprintf(&b, "   -> %s\n", phrase.Clean(f.Hint))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
