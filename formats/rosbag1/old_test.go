package rosbag1

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// openOld opens a bag in memory.
func openOld(t testing.TB, b []byte, o storage.ReadOptions) (storage.Reader, error) {
	o.FS = memFS{b: b}
	return openReader(t.Context(), "x.bag", o)
}

// TestOld: all forms are read whole: messages, topics, definitions, times.
func TestOld(t *testing.T) {
	for _, f := range oldForms {
		t.Run(f.name, func(t *testing.T) {
			want := f.messages(30000, 40)
			b := f.write(want)
			got, info, err := openBytes(t, b, storage.ReadOptions{Strict: true, CheckIndexes: true})
			if err != nil {
				t.Fatal(err)
			}
			equalMessages(t, got, want)
			if info.Version != f.version() || info.Messages != int64(len(want)) || info.Start != want[0].LogTime ||
				info.End != want[len(want)-1].LogTime {
				t.Errorf("info %+v", info)
			}
			if unindexed := f.header && !f.closed; len(info.Warnings) > 0 != unindexed || info.Compression["none"] < 2 {
				t.Errorf("warnings %v, compression %v", info.Warnings, info.Compression)
			}
			topics := oldTopics
			if f.line == "" {
				topics = topics[:1]
			}
			if len(info.Topics) != len(topics) {
				t.Fatalf("%d topics, want %d", len(info.Topics), len(topics))
			}
			for i, topic := range topics {
				if f.version() != "1.2" {
					topic.Schema = storage.Schema{}
				}
				if !reflect.DeepEqual(info.Topics[i].Topic, topic) {
					t.Errorf("topic %+v, want %+v", info.Topics[i].Topic, topic)
				}
			}
			if !sniff(nil, "x.bag", b[:storage.SniffLen]) {
				t.Error("the bag is not known by its content")
			}
		})
	}
}

// TestOldPublishers: messages of different publishers are different topics.
func TestOldPublishers(t *testing.T) {
	b := []byte("#ROSRECORD V1.2\n")
	fields := map[string]string{"op": "\x01", "topic": "/a", "type": "x/Y", "md5": "m", "def": "int8 v"}
	b = oldRecord(b, fields, nil)
	delete(fields, "def")
	fields["op"], fields["sec"], fields["nsec"] = "\x02", "\x01\x00\x00\x00", "\x02\x00\x00\x00"
	for _, id := range []string{"/one", "/two", "/one"} {
		fields["callerid"], fields["latching"] = id, "1"
		b = oldRecord(b, fields, []byte{7})
	}
	b = oldRecord(b, map[string]string{"op": "\x63", "what": "ever"}, []byte("passed over"))
	got, info, err := openBytes(t, b, storage.ReadOptions{Strict: true})
	if err != nil || len(got) != 3 || got[0].Topic != got[2].Topic || got[0].Topic == got[1].Topic ||
		len(info.Topics) != 2 {
		t.Fatalf("messages %v of %+v, %v", got, info, err)
	}
	for i, id := range []string{"/one", "/two"} {
		topic := info.Topics[i]
		if topic.Metadata["callerid"] != id || topic.Metadata["latching"] != "1" || string(topic.Schema.Data) != "int8 v" ||
			info.Start != 1e9+2 {
			t.Errorf("topic %+v", topic)
		}
	}
}

