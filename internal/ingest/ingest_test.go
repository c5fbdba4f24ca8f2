package ingest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/convert/text"
	"github.com/bagconv/bagconv/internal/frames"
	"github.com/bagconv/bagconv/internal/ingest"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// A line is a message with all that is known of it.
type line struct {
	topic storage.Topic
	m     storage.Message
}

// linesOf returns the messages of a recording in the order of the file.
func linesOf(t *testing.T, r storage.Reader) (list []line, err error) {
	t.Helper()
	info := r.Info()
	for {
		m, err := r.ReadNext()
		if err == io.EOF {
			return list, nil
		}
		if err != nil {
			return list, err
		}
		copied := *m
		copied.Data = bytes.Clone(m.Data)
		list = append(list, line{info.Topics[m.Topic].Topic, copied})
	}
}

// cat returns what cat writes of a recording in frames, and the recording.
func cat(t *testing.T, path string, o text.Options) (stream []byte, info *storage.Info, list []line, err error) {
	t.Helper()
	format, err := all.Registry().Detect(path)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	p := text.New(&out, o)
	err = recording.Use(t.Context(), []recording.Ref{{Path: path, Format: format}}, func(s []*recording.Source) error {
		info = s[0].Info
		_, err := p.Read(t.Context(), s[0], recording.Query{Order: recording.OrderFile})
		return err
	})
	if err = errors.Join(err, p.Flush()); err != nil {
		return nil, info, nil, err
	}
	r, err := format.Open(t.Context(), path, storage.ReadOptions{})
	if err != nil {
		return nil, info, nil, err
	}
	defer r.Close()
	list, err = linesOf(t, r)
	return out.Bytes(), info, list, err
}

// opened reads a stream from standard input.
func opened(t *testing.T, stream []byte, o ingest.Options) (storage.Reader, error) {
	t.Helper()
	o.In, o.TempDir = bytes.NewReader(stream), t.TempDir()
	return ingest.Source(o).Open(context.Background(), ingest.Stdin, storage.ReadOptions{})
}

func equalTopics(a, b *storage.Topic) bool {
	return a.Name == b.Name && a.Type == b.Type && a.Encoding == b.Encoding && a.Schema.Encoding == b.Schema.Encoding &&
		bytes.Equal(a.Schema.Data, b.Schema.Data)
}

// TestRecordings: what cat writes of every recording in frames, with definitions or with the recording that they are
// from, is the recording again: topics, definitions, QoS, metadata, times and bytes.
func TestRecordings(t *testing.T) {
	registry, tried := all.Registry(), 0
	paths := samples.Recordings(t, func(path string) bool { _, err := registry.Detect(path); return err == nil })
	for i, path := range paths {
		if n := samples.Pick(1, 5, 20); i%n != 0 {
			continue
		}
		stream, info, want, err := cat(t, path, text.Options{Raw: true, Framed: true, Define: true})
		if err != nil || len(want) == 0 {
			continue // damage that ends reading, or nothing to read
		}
		tried++
		compare(t, path, stream, ingest.Options{}, want, true)
		stream, _, _, err = cat(t, path, text.Options{Raw: true, Framed: true})
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		compare(t, path, stream, ingest.Options{Like: []ingest.Like{{Info: info}}}, want, false)
	}
	if tried < leastTried(t) {
		t.Errorf("only %d recordings", tried)
	}
}

// leastTried is how many recordings a test reads at least: in the short form and on testdata/ alone these are a few.
func leastTried(t *testing.T) int {
	if _, shared := samples.Shared(t); shared && !testing.Short() {
		return 10
	}
	return 3
}

