package rosbag2

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// codes lists the warnings of a recording.
func codes(info *storage.Info) (list []string) {
	for _, w := range info.Warnings {
		list = append(list, w.Code)
	}
	slices.Sort(list)
	return list
}

// TestFolders opens the folders of the collections.
func TestFolders(t *testing.T) {
	n := 0
	for _, c := range []struct {
		name     string
		version  string
		messages int64
		codes    []string
	}{
		{"v1-crystal", "metadata 1, schema 1", 20, nil},
		{"v4-foxy-split", "metadata 4, schema 2", 30, nil},
		{"v8-sqlite", "metadata 8, schema 4", 30, nil},
		{"v9-sqlite", "metadata 9, schema 4", 30, nil},
		{"v9-zstd-file", "metadata 9, schema 4", 30, nil},
		{"v9-zstd-message", "metadata 9, schema 4", 30, nil},
		{"nometa-foxy", "schema 2", 12, []string{"no-metadata"}},
		{"v1-crystal-cdr_test/cdr_test", "metadata 1, schema 1", 7, nil},
		{"v1-crystal-wrong_rmw/wrong_rmw_test", "metadata 1, schema 1", 7, nil},
		{"v3-cdr_test/cdr_test", "metadata 3, schema 1", 7, []string{"metadata-topic", "metadata-topic"}},
		{"v4-foxy-cdr_test/cdr_test", "metadata 4, schema 2", 7, nil},
		{"v4-foxy-empty_bag-wal/empty_bag", "metadata 4, schema 2", 0, nil},
		{"v4-galactic-talker-wal/talker", "metadata 4, schema 2", 20, nil},
		{"v4-schema4-talker/talker", "metadata 4, schema 4", 20, nil},
		{"v4-split-wbag/wbag", "metadata 4, schema 2", 6074, nil},
		{"v4-test_bag_for_seek/test_bag_for_seek", "metadata 4, schema 2", 5, nil},
		{"v4-test_msgs_string/test_msgs_string", "metadata 4, schema 2", 10, nil},
		{"v4-wrong_rmw/wrong_rmw_test", "metadata 4, schema 2", 7, []string{"metadata-topic", "metadata-topic"}},
		{"v4-zstd-file-compressed_bag/compressed_bag", "metadata 4, schema 2", 0, nil},
		{"v4-zstd-message-split/message_compression", "metadata 4, schema 2", 1127, nil},
		{"v5-rewriter_a/rewriter_a", "metadata 5, schema 2", 150, nil},
		{"v5-rewriter_b/rewriter_b", "metadata 5, schema 2", 75, nil},
		{"v5-split-multiple_files/multiple_files", "metadata 5, schema 2", 52, nil},
		{"v7-schema4-cdr_test/cdr_test", "metadata 7, schema 4", 7, nil},
		{"v8-schema4-topics_and_service_events/bag_with_topics_and_service_events", "metadata 8, schema 4", 10, nil},
		{"nometa-split-multiple_files-chatter/multiple_files", "schema 2", 3177, []string{"no-metadata"}},
		{"nometa-rosbag2_cpp-bags/bags", "schema 4", 13, []string{"mcap", "no-metadata"}},
	} {
		paths := samples.Glob(t, "rosbag2/"+c.name)
		if len(paths) == 0 {
			continue
		}
		n++
		t.Run(c.name, func(t *testing.T) {
			path := paths[0]
			if !db3.Sniff(nil, path, nil) {
				t.Error("not recognised")
			}
			before := listing(t, path)
			rows, info := readAll(t, path, storage.ReadOptions{})
			if info.Version != c.version || info.Messages != c.messages || int64(len(rows)) != c.messages {
				t.Errorf("version %q, %d messages, read %d", info.Version, info.Messages, len(rows))
			}
			if !slices.Equal(codes(info), c.codes) {
				t.Errorf("warnings %+v, want codes %v", info.Warnings, c.codes)
			}
			counts := map[storage.TopicID]int64{}
			for i, r := range rows {
				if i == 0 || r.time < info.Start || r.time > info.End {
					if r.time < info.Start || r.time > info.End {
						t.Fatalf("row %d at %d is outside %d to %d", i, r.time, info.Start, info.End)
					}
				}
				if len(r.data) < 4 || r.data[0] != 0 {
					t.Fatalf("row %d is no CDR: % x", i, r.data[:min(len(r.data), 8)])
				}
				k := slices.IndexFunc(info.Topics, func(x storage.TopicInfo) bool { return x.Name == r.topic && x.Type == r.typ })
				counts[storage.TopicID(k)]++
			}
			for _, topic := range info.Topics {
				if counts[topic.ID] != topic.Messages {
					t.Errorf("topic %s: %d messages, read %d", topic.Name, topic.Messages, counts[topic.ID])
				}
				for _, q := range topic.QoS {
					if q.Deadline.Sec == 2147483647 {
						t.Errorf("topic %s: infinity is not normal: %+v", topic.Name, q.Deadline)
					}
				}
			}
			if after := listing(t, path); !reflect.DeepEqual(before, after) {
				t.Errorf("the folder changed: %v to %v", before, after)
			}
		})
	}
	if n < 7 {
		t.Errorf("only %d folders are here", n)
	}
	t.Run("definitions", func(t *testing.T) {
		var topics []storage.TopicInfo
		for _, path := range slices.Concat(samples.Glob(t, "rosbag2/v8-sqlite"),
			samples.Glob(t, "rosbag2/v8-schema4-topics_and_service_events/*")) {
			_, info := readAll(t, path, storage.ReadOptions{})
			topics = append(topics, info.Topics...)
		}
		for _, topic := range topics {
			if len(topic.QoS) == 0 || topic.Metadata[storage.MetaTypeHash] == "" {
				t.Errorf("topic %s has no QoS or hash: %+v", topic.Name, topic)
			}
			if strings.HasSuffix(topic.Type, "_Event") && topic.Name != "/events/write_split" {
				if topic.Schema.Encoding != "ros2msg" || !strings.Contains(string(topic.Schema.Data), "---") {
					t.Errorf("topic %s has definition %q %.60q", topic.Name, topic.Schema.Encoding, topic.Schema.Data)
				}
			}
		}
	})
	for _, path := range slices.Concat(samples.Glob(t, "rosbag2/v9-*mcap*/r*"),
		samples.Glob(t, "rosbag2/nometa-split-multiple_files-mcap/*")) {
		_, err := open(context.Background(), path, storage.ReadOptions{})
		if !errors.Is(err, storage.ErrUnsupported) || db3.Sniff(nil, path, nil) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// listing is the names and sizes of a folder's files.
func listing(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	entries, err := os.ReadDir(dir)
	check(t, err)
	m := map[string]int64{}
	for _, e := range entries {
		st, err := e.Info()
		check(t, err)
		m[e.Name()] = st.Size()
	}
	return m
}

// bag writes the sample and returns the folder.
func bag(t testing.TB, rows []storage.Message) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bag")
	write(t, path, storage.WriteOptions{}, sampleTopics(), rows)
	return path
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	check(t, err)
	check(t, os.WriteFile(to, b, 0o666))
}

func rewrite(t testing.TB, path, old, new string) {
	t.Helper()
	b, err := os.ReadFile(path)
	check(t, err)
	if !bytes.Contains(b, []byte(old)) {
		t.Fatalf("%s has no %q", path, old)
	}
	check(t, os.WriteFile(path, bytes.ReplaceAll(b, []byte(old), []byte(new)), 0o666))
}

func TestFolderWithoutMetadata(t *testing.T) {
	topics, rows := sampleTopics(), sampleRows()
	dir := bag(t, rows)
	check(t, os.Remove(filepath.Join(dir, ros2bag.MetadataName)))
	got, info := readAll(t, dir, storage.ReadOptions{})
	if len(got) != len(rows) || info.Messages != int64(len(rows)) || !slices.Equal(codes(info), []string{"no-metadata"}) {
		t.Errorf("%d rows, warnings %v", len(got), info.Warnings)
	}
	if !reflect.DeepEqual(info.Topics[0].Topic, topics[0]) {
		t.Errorf("topic 0: %+v", info.Topics[0])
	}
}

// TestPartOrder: parts are taken by number, whatever the scheme of names.
func TestPartOrder(t *testing.T) {
	for _, names := range [][]string{
		{"x_2.db3", "x_9.db3", "x_10.db3"},
		{"x_0.db3", "x_1.db3", "x_100000000000000000000000.db3"},
		{"0_x_2026_05_01-10_00_00.db3", "1_x_2026_04_01-10_00_00.db3", "10_x_2026_05_01-10_00_00.db3"},
	} {
		dir := t.TempDir()
		for i, n := range names {
			write(t, filepath.Join(dir, n), storage.WriteOptions{}, sampleTopics()[i:], []storage.Message{{LogTime: int64(i)}})
		}
		rows, info := readAll(t, dir, storage.ReadOptions{})
		for i, n := range names {
			if rows[i].time != int64(i) || filepath.Base(info.Files[i]) != n || rows[i].typ != sampleTopics()[i].Type {
				t.Errorf("%v: row %d is %+v of %v", names, i, rows[i], info.Files)
			}
		}
		if len(info.Topics) != len(sampleTopics()) {
			t.Errorf("%d topics: they were not joined", len(info.Topics))
		}
	}
}

// TestListedPaths follows the path rule: in the folder, in its parent, by the
// bare name; and compressed parts listed without their suffix.
func TestListedPaths(t *testing.T) {
	for _, listed := range []string{"bag/bag_0.db3", "elsewhere/bag_0.db3", "/nowhere/bag_0.db3", "bag_0.db3.zstd"} {
		dir := bag(t, sampleRows())
		rewrite(t, filepath.Join(dir, ros2bag.MetadataName), "- bag_0.db3", "- "+listed)
		if rows, info := readAll(t, dir, storage.ReadOptions{}); len(rows) != len(sampleRows()) || info.Warnings != nil {
			t.Errorf("%s: %d rows, %v", listed, len(rows), info.Warnings)
		}
	}
	dir := bag(t, sampleRows())
	rewrite(t, filepath.Join(dir, ros2bag.MetadataName), "- bag_0.db3", "- bag_0.db3\n        - bag_1.db3")
	copyFile(t, filepath.Join(dir, "bag_0.db3"), filepath.Join(dir, "other.db3"))
	rows, info := readAll(t, dir, storage.ReadOptions{})
	if len(rows) != len(sampleRows()) || !slices.Equal(codes(info), []string{"missing-part", "unlisted-part"}) {
		t.Errorf("%d rows, %v", len(rows), info.Warnings)
	}
	if _, err := open(context.Background(), dir, storage.ReadOptions{Strict: true}); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("strict: %v", err)
	}
	check(t, os.Remove(filepath.Join(dir, "bag_0.db3")))
	rows, info = readAll(t, dir, storage.ReadOptions{})
	if len(rows) != len(sampleRows()) || !slices.Equal(codes(info), []string{"paths"}) || info.Lost != (storage.Lost{}) {
		t.Errorf("no listed part: %d rows, %v", len(rows), info.Warnings)
	}
	check(t, os.Remove(filepath.Join(dir, "other.db3")))
	if _, err := open(context.Background(), dir, storage.ReadOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no part: %v", err)
	}
}

