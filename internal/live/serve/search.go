package serve

import (
	"context"
	"strings"
	"sync"
	"time"
)

// searchTime is how long a search opens recordings whose topics are not known yet. The next one goes on.
const searchTime = 2 * time.Second

// maxTopics is how many recordings topics are remembered of, and maxLines of how many topics of each.
const (
	maxTopics = 10_000
	maxLines  = 1000
	maxShown  = 5 // topics of a recording that are shown, because they match
)

// topics remembers what recordings have, by the etag of their first file.
type topics struct {
	mu    sync.Mutex
	known map[string][]string
}

// A match is a recording with all words of a search.
type match struct {
	rec    *Recording
	topics []string // of these words
}

// search returns the recordings that have all words in their name, their format, or their topics and types, and how
// many there was no time to open.
func (s *Server) search(ctx context.Context, list []Recording, query string) (found []match, unread int) {
	words := strings.Fields(strings.ToLower(query))
	ctx, cancel := context.WithTimeout(ctx, searchTime)
	defer cancel()
	for i := range list {
		rec := &list[i]
		about := strings.ToLower(rec.Name + " " + rec.Format.Name)
		if len(words) == 0 || hasAll(about, words) {
			found = append(found, match{rec: rec})
			continue
		}
		lines, ok := s.topics.find(ctx, &s.config, rec)
		if !ok {
			unread++
			continue
		}
		all := strings.ToLower(strings.Join(lines, "\n"))
		if !hasAll(about+"\n"+all, words) {
			continue
		}
		m := match{rec: rec}
		for _, line := range lines {
			if len(m.topics) < maxShown && hasAny(strings.ToLower(line), words) {
				m.topics = append(m.topics, line)
			}
		}
		found = append(found, m)
	}
	return found, unread
}

func hasAll(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

func hasAny(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// find returns the topics of a recording; false if there was no time to read them. One that cannot be read has none.
func (k *topics) find(ctx context.Context, config *Config, rec *Recording) ([]string, bool) {
	if config.Topics == nil || len(rec.Files) == 0 {
		return nil, true
	}
	st, err := config.FS.Stat(rec.Files[0].Path)
	if err != nil {
		return nil, true // it is gone
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	tag := etag(rec.Files[0].Path, st)
	if lines, ok := k.known[tag]; ok {
		return lines, true
	}
	if ctx.Err() != nil {
		return nil, false
	}
	lines, err := config.Topics(ctx, *rec)
	if ctx.Err() != nil {
		return nil, false
	}
	if err != nil {
		lines = nil
	}
	if len(k.known) >= maxTopics || k.known == nil {
		k.known = map[string][]string{}
	}
	k.known[tag] = lines[:min(len(lines), maxLines)]
	return k.known[tag], true
}
