package mapping

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/storage"
)

// fits lists the candidates that fit all messages of a trial, in order of preference: candidates
// without doubts, or else with doubts, or else candidates that fit all but a few messages, which
// may be damaged.
func (x *trial) fits() (list []int) {
	least := x.messages
	for _, r := range x.results {
		least = min(least, r.misfits)
	}
	if least*damagedShare > x.messages {
		return nil
	}
	for _, doubts := range []bool{false, true} {
		for i, r := range x.results {
			if r.misfits == least && (r.doubt == "" || doubts) {
				list = append(list, i)
			}
		}
		if list != nil {
			return list
		}
	}
	return nil
}

// damagedShare is how many messages must fit a definition for each that does not.
const damagedShare = 8

// rivals lists the candidates by which messages are read otherwise than by the first one.
func (x *trial) rivals(fits []int) (list []*candidate) {
	first := x.candidates[fits[0]]
	for _, i := range fits[1:] {
		if c := x.candidates[i]; c.layout != first.layout || c.ROS != nil && !sameReading(c.ROS, first.ROS) {
			list = append(list, c)
		}
	}
	return list
}

// decide returns the definition that the messages prove, with remarks about what was open.
// If several fit and differ the order of preference decides, which choice reports. The
// error names where each candidate broke.
func (x *trial) decide(whose string) (d *Definition, choice bool, err error) {
	fits := x.fits()
	if fits == nil {
		return nil, false, x.refusal(whose)
	}
	c := x.candidates[fits[0]]
	d = &Definition{ROS: c.ROS, Proto: c.Proto, Origin: c.Origin}
	rivals := x.rivals(fits)
	found := x.results[fits[0]]
	if c.Origin == "file" && rivals == nil && found.doubt == "" && found.broke == "" {
		return d, false, nil
	}
	code := "definition-builtin"
	if strings.HasPrefix(c.Origin, Given) {
		code = "definition-given"
	}
	text := fmt.Sprintf("%s has no usable definition of %s; the definition of %s is used, which fits the messages that "+
		"were tried",
		whose, x.typ, c.place())
	if c.Origin == "file" {
		text = fmt.Sprintf("%s has a definition of %s that no distribution has; it is used, as it fits the messages that "+
			"were tried", whose, x.typ)
	}
	if broken := x.broken(found.misfits); broken > 0 && rivals == nil {
		text += fmt.Sprintf("; %d %s not", broken, plural(broken, "other does", "others do"))
	}
	if rivals != nil {
		code = "definition-choice"
		text += fmt.Sprintf("; so %s of %s, which would be read otherwise: this is a choice by the order of preference, "+
			"which --defs and --distro change", plural(len(rivals), "does that", "do those"), places(rivals))
	}
	d.remark(code, "%s", text)
	d.Remarks[len(d.Remarks)-1].Warning = rivals != nil
	switch {
	case found.broke != "":
		d.warn("definition-doubtful",
			"no definition of %s fits all messages; the definition of %s does not fit %d of the %d that were tried: %s", x.typ,
			c.place(),
			found.misfits, x.messages, found.broke)
	case found.doubt != "":
		d.warn("definition-doubtful", "no definition of %s fits without a doubt; with the definition of %s there is %s",
			x.typ,
			c.place(), found.doubt)
	}
	x.unhelpful(d, fits)
	return d, rivals != nil, nil
}

// broken counts the candidates that fit fewer messages than the best.
func (x *trial) broken(least int) (n int) {
	for _, r := range x.results {
		if r.misfits > least {
			n++
		}
	}
	return n
}

// refusal is the error if no candidate fits.
func (x *trial) refusal(whose string) error {
	var parts []string
	for i, c := range x.candidates {
		if len(parts) == 4 {
			parts = append(parts, fmt.Sprintf("and %d more", len(x.candidates)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("the definition of %s: %s", c.place(), x.results[i].broke))
	}
	for _, err := range x.same.unread {
		parts = append(parts, err.Error())
	}
	return fmt.Errorf("%s has no usable definition of it, and none that is known fits its messages: %s; --defs names a "+
		"place that has another", whose, strings.Join(parts, "; "))
}

// place tells where a definition is from, for people.
func (c *candidate) place() string {
	if place, ok := strings.CutPrefix(c.Origin, Given); ok {
		return place + c.with
	}
	distro, ok := strings.CutPrefix(c.Origin, "builtin ")
	switch {
	case !ok:
		return "the recording"
	case distro == "apollo":
		return "Apollo, which is built in"
	case distro == ROS1Distro:
		return "ROS 1 " + distro
	case len(c.more)+1 == len(ros2Distros()):
		return "all ROS 2 distributions"
	}
	return "ROS 2 " + strings.Join(append([]string{distro}, c.more...), ", ")
}

// A Try is how a definition fits the messages of a topic.
type Try struct {
	Place   string `json:"place"`   // "ROS 2 humble", a path of the user's, or "the recording"
	Layout  string `json:"layout"`  // facts.Layout
	Fits    bool   `json:"fits"`    // all messages
	Misfits int    `json:"misfits"` // messages that it does not fit
	Broke   string `json:"broke"`   // where it did not fit first
	Doubt   string `json:"doubt"`   // what was odd first, "" if nothing
	Used    bool   `json:"used"`
}

// Tries lists the definitions that were tried on the messages of a topic, in the order of
// preference, and on how many messages; nothing if its definition is not in doubt.
func (e *Evidence) Tries(t *storage.Topic) (list []Try, messages int) {
	x := e.of(t)
	if x == nil {
		return []Try{}, 0
	}
	fits := x.fits()
	list = []Try{}
	for i, c := range x.candidates {
		r := x.results[i]
		list = append(list, Try{Place: c.place(), Layout: c.layout, Fits: r.misfits == 0, Misfits: r.misfits, Broke: r.broke,
			Doubt: r.doubt, Used: fits != nil && fits[0] == i})
	}
	return list, x.messages
}

func places(list []*candidate) string {
	var names []string
	for _, c := range list {
		if p := c.place(); !slices.Contains(names, p) {
			names = append(names, p)
		}
	}
	return strings.Join(names, " and of ")
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
