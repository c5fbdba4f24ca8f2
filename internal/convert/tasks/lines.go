package tasks

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/bagconv/bagconv/internal/convert/recipe"
)

// MaxLine is how long a line may be, in bytes.
const MaxLine = 4 << 20

// EachLine calls f with each line that is not empty, with its number from 1. torn is
// set for a last line without an end. It ends with the first error of f. The line is
// valid until f returns.
func EachLine(r io.Reader, f func(n int, line []byte, torn bool) error) error {
	in := bufio.NewReaderSize(r, 64<<10)
	var long []byte
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		long = long[:0]
		for errors.Is(err, bufio.ErrBufferFull) {
			if long = append(long, line...); len(long) > MaxLine {
				return fmt.Errorf("line %d has more than %d bytes", n, MaxLine)
			}
			line, err = in.ReadSlice('\n')
		}
		if len(long) > 0 {
			line = append(long, line...)
		}
		if err != nil && err != io.EOF {
			return err
		}
		if text := bytes.TrimSpace(line); len(text) > 0 {
			if err := f(n, text, err == io.EOF); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}

// ParseTask reads a line of a plan.
func ParseTask(line []byte) (*Task, error) {
	var read struct {
		Task
		Format      string   // of version 1
		Flags       []string // all of the line of plan, as --name=value
		Definitions string   // the content of the recipe
	}
	if err := json.Unmarshal(line, &read); err != nil {
		return nil, fmt.Errorf("not a task: %w", err)
	}
	t := &read.Task
	if t.SchemaVersion == 1 {
		t.SchemaVersion, t.Recipe = TaskVersion, recipe.Recipe{Format: read.Format, Settings: []recipe.Setting{},
			Content: read.Definitions, Run: []recipe.Setting{}}
		for _, text := range read.Flags {
			s, err := recipe.ParseSetting(text)
			if err != nil {
				return nil, fmt.Errorf("not a task: its flags: %w", err)
			}
			if s.Name != "to" { // the format is the same, or another that the flags asked for
				t.Recipe.Settings = append(t.Recipe.Settings, s)
			}
		}
	}
	t.canonical()
	return t, t.Check()
}

// ReadPlan reads tasks. A line that is torn or not of a plan is an error with its number.
func ReadPlan(r io.Reader) (list []*Task, err error) {
	err = EachLine(r, func(n int, line []byte, _ bool) error {
		t, err := ParseTask(line)
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		list = append(list, t)
		return nil
	})
	return list, err
}

// ParseResult reads a line of results, nil for other lines.
func ParseResult(line []byte) *Result {
	r := &Result{}
	if json.Unmarshal(line, r) != nil || r.SchemaVersion != ResultVersion || r.Task == "" || r.Status == "" {
		return nil
	}
	r.Canonical()
	return r
}

// ReadResults calls f with each result of a file of results, and its line, which is valid until f
// returns. Lines of something else, and a last one that is torn, are counted.
func ReadResults(r io.Reader, f func(*Result, []byte)) (others int, err error) {
	err = EachLine(r, func(_ int, line []byte, _ bool) error {
		if res := ParseResult(line); res != nil {
			f(res, line)
		} else {
			others++
		}
		return nil
	})
	return others, err
}
