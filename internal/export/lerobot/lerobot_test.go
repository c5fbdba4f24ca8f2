package lerobot_test

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/export/lerobot"
)

const plain = "fps: 10\ntask: x\nstate: /s:position\n"

// TestRows: which message each frame has, by every rule of synchronisation.
func TestRows(t *testing.T) {
	w := &world{}
	for i, ms := range []float64{0, 90, 210, 290, 420} {
		w.joints(ms, "/s", float64(i), float64(-i))
	}
	source := w.write(t)
	for mapping, want := range map[string][]float64{
		plain:                     {0, 1, 1, 3, 3},
		plain + "sync: nearest\n": {0, 1, 2, 3, 4},
		plain + "sync: linear\n":  {0, 1.0833, 1.9167, 3.0769, 3.8462},
		"fps: 10\ntask: x\nstate: /s:position[1]": {0, -1, -1, -3, -3},
		"fps: 10\ntask: x\nstate: /s:tip":         {0, 1, 1, 3, 3},
	} {
		dir, report := export(t, source, mapping)
		if got := first(column(t, dir, "observation.state")); !slices.Equal(got, want) || len(codes(report)) > 0 {
			t.Errorf("%q: %v, want %v; %v", mapping, got, want, codes(report))
		}
		if got := first(column(t, dir, "timestamp")); !slices.Equal(got, []float64{0, 0.1, 0.2, 0.3, 0.4}) {
			t.Errorf("timestamps %v", got)
		}
	}
}

// TestAction: actions that are other fields, the next state, and what is between the two.
func TestAction(t *testing.T) {
	w := &world{}
	for i := range 4 {
		w.joints(float64(i)*100, "/s", float64(i*i))
		w.joints(float64(i)*100, "/leader", float64(10*i))
	}
	source := w.write(t)
	for action, want := range map[string][]float64{
		"/leader:position":                 {0, 10, 20, 30},
		"next(state)":                      {1, 4, 9, 9},
		"delta(state)":                     {1, 3, 5, 0},
		"[/leader:position, /s:position]":  {0, 10, 20, 30},
		"[/s:position, '/leader:tip.y']":   {0, 1, 4, 9},
		"['/leader:tip.y', '/s:position']": {2, 2, 2, 2},
	} {
		dir, _ := export(t, source, plain+"action: "+action)
		if got := first(column(t, dir, "action")); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", action, got, want)
		}
	}
}

// TestEpisodes: how a recording is divided.
func TestEpisodes(t *testing.T) {
	w := &world{}
	for i := range 100 {
		if i < 40 || i >= 70 {
			w.joints(float64(i)*100, "/s", float64(i))
		}
	}
	for _, ms := range []float64{1000, 2050, 8000} {
		w.at(ms, "/mark", "Joints", jointsType, map[string]any{"name": []string{}, "position": []float64{}, "note": "pick " +
			string(rune('a'+int(ms)/1000)), "tip": map[string]float64{"x": 0, "y": 0}})
	}
	for ms, v := range map[float64]float64{500: 1, 1500: 2, 2000: 3, 7500: 2.5} {
		w.joints(ms, "/mode", v)
	}
	source := w.write(t)
	for division, want := range map[string][]int64{
		"file":                             {100},
		"gap 1s":                           {40, 30},
		"gap 1m":                           {100},
		"topic /mark":                      {11, 60, 20},
		"value /mode:position between 2 3": {85},
		"value /mode:position[0] between 1.5 2.5": {5, 25},
		"file\nmax_gap: 500ms":                    {45, 30},
	} {
		mapping := plain + "episodes: " + division
		dir, _ := export(t, source, mapping)
		r, err := lerobot.ReadReport(nil, dir)
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for _, e := range r.Episodes {
			got = append(got, e.Frames)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", division, got, want)
		}
		total := int64(0)
		for _, n := range want {
			total += n
		}
		if index := column(t, dir, "index"); int64(len(index)) != total || index[total-1][0] != float64(total-1) {
			t.Errorf("%s: %d rows, want %d", division, len(index), total)
		}
	}

	dir, _ := export(t, source, strings.Replace(plain, "task: x", "task: /mark:note", 1)+"episodes: topic /mark")
	r, err := lerobot.ReadReport(nil, dir)
	if err != nil || len(r.Episodes) != 3 || r.Episodes[0].Task != "pick b" || r.Episodes[2].Task != "pick i" {
		t.Errorf("%+v, %v", r, err)
	}
	if got := first(column(t, dir, "task_index")); got[0] != 0 || got[len(got)-1] != 2 {
		t.Errorf("task_index %v", got)
	}
}

