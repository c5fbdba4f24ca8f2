package recording

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// TestDescribeDuration: the longest recording of all has a duration, and not -1 ns; one without messages has none.
func TestDescribeDuration(t *testing.T) {
	for span, want := range map[[2]int64]string{
		{0, 45_550_000_000}:                `"45550000000"`,
		{math.MinInt64, math.MaxInt64}:     `"18446744073709551615"`,
		{-1, math.MaxInt64}:                `"9223372036854775808"`,
		{math.MaxInt64, math.MaxInt64}:     `"0"`,
		{2_000_000_000, 1_000_000_000}:     `"-1000000000"`,
		{math.MinInt64, math.MinInt64 + 1}: `"1"`,
	} {
		text, err := json.Marshal(Describe(&storage.Info{Messages: 1, Start: span[0], End: span[1]}, nil))
		if err != nil || !strings.Contains(string(text), `"duration_ns":`+want+`,`) {
			t.Errorf("%v: %v, %s; want %s", span, err, text, want)
		}
	}
	text, err := json.Marshal(Describe(&storage.Info{}, nil))
	if err != nil || !strings.Contains(string(text),
		`"start_ns":null,"end_ns":null,"duration_ns":null,"start":null,"end":null,"compression":{},`) {
		t.Errorf("%v, %s", err, text)
	}
}
