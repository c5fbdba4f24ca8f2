package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/selection"
)

// selectFlags say which messages are taken: of which topics, from when to when.
// selectionOf reads them.
func selectFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "topic", Aliases: []string{"t"}, Usage: "a topic, a glob, or re: and an expression"},
		&cli.StringSliceFlag{Name: "exclude-topic", Aliases: []string{"x"}, Usage: "a topic, a glob, or re: and an expression"},
		&cli.StringSliceFlag{Name: "type", Usage: "a message type, a glob, or re: and an expression"},
		&cli.StringSliceFlag{Name: "exclude-type", Usage: "a message type, a glob, or re: and an expression"},
		&cli.StringFlag{Name: "start", Aliases: []string{"S"}, Usage: "a time, such as 10s, -30s or 2024-05-01T12:00:00Z"},
		&cli.StringFlag{Name: "end", Aliases: []string{"E"}, Usage: "a time, such as 10s, -30s or 2024-05-01T12:00:00Z"},
		&cli.StringFlag{Name: "duration", Aliases: []string{"u"}, Usage: "a duration, such as 10s or 1m30s"},
	}
}

// selectionOf takes the flags of selectFlags. Errors are usage errors. What the
// selection means for a recording, Selection.Resolve says; its errors go
// through explainSelection.
func selectionOf(c *cli.Context) (selection.Selection, error) {
	var s selection.Selection
	var err error
	patterns := func(flag string) []selection.Pattern {
		return parseEach(c, flag, flag, selection.ParsePattern, &err)
	}
	s.Topics, s.ExcludeTopics = patterns("topic"), patterns("exclude-topic")
	s.Types, s.ExcludeTypes = patterns("type"), patterns("exclude-type")
	s.Start, s.End = parseOne(c, "start", selection.ParseTime, &err), parseOne(c, "end", selection.ParseTime, &err)
	s.Duration = parseOne(c, "duration", selection.ParseDuration, &err)
	if err == nil && s.Duration > 0 && s.End.Set() {
		err = usage("leave one of them out", "--duration and --end both say where to stop")
	}
	return s, err
}

// parseOne reads the value of a flag that is given at most once.
func parseOne[T any](c *cli.Context, flag string, parse func(string) (T, error), failed *error) T {
	var v T
	if !c.IsSet(flag) || *failed != nil {
		return v
	}
	v, err := parse(c.String(flag))
	if err != nil {
		*failed = usage("", "--%s: %v", flag, err)
	}
	return v
}

// parseEach reads the values of a flag that may be given several times; name is
// what an error calls it.
func parseEach[T any](c *cli.Context, flag, name string, parse func(string) (T, error), failed *error) (values []T) {
	for _, s := range c.StringSlice(flag) {
		v, err := parse(s)
		if err != nil && *failed == nil {
			*failed = usage("", "--%s: %v", name, err)
		}
		values = append(values, v)
	}
	return values
}

// explainSelection turns an error of Selection.Resolve or Edit.Check, or
// convert.ErrNothing, into one about the recording at path, with the next step;
// other errors pass.
func explainSelection(path string, err error) error {
	var unknown *selection.UnknownError
	var empty *selection.EmptyError
	switch {
	case errors.As(err, &unknown):
		hint := "bagconv topics lists what it has"
		names := strings.Split(unknown.Pattern, ",")
		several := len(names) > 1 && !slices.ContainsFunc(names, func(s string) bool { return !slices.Contains(unknown.Known, s) })
		if unknown.LeftOut {
			hint = "leave one of the two flags out"
		} else if several {
			hint = "give the flag once for each: " + unknown.Flag + " " + strings.Join(names, " "+unknown.Flag+" ")
		} else if near := suggest(unknown.Pattern, unknown.Known); near != "" {
			hint = "did you mean " + near + "?"
		}
		return &failure{path: path, what: clean(unknown.Error()), hint: clean(hint), err: err}
	case errors.Is(err, convert.ErrNothing):
		return &failure{path: path, what: err.Error(), hint: "bagconv info shows its topics and times", err: err}
	case errors.As(err, &empty):
		return &failure{path: path, what: empty.Error(), err: err}
	}
	return err
}

