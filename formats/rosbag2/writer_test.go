package rosbag2

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// sample is a recording with everything that must survive.
func sampleTopics() []storage.Topic {
	qos := storage.QoS{
		History: storage.HistoryKeepLast, Depth: 7, Reliability: storage.ReliabilityReliable,
		Durability: storage.DurabilityTransientLocal, Deadline: storage.QoSInfinite, Lifespan: storage.QoSDuration{Sec: 1,
			NSec: 2},
		Liveliness: storage.LivelinessAutomatic, Lease: storage.QoSInfinite, AvoidROSNamespaceConventions: true,
	}
	text := storage.Schema{Encoding: "ros2msg", Data: []byte("string data\n")}
	return []storage.Topic{
		{Name: "/chatter", Type: "std_msgs/msg/String", Encoding: "cdr", Schema: text, QoS: []storage.QoS{qos, {}},
			Metadata: map[string]string{storage.MetaTypeHash: "RIHS01_" + strings.Repeat("ab", 32),
				storage.MetaCallerID: "/talker",
				storage.MetaLatching: "1", storage.MetaMD5Sum: strings.Repeat("0f", 16), "ros1_type": "std_msgs/String",
				"own": "a\nb: \"c\" ü"}},
		{Name: "/chatter", Type: "std_msgs/msg/Int8", Encoding: "cdr", Schema: storage.Schema{Encoding: "ros2msg",
			Data: []byte("int8 data\n")},
			Metadata: map[string]string{storage.MetaCallerIDs: "/a,/b"}},
		{Name: "/again", Type: "std_msgs/msg/String", Encoding: "cdr", Schema: storage.Schema{Encoding: "ros2msg",
			Data: []byte("string data # other text\n")},
			Metadata: map[string]string{}},
		{Name: "/idl", Type: "x/msg/I", Encoding: "cdr", Schema: storage.Schema{Encoding: "ros2idl",
			Data: []byte("================\nIDL: x/msg/I\n")},
			Metadata: map[string]string{}},
		{Name: "/svc/_service_event", Type: "p/srv/S_Event", Encoding: "cdr", Schema: storage.Schema{Encoding: "ros2msg",
			Data: []byte("int8 a\n---\nint8 b\n")},
			Metadata: map[string]string{storage.MetaTypeHash: "RIHS01_" + strings.Repeat("cd", 32)}},
		{Name: "no slash: \"odd\"\n\t#€ \x01", Type: "a/msg/B", Encoding: "cdr", Metadata: map[string]string{}},
		{Name: "123", Type: "null", Encoding: "cdr", Metadata: map[string]string{}},
	}
}

func sampleRows() []storage.Message {
	big := make([]byte, 3<<20)
	for i := range big {
		big[i] = byte(i * i >> 7)
	}
	m := []storage.Message{
		{Topic: 0, LogTime: 1700000000000000000, Data: []byte("\x00\x01\x00\x00\x02\x00\x00\x00a\x00")},
		{Topic: 1, LogTime: 1700000000000000005, Data: []byte{}},
		{Topic: 2, LogTime: 1700000000000000003, Data: big},
		{Topic: 2, LogTime: 1700000000000000003, Data: big[5:100000]},
		{Topic: 3, LogTime: 0, Data: []byte{1}},
		{Topic: 4, LogTime: 1<<63 - 1, Data: bytes.Repeat([]byte{7}, 4096)},
		{Topic: 5, LogTime: 1, Data: bytes.Repeat([]byte{8}, 4061)},
	}
	for i := range 5000 {
		m = append(m, storage.Message{Topic: storage.TopicID(i % 6), LogTime: int64(i) * 1000, Data: big[i : i+i%500]})
	}
	return m
}

func write(t testing.TB, path string, o storage.WriteOptions, topics []storage.Topic, rows []storage.Message) {
	t.Helper()
	writeAs(t, Format, path, o, topics, rows)
}

// adding adds to recordings that are there.
var adding = storagetest.Adding(Format)