// compare compares a stream with what it was made of; whole is whether it has everything.
func compare(t *testing.T, path string, stream []byte, o ingest.Options, want []line, whole bool) {
	t.Helper()
	r, err := opened(t, stream, o)
	if err != nil {
		t.Errorf("%s: %v", path, err)
		return
	}
	defer r.Close()
	got, err := linesOf(t, r)
	if err != nil || len(got) != len(want) {
		t.Errorf("%s: %d messages of %d, %v", path, len(got), len(want), err)
		return
	}
	for i := range got {
		g, w := &got[i], &want[i]
		same := equalTopics(&g.topic, &w.topic) && g.m.LogTime == w.m.LogTime && bytes.Equal(g.m.Data, w.m.Data)
		if whole {
			same = same && g.m.PublishTime == w.m.PublishTime && g.m.Sequence == w.m.Sequence &&
				slices.Equal(g.topic.QoS, w.topic.QoS) && mapsEqual(g.topic.Metadata, w.topic.Metadata)
		}
		if !same {
			t.Errorf("%s: message %d: %+v, want %+v", path, i, g, w)
			return
		}
	}
}

func mapsEqual(a, b map[string]string) bool {
	for k, v := range a {
		if b[k] != v {
			return false
		}
	}
	return len(a) == len(b)
}

