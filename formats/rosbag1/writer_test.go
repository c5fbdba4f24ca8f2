package rosbag1

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// topics that between them have all that a connection can have.
var testTopics = []storage.Topic{
	{Name: "/chatter", Type: "std_msgs/String", Encoding: "ros1", Schema: storage.Schema{Encoding: "ros1msg",
		Data: []byte("string data\n")},
		Metadata: map[string]string{"callerid": "/talker", "latching": "1", "md5sum": "992ce8a1687cec8c8bd883ec73ca41d1"}},
	{Name: "/chatter", Type: "std_msgs/String", Encoding: "ros1", Schema: storage.Schema{Encoding: "ros1msg",
		Data: []byte("string data\n")},
		Metadata: map[string]string{"callerid": "/other", "md5sum": "992ce8a1687cec8c8bd883ec73ca41d1", "topic": "chatter"}},
	{Name: "/empty", Type: "std_msgs/Empty", Encoding: "ros1", Schema: storage.Schema{Encoding: "ros1msg"},
		Metadata: map[string]string{"md5sum": emptyMD5}},
	{Name: "/silent", Type: "std_msgs/UInt32", Encoding: "ros1", Schema: storage.Schema{Encoding: "ros1msg",
		Data: []byte("uint32 data\n")},
		Metadata: map[string]string{"md5sum": "304a39449588c7f8ce2df6e8001c5fce"}},
}

// testMessages are n messages on the topics but the last, some out of order.
func testMessages(n int) []storage.Message {
	out := make([]storage.Message, n)
	for i := range out {
		m := storage.Message{Topic: storage.TopicID(i % 3), LogTime: 1_700_000_000_000_000_000 + int64(i^1)*1e8}
		if m.Topic != 2 {
			text := fmt.Sprintf("hello %d", i)
			m.Data = append([]byte{byte(len(text)), 0, 0, 0}, text...)
		}
		m.PublishTime = m.LogTime
		out[i] = m
	}
	return out
}

func write(t testing.TB, path string, o storage.WriteOptions, messages []storage.Message) {
	t.Helper()
	writeAs(t, Format, path, o, messages)
}

// adding adds to bags that are there.
var adding = storagetest.Adding(Format)