// TestOldManyTopics: hundreds of topics, one with a long name, in any order.
func TestOldManyTopics(t *testing.T) {
	const topics, n = 300, 5000
	b := []byte("#ROSRECORD V1.2\n")
	random := rand.New(rand.NewPCG(1, 2))
	var want []string
	for i := range n {
		name := fmt.Sprint("/t", random.IntN(topics))
		if random.IntN(5) == 0 {
			name = "/long" + strings.Repeat("x", 600)
		}
		want = append(want, name)
		fields := map[string]string{"op": "\x02", "topic": name, "type": "x/Y", "md5": "m", "sec": "\x01\x00\x00\x00",
			"nsec": "\x02\x00\x00\x00"}
		b = oldRecord(b, fields, binary.LittleEndian.AppendUint32(make([]byte, i%9), uint32(i)))
	}
	got, info, err := openBytes(t, b, storage.ReadOptions{Strict: true})
	if err != nil || len(got) != n || len(info.Topics) != topics+1 {
		t.Fatalf("%d messages, %d topics, %v", len(got), len(info.Topics), err)
	}
	for i, m := range got {
		if name := info.Topics[m.Topic].Name; name != want[i] || len(m.Data) != i%9+4 ||
			binary.LittleEndian.Uint32(m.Data[i%9:]) != uint32(i) {
			t.Fatalf("message %d: %d bytes of %.20s, want %.20s", i, len(m.Data), name, want[i])
		}
	}
}

