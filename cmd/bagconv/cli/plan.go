package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/internal/convert/tasks"
	"github.com/bagconv/bagconv/internal/iox"
)

// plan writes a task for each recording that it finds.
func (e *env) plan(ctx context.Context) error {
	b := &batchRun{env: e, ctx: ctx, words: e.words}
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
		e.say("%s, %s of recordings", phrase.Count(int64(len(list)), "task"), sizeText(size))
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
			return nil, &failure{path: in.Path, what: "its URL has a password or a query, and a plan does not keep a secret",
				hint: "use bagconv batch, or a store whose credentials come from the environment, such as s3://"}
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

// planCommand is the command plan.
func (e *env) planCommand() flags.Command {
	return flags.Command{
		Name: "plan", Part: manyPart, Call: "plan -O OUT/ IN...", Summary: "list conversions as tasks for many machines",
		About: `Finds all recordings in IN as bagconv batch does, and writes a task for each: a
line of JSON with the source, the output and the flags. Nothing is converted.
bagconv work does tasks, on any machine that has the same files under the same
names, and bagconv collect reports what became of them. docs/scale.md has
examples for Spark, Ray, Dask, Kubernetes, Argo, AWS Batch and Slurm.`,
		Examples: []string{
			"bagconv plan -O out/ drives/ > plan.jsonl",
			"bagconv plan -O out/ drives/ | bagconv work",
			"bagconv plan -O bags/ --to bag --verify content -o plan.jsonl drives/",
		},
		Exits: flags.Exits{
			0: "the plan is written",
			1: "failed, or there is no recording",
		},
		Run: e.plan,
	}
}
