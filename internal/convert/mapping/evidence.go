package mapping

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bagconv/bagconv/internal/schema/facts"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/convert/fit"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/schema/defset"
	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	protoapollo "github.com/bagconv/bagconv/proto/apollo"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/rosidl"
	"github.com/bagconv/bagconv/storage"
)

// Evidence is what messages show about the definitions of their topics: all definitions that are
// known of a type are tried on some messages of each topic that has no definition, or a doubtful
// one. Mappers of the same recording share it. Doubts and Add are called before, by one goroutine;
// then it does not change.
type Evidence struct {
	lib    library
	distro string
	trials map[topicKey]*trial
	types  map[typeKey]*typeTrials
}

type topicKey struct{ name, typ, encoding, text string }
type typeKey struct{ typ, encoding, text string }

// A candidate is a definition that a type may have.
type candidate struct {
	Definition
	layout string
	with   string        // whose standard types it has, if another candidate of the place has other ones
	more   []string      // distributions that have the same, beside the one of origin
	doubt  string        // what is odd about it, whatever the messages; "": nothing
	typ    *message.Type // made by test
}

// typeTrials are the trials of all topics of one type.
type typeTrials struct {
	candidates []*candidate // in order of preference
	unread     []error      // why definitions of the user cannot be used
	trials     []*trial
}

// A trial is what the messages of one topic show.
type trial struct {
	typ        string
	candidates []*candidate
	same       *typeTrials
	results    []trialResult
	messages   int
}

// A trialResult is how a candidate fits the messages of a topic.
type trialResult struct {
	misfits int    // messages that it does not fit
	broke   string // where it did not fit first
	doubt   string // what was odd first; "": nothing
}

// NewEvidence returns the Evidence of a recording. For the arguments see Options.
func NewEvidence(sets []*defset.Set, sourceDistro string) *Evidence {
	return &Evidence{lib: newLibrary(sets), distro: sourceDistro, trials: map[topicKey]*trial{},
		types: map[typeKey]*typeTrials{}}
}

func keyOf(t *storage.Topic) topicKey {
	return topicKey{t.Name, t.Type, t.Encoding, string(t.Schema.Data)}
}

// Doubts reports whether messages of a topic are needed to find its definition: it has no
// definition or a doubtful one, no hash that decides, and definitions of its type are known.
func (e *Evidence) Doubts(t *storage.Topic) bool {
	if e.trials[keyOf(t)] != nil {
		return true
	}
	switch {
	case t.Encoding == "cdr" && (validHash(t.Metadata[storage.MetaTypeHash]) || t.Schema.Encoding == "ros1msg"):
		return false
	case t.Encoding == "ros1" && !isAny(t.Metadata[storage.MetaMD5Sum]):
		return false
	}
	k := typeKey{t.Type, t.Encoding, string(t.Schema.Data)}
	same, known := e.types[k]
	if !known {
		var list []*candidate
		var unread []error
		switch t.Encoding {
		case "cdr":
			list, unread = e.ros2Candidates(t)
		case "protobuf":
			list = e.protoCandidates(t)
		case "ros1":
			list, unread = e.ros1Candidates(t)
		}
		same = &typeTrials{candidates: list, unread: unread}
		e.types[k] = same
	}
	if len(same.candidates) == 0 {
		return false
	}
	x := &trial{typ: t.Type, candidates: same.candidates, same: same, results: make([]trialResult, len(same.candidates))}
	for i, c := range x.candidates {
		x.results[i].doubt = c.doubt
	}
	e.trials[keyOf(t)], same.trials = x, append(same.trials, x)
	return true
}

// isAny reports whether the md5sum of a ROS 1 topic stands for any type: writers that do not know the
// sum leave it out, or write a star or zeros.
func isAny(sum string) bool {
	return sum == "" || sum == "*" || len(sum) == 32 && strings.Trim(sum, "0") == ""
}

// Add tries the definitions on a message of a topic that Doubts reports.
func (e *Evidence) Add(t *storage.Topic, m *storage.Message) {
	x := e.trials[keyOf(t)]
	if x == nil {
		return
	}
	x.messages++
	for i, c := range x.candidates {
		r := &x.results[i]
		doubt, err := c.test(m.Data, serial.Of(t.Encoding))
		if err != nil {
			r.misfits++
		}
		if r.broke != "" || err == nil && (doubt == "" || r.doubt != "") {
			continue // the first of each counts
		}
		at := time.Unix(0, m.LogTime).UTC().Format("2006-01-02T15:04:05.000000000Z")
		if err != nil {
			r.broke = fmt.Sprintf("%v logged at %s", err, at)
		} else {
			r.doubt = fmt.Sprintf("%s logged at %s", doubt, at)
		}
	}
}

// of returns the trial of a topic, or else the trial of another topic of its type; nil if no message
// of such a topic was seen.
func (e *Evidence) of(t *storage.Topic) *trial {
	if e == nil {
		return nil
	}
	x := e.trials[keyOf(t)]
	if x == nil || x.messages > 0 {
		return x
	}
	for _, other := range x.same.trials {
		if other.messages > 0 {
			return other
		}
	}
	return nil
}

// Layout returns the fingerprint (facts.Layout) of the definition that the messages of a topic
// prove; "" if they were not needed, "none" if no definition fits.
func (e *Evidence) Layout(t *storage.Topic) string {
	x := e.of(t)
	if x == nil {
		return ""
	}
	if fits := x.fits(); fits != nil {
		return x.candidates[fits[0]].layout
	}
	return "none"
}

