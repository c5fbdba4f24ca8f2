package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/convert/where"
)

// A partJSON is what has begun and ended a part of split, in its report.
type partJSON struct {
	Way   string  `json:"way"`             // "on", "between" or "by"
	Begun *int64  `json:"begun_ns,string"` // log time of the message that begins it
	Ended *int64  `json:"ended_ns,string"` // of the message that ends it; only of between
	Value *string `json:"value"`           // only of by
	Rest  bool    `json:"rest"`            // it is outside of the episodes
}

// text returns it as the end of a line.
func (p *partJSON) text() string {
	switch {
	case p == nil:
		return ""
	case p.Rest:
		return ", rest"
	case p.Value != nil:
		return ", value " + *p.Value
	case p.Way == "between" && p.Ended == nil:
		return ", without an end"
	case p.Way == "on" && p.Begun == nil:
		return ", before the first event"
	}
	return ""
}

// episode returns what sets conditions of episodes.
func (s *settings) episode(to ...**where.Condition) func(*flags.Flag) error {
	return func(f *flags.Flag) error {
		if len(f.Texts) != len(to) {
			return flags.Usage("give it once", "--%s takes %s", f.Name, phrase.Count(int64(len(to)), "expression"))
		}
		s.split.episodes.Flag = "--" + f.Name
		for i, text := range f.Texts {
			c, err := where.Parse(text)
			if err != nil {
				return err
			}
			if topics := c.Topics(); len(topics) > 1 {
				return flags.Usage("their messages come at different times: name fields of one topic",
					"--%s is about one topic, not %s", f.Name, strings.Join(topics, " and "))
			}
			*to[i] = c
		}
		return nil
	}
}

// setBy sets the expression of --by value.
func (s *settings) setBy(f *flags.Flag) (err error) {
	switch first := f.Texts[0]; {
	case f.String() == "topic" && first == "topic":
		return nil
	case first != "value" && first != "topic":
		return flags.OneOf("--by", first, f.ValueWords()...)
	case first == "topic" || len(f.Texts) != 2:
		return flags.Usage("give it once: --by topic, or --by value /state.mode",
			"--by takes topic, or value and an expression")
	}
	s.split.episodes.Flag = "--by value"
	s.split.episodes.By, err = where.ParseValue(f.Texts[1])
	return err
}

// setRest sets --rest, whose --between comes before.
func (s *settings) setRest(f *flags.Flag) error {
	if s.split.episodes.From == nil && f.String() == "true" {
		return flags.Usage("add --between EXPR EXPR", "--rest has no effect without --between")
	}
	return flags.Put(&s.split.episodes.Rest)(f)
}

// maxValueName is how many bytes of a value a file name has at most.
const maxValueName = 60

// episodeParts finds the parts of --on, --between and --by value.
func (e *env) episodeParts(ctx context.Context, job *convert.Job) (parts []splitPart, err error) {
	ways := &e.set.split.episodes
	list, err := ways.Find(ctx, job.Ref(), &job.Select, job.Threads)
	var many *recording.EpisodesError
	switch {
	case errors.As(err, &many):
		return nil, &failure{path: job.Source, what: ways.Flag + ": " + err.Error(),
			hint: "take a stricter EXPR, or a shorter time with --start and --duration", err: err}
	case errors.Is(err, recording.ErrNoEpisode):
		return nil, &failure{path: job.Source, what: ways.Flag + " " + ways.From.String() + ": " + err.Error(),
			hint: "bagconv cat prints its values", err: err}
	case err != nil:
		return nil, explainSelection(job.Source, err)
	}
	e.set.split.about = map[string]*partJSON{}
	number, rest := 0, 0
	for i := range list {
		ep := &list[i]
		p := splitPart{name: fmt.Sprintf("_%03d", number), window: ep.Window, about: &partJSON{Way: "on", Rest: ep.Rest}}
		if ep.Begun {
			p.about.Begun = &ep.First
		}
		switch {
		case ep.Rest:
			p.name, p.about.Way = fmt.Sprintf("_rest_%03d", rest), "between"
			rest, number = rest+1, number-1
		case ways.By != nil:
			p.about.Way, p.about.Value = "by", &ep.Value
			if name := fileName(ep.Value); name != "" {
				p.name += "_" + name[:min(len(name), maxValueName)]
			}
		case ways.From != nil:
			if p.about.Way = "between"; ep.Ended {
				p.about.Ended = &ep.Last
			}
		}
		number++
		parts = append(parts, p)
	}
	e.warnEpisodes(job.Source, list)
	return parts, nil
}

// warnEpisodes warns of conditions that nothing fulfils.
func (e *env) warnEpisodes(source string, list []recording.Episode) {
	ways := &e.set.split.episodes
	var lines []string
	last := &list[len(list)-1]
	if last.Rest && len(list) > 1 {
		last = &list[len(list)-2]
	}
	switch {
	case ways.On != nil && len(list) == 1 && !list[0].Begun:
		lines = append(lines, fmt.Sprintf("%s: no message fulfils --on %s, and there is one part", source, ways.On))
	case ways.To != nil && !last.Ended:
		lines = append(lines, fmt.Sprintf("%s: the last part has no message that fulfils %s, and goes on to the end", source,
			ways.To))
	}
	if !e.set.quiet {
		e.writeLines("warning", lines)
	}
}