// TestStart: an episode begins when all streams have messages, and not before a topic that is named.
func TestStart(t *testing.T) {
	w := &world{}
	for i := range 50 {
		w.joints(float64(i)*100, "/s", float64(i))
		if i >= 7 {
			w.joints(float64(i)*100, "/late", float64(i))
		}
		if i == 20 {
			w.joints(float64(i)*100, "/go", 1)
		}
	}
	source := w.write(t)
	for more, want := range map[string]float64{
		"":                       0,
		"action: /late:position": 7,
		"features: {go: '/go:tip.x'}\nstart: /go\n": 20,
	} {
		dir, _ := export(t, source, plain+more)
		if got := first(column(t, dir, "observation.state")); got[0] != want || len(got) != 50-int(want) {
			t.Errorf("%q: %d rows from %v", more, len(got), got[0])
		}
	}
}

// TestJump: a clock that jumps by a year, and a recorder that stops for a minute, end an episode, and make no frames.
func TestJump(t *testing.T) {
	w := &world{}
	const year = 365 * 24 * 3600 * 1000
	for i := range 30 {
		at := float64(i) * 100
		switch {
		case i >= 20:
			at += year
		case i >= 10:
			at += 60_000
		}
		w.joints(at, "/s", float64(i))
	}
	dir, report := export(t, w.write(t), plain)
	r, err := lerobot.ReadReport(nil, dir)
	if err != nil || len(r.Episodes) != 3 || len(codes(report)) > 0 {
		t.Fatalf("%+v, %v, losses %v", r, err, codes(report))
	}
	for i, e := range r.Episodes {
		if e.Frames != 10 || i < 2 && !strings.HasPrefix(e.End, "silence of ") {
			t.Errorf("episode %d: %d frames, %s", i, e.Frames, e.End)
		}
	}
}

// TestDoubts: messages that do not go with the others are not used, and counted.
func TestDoubts(t *testing.T) {
	w := &world{}
	for i := range 10 {
		w.joints(float64(i)*100, "/s", float64(i), 0)
	}
	message := func(names []string, position []any) map[string]any {
		return map[string]any{"name": names, "position": position, "note": "", "tip": map[string]float64{"x": 0, "y": 0}}
	}
	w.at(150, "/s", "Joints", jointsType, message([]string{"b", "a"}, []any{7, 8})) // another order
	w.at(250, "/s", "Joints", jointsType, message([]string{"a"}, []any{9}))
	w.at(350, "/s", "Joints", jointsType, message([]string{"a", "c"}, []any{9, 9}))
	w.at(450, "/s", "Joints", jointsType, message([]string{"a", "b"}, []any{1e300, 9}))
	dir, report := export(t, w.write(t), "fps: 20\ntask: x\nstate: /s:position\n")
	rows := column(t, dir, "observation.state")
	if got := rows[3]; !slices.Equal(got, []float64{8, 7}) {
		t.Errorf("names in another order: %v", got)
	}
	for i, want := range map[int]float64{5: 2, 7: 3, 9: 4} {
		if rows[i][0] != want {
			t.Errorf("frame %d: %v", i, rows[i])
		}
	}
	if got := codes(report); !slices.Equal(got, []string{"lerobot-width 2", "lerobot-not-finite 1"}) {
		t.Errorf("losses %v", got)
	}
}

