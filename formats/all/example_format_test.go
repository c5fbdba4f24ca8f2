package all_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
)

// A format from outside: recordings in memory, with names such as "mem:a". It is
// registered beside the built-in ones, and then opened and converted like any other.
func ExampleRegistry_format() {
	ctx := context.Background()
	formats := all.Registry().And(memoryFormat())

	w, err := formats.Lookup("mem").Create(ctx, "mem:a", storage.WriteOptions{})
	if err != nil {
		panic(err)
	}
	topic, err := w.CreateTopic(storage.Topic{
		Name: "/count", Type: "std_msgs/UInt8", Encoding: "ros1",
		Schema: storage.Schema{Encoding: "ros1msg", Data: []byte("uint8 data\n")},
	})
	if err != nil {
		panic(err)
	}
	for i := range int64(3) {
		if err := w.Write(&storage.Message{Topic: topic, LogTime: i, PublishTime: i, Data: []byte{byte(i)}}); err != nil {
			panic(err)
		}
	}
	if err := w.Commit(); err != nil {
		panic(err)
	}

	dir, err := os.MkdirTemp("", "bagconv-example-*")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	source, err := formats.Detect("mem:a")
	if err != nil {
		panic(err)
	}
	report, err := convert.Run(ctx, convert.Job{
		Source: "mem:a", SourceFormat: source,
		Sink: filepath.Join(dir, "a"), SinkFormat: formats.Lookup("db3"),
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(report.Source.Format, "->", report.Sink.Format, report.Sink.Messages, report.Topics[0].SinkType)
	// Output: mem -> db3 3 std_msgs/msg/UInt8
}

// memoryFormat makes a format that keeps its recordings itself.
func memoryFormat() *storage.Format {
	kept := map[string]*memory{}
	options := storage.Options{{Name: storage.NameCompression, Kind: storage.OptionChoice, Values: []string{"none"}}}
	return &storage.Format{
		Name: "mem", Help: "recordings in memory",
		Holds: storage.Capacity{
			Native:  "ros1",
			Carries: func(string, string) bool { return true },
		},
		// any message, as it is
		Options: options,
		Sniff:   func(_ storage.FS, path string, _ []byte) bool { return strings.HasPrefix(path, "mem:") },
		Open: func(_ context.Context, path string, _ storage.ReadOptions) (storage.Reader, error) {
			m := kept[path]
			if m == nil {
				return nil, &storage.Error{Format: "mem", Path: path, Offset: -1, What: "no such recording", Err: fs.ErrNotExist}
			}
			return &memoryReader{memory: m, path: path}, nil
		},
		Create: func(_ context.Context, path string, o storage.WriteOptions) (storage.Writer, error) {
			if err := options.Check(&o); err != nil {
				return nil, &storage.Error{Format: "mem", Path: path, Offset: -1, What: "option", Err: err}
			}
			if kept[path] != nil && !o.Overwrite {
				return nil, &storage.Error{Format: "mem", Path: path, Offset: -1, Err: fs.ErrExist}
			}
			return &memoryWriter{kept: kept, path: path}, nil
		},
	}
}

// memory is a recording.
type memory struct {
	topics   []storage.TopicInfo
	messages []storage.Message
}

type memoryReader struct {
	*memory
	path string
	next int
	m    storage.Message
}

func (r *memoryReader) Info() *storage.Info {
	info := &storage.Info{Format: "mem", Path: r.path, Files: []string{r.path}, Topics: r.topics,
		Messages: int64(len(r.messages))}
	for i, m := range r.messages {
		if i == 0 {
			info.Start, info.End = m.LogTime, m.LogTime
		}
		info.Start, info.End = min(info.Start, m.LogTime), max(info.End, m.LogTime)
		info.Size += int64(len(m.Data))
	}
	return info
}

func (r *memoryReader) ReadNext() (*storage.Message, error) {
	if r.next == len(r.messages) {
		return nil, io.EOF
	}
	r.m = r.messages[r.next]
	r.m.Data = append([]byte(nil), r.m.Data...) // the caller's to change
	r.next++
	return &r.m, nil
}

func (r *memoryReader) Damage() storage.Damage { return storage.Damage{} }

func (r *memoryReader) Close() error { return nil }

type memoryWriter struct {
	memory
	kept  map[string]*memory
	path  string
	ended bool
}

var errEnded = errors.New("mem: the writer has ended")

func (w *memoryWriter) Identity() storage.Identity { return storage.IdentityTopic }

func (w *memoryWriter) CreateTopic(t storage.Topic) (storage.TopicID, error) {
	if w.ended {
		return 0, errEnded
	}
	id := storage.TopicID(len(w.topics))
	w.topics = append(w.topics, storage.TopicInfo{Topic: t, ID: id})
	return id, nil
}

func (w *memoryWriter) Write(m *storage.Message) error {
	if w.ended {
		return errEnded
	}
	if int64(m.Topic) >= int64(len(w.topics)) {
		w.ended = true
		return fmt.Errorf("mem: no topic %d", m.Topic)
	}
	keep := *m
	keep.Data = bytes.Clone(m.Data) // a writer keeps no reference
	w.messages = append(w.messages, keep)
	w.topics[m.Topic].Messages++
	return nil
}

// unfinished is the name that a recording has before Commit.
func (w *memoryWriter) unfinished() string { return w.path + ".part" }

func (w *memoryWriter) Finish() (out storage.Output, err error) {
	if w.ended {
		return out, errEnded
	}
	w.ended = true
	w.kept[w.unfinished()] = &w.memory
	return storage.Output{Path: w.unfinished()}, nil
}

func (w *memoryWriter) Commit() error {
	if w.kept[w.unfinished()] == nil {
		if _, err := w.Finish(); err != nil {
			return err
		}
	}
	w.kept[w.path] = &w.memory
	return w.Close()
}

func (w *memoryWriter) Close() error {
	w.ended = true
	delete(w.kept, w.unfinished())
	return nil
}
