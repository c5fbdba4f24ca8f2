package verify_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/verify"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// must returns what a parser returns.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// part is a cut of half of a recording without topic /b, with other names and times.
// /a and /f are latched: their last messages before it are repeated at its start.
func part(rec storagetest.Recording) (selection.Selection, selection.Edit) {
	first, last := rec.Messages[0].LogTime, rec.Messages[len(rec.Messages)-1].LogTime
	return selection.Selection{
			ExcludeTopics: []selection.Pattern{must(selection.ParsePattern("/b"))},
			Start:         must(selection.ParseTime(fmt.Sprint(first + (last-first)/4))), Duration: (last - first) / 4 * 2,
		}, selection.Edit{
			Remap: []selection.Rename{must(selection.ParseRename("/c:=/see"))}, Prefix: "/robot", Offset: -3_000_000_000,
			Latch: must(selection.ParseLatch([]string{"auto", "/a", "/f"})),
		}
}

// latchedBag writes a generated bag whose topics /a and /f are latched.
func latchedBag(t *testing.T, seed uint64) (string, storagetest.Recording) {
	t.Helper()
	rec := generate(t, rand.New(rand.NewPCG(seed, 1)), 40)
	for _, i := range []int{0, 5} {
		rec.Topics[i].Metadata[storage.MetaLatching] = "1"
	}
	return save(t, registry.Lookup("bag"), filepath.Join(t.TempDir(), "a"), rec), rec
}

// TestPart: what a conversion has written of a part of a recording is that part,
// whatever the formats; a change of it is found, and nothing that was left out
// counts.
func TestPart(t *testing.T) {
	each := uint64(3)
	if testing.Short() {
		each = 1
	}
	bag, rec := latchedBag(t, 1)
	sel, edit := part(rec)
	a := verify.Side{Select: sel, Edit: edit}
	for _, from := range []string{"bag", "db3", "record"} {
		source := converted(t, convert.Job{}, bag, from, filepath.Join(t.TempDir(), "from"))
		for _, to := range []string{"bag", "db3", "record"} {
			t.Run(from+" to "+to, func(t *testing.T) {
				cut := converted(t, convert.Job{Select: sel, Edit: edit}, source, to, filepath.Join(t.TempDir(), "cut"))
				for _, level := range []verify.Level{verify.Content, verify.Counts, verify.Bytes} {
					if level == verify.Bytes && from != to {
						continue
					}
					res := compare(t, verify.Job{A: a, Level: level, Ignore: []verify.Code{verify.HeaderSeq}}, source, cut)
					if !res.Equal || res.A.Messages != res.B.Messages || res.A.Messages < 100 || !slices.Equal(res.A.Selection.LeftOut,
						[]string{"/b"}) || res.B.Selection != nil {
						t.Errorf("at level %s:%s", level, describe(res, &convert.Report{}))
					}
					if res := compare(t, verify.Job{Level: level}, source, cut); res.Equal {
						t.Errorf("at level %s the whole is equal to a part", level)
					}
				}
				unlatched := a
				unlatched.Edit.Latch = must(selection.ParseLatch([]string{"none"}))
				if res := compare(t, verify.Job{A: unlatched, Level: verify.Counts}, source, cut); res.Equal {
					t.Error("what was repeated is there though nothing is to be repeated")
				}
				whole := load(t, cut)
				for kind, change := range changes {
					for seed := range each {
						c := &changer{t: t, rng: rand.New(rand.NewPCG(seed, uint64(len(kind)))), rec: clone(whole),
							decoder: mapping.New(mapping.Options{Encoding: "ros1", ProtoTypes: mapping.ProtoGenerated})}
						topic := change(c)
						out := save(t, formatOf(t, cut), filepath.Join(t.TempDir(), "changed"), c.rec)
						res := compare(t, verify.Job{A: a, Ignore: []verify.Code{verify.HeaderSeq}}, source, out)
						checkFound(t, fmt.Sprintf("%s %d", kind, seed), res, topic, firstPlace(whole, c.rec, topic), kind)
					}
				}
			})
		}
	}
}

// TestOutside: messages that are not in the part may be anything.
func TestOutside(t *testing.T) {
	bag, rec := latchedBag(t, 2)
	sel, edit := part(rec)
	edit.Latch = must(selection.ParseLatch([]string{"none"}))
	cut := converted(t, convert.Job{Select: sel, Edit: edit}, bag, "db3", filepath.Join(t.TempDir(), "cut"))
	a := verify.Side{Select: sel, Edit: edit}
	first := rec.Messages[0].LogTime + sel.Duration/2
	equal, different := 0, 0
	for i := range rec.Messages {
		if i%9 != 0 || len(rec.Messages[i].Data) < 5 || i < 4 || i > len(rec.Messages)-5 { // the ends have its time
			continue
		}
		other := clone(rec)
		other.Messages = slices.Delete(other.Messages, i, i+1)
		res := compare(t, verify.Job{A: a}, save(t, registry.Lookup("bag"), filepath.Join(t.TempDir(), "other"), other), cut)
		m := rec.Messages[i]
		inside := m.LogTime >= first && m.LogTime < first+sel.Duration && rec.Topics[m.Topic].Name != "/b"
		if res.Equal == inside {
			t.Errorf("without message %d at %d of %s, inside %v: equal %v", i, m.LogTime, rec.Topics[m.Topic].Name, inside,
				res.Equal)
		}
		if inside {
			different++
		} else {
			equal++
		}
	}
	if equal < 5 || different < 5 {
		t.Errorf("%d changes outside, %d inside", equal, different)
	}
}

// TestSelectionErrors: a selection that is not in its recording is an error about
// that side, and never nothing that equals nothing.
func TestSelectionErrors(t *testing.T) {
	bag, rec := latchedBag(t, 3)
	only := slices.IndexFunc(rec.Messages, func(m storage.Message) bool { return m.Topic == 0 })
	other := save(t, registry.Lookup("bag"), filepath.Join(t.TempDir(), "b"), storagetest.Recording{Topics: rec.Topics[:1],
		Messages: rec.Messages[only : only+1]})
	b := selection.Selection{Topics: []selection.Pattern{must(selection.ParsePattern("/b"))}}
	early := selection.Selection{Start: must(selection.ParseTime("0")), Duration: 1}
	gap := selection.Selection{Topics: b.Topics, Start: must(selection.ParseTime(fmt.Sprint(rec.Messages[0].LogTime + 1))),
		Duration: 1}
	var unknown *selection.UnknownError
	var empty *selection.EmptyError
	for _, c := range []struct {
		a, b selection.Selection
		path string
		is   func(error) bool
	}{
		{b, b, other, func(err error) bool { return errors.As(err, &unknown) }},
		{selection.Selection{}, gap, other, func(err error) bool { return errors.As(err, &unknown) }},
		{selection.Selection{Start: must(selection.ParseTime("1h"))}, early, bag,
			func(err error) bool { return errors.As(err, &empty) }},
		{gap, selection.Selection{}, bag, func(err error) bool { return errors.Is(err, convert.ErrNothing) }},
	} {
		f := registry.Lookup("bag")
		a, b := sideOf(bag, f), sideOf(other, f)
		a.Select, b.Select = c.a, c.b
		_, err := verify.Run(t.Context(), verify.Job{A: a, B: b})
		var s *storage.Error
		if !errors.As(err, &s) || s.Path != c.path || !c.is(err) {
			t.Errorf("%v", err)
		}
	}
}
