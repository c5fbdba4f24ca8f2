package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/internal/convert/batch"
	"github.com/bagconv/bagconv/internal/stdio"
)

// stream is the word for standard input and standard output.
const stream = "-"

// Commands whose words may be a stream: which read recordings, which write one recording, and which write several
// files.
var (
	streamReaders = strings.Fields("convert filter recover split merge verify export info list check report cat play")
	streamWriters = strings.Fields("convert filter recover merge import record")
	filesWriters  = strings.Fields("split export")
)

// takeStreams puts the names of standard input and output in the place of the word for them.
func (e *env) takeStreams(ctx context.Context) error {
	inputs := e.words
	one, several := slices.Contains(streamWriters, e.command.Name), slices.Contains(filesWriters, e.command.Name)
	if one || several {
		out := &e.set.output
		if *out == "" && len(inputs) > 1 {
			out, inputs = &inputs[len(inputs)-1], inputs[:len(inputs)-1]
		}
		switch {
		case *out != stream:
		case several:
			return flags.Usage("give the name of a folder", "what %s writes cannot be written to standard output",
				e.command.Name)
		default:
			if err := e.checkStreamOut(); err != nil {
				return err
			}
			*out = stdio.Out
		}
	}
	if !slices.Contains(streamReaders, e.command.Name) {
		return nil
	}
	for i, word := range inputs {
		switch {
		case word != stream:
		case slices.Contains(inputs[:i], stdio.In):
			return flags.Usage("name it once", "standard input is named twice")
		default:
			if err := e.keepInput(ctx); err != nil {
				return err
			}
			inputs[i] = stdio.In
		}
	}
	return nil
}

// checkStreamOut refuses what does not go together with a recording on standard output.
func (e *env) checkStreamOut() error {
	switch {
	case e.OutTerminal:
		return flags.Usage("send it to a program or a file: bagconv IN - --to "+e.streamable()+" | ...",
			"a recording is not written to a terminal")
	case e.set.json, e.set.report == stream:
		return flags.Usage("write the report to a file: --report FILE",
			"standard output cannot have a recording and a report")
	case e.command.IsSet("verify"):
		return flags.Usage("write a file", "--verify reads the output again, and standard output cannot be read")
	}
	return nil
}

// streamable returns the name of a format that goes out as it grows.
func (e *env) streamable() string {
	for _, f := range e.formats.Writable() {
		if f.Layout.Streamable {
			return f.Name
		}
	}
	return ""
}

// keepRoom is how much room is left in the folder for temporary files, in bytes.
const keepRoom = 256 << 20

// keepInput makes standard input a recording that can be read at any place.
func (e *env) keepInput(ctx context.Context) error {
	dir, limit := os.TempDir(), int64(math.MaxInt64-1)
	if free, known := batch.FreeSpace(dir); known {
		limit = max(0, free-keepRoom)
	}
	var n int64
	done := make(chan error, 1)
	go func() {
		var err error
		n, err = e.streams.Keep(os.Stdin, dir, limit)
		done <- err
	}()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done(): // the read that waits for the other program ends with the process
		return ctx.Err()
	}
	switch {
	case errors.Is(err, stdio.ErrTooLong):
		return &failure{path: stdio.In, err: err, hint: "the variable TMPDIR names a folder with more room",
			what: fmt.Sprintf("it is longer than what may be kept in %s, %s", dir, sizeText(limit))}
	case err != nil:
		return &failure{path: stdio.In, what: "it cannot be kept in " + dir + ": " + explain(err), err: err}
	case n > 0:
		e.writeLines("note", []string{fmt.Sprintf("%s: kept in %s until the end of the run (%s), as a recording is read at "+
			"several places", stdio.In, dir, sizeText(n))})
	}
	return nil
}
