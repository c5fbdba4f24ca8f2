package verify_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/verify"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

const section = "\n================================================================================\nMSG: "

// bagTopic is a topic of a bag with a definition of its own.
func bagTopic(t testing.TB, name, typ, text string) storage.Topic {
	t.Helper()
	msg, err := rosmsg.Parse(typ, []byte(text), rosmsg.ROS1, nil)
	if err != nil {
		t.Fatal(err)
	}
	return storage.Topic{Name: name, Type: typ, Encoding: "ros1", Schema: storage.Schema{Encoding: "ros1msg",
		Data: []byte(text)},
		Metadata: map[string]string{storage.MetaMD5Sum: schema.MD5(msg), storage.MetaCallerID: "/" + typ,
			storage.MetaLatching: "0"}}
}

// messagesOf makes a recording of messages in turns on its topics.
func messagesOf(topics []storage.Topic, data ...[]byte) storagetest.Recording {
	rec := storagetest.Recording{Topics: topics}
	for i, d := range data {
		at := int64(start + i*1e9)
		rec.Messages = append(rec.Messages, storage.Message{Topic: storage.TopicID(i % len(topics)), LogTime: at,
			PublishTime: at, Data: d})
	}
	return rec
}

// saved writes a recording of a format into a folder of its own.
func saved(t testing.TB, format string, rec storagetest.Recording) string {
	t.Helper()
	return save(t, registry.Lookup(format), filepath.Join(t.TempDir(), "r"), rec)
}

// TestTypes: equal bytes of other types are not equal, in any pair of formats and at
// any level.
func TestTypes(t *testing.T) {
	for _, c := range []struct{ a, b string }{
		{"float64 v\n", "uint64 v\n"}, {"string v\n", "uint8[] v\n"}, {"uint32 a\nuint32 b\n", "uint64 a\n"},
		{"int32[2] v\n", "float32[2] v\n"}, {"time v\n", "duration v\n"}, {"int32 a\nint32 b\n", "int32 b\nint32 a\n"},
		{"int8 v\nint8 w\nint16 x\nint32 y\n", "uint8 v\nint8 w\nint16 x\nint32 y\n"}, {"int32[2] v\n", "int64 v\n"},
	} {
		data := []byte{4, 0, 0, 0, 1, 2, 3, 4}
		a := saved(t, "bag", messagesOf([]storage.Topic{bagTopic(t, "/x", "p/A", c.a)}, data))
		b := saved(t, "bag", messagesOf([]storage.Topic{bagTopic(t, "/x", "p/A", c.b)}, data))
		for _, to := range []string{"bag", "db3", "record"} {
			out := converted(t, convert.Job{}, b, to, filepath.Join(t.TempDir(), "out"))
			for _, level := range []verify.Level{verify.Content, verify.Counts, verify.Bytes} {
				for _, sides := range [][2]string{{a, out}, {out, a}} {
					if c.a == "int32 a\nint32 b\n" && level == verify.Counts {
						continue // fields in another order are compared by their names
					}
					if res := compare(t, verify.Job{Level: level}, sides[0], sides[1]); res.Equal {
						t.Errorf("%q and %q as %s are equal at level %s", c.a, c.b, to, level)
					} else if first := res.Topics[0].First; first.Kind == verify.KindType && first.A == first.B {
						t.Errorf("%q and %q: no difference is named: %+v", c.a, c.b, first)
					}
				}
			}
		}
	}
}