// TestRefused: recordings of which no data set can be made, and mappings that do not fit.
func TestRefused(t *testing.T) {
	w := &world{}
	w.joints(0, "/s", 1)
	w.joints(100, "/s", 1)
	w.picture(50, "/cam", 16, 16, 9)
	source := w.write(t)
	for mapping, want := range map[string]string{
		"fps: 1\ntask: x\nstate: /t:position": "line 3: /t:position: there is no " +
			"topic /t that can be read, or it is not selected; there are /cam, /s",
		"fps: 1\ntask: x\nstate: /s:positions": `no field "positions"; there are name, position, note, tip`,
		"fps: 1\ntask: x\nstate: /s:note":      "line 3: /s:note: it is no number",
		"fps: 1\ntask: x\ncameras: {a: /s}": "line 3: cameras: /s has no " +
			"pictures: it is Joints; there are Image, CompressedImage",
		"fps: 1\ntask: /s:position\nstate: /s:position":              "line 2: task: /s:position is no text",
		"fps: 1\ntask: x\nstate: /cam:timestamp\ncameras: {a: /cam}": "/cam:timestamp: it is no number",
		"fps: 1\ntask: x\nstate: /s:position\nepisodes: topic /none": "episodes: there is no topic /none",
		"fps: 1\ntask: x\nstate: /s:position\nepisodes: value /s:position between 5 6": "no episode has a frame: the " +
			"selected topics have no messages",
		"":  "a data set needs a mapping file",
		"x": "it does not have the form KEY: VALUE",
	} {
		job := jobOf(t, source, lerobot.Name, mapping)
		if _, err := convert.Run(t.Context(), job); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", mapping, err, want)
		}
		if lerobot.IsDataset(nil, job.Sink) {
			t.Errorf("%q: a data set was made", mapping)
		}
	}

	empty := &world{}
	empty.joints(0, "/s", 1)
	empty.topics = append(empty.topics, w.topics[1])
	job := jobOf(t, empty.write(t), lerobot.Name, plain+"cameras: {a: /cam}")
	if _, err := convert.Run(t.Context(), job); err == nil || !strings.Contains(err.Error(),
		"no episode has a frame: 1 episodes without a frame are left out; of the first: there is no message of /cam (a)") {
		t.Error(err)
	}
}

// TestStats: those of an episode are those of its rows.
func TestStats(t *testing.T) {
	w := &world{}
	var sum, squares float64
	for i := range 101 {
		w.joints(float64(i)*100, "/s", float64(i))
		sum += float64(i)
		squares += float64(i * i)
	}
	dir, _ := export(t, w.write(t), plain)
	std := math.Sqrt(squares/101 - 50*50)
	for name, want := range map[string]float64{"min": 0, "max": 100, "mean": sum / 101, "std": std, "count": 101, "q01": 1,
		"q10": 10, "q50": 50, "q90": 90, "q99": 99} {
		got := table(t, dir+"/meta/episodes/*/*.parquet", "stats/observation.state/"+name)
		if math.Abs(got[0][0]-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	for name, want := range map[string]float64{"min": 0, "max": 10, "mean": 5, "std": std / 10, "q10": 1} {
		if got := table(t, dir+"/meta/episodes/*/*.parquet", "stats/timestamp/"+name); math.Abs(got[0][0]-want) > 1e-9 {
			t.Errorf("timestamp %s: %v, want %v", name, got, want)
		}
	}
}

// TestReport: it counts frames that repeat a message, messages in no frame, and delays.
func TestReport(t *testing.T) {
	w := &world{}
	for i := range 10 {
		w.joints(float64(i)*200, "/s", float64(i))
		w.joints(float64(i)*200+50, "/s", float64(i))
		w.joints(float64(i)*200+50, "/s", float64(i))
	}
	dir, _ := export(t, w.write(t), plain)
	r, err := lerobot.ReadReport(nil, dir)
	if err != nil {
		t.Fatal(err)
	}
	want := lerobot.StreamReport{Topic: "/s", Messages: 30, Repeated: 0, Skipped: 11, DelayMS: 23.684, LongestMS: 50}
	if got := r.Episodes[0].Streams[0]; !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
