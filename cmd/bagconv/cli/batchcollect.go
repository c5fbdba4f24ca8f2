package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/convert/batch"
	"github.com/bagconv/bagconv/convert/tasks"
)

// collectWord is the first word of a line of batch that joins the manifests of shares.
const collectWord = "collect"

// The JSON of batch collect --json, documented in docs/cli.md.
type batchCollectJSON struct {
	SchemaVersion int      `json:"schema_version"`
	Status        string   `json:"status"` // "ok", "lossy" or "failed"
	ExitStatus    int      `json:"exit_status"`
	Manifest      string   `json:"manifest"`
	Shards        int      `json:"shards"`         // there must be
	MissingShards []int    `json:"missing_shards"` // that have no manifest
	Unfinished    []int    `json:"unfinished"`     // that run, or were killed
	Inputs        int      `json:"inputs"`         // with a line
	OK            int      `json:"ok"`
	Lossy         int      `json:"lossy"`
	Failed        int      `json:"failed"`
	Missing       []string `json:"missing"` // inputs without a line
}

// collect joins the manifests of the shares of a batch, and reports what is missing.
func (b *batchRun) collect() error {
	sum := &batchCollectJSON{SchemaVersion: schemaVersion, Manifest: b.manifest, MissingShards: []int{}, Unfinished: []int{}, Missing: []string{}}
	if err := b.countShards(sum); err != nil {
		return err
	}
	if _, err := batch.Read(b.fs, b.manifest, true, true); err != nil {
		return b.explainManifest(err)
	}
	var entries []batch.Entry
	at := map[string]int{}
	for i := range sum.Shards {
		list, err := b.readShard(sum, tasks.Shard{Index: i, Count: sum.Shards})
		if err != nil {
			return err
		}
		for _, e := range list {
			k, seen := at[e.Input]
			switch {
			case !seen:
				at[e.Input] = len(entries)
				entries = append(entries, e)
			case !entries[k].Done(): // the shares have changed between runs
				entries[k] = e
			}
		}
	}
	if err := b.findMissing(sum, at); err != nil {
		return err
	}
	slices.SortFunc(entries, func(a, b batch.Entry) int { return strings.Compare(a.Input, b.Input) })
	err := b.replaceFile(b.manifest, func(w io.Writer) error {
		out := bufio.NewWriterSize(w, 64<<10)
		for i := range entries {
			if _, err := out.Write(tasks.Line(&entries[i])); err != nil {
				return err
			}
		}
		return out.Flush()
	})
	if err != nil {
		return err
	}
	return b.reportCollected(sum, entries)
}

// countShards finds how many shares there are, by the names of their manifests.
func (b *batchRun) countShards(sum *batchCollectJSON) error {
	dir, base := filepath.Split(b.manifest)
	names, err := b.fs.ReadDir(filepath.Clean(dir))
	if err != nil {
		return err
	}
	for _, e := range names {
		rest, ok := strings.CutPrefix(e.Name(), base+".shard-")
		if !ok {
			continue
		}
		s, err := tasks.ParseShard(strings.Replace(rest, "-of-", "/", 1))
		if err != nil || e.Name() != filepath.Base(tasks.ShardName(b.manifest, s)) {
			continue // such as one that is running
		}
		if sum.Shards != 0 && s.Count != sum.Shards {
			return &failure{path: b.displayPath(b.manifest), what: fmt.Sprintf("there are manifests of %d shares and of %d", sum.Shards, s.Count), hint: "remove those of the batch that is not meant", err: fs.ErrExist}
		}
		sum.Shards = s.Count
	}
	if sum.Shards == 0 {
		return &failure{path: b.displayPath(b.manifest), what: "there is no manifest of a share beside it", hint: "batch --shard writes them; --manifest must be as it was there", err: fs.ErrNotExist}
	}
	return nil
}

// readShard reads the manifest of a share, as far as it is whole.
func (b *batchRun) readShard(sum *batchCollectJSON, s tasks.Shard) ([]batch.Entry, error) {
	name := tasks.ShardName(b.manifest, s)
	if _, err := b.fs.Stat(name); errors.Is(err, fs.ErrNotExist) {
		sum.MissingShards = append(sum.MissingShards, s.Index)
		return nil, nil
	}
	if _, err := b.fs.Stat(name + ".running"); err == nil {
		sum.Unfinished = append(sum.Unfinished, s.Index)
	}
	m, err := batch.Read(b.fs, name, true, true)
	if err != nil {
		return nil, (&batchRun{env: b.env, manifest: name}).explainManifest(err)
	}
	return m.Entries(), nil
}

// findMissing finds the inputs of the line that have no entry.
func (b *batchRun) findMissing(sum *batchCollectJSON, at map[string]int) error {
	if len(b.args()) == 0 && len(b.set.includeFrom) == 0 {
		return nil
	}
	if err := b.find(); err != nil {
		return err
	}
	for _, in := range b.search.Inputs {
		if _, ok := at[inputName(in)]; !ok {
			sum.Missing = append(sum.Missing, inputName(in))
		}
	}
	return nil
}

func (b *batchRun) reportCollected(sum *batchCollectJSON, entries []batch.Entry) error {
	sum.Inputs = len(entries)
	var failed []string
	for i := range entries {
		switch e := &entries[i]; e.Status {
		case batch.StatusOK:
			sum.OK++
		case batch.StatusLossy:
			sum.Lossy++
		default:
			sum.Failed++
			failed = append(failed, b.displayPath(e.Input)+": "+e.Error)
		}
	}
	ended := outcome{some: sum.Failed+len(sum.Missing)+len(sum.MissingShards)+len(sum.Unfinished) > 0, lossy: sum.Lossy > 0}
	sum.Status, sum.ExitStatus = ended.word(), ended.status()
	if b.set.json {
		if err := writeJSON(b.Out, sum); err != nil {
			return err
		}
	}
	numbers := func(list []int) (texts []string) {
		for _, n := range list {
			texts = append(texts, "share "+strconv.Itoa(n)+" of "+strconv.Itoa(sum.Shards))
		}
		return texts
	}
	b.writeLines("no manifest", numbers(sum.MissingShards))
	b.writeLines("running or killed", numbers(sum.Unfinished))
	b.writeLines("failed", failed)
	b.writeLines("not done", sum.Missing)
	if !b.set.quiet {
		b.say("%s of %s: %d ok, %d with losses, %d failed; manifest: %s", count(int64(sum.Inputs), "input"), count(int64(sum.Shards), "share"), sum.OK, sum.Lossy, sum.Failed, clean(b.displayPath(b.manifest)))
	}
	return ended.end()
}
