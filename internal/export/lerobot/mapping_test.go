package lerobot

import (
	"slices"
	"strings"
	"testing"
)

// TestMapping: a mapping file with every key.
func TestMapping(t *testing.T) {
	m, err := ParseMapping(`
fps: 30
task: /task:data
robot_type: so100
state: [/joint_states:position, '/odom:twist.twist.linear']
action: delta(state)
features: {observation.force: /ft:wrench.force}
cameras: {front: /cam/compressed, wrist: /wrist}
codec: av1
sync: linear
max_gap: 100ms
episodes: value /button:data between 0.5 and 1
start: /cam/compressed
data_files_size_in_mb: 10
video_files_size_in_mb: 20
chunks_size: 30
`)
	if err != nil {
		t.Fatal(err)
	}
	topics := []string{"/joint_states", "/odom", "/ft", "/cam/compressed", "/wrist", "/task", "/button"}
	if !slices.Equal(m.Topics(), topics) || m.ActionOf != "delta" || m.MaxGap != 1e8 || m.Episodes.To != 1 ||
		m.Sync != "linear" ||
		m.TaskFrom.Path != "data" || m.DataMB != 10 || m.VideoMB != 20 || m.ChunkFiles != 30 ||
		m.State[1].Path != "twist.twist.linear" {
		t.Errorf("%+v, topics %q", m, m.Topics())
	}
}

// TestMappingRefused: what is wrong in a mapping file is named with its line and its key, and with what is possible.
func TestMappingRefused(t *testing.T) {
	const good = "fps: 30\ntask: x\nstate: /a:b\n"
	for text, want := range map[string]string{
		"":                                        "the file is empty",
		"- a":                                     "line 1: it does not have the form KEY: VALUE",
		"fps: [":                                  "it is no YAML",
		good + "---\nfps: 1":                      "more than one document",
		"fps: 30\nfps: 30\n":                      "line 2: fps: it is in line 1, too",
		good + "Task: y":                          `line 4: there is no key "Task"; there are fps, task, robot_type`,
		"fps: 0":                                  `line 1: fps: "0" is no whole number from 1 to 100000`,
		"fps: 29.97":                              `line 1: fps: "29.97" is no whole number`,
		"task: x\nstate: /a:b":                    "fps: it is missing; add for example: fps: 30",
		"fps: 1\nstate: /a:b":                     "task: it is missing",
		"fps: 1\ntask: x":                         "there is neither state nor action nor a camera",
		"fps: 1\ntask: x\naction: next(state)":    "line 3: action: next(state) without a state; add a state",
		"state: /a":                               `line 1: state: "/a" does not have the form TOPIC:FIELD; type for example /joint_states:position`,
		"state: []":                               "line 1: state: an empty list",
		"state: {a: b}":                           "line 1: state: its value is no text",
		"state: ":                                 "line 1: state: its value is no text",
		good + "cameras: /c":                      "line 4: cameras: it does not have the form {NAME: VALUE}",
		good + "cameras: {a/b: /c}":               `line 4: cameras: "a/b" cannot be the name of a feature; use letters, digits, _, - and points`,
		good + "cameras: {a: /c, a: /d}":          "line 4: cameras: a is there twice",
		good + "cameras: {a: '/c:data'}":          "line 4: cameras: /c:data is a topic with a path; name the topic alone",
		good + "features: {timestamp: /a:b}":      "line 4: features: timestamp is a feature of its own",
		good + "features: {action: /a:b}":         "line 4: features: action is a feature of its own",
		good + "codec: h265":                      `line 4: codec: unknown value "h265"; it is one of: h264, av1, stored, images`,
		good + "sync: first":                      `line 4: sync: unknown value "first"`,
		good + "max_gap: 100":                     `line 4: max_gap: "100" is no time above 0; type for example 100ms`,
		good + "max_gap: -1s":                     `line 4: max_gap: "-1s" is no time above 0`,
		good + "episodes: often":                  `line 4: episodes: "often" does not divide a recording into episodes; there are: file, gap 5s`,
		good + "episodes: gap":                    "line 4: episodes: ",
		good + "episodes: value /b:c":             `line 4: episodes: "value /b:c" is no range of a value`,
		good + "episodes: value /b:c between 2 1": "line 4: episodes: from 2 to 1 is no range",
		good + "episodes: value /b between 1 2":   `line 4: episodes: "/b" does not have the form TOPIC:FIELD`,
		good + "start: /other":                    "line 4: start: /other is not one of the topics; name one of /a",
		good + "chunks_size: 0":                   "line 4: chunks_size: ",
		strings.Repeat("# long\n", 200_000):       "a mapping of 1400000 bytes",
	} {
		_, err := ParseMapping(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
	}
}

// FuzzMapping: no text makes ParseMapping panic, and what it accepts has a rate, a task and topics.
func FuzzMapping(f *testing.F) {
	f.Add("fps: 30\ntask: x\nstate: /a:b\ncameras: {a: /c}\n")
	f.Add("fps: 1\ntask: '/a:b'\naction: next(state)\nstate: [/a:b, /c:d]\nepisodes: value /b:c between -1 1e3\n")
	f.Add("fps: &a 1\ntask: *a\ncameras: {<<: {a: b}}\n")
	f.Fuzz(func(t *testing.T, text string) {
		if m, err := ParseMapping(text); err == nil && (m.FPS < 1 || m.Task == "" && m.TaskFrom.Topic == "" ||
			len(m.Topics()) == 0) {
			t.Errorf("%q: %+v", text, m)
		}
	})
}
