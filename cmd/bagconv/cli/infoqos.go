package cli

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/storage"
)

// qosText returns the quality of service that a topic was offered with, in words; "" if the recording does not have
// it. Durability is not in it: such topics are latched.
func qosText(t *recording.TopicDescription) string {
	var all []string
	for i := range t.QoS {
		if text := qosWords(&t.QoS[i]); text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return strings.Join(all, " / ")
}

// qosWords returns a profile in words, without what is usual or not known.
func qosWords(q *storage.QoSText) string {
	var words []string
	word := func(prefix, value string, usual ...string) {
		if value != "" && value != "unknown" && value != "system_default" && !slices.Contains(usual, value) {
			words = append(words, phrase.Clean(prefix+strings.ReplaceAll(value, "_", " ")))
		}
	}
	word("", q.Reliability)
	word("", q.History, "keep_last")
	if q.Depth > 0 && q.History != "keep_all" {
		words = append(words, fmt.Sprintf("depth %d", q.Depth))
	}
	for _, limit := range [][2]string{{"deadline ", q.DeadlineNS}, {"lifespan ", q.LifespanNS}} {
		if ns, err := strconv.ParseInt(limit[1], 10, 64); err == nil && ns > 0 && ns < math.MaxInt64 { // else it has no limit
			words = append(words, limit[0]+durationText(ns))
		}
	}
	word("liveliness ", q.Liveliness, "automatic")
	return strings.Join(words, ", ")
}

// oneQoS returns the quality of service of all topics, "" if there are several, or only one topic.
func oneQoS(in *recording.Description) (one string) {
	for i := range in.Topics {
		text := qosText(&in.Topics[i])
		if text == "" || i > 0 && text != one {
			return ""
		}
		one = text
	}
	if len(in.Topics) == 1 {
		return ""
	}
	return one
}
