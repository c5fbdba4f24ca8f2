package tables_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/bagconv/bagconv/internal/export/columns"
	"github.com/bagconv/bagconv/internal/export/tables"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/internal/schema/protosource"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema/rosidl"
)

const protoText = `syntax = "proto3"; package p;
import "google/protobuf/timestamp.proto"; import "google/protobuf/duration.proto";
message T {
  enum E { Z = 0; ONE = 1; BIG = 1000; }
  message S { int32 x = 1; repeated E es = 2; google.protobuf.Duration d = 3; repeated string texts = 4; }
  E e = 1; S s = 2; map<string, S> m = 3; google.protobuf.Timestamp at = 4; T self = 5; repeated S list = 6;
  oneof o { float f = 7; S os = 8; E oe = 9; string ot = 10; bool ob = 11; } bytes b = 12; repeated bytes bs = 13;
  map<int32, double> numbers = 14;
}`

// protoRows are messages and their truth: the enums have other numbers without a name in each part.
var protoRows = [][2]string{
	{``, `{"e":"sZ","s":null,"m":[],"at":null,"self":null,"list":[],"f":null,"os":null,"oe":null,"ot":null,"ob":null,"b":[],"bs":[],"numbers":[]}`},
	{`e: ONE s {x: -1 es: [ONE, BIG, 50] d {seconds: -1 nanos: -5} texts: ["a", ""]} m {key: "k" value {x: 2}} m {key: "l" value {d {}}} at {seconds: 1 nanos: 2} self {b: "z"} f: 0.5`,
		`{"e":"sONE","s":{"x":"i-1","es":["sONE","sBIG","s50"],"d":"t-1000000005","texts":["sa","s"]},` +
			`"m":[{"key":"sk","value":{"x":"i2","es":[],"d":null,"texts":[]}},{"key":"sl","value":{"x":"i0","es":[],"d":"t0","texts":[]}}],` +
			`"at":"t1000000002","self":["i98","i1","i122"],"list":[],"f":"f3fe0000000000000","os":null,"oe":null,"ot":null,"ob":null,"b":[],"bs":[],"numbers":[]}`},
	{`e: 51 list {es: [52, 50]} list {texts: "x" d {nanos: 7}} os {} b: "\001\377" bs: ["", "q"] numbers {key: -3 value: 1.5}`,
		`{"e":"s51","s":null,"m":[],"at":null,"self":null,"list":[{"x":"i0","es":["s52","s50"],"d":null,"texts":[]},{"x":"i0","es":[],"d":"t7","texts":["sx"]}],` +
			`"f":null,"os":{"x":"i0","es":[],"d":null,"texts":[]},"oe":null,"ot":null,"ob":null,"b":["i1","i255"],"bs":[[],["i113"]],"numbers":[{"key":"i-3","value":"f3ff8000000000000"}]}`},
	{`e: 53 oe: 54 list {es: [53, 51]}`,
		`{"e":"s53","s":null,"m":[],"at":null,"self":null,"list":[{"x":"i0","es":["s53","s51"],"d":null,"texts":[]}],"f":null,"os":null,"oe":"s54","ot":null,"ob":null,"b":[],"bs":[],"numbers":[]}`},
	{`e: 51 ot: ""`, `{"e":"s51","s":null,"m":[],"at":null,"self":null,"list":[],"f":null,"os":null,"oe":null,"ot":"s","ob":null,"b":[],"bs":[],"numbers":[]}`},
	{`ob: false`, `{"e":"sZ","s":null,"m":[],"at":null,"self":null,"list":[],"f":null,"os":null,"oe":null,"ot":null,"ob":false,"b":[],"bs":[],"numbers":[]}`},
}

// writeProto writes tables of messages of protobuf.
func writeProto(t *testing.T, name string) {
	t.Helper()
	sets, problems := protosource.Compile([]*protosource.File{{Path: "t.proto", Text: protoText}},
		func(*protosource.File, string) *protosource.File { return nil })
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	set, err := protoschema.Parse(sets[0])
	if err != nil {
		t.Fatal(err)
	}
	md, err := set.Message("p.T")
	if err != nil {
		t.Fatal(err)
	}
	typ, err := message.Proto(md)
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	for _, r := range protoRows {
		m := dynamicpb.NewMessage(md)
		if err := prototext.Unmarshal([]byte(r[0]), m); err != nil {
			t.Fatal(err)
		}
		data, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row{data, r[1]})
	}
	writeRows(t, typ, columns.Options{}, rows, 2, name)
}

