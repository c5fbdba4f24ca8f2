package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/convert/tasks"
	"github.com/bagconv/bagconv/internal/iox"
)

// plan writes a task for each recording that it finds.
func (e *env) plan(c *cli.Context) error {
	b := &batchRun{env: e, ctx: c.Context, words: c.Args().Slice()}
	if err := b.flags(); err != nil {
		return err
	}
	if err := b.find(); err != nil {
		return err
	}
	list, err := b.listTasks()
	if err != nil {
		return err
	}
	if err := writeTasks(e, e.set.output, list); err != nil {
		return err
	}
	if !e.set.quiet {
		size := int64(0)
		for _, in := range b.search.Inputs {
			size += in.Size
		}
		e.say("%s, %s of recordings", count(int64(len(list)), "task"), sizeText(size))
	}
	return nil
}

// listTasks makes the tasks.
func (b *batchRun) listTasks() (list []*tasks.Task, err error) {
	if b.recipe, err = absolute(b.recipe); err != nil {
		return nil, err
	}
	size, err := b.rangeSize()
	if err != nil {
		return nil, err
	}
	for i, path := range b.places(nil) {
		in := b.search.Inputs[i]
		if inputName(in) != in.Path {
			return nil, &failure{path: in.Path, what: "its URL has a password or a query, and a plan does not keep a secret", hint: "use bagconv batch, or a store whose credentials come from the environment, such as s3://"}
		}
		t := b.task(in, path)
		parts := []*tasks.Task{t}
		if size > 0 && in.Format != nil && in.Size > size {
			if parts, err = b.cutTask(t, in, size); err != nil {
				return nil, err
			}
		}
		list = append(list, parts...)
	}
	return list, b.ctx.Err()
}

// writeTasks writes tasks to a file, or to standard output if path is "".
func writeTasks[T any](e *env, path string, list []T) (err error) {
	if path == "" {
		return writeLinesOfJSON(e.Out, list)
	}
	if err := e.onlyTasks(path); err != nil {
		return err
	}
	return iox.Replace(e.fs, path, func(w io.Writer) error { return writeLinesOfJSON(w, list) })
}

func writeLinesOfJSON[T any](w io.Writer, list []T) error {
	out := bufio.NewWriterSize(w, 64<<10)
	for _, v := range list {
		if _, err := out.Write(tasks.Line(v)); err != nil {
			return err
		}
	}
	return out.Flush()
}

// onlyTasks refuses to replace a file that has something else in it than tasks.
func (e *env) onlyTasks(path string) error {
	refused := func(what string, err error) error {
		return &failure{path: path, what: what, hint: "choose another file", err: err}
	}
	st, err := e.fs.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() {
		return refused("it is not a regular file", fs.ErrExist)
	}
	f, err := e.fs.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	err = tasks.EachLine(f, func(n int, line []byte, torn bool) error {
		if _, err := tasks.ParseTask(line); err != nil && !torn {
			return fmt.Errorf("line %d is no task", n)
		}
		return nil
	})
	if err != nil {
		return refused("it exists and is no plan: "+err.Error(), fs.ErrExist)
	}
	return nil
}
