package lerobot

import (
	"fmt"
	"slices"
)

// A Report is what a data set has and how well it goes with its recordings: the file meta/bagconv.json.
type Report struct {
	SchemaVersion int       `json:"schema_version"`
	Notes         []string  `json:"notes"`
	Episodes      []Episode `json:"episodes"`
}

// longestEpisode is from which time on the timestamps of lerobot, which are float32, are further than its tolerance of
// 1e-4 s from the frames, s.
const longestEpisode = 2048

// summarize says what is worth knowing before a data set is trained on.
func summarize(list []Episode, fps int) []string {
	notes := []string{}
	if len(list) == 0 {
		return notes
	}
	frames, shortest, longest := int64(0), list[0].Frames, list[0].Frames
	type total struct {
		repeated, skipped int64
		hold, delay       float64
		worst             int
	}
	var topics []string
	totals := map[string]*total{}
	for _, e := range list {
		frames += e.Frames
		shortest, longest = min(shortest, e.Frames), max(longest, e.Frames)
		for _, s := range e.Streams {
			t := totals[s.Topic]
			if t == nil {
				t = &total{}
				totals[s.Topic], topics = t, append(topics, s.Topic)
			}
			t.repeated, t.skipped = t.repeated+s.Repeated, t.skipped+s.Skipped
			t.delay += s.DelayMS * float64(e.Frames)
			if s.LongestMS > t.hold {
				t.hold, t.worst = s.LongestMS, e.Index
			}
		}
	}
	notes = append(notes, fmt.Sprintf("%d episodes, %d frames, %d to %d in an episode", len(list), frames, shortest,
		longest))
	if long := longest / int64(max(1, fps)); long > longestEpisode {
		notes = append(notes,
			fmt.Sprintf("an episode lasts %d s, and lerobot refuses frames behind the first %d s of one, as its timestamps "+
				"are float32: divide it, such as by a topic or a value", long, longestEpisode))
	}
	slices.Sort(topics)
	for _, name := range topics {
		t := totals[name]
		notes = append(notes,
			fmt.Sprintf("%s: %d frames repeat the message before, %d messages are in no frame; %.1f ms behind on the average, "+
				"%.1f ms at most (episode %d)", name, t.repeated, t.skipped, t.delay/float64(frames), t.hold, t.worst))
	}
	return notes
}
