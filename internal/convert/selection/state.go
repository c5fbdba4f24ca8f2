package selection

import (
	"cmp"
	"slices"

	"github.com/bagconv/bagconv/storage"
)

// A State gathers what a subscriber that comes at a cut would have got of
// latched topics: the last messages before it, as many as Latch.Depth has, and
// for static transforms each message that holds the last transform of a child
// frame. Blocks may be added in any order.
type State struct {
	cut    int64
	topics []*latched // index = storage.TopicID; nil: not asked for
}

// A latched topic keeps the messages that count so far.
type latched struct {
	depth    int
	children func(dst []string, data []byte) ([]string, bool) // frames of a message; nil: no transforms
	total    int64                                            // messages of the topic by the index
	seen     int64

	last  []*latchedMessage          // without children: ascending, at most depth
	owner map[string]*latchedMessage // with children
	names []string                   // scratch
}

type latchedMessage struct {
	at    orderPlace
	topic storage.TopicID
	seq   uint32
	data  []byte
	refs  int // frames that it owns
}

// An orderPlace orders messages as the pipeline does.
type orderPlace struct {
	time         int64
	block, index int
}

func (p orderPlace) compare(o orderPlace) int {
	return cmp.Or(cmp.Compare(p.time, o.time), cmp.Compare(p.block, o.block), cmp.Compare(p.index, o.index))
}

// NewState returns a state that waits for the topics of the choice whose state
// is to be repeated; nil without such topics, and if the choice has no start.
func NewState(info *storage.Info, c *Choice, l *Latch) *State {
	s := &State{cut: c.First, topics: make([]*latched, len(info.Topics))}
	some := false
	for i := range info.Topics {
		t := &info.Topics[i]
		n := l.Depth(&t.Topic)
		if !c.Cut() || !c.Topics[i] || n == 0 || t.Messages == 0 {
			continue
		}
		some = true
		s.topics[i] = &latched{depth: n, total: t.Messages}
		if Static(t.Name) {
			if s.topics[i].children = childFrames(&t.Topic); s.topics[i].children != nil {
				s.topics[i].owner = map[string]*latchedMessage{}
			}
		}
	}
	if !some {
		return nil
	}
	return s
}

// Add looks at the i-th message of a block. It keeps no reference to m.
func (s *State) Add(m *storage.Message, block, i int) {
	l := s.topics[m.Topic]
	if l == nil {
		return
	}
	l.seen++
	if m.LogTime >= s.cut {
		return
	}
	at := orderPlace{m.LogTime, block, i}
	if l.children == nil && len(l.last) == l.depth && at.compare(l.last[0].at) < 0 {
		return
	}
	h := &latchedMessage{at: at, topic: m.Topic, seq: m.Sequence, data: slices.Clone(m.Data)}
	if l.children == nil {
		l.insert(h)
	} else {
		l.own(h)
	}
}

func (l *latched) insert(h *latchedMessage) {
	i, _ := slices.BinarySearchFunc(l.last, h.at, func(a *latchedMessage, at orderPlace) int { return a.at.compare(at) })
	l.last = slices.Insert(l.last, i, h)
	if len(l.last) > l.depth {
		l.last = slices.Delete(l.last, 0, 1)
	}
}

func (l *latched) own(h *latchedMessage) {
	names, ok := l.children(l.names[:0], h.data)
	if l.names = names; !ok { // it is reported once
		names = []string{"\x00" + string(h.data)}
	} else if len(names) == 0 {
		names = []string{""}
	}
	for _, n := range names {
		old := l.owner[n]
		if old != nil && old.at.compare(h.at) > 0 {
			continue
		}
		if old != nil {
			old.refs--
		}
		l.owner[n] = h
		h.refs++
	}
}

// Complete reports whether no message before the time end can change the state any
// more: with math.MaxInt64 no message at all.
func (s *State) Complete(end int64) bool {
	for _, l := range s.topics {
		if l == nil || l.seen >= l.total {
			continue
		}
		if l.children != nil || len(l.last) < l.depth || l.last[0].at.time <= end {
			return false
		}
	}
	return true
}

// Topics lists the topics whose state is asked for.
func (s *State) Topics() (ids []storage.TopicID) {
	for i, l := range s.topics {
		if l != nil {
			ids = append(ids, storage.TopicID(i))
		}
	}
	return ids
}

// Messages returns the state as messages at the time of the cut, in the order in
// which they were recorded. They belong to the caller.
func (s *State) Messages() []storage.Message {
	var all []*latchedMessage
	for _, l := range s.topics {
		if l == nil {
			continue
		}
		all = append(all, l.last...)
		once := map[*latchedMessage]bool{}
		for _, h := range l.owner {
			if !once[h] {
				once[h] = true
				all = append(all, h)
			}
		}
	}
	slices.SortFunc(all, func(a, b *latchedMessage) int { return a.at.compare(b.at) })
	out := make([]storage.Message, len(all))
	for i, h := range all {
		out[i] = storage.Message{Topic: h.topic, LogTime: s.cut, PublishTime: s.cut, Sequence: h.seq, Data: h.data}
	}
	return out
}
