package main

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/builtin"
	"github.com/bagconv/bagconv/storage"
)

// A typeCase is a ROS 1 type with one message of it.
type typeCase struct {
	name, text string // text "" is the standard type
	message    []byte
}

// typeCases are types that readers demand something of: parts that are shared, no
// fields, constants only, times of either sign.
func typeCases() []typeCase {
	message := func(fill func(w *ros.Writer)) []byte {
		w := ros.NewWriter(nil, false)
		fill(&w)
		return w.Buf
	}
	words := func(w *ros.Writer, values ...int32) {
		for _, v := range values {
			w.U32(uint32(v))
		}
	}
	header := func(w *ros.Writer) {
		words(w, 7, 1_700_000_000, 5)
		w.String([]byte("map"))
	}
	pose := func(w *ros.Writer) {
		for i := range 7 {
			w.F64(float64(i) / 2)
		}
	}
	return []typeCase{
		{"acme_msgs/HeaderAndPose", "Header header\ngeometry_msgs/PoseStamped p\n",
			message(func(w *ros.Writer) { header(w); header(w); pose(w) })},
		{"acme_msgs/PoseAndPoint", "geometry_msgs/Pose a\ngeometry_msgs/Point b\ngeometry_msgs/PoseStamped[] c\n",
			message(func(w *ros.Writer) {
				pose(w)
				w.F64(1)
				w.F64(2)
				w.F64(3)
				w.U32(1)
				header(w)
				pose(w)
			})},
		{"visualization_msgs/Marker", "", make([]byte, 154)}, // ROS 2 adds fields, which are empty
		{"std_msgs/Empty", "", nil},
		{"acme_msgs/Nothing", "# nothing\n", nil},
		{"acme_msgs/Constants", "int8 X=1\nstring NAME=some text\n", nil},
		{"acme_msgs/Empties", "std_msgs/Empty a\nuint8 b\nConstants[] c\n" + strings.Repeat("=", 80) +
			"\nMSG: acme_msgs/Constants\nint8 X=1\n", []byte{5, 2, 0, 0, 0}},
		{"acme_msgs/Durations", "duration[5] d\n", message(func(w *ros.Writer) {
			words(w, -1, 0, -1, 500_000_000, -2114, 1, 0, 0, 3, 999_999_999)
		})},
	}
}

// typesBag writes one message of each type to a bag.
func typesBag(t *testing.T, path string, cases []typeCase) {
	t.Helper()
	w, err := all.Registry().Lookup("bag").Create(context.Background(), path, storage.WriteOptions{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		msg, err := rosmsg.Parse(c.name, []byte(c.text), rosmsg.ROS1,
			func(name string) (string, bool) { return builtin.Lookup("noetic", name) })
		if err != nil {
			t.Fatal(err)
		}
		id, err := w.CreateTopic(storage.Topic{Name: "/" + c.name, Type: c.name, Encoding: "ros1",
			Schema:   storage.Schema{Encoding: "ros1msg", Data: rosmsg.Format(msg, rosmsg.ROS1)},
			Metadata: map[string]string{storage.MetaMD5Sum: schema.MD5(msg)}})
		if err == nil {
			at := 1_700_000_000_000_000_000 + int64(i)*1e6
			err = w.Write(&storage.Message{Topic: id, LogTime: at, PublishTime: at, Data: c.message})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

// TestWithoutDefinitions: a folder of before Iron, which has no definitions, is
// copied so that rosbags decodes every message as before: with the definitions of
// all types, or of none.
func TestWithoutDefinitions(t *testing.T) {
	dir := t.TempDir()
	var pairs []string
	for name, more := range map[string][]typeCase{"some": nil,
		"known": {{name: "acme_msgs/Own", text: "int8 a\n", message: []byte{1}}}} {
		cases := append([]typeCase{
			{"std_msgs/String", "", []byte{1, 0, 0, 0, 'a'}},
			{"sensor_msgs/Range", "", make([]byte, 12+4+1+16)}, // another in Iron and later
			{"std_msgs/Empty", "", nil},
		}, more...)
		bag, full, bare := filepath.Join(dir, name+".bag"), filepath.Join(dir, name+"_full"), filepath.Join(dir, name+"_bare")
		typesBag(t, bag, cases)
		convert(t, bag, full+"/", "--distro", "humble")
		undefined(t, full, bare)
		for _, args := range [][]string{{"convert", bare}, {"filter", bare, "-t", "/*"}} {
			out := filepath.Join(dir, name+"_"+args[0])
			if status, stderr := bagconv(t, slices.Insert(args, 2, out+"/")...); status != 0 {
				t.Errorf("%v: exit status %d: %s", args, status, stderr)
			}
			if len(more) == 0 { // rosbags does not know acme_msgs/Own without its definition
				pairs = append(pairs, bare, out)
			}
			info, _ := read(t, out)
			defined := 0
			for _, topic := range info.Topics {
				if topic.Schema.Encoding != "" {
					defined++
				}
			}
			if want := map[string]int{"some": len(cases), "known": 0}[name]; defined != want {
				t.Errorf("%s: %d of %d topics have a definition, want %d", out, defined, len(cases), want)
			}
		}
	}
	checkPairs(t, len(pairs)/2, pairs)
}

// undefined copies a folder without its definitions.
func undefined(t *testing.T, from, to string) {
	t.Helper()
	info, msgs := read(t, from)
	w, err := all.Registry().Lookup("db3").Create(context.Background(), to, storage.WriteOptions{NoSync: true,
		Profile: "humble", Metadata: map[string]string{storage.MetaDistro: "humble"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range info.Topics {
		if _, err := w.CreateTopic(storage.Topic{Name: topic.Name, Type: topic.Type, Encoding: "cdr"}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range msgs {
		if err := w.Write(&msgs[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

// TestTypes: bags of such types come back as they were from each format, and
// rosbags opens and decodes every recording on the way, to the same values.
func TestTypes(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	typesBag(t, at("a.bag"), typeCases())
	for _, step := range [][]string{
		{"a.bag", "db3"}, {"db3", "b.bag"}, {"a.bag", "a.record"}, {"a.record", "c.bag"}, {"db3", "b.record"},
		{"b.record", "db3b"},
	} {
		args := []string{at(step[0]), at(step[1])}
		if filepath.Ext(step[1]) == "" {
			args[1] += "/"
		}
		if status := convert(t, append(args, "--proto-types", "generated")...); status != 0 {
			t.Errorf("%v: exit status %d", step, status)
		}
	}
	for _, back := range []string{"b.bag", "c.bag"} {
		sameBag(t, at("a.bag"), at(back))
	}
	// Both ways to a record lead to the same bytes.
	_, a := read(t, at("a.record"))
	_, b := read(t, at("b.record"))
	if at := len(a) - 1; !bytes.Equal(a[at].Data, b[at].Data) {
		t.Errorf("durations are % x from a bag and % x from rosbag2", a[at].Data, b[at].Data)
	}
	checkPairs(t, 4, []string{at("a.bag"), at("db3"), at("db3"), at("b.bag"), at("a.bag"), at("c.bag"), at("db3"),
		at("db3b")})
}
