package recording_test

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/convert/where"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// A valued is a message of /a or /b.
type valued struct {
	topic storage.TopicID
	at    int64
	value int32
}

// writeValues writes a bag of messages with one number each.
func writeValues(t *testing.T, list []valued) recording.Ref {
	t.Helper()
	f := all.Registry().Lookup("bag")
	rec := storagetest.Recording{}
	for _, name := range []string{"/a", "/b"} {
		rec.Topics = append(rec.Topics, storage.Topic{Name: name, Type: "std_msgs/Int32", Encoding: "ros1",
			Schema:   storage.Schema{Encoding: "ros1msg", Data: []byte("int32 data\n")},
			Metadata: map[string]string{"md5sum": "da5909fbe378aeaf85e547e830cc1bb7"}})
	}
	for _, v := range list {
		rec.Messages = append(rec.Messages, storage.Message{Topic: v.topic, LogTime: v.at, PublishTime: v.at,
			Data: binary.LittleEndian.AppendUint32(nil, uint32(v.value))})
	}
	path := filepath.Join(t.TempDir(), "x.bag")
	if err := storagetest.WriteAll(f, path, storage.WriteOptions{NoSync: true, ChunkSize: 1 << 10}, rec); err != nil {
		t.Fatal(err)
	}
	return recording.Ref{Path: path, Format: f}
}

func parsed(t *testing.T, parse func(string) (*where.Condition, error), text string) *where.Condition {
	t.Helper()
	c, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const epoch = 1_700_000_000_000_000_000

// TestEpisodes compares the parts of random recordings, of which many messages have one time, with plain loops.
func TestEpisodes(t *testing.T) {
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 1))
		list := make([]valued, 300)
		for i := range list {
			list[i] = valued{storage.TopicID(rng.IntN(2)), epoch + int64(i/3*10+rng.IntN(40)), int32(rng.IntN(4))}
		}
		ref := writeValues(t, list)
		slices.SortStableFunc(list, func(a, b valued) int { return cmp.Compare(a.at, b.at) })
		var sel selection.Selection
		open := selection.Window{First: math.MinInt64, Last: math.MaxInt64}
		if seed%2 == 1 {
			open = selection.Window{First: epoch + 200, Last: epoch + 699}
			sel.Start, sel.End = selection.At(open.First), selection.At(open.Last+1)
			list = slices.DeleteFunc(list, func(v valued) bool { return v.at < open.First || v.at > open.Last })
		}
		start := open.First
		if start == math.MinInt64 {
			start = list[0].at
		}
		for _, rest := range []bool{false, true} {
			between := recording.Episodes{From: parsed(t, where.Parse, "/a.data == 1"),
				To: parsed(t, where.Parse, "/b.data > 1"), Rest: rest}
			same(t, &between, ref, &sel, naiveBetween(list, open, rest))
		}
		on := recording.Episodes{On: parsed(t, where.Parse, "/a.data > 1")}
		same(t, &on, ref, &sel, naiveStarts(list, open, start, func() func(valued) (bool, string) {
			held := false
			return func(v valued) (begins bool, value string) {
				begins, held = v.value > 1 && !held, v.value > 1
				return begins, ""
			}
		}()))
		by := recording.Episodes{By: parsed(t, where.ParseValue, "/a.data / 2 >= 1 ? /a.data : 0")}
		old := ""
		want := naiveStarts(list, open, start, func(v valued) (begins bool, value string) {
			if value = "0"; v.value >= 2 {
				value = strconv.Itoa(int(v.value))
			}
			begins = old != "" && value != old
			old = value
			return begins, value
		})
		same(t, &by, ref, &sel, want)
	}
}

// same compares what Find returns.
func same(t *testing.T, e *recording.Episodes, ref recording.Ref, sel *selection.Selection, want []recording.Episode) {
	t.Helper()
	for _, threads := range []int{1, 3} {
		got, err := e.Find(t.Context(), ref, sel, threads)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v: %v\n got %+v\nwant %+v", e, err, got, want)
		}
	}
}