// TestJoined: two types on a topic that convert to one are compared as one topic.
func TestJoined(t *testing.T) {
	stamped := section + "geometry_msgs/TransformStamped\nHeader header\nstring child_frame_id\nTransform transform\n" +
		section + "std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n" + section +
		"geometry_msgs/Transform\nVector3 translation\nQuaternion rotation\n" +
		section + "geometry_msgs/Vector3\nfloat64 x\nfloat64 y\nfloat64 z\n" + section +
		"geometry_msgs/Quaternion\nfloat64 x\nfloat64 y\nfloat64 z\nfloat64 w\n"
	text := "geometry_msgs/TransformStamped[] transforms\n" + stamped
	a := bagTopic(t, "/tf", "tf/tfMessage", text)
	b := bagTopic(t, "/tf", "tf2_msgs/TFMessage", text)
	one := append([]byte{1, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 'm', 1, 0, 0, 0, 'b'},
		make([]byte, 56)...)
	none := []byte{0, 0, 0, 0}
	for _, topics := range [][]storage.Topic{{a, b}, {b, a}} {
		path := saved(t, "bag", messagesOf(topics, one, none, none, one))
		for _, to := range []string{"bag", "db3", "record"} {
			out := converted(t, convert.Job{}, path, to, filepath.Join(t.TempDir(), "out"))
			for _, sides := range [][2]string{{path, out}, {out, path}} {
				if res := compare(t, verify.Job{}, sides[0], sides[1]); !res.Equal ||
					len(res.Topics) != map[string]int{"bag": 2}[to]+map[bool]int{true: 1}[to != "bag"] {
					t.Errorf("%s: %s", to, describe(res, &convert.Report{}))
				}
			}
			rec := load(t, out)
			rec.Messages = slices.Delete(rec.Messages, 2, 3)
			if compare(t, verify.Job{}, path, saved(t, to, rec)).Equal {
				t.Errorf("%s: a message that is missing is not found", to)
			}
		}
	}
}

// TestDurations: a duration is a number of ns with a sign, however it is split.
func TestDurations(t *testing.T) {
	duration := func(sec, nsec int32) []byte {
		return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, uint32(sec)), uint32(nsec))
	}
	inRecord := func(sec, nsec int64) []byte {
		inner := protowire.AppendVarint(protowire.AppendVarint(protowire.AppendVarint([]byte{1 << 3}, uint64(sec)), 2<<3),
			uint64(nsec))
		return protowire.AppendBytes([]byte{1<<3 | 2}, inner)
	}
	topics := []storage.Topic{bagTopic(t, "/d", "p/D", "duration d\n")}
	bag := saved(t, "bag", messagesOf(topics, duration(-1, 500_000_000)))
	if !compare(t, verify.Job{}, bag, saved(t, "bag", messagesOf(topics, duration(0, -500_000_000)))).Equal {
		t.Error("-1 s and 5e8 ns are not -5e8 ns")
	}
	record := load(t, converted(t, convert.Job{}, bag, "record", filepath.Join(t.TempDir(), "r")))
	for _, c := range []struct {
		text  string
		data  []byte
		equal bool
	}{
		{"0 s, -5e8 ns", inRecord(0, -5e8), true},
		{"-1 s, 5e8 ns", inRecord(-1, 5e8), true},
		{"2^32-1 s, 5e8 ns", inRecord(1<<32-1, 5e8), false},
		{"0 s, 5e8 ns", inRecord(0, 5e8), false},
		{"-1 s", inRecord(-1, 0), false},
	} {
		record.Messages[0].Data = c.data
		if got := compare(t, verify.Job{}, bag, saved(t, "record", record)); got.Equal != c.equal {
			t.Errorf("%s: equal is %v", c.text, got.Equal)
		}
	}
}

// TestRest: bytes after the last field of CDR are compared or named, and padding is
// skipped.
func TestRest(t *testing.T) {
	bag := saved(t, "bag", messagesOf([]storage.Topic{bagTopic(t, "/x", "p/A", "uint32 a\n")}, []byte{1, 0, 0, 0}))
	db3 := load(t, converted(t, convert.Job{}, bag, "db3", filepath.Join(t.TempDir(), "r")))
	plain := saved(t, "db3", db3)
	for _, c := range []struct {
		rest  string
		equal bool
	}{{"IMPORTANTDATA123", false}, {"\x01", false}, {"\x00\x00\x00", true}, {"\x00\x00\x00\x00\x00\x00\x00\x00", false}} {
		rec := clone(db3)
		rec.Messages[0].Data = append(slices.Clone(db3.Messages[0].Data), c.rest...)
		path := saved(t, "db3", rec)
		for _, other := range []string{bag, plain} {
			for _, sides := range [][2]string{{path, other}, {other, path}} {
				if res := compare(t, verify.Job{}, sides[0], sides[1]); res.Equal != c.equal {
					t.Errorf("%q: equal is %v: %s", c.rest, res.Equal, describe(res, &convert.Report{}))
				}
				if res := compare(t, verify.Job{Ignore: []verify.Code{verify.Unconvertible}}, sides[0], sides[1]); !res.Equal ||
					!c.equal && leftOut(res) != 1 {
					t.Errorf("%q: it is not named: %s", c.rest, describe(res, &convert.Report{}))
				}
			}
		}
		if res := compare(t, verify.Job{}, path, path); !res.Equal || len(res.Exceptions) > 0 {
			t.Errorf("%q differs from itself", c.rest)
		}
	}
}

