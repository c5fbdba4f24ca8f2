package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/formats/all"
)

// The functions of the Python package that take flags as keywords, and what these set themselves.
var pythonCommands = []struct {
	name, command string
	without       []string // flags that are arguments of their own, or make no sense there
}{
	{"ConvertFlags", "convert", nil},
	{"CutFlags", "convert", []string{"start", "end"}},
	{"ExportFlags", "export", nil},
	{"MergeFlags", "merge", nil},
	{"SplitFlags", "split", nil},
	{"VerifyFlags", "verify", nil},
	{"CheckFlags", "check", nil},
	{"ImportFlags", "import", []string{"like", "defs", "distro", "to", "force", "format", "topic", "type"}},
}

var notOfPython = []string{
	"json", "report", "progress", "quiet", "color", "help", "version", "output", "output-dir", "verbose", "guess",
	"make-spec", "no-timeline",
}

// flagTypes returns python/bagconv/_flagtypes.py.
func flagTypes(e *env) string {
	var b strings.Builder
	b.WriteString(`"""The flags of each command as keywords, for type checkers and editors. Not imported when a program runs.

Made from the table of flags: go test ./cmd/bagconv/cli -run FlagDocs -update
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, TypedDict, Union

if TYPE_CHECKING:
    import numpy as np

    from ._times import Time as Time

    Value = Union[str, int, float, "os.PathLike[str]", datetime, timedelta, np.datetime64, np.timedelta64, None]
    Values = Union[Value, Sequence[Value], Mapping[Any, Any]]
else:
    Time = Value = Values = Any
`)
	table := e.flagTable()
	for _, c := range pythonCommands {
		fmt.Fprintf(&b, "\n\nclass %s(TypedDict, total=False):\n", c.name)
		seen := map[string]bool{}
		for _, f := range table {
			if !f.TakenBy(c.command) || seen[f.Name] || slices.Contains(notOfPython, f.Name) ||
				slices.Contains(c.without, f.Name) {
				continue
			}
			seen[f.Name] = true
			names := pythonNames(f.Name)
			for _, old := range f.Old {
				names = append(names, pythonNames(old)...)
			}
			for _, name := range names {
				line := fmt.Sprintf("    %s: %s  # %s", name, pythonType(f), e.expand(f.Summary()))
				if len(line) > 120 {
					line = line[:strings.LastIndexByte(line[:117], ' ')] + " ..."
				}
				b.WriteString(line + "\n")
			}
		}
	}
	return b.String()
}

// pythonNames returns the keywords for a flag.
func pythonNames(name string) []string {
	key := strings.ReplaceAll(name, "-", "_")
	switch key {
	case "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else",
		"except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or",
		"pass", "raise", "return", "try", "while", "with", "yield": // keywords of Python
		return []string{key + "_"}
	case "topic", "exclude_topic", "type", "exclude_type":
		return []string{key, key + "s"}
	}
	return []string{key}
}

// pythonType returns the type of a keyword.
func pythonType(f *flags.Flag) string {
	switch {
	case f.Kind == flags.OnOff:
		return "bool | None"
	case f.Name == "start" || f.Name == "end":
		return "Time"
	case f.Several || f.Second != "" || f.Kind == flags.SomeWords || f.Name == "at":
		return "Values"
	case f.Kind == flags.OneWord:
		return "str | None"
	case f.Kind == flags.Number:
		return "int | None"
	}
	return "Value"
}

// TestFlagDocsPython: python/bagconv/_flagtypes.py has a keyword for each flag of the program. With -update it is
// written.
func TestFlagDocsPython(t *testing.T) {
	const path = "../../../python/bagconv/_flagtypes.py"
	want := flagTypes(&env{formats: withExports(all.Registry())})
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s has other flags: go test ./cmd/bagconv/cli -run FlagDocs -update", path)
	}
}
