package cli

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/live"
)

// What --json and --report have of a running system besides the report of the conversion.
type (
	liveJSON struct {
		LateP99NS string      `json:"late_p99_ns,omitempty"` // of play: 99 of 100 messages were sent within this time after they were due
		LateMaxNS string      `json:"late_max_ns,omitempty"` // and all of them
		Topics    []topicLive `json:"topics"`

		// Of play, as they are when all connections are closed.
		Passes          int      `json:"passes,omitempty"`           // how often the recording was played, also from where a viewer has sought
		LostConnections []string `json:"lost_connections,omitempty"` // that ended before the recording did
		Problems        []string `json:"problems,omitempty"`         // of subscribers and viewers
		Dropped         int64    `json:"dropped,omitempty"`          // messages that viewers did not get, because of --drop
	}
	topicLive struct {
		Name      string `json:"name"`
		Messages  int64  `json:"messages"` // received, or sent
		LateP99NS string `json:"late_p99_ns,omitempty"`
		LateMaxNS string `json:"late_max_ns,omitempty"`
		Early     int64  `json:"before_subscriber,omitempty"` // of those that were sent: before the topic had a subscriber
		*topicReceived
	}
	// Of record: a topic of a publisher.
	topicReceived struct {
		Publisher  string `json:"publisher"` // "" if the protocol has none
		Bytes      int64  `json:"bytes"`
		Dropped    int64  `json:"dropped"` // because --buffer was full
		Reconnects int64  `json:"reconnects"`
		SeqGaps    int64  `json:"header_seq_gaps"` // numbers that are missing: a hint
	}
)

// recordedJSON is what became of the topics of a recording.
func recordedJSON(list []live.TopicStats) *liveJSON {
	out := &liveJSON{Topics: []topicLive{}}
	for _, s := range list {
		out.Topics = append(out.Topics, topicLive{Name: s.Name, Messages: s.Messages,
			topicReceived: &topicReceived{Publisher: s.Caller, Bytes: s.Bytes, Dropped: s.Dropped, Reconnects: s.Reconnects, SeqGaps: s.SeqGaps}})
	}
	return out
}

// playedJSON is how late messages were sent.
func playedJSON(clock *live.Clock) *liveJSON {
	lateness, topics := clock.Late()
	text := func(l live.Lateness) (p99, most string) {
		return strconv.FormatInt(int64(l.P99()), 10), strconv.FormatInt(int64(l.Most), 10)
	}
	out := &liveJSON{Topics: []topicLive{}}
	out.LateP99NS, out.LateMaxNS = text(lateness)
	for name, l := range topics {
		t := topicLive{Name: name, Messages: l.Messages}
		t.LateP99NS, t.LateMaxNS = text(l)
		out.Topics = append(out.Topics, t)
	}
	slices.SortFunc(out.Topics, func(a, b topicLive) int { return strings.Compare(a.Name, b.Name) })
	return out
}
