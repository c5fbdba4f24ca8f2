package transcode

import (
	"errors"
	"fmt"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// deep returns a type of that many levels, each of which uses the next in all its
// fields.
func deep(levels, fields int, array schema.Array) *schema.Message {
	m := &schema.Message{Name: "p/Leaf", Fields: []schema.Field{field("x", schema.Uint8)}}
	for l := range levels {
		next := &schema.Message{Name: fmt.Sprintf("p/T%d", l)}
		for i := range fields {
			next.Fields = append(next.Fields, many(strct(fmt.Sprintf("f%d", i), m), array, 0))
		}
		m = next
	}
	return m
}

// TestDeep: a type of few definitions that has 10^30 fields when they are written
// out is refused by their number, before a program is begun.
func TestDeep(t *testing.T) {
	for _, array := range []schema.Array{schema.Single, schema.Unbounded} {
		m := deep(30, 10, array)
		if n := flatFields(m, map[*schema.Message]int{}); n != maxFlat+1 {
			t.Errorf("%d fields", n)
		}
		for _, to := range []serial.Encoding{serial.ROS1, serial.CDR} {
			if _, err := Compile(m, m, Options{From: serial.ROS1, To: to}); !errors.Is(err, errFlat) {
				t.Error(err)
			}
		}
	}
	if _, err := Compile(deep(5, 8, schema.Single), deep(5, 8, schema.Single),
		Options{From: serial.ROS1, To: serial.CDR}); err != nil {
		t.Error(err) // 37,448 fields
	}
	// Lists in lists take time in proportion to their number.
	var work [2]int
	for i, levels := range []int{25, 50} {
		m := deep(levels, 1, schema.Unbounded)
		c := newCompiler(layoutOf(serial.CDR, ros.PlainLE), Options{To: serial.ROS1})
		if err := c.structure(m, m, ""); err != nil {
			t.Fatal(err)
		}
		work[i] = c.work
	}
	if work[1] > work[0]*23/10*2 {
		t.Errorf("25 levels take %d steps, 50 levels %d", work[0], work[1])
	}
}

// BenchmarkCompile is how long the largest types take.
func BenchmarkCompile(b *testing.B) {
	for name, m := range map[string]*schema.Message{
		"fields": deep(5, 9, schema.Single), "lists": deep(4, 10, schema.Unbounded), "nested": deep(30, 1, schema.Unbounded),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Compile(m, m, Options{From: serial.ROS1, To: serial.CDR}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
