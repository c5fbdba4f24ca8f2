package cli

import (
	"bytes"
	"math"
	"testing"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

func testEnv() (*env, *bytes.Buffer, *bytes.Buffer) {
	var out, errOut bytes.Buffer
	return &env{Stdio: Stdio{Out: &out, Err: &errOut}, formats: withExports(storage.NewRegistry(fake)),
		fs: iox.OS}, &out, &errOut
}

func TestUnits(t *testing.T) {
	for in, want := range map[string]int64{
		"1": 1, "1000": 1000, "768K": 768 << 10, "4M": 4 << 20, "1.5M": 3 << 19, "4MB": 4_000_000, "4MiB": 4 << 20,
		"2g": 2 << 30, "10b": 10, "4 M": 4 << 20,
	} {
		if got, err := storage.ParseSize(in); err != nil || got != want {
			t.Errorf("%s: %d, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "0", "-1", "x", "4X", "M", "1e30", "nan", "inf", "0.1"} {
		if got, err := storage.ParseSize(in); err == nil {
			t.Errorf("%q: %d", in, got)
		}
	}
	for in, want := range map[int64]string{
		0: "0 bytes", 999: "999 bytes", 1000: "1.0 kB", 91_800_123: "91.8 MB", 999_960: "1.0 MB", 1_500_000_000: "1.5 GB",
	} {
		if got := sizeText(in); got != want {
			t.Errorf("%d: %s", in, got)
		}
	}
	for in, want := range map[int64]string{
		0: "0s", 1500: "2µs", 45_550_000_000: "45.55s", 59_999_900_000: "60s", 185_200_000_000: "3m05.2s",
		3_723_000_000_000: "1h02m03s", -5: "-5ns",
	} {
		if got := durationText(in); got != want {
			t.Errorf("%d: %s, want %s", in, got, want)
		}
	}
	for in, want := range map[int64]string{
		1_700_000_000_500_000_000: "2023-11-14T22:13:20.5Z (1700000000.500000000)",
		-1:                        "1969-12-31T23:59:59.999999999Z (-0.000000001)",
	} {
		if got := timeAndEpoch(in); got != want {
			t.Errorf("%d: %s", in, got)
		}
	}
	for in, want := range map[int64]string{1: "1", 999: "999", 1000: "1,000", 1234567: "1,234,567", -123456: "-123,456"} {
		if got := phrase.Grouped(in); got != want {
			t.Errorf("%d: %s", in, got)
		}
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"/imu": "/imu", "/gr\u00fc\u00df": "/gr\u00fc\u00df", "a\x1b[31mb": `a\x1b[31mb`, "a\nb": `a\x0ab`, "\u009b": `\x9b`,
		"a\xffb": `a\xffb`, "\ufffd": "\ufffd",
		"/a\u202eb": `/a\u202eb`, "\u2066": `\u2066`, "\u2028": `\u2028`, "\ufeff": `\ufeff`, "\u00ad": `\xad`,
		"\U000e0001": `\ue0001`,
	} {
		if got := phrase.Clean(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestForReader(t *testing.T) {
	const text = "# \x1b[31m\a\n\tint32 a\n\nlast"
	if got := (&env{}).forReader(text); got != text {
		t.Errorf("%q in a pipe", got)
	}
	e := &env{Stdio: Stdio{OutTerminal: true}}
	if got, want := e.forReader(text), "# \\x1b[31m\\x07\n\tint32 a\n\nlast"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSpan: the longest span of all is one, and not -1 ns.
func TestSpan(t *testing.T) {
	for s, want := range map[span]string{
		{0, 45_550_000_000}:                "45.55s",
		{math.MinInt64, math.MaxInt64}:     "5124095h34m33s",
		{-1, math.MaxInt64}:                "2562047h47m16s",
		{math.MaxInt64, math.MaxInt64}:     "0s",
		{2_000_000_000, 1_000_000_000}:     "-1s",
		{math.MinInt64, math.MinInt64 + 1}: "0s",
	} {
		if s.text() != want {
			t.Errorf("%v: %s, want %s", s, s.text(), want)
		}
	}
}
