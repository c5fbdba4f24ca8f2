package verify_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/convert/verify"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// TestChanges: of a conversion, one thing is changed in the output: each of the
// changes is found, on its topic and at its place, and nothing else is.
func TestChanges(t *testing.T) {
	each := uint64(12) // of 6 kinds in 3 formats: 216
	if testing.Short() {
		each = 2
	}
	bag, others := inputs(t, 1, 12)
	for to, path := range others {
		t.Run(to, func(t *testing.T) {
			rec := load(t, path)
			for kind, change := range changes {
				for seed := range each {
					c := &changer{t: t, rng: rand.New(rand.NewPCG(seed, uint64(len(kind)))), rec: clone(rec),
						decoder: mapping.New(mapping.Options{Encoding: "ros1", ProtoTypes: mapping.ProtoGenerated})}
					topic := change(c)
					out := save(t, formatOf(t, path), filepath.Join(t.TempDir(), "changed"), c.rec)
					for _, level := range []verify.Level{verify.Content, verify.Bytes} {
						if level == verify.Bytes && to != "bag" {
							continue
						}
						res := compare(t, verify.Job{Level: level}, bag, out)
						checkFound(t, fmt.Sprintf("%s %d at level %s", kind, seed, level), res, topic, firstPlace(rec, c.rec, topic),
							kind)
					}
				}
			}
		})
	}
}

func clone(r storagetest.Recording) storagetest.Recording {
	return storagetest.Recording{Topics: slices.Clone(r.Topics), Messages: slices.Clone(r.Messages)}
}

// A changer makes one change to a recording.
type changer struct {
	t       *testing.T
	rng     *rand.Rand
	rec     storagetest.Recording
	decoder *mapping.Mapper
}

// pick chooses a message that has content, and is not the only one of its topic.
func (c *changer) pick() int {
	for {
		i := c.rng.IntN(len(c.rec.Messages))
		m := &c.rec.Messages[i]
		same := 0
		for k := range c.rec.Messages {
			if c.rec.Messages[k].Topic == m.Topic {
				same++
			}
		}
		if same > 1 && c.rec.Topics[m.Topic].Name != "/i" { // which is empty
			return i
		}
	}
}

func (c *changer) name(i int) string { return c.rec.Topics[c.rec.Messages[i].Topic].Name }

// changes by name; each returns the topic on which something is different.
var changes = map[string]func(c *changer) string{
	"bit": func(c *changer) string {
		for {
			i := c.pick()
			m := &c.rec.Messages[i]
			if len(m.Data) == 0 {
				continue
			}
			data := slices.Clone(m.Data)
			bit := c.rng.IntN(8 * len(data))
			data[bit/8] ^= 1 << (bit % 8)
			if c.carriesContent(m, data) {
				m.Data = data
				return c.name(i)
			}
		}
	},
	"time": func(c *changer) string {
		i := c.pick()
		d := c.rng.Int64N(20_000_000) - 10_000_000
		if d == 0 {
			d = 1
		}
		c.rec.Messages[i].LogTime += d
		c.rec.Messages[i].PublishTime += d
		return c.name(i)
	},
	"dropped": func(c *changer) string {
		i := c.pick()
		name := c.name(i)
		c.rec.Messages = slices.Delete(c.rec.Messages, i, i+1)
		return name
	},
	"doubled": func(c *changer) string {
		i := c.pick()
		c.rec.Messages = slices.Insert(c.rec.Messages, i, c.rec.Messages[i])
		return c.name(i)
	},
	"swapped": func(c *changer) string {
		for {
			i, k := c.pick(), c.pick()
			a, b := &c.rec.Messages[i], &c.rec.Messages[k]
			if a.Topic == b.Topic && c.carriesContent(a, b.Data) {
				a.Data, b.Data = b.Data, a.Data
				return c.name(i)
			}
		}
	},
	"renamed": func(c *changer) string {
		i := c.rng.IntN(len(c.rec.Topics))
		name := c.rec.Topics[i].Name
		c.rec.Topics[i].Name = name + "/renamed"
		return name
	},
}

// carriesContent reports whether other bytes mean something else: padding, and
// protobuf fields set to their default, mean nothing.
func (c *changer) carriesContent(m *storage.Message, data []byte) bool {
	res, err := c.decoder.Map(&c.rec.Topics[m.Topic])
	if err != nil {
		c.t.Fatal(err)
	}
	if res.Plan == nil {
		return !bytes.Equal(m.Data, data)
	}
	a, err := res.Plan.Append(nil, m.Data)
	if err != nil {
		c.t.Fatal(err)
	}
	b, err := res.Plan.Append(nil, data)
	return err != nil || !bytes.Equal(a, b)
}

// firstPlace is the number of the first message of a topic, by time, that is
// another one; -1 when the topic is gone.
func firstPlace(a, b storagetest.Recording, topic string) int64 {
	list := func(r storagetest.Recording) (out []storage.Message, there bool) {
		for _, m := range r.Messages {
			if r.Topics[m.Topic].Name == topic {
				out = append(out, m)
			}
		}
		slices.SortStableFunc(out, func(x, y storage.Message) int { return cmp.Compare(x.LogTime, y.LogTime) })
		return out, slices.ContainsFunc(r.Topics, func(t storage.Topic) bool { return t.Name == topic })
	}
	x, _ := list(a)
	y, there := list(b)
	if !there {
		return -1
	}
	i := 0
	for i < len(x) && i < len(y) && x[i].LogTime == y[i].LogTime && bytes.Equal(x[i].Data, y[i].Data) {
		i++
	}
	return int64(i)
}

var wantKinds = map[string][]verify.Kind{
	// missing: it does not fit its definition any more
	"bit": {verify.KindContent, verify.KindMissing},
	// others than time: when two have the same time
	"time":    {verify.KindTime, verify.KindContent, verify.KindExtra, verify.KindMissing},
	"dropped": {verify.KindMissing, verify.KindContent}, // content: the one after it has the same time
	"doubled": {verify.KindExtra, verify.KindContent},
	"swapped": {verify.KindContent},
	"renamed": {verify.KindMissingTopic},
}

func checkFound(t *testing.T, name string, res *verify.Result, topic string, place int64, kind string) {
	t.Helper()
	if res.Equal {
		t.Errorf("%s on %s is not found", name, topic)
		return
	}
	for _, got := range res.Topics {
		switch {
		case got.Name == topic:
			if got.Equal {
				t.Errorf("%s: not found on %s", name, topic)
			} else if int64(got.First.Index) != place || !slices.Contains(wantKinds[kind], got.First.Kind) {
				t.Errorf("%s on %s: %+v, want %v at %d", name, topic, *got.First, wantKinds[kind], place)
			} else if got.First.Kind == verify.KindContent && (got.First.Path == "" || got.First.A == got.First.B) {
				t.Errorf("%s on %s: no field: %+v", name, topic, *got.First)
			}
		case got.Name == topic+"/renamed":
			if got.First == nil || got.First.Kind != verify.KindExtraTopic {
				t.Errorf("%s: %+v", name, got)
			}
		case !got.Equal:
			t.Errorf("%s on %s: found on %s: %+v", name, topic, got.Name, *got.First)
		}
	}
}
