package intake

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bagconv/bagconv/storage"
)

// drain reads until the recording ends, and returns the data of the messages, and the error of the end.
func drain(r *Recorder) (list []string, err error) {
	for {
		m, err := r.ReadNext()
		if errors.Is(err, io.EOF) {
			more, err := r.Resume()
			if err != nil || !more {
				return list, err
			}
			continue
		}
		if err != nil {
			return list, err
		}
		list = append(list, string(m.Data))
	}
}

func message(id storage.TopicID, data string) storage.Message {
	return storage.Message{Topic: id, Data: []byte(data)}
}

// TestRounds: a topic is announced before its first message, and never within a round.
func TestRounds(t *testing.T) {
	r := NewRecorder(t.Context(), Options{Format: "x", Round: time.Hour})
	a := addTopic(t, r, storage.Topic{Name: "/a"})
	r.Add(message(a, "1"))
	topics := func() int {
		info := r.Info()
		return len(info.Topics)
	}
	next := func(want string) {
		t.Helper()
		m, err := r.ReadNext()
		if err == nil && string(m.Data) != want {
			t.Errorf("%q, want %q", m.Data, want)
		}
		if err != nil && (want != "" || !errors.Is(err, io.EOF)) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	resume := func(want bool) {
		t.Helper()
		if more, err := r.Resume(); more != want || err != nil {
			t.Errorf("%v, %v", more, err)
		}
	}
	if n := topics(); n != 0 {
		t.Errorf("%d topics at the start", n)
	}
	next("")
	resume(true)
	next("1")
	b := addTopic(t, r, storage.Topic{Name: "/b"})
	r.Add(message(a, "2"))
	r.Add(message(b, "3"))
	if n := topics(); n != 1 {
		t.Errorf("%d topics within a round", n)
	}
	next("2")
	next("")
	resume(true)
	next("3")
	r.Stop(nil)
	next("")
	resume(false)
	next("")
}

// TestFull: what does not fit is counted, and is damage.
func TestFull(t *testing.T) {
	r := NewRecorder(t.Context(), Options{Buffer: 2 * (messageMemory + 1)})
	a := addTopic(t, r, storage.Topic{Name: "/a"})
	for _, s := range []string{"1", "2", "3"} {
		r.Add(message(a, s))
	}
	r.Stop(nil)
	if got, err := drain(r); !slices.Equal(got, []string{"1", "2"}) || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	d := r.Damage()
	if s := r.Stats()[0]; s.Dropped != 1 || s.Messages != 2 || len(d.Warnings) != 1 || !d.Warnings[0].Damage ||
		d.Lost.Messages != 1 {
		t.Errorf("%+v, %+v", s, d)
	}
}

// TestSnapshot: only what came last is kept, and is read when it is released.
func TestSnapshot(t *testing.T) {
	r := NewRecorder(t.Context(), Options{Buffer: 2 * (messageMemory + 1), Snapshot: true})
	a := addTopic(t, r, storage.Topic{Name: "/a"})
	add := func(list ...string) {
		for _, s := range list {
			r.Add(message(a, s))
		}
	}
	add("1", "2", "3")
	if n := r.Release(); n != 2 {
		t.Errorf("%d messages released", n)
	}
	add("4") // which does not push out what was released
	r.Stop(nil)
	if got, err := drain(r); !slices.Equal(got, []string{"2", "3"}) || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if s := r.Stats()[0]; s.Messages != 2 || s.Bytes != 2 {
		t.Errorf("%+v, and two messages were written", s)
	}
}

// TestEnds: by a number of messages, a time, an error, and the context.
func TestEnds(t *testing.T) {
	r := NewRecorder(t.Context(), Options{Limit: 2})
	a := addTopic(t, r, storage.Topic{Name: "/a"})
	if !r.Add(message(a, "1")) || r.Add(message(a, "2")) || r.Add(message(a, "3")) {
		t.Error("the limit is not 2")
	}
	if got, err := drain(r); !slices.Equal(got, []string{"1", "2"}) || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	r = NewRecorder(t.Context(), Options{Duration: 10 * time.Millisecond})
	if got, err := drain(r); got != nil || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	r, lost := NewRecorder(t.Context(), Options{}), errors.New("lost")
	a = addTopic(t, r, storage.Topic{Name: "/a"})
	r.Add(message(a, "1"))
	r.Stop(lost)
	if got, err := drain(r); !slices.Equal(got, []string{"1"}) || err != lost {
		t.Errorf("%q, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r = NewRecorder(ctx, Options{})
	time.AfterFunc(10*time.Millisecond, cancel)
	if got, err := drain(r); got != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestNoTime: messages without a time are lost at the end, and reported.
func TestNoTime(t *testing.T) {
	r := NewRecorder(t.Context(), Options{Now: func() (int64, bool) { return 0, false }})
	a := addTopic(t, r, storage.Topic{Name: "/a"})
	r.Add(message(a, "1"))
	r.Stop(nil)
	if got, err := drain(r); got != nil || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if w := r.Damage().Warnings; len(w) != 1 || !w[0].Damage || r.Stats()[0].Messages != 0 {
		t.Errorf("%+v, %+v", w, r.Stats())
	}
}

// TestSeqGaps: numbers that are missing are counted, but not over a new connection.
func TestSeqGaps(t *testing.T) {
	r := NewRecorder(t.Context(), Options{})
	a := addTopic(t, r, storage.Topic{Name: "/a"})
	for _, seq := range []uint32{7, 8, 11, 11, 3, 4, 1<<32 - 1, 0} {
		r.Seq(a, seq)
	}
	r.Reconnected(a)
	r.Seq(a, 100)
	if s := r.Stats()[0]; s.SeqGaps != 2 || s.Reconnects != 1 {
		t.Errorf("%+v", s)
	}
}

func addTopic(t *testing.T, r *Recorder, topic storage.Topic) storage.TopicID {
	t.Helper()
	id, err := r.AddTopic(topic)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestWanted: a topic that was asked for by its name and never came is damage, at the end.
func TestWanted(t *testing.T) {
	r := NewRecorder(t.Context(), Options{Wanted: []string{"/a", "/nosuch"}})
	defer r.Close()
	addTopic(t, r, storage.Topic{Name: "/a"})
	if d := r.Damage(); len(d.Warnings) > 0 {
		t.Errorf("before the end: %+v", d.Warnings)
	}
	r.Stop(nil)
	if d := r.Damage(); len(d.Warnings) != 1 || !d.Warnings[0].Damage || !strings.Contains(d.Warnings[0].Message,
		"/nosuch") {
		t.Errorf("%+v", d.Warnings)
	}
}