// test reports how a message fits the candidate.
func (c *candidate) test(data []byte, e serial.Encoding) (doubt string, err error) {
	if c.Wire = e; c.typ == nil {
		if c.typ, err = c.Type(); err != nil {
			return "", err
		}
	}
	return fit.Test(c.typ, data)
}

// protoCandidates lists the descriptors of a protobuf type without one: the user's, then the
// built-in one. Without descriptors of the user there is no choice.
func (e *Evidence) protoCandidates(t *storage.Topic) (list []*candidate) {
	if len(t.Schema.Data) > 0 {
		return nil
	}
	add := func(md protoreflect.MessageDescriptor, origin string) {
		c := &candidate{Definition: Definition{Proto: md, Origin: origin}}
		if data, err := protoschema.FileSet(md, nil); err == nil {
			sum := sha256.Sum256([]byte(protoschema.Shape(data)))
			c.layout = hex.EncodeToString(sum[:16])
		}
		for _, old := range list {
			if old.layout == c.layout {
				return
			}
		}
		list = append(list, c)
	}
	for _, set := range e.lib.sets {
		if md := set.Descriptor(t.Type); md != nil {
			add(md, Given+set.Place)
		}
	}
	if md := protoapollo.Message(t.Type); md != nil && list != nil {
		add(md, "builtin apollo")
	}
	return list
}

// ros2Candidates lists the definitions of a ROS 2 type: the user's, with the standard types of each
// distribution, then the one of the distribution, the recording's own, and the ones of other
// distributions. Definitions with the Header of ROS 1 stand last: messages of ROS 2 do not have its
// counter, but a short definition fits them by chance. unread are errors of definitions of the user.
func (e *Evidence) ros2Candidates(t *storage.Topic) (list []*candidate, unread []error) {
	name := ros2TopicType(t)
	var own *schema.Message
	if len(strings.TrimSpace(string(t.Schema.Data))) > 0 {
		switch t.Schema.Encoding {
		case "ros2idl":
			own, _ = rosidl.Parse(name, t.Schema.Data)
		case "omgidl":
			own, _ = rosidl.Parse(t.Type, t.Schema.Data)
		default:
			own, _ = rosmsg.Parse(name, t.Schema.Data, rosmsg.ROS2, e.lib.lookup(e.distro))
		}
		if own != nil && !e.lib.doubtful(own) {
			return nil, nil
		}
	}
	distros := slices.DeleteFunc(ros2Distros(), func(d string) bool { return d == e.distro })
	distros = append([]string{e.distro}, distros...)
	var recorded []*candidate // place-holders, maybe
	for _, set := range e.lib.sets {
		for i, distro := range distros {
			found, err := e.lib.messages(set, name, rosmsg.ROS2, distro)
			if err != nil && i == 0 {
				unread = append(unread, err)
			}
			for k, msg := range found {
				c := &candidate{Definition: Definition{ROS: msg, Origin: Given + set.Place}}
				if i+k > 0 {
					c.with = " with the standard types of ROS 2 " + distro
				}
				if set.Recorded && e.lib.doubtful(msg) {
					recorded = append(recorded, c)
				} else {
					list = addCandidate(list, c, "")
				}
			}
		}
	}
	for i, distro := range distros {
		if msg := e.lib.ros2(distro, name); msg != nil {
			list = addCandidate(list, &candidate{Definition: Definition{ROS: msg, Origin: "builtin " + distro}}, distro)
		}
		if i == 0 && own != nil {
			list = addCandidate(list, &candidate{Definition: Definition{ROS: own, Origin: "file"}}, "")
		}
	}
	for _, c := range recorded {
		list = addCandidate(list, c, "")
	}
	for _, c := range list {
		if hasCounter(c.ROS) {
			c.doubt = "a std_msgs/Header with seq, which ROS 2 does not have"
		}
	}
	slices.SortStableFunc(list, func(a, b *candidate) int { return cmp.Compare(a.doubt, b.doubt) })
	return list, unread
}

// ros1Candidates does the same for a ROS 1 type.
func (e *Evidence) ros1Candidates(t *storage.Topic) (list []*candidate, unread []error) {
	if len(strings.TrimSpace(string(t.Schema.Data))) > 0 {
		return nil, nil
	}
	for _, set := range e.lib.sets {
		found, err := e.lib.messages(set, t.Type, rosmsg.ROS1, ROS1Distro)
		if err != nil {
			unread = append(unread, err)
		}
		for _, msg := range found {
			list = addCandidate(list, &candidate{Definition: Definition{ROS: msg, Origin: Given + set.Place}}, "")
		}
	}
	if std := e.lib.bare(t, ""); std != nil {
		list = addCandidate(list, &candidate{Definition: Definition{ROS: std, Origin: "builtin " + ROS1Distro}}, "")
	}
	return list, unread
}

// addCandidate adds a definition, unless the list has an equal one.
func addCandidate(list []*candidate, c *candidate, distro string) []*candidate {
	for _, old := range list {
		if schema.Equal(old.ROS, c.ROS) {
			if distro != "" {
				old.more = append(old.more, distro)
			}
			return list
		}
	}
	c.layout = facts.Layout(c.ROS)
	return append(list, c)
}

// ros2TopicType is the name of the type of a ROS 2 topic as definitions have it.
func ros2TopicType(t *storage.Topic) string {
	if t.Schema.Encoding == "omgidl" {
		return rosidl.RosName(strings.ReplaceAll(strings.TrimPrefix(t.Type, "::"), "/", "::"))
	}
	return fullROS2Name(t.Type)
}
