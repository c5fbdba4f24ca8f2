package verify

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/convert/extras"
	"github.com/bagconv/bagconv/storage"
)

// readExtras reads the attachments and metadata records of a side. Their contents are read if the other side has a
// place for them, or files attached to it: else a conversion does not read them either, and what is damaged in them
// is not reported.
func (c *comparison) readExtras(ctx context.Context, side int, r storage.Reader) error {
	contents := c.job.Level != Counts && (c.places[1-side] || len(c.side(1-side).Attach) > 0)
	all, err := extras.DigestsOf(ctx, r, contents)
	if err != nil {
		return err
	}
	for _, path := range c.side(side).Attach {
		a, err := extras.FromFile(c.side(side).Read.FS, path)
		if err != nil {
			return err
		}
		d, err := extras.DigestOf(ctx, &a, contents)
		if err != nil {
			return err
		}
		all.List = append(all.List, d)
	}
	c.extras[side] = all
	return nil
}

// judgeExtras compares the attachments and metadata records of both sides.
func (c *comparison) judgeExtras(r *Result) {
	for i, end := range []*End{&r.A, &r.B} {
		end.Damaged = end.Damaged || c.extras[i].Unreadable > 0
		for _, d := range c.extras[i].List {
			if d.Record {
				end.MetadataRecords++
			} else {
				end.Attachments++
			}
		}
	}
	excepted := Exception{Code: Extras, Message: "they differ"}
	refused := map[convert.Extra]int{}
	for _, x := range c.job.Refused {
		refused[x]++
	}
	for _, x := range compareExtras(c.extras[0].List, c.extras[1].List) {
		other := r.B.Path
		if x.Kind == KindExtra {
			other = r.A.Path
		}
		noPlace := x.Kind == KindMissing && !c.places[1] || x.Kind == KindExtra && !c.places[0]
		name := convert.Extra{Record: x.Record, Name: x.Name}
		switch {
		case x.Kind == KindMissing && refused[name] > 0:
			refused[name]--
			excepted.Message = "the output did not store them; the report of the conversion names them"
			excepted.Count++
		case noPlace && !c.job.exact(Extras):
			excepted.Message = "the format of " + other + " has no place for them"
			excepted.Count++
		case c.job.ignores(Extras):
			excepted.Count++
		default:
			r.Extras, r.Equal = append(r.Extras, x), false
		}
	}
	if excepted.Count > 0 {
		r.Exceptions = append(r.Exceptions, excepted)
	}
}

// compareExtras returns what differs.
func compareExtras(a, b []extras.Digest) (different []Extra) {
	a, b = withoutCommon(a, b)
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(a) > 0 && len(b) > 0 && a[0].Same(&b[0]):
			different = append(different, differs(&a[0], &b[0]))
			a, b = a[1:], b[1:]
		case len(b) == 0 || len(a) > 0 && named(&a[0], &b[0]) < 0:
			different = append(different, Extra{Record: a[0].Record, Name: a[0].Name, Kind: KindMissing})
			a = a[1:]
		default:
			different = append(different, Extra{Record: b[0].Record, Name: b[0].Name, Kind: KindExtra})
			b = b[1:]
		}
	}
	return different
}

// named orders digests as far as they are different attachments or records.
func named(a, b *extras.Digest) int {
	if a.Record != b.Record {
		return map[bool]int{true: 1, false: -1}[a.Record]
	}
	return cmp.Compare(a.Name, b.Name)
}

// withoutCommon returns what one side alone has, sorted: in order of the file if names
// are equal.
func withoutCommon(a, b []extras.Digest) (onlyA, onlyB []extras.Digest) {
	count := map[extras.Digest]int{}
	for _, d := range b {
		count[d]++
	}
	for _, d := range a {
		if count[d] > 0 {
			count[d]--
		} else {
			onlyA = append(onlyA, d)
		}
	}
	for i := len(b) - 1; i >= 0; i-- { // of several that are equal the last remain
		if d := b[i]; count[d] > 0 {
			count[d]--
			onlyB = append(onlyB, d)
		}
	}
	slices.Reverse(onlyB)
	for _, list := range [][]extras.Digest{onlyA, onlyB} {
		slices.SortStableFunc(list, func(x, y extras.Digest) int { return named(&x, &y) })
	}
	return onlyA, onlyB
}

// differs returns in what two of one name differ first.
func differs(a, b *extras.Digest) Extra {
	x := Extra{Record: a.Record, Name: a.Name, Kind: KindContent}
	set := func(kind Kind, path string, a, b any) Extra {
		x.Kind, x.Path, x.A, x.B = kind, path, fmt.Sprint(a), fmt.Sprint(b)
		return x
	}
	switch {
	case a.MediaType != b.MediaType:
		return set(KindContent, "media type", a.MediaType, b.MediaType)
	case a.LogTime != b.LogTime:
		return set(KindTime, "log time", a.LogTime, b.LogTime)
	case a.CreateTime != b.CreateTime:
		return set(KindTime, "create time", a.CreateTime, b.CreateTime)
	case a.Size != b.Size:
		return set(KindContent, "size", a.Size, b.Size)
	}
	return set(KindContent, "content", "SHA-256 "+hex.EncodeToString(a.Sum[:8]), "SHA-256 "+hex.EncodeToString(b.Sum[:8]))
}
