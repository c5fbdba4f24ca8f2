package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/internal/convert/batch"
	"github.com/bagconv/bagconv/internal/convert/tasks"
	"github.com/bagconv/bagconv/internal/guard"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/ordered"
	"github.com/bagconv/bagconv/internal/remote"
	"github.com/bagconv/bagconv/storage"
)

// find finds the inputs.
func (b *batchRun) find() error {
	words, err := b.inputWords()
	if err != nil {
		return err
	}
	finder := batch.Finder{FS: b.fs, Formats: b.formats, Detect: b.detect, Skip: []string{b.out}}
	if base := b.set.batch.base; base != "" {
		if finder.Base, err = iox.Abs(base); err != nil {
			return err
		}
	}
	if err := b.checkWords(b.words); err != nil {
		return err
	}
	if b.search, err = finder.Find(words); err != nil {
		return flags.Usage("see: bagconv help batch", "%v", err)
	}
	if len(b.search.Inputs) == 0 && len(b.search.Passed) > 0 {
		return flags.Usage("choose another folder", "%s is the output folder; recordings in it are not inputs",
			phrase.Clean(b.displayPath(b.out)))
	}
	if len(b.search.Inputs) == 0 {
		return &failure{path: strings.Join(words, ", "), what: "there is no recording in it",
			hint: "bagconv formats lists what can be read", err: fs.ErrNotExist}
	}
	b.guard = guard.New(b.fs, b.fs, b.formats.Known()...)
	for _, in := range b.search.Inputs {
		if in.Format != nil {
			b.guard.Keep(in.Format, in.Path)
		}
		if in.Path == b.out {
			return flags.Usage("choose another folder", "%s is both an input and the output folder",
				phrase.Clean(b.displayPath(b.out)))
		}
		if finder.Base != "" && !strings.HasPrefix(in.Path, strings.TrimSuffix(finder.Base, string(os.PathSeparator))+
			string(os.PathSeparator)) {
			return flags.Usage("omit --base, or name a folder that contains all inputs", "%s is not below --base %s",
				phrase.Clean(b.displayPath(in.Path)), phrase.Clean(b.set.batch.base))
		}
	}
	return nil
}

// checkWords refuses a line on which no name stands for anything, before a folder
// is made for its outputs.
func (b *batchRun) checkWords(words []string) error {
	var missing error
	for _, word := range words {
		_, err := b.formats.DetectIn(b.fs, word)
		if strings.HasPrefix(word, "@") || strings.ContainsAny(word, "*?[") || !errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if missing == nil {
			missing = &failure{path: word, what: "no such file or folder", hint: b.suggestPath(word), err: err}
		}
	}
	return missing
}

// inputWords returns the words of the line, and the words in the lists that it names.
func (b *batchRun) inputWords() (words []string, err error) {
	lists := slices.Clone(b.set.batch.includeFrom)
	for _, word := range b.words {
		if name, is := strings.CutPrefix(word, "@"); is {
			lists = append(lists, name)
			continue
		}
		if word == "" {
			return nil, flags.Usage("is a shell variable empty?", "the name of an input is empty")
		}
		words = append(words, word)
	}
	for _, name := range lists {
		text, err := b.readList(name)
		if err != nil {
			return nil, &failure{path: name, what: "the list cannot be read: " + plainError(err).Error(),
				hint: "write a file whose name begins with @ as ./@name", err: err}
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimRight(line, "\r\n")
			if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
				continue
			}
			word, err := remote.Name(line)
			if err != nil {
				return nil, &flags.UsageError{What: phrase.Clean(name) + ": " + phrase.Clean(err.Error())}
			}
			words = append(words, word)
		}
	}
	if len(words) == 0 {
		if len(lists) > 0 {
			return nil, flags.Usage("a list has a file, folder or glob per line", "there is no input in %s",
				phrase.Clean(strings.Join(lists, ", ")))
		}
		return nil, flags.Usage("type for example: bagconv "+b.command.Name+" -O OUT/ drives/", "no input given")
	}
	return words, nil
}