// editFlags say what is changed of the messages that are taken; for commands
// that write.
func editFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "remap", Aliases: []string{"m"}, Usage: "OLD:=NEW, such as /camera/*:=/cam/*"},
		&cli.StringFlag{Name: "prefix", Usage: "what to put before all topics, such as /robot1"},
		&cli.StringSliceFlag{Name: "throttle", Usage: "TOPIC=HZ, such as /imu=10"},
		&cli.StringSliceFlag{Name: "every", Usage: "TOPIC=N, such as /camera/*=3"},
		&cli.StringFlag{Name: "restamp", Usage: "header or log"},
		&cli.StringFlag{Name: "offset", Usage: "a duration, such as +0.3s or -1h"},
		&cli.StringSliceFlag{Name: "latch", Usage: "auto, none, or a topic"},
	}
}

// editOf takes the flags of editFlags. Errors are usage errors.
func editOf(c *cli.Context) (selection.Edit, error) {
	var err error
	e := selection.Edit{
		Remap:  parseEach(c, "remap", "remap", selection.ParseRename, &err),
		Prefix: c.String("prefix"),
		Offset: parseOne(c, "offset", selection.ParseOffset, &err),
	}
	e.Rates = append(parseEach(c, "throttle", "throttle", selection.ParseThrottle, &err),
		parseEach(c, "every", "every", selection.ParseEvery, &err)...)
	if err == nil && c.IsSet("prefix") && strings.Trim(e.Prefix, "/") == "" {
		err = usage("type for example --prefix /robot1", "--prefix %q puts nothing before the names", e.Prefix)
	}
	if err != nil {
		return e, err
	}
	if e.Latch, err = selection.ParseLatch(c.StringSlice("latch")); err != nil {
		return e, usage("", "--latch: %v", err)
	}
	switch s := c.String("restamp"); s {
	case "":
	case "header":
		e.Restamp = selection.RestampHeader
	case "log":
		e.Restamp = selection.RestampLog
	default:
		return e, oneOf("--restamp", s, "header", "log")
	}
	return e, nil
}

// selectionJSON is what was taken; null where everything was.
type selectionJSON struct {
	StartNS *string  `json:"start_ns"` // null: from the beginning
	EndNS   *string  `json:"end_ns"`   // the first that does not belong to it; null: to the end
	LeftOut []string `json:"left_out_topics"`
}

func selectionResult(s *convert.Selection) *selectionJSON {
	if s == nil {
		return nil
	}
	out := &selectionJSON{LeftOut: append([]string{}, s.LeftOut...)}
	if s.First != math.MinInt64 {
		text := strconv.FormatInt(s.First, 10)
		out.StartNS = &text
	}
	if s.Last != math.MaxInt64 {
		text := strconv.FormatInt(s.Last+1, 10)
		out.EndNS = &text
	}
	return out
}

// selectedText says what was taken: "3 of 12 topics, from ... to ...; 2 messages
// repeated at the start". "" when that is everything.
func selectedText(r *resultJSON) string {
	var parts []string
	if s := r.Selection; s != nil {
		names := map[string]bool{}
		for _, t := range r.Topics {
			names[t.Name] = true
		}
		of := len(names)
		for _, n := range s.LeftOut {
			if !names[n] {
				of++
			}
		}
		parts = append(parts, fmt.Sprintf("%d of %s%s", len(names), count(int64(of), "topic"), s.timeText()))
	}
	var thinned, repeated int64
	for _, t := range r.Topics {
		thinned, repeated = thinned+t.Thinned, repeated+t.Repeated
	}
	if thinned > 0 {
		parts = append(parts, count(thinned, "message")+" left out by --throttle or --every")
	}
	if repeated > 0 {
		parts = append(parts, count(repeated, "latched message")+" from before repeated at the start")
	}
	return strings.Join(parts, "; ")
}

// timeText is ", from TIME, until TIME", as far as the selection has bounds.
func (s *selectionJSON) timeText() (text string) {
	if s.StartNS != nil {
		text += ", from " + whenText(*s.StartNS)
	}
	if s.EndNS != nil {
		text += ", until " + whenText(*s.EndNS)
	}
	return text
}

func whenText(s string) string {
	ns, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return s
	}
	return timeText(ns)
}
