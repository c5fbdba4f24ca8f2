package columns_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/bagconv/bagconv/internal/export/columns"
	"github.com/bagconv/bagconv/internal/testing/typetree"
)

// The types that recordings are full of.
func benchTypes() map[string]*typetree.Message {
	array := func(f typetree.Field, n int) typetree.Field {
		f.Array, f.Len = typetree.List, 0
		if n > 0 {
			f.Array, f.Len = typetree.Fixed, n
		}
		return f
	}
	number := func(name, kind string) typetree.Field { return typetree.Field{Name: name, Kind: typetree.Kind(kind)} }
	doubles := func(name string, members string) typetree.Field {
		m := &typetree.Message{Package: "t", Name: strings.ToUpper(members)}
		for _, c := range members {
			m.Fields = append(m.Fields, number(string(c), "float64"))
		}
		return typetree.Field{Name: name, Message: m}
	}
	header := typetree.Field{Name: "header", Message: &typetree.Message{Package: "std_msgs", Name: "Header",
		Fields: []typetree.Field{
			{Name: "seq", Kind: "uint32", OnlyROS1: true}, number("stamp", "time"), number("frame_id", "string")}}}
	transform := &typetree.Message{Package: "t", Name: "T", Fields: []typetree.Field{header,
		number("child_frame_id", "string"), doubles("translation", "xyz"), doubles("rotation", "xyzw")}}
	point := &typetree.Message{Package: "t", Name: "P", Fields: []typetree.Field{number("x", "float32"),
		number("y", "float32"), number("i", "uint16")}}
	types := map[string]*typetree.Message{
		"Imu": {Fields: []typetree.Field{header, doubles("orientation", "xyzw"),
			array(number("orientation_covariance", "float64"), 9),
			doubles("angular_velocity", "xyz"), array(number("angular_velocity_covariance", "float64"), 9),
			doubles("linear_acceleration", "xyz"), array(number("linear_acceleration_covariance", "float64"), 9)}},
		"TF":     {Fields: []typetree.Field{array(typetree.Field{Name: "transforms", Message: transform}, 0)}},
		"Scan":   {Fields: []typetree.Field{header, array(number("ranges", "float32"), 0)}},
		"Image":  {Fields: []typetree.Field{header, array(number("data", "uint8"), 0)}},
		"Points": {Fields: []typetree.Field{header, array(typetree.Field{Name: "points", Message: point}, 0)}},
	}
	for name, m := range types {
		m.Package, m.Name = "t", name
	}
	return types
}

// benchValue makes values as real messages have them: covariances are zero, other numbers random.
func benchValue(g *rand.Rand, m *typetree.Message, n int) (v []typetree.Value) {
	for i := range m.Fields {
		f := &m.Fields[i]
		count := 1
		switch f.Array {
		case typetree.Fixed:
			count = f.Len
		case typetree.List:
			count = n
		}
		list := make([]typetree.Value, count)
		for k := range list {
			switch {
			case f.Message != nil:
				list[k] = benchValue(g, f.Message, n)
			case f.Kind == "string":
				list[k] = "base_link"
			case f.Kind == "time":
				list[k] = typeTime(g)
			case f.Kind == "float64" && f.Array == typetree.Fixed:
				list[k] = 0.0
			case strings.HasPrefix(string(f.Kind), "float"):
				list[k] = g.NormFloat64()
			default:
				list[k] = uint64(g.Uint32())
			}
		}
		if v = append(v, list); f.Array == typetree.One {
			v[i] = list[0]
		}
	}
	return v
}

func typeTime(g *rand.Rand) time.Duration {
	return time.Duration(1_700_000_000_000_000_000 + g.Int64N(1e15))
}

var benchCounts = map[string]int{"TF": 20, "Scan": 1080, "Image": 6_200_000, "Points": 2000}

// BenchmarkAppend takes messages of the sizes that real ones have; bytes are those of the serialized message.
func BenchmarkAppend(b *testing.B) {
	for _, name := range []string{"Imu", "TF", "Scan", "Points", "Image"} {
		for _, f := range []*form{&forms[0], &forms[1], &forms[5], &forms[7]} {
			if name == "Image" && f.name != "ROS 1" {
				continue
			}
			b.Run(fmt.Sprintf("%s/%s", name, strings.ReplaceAll(f.name, " ", "")), func(b *testing.B) {
				m := benchTypes()[name]
				typ, md := f.typeOf(b, m)
				p, err := columns.Compile(typ, columns.Options{})
				if err != nil {
					b.Fatal(err)
				}
				data := f.encode(b, m, benchValue(rand.New(rand.NewPCG(1, 1)), m, benchCounts[name]), md)
				batch := p.NewBatch()
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					if err := batch.Append(data, 1, 2, 0); err != nil {
						b.Fatal(err)
					}
					if batch.Len()*len(data) > 8<<20 {
						batch.Reset()
					}
				}
			})
		}
	}
}
