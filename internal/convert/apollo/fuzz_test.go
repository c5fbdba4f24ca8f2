package apollo

import (
	"errors"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	protoapollo "github.com/bagconv/bagconv/proto/apollo"
)

// most is how long the output for n bytes may be: see the package comment.
func most(n int) int { return 1024 + 64*n }

// fuzzTypes are the descriptors that are fuzzed: Apollo's and two of vendors.
func fuzzTypes(t testing.TB) []protoreflect.MessageDescriptor {
	out := []protoreflect.MessageDescriptor{vendorCloud(t), ringCloud(t)}
	for _, typ := range types {
		out = append(out, protoapollo.Message(typ.proto))
	}
	return out
}

func fuzzOptions(n byte) Options {
	o := Options{CDR: n&1 != 0}
	if n&2 != 0 {
		o.Frames = FramesREP103
	}
	return o
}

// A pair is the programs of both directions.
type pair struct {
	md   protoreflect.MessageDescriptor
	to   *ToROSProgram
	from *FromROSProgram
}

// fuzzPairs compiles the programs of all types and options, which are the low
// two bits of an index.
func fuzzPairs(t testing.TB) (out []pair) {
	for _, md := range fuzzTypes(t) {
		for flags := range byte(4) {
			to, err := ToROS(md, fuzzOptions(flags))
			if err != nil {
				t.Fatal(err)
			}
			from, err := FromROS(standard(ROSType(string(md.FullName())), fuzzOptions(flags)), md, fuzzOptions(flags))
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, pair{md, to, from})
		}
	}
	return out
}

func seeds(t testing.TB) (out []proto.Message) {
	for name, m := range testMessages() {
		switch name {
		case "PointCloud":
			m = testCloud(3, 2)
		case "Image", "CompressedImage":
			continue // long, and simple
		}
		out = append(out, m)
	}
	return out
}

// FuzzToROS converts any bytes; what comes out can be converted back.
func FuzzToROS(f *testing.F) {
	pairs := fuzzPairs(f)
	for i, p := range pairs {
		for _, m := range seeds(f) {
			if p.md.FullName() == m.ProtoReflect().Descriptor().FullName() {
				f.Add(byte(i), testBytes(f, m))
			}
		}
	}
	f.Fuzz(func(t *testing.T, which byte, b []byte) {
		p := pairs[int(which)%len(pairs)]
		out, err := p.to.AppendAt([]byte("old"), b, now)
		if string(out[:3]) != "old" || len(out) > most(len(b)) {
			t.Fatalf("%d bytes became %d", len(b), len(out))
		}
		if err != nil {
			if proto.Unmarshal(b, dynamicpb.NewMessage(p.md)) == nil {
				t.Fatal("a valid message is refused:", err)
			}
			if len(out) != 3 || !errors.Is(err, ErrMalformed) {
				t.Fatal(len(out), err)
			}
			return
		}
		if _, err := p.from.AppendAt(nil, out[3:], now); err != nil {
			t.Fatal("what was written is not read:", err)
		}
	})
}

// FuzzFromROS converts any bytes; what comes out is a message of Apollo.
func FuzzFromROS(f *testing.F) {
	pairs := fuzzPairs(f)
	for i, p := range pairs {
		for _, m := range seeds(f) {
			if p.md.FullName() == m.ProtoReflect().Descriptor().FullName() {
				b, err := p.to.AppendAt(nil, testBytes(f, m), now)
				if err != nil {
					f.Fatal(err)
				}
				f.Add(byte(i), b)
			}
		}
	}
	f.Fuzz(func(t *testing.T, which byte, b []byte) {
		p := pairs[int(which)%len(pairs)]
		out, err := p.from.AppendAt([]byte("old"), b, now)
		if string(out[:3]) != "old" || len(out) > most(len(b)) {
			t.Fatalf("%d bytes became %d", len(b), len(out))
		}
		if err != nil {
			if len(out) != 3 || !errors.Is(err, ErrMalformed) {
				t.Fatal(len(out), err)
			}
			return
		}
		if err := proto.Unmarshal(out[3:], dynamicpb.NewMessage(p.md)); err != nil {
			t.Fatalf("%x: %v", out[3:], err)
		}
		if _, err := p.to.AppendAt(nil, out[3:], now); err != nil {
			t.Fatal("what was written is not read:", err)
		}
	})
}
