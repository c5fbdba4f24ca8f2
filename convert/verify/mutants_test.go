package verify_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/verify"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/render"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/internal/testing/typetree"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// A tree is a random type with messages of it, and what a conversion makes of its
// topic in each format.
type tree struct {
	typ     *typetree.Message
	values  [][]typetree.Value
	source  storagetest.Recording // a ROS 1 bag of them
	path    string
	outputs map[string]storagetest.Recording // by format
	descr   protoreflect.MessageDescriptor   // of the record
}

// trees makes n random types with messages.
func trees(t *testing.T, seed uint64, n int) []*tree {
	t.Helper()
	world := typetree.New(seed, n, typetree.Options{})
	dir := t.TempDir()
	var out []*tree
	for i, m := range world.Roots {
		tr := &tree{typ: m, outputs: map[string]storagetest.Recording{}}
		tr.source.Topics = []storage.Topic{{Name: "/t", Type: m.TypeName(typetree.ROS1), Encoding: "ros1",
			Schema: storage.Schema{Encoding: "ros1msg", Data: typetree.AppendText(nil, m, typetree.ROS1)},
			Metadata: map[string]string{storage.MetaMD5Sum: typetree.MD5(m), storage.MetaCallerID: "/test",
				storage.MetaLatching: "0"}}}
		for k := range 3 {
			v := world.Value(m)
			tr.values = append(tr.values, v)
			at := int64(start + k*1e9)
			tr.source.Messages = append(tr.source.Messages, storage.Message{LogTime: at, PublishTime: at,
				Data: typetree.AppendROS1(nil, m, v)})
		}
		stem := filepath.Join(dir, fmt.Sprint(i))
		tr.path = save(t, registry.Lookup("bag"), stem, tr.source)
		for _, to := range []string{"bag", "db3", "record"} {
			tr.outputs[to] = load(t, converted(t, convert.Job{ProtoTypes: mapping.ProtoGenerated}, tr.path, to, stem+"to"))
		}
		topic := &tr.outputs["record"].Topics[0]
		set, err := protoschema.Parse(topic.Schema.Data)
		if err == nil {
			tr.descr, err = set.Message(topic.Type)
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, tr)
	}
	return out
}

// encodings are those of the formats.
var encodings = map[string]string{"bag": "ros1", "db3": "cdr", "record": "protobuf"}

// with returns the recording of a format in which messages have other bytes.
func (tr *tree) with(to string, e *faulty, which int) storagetest.Recording {
	rec := clone(tr.outputs[to])
	for i := range rec.Messages {
		here := faulty{encoding: encodings[to]}
		if i == which {
			here.fault, here.site = e.fault, e.site
		}
		rec.Messages[i].Data = here.encode(tr.typ, tr.values[i], tr.descr)
	}
	return rec
}

// text is what another reader of CDR finds in a message; an error is one line of it.
func (tr *tree) text(t *testing.T, data []byte) []string {
	t.Helper()
	topic := tr.outputs["db3"].Topics[0]
	msg, err := rosmsg.Parse(topic.Type, topic.Schema.Data, rosmsg.ROS2, nil)
	if err != nil {
		t.Fatal(err)
	}
	typ, err := message.ROS(msg, serial.CDR)
	if err != nil {
		t.Fatal(err)
	}
	p, err := render.Compile(typ, render.Options{Bytes: true, Arrays: true})
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Append(nil, data)
	return []string{string(out), fmt.Sprint(err)}
}

// TestTrees: random types and values that were converted, and those that another
// encoder wrote, are equal in all formats: 60 types, and 150 with BAGCONV_EXHAUSTIVE=1.
func TestTrees(t *testing.T) {
	dir := t.TempDir()
	for i, tr := range trees(t, 1, samples.Pick(150, 60, 30)) {
		for to, rec := range tr.outputs {
			for k, v := range tr.values {
				if want := typetree.AppendCDR(nil, tr.typ, v); to == "db3" && !bytes.Equal((&faulty{encoding: "cdr"}).encode(tr.typ,
					v, nil), want) {
					t.Fatalf("type %d, message %d: the encoder of the test is wrong", i, k)
				}
			}
			for name, r := range map[string]storagetest.Recording{"converted": rec, "encoded": tr.with(to, nil, -1)} {
				path := save(t, registry.Lookup(to), filepath.Join(dir, fmt.Sprint(i, name)), r)
				for _, sides := range [][2]string{{tr.path, path}, {path, tr.path}} {
					if res := compare(t, verify.Job{}, sides[0], sides[1]); !res.Equal {
						t.Errorf("type %d, %s, %s: %s\n%s", i, to, name, describe(res, &convert.Report{}),
							tr.source.Topics[0].Schema.Data)
					}
				}
			}
		}
	}
}