// TestFlaws: what other readers refuse in B is a difference, in A an exception, and
// in both nothing.
func TestFlaws(t *testing.T) {
	bag := saved(t, "bag",
		messagesOf([]storage.Topic{bagTopic(t, "/x", "p/A", "p/B b\np/C c\n"+section+"p/B\nint32 x\n"+section+
			"p/C\nint32 y\n")}, []byte{1, 0, 0, 0, 2, 0, 0, 0}))
	outputs := map[string]string{}
	for _, to := range []string{"bag", "db3", "record"} {
		outputs[to] = converted(t, convert.Job{}, bag, to, filepath.Join(t.TempDir(), "out"))
	}
	for _, c := range []struct {
		name, format string
		change       func(topic *storage.Topic)
		want         string
	}{
		{"definition twice", "bag", func(topic *storage.Topic) {
			topic.Schema.Data = append(topic.Schema.Data,
				section+"p/B\nint32 x\n"...)
		}, "has p/B twice"},
		{"definition twice", "db3", func(topic *storage.Topic) {
			topic.Schema.Data = append(topic.Schema.Data,
				section+"p/B\nint32 x\n"...)
		}, "has p/B twice"},
		{"md5sum", "bag", func(topic *storage.Topic) { topic.Metadata[storage.MetaMD5Sum] = strings.Repeat("0", 32) },
			"md5sum"},
		{"type hash", "db3", func(topic *storage.Topic) {
			topic.Metadata[storage.MetaTypeHash] = "RIHS01_" + strings.Repeat("0", 64)
		}, "type hash"},
	} {
		rec := load(t, outputs[c.format])
		rec.Topics[0].Metadata = maps.Clone(rec.Topics[0].Metadata)
		c.change(&rec.Topics[0])
		flawed := saved(t, c.format, rec)
		for _, source := range []string{bag, outputs[c.format]} {
			res := compare(t, verify.Job{}, source, flawed)
			if first := res.Topics[0].First; res.Equal || first.Kind != verify.KindFlaw || !strings.Contains(first.B, c.want) {
				t.Errorf("%s in %s: %+v", c.name, c.format, first)
			}
			res = compare(t, verify.Job{}, flawed, source)
			if !res.Equal || !slices.ContainsFunc(res.Exceptions,
				func(e verify.Exception) bool { return e.Code == verify.Flaws && strings.Contains(e.Message, c.want) }) {
				t.Errorf("%s in %s, as A: %s", c.name, c.format, describe(res, &convert.Report{}))
			}
		}
		if res := compare(t, verify.Job{}, flawed, flawed); !res.Equal || len(res.Exceptions) > 0 {
			t.Errorf("%s in %s differs from itself: %s", c.name, c.format, describe(res, &convert.Report{}))
		}
	}
}

// TestDefinitionFaults: a definition that does not fit the messages
// is a difference, also when its md5sum fits it.
func TestDefinitionFaults(t *testing.T) {
	text := "int32 a\nint32 b\nfloat64[2] c\nuint8[] d\ntime e\n"
	data := append([]byte{1, 0, 0, 0, 2, 0, 0, 0}, make([]byte, 16)...)
	data = append(data, 1, 0, 0, 0, 9, 5, 0, 0, 0, 6, 0, 0, 0)
	bag := saved(t, "bag", messagesOf([]storage.Topic{bagTopic(t, "/x", "p/A", text)}, data))
	for _, to := range []string{"bag", "db3"} {
		rec := load(t, converted(t, convert.Job{}, bag, to, filepath.Join(t.TempDir(), "out")))
		for _, c := range [][2]string{{"int32 a\nint32 b", "int32 b\nint32 a"}, {"int32 a", "uint32 a"},
			{"int32 a", "float32 a"}, {"int32 a", "int32 z"},
			{"int32 a\nint32 b", "int64 a"}, {"float64[2]", "int64[2]"}, {"float64[2]", "float64[4]"}, {"uint8[] d", "string d"},
			{"uint8[]", "int8[]"}, {" e\n", "[1] e\n"}} {
			changed := clone(rec)
			topic := &changed.Topics[0]
			topic.Metadata = maps.Clone(topic.Metadata)
			delete(topic.Metadata, storage.MetaTypeHash)
			topic.Schema.Data = bytes.Replace(slices.Clone(topic.Schema.Data), []byte(c[0]), []byte(c[1]), 1)
			if to == "bag" {
				*topic = bagTopic(t, "/x", "p/A", string(topic.Schema.Data))
			}
			if compare(t, verify.Job{}, bag, saved(t, to, changed)).Equal {
				t.Errorf("%s: %q for %q is equal", to, c[1], c[0])
			}
		}
	}
}

