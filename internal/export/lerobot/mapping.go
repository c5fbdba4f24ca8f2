package lerobot

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bagconv/bagconv/internal/yaml"
	"github.com/bagconv/bagconv/storage"
)

// A Mapping says what of a recording becomes what of a data set: the file of --map.
type Mapping struct {
	FPS       int
	Task      string // the text of all episodes, or "" and TaskFrom
	TaskFrom  Field
	RobotType string
	State     []Field
	Action    []Field
	ActionOf  string // "next" or "delta": the action is made of the state; "": of Action
	Features  []Feature
	Cameras   []Camera
	Codec     string // "h264", "av1", "stored" or "images"

	Sync     string // "last", "nearest" or "linear"
	MaxGap   int64  // ns; 0: any
	Episodes Division
	Start    string // a topic that an episode begins with, at the earliest; "": all of them

	DataMB, VideoMB, ChunkFiles int // the sizes from which on a file is followed by the next, and files of a folder
}

// A Field is the numbers at a path in the messages of a topic: "/joint_states:position".
type Field struct {
	Topic, Path string
	line        int
}

// String returns the field as a mapping file has it.
func (f Field) String() string { return f.Topic + ":" + f.Path }

// A Feature is a vector of the data set besides state and action.
type Feature struct {
	Name   string
	Fields []Field
}

// A Camera is a video of the data set: observation.images.NAME.
type Camera struct {
	Name, Topic string
	line        int
}

// A Division says where an episode ends and the next begins.
type Division struct {
	By       string // "file", "gap", "topic" or "value"
	Gap      int64  // ns
	Topic    string
	Field    Field
	From, To float64 // the value is in an episode
}

// The sizes of lerobot, which a mapping may change.
const (
	defaultDataMB     = 100
	defaultVideoMB    = 200
	defaultChunkFiles = 1000
)

// maxMapping is how long the text of a mapping file may be.
const maxMapping = 1 << 20

// maxFPS keeps times in nanoseconds apart.
const maxFPS = 100_000

// A mapError is what is wrong in a mapping file.
func mapError(line int, key, hint, format string, a ...any) error {
	what := fmt.Sprintf(format, a...)
	if key != "" {
		what = key + ": " + what
	}
	if line > 0 {
		what = fmt.Sprintf("line %d: %s", line, what)
	}
	return &storage.OptionError{Name: nameMap, What: what, Hint: hint}
}

// keys are the keys of a mapping file, with what reads their values.
var keys = []struct {
	name string
	read func(m *Mapping, key string, n *yaml.Node) error
}{
	{"fps", func(m *Mapping, key string, n *yaml.Node) (err error) {
		m.FPS, err = integer(key, n, 1, maxFPS)
		return err
	}},
	{"task", (*Mapping).readTask},
	{"robot_type", func(m *Mapping, key string, n *yaml.Node) (err error) {
		m.RobotType, err = text(key, n)
		return err
	}},
	{"state", func(m *Mapping, key string, n *yaml.Node) (err error) {
		m.State, err = fields(key, n)
		return err
	}},
	{"action", (*Mapping).readAction},
	{"features", (*Mapping).readFeatures},
	{"cameras", (*Mapping).readCameras},
	{"codec", func(m *Mapping, key string, n *yaml.Node) (err error) {
		m.Codec, err = word(key, n, "h264", "av1", "stored", "images")
		return err
	}},
	{"sync", func(m *Mapping, key string, n *yaml.Node) (err error) {
		m.Sync, err = word(key, n, "last", "nearest", "linear")
		return err
	}},
	{"max_gap", func(m *Mapping, key string, n *yaml.Node) (err error) {
		m.MaxGap, err = duration(key, n, n.Value)
		return err
	}},
	{"episodes", (*Mapping).readEpisodes},
	{"start", (*Mapping).readStart},
	{"data_files_size_in_mb", sizeKey(func(m *Mapping) *int { return &m.DataMB })},
	{"video_files_size_in_mb", sizeKey(func(m *Mapping) *int { return &m.VideoMB })},
	{"chunks_size", sizeKey(func(m *Mapping) *int { return &m.ChunkFiles })},
}

// sizeKey returns what reads a size.
func sizeKey(of func(*Mapping) *int) func(*Mapping, string, *yaml.Node) error {
	return func(m *Mapping, key string, n *yaml.Node) (err error) {
		*of(m), err = integer(key, n, 1, 1<<30)
		return err
	}
}

