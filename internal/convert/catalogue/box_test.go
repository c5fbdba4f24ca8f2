package catalogue

import (
	"math"
	"testing"

	"github.com/bagconv/bagconv/internal/export/track"
)

// TestBox: what is no position on Earth is left out and counted, whatever comes first.
func TestBox(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	bad := []track.Fix{{Lat: nan, Lon: 1}, {Lat: 1, Lon: nan}, {Lat: nan, Lon: nan}, {Lat: inf, Lon: 1},
		{Lat: 1, Lon: -inf}, {Lat: 90.1, Lon: 1}, {Lat: 1, Lon: -180.1}, {Lat: 1, Lon: 1, Status: track.StatusNoFix},
		{Lat: 1, Lon: 1, Status: -128}}
	good := []track.Fix{{Lat: 48.1, Lon: 11.5}, {Lat: -90, Lon: 11.6, Status: track.StatusUnknown},
		{Lat: 48.2, Lon: 180, Status: track.StatusGBAS}}
	var b Box
	for i, f := range bad {
		b.add(f)
		if want := (Box{LeftOut: int64(i + 1)}); b != want {
			t.Errorf("fix %d: %+v, want %+v", i, b, want)
		}
	}
	for _, f := range append(good, bad...) {
		b.add(f)
	}
	if want := (Box{3, 18, -90, 48.2, 11.5, 180}); b != want {
		t.Errorf("%+v, want %+v", b, want)
	}
}
