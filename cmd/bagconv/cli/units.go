package cli

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
)

// sizeText writes a size with three digits or more: "91.8 MB".
func sizeText(n int64) string {
	f, unit := float64(n), "bytes"
	for _, u := range []string{"kB", "MB", "GB", "TB", "PB"} {
		if math.Abs(f) < 999.95 {
			break
		}
		f, unit = f/1000, u
	}
	if unit == "bytes" {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f %s", f, unit)
}

// sizeAndBytes writes "91.8 MB (91,800,123 bytes)".
func sizeAndBytes(n int64) string {
	if text := sizeText(n); !strings.HasSuffix(text, "bytes") {
		return text + " (" + phrase.Grouped(n) + " bytes)"
	}
	return sizeText(n)
}

// durationText writes a duration in ns: "45.55s", "3m05.2s", "1h02m03s".
func durationText(ns int64) string {
	d := time.Duration(ns)
	switch {
	case ns < 0: // an index that contradicts itself
		return d.String()
	case d < time.Second:
		return d.Round(time.Microsecond).String()
	case d < time.Minute:
		return strconv.FormatFloat(math.Round(d.Seconds()*1000)/1000, 'f', -1, 64) + "s"
	case d < time.Hour:
		d = d.Round(100 * time.Millisecond)
		return fmt.Sprintf("%dm%04.1fs", d/time.Minute, (d % time.Minute).Seconds())
	}
	d = d.Round(time.Second)
	return fmt.Sprintf("%dh%02dm%02ds", d/time.Hour, d%time.Hour/time.Minute, d%time.Minute/time.Second)
}

// A span is the time from one time to another, in ns: one of 292 years is no
// int64 any more. The bounds of an index that contradicts itself may be reversed.
type span struct{ start, end int64 }

// text writes the duration as durationText does.
func (s span) text() string {
	if d := s.end - s.start; d >= 0 || s.end < s.start {
		return durationText(d)
	}
	sec := (uint64(s.end) - uint64(s.start)) / 1e9
	return fmt.Sprintf("%dh%02dm%02ds", sec/3600, sec%3600/60, sec%60)
}

// timeText writes a time in ns since 1970 in UTC: "2023-11-14T22:13:20.5Z".
func timeText(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }

// timeAndEpoch writes "2023-11-14T22:13:20.5Z (1700000000.500000000)".
func timeAndEpoch(ns int64) string {
	sec, frac, sign := ns/1e9, ns%1e9, ""
	if ns < 0 {
		sec, frac, sign = -sec, -frac, "-"
	}
	return fmt.Sprintf("%s (%s%d.%09d)", timeText(ns), sign, sec, frac)
}

// rate is bytes and a duration as MB/s, 0 if not known.
func rate(bytes int64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(bytes) / 1e6 / d.Seconds()
}

// splitPath is filepath.Split with a folder that can be opened.
func splitPath(path string) (dir, base string) {
	path = filepath.Clean(path)
	return filepath.Dir(path), filepath.Base(path)
}

// some returns a list that JSON shows as one also when it is empty.
func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
