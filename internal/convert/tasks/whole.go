package tasks

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/internal/convert/batch"
	"github.com/bagconv/bagconv/internal/convert/content"
)

// Whole returns what the manifest has about a recording in parts; t is one of its parts. joined parts are one output.
func (t *Task) Whole(parts []*Result, joined bool) *batch.Entry {
	e, sum, size := parts[0].Entry, Sum{}, int64(0)
	e.Output, e.Content, e.Read, e.Lost = t.Range.Joined, wholeContent(parts), 0, batch.Lost{}
	e.LossCodes, e.ByDesign, e.DamageCodes, e.OutputFiles = []string{}, []string{}, []string{}, []string{}
	for _, r := range parts {
		sum = sum.plus(sumOf(&r.Entry))
		e.Read += r.Read
		e.Lost.Messages += r.Lost.Messages
		e.Lost.Bytes = max(e.Lost.Bytes, r.Lost.Bytes) // of the whole source, perhaps
		e.Lost.Blocks = max(e.Lost.Blocks, r.Lost.Blocks)
		e.Lost.Uncounted = e.Lost.Uncounted || r.Lost.Uncounted
		e.LossCodes, e.ByDesign = Union(e.LossCodes, r.LossCodes...), Union(e.ByDesign, r.ByDesign...)
		e.DamageCodes = Union(e.DamageCodes, r.DamageCodes...)
		if r.Status == batch.StatusLossy {
			e.Status = r.Status
		}
		if !joined {
			e.OutputFiles, size = append(e.OutputFiles, r.OutputFiles...), size+r.OutputSize
		} else if !r.Empty() {
			e.OutputFiles, size = r.OutputFiles, r.OutputSize
		}
	}
	e.Written, e.OutputSize, e.DurationNS, e.IO = sum.Messages, size, strconv.FormatInt(sum.DurationNS, 10), sum.IO
	return &e
}

// wholeContent returns the content sums of a recording in parts, nil if they are not known for all parts.
func wholeContent(parts []*Result) []batch.Digest {
	type sum struct {
		content.Sum
		messages int64
	}
	sums := map[[2]string]*sum{} // by topic and type
	for _, r := range parts {
		if r.Content == nil && r.Written > 0 {
			return nil
		}
		for _, d := range r.Content {
			k := [2]string{d.Topic, d.Type}
			if sums[k] == nil {
				sums[k] = &sum{}
			}
			if sums[k].messages += d.Messages; sums[k].AddText(d.Sum) != nil {
				return nil // a result of another version
			}
		}
	}
	var list []batch.Digest
	for k, s := range sums {
		list = append(list, batch.Digest{Topic: k[0], Type: k[1], Messages: s.messages, Sum: s.String()})
	}
	slices.SortFunc(list, func(a, b batch.Digest) int {
		return cmp.Or(strings.Compare(a.Topic, b.Topic), strings.Compare(a.Type, b.Type))
	})
	return list
}

// Union returns list with the elements of more that it does not have.
func Union(list []string, more ...string) []string {
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}