// faults are those of faulty, and the encodings that have them; nil: all.
var faults = map[string][]string{
	"header missing": {"cdr"}, "header big endian": {"cdr"}, "header parameter list": {"cdr"},
	"zeros after": {"ros1", "cdr"}, "byte after": {"ros1", "cdr"}, "end cut": nil,
	"padding to 4": {"cdr"}, "padding from the header": {"cdr"}, "padding missing": {"cdr"}, "padding too much": {"cdr"},
	"padding of an empty list":  {"cdr"},
	"empty struct without byte": {"cdr"}, "empty struct with byte": {"ros1"},
	"fields swapped": nil, "field left out": {"ros1", "cdr"}, "field twice": {"ros1", "cdr"},
	"list without count": {"ros1", "cdr"}, "array with count": {"ros1", "cdr"}, "count too large": {"ros1", "cdr"},
	"count too small":  {"ros1", "cdr"},
	"elements swapped": nil, "list reversed": nil, "first element repeated": nil, "last element dropped": nil,
	"element doubled": nil,
	"byte order":      {"ros1", "cdr"}, "number too narrow": {"ros1", "cdr"}, "number too wide": {"ros1", "cdr"},
	"time without sign": nil, "second off": nil, "nanosecond off": nil, "microseconds": nil, "nanoseconds dropped": nil,
	"words of a time swapped":  nil,
	"nanoseconds without sign": {"protobuf"}, "seconds without sign": {"protobuf"},
	"bool inverted": nil, "number without sign": nil, "integer as float": nil, "not a number as zero": nil,
	"zero without sign":       nil,
	"float without precision": nil, "low half of a number": nil, "number as zero": nil, "bit flipped": nil,
	"string without end": {"cdr"}, "end of string not counted": {"cdr"}, "string with an end": {"ros1"},
	"string cut": nil, "string empty": nil, "string as ASCII": nil, "string encoded twice": nil, "string until NUL": nil,
	"wrong field number": {"protobuf"}, "value that is no default left out": {"protobuf"},
	"field that nobody knows": {"protobuf"},
	"another wire type":       {"protobuf"}, "message too short": {"protobuf"}, "sign not folded": {"protobuf"},
	"sign lost": {"protobuf"}, "sign that it has not": {"protobuf"},
}

// tolerated are faults of CDR that some readers pass over.
var tolerated = map[string]bool{"zeros after": true, "byte after": true, "string without end": true}

// TestFaults: every fault that a re-encoder could have is found, in each encoding
// that can have it, at random sites of random types: at 3 of each, and at 8 with BAGCONV_EXHAUSTIVE=1.
func TestFaults(t *testing.T) {
	types, each := samples.Pick(60, 60, 25), samples.Pick(8, 3, 2)
	all := trees(t, 2, types)
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(2, 2))
	for _, fault := range slices.Sorted(maps.Keys(faults)) {
		for to, encoding := range encodings {
			if in := faults[fault]; in != nil && !slices.Contains(in, encoding) {
				continue
			}
			planted := 0
			for try := 0; planted < each && try < 40*each; try++ {
				tr := all[rng.IntN(len(all))]
				which := rng.IntN(len(tr.values))
				e := &faulty{encoding: encoding, fault: fault, site: -1}
				e.encode(tr.typ, tr.values[which], tr.descr)
				if e.sites == 0 {
					continue
				}
				e.site = rng.IntN(e.sites)
				right := (&faulty{encoding: encoding}).encode(tr.typ, tr.values[which], tr.descr)
				wrong := e.encode(tr.typ, tr.values[which], tr.descr)
				if bytes.Equal(right, wrong) || encoding == "cdr" && !tolerated[fault] && slices.Equal(tr.text(t, right),
					tr.text(t, wrong)) {
					continue // what is wrong is where padding is: no reader sees it
				}
				planted++
				path := save(t, registry.Lookup(to), filepath.Join(dir, fmt.Sprint(fault, try)), tr.with(to, e, which))
				res := compare(t, verify.Job{}, tr.path, path)
				if first := res.Topics[0].First; res.Equal || first.Index >= 0 && int64(first.Index) != int64(which) {
					t.Errorf("%s, %s, site %d of message %d: equal is %v, %+v\n%x\n%x\n%s", fault, encoding, e.site, which, res.Equal,
						first, right, wrong, tr.source.Topics[0].Schema.Data)
				}
			}
			if planted == 0 {
				t.Errorf("%s: no type has a place for it in %s", fault, encoding)
			}
		}
	}
}
