package verify

import (
	"cmp"
	"fmt"
	"strings"
)

// Text says what is different, as the end of a sentence about a topic: "message 3 at 17 ns: x is 1 in A, 2 in B". a and
// b name the sides, as "A" and "B".
func (d *Difference) Text(a, b string) string {
	at := ""
	if d.Index >= 0 {
		at = fmt.Sprintf("message %d at %d ns", d.Index, *d.Time)
	}
	switch d.Kind {
	case KindMissingTopic:
		return b + " does not have the topic: " + d.A
	case KindExtraTopic:
		return a + " does not have the topic: " + d.B
	case KindType, KindEncoding:
		return fmt.Sprintf("the %s is %s in A, %s in B", d.Kind, d.A, d.B)
	case KindFlaw:
		return d.B + "; A does not have this flaw"
	case KindMissing:
		return at + " is not in " + b
	case KindExtra:
		return at + " is not in " + a
	case KindException:
		return fmt.Sprintf("%s [%s]", d.A, d.Path)
	case KindCount:
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

// Text says what differs.
func (x *Extra) Text() string {
	what := "attachment"
	if x.Record {
		what = "metadata record"
	}
	switch x.Kind {
	case KindMissing:
		return fmt.Sprintf("%s %q is not in B", what, x.Name)
	case KindExtra:
		return fmt.Sprintf("%s %q is not in A", what, x.Name)
	}
	return fmt.Sprintf("%s %q: %s is %s in A, %s in B", what, x.Name, x.Path, cmp.Or(x.A, "empty"), cmp.Or(x.B, "empty"))
}