func writeAs(t testing.TB, f *storage.Format, path string, o storage.WriteOptions, topics []storage.Topic,
	rows []storage.Message) {
	t.Helper()
	o.NoSync = true
	w, err := f.Create(context.Background(), path, o)
	check(t, err)
	for i, topic := range topics {
		id, err := w.CreateTopic(topic)
		check(t, err)
		if int(id) != i {
			t.Fatalf("topic %d got id %d", i, id)
		}
	}
	for i := range rows {
		check(t, w.Write(&rows[i]))
	}
	check(t, w.Commit())
}

// compare fails for a recording that does not read as it was written.
func compare(t *testing.T, path string, topics []storage.Topic, rows []storage.Message) *storage.Info {
	t.Helper()
	got, info := readAll(t, path, storage.ReadOptions{Strict: true})
	if len(info.Topics) != len(topics) {
		t.Fatalf("%d topics, want %d", len(info.Topics), len(topics))
	}
	for i := range topics {
		if !reflect.DeepEqual(info.Topics[i].Topic, topics[i]) {
			t.Errorf("topic %d:\n got %+v\nwant %+v", i, info.Topics[i].Topic, topics[i])
		}
	}
	if len(got) != len(rows) || info.Messages != int64(len(rows)) {
		t.Fatalf("%d rows, info says %d, want %d", len(got), info.Messages, len(rows))
	}
	for i := range rows {
		if got[i].time != rows[i].LogTime || got[i].topic != topics[rows[i].Topic].Name ||
			!bytes.Equal(got[i].data, rows[i].Data) {
			t.Fatalf("row %d differs", i)
		}
	}
	return info
}

// TestRoundTrip writes with every profile, into a folder and into a file, and
// reads back exactly what was written.
func TestRoundTrip(t *testing.T) {
	topics, rows := sampleTopics(), sampleRows()
	for _, profile := range append(ros2bag.ProfileNames(), "") {
		for _, name := range []string{"bag", "bag.db3"} {
			t.Run(profile+"/"+name, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), name)
				options := storage.WriteOptions{Profile: profile, Metadata: map[string]string{storage.MetaDistro: "humble",
					"who": "me: \"you\""}}
				write(t, path, options, topics, rows)
				info := compare(t, path, topics, rows)
				if !reflect.DeepEqual(info.Metadata, options.Metadata) {
					t.Errorf("metadata %v", info.Metadata)
				}
				if info.Start != 0 || info.End != 1<<63-1 {
					t.Errorf("times %d to %d", info.Start, info.End)
				}
				db := path
				if name == "bag" {
					db = filepath.Join(path, "bag_0.db3")
				}
				integrity(t, db)
				left, err := os.ReadDir(filepath.Dir(path))
				check(t, err)
				if len(left) != 1 {
					t.Errorf("left behind: %v", left)
				}
			})
		}
	}
}

// TestReferee has PyPI rosbags open what each profile writes. rosbags takes only
// definitions of messages, with their true hash.
func TestReferee(t *testing.T) {
	topics := []storage.Topic{
		{Name: "/chatter", Type: "std_msgs/msg/String", Encoding: "cdr", Schema: storage.Schema{Encoding: "ros2msg",
			Data: []byte("string data\n")},
			QoS: sampleTopics()[0].QoS,
			Metadata: map[string]string{
				storage.MetaTypeHash: "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18",
				storage.MetaCallerID: "/talker"}},
		{Name: "/chatter", Type: "std_msgs/msg/Int8"},
		{Name: "odd: \"name\"\n\t#€", Type: "a/msg/B"},
		{Name: "123", Type: "a/msg/Empty"},
	}
	rows := sampleRows()
	for i := range rows {
		rows[i].Topic %= 4
	}
	for _, profile := range ros2bag.ProfileNames() {
		for what, rows := range map[string][]storage.Message{"some": rows, "none": nil} {
			t.Run(profile+"/"+what, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "bag")
				write(t, path, storage.WriteOptions{Profile: profile, Metadata: map[string]string{"who": "me"}}, topics, rows)
				referee(t, path, len(rows))
				integrity(t, filepath.Join(path, "bag_0.db3"))
			})
		}
	}
}

// integrity runs SQLite's own check with the C command line.
func integrity(t *testing.T, path string) {
	t.Helper()
	tool, err := exec.LookPath("sqlite3")
	if err != nil {
		missing(t, "sqlite3")
		return
	}
	out, err := exec.Command(tool, "-readonly", path, "pragma integrity_check; pragma journal_mode;").CombinedOutput()
	if err != nil || string(out) != "ok\ndelete\n" {
		t.Errorf("integrity_check of %s: %v %s", path, err, out)
	}
}

