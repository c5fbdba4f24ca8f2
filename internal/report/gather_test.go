package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"image/jpeg"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/convert/check"
	"github.com/bagconv/bagconv/convert/values"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/report"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// gathered gathers a recording.
func gathered(t *testing.T, path string, o report.Options) (*report.Recording, []string) {
	t.Helper()
	r, err := all.Registry().Open(t.Context(), path, storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	o.Name, o.Path = filepath.Base(path), path
	rec, doubts, err := report.Gather(t.Context(), r, o)
	if err != nil {
		t.Fatal(path, err)
	}
	return rec, doubts
}

// TestDefinitions: descriptors are shown as .proto text.
func TestDefinitions(t *testing.T) {
	rec, _ := gathered(t, "../../testdata/demo.record", report.Options{})
	for _, typ := range rec.Types {
		_, name, _ := strings.Cut(typ.Name[strings.LastIndex(typ.Name, ".")-1:], ".")
		if !strings.Contains(typ.Definition, "message "+name+" {") {
			t.Errorf("%s has the definition %q", typ.Name, typ.Definition)
		}
	}
	if len(rec.Types) < 3 {
		t.Errorf("%d types", len(rec.Types))
	}
}

// TestGather compares the report of the demo with check, and with loops over Go values.
func TestGather(t *testing.T) {
	path := "../../testdata/demo.bag"
	rec, doubts := gathered(t, path, report.Options{})
	if len(doubts)+len(rec.LeftOut) > 0 {
		t.Errorf("left out: %q, doubts %q", rec.LeftOut, doubts)
	}
	res, err := check.File(t.Context(), all.Registry(), path, check.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if rec.Messages != res.Messages || rec.Bytes != res.Bytes || len(rec.Findings) != len(res.Findings) ||
		len(rec.Topics) != len(res.Topics) || math.Abs(rec.Duration-float64(*res.Duration)/1e9) > 1e-6 {
		t.Errorf("%d messages, %d findings, %d topics in %v s", rec.Messages, len(rec.Findings), len(rec.Topics),
			rec.Duration)
	}
	for i, topic := range rec.Topics {
		want, sum := res.Topics[i], uint32(0)
		for _, n := range topic.Bins {
			sum += n
		}
		if topic.Name != want.Name || topic.Messages != want.Messages || int64(sum) != want.Messages ||
			want.Hz != nil && want.Regular && math.Abs(topic.Rate-*want.Hz) > 0.001 {
			t.Errorf("%+v, want %+v", topic, want)
		}
	}
	var times, speeds, xs, ys []float64
	for m, err := range values.Read[map[string]any](t.Context(), open(t, path), "/odom", values.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		at := func(path ...string) float64 {
			v := any(m.Value)
			for _, name := range path {
				v = v.(map[string]any)[name]
			}
			return v.(float64)
		}
		times = append(times, float64(m.LogTime-*res.Start)/1e9)
		speeds = append(speeds, at("twist", "twist", "linear", "x"))
		xs, ys = append(xs, at("pose", "pose", "position", "x")), append(ys, at("pose", "pose", "position", "y"))
	}
	close := func(a, b float64) bool { return math.Abs(a-b) < 0.0006 }
	plot := rec.Plots[slices.IndexFunc(rec.Plots, func(p report.Plot) bool { return p.Field == "twist.twist.linear.x" })]
	if !plot.Whole || !slices.EqualFunc(plot.Times, times, close) || !slices.Equal([]float64(plot.Values), speeds) {
		t.Errorf("%+v, want\n%v\n%v", plot, times, speeds)
	}
	track := rec.Tracks[slices.IndexFunc(rec.Tracks, func(x report.Track) bool { return x.Kind == "odometry" })]
	if !slices.EqualFunc(track.X, xs, close) || !slices.EqualFunc(track.Y, ys, close) {
		t.Errorf("%+v, want\n%v\n%v", track, xs, ys)
	}
	if len(rec.Cameras) != 2 || len(rec.Clouds) != 1 || rec.Clouds[0].Points*6 != len(rec.Clouds[0].XYZ) {
		t.Errorf("%d cameras, %d clouds", len(rec.Cameras), len(rec.Clouds))
	}
	for _, c := range rec.Cameras {
		for _, s := range c.Samples {
			if m, err := jpeg.Decode(bytes.NewReader(s.JPEG)); err != nil || m.Bounds().Dx() != s.Width {
				t.Error(c.Topic, err)
			}
		}
	}
}

func open(t *testing.T, path string) storage.Reader {
	r, err := all.Registry().Open(t.Context(), path, storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// TestChosen plots the fields that are asked for, and says which of them are not there.
func TestChosen(t *testing.T) {
	path := "../../testdata/demo.bag"
	rec, doubts := gathered(t, path, report.Options{Plots: []report.FieldName{{"/odom", "pose.pose.position.x"},
		{"/acme/status", "wheel_speed[1]"}, {"/odom", "child_frame_id"}, {"/nowhere", "x"}}})
	if len(rec.Plots) != 2 || rec.Plots[0].Guess || len(rec.Plots[1].Times) != 50 {
		t.Errorf("%+v", rec.Plots)
	}
	want := []string{"no plot of /odom.child_frame_id: messages of nav_msgs/Odometry have no such number",
		"no plot of /nowhere.x: there is no such topic"}
	if !slices.Equal(doubts, want) || !slices.Equal(rec.LeftOut, want) {
		t.Errorf("%q", doubts)
	}
}

// TestQuick: the samples of a quick report are values of the whole one, and it has the numbers of the index.
func TestQuick(t *testing.T) {
	path := "../../testdata/demo.bag"
	whole, _ := gathered(t, path, report.Options{})
	quick, _ := gathered(t, path, report.Options{Quick: true})
	if quick.Messages != whole.Messages || len(quick.Topics) != len(whole.Topics) || quick.Bytes != -1 ||
		len(quick.LeftOut) == 0 || len(quick.Frames) != len(whole.Frames) {
		t.Errorf("%d messages, %d topics, %d frames, left out: %q", quick.Messages, len(quick.Topics), len(quick.Frames),
			quick.LeftOut)
	}
	for i, topic := range quick.Topics {
		sum := uint32(0)
		for _, n := range topic.Bins {
			sum += n
		}
		if topic.Messages != whole.Topics[i].Messages || int64(sum) != topic.Messages {
			t.Errorf("%s has %d messages, %d in bins", topic.Name, topic.Messages, sum)
		}
	}
	for i, p := range quick.Plots {
		all := whole.Plots[i]
		if len(p.Times) < 5 {
			t.Errorf("%s.%s has %d samples", p.Topic, p.Field, len(p.Times))
		}
		for k, at := range p.Times {
			if n := slices.Index(all.Times, at); n < 0 || all.Values[n] != p.Values[k] {
				t.Errorf("%s.%s has %v at %v, which the whole report does not have", p.Topic, p.Field, p.Values[k], at)
			}
		}
	}
}

// TestRecordings gathers all recordings there are, whole and quick: nothing panics, and all of it is JSON of a bounded
// size.
func TestRecordings(t *testing.T) {
	formats := all.Registry()
	paths := samples.Recordings(t, func(path string) bool {
		_, err := formats.Detect(path)
		return err == nil
	})
	if testing.Short() {
		paths = paths[:min(len(paths), 20)]
	}
	for _, path := range paths {
		for _, quick := range []bool{false, true} {
			r, err := formats.Open(t.Context(), path, storage.ReadOptions{})
			if err != nil {
				continue
			}
			rec, _, err := report.Gather(context.Background(), r, report.Options{Quick: quick})
			r.Close()
			if err != nil {
				continue // as check
			}
			text, err := json.Marshal(rec)
			null := regexp.MustCompile(`"[a-z_]+":null`).FindAllString(string(text), -1)
			null = slices.DeleteFunc(null, func(s string) bool { return s == `"time":null` })
			if err != nil || len(text) > 3<<20 || len(null) > 0 {
				t.Log(null)
				t.Errorf("%s: %d bytes of JSON, %v", path, len(text), err)
			}
		}
	}
}
