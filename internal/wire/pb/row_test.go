package pb

import (
	"math/rand/v2"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// numbersType has a single field of each kind of number, numbered from 1, declared in another order.
func numbersType() *Type {
	var fields []Field
	for kind := protoreflect.BoolKind; kind <= protoreflect.GroupKind; kind++ {
		if wire, number := WireOf(kind); number {
			fields = append(fields, Field{protowire.Number(len(fields) + 1), kind, wire, false, true, false, -1})
		}
	}
	slices.Reverse(fields)
	return NewType(fields, 0)
}

// FuzzRow: a message that Row reads has the numbers that an Index finds, and nothing else.
func FuzzRow(f *testing.F) {
	typ := numbersType()
	rng := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		f.Add(rowOf(typ, rng))
	}
	f.Add([]byte("\x08\x01\x08\x02"))
	f.Add([]byte("\x08\x80"))
	f.Fuzz(func(t *testing.T, message []byte) {
		got := make([]uint64, len(typ.Fields))
		if !typ.Row(message, got) {
			return
		}
		x, _ := NewIndex(message)
		defer x.Release()
		var v View
		if err := x.Open(&v, typ, message); err != nil || x.Unknown {
			t.Fatalf("%x: %v, unknown %t", message, err, x.Unknown)
		}
		for i := range typ.Fields {
			want := uint64(0)
			if begin, end, ok := x.Single(&v, i); ok {
				want, _ = Number(typ.Fields[i].Kind, message[begin:end])
			}
			if got[i] != want {
				t.Errorf("%x: field %d is %x, want %x", message, typ.Fields[i].Num, got[i], want)
			}
		}
	})
}

// rowOf returns a message with some of the fields, in the order of their numbers.
func rowOf(typ *Type, rng *rand.Rand) (message []byte) {
	for num := range protowire.Number(len(typ.Fields)) {
		if f := typ.Fields[typ.Find(num+1)]; rng.IntN(4) > 0 {
			message = protowire.AppendTag(message, f.Num, f.Wire)
			message = AppendNumber(message, f.Kind, rng.Uint64()>>rng.UintN(64))
		}
	}
	return message
}

// TestRow: what writers write is a row, and no part of it is, or one with more.
func TestRow(t *testing.T) {
	typ := numbersType()
	numbers := make([]uint64, len(typ.Fields))
	rng := rand.New(rand.NewPCG(2, 1))
	for range 1000 {
		message := rowOf(typ, rng)
		if !typ.Row(message, numbers) {
			t.Fatalf("%x is not read", message)
		}
		if len(message) == 0 {
			continue
		}
		if first := message[0]; typ.Row(append(slices.Clip(message), first), numbers) {
			t.Fatalf("%x is read with a tag behind it", message)
		}
		if cut := message[:len(message)-1]; len(cut) > 0 && typ.Row(cut, numbers) && cut[len(cut)-1] >= 0x80 {
			t.Fatalf("%x is read, and ends within a varint", cut)
		}
	}
	for _, f := range []Field{{1, protoreflect.StringKind, protowire.BytesType, false, false, false, -1},
		{1, protoreflect.Int32Kind, protowire.VarintType, true, true, false, -1},
		{1, protoreflect.Int32Kind, protowire.VarintType, false, true, false, 0},
		{16, protoreflect.Int32Kind, protowire.VarintType, false, true, false, -1},
		{300, protoreflect.Int32Kind, protowire.VarintType, false, true, false, -1}} {
		if NewType([]Field{typ.Fields[0], f}, 1).Rows() {
			t.Errorf("%+v is in a row", f)
		}
	}
}
