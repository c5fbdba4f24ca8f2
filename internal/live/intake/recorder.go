// Package intake is what protocols to running systems share: a Recorder, which is a reader of what they receive.
//
// A Recorder is a storage.Reader, so that a recording is a conversion: its messages go through the
// same selection of names, mapping, re-encoding and reports as the messages of a file. It refuses
// nothing; what does not fit into its memory is left out and counted. Protocols call AddTopic, Add,
// Warn and Stop from any goroutine; the methods of storage.Reader belong to one.
//
//	protocol -> Add -> queue, bounded in bytes -> ReadNext -> convert
package intake

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/bagconv/bagconv/storage"
)

// Options are the options of a Recorder. The zero value of each but Format is a default.
type Options struct {
	Format string        // Info.Format
	Path   string        // Info.Path: the address
	Buffer int64         // bytes of messages that wait to be written; 0: DefaultBuffer
	Round  time.Duration // after which a file has all that was received; 0: DefaultRound

	Duration time.Duration // of the recording; 0: until Stop
	Limit    int64         // messages; 0: any number
	Wanted   []string      // names of topics that are asked for: one that never came is damage

	// Snapshot keeps what was received last, as far as it fits into Buffer, and passes it on
	// when Release is called.
	Snapshot bool

	// Now returns the time of a message that arrives now, in ns since 1970; false if there is no
	// time yet. Nil: the clock of this machine.
	Now func() (int64, bool)
}

// Defaults of Options.
const (
	DefaultBuffer = 256 << 20
	DefaultRound  = time.Second
)

// messageMemory is what a message takes besides its bytes.
const messageMemory = 64

// TopicStats are what became of a topic. docs/json.md describes their JSON.
type TopicStats struct {
	Name       string `json:"name"`
	Messages   int64  `json:"messages"`   // received, and to be written
	Caller     string `json:"publisher"`  // "" if the protocol does not name it
	Bytes      int64  `json:"bytes"`      // of the messages
	Dropped    int64  `json:"dropped"`    // left out, because the queue was full
	Reconnects int64  `json:"reconnects"` // of the publisher
	// numbers that are missing in Header.seq: a hint of messages that never came
	SeqGaps int64 `json:"header_seq_gaps"`
}

// A Recorder reads what protocols receive.
type Recorder struct {
	o    Options
	ctx  context.Context
	wake chan struct{} // has an element if something changed

	mu          sync.Mutex
	topics      []storage.Topic
	stats       []TopicStats
	definitions int64    // bytes
	last        []uint32 // Header.seq of each topic
	follows     []bool   // last is known
	queue       []storage.Message
	bytes       int64 // of queue
	released    int   // messages of queue that a snapshot passes on
	received    int64
	announced   int // topics that Info has
	warnings    []storage.Warning
	ended       bool
	err         error
	round       time.Time // its end
	current     storage.Message
	timer       *time.Timer // of Duration
}

// NewRecorder returns a recorder of which ReadNext ends with ctx.
func NewRecorder(ctx context.Context, o Options) *Recorder {
	if o.Buffer == 0 {
		o.Buffer = DefaultBuffer
	}
	if o.Round == 0 {
		o.Round = DefaultRound
	}
	if o.Now == nil {
		o.Now = func() (int64, bool) { return time.Now().UnixNano(), true }
	}
	r := &Recorder{o: o, ctx: ctx, wake: make(chan struct{}, 1), round: time.Now().Add(o.Round)}
	if o.Duration > 0 {
		r.timer = time.AfterFunc(o.Duration, func() { r.Stop(nil) })
	}
	return r
}

func (r *Recorder) changed() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// AddTopic adds a topic, and returns its number. The error wraps ErrTooMuch.
func (r *Recorder) AddTopic(t storage.Topic) (storage.TopicID, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.topics) == maxTopics || r.definitions+int64(len(t.Schema.Data)) > maxDefinitions {
		return 0, fmt.Errorf("the system has more than %d topics, or more than %d MiB of definitions: %w", maxTopics,
			maxDefinitions>>20, ErrTooMuch)
	}
	r.definitions += int64(len(t.Schema.Data))
	r.topics = append(r.topics, t)
	r.stats = append(r.stats, TopicStats{Name: t.Name, Caller: t.Metadata[storage.MetaCallerID]})
	r.last, r.follows = append(r.last, 0), append(r.follows, false)
	return storage.TopicID(len(r.topics) - 1), nil
}