// maxList is how large a list of inputs may be, in bytes: names of a million
// files.
const maxList = 256 << 20

func (b *batchRun) readList(name string) ([]byte, error) {
	text, err := readSome(b.fs, name, maxList)
	if err == nil && len(text) > maxList {
		err = fmt.Errorf("it has more than %s", sizeText(maxList))
	}
	return text, err
}

// plan reports what is to be done with each input.
func (b *batchRun) plan(m *batch.Manifest) error {
	before, kept := map[string]*batch.Entry{}, map[string]string{}
	paths := map[string]string{}
	for _, in := range b.search.Inputs {
		paths[inputName(in)] = in.Path
	}
	for i, e := range m.Entries() {
		before[e.Input] = &m.Entries()[i]
		if dir, err := filepath.Rel(b.out, e.Output); err == nil && filepath.IsLocal(dir) &&
			e.Format == b.job.SinkFormat.Name {
			kept[cmp.Or(paths[e.Input], e.Input)] = e.Output
		}
	}
	for i, path := range b.places(kept) {
		in := b.search.Inputs[i]
		b.items = append(b.items, &batchItem{Input: in, task: b.task(in, path), action: "convert"})
	}
	if err := b.loadReceipts(); err != nil {
		return err
	}
	for _, item := range b.items {
		err := item.Err
		if err == nil {
			err = b.refused(item)
		}
		if err == nil {
			err = b.compare(item, before[inputName(item.Input)])
		} else {
			item.action, item.reason, err = "fail", explain(err), nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// compare decides what is to be done with an input by its line in the manifest, which may be nil, and the receipt of
// its output.
func (b *batchRun) compare(item *batchItem, old *batch.Entry) (err error) {
	r := item.receipt
	item.replace = item.killed() || b.set.batch.resume && r.MayReplace(b.fs)
	if old != nil {
		if item.reason, err = b.repeatReason(item, old); err != nil {
			return err
		}
		ours := old.Done() && old.Output == item.task.Output && old.Stands(b.fs) // nobody has changed it since
		item.replace = item.replace || ours
	}
	switch {
	case old != nil && item.reason == "":
		item.action, item.entry = "skip", old
	case b.set.batch.resume && r.DoneBy(b.fs, item.task, b.set.verified) && (!b.set.batch.checksum || r.SHA256 != ""):
		item.action, item.entry, item.adopted, item.reason = "skip", &r.Entry, true, ""
	}
	return nil
}

// receiptReaders is how many receipts are read at a time: stores have a high latency.
const receiptReaders = 16

// readReceipts calls read with the numbers from one to before another.
func readReceipts(ctx context.Context, from, to int, read func(i int) error) error {
	return ordered.Line[int]{Workers: receiptReaders, Next: func() (i int, _ int64, ok bool) {
		i = from
		from++
		return i, 0, i < to
	}, Work: func(_, i int) error { return read(i) }}.Run(ctx)
}

// loadReceipts finds the receipts of the outputs.
func (b *batchRun) loadReceipts() error {
	listed, err := b.receipts.Listed(b.out)
	if err != nil {
		return err
	}
	return readReceipts(b.ctx, 0, len(b.items), func(i int) error {
		item := b.items[i]
		if !listed(item.task) {
			return nil
		}
		r, err := b.receipts.Load(item.task)
		if r != nil && (r.Manifest == "" || r.Manifest == b.manifest) { // not of a batch that may be running
			item.receipt = r
		}
		return err
	})
}

// task returns the task of an input.
func (b *batchRun) task(in *batch.Input, output string) *tasks.Task {
	t := &tasks.Task{
		SchemaVersion: tasks.TaskVersion, Source: inputName(in), Size: in.Size, ModTime: in.ModTime,
		OutputDir: b.out, Output: output, Recipe: *b.recipe,
	}
	if in.Format != nil {
		t.SourceFormat = in.Format.Name
	}
	t.SetID()
	return t
}

// inputName returns the name of an input in manifests: a URL without its secret, which may differ next
// time.
func inputName(in *batch.Input) string { return iox.Canonical(remote.Show(in.Path)) }

// places returns the output of each input; kept has the inputs that stay where they are.
func (b *batchRun) places(kept map[string]string) []string {
	ext := ""
	if f := b.job.SinkFormat; !f.Layout.Folder && len(f.Extensions) > 0 {
		ext = f.Extensions[0]
	}
	list := batch.Place(b.search.Inputs, b.out, ext, kept)
	if !b.set.quiet && !iox.IsURL(b.out) {
		var lines []string
		for i, in := range b.search.Inputs {
			if iox.IsURL(in.Path) && batch.Harmless(in.Name) != in.Name {
				lines = append(lines,
					fmt.Sprintf("%s: the output has another name, with _ in the place of characters that are not printed: %s", in.Path,
						b.displayPath(list[i])))
			}
		}
		b.writeLines("note", lines)
	}
	return list
}

// refused opens a folder in a dry run, to report one that cannot be read. Opening takes
// little time.
func (b *batchRun) refused(item *batchItem) error {
	if st, err := b.fs.Stat(item.Path); !b.set.batch.dryRun || err != nil || !st.IsDir() {
		return nil
	}
	r, err := item.Format.Open(b.ctx, item.Path, storage.ReadOptions{FS: b.fs, InfoOnlyAbove: 1, Key: b.set.job.Read.Key})
	if err != nil {
		return err
	}
	return r.Close()
}

// repeatReason returns why an input that the manifest has is converted again, "" when it
// is not.
func (b *batchRun) repeatReason(item *batchItem, old *batch.Entry) (string, error) {
	switch {
	case item.killed():
		return "a run was killed while it wrote its output", nil
	case !old.Done():
		return "it failed before", nil
	case old.Format != b.job.SinkFormat.Name || old.Output != item.task.Output:
		return "it was converted to " + old.Format + " before", nil
	case !slices.Equal(old.Options, b.options):
		return "it was converted with other flags or definitions before", nil
	case b.set.verified != "" && old.Verified != b.set.verified:
		return "it was not verified at this level before", nil
	case old.Status == batch.StatusNoTopics:
		// there is no output that could have changed
	case old.Gone(b.fs):
		return "its output is gone", nil
	case !old.Stands(b.fs):
		return "its output has changed", nil
	}
	switch {
	case old.Size != item.Size:
		return "its size has changed", nil
	case !b.set.batch.checksum:
		if !old.ModTime.Equal(item.ModTime) {
			return "its time has changed", nil
		}
		return "", nil
	}
	hash, err := item.Hash(b.ctx)
	if err != nil && b.ctx.Err() != nil {
		return "", err
	}
	if err != nil || hash != old.SHA256 {
		return "its hash has changed or is not known", nil
	}
	return "", nil
}

// explainManifest adds the next step to an error about the manifest.
func (b *batchRun) explainManifest(err error) error {
	path := b.displayPath(b.manifest)
	switch {
	case errors.Is(err, fs.ErrExist):
		return &failure{path: path, what: "a batch has written here before",
			hint: "--resume continues it, --force starts again", err: err}
	case errors.Is(err, batch.ErrRunning):
		return &failure{
			path: path, what: batch.ErrRunning.Error(), err: err,
			hint: "wait for it to end, or choose another --manifest and output folder",
		}
	case errors.Is(err, batch.ErrNoManifest):
		var pe *fs.PathError
		if errors.As(err, &pe) {
			return &failure{path: b.displayPath(pe.Path), what: pe.Err.Error(), hint: "choose another --manifest", err: err}
		}
	}
	return fmt.Errorf("the manifest: %w", err)
}