// referee opens a folder with PyPI rosbags and counts its messages.
func referee(t *testing.T, path string, rows int) {
	t.Helper()
	python := os.Getenv("BAGCONV_ROSBAGS_PYTHON")
	if python == "" {
		missing(t, "BAGCONV_ROSBAGS_PYTHON")
		return
	}
	const script = `
import sys
from rosbags.rosbag2 import Reader
with Reader(sys.argv[1]) as r:
    n = sum(1 for _ in r.messages())
    print(n, r.message_count, len(r.connections))
`
	out, err := exec.Command(python, "-c", script, path).CombinedOutput()
	var read, stated, topics int
	if err == nil {
		_, err = fmt.Sscan(string(out), &read, &stated, &topics)
	}
	if err != nil || read != rows || stated != rows {
		t.Errorf("rosbags on %s: %v, %d and %d of %d messages\n%s", path, err, read, stated, rows, out)
	}
}

// missing reports a referee that is not here. In CI that is an error.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Errorf("%s is missing", what)
	}
}

// TestWriteSameBytes: the same recording is the same bytes each time. SQLite makes the tables of the first one; the
// others begin as what it has made.
func TestWriteSameBytes(t *testing.T) {
	topics, rows := sampleTopics(), sampleRows()
	for _, profile := range []string{"", "foxy", "humble", "jazzy"} {
		emptyDatabases.made = map[emptyKind][]byte{}
		dir := t.TempDir()
		var first []byte
		for i := range 3 {
			path := filepath.Join(dir, fmt.Sprint(i), "bag")
			check(t, os.Mkdir(filepath.Dir(path), 0o777))
			write(t, path, storage.WriteOptions{Profile: profile}, topics, rows)
			var all []byte
			for _, f := range []string{"bag_0.db3", ros2bag.MetadataName} {
				b, err := os.ReadFile(filepath.Join(path, f))
				check(t, err)
				all = append(all, b...)
			}
			if i == 0 {
				first = all
			} else if !bytes.Equal(all, first) {
				t.Fatalf("%s: run %d gave other bytes", profile, i)
			}
		}
		if len(emptyDatabases.made) != 1 {
			t.Errorf("%s: %d empty databases are kept", profile, len(emptyDatabases.made))
		}
	}
}

