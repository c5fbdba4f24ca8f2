package report

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
)

// Numbers are values of a plot or a track. JSON has no NaN and no infinity: there they are null, and null is read as
// NaN. A value has as many digits as a float32 needs, if it is one, and else ten at most.
type Numbers []float64

// MarshalJSON writes an array, never null.
func (n Numbers) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, 8*len(n)+2), '[')
	for i, v := range n {
		if i > 0 {
			b = append(b, ',')
		}
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			b = append(b, "null"...)
		case float64(float32(v)) == v:
			b = strconv.AppendFloat(b, v, 'g', -1, 32)
		default:
			b = strconv.AppendFloat(b, round10(v), 'g', -1, 64)
		}
	}
	return append(b, ']'), nil
}

// round10 rounds to ten digits.
func round10(v float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 9, 64), 64)
	return r
}

// UnmarshalJSON reads what MarshalJSON wrote, except that infinities come back as NaN.
func (n *Numbers) UnmarshalJSON(text []byte) error {
	var values []*float64
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&values); err != nil {
		return err
	}
	*n = make(Numbers, len(values))
	for i, v := range values {
		if v == nil {
			(*n)[i] = math.NaN()
		} else {
			(*n)[i] = *v
		}
	}
	return nil
}
