package mapping

import (
	"fmt"
	"slices"
	"strings"
)

// unhelpful warns of definitions of the user that were not used for a type, though no definition
// of the recording was: who names a place expects to be told why it did not help.
func (x *trial) unhelpful(d *Definition, fits []int) {
	helped := map[string]bool{}
	for _, i := range fits {
		helped[x.candidates[i].Origin] = true
	}
	for i, c := range x.candidates {
		place, users := strings.CutPrefix(c.Origin, Given)
		if !users || helped[c.Origin] || x.messages == 0 {
			continue
		}
		helped[c.Origin] = true // one reason for each place
		why := fmt.Sprintf("does not fit (%s)", x.results[i].broke)
		if x.results[i].broke == "" {
			why = fmt.Sprintf("fits with a doubt (%s)", x.results[i].doubt)
		}
		d.warn("definition-misfit", "%s: %s %s; %s was used", place, x.typ, why, usedText(d.Origin))
	}
	for _, err := range x.same.unread {
		d.misfit(err)
	}
}

// misfit warns of why a definition of the user is not used, if there is a reason.
func (d *Definition) misfit(why error) {
	if why != nil {
		d.warn("definition-misfit", "%v; %s was used", why, usedText(d.Origin))
	}
}

// usedText names the origin of a definition in a sentence.
func usedText(origin string) string {
	switch place, users := strings.CutPrefix(origin, Given); {
	case users:
		return "the definition of " + place
	case origin == "file":
		return "the recording's own"
	}
	return "the standard one"
}

// without explains that no place of the user has a type; "" if there is no place.
func (l library) without(name string) string {
	var parts []string
	for _, set := range l.sets {
		if n := len(set.Definitions()); !set.Has(name) {
			parts = append(parts, fmt.Sprintf("%s: %d %s, none of %s", set.Place, n, plural(n, "definition", "definitions"),
				name))
		}
	}
	if parts = slices.Compact(parts); parts == nil {
		return ""
	}
	return " (" + strings.Join(parts, "; ") + ")"
}
