package values

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/convert/content"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/render"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/internal/testing/typetree"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// The programs of this package and of render, and the reader of content, judge the cursor of package message: on random
// types in every form, on damaged messages and on recordings all find the same values and the same errors.

// cursorFields returns the struct at a cursor as a map, as a Codec of maps does.
func cursorFields(c *message.Cursor, typ *message.Type) any {
	out := map[string]any{}
	c.Fields(typ, func(f *message.Field) {
		if f.Presence && !c.Present(f) {
			return
		}
		if v := cursorValue(c, f); c.OK() {
			out[f.Name] = v
		}
	})
	return out
}

func cursorValue(c *message.Cursor, f *message.Field) any {
	n := 1
	if f.List {
		n = c.Count(f)
	}
	var list []any
	one := func(int) {
		switch {
		case f.Clock == schema.Time:
			list = append(list, time.Unix(c.Time(f)).UTC())
		case f.Clock == schema.Duration:
			sec, nsec := c.Time(f)
			list = append(list, time.Duration(sec*1e9+nsec))
		case f.Type != nil:
			list = append(list, cursorFields(c, f.Type))
		default:
			list = append(list, string(c.Text(f)))
		}
	}
	switch {
	case f.Size > 0 && !f.List && n == 1:
		list = append(list, number(f, binary.LittleEndian.AppendUint64(nil, c.Bits(f))))
	case f.Size > 0:
		for p := c.Numbers(f, n); len(p) > 0; p = p[f.Size:] {
			list = append(list, number(f, p))
		}
	case f.List:
		c.Elements(f, n, one)
	default:
		one(0)
	}
	if f.List || len(list) == 0 {
		return list
	}
	return list[0]
}

func number(f *message.Field, p []byte) any {
	v := make([]byte, 8)
	copy(v, p[:f.Size])
	bits := binary.LittleEndian.Uint64(v)
	switch {
	case f.Kind == message.Bool:
		return bits != 0
	case f.Kind == message.Float && f.Size == 4:
		return math.Float32frombits(uint32(bits))
	case f.Kind == message.Float:
		return math.Float64frombits(bits)
	case f.Kind == message.Signed:
		return int64(bits) << (64 - 8*f.Size) >> (64 - 8*f.Size)
	}
	return bits
}

// plainText prints a tree without the names of its types; nil lists and empty ones are one.
func plainText(v any) string {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]string{}
		for k, v := range v {
			out[k] = plainText(v)
		}
		return fmt.Sprint(out)
	case []byte:
		return fmt.Sprint([]byte(string(v)))
	case string:
		return fmt.Sprint([]byte(v))
	}
	if r := reflect.ValueOf(v); r.IsValid() && r.Kind() == reflect.Slice {
		out := make([]string, r.Len())
		for i := range out {
			out[i] = plainText(r.Index(i).Interface())
		}
		return fmt.Sprint(out)
	}
	return fmt.Sprint(v)
}

// judges are the other readers of a type; nil: it has none.
type judges struct {
	typ    *message.Type
	values *Codec[map[string]any]
	render *render.Program
	canon  *content.Program
}

func judgesOf(t testing.TB, d *mapping.Definition) (j judges) {
	t.Helper()
	var err error
	if j.typ, err = d.Type(); err != nil {
		return judges{}
	}
	if j.render, err = render.Compile(j.typ, render.Options{Bytes: true, Arrays: true}); err != nil {
		t.Fatal(err)
	}
	if d.ROS != nil {
		j.canon, _ = content.FromROS(d.ROS, d.Wire, content.Canonical(d.ROS, false), false)
	}
	if j.values, err = compileFor[map[string]any](d); err != nil {
		t.Fatal(err)
	}
	return j
}

