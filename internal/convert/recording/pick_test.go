package recording_test

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// times are the orders in which messages may come to a file.
var times = map[string]func(rng *rand.Rand, i int) int64{
	"sorted":      func(_ *rand.Rand, i int) int64 { return int64(i) * 1000 },
	"equal":       func(*rand.Rand, int) int64 { return 7 },
	"pairs":       func(_ *rand.Rand, i int) int64 { return int64(i/2) * 1000 },
	"overlapping": func(rng *rand.Rand, i int) int64 { return int64(i)*1000 + rng.Int64N(50_000) },
	"backwards":   func(_ *rand.Rand, i int) int64 { return int64(1000-i) * 1000 },
	"random":      func(rng *rand.Rand, _ int) int64 { return rng.Int64N(100_000) },
	"around 0":    func(_ *rand.Rand, i int) int64 { return int64(i/9-20) - 1_700_000_000_000_000_000 },
}

// makeFile writes 400 messages: of a frequent topic, a rare one, one with a
// single message and one with none. Some are larger than a chunk.
func makeFile(t *testing.T, f *storage.Format, at func(*rand.Rand, int) int64) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 0))
	rec := storagetest.Recording{}
	for _, name := range []string{"/frequent", "/rare", "/once", "/never"} {
		rec.Topics = append(rec.Topics, storage.Topic{Name: name, Type: "a_msgs/msg/A", Encoding: f.Holds.Native})
	}
	for i := range 400 {
		m := storage.Message{LogTime: 1_700_000_000_000_000_000 + at(rng, i), Data: make([]byte, 4+rng.IntN(200))}
		m.PublishTime = m.LogTime
		switch {
		case i == 123:
			m.Topic = 2
		case i%29 == 0:
			m.Topic, m.Data = 1, make([]byte, 20_000+i)
		}
		m.Data[1], m.Data[2], m.Data[3] = 1, byte(i), byte(i>>8)
		rec.Messages = append(rec.Messages, m)
	}
	path := filepath.Join(t.TempDir(), "x"+append(f.Extensions, "")[0])
	if err := storagetest.WriteAll(f, path, storage.WriteOptions{NoSync: true, ChunkSize: 4 << 10}, rec); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPickSkipped asks for messages of every topic by their number, from both
// ends, and compares the answers with reading all.
func TestPickSkipped(t *testing.T) {
	for _, f := range all.Registry().Formats() {
		if f.Create == nil {
			continue
		}
		for name, at := range times {
			if testing.Short() && name != "overlapping" && name != "equal" || name == "around 0" && f.Holds.MinTime == 0 {
				continue
			}
			t.Run(f.Name+"/"+name, func(t *testing.T) {
				path := makeFile(t, f, at)
				r, err := f.Open(t.Context(), path, storage.ReadOptions{})
				if err != nil {
					t.Fatal(err)
				}
				defer r.Close()
				all, err := storagetest.ReadAll(r)
				if err != nil {
					t.Fatal(err)
				}
				info := r.Info()
				if info.Messages != 400 {
					t.Fatalf("%d messages", info.Messages)
				}
				ref := recording.Ref{Path: path, Format: f}
				for _, topic := range info.Topics {
					mine := slices.DeleteFunc(slices.Clone(all), func(m storage.Message) bool { return m.Topic != topic.ID })
					slices.SortStableFunc(mine, func(a, b storage.Message) int { return cmp.Compare(a.LogTime, b.LogTime) })
					holdSkipped(t, ref, topic.Name, mine)
				}
			})
		}
	}
}

// holdSkipped asks for a topic's messages, which are in their order, after some of them.
func holdSkipped(t *testing.T, ref recording.Ref, topic string, want []storage.Message) {
	t.Helper()
	pattern, err := selection.ParsePattern(topic)
	if err != nil {
		t.Fatal(err)
	}
	for _, reverse := range []bool{false, true} {
		for n := int64(0); n < int64(len(want))+20; n += 1 + n%19 {
			q := recording.Query{Pick: &recording.Pick{Reverse: reverse, Skip: n}}
			q.Select.Topics = []selection.Pattern{pattern}
			rest := want[min(n, int64(len(want))):]
			got := 0
			_, err := recording.Read(t.Context(), ref, q, recording.Each{Write: func(m *storage.Message) error {
				if got == len(rest) {
					t.Fatalf("%+v: there are %d", q.Pick, len(rest))
				}
				if w := &rest[got]; m.LogTime != w.LogTime || !bytes.Equal(m.Data, w.Data) {
					t.Fatalf("%+v: message %d at %d, want the one at %d", q.Pick, got, m.LogTime, w.LogTime)
				}
				if got++; got == 3 {
					return recording.ErrEnough
				}
				return nil
			}})
			if err != nil || got != min(3, len(rest)) {
				t.Fatalf("%+v of %s: %d messages of %d, %v", q.Pick, topic, got, len(rest), err)
			}
		}
		slices.Reverse(want)
	}
}
