package selection

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// The recording of the tests: a minute, from 2024-05-01T12:00:00Z.
const begin = 1_714_564_800 * nsPerSec

func recording() *storage.Info {
	info := &storage.Info{Messages: 100, Start: begin, End: begin + 60*nsPerSec}
	for _, t := range []storage.Topic{
		{Name: "/imu", Type: "sensor_msgs/msg/Imu"},
		{Name: "/camera/left", Type: "sensor_msgs/Image"},
		{Name: "/camera/right", Type: "sensor_msgs/Image"},
		{Name: "/apollo/pose", Type: "apollo.localization.Pose"},
		{Name: "tf_static", Type: "tf2_msgs/TFMessage"},
	} {
		info.Topics = append(info.Topics, storage.TopicInfo{Topic: t, ID: storage.TopicID(len(info.Topics))})
	}
	return info
}

func TestParseTime(t *testing.T) {
	const end = begin + 60*nsPerSec
	for in, want := range map[string]int64{
		"0": begin, "10": begin + 10e9, "10.5": begin + 10.5e9, "10s": begin + 10e9, "1m30s": begin + 90e9,
		"00:01:30": begin + 90e9, "01:30": begin + 90e9, "1:00:00.25": begin + 3600.25e9, "+10s": begin + 10e9,
		"start": begin, "start+2": begin + 2e9, "0.000000001": begin + 1, ".5": begin + 5e8, "500ms": begin + 5e8,
		"-30s": end - 30e9, "-30": end - 30e9, "end-30s": end - 30e9, "end-00:00:30": end - 30e9, "end": end,
		"2024-05-01T12:00:01Z": begin + 1e9, "2024-05-01T14:00:01.5+02:00": begin + 15e8, "2024-05-01t12:00:01z": begin + 1e9,
		"2024-05-01 12:00:01Z": begin + 1e9, "@1676549454.5": 1676549454_500_000_000,
		"12:00:20.5": begin + 20.5e9, "12:00:20.5Z": begin + 20.5e9, "14:00:10+02:00": begin + 10e9, "12:00Z": begin,
		"13:00:00": begin + 13*3600e9, "13:00:00Z": begin + 3600e9, "11:00:00Z": begin - 3600e9, "12:00": begin + 720e9,
		"00:00:30": begin + 30e9, "+12:00:20": begin + 12*3600e9 + 20e9, "start+12:00:20": begin + 12*3600e9 + 20e9,
		"0%": begin, "25%": begin + 15e9, "12.5%": begin + 7.5e9, "100%": end, "01:00:20z": begin - 39580e9,
		"@1676549454.123456789": 1676549454_123_456_789,
		"@-1":                   -1e9, "1676549454500000000": 1676549454500000000, "1000000000000000": 1e15,
	} {
		got, err := ParseTime(in)
		at, wrong := got.at(recording(), false)
		if err != nil || wrong != nil || !got.Set() || at != want {
			t.Errorf("%s: %d, %v, %v; want %d", in, at, err, wrong, want)
		}
	}
	for in, hint := range map[string]string{
		"": "is not a time", "x": "is not a time", "1:2:3:4": "is not a time", "00:60:00": "is not a time",
		"10:": "is not a time", "--3": "is not a time",
		"1676549454": "write @1676549454", "2024-05-01T12:00:00": "no time zone", "2024-05-01T25:00:00Z": "RFC 3339",
		"101%": "from 0% to 100%", "%": "from 0%", "-5%": "from 0%", "24:00:00Z": "is not a time", "12Z": "is not a time",
		"@": "after @", "@x": "after @", "3000-01-01T00:00:00Z": "out of range", "1.1234567891": "is not a time",
		"end+3": "is not a time", "9999999999999999999999": "is not a time", "1e9": "is not a time", "-": "is not a time",
	} {
		if got, err := ParseTime(in); err == nil || !strings.Contains(err.Error(), hint) {
			t.Errorf("%s: %v, %v; want %s", in, got, err, hint)
		}
	}
	for in, want := range map[string]int64{"+0.3s": 3e8, "-1h": -3600e9, "2": 2e9, "-0.5": -5e8} {
		if got, err := ParseOffset(in); err != nil || got != want {
			t.Errorf("%s: %d, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "0", "-1", "x"} {
		if got, err := ParseDuration(in); err == nil {
			t.Errorf("%q: %d", in, got)
		}
	}
	for _, in := range []string{"", "--1", "+-1", "x"} {
		if got, err := ParseOffset(in); err == nil {
			t.Errorf("%q: %d", in, got)
		}
	}
}

// TestTimeOfDay: a time of day of a recording that goes over midnight is within it once, or an error.
func TestTimeOfDay(t *testing.T) {
	const hour = 3600 * nsPerSec
	for _, c := range []struct {
		in    string
		hours int64 // from 12:00 on
		want  int64 // hours after the start; -1: an error with text
		text  string
	}{
		{"23:00:00Z", 14, 11, ""}, {"01:00:00Z", 14, 13, ""}, {"23:00:00", 14, 11, ""}, {"13:00:00", 10, 1, ""},
		{"01:00:00", 14, 1, ""}, {"13:00:00", 26, 13, ""}, {"13:00:00Z", 26, -1, "13:00:00Z is on several days of the " +
			"recording, which lasts from 2024-05-01T12:00:00Z to 2024-05-02T14:00:00Z; write the date, too: 2024-05-01T13:00:00Z"},
		{"04:00:00Z", 14, -1, "is not within the recording"}, {"13:00:00Z", 24 * 400, -1, "several days"},
	} {
		at, err := ParseTime(c.in)
		if err != nil {
			t.Fatal(err)
		}
		info := &storage.Info{Start: begin, End: begin + c.hours*hour, Messages: 1}
		got, err := at.In(info)
		if c.text != "" {
			var wrong *TimeError
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%s in %d h: %v", c.in, c.hours, err)
			}
			for _, s := range []Selection{{Start: at}, {End: at}} {
				if _, err := s.Resolve(info); !errors.As(err, &wrong) {
					t.Errorf("%s in %d h: resolved: %v", c.in, c.hours, err)
				}
			}
		} else if err != nil || got != begin+c.want*hour {
			t.Errorf("%s in %d h: %d, %v", c.in, c.hours, got-begin, err)
		}
	}
}

func FuzzParseTime(f *testing.F) {
	for _, s := range []string{"10", "-30s", "end-1m", "00:01:30", "@1.5", "2024-05-01T12:00:00Z", "1676549454500000000",
		"22:13:20.5Z", "22:13:20", "25%"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		at, err := ParseTime(in)
		if err == nil && !at.Set() {
			t.Errorf("%q is not set", in)
		}
		for _, info := range []*storage.Info{{}, {Start: math.MinInt64, End: math.MaxInt64},
			{Start: math.MaxInt64 - 1, End: math.MaxInt64}, {Start: begin, End: begin + day}, {Start: begin, End: 0}} {
			_, _ = at.at(info, true)
		}
		if d, err := ParseDuration(in); err == nil && d <= 0 {
			t.Errorf("%q is %d", in, d)
		}
	})
}

