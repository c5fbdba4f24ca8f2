package multi

import (
	"bytes"
	"testing"
)

// TestParseTransform: what is no transform is refused.
func TestParseTransform(t *testing.T) {
	for _, text := range []string{"", "a b", "a b 1 2 3 0 0 0", "a b 1 2 3 0 0 0 1 1", "a b x 2 3 0 0 0 1", "a b NaN 0 0 0 0 0 1",
		"a b 1 2 3 0 0 0 0", "a b 1 2 3 0 0 0 2", "a a 1 2 3 0 0 0 1", "/a b 1 2 3 0 0 0 1", "a /b 1 2 3 0 0 0 1",
		"a b 1e999 2 3 0 0 0 1"} {
		if got, err := ParseTransform(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
	if got, err := ParseTransform("map odom 1, -2.5, 3e1,0,0 0.6 -0.8"); err != nil || got.Child != "odom" ||
		got.numbers != [7]float64{1, -2.5, 30, 0, 0, 0.6, -0.8} {
		t.Errorf("%v, %v", got, err)
	}
}

// TestGather: transforms come out of a message as they went into it, in each encoding; the last to a frame counts. No
// part of a message is one.
func TestGather(t *testing.T) {
	parse := func(text string) Transform {
		got, err := ParseTransform(text)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	a, b, again := parse("map odd_name 1 2 3 0 0 0 1"), parse("map b 4 5 6 0 1 0 0"), parse("x odd_name 7 8 9 0 0 0 1")
	for _, encoding := range []string{"ros1", "cdr", "protobuf"} {
		one := func(t *Transform) transform { return transform{t.Child, t.bytes(encoding, 1_500_000_000)} }
		data := transformMessage(encoding, []transform{one(&a), one(&b)})
		list, err := appendTransforms(nil, encoding, data)
		if err != nil || len(list) != 2 || list[0].child != "odd_name" || !bytes.Equal(transformMessage(encoding, list), data) {
			t.Errorf("%s: %d transforms, %v", encoding, len(list), err)
		}
		list, err = appendTransforms(list, encoding, transformMessage(encoding, []transform{one(&again)}))
		want := transformMessage(encoding, []transform{one(&again), one(&b)})
		if err != nil || !bytes.Equal(transformMessage(encoding, list), want) {
			t.Errorf("%s: the last transform to a frame does not count: %v", encoding, err)
		}
		for n := 1; n < len(data); n++ {
			if list, err := appendTransforms(nil, encoding, data[:n]); err == nil && len(list) == 2 {
				t.Errorf("%s: %d of %d bytes are a message", encoding, n, len(data))
			}
		}
	}
}
