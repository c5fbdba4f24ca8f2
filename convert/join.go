package convert

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/storage"
)

// A sinkTopic is a topic to create in the sink, and the topics of the source
// that flow into it.
type sinkTopic struct {
	topic   storage.Topic
	sources []int       // indexes of Info.Topics, ascending
	renamed string      // from this name, which another topic has in the sink
	joined  *publishers // of sources; nil: there is one source
	invalid *string     // the name that it should have, which the sink cannot have; nil: it has it
	bare    error       // why its definition is not written; nil: it is
	refused error       // why the sink does not take it; nil: it does

	id      storage.TopicID    // in the sink, if it is not refused
	counter *recording.Counter // of Header.seq
}

// A joiner decides which topics of the source flow into one topic of the sink. Its
// time grows with the topics, not with their pairs: one name may have as many
// publishers and definitions as the recording has topics.
type joiner struct {
	identity storage.Identity // of the sink
	sinks    []sinkTopic
	same     map[topicKey]*sameIdentity
	equal    map[string][]int // sinks that stand alone, by all that their topics have
	named    map[string]bool  // names of sinks
	number   map[string]int   // of a name that several want: the last number that was tried
}

type topicKey struct{ name, typ, encoding string }

// sameIdentity are the topics of the sink with one identity: recordings that are merged may
// disagree on a type, and a record may have two descriptors of one.
type sameIdentity struct {
	first int            // index of joiner.sinks
	by    map[string]int // all of them, by their definition; nil while there is one
}

func newJoiner(identity storage.Identity) *joiner {
	return &joiner{identity: identity, same: map[topicKey]*sameIdentity{}, equal: map[string][]int{},
		named: map[string]bool{}, number: map[string]int{}}
}

// alike returns the sink of an equal topic of another input that no topic of this input flows into yet, -1 for no sink:
// drives that follow each other have the same publishers. The caller adds topics input by input.
func (j *joiner) alike(key string, start int) int {
	for _, at := range j.equal[key] {
		if sources := j.sinks[at].sources; sources[len(sources)-1] < start {
			return at
		}
	}
	return -1
}

// equalKey is equal for topics that are equal in everything: a hash, as definitions may be long.
func equalKey(t *storage.Topic) string {
	fields := []string{t.Name, t.Type, t.Encoding, t.Schema.Encoding, string(t.Schema.Data), fmt.Sprint(t.QoS)}
	for _, k := range slices.Sorted(maps.Keys(t.Metadata)) {
		fields = append(fields, k, t.Metadata[k])
	}
	key := sha256.New()
	for _, f := range fields {
		fmt.Fprintf(key, "%d %s", len(f), f)
	}
	return string(key.Sum(nil))
}

// add returns which of the sinks topic i of the source, as it is in the sink, flows into. If the
// sink keeps no publishers apart, or flows is set, topics of one name, type and definition flow
// together; a topic without a definition goes with any. start is the first topic of the input that the topic is of, -1
// if there is one input: equal topics of two inputs flow together always.
func (j *joiner) add(t *storage.Topic, i, start int, flows bool) int {
	id := topicKey{t.Name, t.Type, t.Encoding}
	others := j.same[id]
	apart := j.identity == storage.IdentityTopic && !flows
	if others != nil && !apart {
		if at := j.sameDefinition(others, t); at >= 0 {
			j.sinks[at].join(t, i)
			return at
		}
	}
	at := len(j.sinks)
	if apart && start >= 0 {
		key := equalKey(t)
		if at := j.alike(key, start); at >= 0 {
			j.sinks[at].sources = append(j.sinks[at].sources, i)
			return at
		}
		j.equal[key] = append(j.equal[key], at)
	}
	j.sinks = append(j.sinks, sinkTopic{topic: *t, sources: []int{i}})
	switch {
	case others == nil:
		j.same[id] = &sameIdentity{first: at}
	case !apart:
		others.by[definitionKey(t)] = at
	}
	if j.identity == storage.IdentityName && j.named[t.Name] || j.identity == storage.IdentityType && others != nil {
		j.rename(&j.sinks[at])
	}
	j.named[j.sinks[at].topic.Name] = true
	return at
}

// sameDefinition returns the sink of one identity that has the definition of t, -1 for no sink.
func (j *joiner) sameDefinition(others *sameIdentity, t *storage.Topic) int {
	first := &j.sinks[others.first].topic
	if len(t.Schema.Data) == 0 || len(first.Schema.Data) == 0 || bytes.Equal(first.Schema.Data, t.Schema.Data) {
		return others.first
	}
	if others.by == nil {
		others.by = map[string]int{definitionKey(first): others.first}
	}
	if at, ok := others.by[definitionKey(t)]; ok {
		return at
	}
	return -1
}

// definitionKey is equal for topics of one identity with the same definition.
func definitionKey(t *storage.Topic) string {
	if t.Encoding == "protobuf" {
		return protoschema.Shape(t.Schema.Data)
	}
	return string(t.Schema.Data)
}

// rename finds a name for a topic that is free.
func (j *joiner) rename(s *sinkTopic) {
	s.renamed = s.topic.Name
	n := max(j.number[s.renamed], 1)
	for j.named[s.topic.Name] {
		n++
		s.topic.Name = fmt.Sprintf("%s_%d", s.renamed, n)
	}
	j.number[s.renamed] = n
}

// finish returns the topics of the sink, when all topics of the source were added.
func (j *joiner) finish() []sinkTopic {
	for i := range j.sinks {
		if s := &j.sinks[i]; s.joined != nil {
			s.topic.Metadata[storage.MetaCallerIDs] = strings.Join(s.joined.names, ",")
		}
	}
	return j.sinks
}

// join lets another publisher flow into the topic.
func (s *sinkTopic) join(t *storage.Topic, i int) {
	s.sources = append(s.sources, i)
	if s.joined == nil {
		s.joined = &publishers{known: map[string]bool{}, offered: map[storage.QoS]bool{}}
		s.topic.QoS = s.joined.add(nil, &s.topic)
		s.topic.Metadata = maps.Clone(s.topic.Metadata)
		if s.topic.Metadata == nil {
			s.topic.Metadata = map[string]string{}
		}
		delete(s.topic.Metadata, storage.MetaCallerID)
	}
	s.topic.QoS = s.joined.add(s.topic.QoS, t)
	if t.Metadata[storage.MetaLatching] == "1" {
		s.topic.Metadata[storage.MetaLatching] = "1"
	}
}

// publishers are the publishers that flow together into one topic.
type publishers struct {
	names   []string // in the order in which they came
	known   map[string]bool
	offered map[storage.QoS]bool
}

// add adds the publishers of t, and its profiles to qos. Equal profiles are kept
// once: players need to know only what was offered, and take the recorded profile
// when all agree.
func (p *publishers) add(qos []storage.QoS, t *storage.Topic) []storage.QoS {
	callers := t.Metadata[storage.MetaCallerIDs]
	if callers == "" {
		callers = t.Metadata[storage.MetaCallerID]
	}
	for name := range strings.SplitSeq(callers, ",") {
		if name != "" && !p.known[name] {
			p.known[name] = true
			p.names = append(p.names, name)
		}
	}
	for _, q := range t.QoS {
		if !p.offered[q] {
			p.offered[q] = true
			qos = append(qos, q)
		}
	}
	return qos
}