func writeAs(t testing.TB, f *storage.Format, path string, o storage.WriteOptions, messages []storage.Message) {
	t.Helper()
	w, err := f.Create(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	for i, topic := range testTopics {
		if id, err := w.CreateTopic(topic); err != nil || int(id) != i {
			t.Fatal(id, err)
		}
	}
	for i := range messages {
		if err := w.Write(&messages[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

func equalMessages(t testing.TB, got, want []storage.Message) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d messages, want %d", len(got), len(want))
	}
	for i := range got {
		g, w := got[i], want[i]
		if g.Topic != w.Topic || g.LogTime != w.LogTime || g.PublishTime != w.PublishTime ||
			string(g.Data) != string(w.Data) {
			t.Fatalf("message %d is %+v, want %+v", i, g, w)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	for _, codec := range Format.Options.Choices(storage.NameCompression) {
		t.Run(codec, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.bag")
			messages := testMessages(100)
			write(t, path, storage.WriteOptions{Compression: codec, ChunkSize: 1000, NoSync: true}, messages)
			r := open(t, path, storage.ReadOptions{Strict: true})
			equalMessages(t, readAll(t, r), messages)
			i := info(t, r)
			if len(i.Warnings) > 0 || i.Messages != 100 || i.Compression[codec] != int64(len(r.blocks)) || len(r.blocks) < 3 {
				t.Errorf("info %+v", i)
			}
			if len(i.Topics) != len(testTopics) {
				t.Fatalf("%d topics", len(i.Topics))
			}
			for k, topic := range i.Topics {
				if !reflect.DeepEqual(topic.Topic, testTopics[k]) {
					t.Errorf("topic %+v, want %+v", topic.Topic, testTopics[k])
				}
			}
		})
	}
}

var update = flag.Bool("update", false, "rewrite testdata/*.bag")

// TestGolden pins the bytes that the writer makes.
func TestGolden(t *testing.T) {
	for _, codec := range Format.Options.Choices(storage.NameCompression) {
		t.Run(codec, func(t *testing.T) {
			golden := filepath.Join("testdata", codec+".bag")
			path := filepath.Join(t.TempDir(), "a.bag")
			messages := testMessages(24)
			write(t, path, storage.WriteOptions{Compression: codec, ChunkSize: 500, NoSync: true}, messages)
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := os.WriteFile(golden, got, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s differs from what is written now; go test -update rewrites it", golden)
			}
			r := open(t, golden, storage.ReadOptions{Strict: true})
			equalMessages(t, readAll(t, r), messages)
		})
	}
}

// TestOnBlock writes through another's goroutines: the bytes are the same.
func TestOnBlock(t *testing.T) {
	messages := testMessages(1000)
	for _, codec := range Format.Options.Choices(storage.NameCompression) {
		t.Run(codec, func(t *testing.T) {
			dir := t.TempDir()
			o := storage.WriteOptions{Compression: codec, ChunkSize: 700, NoSync: true}
			write(t, filepath.Join(dir, "plain.bag"), o, messages)
			sw, err := createWriter(context.Background(), filepath.Join(dir, "blocks.bag"), o)
			if err != nil {
				t.Fatal(err)
			}
			w := sw.(*writer)
			type job struct {
				b    storage.PendingBlock
				done chan error
			}
			jobs, order := make(chan job, 4), make(chan job, 4)
			var wg sync.WaitGroup
			for range 3 {
				wg.Go(func() {
					for j := range jobs {
						j.done <- j.b.Encode()
					}
				})
			}
			wg.Go(func() {
				for j := range order {
					err := <-j.done
					if err == nil {
						err = j.b.Append()
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
			w.OnBlock(func(b storage.PendingBlock) error {
				j := job{b, make(chan error, 1)}
				jobs <- j
				order <- j
				return nil
			})
			for _, topic := range testTopics {
				if _, err := w.CreateTopic(topic); err != nil {
					t.Fatal(err)
				}
			}
			for i := range messages {
				m := messages[i]
				m.Data = bytes.Clone(m.Data)
				if err := w.Write(&m); err != nil {
					t.Fatal(err)
				}
				clear(m.Data) // Write keeps no reference
			}
			if err := w.Flush(false); err != nil {
				t.Fatal(err)
			}
			close(jobs)
			close(order)
			wg.Wait()
			if err := w.Commit(); err != nil {
				t.Fatal(err)
			}
			a, _ := os.ReadFile(filepath.Join(dir, "plain.bag"))
			b, _ := os.ReadFile(filepath.Join(dir, "blocks.bag"))
			if len(a) == 0 || !bytes.Equal(a, b) {
				t.Errorf("%d bytes inline, %d through blocks, or not the same", len(a), len(b))
			}
		})
	}
}

// TestRefused: what a bag cannot hold is refused, and nothing is left behind.
func TestRefused(t *testing.T) {
	topic := testTopics[0]
	for name, f := range map[string]func(w storage.Writer) error{
		"before 1970": func(w storage.Writer) error { return w.Write(&storage.Message{LogTime: -1}) },
		"after 2106":  func(w storage.Writer) error { return w.Write(&storage.Message{LogTime: maxTime + 1}) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			w, err := createWriter(context.Background(), filepath.Join(dir, "a.bag"), storage.WriteOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.CreateTopic(topic); err != nil {
				t.Fatal(err)
			}
			if err := f(w); !errors.Is(err, storage.ErrUnsupported) {
				t.Errorf("error %v", err)
			}
			if err := w.Write(&storage.Message{}); err == nil {
				t.Error("a write after an error")
			}
			if err := w.Commit(); !errors.Is(err, storage.ErrUnsupported) {
				t.Errorf("Commit: %v", err)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
	for _, o := range []storage.WriteOptions{{Compression: "zstd"}, {Compression: "lz4", Level: 10}, {Level: 1},
		{Profile: "x"}, {ChunkSize: 1 << 33}} {
		if _, err := createWriter(context.Background(), filepath.Join(t.TempDir(), "a.bag"), o); !errors.Is(err,
			storage.ErrUnsupported) {
			t.Errorf("%+v: error %v", o, err)
		}
	}
}

// TestTopicRefused: a topic that a bag cannot hold costs no other.
func TestTopicRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.bag")
	w, err := createWriter(context.Background(), path, storage.WriteOptions{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	for name, topic := range map[string]storage.Topic{
		"encoding": {Name: "/x", Encoding: "cdr"},
		"schema":   {Name: "/x", Encoding: "ros1", Schema: storage.Schema{Encoding: "ros2msg"}},
		"name":     {Name: strings.Repeat("x", maxHeader/2+1), Encoding: "ros1"},
	} {
		if _, err := w.CreateTopic(topic); !errors.Is(err, storage.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	id, err := w.CreateTopic(testTopics[0])
	if err == nil {
		err = errors.Join(w.Write(&storage.Message{Topic: id, LogTime: 1}), w.Commit())
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := openReader(context.Background(), path, storage.ReadOptions{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if info := storagetest.InfoOf(r); len(info.Topics) != 1 || info.Messages != 1 {
		t.Errorf("%+v, %v", info, err)
	}
}

// TestTimeEnds writes the least and the greatest time.
func TestTimeEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.bag")
	messages := []storage.Message{{LogTime: 0}, {LogTime: maxTime, PublishTime: maxTime}, {LogTime: 1, PublishTime: 1}}
	write(t, path, storage.WriteOptions{NoSync: true}, messages)
	r := open(t, path, storage.ReadOptions{Strict: true})
	equalMessages(t, readAll(t, r), messages)
	if i := info(t, r); i.Start != 0 || i.End != maxTime {
		t.Errorf("from %d to %d", i.Start, i.End)
	}
}

func TestClose(t *testing.T) {
	dir := t.TempDir()
	w, err := createWriter(context.Background(), filepath.Join(dir, "a.bag"), storage.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if w.Commit() == nil {
		t.Error("Commit after Close")
	}
	ctx, cancel := context.WithCancel(context.Background())
	w, err = createWriter(ctx, filepath.Join(dir, "a.bag"), storage.WriteOptions{ChunkSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	w.CreateTopic(testTopics[0])
	cancel()
	if err := w.Write(&storage.Message{}); !errors.Is(err, context.Canceled) {
		t.Errorf("write after cancel: %v", err)
	}
	if err := w.Commit(); !errors.Is(err, context.Canceled) {
		t.Errorf("Commit after cancel: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

var errFault = errors.New("injected fault")