// naiveStarts cuts where begins says so of a message of /a. The value of the first message is the value of the first
// part.
func naiveStarts(list []valued, open selection.Window, start int64, begins func(valued) (bool, string)) (
	out []recording.Episode) {
	type cut struct {
		at    int64
		value string
	}
	var cuts []cut
	first := recording.Episode{Window: open}
	seen := false
	for _, v := range list {
		if v.topic != 0 {
			continue
		}
		begun, value := begins(v)
		switch n := len(cuts); {
		case begun && v.at == start:
			first.Begun, first.Value = true, value
		case begun && n > 0 && cuts[n-1].at == v.at:
			cuts[n-1].value = value
		case begun:
			cuts = append(cuts, cut{v.at, value})
		case !seen:
			first.Value = value
		}
		seen = true
	}
	out = append(out, first)
	for i, c := range cuts {
		out[i].Last = c.at - 1
		out = append(out, recording.Episode{Window: selection.Window{First: c.at, Last: open.Last}, Begun: true,
			Value: c.value})
	}
	return out
}

// naiveBetween finds for each beginning its end.
func naiveBetween(list []valued, open selection.Window, rest bool) (out []recording.Episode) {
	end := int64(math.MinInt64)
	for i := 0; i < len(list); i++ {
		v := list[i]
		if v.topic != 0 || v.value != 1 || v.at <= end {
			continue
		}
		e := recording.Episode{Window: selection.Window{First: v.at, Last: open.Last}, Begun: true}
		k := i + 1
		for k < len(list) && (list[k].topic != 1 || list[k].value <= 1) {
			k++
		}
		if i = k; k < len(list) {
			e.Last, e.Ended = list[k].at, true
		}
		end = e.Last
		out = append(out, e)
	}
	if !rest {
		return out
	}
	var all []recording.Episode
	from, done := open.First, false
	for _, e := range out {
		if from < e.First {
			all = append(all, recording.Episode{Window: selection.Window{First: from, Last: e.First - 1}, Rest: true})
		}
		all = append(all, e)
		if done = e.Last == open.Last; !done {
			from = e.Last + 1
		}
	}
	if !done {
		all = append(all, recording.Episode{Window: selection.Window{First: from, Last: open.Last}, Rest: true})
	}
	return all
}

// TestEpisodesLimit: too many parts are counted, not made.
func TestEpisodesLimit(t *testing.T) {
	var list []valued
	for i := range 2 * (recording.MaxParts + 7) {
		list = append(list, valued{0, epoch + int64(i), int32(i % 2)})
	}
	ref := writeValues(t, list)
	one, none := parsed(t, where.Parse, "/a.data == 1"), parsed(t, where.Parse, "/a.data == 0")
	for _, c := range []struct {
		recording.Episodes
		parts int64
	}{
		{recording.Episodes{On: one}, recording.MaxParts + 8},
		{recording.Episodes{By: parsed(t, where.ParseValue, "/a.data")}, int64(len(list))},
		{recording.Episodes{From: one, To: none}, recording.MaxParts + 7},
		{recording.Episodes{From: parsed(t, where.Parse, "/a.data > 0"), To: none, Rest: true}, recording.MaxParts + 7},
	} {
		var many *recording.EpisodesError
		if _, err := c.Find(t.Context(), ref, &selection.Selection{}, 2); !errors.As(err, &many) || many.Parts != c.parts {
			t.Errorf("%v, and there are %d", err, c.parts)
		}
	}
	half := selection.Selection{End: selection.At(epoch + 2*recording.MaxParts - 4)}
	if list, err := (&recording.Episodes{From: one, To: none}).Find(t.Context(), ref, &half, 2); err != nil ||
		len(list) != recording.MaxParts-2 {
		t.Error(len(list), err)
	}
	never := recording.Episodes{From: parsed(t, where.Parse, "/a.data == 5"), To: none}
	if _, err := never.Find(t.Context(), ref, &selection.Selection{}, 2); !errors.Is(err, recording.ErrNoEpisode) {
		t.Error(err)
	}
}