// small returns a stream with every kind of frame.
func small(t testing.TB) []byte {
	t.Helper()
	b, err := frames.AppendRecording(nil, &frames.Recording{Format: "bag", Metadata: map[string]string{"a": "b"}})
	define := func(name string, publisher uint32, metadata map[string]string) {
		d := frames.Definition{Publisher: publisher}
		d.Topic = storage.Topic{Name: name, Type: "p/T", Encoding: "ros1", Metadata: metadata,
			Schema: storage.Schema{Encoding: "ros1msg", Data: []byte("uint8 n\n")}}
		if err == nil {
			b, err = frames.AppendDefinition(b, &d)
		}
	}
	message := func(name string, time int64, data string) {
		if err == nil {
			b, err = frames.Append(b, time, frames.AppendNames(nil, "ros1", "p/T", name), []byte(data))
		}
	}
	define("/a", 0, nil)
	define("/a", 1, map[string]string{"callerid": "/two"})
	message("/a", 5, "x")
	b = frames.AppendStamp(b, frames.Stamp{PublishTime: 3, Sequence: 4, Publisher: 1})
	message("/a", 4, "y")
	define("/a", 0, map[string]string{"callerid": "/new"})
	message("/a", 6, "z")
	define("/b", 0, nil)
	message("/b", 7, "")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestState: a definition counts for what follows it, and a stamp for the next message.
func TestState(t *testing.T) {
	r, err := opened(t, small(t), ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	list, err := linesOf(t, r)
	if err != nil || len(list) != 4 {
		t.Fatal(list, err)
	}
	for i, want := range []string{"", "/two", "/new", ""} {
		if got := list[i].topic.Metadata["callerid"]; got != want {
			t.Errorf("message %d is of %q, want %q", i, got, want)
		}
	}
	if m := list[1].m; m.PublishTime != 3 || m.Sequence != 4 || list[0].m.PublishTime != 5 || list[2].m.PublishTime != 6 {
		t.Error(list)
	}
	info := r.Info()
	if info.Format != "bag" || info.Metadata["a"] != "b" || info.Messages != 4 || info.Start != 4 || info.End != 7 ||
		len(info.Topics) != 4 {
		t.Errorf("%+v", info)
	}
}

// TestTruncated: a stream that ends within a frame is an error with an offset, and one that ends between two is none.
func TestTruncated(t *testing.T) {
	whole := small(t)
	ends := map[int]bool{}
	for at := 0; at < len(whole); {
		h, err := frames.ParseHead(whole[at:])
		if err != nil {
			t.Fatal(err)
		}
		if name := whole[at+frames.HeadSize : at+frames.HeadSize+h.Encoding]; string(name) != frames.StampName {
			ends[at+int(h.Size)] = true
		}
		at += int(h.Size)
	}
	for n := range whole {
		r, err := opened(t, whole[:n], ingest.Options{Form: ingest.Frames})
		if err == nil {
			_ = r.Close()
		}
		var place *storage.Error
		switch {
		case n == 0 || ends[n]:
			if err != nil {
				t.Errorf("%d bytes: %v", n, err)
			}
		case !errors.Is(err, storage.ErrTruncated) || !errors.As(err, &place) || place.Offset < 0 || place.Offset > int64(n):
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// TestFlips: a stream with a wrong bit is read or refused, and nothing else.
func TestFlips(t *testing.T) {
	whole := small(t)
	for i := range whole {
		for bit := i % 3; bit < 8; bit += samples.Pick(1, 4, 8) {
			bad := bytes.Clone(whole)
			bad[i] ^= 1 << bit
			tryAll(t, bad)
		}
	}
}

// tryAll reads all of a stream that may be anything.
func tryAll(t testing.TB, stream []byte) {
	r, err := ingest.Source(ingest.Options{In: bytes.NewReader(stream), TempDir: os.TempDir()}).Open(context.Background(),
		ingest.Stdin, storage.ReadOptions{})
	if err != nil {
		if !storage.IsDamage(err) {
			t.Errorf("%v does not say what is wrong", err)
		}
		return
	}
	info := r.Info()
	n := int64(0)
	for err == nil {
		if _, err = r.ReadNext(); err == nil {
			n++
		}
	}
	if err != io.EOF || n+r.Damage().Lost.Messages != info.Messages {
		t.Errorf("%v; %d messages of %d, %+v", err, n, info.Messages, r.Damage())
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func FuzzInput(f *testing.F) {
	f.Add(small(f))
	f.Fuzz(func(t *testing.T, stream []byte) { tryAll(t, stream) })
}

// TestRefused: what cannot be a recording is refused with a reason.
func TestRefused(t *testing.T) {
	frame := func(encoding, typ, topic, message string) []byte {
		b, err := frames.Append(nil, 1, frames.AppendNames(nil, encoding, typ, topic), []byte(message))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	stamp := frames.AppendStamp(nil, frames.Stamp{Publisher: 2})
	for name, stream := range map[string][]byte{
		"empty":               nil,
		"text":                []byte("hello, this is no stream at all"),
		"unknown type":        frame("cdr", "p/msg/T", "/t", "x"),
		"unknown encoding":    frame("morse", "p/msg/T", "/t", "x"),
		"a publisher":         append(bytes.Clone(stamp), frame("ros1", "std_msgs/Bool", "/t", "x")...),
		"two stamps":          append(bytes.Clone(stamp), stamp...),
		"a stamp at the end":  stamp,
		"a long stamp":        frame("stamp", "", "", "12345678901234567"),
		"a definition":        frame("definition/x", "p/T", "/t", "{}\n"),
		"a line":              frame("definition/ros1msg", "p/T", "/t", "no JSON\n"),
		"what is about it":    frame("recording", "", "", "{"),
		"the name of a topic": frame("ros1", "std_msgs/Bool", string(make([]byte, frames.MaxTopic+1)), "x"),
	} {
		r, err := opened(t, stream, ingest.Options{})
		if err == nil {
			t.Errorf("%s is read: %v", name, r.Close())
		} else if !storage.IsDamage(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A slow reader never ends.
type slow struct{ first []byte }

func (s *slow) Read(p []byte) (int, error) {
	if n := copy(p, s.first); n > 0 {
		s.first = s.first[n:]
		return n, nil
	}
	select {}
}

// TestCancelled: a stream on which nothing comes ends with its context.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	done := make(chan error)
	go func() {
		_, err := ingest.Source(ingest.Options{In: &slow{small(t)}, TempDir: t.TempDir()}).Open(ctx, ingest.Stdin,
			storage.ReadOptions{})
		done <- err
	}()
	why := errors.New("enough")
	cancel(why)
	if err := <-done; !errors.Is(err, why) {
		t.Error(err)
	}
}