// ParseMapping reads a mapping file. Errors are *storage.OptionErrors, which name the line and the key.
func ParseMapping(text string) (*Mapping, error) {
	if len(text) > maxMapping {
		return nil, mapError(0, "", "is it another file?", "a mapping of %d bytes, %d at most", len(text), maxMapping)
	}
	root, err := yaml.ParseOne([]byte(text))
	switch {
	case err != nil:
		return nil, mapError(0, "", helpMap, "it is no YAML: %v", err)
	case root == nil:
		return nil, mapError(0, "", helpMap, "the file is empty")
	case root.Kind != yaml.MappingNode:
		return nil, mapError(root.Line, "", helpMap, "it does not have the form KEY: VALUE")
	}
	m := &Mapping{Codec: "h264", Sync: "last", Episodes: Division{By: "file"},
		DataMB: defaultDataMB, VideoMB: defaultVideoMB, ChunkFiles: defaultChunkFiles}
	seen := map[string]int{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if err := m.readKey(root.Content[i], root.Content[i+1], seen); err != nil {
			return nil, err
		}
	}
	return m, m.check(seen)
}

// helpMap is the hint of errors that may have any cause.
const helpMap = "--guess prints a mapping file for a recording; docs/lerobot.md describes it"

// readKey reads a key with its value. Seen has the lines of the keys so far.
func (m *Mapping) readKey(key, value *yaml.Node, seen map[string]int) error {
	var names []string
	for _, k := range keys {
		if names = append(names, k.name); k.name != key.Value {
			continue
		}
		if line := seen[k.name]; line > 0 {
			return mapError(key.Line, k.name, "omit one of them", "it is in line %d, too", line)
		}
		seen[k.name] = key.Line
		return k.read(m, k.name, value)
	}
	return mapError(key.Line, "", "there are "+strings.Join(names, ", "), "there is no key %q", key.Value)
}

// check reports what the file lacks.
func (m *Mapping) check(seen map[string]int) error {
	switch {
	case m.FPS == 0:
		return mapError(0, "fps", "add for example: fps: 30", "it is missing")
	case m.Task == "" && m.TaskFrom.Topic == "":
		return mapError(0, "task", "add for example: task: pick the cube", "it is missing")
	case m.ActionOf != "" && len(m.State) == 0:
		return mapError(seen["action"], "action", "add a state", "%s(state) without a state", m.ActionOf)
	case len(m.State)+len(m.Action)+len(m.Features)+len(m.Cameras) == 0:
		return mapError(0, "", helpMap, "there is neither state nor action nor a camera")
	}
	if m.Start != "" && !slices.Contains(m.Topics(), m.Start) {
		return mapError(seen["start"], "start", "name one of "+strings.Join(m.Topics(), ", "), "%s is not one of the topics",
			m.Start)
	}
	return nil
}

// Topics lists the topics that a data set is made of.
func (m *Mapping) Topics() (list []string) {
	add := func(topic string) {
		if topic != "" && !slices.Contains(list, topic) {
			list = append(list, topic)
		}
	}
	for _, v := range m.vectors() {
		for _, f := range v.Fields {
			add(f.Topic)
		}
	}
	for _, c := range m.Cameras {
		add(c.Topic)
	}
	add(m.TaskFrom.Topic)
	add(m.Episodes.Topic)
	add(m.Episodes.Field.Topic)
	return list
}

// vectors lists the features of numbers that messages have.
func (m *Mapping) vectors() (list []Feature) {
	if len(m.Action) > 0 {
		list = append(list, Feature{nameAction, m.Action})
	}
	if len(m.State) > 0 {
		list = append(list, Feature{nameState, m.State})
	}
	return append(list, m.Features...)
}

func (m *Mapping) readTask(key string, n *yaml.Node) (err error) {
	if m.Task, err = text(key, n); err == nil && strings.HasPrefix(m.Task, "/") && strings.Contains(m.Task, ":") {
		m.TaskFrom, err = field(key, n, m.Task)
		m.Task = ""
	}
	return err
}

func (m *Mapping) readAction(key string, n *yaml.Node) (err error) {
	switch n.Value {
	case "next(state)", "delta(state)":
		m.ActionOf = strings.TrimSuffix(n.Value, "(state)")
		return nil
	}
	m.Action, err = fields(key, n)
	return err
}

// featureName is what lerobot takes as the name of a feature: it has no slash.
func featureName(name string) bool {
	return name != "" && len(name) <= 200 && strings.Trim(name, "_.-"+alphanumeric) == ""
}

const alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// named calls read with each name of a mapping and its value.
func named(key string, n *yaml.Node, read func(name string, value *yaml.Node) error) error {
	if n.Kind != yaml.MappingNode {
		return mapError(n.Line, key, "type for example: "+key+": {front: /camera/image}",
			"it does not have the form {NAME: VALUE}")
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i].Value
		switch {
		case !featureName(name):
			return mapError(n.Content[i].Line, key, "use letters, digits, _, - and points",
				"%q cannot be the name of a feature", name)
		case seen[name]:
			return mapError(n.Content[i].Line, key, "omit one of them", "%s is there twice", name)
		}
		seen[name] = true
		if err := read(name, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

func (m *Mapping) readCameras(key string, n *yaml.Node) error {
	return named(key, n, func(name string, value *yaml.Node) error {
		topic, err := text(key, value)
		if err == nil && strings.Contains(topic, ":") {
			err = mapError(value.Line, key, "name the topic alone", "%s is a topic with a path", topic)
		}
		m.Cameras = append(m.Cameras, Camera{name, topic, value.Line})
		return err
	})
}

// ownFeatures are names of features that the data set has anyway.
var ownFeatures = []string{nameAction, nameState, "timestamp", "frame_index", "episode_index", "index", "task_index",
	"task"}

func (m *Mapping) readFeatures(key string, n *yaml.Node) error {
	return named(key, n, func(name string, value *yaml.Node) error {
		if slices.Contains(ownFeatures, name) || strings.HasPrefix(name, imagesPrefix) {
			return mapError(value.Line, key, "choose another name, such as observation.force", "%s is a feature of its own",
				name)
		}
		list, err := fields(key, value)
		m.Features = append(m.Features, Feature{name, list})
		return err
	})
}

// between is the form of episodes by a value.
var between = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^value\s+(\S+)\s+between\s+(\S+)\s+(?:and\s+)?(\S+)$`)
})

func (m *Mapping) readEpisodes(key string, n *yaml.Node) (err error) {
	const hint = "there are: file, gap 5s, topic /episode, value /recording:data between 1 2"
	value, err := text(key, n)
	if err != nil {
		return err
	}
	d := &m.Episodes
	words := strings.Fields(value)
	switch d.By = words[0]; {
	case value == "file":
	case d.By == "gap" && len(words) == 2:
		d.Gap, err = duration(key, n, words[1])
	case d.By == "topic" && len(words) == 2:
		d.Topic = words[1]
	case d.By == "value":
		parts := between().FindStringSubmatch(value)
		if parts == nil {
			return mapError(n.Line, key, hint, "%q is no range of a value", value)
		}
		var from, to error
		d.From, from = strconv.ParseFloat(parts[2], 64)
		d.To, to = strconv.ParseFloat(parts[3], 64)
		if errors.Join(from, to) != nil || math.IsNaN(d.From) || math.IsNaN(d.To) || d.From > d.To {
			return mapError(n.Line, key, hint, "from %s to %s is no range", parts[2], parts[3])
		}
		d.Field, err = field(key, n, parts[1])
	default:
		return mapError(n.Line, key, hint, "%q does not divide a recording into episodes", value)
	}
	return err
}

func (m *Mapping) readStart(key string, n *yaml.Node) (err error) {
	m.Start, err = text(key, n)
	if m.Start == "all" {
		m.Start = ""
	}
	return err
}

// fields reads a field, or a list of them.
func fields(key string, n *yaml.Node) (list []Field, err error) {
	nodes := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		nodes = n.Content
	}
	for _, n := range nodes {
		value, err := text(key, n)
		if err != nil {
			return nil, err
		}
		f, err := field(key, n, value)
		if err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	if len(list) == 0 {
		return nil, mapError(n.Line, key, "omit it, or name a field", "an empty list")
	}
	return list, nil
}

// field reads TOPIC:PATH.
func field(key string, n *yaml.Node, value string) (Field, error) {
	topic, path, ok := strings.Cut(value, ":")
	if !ok || topic == "" || path == "" {
		return Field{}, mapError(n.Line, key, "type for example /joint_states:position",
			"%q does not have the form TOPIC:FIELD", value)
	}
	return Field{topic, path, n.Line}, nil
}

func text(key string, n *yaml.Node) (string, error) {
	if n.Kind != yaml.ScalarNode || strings.TrimSpace(n.Value) == "" || n.Tag == "!!null" {
		return "", mapError(n.Line, key, helpMap, "its value is no text")
	}
	return strings.TrimSpace(n.Value), nil
}

func word(key string, n *yaml.Node, words ...string) (string, error) {
	value, err := text(key, n)
	if err == nil && !slices.Contains(words, value) {
		err = mapError(n.Line, key, "it is one of: "+strings.Join(words, ", "), "unknown value %q", value)
	}
	return value, err
}

func integer(key string, n *yaml.Node, from, to int) (int, error) {
	i, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || i < from || i > to {
		return 0, mapError(n.Line, key, helpMap, "%q is no whole number from %d to %d", n.Value, from, to)
	}
	return i, nil
}

func duration(key string, n *yaml.Node, value string) (int64, error) {
	d, err := time.ParseDuration(value)
	if n.Kind != yaml.ScalarNode || err != nil || d <= 0 {
		return 0, mapError(n.Line, key, "type for example 100ms", "%q is no time above 0", value)
	}
	return int64(d), nil
}