// Add adds a message that has arrived, and keeps its data. logTime 0 means now. It returns
// false if no more messages are wanted.
func (r *Recorder) Add(m storage.Message) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer r.changed()
	s := &r.stats[m.Topic]
	size := int64(len(m.Data)) + messageMemory
	switch {
	case r.ended:
		return false
	case r.o.Snapshot:
		r.makeRoom(size)
	case r.bytes+size > r.o.Buffer && r.bytes > 0:
		s.Dropped++
		return true
	}
	if m.LogTime == 0 {
		m.LogTime, _ = r.o.Now() // else the first time that there is
	}
	r.queue = append(r.queue, m)
	r.bytes += size
	s.Messages++
	s.Bytes += int64(len(m.Data))
	if r.received++; r.received == r.o.Limit && !r.o.Snapshot {
		r.ended = true
	}
	return !r.ended
}

// makeRoom forgets the oldest messages that no snapshot passes on.
func (r *Recorder) makeRoom(size int64) {
	n := r.released
	for n < len(r.queue) && r.bytes+size > r.o.Buffer {
		m := &r.queue[n]
		r.bytes -= int64(len(m.Data)) + messageMemory
		r.stats[m.Topic].Messages--
		r.stats[m.Topic].Bytes -= int64(len(m.Data))
		n++
	}
	if n > r.released {
		r.queue = slices.Delete(r.queue, r.released, n)
	}
}

// Seq reports the Header.seq of a message that has arrived, of a connection that numbers its
// messages one by one.
func (r *Recorder) Seq(id storage.TopicID, seq uint32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if missing := seq - r.last[id] - 1; r.follows[id] && missing < 1<<31 {
		r.stats[id].SeqGaps += int64(missing)
	}
	r.last[id], r.follows[id] = seq, true
}

// Reconnected reports that the publisher of a topic is connected again: its numbers may begin
// anew.
func (r *Recorder) Reconnected(id storage.TopicID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats[id].Reconnects++
	r.follows[id] = false
}

// Warn adds a warning, once.
func (r *Recorder) Warn(w storage.Warning) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.Offset = -1; !slices.Contains(r.warnings, w) && len(r.warnings) < 1000 {
		r.warnings = append(r.warnings, w)
	}
}

// Release passes on what a snapshot has kept, and returns how many messages that are.
func (r *Recorder) Release() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.queue) - r.released
	r.released = len(r.queue)
	r.changed()
	return n
}

// Stop ends the recording: what was received until now is still read, then err is returned; nil:
// io.EOF.
func (r *Recorder) Stop(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		r.ended, r.err = true, err
	}
	r.changed()
}

// Ended reports whether Add takes no more messages.
func (r *Recorder) Ended() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}

// Tick wakes ReadNext, because Now has another answer.
func (r *Recorder) Tick() { r.changed() }

// Stats returns what became of each topic so far. Publishers of one name are apart.
func (r *Recorder) Stats() []TopicStats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]TopicStats{}, r.stats...)
}

// Info describes the recording: the topics of the rounds so far. See storage.Reader.
func (r *Recorder) Info() *storage.Info {
	r.mu.Lock()
	defer r.mu.Unlock()
	info := &storage.Info{Format: r.o.Format, Path: r.o.Path}
	for _, s := range r.stats {
		info.Size += s.Bytes
	}
	for i, t := range r.topics[:r.announced] {
		info.Topics = append(info.Topics, storage.TopicInfo{Topic: t, ID: storage.TopicID(i)})
	}
	return info.Clone()
}