func pattern(t *testing.T, s string) Pattern {
	t.Helper()
	p, err := ParsePattern(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPattern(t *testing.T) {
	for in, want := range map[string]string{
		"/imu": "10000", "/camera/*": "01100", "/*": "11110", "*": "11111", "/camera/lef?": "01000",
		"re:/camera/.*|tf_static": "01101",
		"re:camera":               "00000", "/[ai]*": "10010", "/[!ai]*": "01100", "/[a-d]*": "01110", "/camera": "00000",
		"tf_static": "00001",
	} {
		p, got := pattern(t, in), ""
		for _, tp := range recording().Topics {
			got += map[bool]string{true: "1", false: "0"}[p.Match(tp.Name)]
		}
		if got != want || p.String() != in {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"sensor_msgs/Imu": "10000", "sensor_msgs/msg/Image": "01100", "sensor_msgs/*": "11100", "sensor_msgs/msg/*": "11100",
		"apollo.*": "00010", "re:.*/msg/Imu": "10000", "re:.*/Imu": "10000", "Imu": "00000",
		"apollo.localization.Pose": "00010",
	} {
		p, got := pattern(t, in), ""
		for _, tp := range recording().Topics {
			got += map[bool]string{true: "1", false: "0"}[p.MatchType(tp.Type)]
		}
		if got != want {
			t.Errorf("type %s: %s, want %s", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"": "the pattern is empty", "re:(": `"(" is not a regular expression: missing closing )`,
		"/a[":    `"/a[" is not a glob: [ without ]`,
		"/[z-a]": `"/[z-a]" is not a glob: invalid character class range`,
	} {
		if _, err := ParsePattern(in); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
}

func FuzzPattern(f *testing.F) {
	for _, s := range []string{"/a*", "re:.*", "[!a-z]", "a?[", "/x*:=/y*"} {
		f.Add(s, "/camera/left")
	}
	f.Fuzz(func(t *testing.T, in, name string) {
		if p, err := ParsePattern(in); err == nil {
			p.Match(name)
			p.MatchType(name)
		}
		if r, err := ParseRename(in); err == nil {
			r.apply(name)
		}
	})
}

func TestResolve(t *testing.T) {
	must := func(s string) Time {
		at, err := ParseTime(s)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	open := Choice{First: math.MinInt64, Last: math.MaxInt64}
	for _, c := range []struct {
		name        string
		s           Selection
		first, last int64
		topics      string
	}{
		{"all", Selection{}, open.First, open.Last, "11111"},
		{"start", Selection{Start: must("10")}, begin + 10e9, open.Last, "11111"},
		{"end", Selection{End: must("10")}, open.First, begin + 10e9 - 1, "11111"},
		{"whole", Selection{Start: must("start"), End: must("end")}, begin, begin + 60e9, "11111"},
		{"duration", Selection{Start: must("-30s"), Duration: 10e9}, begin + 30e9, begin + 40e9 - 1, "11111"},
		{"duration alone", Selection{Duration: 10e9}, open.First, begin + 10e9 - 1, "11111"},
		{"topics", Selection{Topics: []Pattern{pattern(t, "/imu"), pattern(t, "/camera/*")},
			ExcludeTopics: []Pattern{pattern(t, "*left")}}, open.First, open.Last, "10100"},
		{"types", Selection{Types: []Pattern{pattern(t, "sensor_msgs/msg/*")},
			ExcludeTypes: []Pattern{pattern(t, "sensor_msgs/msg/Imu")}}, open.First, open.Last, "01100"},
	} {
		got, err := c.s.Resolve(recording())
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		topics := ""
		for _, b := range got.Topics {
			topics += map[bool]string{true: "1", false: "0"}[b]
		}
		if got.First != c.first || got.Last != c.last || topics != c.topics || got.Cut() != (c.first != open.First) {
			t.Errorf("%s: %+v", c.name, got)
		}
		if c.s.All() != (c.name == "all") {
			t.Errorf("%s: All is %v", c.name, c.s.All())
		}
	}
	var empty *EmptyError
	for name, s := range map[string]Selection{
		"after": {Start: must("61")}, "before": {End: must("start")}, "backward": {Start: must("20"), End: must("10")},
		"nothing": {Start: must("20"), End: must("20")},
	} {
		if _, err := s.Resolve(recording()); !errors.As(err, &empty) || err.Error() == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	var no *UnknownError
	s := Selection{ExcludeTypes: []Pattern{pattern(t, "sensor_msgs/Imo")}}
	if _, err := s.Resolve(recording()); !errors.As(err, &no) || no.What != "type" || len(no.Known) != 4 ||
		err.Error() != "--exclude-type sensor_msgs/Imo: the recording has no such type; did you mean sensor_msgs/Image?" {
		t.Errorf("%v, %+v", err, no)
	}
}

// TestMissing: topics that may be missing take nothing, and are no error of a rule about them.
func TestMissing(t *testing.T) {
	info := recording()
	name := info.Topics[0].Name
	remap, err := ParseRename("/typo:=/b")
	if err != nil {
		t.Fatal(err)
	}
	edit := Edit{Remap: []Rename{remap}}
	for _, c := range []struct {
		topics []string
		ok     bool
		want   error // of Resolve, if they may be missing
	}{{[]string{name, "/typo"}, true, nil}, {[]string{"/typo"}, true, ErrNoTopics}, {[]string{name, "/typo"}, false, nil}} {
		s := Selection{MissingOK: c.ok}
		for _, topic := range c.topics {
			s.Topics = append(s.Topics, pattern(t, topic))
		}
		choice, err := s.Resolve(info)
		var no *UnknownError
		if c.ok && !errors.Is(err, c.want) || c.ok != !errors.As(err, &no) {
			t.Errorf("%v, %v: %v", c.topics, c.ok, err)
		}
		if err == nil && (edit.Check(info, choice) != nil || edit.Check(info, Everything(len(info.Topics))) == nil) {
			t.Errorf("%v: a rule about a topic that may be missing", c.topics)
		}
		if got := s.Missing([]string{name}, nil); !slices.Equal(got, []string{"/typo"}) {
			t.Errorf("%v: missing %q", c.topics, got)
		}
	}
}

func TestBlocks(t *testing.T) {
	timed := func(a, b int64) storage.Block { return storage.Block{Timed: true, Start: a, End: b} }
	c := &Choice{First: 10, Last: 19}
	blocks := []storage.Block{timed(0, 9), {}, timed(5, 10), timed(12, 13), {}, timed(19, 30), timed(20, 30), timed(0, 40)}
	want := []bool{false, true, true, true, true, true, false, true}
	for i, got := range c.Blocks(blocks) {
		if got != want[i] {
			t.Errorf("block %d: %v", i, got)
		}
	}
	if c.Blocks([]storage.Block{{}, timed(0, 10)}) != nil || Everything(1).Blocks(blocks) != nil || c.Blocks(nil) != nil {
		t.Error("blocks are left out that nothing is known of")
	}
}
