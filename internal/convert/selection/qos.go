package selection

import (
	"errors"
	"slices"

	"github.com/bagconv/bagconv/storage"
)

// A Profile changes the QoS profiles of topics.
type Profile struct {
	topic    Pattern
	settings []string // for storage.QoS.Set
}

// NewProfile returns a change of the topics that a pattern matches. Settings are policies as
// storage.QoS.Set takes them.
func NewProfile(pattern string, settings []string) (p Profile, err error) {
	if p.topic, err = ParsePattern(pattern); err != nil {
		return p, err
	}
	if p.settings = settings; len(settings) == 0 {
		return p, errors.New("no policy is named")
	}
	_, err = p.apply(nil)
	return p, err
}

// apply changes profiles that a topic has: in each of them what the change names. A topic
// without profiles gets the default one, changed.
func (p *Profile) apply(list []storage.QoS) ([]storage.QoS, error) {
	if list = slices.Clone(list); len(list) == 0 {
		list = []storage.QoS{defaultQoS}
	}
	for i := range list {
		for _, s := range p.settings {
			if err := list[i].Set(s); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// Profiles returns the QoS profiles that a topic of the input has in the output, whose own
// are list.
func (e *Edit) Profiles(topic string, list []storage.QoS) []storage.QoS {
	for i := range e.QoS {
		if p := &e.QoS[i]; p.topic.Match(topic) {
			list, _ = p.apply(list) // NewProfile has tried it
		}
	}
	return list
}

// defaultQoS is the profile of ROS 2 for publishers that ask for no other (rmw,
// rmw_qos_profile_default).
var defaultQoS = storage.QoS{History: storage.HistoryKeepLast, Depth: 10, Reliability: storage.ReliabilityReliable,
	Durability: storage.DurabilityVolatile}
