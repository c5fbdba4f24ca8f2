package report_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/bagconv/bagconv/internal/report"
)

// TestNumbers writes values that JSON has no words for, and reads all of them again.
func TestNumbers(t *testing.T) {
	in := report.Numbers{0, float64(float32(0.1)), 0.1, math.NaN(), math.Inf(-1), -1.5e300, 48.123456789012}
	text, err := json.Marshal(in)
	if want := `[0,0.1,0.1,null,null,-1.5e+300,48.12345679]`; err != nil || string(text) != want {
		t.Fatalf("%s, want %s (%v)", text, want, err)
	}
	var out report.Numbers
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	for i, v := range []float64{0, 0.1, 0.1, math.NaN(), math.NaN(), -1.5e300} {
		if out[i] != v && !(math.IsNaN(out[i]) && math.IsNaN(v)) {
			t.Errorf("value %d is %v, want %v", i, out[i], v)
		}
	}
	var none report.Numbers
	if text, _ := json.Marshal(none); string(text) != "[]" {
		t.Errorf("no numbers are %s", text)
	}
}