// Damage returns what went wrong so far. See storage.Reader.
func (r *Recorder) Damage() storage.Damage {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := storage.Damage{Warnings: slices.Clone(r.warnings)}
	for _, s := range r.stats {
		if s.Dropped > 0 {
			d.Lost.Messages += s.Dropped
			d.Warnings = append(d.Warnings, storage.Warning{Code: "buffer-full", Offset: -1, Damage: true,
				Message: fmt.Sprintf("topic %s: %d messages came faster than they could be written, and are lost", s.Name,
					s.Dropped), Hint: "use a larger --buffer, or less compression"})
		}
	}
	for _, name := range r.o.Wanted {
		if r.ended && !slices.ContainsFunc(r.stats, func(s TopicStats) bool { return s.Name == name }) {
			d.Warnings = append(d.Warnings, storage.Warning{Code: "topic-missing", Offset: -1, Damage: true,
				Message: fmt.Sprintf("topic %s: it never came", name),
				Hint:    "see whether its name is right, and whether somebody publishes it"})
		}
	}
	return d
}

// ReadNext waits for the next message, and returns io.EOF at the end of a round. See
// storage.Resumer.
func (r *Recorder) ReadNext() (*storage.Message, error) {
	for {
		m, wait, err := r.next()
		if m != nil || err != nil {
			return m, err
		}
		timer := time.NewTimer(wait)
		select {
		case <-r.wake:
		case <-timer.C:
		case <-r.ctx.Done():
			timer.Stop()
			return nil, context.Cause(r.ctx)
		}
		timer.Stop()
	}
}

// next returns a message, io.EOF, or how long to wait for one.
func (r *Recorder) next() (m *storage.Message, wait time.Duration, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ready() {
		head := &r.queue[0]
		if int(head.Topic) >= r.announced {
			return nil, 0, io.EOF
		}
		if now, ok := r.o.Now(); head.LogTime == 0 && ok {
			head.LogTime = now
		}
		if head.LogTime != 0 {
			r.take()
			return &r.current, 0, nil
		}
	}
	if wait = time.Until(r.round); r.ended || wait <= 0 {
		return nil, 0, io.EOF
	}
	return nil, wait, nil
}

// ready reports whether the first message of the queue may be read.
func (r *Recorder) ready() bool {
	return len(r.queue) > 0 && (!r.o.Snapshot || r.released > 0)
}

// take moves the first message of the queue to current.
func (r *Recorder) take() {
	r.current = r.queue[0]
	if r.current.PublishTime == 0 {
		r.current.PublishTime = r.current.LogTime
	}
	r.bytes -= int64(len(r.current.Data)) + messageMemory
	r.queue[0] = storage.Message{} // its data is not kept by the slice
	if r.queue = r.queue[1:]; r.released > 0 {
		r.released--
	}
}

// Resume begins the next round. See storage.Resumer.
func (r *Recorder) Resume() (more bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.round = time.Now().Add(r.o.Round)
	r.announced = len(r.topics)
	if !r.ended || r.ready() && r.timed() {
		return true, nil
	}
	r.forget()
	return false, r.err
}

// forget drops what is left of the queue: it is not written, and does not count.
func (r *Recorder) forget() {
	for _, m := range r.queue {
		r.stats[m.Topic].Messages--
		r.stats[m.Topic].Bytes -= int64(len(m.Data))
	}
	r.queue, r.bytes = nil, 0
}

// timed reports whether the first message of the queue has a time. Without any, messages that are
// left at the end are lost.
func (r *Recorder) timed() bool {
	if _, ok := r.o.Now(); ok || r.queue[0].LogTime != 0 {
		return true
	}
	r.warnings = append(r.warnings, storage.Warning{Code: "no-time", Offset: -1, Damage: true,
		Message: fmt.Sprintf("%d messages are lost, because /use_sim_time is set and no message of /clock came",
			len(r.queue)), Hint: "record with --wall-time"})
	r.forget()
	return false
}

// Close ends the recording. See storage.Reader.
func (r *Recorder) Close() error {
	if r.timer != nil {
		r.timer.Stop()
	}
	r.Stop(nil)
	return nil
}

var (
	_ storage.Reader  = (*Recorder)(nil)
	_ storage.Resumer = (*Recorder)(nil)
)