// agree compares all readers of a message.
func (j *judges) agree(src []byte) string {
	c := message.Open(j.typ, src)
	defer c.Close()
	tree := cursorFields(c, j.typ)
	got := c.End()
	var v map[string]any
	want := j.values.Decode(src, &v)
	switch {
	case errors.Is(want, ErrRange): // a time of protobuf that Go does not hold
		return ""
	case (got == nil) != (want == nil):
		return fmt.Sprintf("the cursor: %v, values: %v", got, want)
	case got == nil && plainText(tree) != plainText(v):
		return fmt.Sprintf("the cursor and values differ:\n%s\n%s", plainText(tree), plainText(v))
	}
	var a, b *ros.Error
	if errors.As(got, &a) && errors.As(want, &b) && *a != *b && !strings.Contains(a.What+b.What, "elements") &&
		!strings.Contains(a.What+b.What, "too many") {
		return fmt.Sprintf("the cursor: %v, values: %v", got, want)
	}
	_, want = j.render.Append(nil, src)
	if (got == nil) != (want == nil) {
		return fmt.Sprintf("the cursor: %v, render: %v", got, want)
	}
	if j.canon != nil {
		if want = j.canon.Read(content.NewWriter(false), src); (got == nil) != (want == nil) {
			return fmt.Sprintf("the cursor: %v, content: %v", got, want)
		}
	}
	c = message.Open(j.typ, src)
	defer c.Close()
	if c.Fields(j.typ, c.Check); (c.End() == nil) != (got == nil) {
		return fmt.Sprintf("Check: %v, not %v", c.Err(), got)
	}
	return j.seek(src, v, got)
}

// seek compares what Seek finds with the tree, for all paths of numbers and times.
func (j *judges) seek(src []byte, v map[string]any, wrong error) string {
	if wrong != nil {
		return ""
	}
	for i := range j.typ.Fields {
		f := &j.typ.Fields[i]
		name, tree := f.Name, v[f.Name]
		if r := reflect.ValueOf(tree); f.List && r.Len() > 0 {
			name, tree = fmt.Sprintf("%s[%d]", f.Name, r.Len()-1), r.Index(r.Len()-1).Interface()
		}
		p, err := j.typ.Path(name)
		if err != nil {
			return err.Error()
		}
		c := message.Open(j.typ, src)
		found := c.Seek(p)
		one := *f
		one.List = f.List && !strings.Contains(name, "[")
		switch {
		case c.Err() != nil:
			return fmt.Sprintf("Seek of %s: %v", name, c.Err())
		case !found && !(f.Presence && tree == nil) && f.Type == nil:
			return name + " is not found"
		case found && !f.Presence && (f.Type == nil || f.Clock != 0 || f.List):
			if got := plainText(cursorValue(c, &one)); got != plainText(tree) {
				return fmt.Sprintf("%s is %s, not %s", name, got, plainText(tree))
			}
		}
		c.Close()
	}
	return ""
}

// TestCursorTrees: random types in every form, whole and damaged.
func TestCursorTrees(t *testing.T) {
	seeds, n := 300, 0
	if testing.Short() {
		seeds = 60
	}
	for seed := range uint64(seeds) {
		w := typetree.New(seed, 3, typetree.Options{ROS2: seed%2 == 1, Odd: seed%3 == 0})
		g := rand.New(rand.NewPCG(seed, 4))
		for _, m := range w.Roots {
			for form, l := range layouts {
				ros1 := form == 0
				if ros1 != (seed%2 == 0) {
					continue
				}
				dialect, tree, encoding := rosmsg.ROS2, typetree.ROS2, "cdr"
				if ros1 {
					dialect, tree, encoding = rosmsg.ROS1, typetree.ROS1, "ros1"
				}
				msg, err := rosmsg.Parse(m.TypeName(tree), typetree.AppendText(nil, m, tree), dialect, nil)
				if err != nil {
					t.Fatal(err)
				}
				j := judgesOf(t, &mapping.Definition{ROS: msg, Wire: serial.Of(encoding)})
				e := encoder{layout: l}
				e.message(m, w.Value(m))
				src := append(bytes.Clone(l.header), e.out...)
				for k := range 30 {
					b := src
					if n++; k > 0 {
						b = broken(g, src)
					}
					if diff := j.agree(b); diff != "" {
						t.Fatalf("seed %d, %s, form %d, try %d: %s\n% x", seed, m.Name, form, k, diff, b)
					}
				}
			}
		}
	}
	if n < 1000 {
		t.Fatalf("only %d messages", n)
	}
}

// broken changes and cuts a message.
func broken(g *rand.Rand, src []byte) []byte {
	b := bytes.Clone(src)
	for range min(len(b), g.IntN(3)) {
		b[g.IntN(len(b))] = []byte{0, 1, 2, 0x7f, 0x80, 0xff, byte(g.Uint32())}[g.IntN(7)]
	}
	if g.IntN(2) == 0 {
		return b
	}
	return b[:g.IntN(len(b)+1)]
}