// TestNoDefinition: a copy without definitions, which nobody can read any more, is
// named.
func TestNoDefinition(t *testing.T) {
	bag := saved(t, "bag", messagesOf([]storage.Topic{bagTopic(t, "/x", "p/A", "int32 a\n")}, []byte{1, 0, 0, 0}))
	record := converted(t, convert.Job{}, bag, "record", filepath.Join(t.TempDir(), "r"))
	rec := load(t, record)
	rec.Topics[0].Schema = storage.Schema{}
	without := saved(t, "record", rec)
	res := compare(t, verify.Job{}, record, without)
	if !res.Equal || len(res.Exceptions) != 1 || res.Exceptions[0].Code != verify.Definitions {
		t.Error(describe(res, &convert.Report{}))
	}
	if compare(t, verify.Job{Exact: []verify.Code{verify.Definitions}}, record, without).Equal {
		t.Error("asked for, it does not count")
	}
}

// TestDamaged: a damaged side is named in the result, whichever it is.
func TestDamaged(t *testing.T) {
	bag, _ := inputs(t, 7, 30)
	whole, err := os.ReadFile(bag)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.bag")
	if err := os.WriteFile(cut, whole[:len(whole)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out.bag")
	if _, err := convert.Run(context.Background(), convert.Job{Source: cut, SourceFormat: registry.Lookup("bag"),
		Sink: out, SinkFormat: registry.Lookup("bag")}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		a, b                     string
		equal, damagedA, damaged bool
	}{{cut, out, true, true, false}, {out, cut, true, false, true}, {cut, cut, true, true, true},
		{cut, bag, false, true, false}, {bag, bag, true, false, false}} {
		for _, level := range []verify.Level{verify.Content, verify.Counts, verify.Bytes} {
			if res := compare(t, verify.Job{Level: level}, c.a, c.b); res.Equal != c.equal || res.A.Damaged != c.damagedA ||
				res.B.Damaged != c.damaged {
				t.Errorf("%s and %s at level %s: equal is %v, damaged are %v, %v", filepath.Base(c.a), filepath.Base(c.b), level,
					res.Equal, res.A.Damaged, res.B.Damaged)
			}
		}
	}
}

// TestHarmlessDamage: damage by which nothing is lost, of an index, is no damage for a conversion and for the
// comparison after it.
func TestHarmlessDamage(t *testing.T) {
	bag, _ := inputs(t, 7, 30)
	b, err := os.ReadFile(bag)
	if err != nil {
		t.Fatal(err)
	}
	// of INDEX_DATA, CHUNK_INFO, and the file header
	const index, info, header = "\x0a\x00\x00\x00count=", "chunk_pos=", "index_pos="
	for _, fields := range [][]string{{info}, {header}, {index, info}} {
		broken, out := filepath.Join(t.TempDir(), "broken.bag"), filepath.Join(t.TempDir(), "out.bag")
		damaged := bytes.Clone(b)
		for _, f := range fields {
			damaged[bytes.Index(b, []byte(f))+len(f)-1] = '<'
		}
		if err := os.WriteFile(broken, damaged, 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := convert.Run(t.Context(), convert.Job{Source: broken, SourceFormat: registry.Lookup("bag"), Sink: out,
			SinkFormat: registry.Lookup("bag")})
		if err != nil || r.Lossy() || len(r.Warnings) == 0 {
			t.Errorf("%q: %v, lossy %v, %v", fields, err, r.Lossy(), r.Warnings)
			continue
		}
		for _, level := range []verify.Level{verify.Content, verify.Counts, verify.Bytes} {
			for _, other := range []string{out, bag} {
				if res := compare(t, verify.Job{Level: level}, broken, other); !res.Equal || res.A.Damaged ||
					len(res.A.Warnings) == 0 {
					t.Errorf("%q at level %s: equal %v, damaged %v, %v", fields, level, res.Equal, res.A.Damaged, res.A.Warnings)
				}
			}
		}
	}
}

// TestDeep: what a type costs is in proportion to its definition, not to the fields
// that its structs have in all.
func TestDeep(t *testing.T) {
	var b strings.Builder
	level := func(i int) string { return "p/L" + string(rune('0'+i/10)) + string(rune('0'+i%10)) }
	for k := range 10 {
		b.WriteString(level(0) + "[] f" + string(rune('0'+k)) + "\n")
	}
	for i := range 30 {
		b.WriteString(section + level(i) + "\n")
		for k := range 10 {
			typ := level(i+1) + "[]"
			if i == 29 {
				typ = "int32"
			}
			b.WriteString(typ + " f" + string(rune('0'+k)) + "\n")
		}
	}
	path := saved(t, "bag", messagesOf([]storage.Topic{bagTopic(t, "/x", "p/A", b.String())}, make([]byte, 40)))
	record := converted(t, convert.Job{}, path, "record", filepath.Join(t.TempDir(), "r"))
	rec := load(t, record)
	withoutOrigin(t, &rec.Topics[0])
	for _, other := range []string{path, record} {
		if res := compare(t, verify.Job{}, path, other); !res.Equal || res.Topics[0].Basis != "content" ||
			res.B.Messages != 1 {
			t.Error(describe(res, &convert.Report{}))
		}
	}
	twin := saved(t, "record", rec)
	back := converted(t, convert.Job{ProtoTypes: mapping.ProtoGenerated}, twin, "bag", filepath.Join(t.TempDir(), "b"))
	if res := compare(t, verify.Job{}, twin, back); !res.Equal || res.B.Messages != 1 {
		t.Error(describe(res, &convert.Report{}))
	}
}

// withoutOrigin takes the ROS definition out of the descriptors of a topic: the type
// becomes one like any other of protobuf.
func withoutOrigin(t testing.TB, topic *storage.Topic) {
	t.Helper()
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(topic.Schema.Data, &set); err != nil {
		t.Fatal(err)
	}
	for _, f := range set.File {
		for _, m := range f.MessageType {
			m.Options = nil
		}
	}
	var err error
	if topic.Schema.Data, err = proto.Marshal(&set); err != nil {
		t.Fatal(err)
	}
}

// TestTimesBeyond: a time that the other format cannot store counts as left out only
// where the other side does not have the message.
func TestTimesBeyond(t *testing.T) {
	rec := messagesOf([]storage.Topic{bagTopic(t, "/x", "p/A", "int32 a\n")}, []byte{1, 0, 0, 0}, []byte{2, 0, 0, 0})
	bag := saved(t, "bag", rec)
	f := *registry.Lookup("bag")
	f.Holds.MaxTime = start // as if the second time were one that its writer refuses
	db3 := converted(t, convert.Job{}, bag, "db3", filepath.Join(t.TempDir(), "r"))
	res, err := verify.Run(context.Background(), verify.Job{A: sideOf(bag, &f), B: sideOf(db3, registry.Lookup("db3"))})
	if err != nil || !res.Equal || res.B.Messages != 2 || leftOut(res) != 0 {
		t.Errorf("%v: %+v", err, res)
	}
	short := saved(t, "bag", storagetest.Recording{Topics: rec.Topics, Messages: rec.Messages[:1]})
	res, err = verify.Run(context.Background(), verify.Job{A: sideOf(short, &f), B: sideOf(db3, registry.Lookup("db3")),
		Ignore: []verify.Code{verify.Unconvertible}})
	if err != nil || !res.Equal || leftOut(res) != 1 {
		t.Errorf("%v: %s", err, describe(res, &convert.Report{}))
	}
}