// TestOldQuery compares queries with reading all.
func TestOldQuery(t *testing.T) {
	for _, f := range oldForms {
		want := f.messages(20000, 100)
		r, err := openOld(t, f.write(want), storage.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, reverse := range []bool{false, true} {
			mine := slices.DeleteFunc(slices.Clone(want), func(m storage.Message) bool { return m.Topic != 0 })
			if reverse {
				slices.Reverse(mine)
			}
			q := storage.Query{Topics: []storage.TopicID{0}, Limit: 105, Reverse: reverse}
			n := 0
			for m, err := range r.(storage.Querier).Query(t.Context(), q) {
				if err != nil {
					t.Fatal(err)
				}
				if w := &mine[n]; w.LogTime != m.LogTime || !bytes.Equal(w.Data, m.Data) {
					t.Errorf("%s: message %d is another one", f.name, n)
				}
				n++
			}
			if n != 105 {
				t.Errorf("%s: %d messages", f.name, n)
			}
		}
		r.Close()
	}
}

// TestOldTruncated cuts bags at every byte: the messages that are whole come back, and a
// warning reports what is missing, unless nothing counts it and the cut is between two
// records.
func TestOldTruncated(t *testing.T) {
	for _, f := range oldForms {
		t.Run(f.name, func(t *testing.T) {
			want := f.messages(7, 0)
			whole := f.write(want)
			last := 0
			for n := range len(whole) {
				if f.header && n > 100 && n < 4090 {
					continue
				}
				got, info, err := openBytes(t, whole[:n], storage.ReadOptions{})
				if err != nil {
					if !errors.Is(err, storage.ErrTruncated) && !errors.Is(err, storage.ErrCorrupt) {
						t.Fatalf("cut at %d: %v", n, err)
					}
					continue
				}
				if len(got) < last || f.closed && n > 4112 && len(got) < len(want) && !damaged(info) {
					t.Fatalf("cut at %d: %d messages after %d, warnings %v", n, len(got), last, info.Warnings)
				}
				last = len(got)
				equalMessages(t, got, want[:len(got)])
			}
			if last < len(want)-1 {
				t.Errorf("%d messages at the last cut", last)
			}
		})
	}
}

// TestOldFlipped flips each byte: no message is missing or shorter without a warning of
// damage, but for what a length hides that nothing else counts.
func TestOldFlipped(t *testing.T) {
	for _, f := range oldForms {
		t.Run(f.name, func(t *testing.T) {
			want := f.messages(9, 0)
			whole := f.write(want)
			messages := len(f.write(nil)) // where they begin: nothing else shows a table before them
			swallowed := func(got []storage.Message) bool {
				return slices.ContainsFunc(got, func(m storage.Message) bool { return len(m.Data) > 40 })
			}
			b := make([]byte, len(whole))
			for at := range whole {
				if f.header && at > 60 && at < 4108 {
					continue
				}
				for _, bit := range []byte{0x01, 0x20, 0x80, 0xff} {
					copy(b, whole)
					b[at] ^= bit
					got, info, err := openBytes(t, b, storage.ReadOptions{})
					if err != nil {
						if at > 40 && f.version() == "1.2" {
							t.Fatalf("flip %#x at %d: %v", bit, at, err)
						}
						continue
					}
					if len(got) < len(want) && !damaged(info) && (f.closed || !swallowed(got)) {
						t.Fatalf("flip %#x at %d: %d of %d messages, warnings %v", bit, at, len(got), len(want), info.Warnings)
					}
					if f.line != "" && len(got) < len(want)-2 && at >= messages && !swallowed(got) {
						t.Fatalf("flip %#x at %d: %d of %d messages, warnings %v", bit, at, len(got), len(want), info.Warnings)
					}
				}
			}
		})
	}
}

// TestOldIndexLies: an index that points anywhere changes no message, and check reports it.
func TestOldIndexLies(t *testing.T) {
	f := oldForms[0]
	want := f.messages(12, 0)
	whole := f.write(want)
	pos := binary.LittleEndian.Uint64(whole[len(f.line)+18:])
	for name, c := range map[string]struct {
		change func(b []byte)
		code   string
	}{
		"position": {func(b []byte) { binary.LittleEndian.PutUint64(b[len(f.line)+18:], 5000) }, "index"},
		"in head":  {func(b []byte) { binary.LittleEndian.PutUint64(b[len(f.line)+18:], 3) }, "index"},
		"no index": {func(b []byte) { copy(b[pos:], bytes.Repeat([]byte{0}, len(b)-int(pos))) }, "index"},
		"an entry": {func(b []byte) { b[len(b)-8] ^= 0x55 }, "index-data"},
		"far":      {func(b []byte) { copy(b[len(b)-8:], "\xff\xff\xff\xff\xff\xff\xff\xff") }, "index-data"},
	} {
		b := bytes.Clone(whole)
		c.change(b)
		got, info, err := openBytes(t, b, storage.ReadOptions{CheckIndexes: true})
		if err != nil {
			t.Fatal(err)
		}
		equalMessages(t, got, want)
		if len(info.Warnings) == 0 || info.Warnings[0].Code != c.code || damaged(info) {
			t.Errorf("%s: warnings %v", name, info.Warnings)
		}
	}
}

// TestOldVersions: versions that were never written are refused by name.
func TestOldVersions(t *testing.T) {
	for _, text := range []string{"#ROSRECORD V1.7\n", "#ROSLOG V3\n\x00\x01"} {
		if _, err := openOld(t, []byte(text), storage.ReadOptions{}); !errors.Is(err, storage.ErrUnsupported) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"#ROSRECORD V1.2\n", "#ROSRECORD V1.1\n"} {
		if got, _, err := openBytes(t, []byte(text), storage.ReadOptions{}); err != nil || len(got) > 0 {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// FuzzOld reads what is thrown at it.
func FuzzOld(f *testing.F) {
	for i := range oldForms {
		f.Add(oldForms[i].write(oldForms[i].messages(5, 0)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got, info, err := openBytes(t, b, storage.ReadOptions{CheckIndexes: true})
		if err == nil && info.Messages != int64(len(got)) {
			t.Errorf("%d messages, want %d", len(got), info.Messages)
		}
	})
}

// BenchmarkOld reads old bags, to be compared with BenchmarkRead.
func BenchmarkOld(b *testing.B) {
	for _, form := range []int{0, 3} {
		f := &oldForms[form]
		for _, s := range benchShapes {
			bag := f.write(f.messages(s.n/4, s.size))
			b.Run(f.name+"/"+s.name, func(b *testing.B) {
				b.SetBytes(int64(len(bag)))
				b.ReportAllocs()
				var batch storage.Batch
				for b.Loop() {
					r, err := openOld(b, bag, storage.ReadOptions{})
					if err != nil {
						b.Fatal(err)
					}
					blocks, _, _ := r.(storage.BlockReader).Blocks(context.Background(), nil)
					for i := range blocks {
						if err := r.(storage.BlockReader).ReadBlock(context.Background(), i, &batch); err != nil {
							b.Fatal(err)
						}
					}
					r.Close()
				}
			})
		}
	}
}
