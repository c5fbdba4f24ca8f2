package convert

import (
	"maps"

	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/storage"
)

// adopt lets topics continue those that a recording has which is added to: definitions that
// mean the same are those of the recording, and so are profiles if the source has none. What
// is left to differ, CreateTopic refuses.
func (p *topicPlan) adopt(old []storage.Topic, info *storage.Info) {
	named := map[string][]*storage.Topic{}
	for i := range old {
		named[old[i].Name] = append(named[old[i].Name], &old[i])
	}
	for k := range p.sinks {
		s := &p.sinks[k]
		for _, have := range named[s.topic.Name] {
			if s.topic.Type != have.Type || s.topic.Encoding != have.Encoding || !mapping.SameDefinition(&s.topic, have) {
				continue
			}
			s.topic.Schema = have.Schema
			s.topic.Metadata = maps.Clone(s.topic.Metadata)
			for _, key := range []string{storage.MetaMD5Sum, storage.MetaTypeHash} {
				if v, ok := have.Metadata[key]; ok && s.topic.Metadata != nil {
					s.topic.Metadata[key] = v
				}
			}
			if !s.offers(info) {
				s.topic.QoS = have.QoS
			}
			break
		}
	}
}

// offers reports whether a source has profiles of the topic.
func (s *sinkTopic) offers(info *storage.Info) bool {
	for _, i := range s.sources {
		if len(info.Topics[i].QoS) > 0 {
			return true
		}
	}
	return false
}
