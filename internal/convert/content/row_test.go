package content

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bagconv/bagconv/internal/schema/protoschema"
	sensormsgs "github.com/bagconv/bagconv/proto/apollo/sensor_msgs"
)

// TestRows: the points of a cloud have the same content read as rows and field by field, in any order, with
// numbers that are not set or come twice, NaN, and damage.
func TestRows(t *testing.T) {
	md := (&sensormsgs.PointCloud{}).ProtoReflect().Descriptor()
	gen, err := protoschema.NewNamer(false).ROS(md)
	if err != nil {
		t.Fatal(err)
	}
	typ := Canonical(gen, true)
	fast, err := FromProto(md, gen, true, typ, true)
	if err != nil {
		t.Fatal(err)
	}
	slow, err := FromProto(md, gen, true, typ, true)
	if err != nil {
		t.Fatal(err)
	}
	if cleared := clearCells(slow.root); cleared != 1 {
		t.Fatalf("%d types of rows, not the type of points alone", cleared)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	results := map[string]int{}
	for range 2000 {
		message := randomCloud(rng)
		var text [2]string
		for i, p := range []*Program{fast, slow} {
			w := NewWriter(true)
			err := p.Read(w, message)
			text[i] = fmt.Sprint(err, w.Rest)
			if err == nil {
				text[i] += fmt.Sprintf(" %x", w.Bytes())
			}
		}
		if text[0] != text[1] {
			t.Fatalf("%x:\n%s\n%s", message, text[0], text[1])
		}
		results[text[0][:5]]++
	}
	if len(results) < 2 {
		t.Errorf("all have one result: %v", results)
	}
}

// clearCells has a program read all structs field by field, and returns how many of its types were read as rows.
func clearCells(n *node) (cleared int) {
	if n.cells != nil {
		n.cells = nil
		cleared++
	}
	for i := range n.steps {
		if sub := n.steps[i].node; sub != nil {
			cleared += clearCells(sub)
		}
	}
	return cleared
}

// randomCloud returns a cloud of some points, nearly all as writers write them.
func randomCloud(rng *rand.Rand) (message []byte) {
	for range rng.IntN(20) {
		var parts [][]byte
		for num := range protowire.Number(3) {
			x := []uint32{math.Float32bits(float32(rng.NormFloat64())), 0x7fc00001, 0xff800000}[rng.IntN(3)]
			parts = append(parts, protowire.AppendFixed32(protowire.AppendTag(nil, num+1, protowire.Fixed32Type), x))
		}
		for num := range protowire.Number(2) {
			v := rng.Uint64() >> rng.UintN(64)
			parts = append(parts, protowire.AppendVarint(protowire.AppendTag(nil, num+4, protowire.VarintType), v))
		}
		switch rng.IntN(10) {
		case 0:
			rng.Shuffle(len(parts), func(i, k int) { parts[i], parts[k] = parts[k], parts[i] })
		case 1:
			parts = parts[rng.IntN(len(parts)+1):]
		case 2:
			parts = append(parts, parts[rng.IntN(len(parts))])
		}
		message = protowire.AppendBytes(protowire.AppendTag(message, 4, protowire.BytesType), bytes.Join(parts, nil))
	}
	if len(message) > 0 && rng.IntN(10) == 0 {
		message[rng.IntN(len(message))] ^= byte(1 << rng.IntN(8))
	}
	return message
}