// TestWrongCounts: counts that do not hold together are counted again.
func TestWrongCounts(t *testing.T) {
	dir := bag(t, sampleRows())
	n := len(sampleRows())
	rewrite(t, filepath.Join(dir, ros2bag.MetadataName), fmt.Sprintf("message_count: %d", n),
		fmt.Sprintf("message_count: %d", n+1))
	_, info := readAll(t, dir, storage.ReadOptions{})
	if info.Messages != int64(n) || !slices.Equal(codes(info), []string{"count"}) || !info.Warnings[0].Damage {
		t.Errorf("%d messages, %+v", info.Messages, info.Warnings)
	}
}

// TestUnknownTopic: rows whose topic is not in the table get one with a number.
func TestUnknownTopic(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db3")
	write(t, path, storage.WriteOptions{}, sampleTopics(), sampleRows())
	edit(t, path, "DELETE FROM topics WHERE id = 2")
	rows, info := readAll(t, path, storage.ReadOptions{})
	named := 0
	for _, r := range rows {
		if r.topic == "/topic_2" {
			named++
		}
	}
	want := 0
	for _, m := range sampleRows() {
		if m.Topic == 1 {
			want++
		}
	}
	if n := len(sampleRows()); len(rows) != n || info.Messages != int64(n) || named != want ||
		!slices.Equal(codes(info), []string{"unknown-topic"}) {
		t.Errorf("%d rows of %d, info %d, %d without a topic, %v", len(rows), n, info.Messages, named, info.Warnings)
	}
	if _, err := open(context.Background(), path, storage.ReadOptions{Strict: true}); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("strict: %v", err)
	}
}