// TestCursorProto: random messages of protobuf, whole, damaged, and two behind each other, which is both.
func TestCursorProto(t *testing.T) {
	for _, syntax := range []string{"proto2", "proto3"} {
		md := everything(t, syntax, true)
		j := judgesOf(t, &mapping.Definition{Proto: md})
		g := drafter{rand.New(rand.NewPCG(5, 6))}
		for range 60 {
			var src []byte
			for range 1 + g.IntN(2) {
				m := dynamicpb.NewMessage(md)
				g.fill(m, 0)
				more, err := proto.Marshal(m)
				if err != nil {
					t.Fatal(err)
				}
				src = append(src, more...)
			}
			for k := range 8 {
				b := src
				if k > 0 {
					b = broken(g.Rand, src)
				}
				if diff := j.agree(b); diff != "" {
					t.Fatalf("%s, try %d: %s\n% x", syntax, k, diff, b)
				}
			}
		}
	}
}

// FuzzCursor: all readers agree about any bytes of a type with every kind.
func FuzzCursor(f *testing.F) {
	const text = "Empty e\nEmpty[] es\nPair[] ps\nPair[2] two\nint8 a\nfloat64[] b\nstring[] c\nbool d\nuint16[3] x\n"
	look := func(string) (string, bool) { return "", false }
	parts := "================\nMSG: p/Empty\n================\nMSG: p/Pair\nint8 a\nfloat64 b\n"
	var j []judges
	for _, d := range []struct {
		dialect  rosmsg.Dialect
		name     string
		more     string
		encoding string
	}{{rosmsg.ROS1, "p/T", "time t\nduration[] u\n", "ros1"},
		{rosmsg.ROS2, "p/msg/T", "wstring w\nstring<=3[<=2] s\nbyte[] z\n", "cdr"}} {
		msg, err := rosmsg.Parse(d.name, []byte(text+d.more+parts), d.dialect, look)
		if err != nil {
			f.Fatal(err)
		}
		j = append(j, judgesOf(f, &mapping.Definition{ROS: msg, Wire: serial.Of(d.encoding)}))
	}
	for _, syntax := range []string{"proto2", "proto3"} {
		j = append(j, judgesOf(f, &mapping.Definition{Proto: everything(f, syntax, true)}))
	}
	f.Add(uint8(0), []byte{255, 255, 255, 127})
	for _, l := range layouts[1:] {
		f.Add(uint8(1), append(bytes.Clone(l.header), make([]byte, 200)...))
	}
	f.Add(uint8(2), []byte{0x08, 1})
	f.Fuzz(func(t *testing.T, which uint8, data []byte) {
		if diff := j[int(which)%len(j)].agree(data); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestCursorRecordings: all messages of all recordings of the tests that have up to 4 MB, and with BAGCONV_EXHAUSTIVE=1
// up to 20.
func TestCursorRecordings(t *testing.T) {
	n := 0
	for _, root := range samples.Roots(t) {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if info, err := d.Info(); err != nil || info.Size() > int64(samples.Pick(20, 4, 1))<<20 {
				return err
			}
			if r, err := all.Open(context.Background(), path, storage.ReadOptions{}); err == nil {
				n += cursorRecording(t, path, r)
				r.Close()
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n < 1000 {
		t.Fatalf("only %d messages", n)
	}
}

func cursorRecording(t *testing.T, path string, r storage.Reader) (n int) {
	info := r.Info()
	mapper := mapping.New(mapping.Options{SourceDistro: mapping.DefaultDistro})
	known := make([]*judges, len(info.Topics))
	for i := range info.Topics {
		topic := &info.Topics[i].Topic
		if d, err := mapper.Define(topic); err == nil && d.Head == nil && slices.Contains([]string{"ros1", "cdr", "protobuf"},
			topic.Encoding) {
			j := judgesOf(t, d)
			known[i] = &j
		}
	}
	for n < 2000 {
		m, err := r.ReadNext()
		if errors.Is(err, io.EOF) || err != nil {
			return n
		}
		if int(m.Topic) >= len(known) || known[m.Topic] == nil || known[m.Topic].typ == nil {
			continue
		}
		n++
		if diff := known[m.Topic].agree(m.Data); diff != "" {
			t.Errorf("%s, %s: %s", path, info.Topics[m.Topic].Name, diff)
			return n
		}
	}
	return n
}