func TestCreateRefuses(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	if _, err := createWriter(ctx, filepath.Join(dir, "x"), storage.WriteOptions{Profile: "melodic"}); !errors.Is(err,
		storage.ErrUnsupported) {
		t.Errorf("unknown profile: %v", err)
	}
	if _, err := createWriter(ctx, filepath.Join(dir, "x"), storage.WriteOptions{Compression: "lz4"}); !errors.Is(err,
		storage.ErrUnsupported) {
		t.Errorf("unknown compression: %v", err)
	}
	write(t, filepath.Join(dir, "x"), storage.WriteOptions{}, nil, nil)
	if _, err := createWriter(ctx, filepath.Join(dir, "x"), storage.WriteOptions{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("existing output: %v", err)
	}
	write(t, filepath.Join(dir, "x"), storage.WriteOptions{Overwrite: true}, sampleTopics(), nil)
	w, err := createWriter(ctx, filepath.Join(dir, "y"), storage.WriteOptions{})
	check(t, err)
	if err := w.Write(&storage.Message{Topic: 3}); err == nil {
		t.Error("a message without a topic was taken")
	}
	if err := w.Commit(); err == nil {
		t.Error("Commit after an error gave none")
	}
	check(t, w.Close())
	left, err := os.ReadDir(dir)
	check(t, err)
	if len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

// TestNegativeTimes: rows keep them; the unsigned numbers of metadata.yaml are
// clamped.
func TestNegativeTimes(t *testing.T) {
	topics := sampleTopics()[6:]
	rows := []storage.Message{{LogTime: math.MinInt64, Data: []byte{1}}, {LogTime: -5, Data: []byte{2}},
		{LogTime: math.MaxInt64, Data: []byte{3}}}
	path := filepath.Join(t.TempDir(), "bag")
	write(t, path, storage.WriteOptions{}, topics, rows)
	info := compare(t, path, topics, rows)
	if info.Start != math.MinInt64 || info.End != math.MaxInt64 {
		t.Errorf("times %d to %d", info.Start, info.End)
	}
	text, err := os.ReadFile(filepath.Join(path, ros2bag.MetadataName))
	check(t, err)
	if strings.Contains(string(text), ": -") {
		t.Errorf("a negative number in\n%s", text)
	}
	referee(t, path, len(rows))
}

// TestManyRows: more rows out of order than the loader sorts in memory. The index
// is whole, and the temporary files are gone.
func TestManyRows(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 100 MB")
	}
	const n = 2_200_000
	dir := t.TempDir()
	path := filepath.Join(dir, "x.db3")
	fsys := &namesFS{FS: iox.OS}
	w, err := createWriter(context.Background(), path, storage.WriteOptions{NoSync: true, FS: fsys})
	check(t, err)
	topic, err := w.CreateTopic(sampleTopics()[0])
	check(t, err)
	m := storage.Message{Topic: topic, Data: []byte{0, 1, 0, 0}}
	for i := range n {
		m.LogTime = int64(i * 7919 % n)
		check(t, w.Write(&m))
	}
	check(t, w.Commit())
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%v %v", entries, err)
	}
	if !slices.ContainsFunc(fsys.names, func(name string) bool { return strings.HasSuffix(name, ".tmp") }) {
		t.Error("nothing was spilled: the case does not test what it says")
	}
	f, err := iox.OS.Open(path)
	check(t, err)
	defer f.Close()
	d, err := sqlite.Open(sqlite.Options{File: sqlite.Plain{File: f}, ReadOnly: true})
	check(t, err)
	want := int64(0)
	check(t, d.Query("SELECT timestamp FROM messages INDEXED BY timestamp_idx ORDER BY timestamp",
		func(s *sqlite.Stmt) error {
			if s.Int(0) != want {
				return fmt.Errorf("entry %d of the index is %d", want, s.Int(0))
			}
			want++
			return nil
		}))
	if want != n {
		t.Errorf("%d entries", want)
	}
	check(t, d.Query("PRAGMA integrity_check", func(s *sqlite.Stmt) error {
		if s.Text(0) != "ok" {
			return errors.New(s.Text(0))
		}
		return nil
	}))
	check(t, d.Close())
}

// namesFS notes which files are opened for writing.
type namesFS struct {
	storage.FS
	names []string
}

func (f *namesFS) OpenFile(name string, flag int, perm os.FileMode) (storage.File, error) {
	f.names = append(f.names, name)
	return f.FS.OpenFile(name, flag, perm)
}

// TestKilled kills a process that writes, at twenty moments: nothing stands under
// the final name, or all of it.
func TestKilled(t *testing.T) {
	if out := os.Getenv("BAGCONV_TEST_KILL"); out != "" {
		for fmt.Println("begun"); ; {
			write(t, out, storage.WriteOptions{Overwrite: true}, sampleTopics(), sampleRows())
		}
	}
	if testing.Short() {
		t.Skip("starts processes")
	}
	none, whole := 0, 0
	for _, name := range []string{"bag", "x.db3"} {
		for i := range 10 {
			dir := t.TempDir()
			path := filepath.Join(dir, name)
			c := exec.Command(os.Args[0], "-test.run", "^TestKilled$")
			c.Env = append(os.Environ(), "BAGCONV_TEST_KILL="+path)
			out, err := c.StdoutPipe()
			check(t, err)
			check(t, c.Start())
			_, err = out.Read(make([]byte, 6))
			check(t, err)
			time.Sleep(time.Duration(i*i) * time.Millisecond)
			check(t, c.Process.Kill())
			_ = c.Wait() // it was killed
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
				none++
				continue
			}
			rows, info := readAll(t, path, storage.ReadOptions{Strict: true})
			if len(rows) != len(sampleRows()) || len(info.Warnings) > 0 {
				t.Errorf("%d rows, %v", len(rows), info.Warnings)
			}
			whole++
		}
	}
	t.Logf("killed %d times before there was a recording, %d times after", none, whole)
}