// A row is a message and its truth.
type row struct {
	data  []byte
	truth string
}

// writeRows writes tables of rows, in parts of so many, and their truth.
func writeRows(t *testing.T, typ *message.Type, o columns.Options, rows []row, size int, name string) {
	t.Helper()
	p, err := columns.Compile(typ, o)
	if err != nil {
		t.Fatal(err)
	}
	var batches []*columns.Batch
	var truth []byte
	for i, r := range rows {
		if i%size == 0 {
			batches = append(batches, p.NewBatch())
		}
		if err := batches[len(batches)-1].Append(r.data, int64(i), int64(i), 0); err != nil {
			t.Fatal(err)
		}
		if r.truth != "" {
			truth = fmt.Appendf(truth, "{\"names\":[\"log_time\"],\"time\":\"t%d\",\"message\":%s}\n", i, r.truth)
		}
	}
	if truth != nil {
		if err := os.WriteFile(name+".json", truth, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, k := range makers {
		if err := os.WriteFile(name+k.ending, write(t, k, p, batches, tables.Options{}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// writeIDL writes tables of messages with unions and optional members.
func writeIDL(t *testing.T, name string) {
	t.Helper()
	m, err := rosidl.Parse("p/msg/T", []byte(`module p { module msg {
		struct P { short x, y; };
		union U switch (long) { case 1: long a; case 2: P p; };
		struct T { U u; @optional P o; @optional long n; }; }; };`))
	if err != nil {
		t.Fatal(err)
	}
	typ, err := message.ROS(m, serial.CDR)
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	for _, r := range [][2]string{
		{"00070000 01000000 05000000 01 00 0600 0700 01 00 09000000",
			`{"u":{"discriminator":"i1","a":"i5","p":null},"o":{"x":"i6","y":"i7"},"n":"i9"}`},
		{"00070000 02000000 0100 0200 00 00",
			`{"u":{"discriminator":"i2","a":null,"p":{"x":"i1","y":"i2"}},"o":null,"n":null}`},
		{"00070000 03000000 00 00", `{"u":{"discriminator":"i3","a":null,"p":null},"o":null,"n":null}`},
	} {
		data, err := hex.DecodeString(strings.ReplaceAll(r[0], " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row{data, r[1]})
	}
	writeRows(t, typ, columns.Options{}, rows, 2, name)
}

const largeText = `time t
string constant
string changing
float64[3] same
float64[3] other
int32[] list
P[] points
uint8[] blob
uint16 counter
bool flag
float32 f
uint8[16] uuid
int8 small
================
MSG: p/P
float32 x
string name
int64[2] pair
`

// writeLarge writes tables with several pages in a part, whose files must be the same to each other: of the values of
// some columns few differ, of some all.
func writeLarge(t *testing.T, name string) {
	t.Helper()
	m, err := rosmsg.Parse("p/T", []byte(largeText), rosmsg.ROS1, nil)
	if err != nil {
		t.Fatal(err)
	}
	typ, err := message.ROS(m, serial.ROS1)
	if err != nil {
		t.Fatal(err)
	}
	g := rand.New(rand.NewPCG(5, 5))
	var rows []row
	for i := range 3_000 {
		le := binary.LittleEndian
		text := func(b []byte, s string) []byte { return append(le.AppendUint32(b, uint32(len(s))), s...) }
		random := func(b []byte, n int) []byte {
			for range n {
				b = append(b, byte(g.Uint32()))
			}
			return b
		}
		b := le.AppendUint32(le.AppendUint32(nil, uint32(i/100)), uint32(i%100))
		b = text(text(b, "a constant"), fmt.Sprint("text ", g.Uint32()))
		b = append(b, make([]byte, 24)...)
		b = random(b, 24)
		n := g.IntN(4)
		b = random(le.AppendUint32(b, uint32(n)), 4*n)
		n = g.IntN(3)
		b = le.AppendUint32(b, uint32(n))
		for range n {
			b = random(text(random(b, 4), fmt.Sprint("point ", g.IntN(5))), 16)
		}
		n = g.IntN(200)
		b = random(le.AppendUint32(b, uint32(n)), n)
		b = append(le.AppendUint16(b, uint16(i/7)), byte(i/100%2))
		b = append(random(b, 20), byte(g.IntN(9)-4))
		rows = append(rows, row{data: b})
	}
	writeRows(t, typ, columns.Options{}, rows, 2_500, name)
}

// TestSameBytes: the same batches make the same file, also if another batch was in the same memory before; a part
// belongs to its table; a table without rows is one.
func TestSameBytes(t *testing.T) {
	p := imuProgram(t)
	messages := imu(300)
	fill := func(b *columns.Batch, from, to int) *columns.Batch {
		for i := from; i < to; i++ {
			if err := b.Append(messages[i], int64(i), 0, 0); err != nil {
				t.Fatal(err)
			}
		}
		return b
	}
	for _, k := range makers {
		used := fill(p.NewBatch(), 200, 300)
		used.Reset()
		a := write(t, k, p, []*columns.Batch{fill(p.NewBatch(), 0, 200)}, tables.Options{})
		write(t, k, p, []*columns.Batch{fill(p.NewBatch(), 0, 10)}, tables.Options{})
		b := write(t, k, p, []*columns.Batch{fill(used, 0, 200)}, tables.Options{})
		if string(a) != string(b) {
			t.Errorf("%s: %d and %d bytes", k.ending, len(a), len(b))
		}
		if empty := write(t, k, p, nil, tables.Options{}); len(empty) == 0 {
			t.Error(k.ending, "has nothing")
		}
		part, err := mustMake(t, k, p).Encode(fill(p.NewBatch(), 0, 1))
		if err != nil {
			t.Fatal(err)
		}
		if err := mustMake(t, k, p).Append(part); err == nil {
			t.Error(k.ending, "took the part of another table")
		}
	}
}

func mustMake(t *testing.T, k maker, p *columns.Program) tables.Table {
	t.Helper()
	table, err := k.make(new(strings.Builder), p.Schema(), tables.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// writeOdd writes the tables of this file.
func writeOdd(t *testing.T, dir string) {
	writeProto(t, filepath.Join(dir, "proto"))
	writeIDL(t, filepath.Join(dir, "idl"))
	writeLarge(t, filepath.Join(dir, "large"))
}

// TestParallel: parts that several goroutines make at a time are those that one makes.
func TestParallel(t *testing.T) {
	p := imuProgram(t)
	messages := imu(4000)
	var batches []*columns.Batch
	for i, m := range messages {
		if i%500 == 0 {
			batches = append(batches, p.NewBatch())
		}
		if err := batches[len(batches)-1].Append(m, int64(i), 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, k := range makers {
		want := write(t, k, p, batches, tables.Options{})
		var out bytes.Buffer
		table, err := k.make(&out, p.Schema(), tables.Options{})
		if err != nil {
			t.Fatal(err)
		}
		tables.SetPages(table, 3000, 0)
		parts := make([]tables.Part, len(batches))
		errs := make([]error, len(batches))
		var all sync.WaitGroup
		for i, b := range batches {
			all.Go(func() { parts[i], errs[i] = table.Encode(b) })
		}
		all.Wait()
		for i, part := range parts {
			if err := errors.Join(errs[i], table.Append(part)); err != nil {
				t.Fatal(err)
			}
		}
		if err := table.Close(); err != nil || !bytes.Equal(out.Bytes(), want) {
			t.Errorf("%s: %v, %d and %d bytes", k.ending, err, out.Len(), len(want))
		}
	}
}

// TestFaults: an error of the writer is that of the table.
func TestFaults(t *testing.T) {
	p := imuProgram(t)
	b := p.NewBatch()
	if err := b.Append(imu(1)[0], 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	for _, k := range makers {
		for n := range 40 {
			w := &faulty{n: n}
			table, err := k.make(w, p.Schema(), tables.Options{})
			if err == nil {
				var part tables.Part
				if part, err = table.Encode(b); err == nil {
					err = errors.Join(table.Append(part), table.Close())
				}
			}
			if w.failed != errors.Is(err, errFault) {
				t.Fatalf("%s: after %d writes: %v", k.ending, n, err)
			}
		}
	}
}

var errFault = errors.New("a fault")

// A faulty writer fails after n writes.
type faulty struct {
	n      int
	failed bool
}

func (f *faulty) Write(p []byte) (int, error) {
	if f.n--; f.n < 0 {
		f.failed = true
		return 0, errFault
	}
	return len(p), nil
}
