package typetree

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema"
)

// TestDefinitions: the text of every type is one that our parsers read, and has
// the md5sum and the type hash that the type has.
func TestDefinitions(t *testing.T) {
	for seed := range uint64(4) {
		w := New(seed, 100, Options{ROS2: seed >= 2, Odd: seed%2 == 1})
		for _, m := range w.Roots {
			text := AppendText(nil, m, ROS2)
			g, err := rosmsg.Parse(m.TypeName(ROS2), text, rosmsg.ROS2, nil)
			if err != nil {
				t.Fatalf("%s: %v\n%s", m.TypeName(ROS2), err, text)
			}
			if got, err := schema.RIHS01(g); got != RIHS01(m) || err != nil {
				t.Errorf("%s: type hash %s, ours is %s, %v\n%s", m.TypeName(ROS2), got, RIHS01(m), err, text)
			}
			text = AppendText(nil, m, ROS1)
			g, err = rosmsg.Parse(m.TypeName(ROS1), text, rosmsg.ROS1, nil)
			if err != nil {
				t.Fatalf("%s: %v\n%s", m.TypeName(ROS1), err, text)
			}
			if got := schema.MD5(g); got != MD5(m) {
				t.Errorf("%s: md5sum %s, ours is %s\n%s", m.TypeName(ROS1), got, MD5(m), text)
			}
		}
	}
}

// TestSeed: a seed makes the same types and values again, and another seed others.
func TestSeed(t *testing.T) {
	all := func(seed uint64) []byte {
		w := New(seed, 50, Options{ROS2: true, Odd: true})
		var b []byte
		for _, m := range w.Roots {
			b = AppendText(b, m, ROS2)
			b = AppendCDR(b, m, w.Value(m))
		}
		return b
	}
	if !bytes.Equal(all(1), all(1)) {
		t.Error("the same seed makes another world")
	}
	if bytes.Equal(all(1), all(2)) {
		t.Error("two seeds make the same world")
	}
}

// TestShapes: what a world is for is in it.
func TestShapes(t *testing.T) {
	var empty, constants, both, deep, twice int
	w := New(1, 200, Options{ROS2: true, Odd: true})
	packages := map[string]string{}
	for _, m := range w.types {
		switch {
		case len(m.Fields) == 0 && len(m.Constants) == 0:
			empty++
		case len(m.Fields) == 0:
			constants++
		}
		if m.depth > 8 {
			deep++
		}
		if p, ok := packages[m.Name]; ok && p != m.Package {
			twice++
		}
		packages[m.Name] = m.Package
		text := string(AppendText(nil, m, ROS1))
		if strings.Contains(text, "geometry_msgs/PoseStamped") && strings.Contains(text, "std_msgs/Header header") {
			both++
		}
	}
	if empty < 2 || constants < 2 || deep < 2 || twice < 10 || both < 10 {
		t.Errorf("%d empty types, %d of constants, %d deep, %d of equal names, %d with a part in common", empty, constants,
			deep, twice, both)
	}
	if t.Logf("%d types for 200 roots", len(w.types)); len(w.types) < 250 {
		t.Errorf("%d types", len(w.types))
	}
}

// TestBytes compares one message with bytes that were written by hand.
func TestBytes(t *testing.T) {
	header := standard()[0]
	m := &Message{Package: "p", Name: "M", Fields: []Field{
		{Name: "header", Message: header},
		{Name: "flag", Kind: Bool},
		{Name: "gap", Kind: Duration},
		{Name: "wide", Kind: Wide},
		{Name: "list", Kind: "float64", Array: List},
		{Name: "none", Message: &Message{Package: "p", Name: "E"}},
	}}
	v := []Value{
		[]Value{uint64(9), 3*time.Second + 5, "ab"}, true, -500 * time.Millisecond, "é", []Value{1.0}, []Value{},
	}
	cdr := "00010000" + "03000000" + "05000000" + "03000000" + "616200" + "01" + // header; flag
		"ffffffff" + "0065cd1d" + "01000000" + "e9000000" + "01000000" + "00000000" + "000000000000f03f" + "00"
	if got := hex.EncodeToString(AppendCDR(nil, m, v)); got != cdr {
		t.Errorf("CDR\n%s, want\n%s", got, cdr)
	}
	m.Fields[3].Kind = String
	ros1 := "09000000" + "03000000" + "05000000" + "02000000" + "6162" + "01" + "ffffffff" + "0065cd1d" + "02000000" +
		"c3a9" + "01000000" + "000000000000f03f"
	if got := hex.EncodeToString(AppendROS1(nil, m, v)); got != ros1 {
		t.Errorf("ROS 1\n%s, want\n%s", got, ros1)
	}
	truth := `{"header":{"seq":"i9","stamp":"t3000000005","frame_id":"sab"},"flag":true,"gap":"t-500000000","wide":"sé","list":["f3ff0000000000000"],"none":{}}`
	if got := string(AppendTruth(nil, m, v)); got != truth || !json.Valid([]byte(got)) {
		t.Errorf("truth\n%s, want\n%s", got, truth)
	}
}
