package cli

import (
	"errors"

	"github.com/urfave/cli/v2"

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

// explainSelection turns an error of Selection.Resolve or Edit.Check into one
// about the recording at path, with the next step; other errors pass.
func explainSelection(path string, err error) error {
	var unknown *selection.UnknownError
	var empty *selection.EmptyError
	switch {
	case errors.As(err, &unknown):
		hint := "bagconv topics lists what it has"
		if near := nearest(unknown.Pattern, unknown.Known); near != "" {
			hint = "did you mean " + near + "?"
		}
		return &failure{path: path, what: clean(unknown.Error()), hint: clean(hint), err: err}
	case errors.As(err, &empty):
		return &failure{path: path, what: empty.Error(), err: err}
	}
	return err
}