func TestManyTopics(t *testing.T) {
	const n = 10000
	path := filepath.Join(t.TempDir(), "bag")
	topics := make([]storage.Topic, n)
	rows := make([]storage.Message, n)
	for i := range n {
		topics[i] = storage.Topic{Name: fmt.Sprintf("/t%d", i), Type: fmt.Sprintf("p/msg/T%d", i%100), Encoding: "cdr",
			QoS: sampleTopics()[0].QoS, Metadata: map[string]string{storage.MetaCallerID: fmt.Sprint(i)}}
		rows[i] = storage.Message{Topic: storage.TopicID(i), LogTime: int64(i), Data: []byte{0, 1, byte(i), byte(i >> 8)}}
	}
	write(t, path, storage.WriteOptions{}, topics, rows)
	compare(t, path, topics, rows)
}

// TestSecondTopic: two topics of one name and type cannot be distinguished in a
// recording. The second one is refused, and the writer goes on without it.
func TestSecondTopic(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bag")
	w, err := createWriter(context.Background(), path, storage.WriteOptions{NoSync: true})
	check(t, err)
	topic := sampleTopics()[0]
	_, err = w.CreateTopic(topic)
	check(t, err)
	second := topic
	second.Schema.Data = []byte("another")
	if id, err := w.CreateTopic(second); !errors.Is(err, storage.ErrUnsupported) {
		t.Errorf("a second topic of the name and type: id %d, %v", id, err)
	}
	check(t, w.Commit())
	compare(t, path, []storage.Topic{topic}, nil)
}

// TestEmptyDefinition: the definition of a type without fields is known and empty,
// and comes back so.
func TestEmptyDefinition(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bag")
	topics := []storage.Topic{
		{Name: "/empty", Type: "std_msgs/msg/Empty", Encoding: "cdr", Schema: storage.Schema{Encoding: "ros2msg"},
			Metadata: map[string]string{storage.MetaTypeHash: "RIHS01_" + strings.Repeat("2", 64)}},
		{Name: "/unknown", Type: "p/msg/T", Encoding: "cdr"},
	}
	write(t, path, storage.WriteOptions{}, topics, nil)
	r, err := open(context.Background(), path, storage.ReadOptions{})
	check(t, err)
	defer r.Close()
	info := storagetest.InfoOf(r)
	for i, want := range []string{"ros2msg", ""} {
		if got := info.Topics[i].Schema; got.Encoding != want || len(got.Data) > 0 {
			t.Errorf("%s: %+v", topics[i].Name, got)
		}
	}
}
