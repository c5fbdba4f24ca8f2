package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/convert/batch"
	"github.com/bagconv/bagconv/convert/content"
	"github.com/bagconv/bagconv/convert/tasks"
	"github.com/bagconv/bagconv/storage"
)

// joiner returns the format that joins the parts of a recording; nil if they stand as they are.
func (s *collection) joiner(t *tasks.Task) *storage.Format {
	if t.Range == nil {
		return nil
	}
	if f := s.formats.Lookup(t.Recipe.Format); f != nil && f.Join != nil {
		return f
	}
	return nil
}

// beingJoined reports whether the parts of a recording are being joined.
func (s *collection) beingJoined(t *tasks.Task) bool {
	return s.joiner(t) != nil && t.Range.BeingJoined(s.fs)
}

// join joins the recordings whose parts are all done.
func (s *collection) join(ctx context.Context, from, to int) error {
	for i := from; i < to; i++ {
		t := s.tasks[i]
		if t.Range == nil || t.Range.Part != 0 {
			continue
		}
		parts, f := s.partsFrom(i), s.joiner(t)
		if parts == nil || f == nil {
			continue
		}
		if slices.ContainsFunc(parts, func(r *tasks.Result) bool {
			return !r.Empty() && !slices.Equal(r.OutputFiles, []string{t.Range.Joined})
		}) {
			if err := s.joinParts(ctx, f, i, parts); err != nil {
				return err
			}
		}
		if err := s.fs.RemoveAll(t.Range.Folder()); err != nil { // also what a killed call has left of it
			return err
		}
	}
	return nil
}

// partsFrom returns the results of the parts of a recording, whose first task is i; nil if not all
// are done. plan writes them one after another.
func (s *collection) partsFrom(i int) []*tasks.Result {
	r := s.tasks[i].Range
	if i+r.Parts > len(s.tasks) {
		return nil
	}
	for k := range r.Parts {
		other := s.tasks[i+k].Range
		if res := s.results[i+k]; other == nil || other.Joined != r.Joined || other.Part != k || res == nil || !res.Done() {
			return nil
		}
	}
	return s.results[i : i+r.Parts]
}

// joinParts joins the parts of a recording, and makes their receipts those of the whole.
func (s *collection) joinParts(ctx context.Context, f *storage.Format, i int, parts []*tasks.Result) error {
	r := s.tasks[i].Range
	var folders []string
	for k, part := range parts {
		if !part.Empty() {
			folders = append(folders, s.tasks[i+k].Output)
		}
	}
	size, err := f.Join(ctx, s.fs, folders, r.Stage(), r.Joined)
	if err != nil {
		return &failure{path: r.Joined, what: fmt.Sprintf("its %d parts cannot be joined: %v", len(folders), plainError(err)), hint: "remove what stands there if it is not needed, and collect again", err: err}
	}
	store := tasks.Store{FS: s.fs}
	for k, part := range parts {
		if part.Empty() {
			continue
		}
		part.OutputFiles, part.OutputSize = []string{r.Joined}, size
		if err := store.Save(s.tasks[i+k], part, true); err != nil {
			return err
		}
	}
	return nil
}

// entries returns the lines of the manifest: one for each recording.
func (s *collection) entries(from, to int) (list []*batch.Entry) {
	for i := from; i < to; i++ {
		t, r := s.tasks[i], s.results[i]
		switch {
		case t.Range == nil && r != nil:
			list = append(list, &r.Entry)
		case t.Range != nil && t.Range.Part == 0:
			if parts := s.partsFrom(i); parts != nil {
				list = append(list, wholeEntry(t, parts, s.joiner(t) != nil))
				i += len(parts) - 1
			}
		}
	}
	return list
}

// wholeEntry returns what the manifest has about a recording in parts.
func wholeEntry(t *tasks.Task, parts []*tasks.Result, joined bool) *batch.Entry {
	e := parts[0].Entry
	e.Output, e.Content = t.Range.Joined, wholeContent(parts)
	e.LossCodes, e.ByDesign, e.DamageCodes, e.OutputFiles = slices.Clone(e.LossCodes), slices.Clone(e.ByDesign), slices.Clone(e.DamageCodes), slices.Clone(e.OutputFiles)
	for _, r := range parts[1:] {
		e.Read += r.Read
		e.Written += r.Written
		e.Lost.Messages += r.Lost.Messages
		e.Lost.Bytes, e.Lost.Blocks = max(e.Lost.Bytes, r.Lost.Bytes), max(e.Lost.Blocks, r.Lost.Blocks) // of the whole source, perhaps
		e.Lost.Uncounted = e.Lost.Uncounted || r.Lost.Uncounted
		e.LossCodes, e.ByDesign, e.DamageCodes = union(e.LossCodes, r.LossCodes), union(e.ByDesign, r.ByDesign), union(e.DamageCodes, r.DamageCodes)
		e.DurationNS, e.IO = addNumbers(e.DurationNS, r.DurationNS), e.IO.Plus(r.IO)
		if r.Status == batch.StatusLossy {
			e.Status = r.Status
		}
		if !joined {
			e.OutputFiles, e.OutputSize = append(e.OutputFiles, r.OutputFiles...), e.OutputSize+r.OutputSize
		}
	}
	if joined {
		for _, r := range parts {
			if !r.Empty() {
				e.OutputFiles, e.OutputSize = r.OutputFiles, r.OutputSize
			}
		}
	}
	return &e
}

// wholeContent returns the content sums of a recording in parts, nil if they are not known of all.
func wholeContent(parts []*tasks.Result) []batch.Digest {
	type key struct{ topic, typ string }
	sums, whole := map[key]*content.Sum{}, map[key]*batch.Digest{}
	for _, r := range parts {
		if r.Content == nil && r.Written > 0 {
			return nil
		}
		for _, d := range r.Content {
			k := key{d.Topic, d.Type}
			if whole[k] == nil {
				sums[k], whole[k] = &content.Sum{}, &batch.Digest{Topic: d.Topic, Type: d.Type}
			}
			whole[k].Messages += d.Messages
			if sums[k].AddText(d.Sum) != nil {
				return nil // a result of another version
			}
			whole[k].Sum = sums[k].String()
		}
	}
	var list []batch.Digest
	for _, d := range whole {
		list = append(list, *d)
	}
	slices.SortFunc(list, func(a, b batch.Digest) int {
		return cmp.Or(strings.Compare(a.Topic, b.Topic), strings.Compare(a.Type, b.Type))
	})
	return list
}

func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}

// addNumbers adds numbers of ns as JSON has them.
func addNumbers(a, b string) string {
	x, _ := strconv.ParseInt(a, 10, 64)
	y, _ := strconv.ParseInt(b, 10, 64)
	return strconv.FormatInt(x+y, 10)
}
