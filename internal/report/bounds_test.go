package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/convert/check"
	"github.com/bagconv/bagconv/internal/export/cloud"
)

// TestManyFindings: of a million findings the worst are shown, and all of them are counted.
func TestManyFindings(t *testing.T) {
	g := &gatherer{rec: &Recording{}, all: map[string]int{}}
	res := &check.Result{Errors: 1_000_000, Findings: make([]check.Finding, 1_000_000)}
	one := check.Finding{Severity: check.Error, Code: "topic-lost", Message: strings.Repeat("ä<b>", 1000),
		Hint: strings.Repeat("&", 1000), Topic: strings.Repeat("/x", 500)}
	for i := range res.Findings {
		res.Findings[i] = one
	}
	g.addFindings(res)
	g.sayLeft()
	text, err := json.Marshal(g.rec)
	if err != nil || len(text) > 3<<19 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if len(g.rec.Findings) != mostFindings || g.rec.Errors != 1_000_000 || len(g.rec.Losses) != mostLines ||
		g.rec.LeftOut[0] != "999,700 of 1,000,000 findings" {
		t.Errorf("%d findings, %d losses, left out: %q", len(g.rec.Findings), len(g.rec.Losses), g.rec.LeftOut)
	}
}

// TestPack: the points of a cloud come back to a ten-thousandth of its size, and a point that is far from all others is
// left out.
func TestPack(t *testing.T) {
	some := cloud.Sample{By: "z"}
	for i := range 1000 {
		x := float64(i%100) / 10
		some.XYZ = append(some.XYZ, x, 5-x, float64(i)/1000)
		some.Shade = append(some.Shade, float64(i))
	}
	some.XYZ[0], some.XYZ[1] = 1e6, -1e6
	var c Cloud
	if far := c.pack(&some); far != 1 || c.Points != 999 || len(c.Shade) != 999 || len(c.XYZ) != 6*999 {
		t.Fatalf("%d are far, %+v", far, c.Points)
	}
	for i := range c.Points {
		for axis := range 3 {
			v := int16(uint16(c.XYZ[6*i+2*axis]) | uint16(c.XYZ[6*i+2*axis+1])<<8)
			got, want := c.Center[axis]+c.Scale*float64(v), some.XYZ[3*(i+1)+axis]
			if d := got - want; d > 1e-3 || d < -1e-3 {
				t.Fatalf("point %d: %v, want %v", i, got, want)
			}
		}
	}
	if c.Shade[0] != 0 || c.Shade[998] != 255 {
		t.Error(c.Shade[0], c.Shade[998])
	}
}
