package ulog

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A reader reads one file. See storage.Reader.
type reader struct {
	src     *chunked.Source
	version byte
	start   int64   // when logging began, ns
	offsets []int64 // of appended data, ascending

	types     types
	topics    []*topic
	byKey     map[topicKey]*topic
	ids       map[uint16][]subscription
	builtins  map[byte]*topic // of P, Q, and L with C
	info      map[string]string
	multi     []*multi
	byName    map[string]*multi
	dropouts  tally
	dropped   time.Duration // in all dropouts
	unstamped tally         // messages with the time 0

	blocks   []block
	describe *storage.Info
	windows  sync.Pool // of *chunked.Window
	sequence storage.Sequence
}

// A tally counts what is in several places, and has the first place.
type tally struct{ at, count int64 }

func (t *tally) add(at int64) {
	if t.count == 0 {
		t.at = at
	}
	t.count++
}

// A topic is a topic of the recording.
type topic struct {
	id        storage.TopicID
	name      string
	typ       string
	text      string
	structure *structure // of data; nil if it cannot be read
	messages  int64
	block     int64 // offset of the last block with its messages
}

type topicKey struct {
	name     string
	instance byte
}

// A subscription gives an id to a topic, from an offset on.
type subscription struct {
	at    int64
	topic *topic
}

// prefix begins the names of topics, as in PX4's own converter.
const prefix = "/px4/"

// openReader opens the file at path. See storage.Format.
func openReader(ctx context.Context, path string, o storage.ReadOptions) (storage.Reader, error) {
	f, err := iox.FS(o.FS).Open(path)
	if err != nil {
		return nil, err
	}
	r := newReader(chunked.NewSource(ctx, formatName, path, f, o.Strict, hints))
	if err := r.open(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

// newReader returns a reader that has read nothing.
func newReader(src *chunked.Source) *reader {
	return &reader{
		src: src, byKey: map[topicKey]*topic{}, ids: map[uint16][]subscription{}, builtins: map[byte]*topic{},
		info: map[string]string{}, byName: map[string]*multi{},
	}
}

// open goes over the file.
func (r *reader) open() error {
	st, err := r.src.File.Stat()
	if err != nil {
		return err
	}
	r.src.Size = st.Size()
	r.windows.New = func() any { w := r.src.Window(); return &w }
	if err := r.readHead(); err != nil {
		return err
	}
	s := scanner{r: r, w: r.src.Window(), ahead: r.src.Window()}
	if err := s.run(); err != nil {
		return err
	}
	r.setInfo()
	return nil
}

// readHead reads the head of the file, and the flags.
func (r *reader) readHead() error {
	w := r.src.Window()
	b, err := w.Data(0, headSize+headLen+flagsSize)
	if err != nil {
		return r.src.Fail(0, "head", err)
	}
	switch {
	case !bytes.HasPrefix(b, magic):
		return r.src.Fail(0, "not a ULog file: it does not begin with ULog", storage.ErrCorrupt)
	case len(b) < headSize:
		return r.src.Fail(0, "head", storage.ErrTruncated)
	}
	r.version = b[len(magic)]
	if r.version > 1 {
		if err := r.src.Warn("version", int64(len(magic)), false,
			"version %d of the format is not known here; the file is read as version 1", r.version); err != nil {
			return err
		}
	}
	if r.start = nanoseconds(b[len(magic)+1:]); r.start == noTime {
		r.start = 0
		if err := r.src.Warn("time", int64(len(magic))+1, true,
			"the head has a time of the start that no clock has"); err != nil {
			return err
		}
	}
	var m message
	if whole, err := r.message(&w, &m, headSize, r.src.Size); err != nil || !whole || m.op != opFlags {
		return err
	}
	f, ok := parseFlags(m.body)
	if ok && f.unknown {
		e := r.src.Fail(headSize, "flags that forbid to read the file without knowing them", storage.ErrUnsupported)
		e.Hint = "a newer version of bagconv may know them"
		return e
	}
	for _, at := range f.offsets {
		if at < m.end() || at > r.src.Size || len(r.offsets) > 0 && at < r.offsets[len(r.offsets)-1] {
			if err := r.src.Warn("appended", headSize, true,
				"data should be appended at byte %d, which is not in the file or out of order", at); err != nil {
				return err
			}
			continue
		}
		r.offsets = append(r.offsets, at)
	}
	return nil
}

// addFormat takes an F.
func (r *reader) addFormat(m *message) error {
	s, err := parseStructure(m.body)
	if err != nil {
		lost := storage.Lost{Bytes: m.end() - m.at}
		return r.src.WarnLost(lost, "format", m.at, true, "a format cannot be read: %v", err)
	}
	r.types.add(s)
	return nil
}

// subscribe takes an A.
func (r *reader) subscribe(m *message) error {
	key := topicKey{string(m.body[3:]), m.body[0]}
	id := binary.LittleEndian.Uint16(m.body[1:])
	t := r.byKey[key]
	if t == nil {
		var err error
		if t, err = r.newTopic(key); err != nil {
			t = &topic{name: key.name}
			if err := r.src.Warn("format", m.at, true,
				"the messages %s cannot be read: %v", key.name, err); err != nil {
				return err
			}
		}
		r.byKey[key] = t
	}
	list := r.ids[id]
	if n := len(list); n > 0 && list[n-1].topic != t {
		if err := r.src.Warn("resubscribed", m.at, false,
			"the id %d of %s is used again, for %s", id, list[n-1].topic.name, t.name); err != nil {
			return err
		}
	} else if n > 0 {
		return nil
	}
	r.ids[id] = append(list, subscription{m.at, t})
	return nil
}

// newTopic makes the topic of a subscription.
func (r *reader) newTopic(key topicKey) (*topic, error) {
	s := r.types.byName[key.name]
	if s == nil {
		return nil, fmt.Errorf("%w: no format describes them", errFormat)
	}
	if err := r.types.resolve(s, 0); err != nil {
		return nil, err
	}
	text, err := r.types.definition(s)
	if err != nil {
		return nil, err
	}
	name := prefix + key.name
	if key.instance > 0 {
		name += "_" + strconv.Itoa(int(key.instance))
	}
	return r.add(&topic{name: name, typ: rosPkg + "/msg/" + s.ros, text: text, structure: s}), nil
}

// add numbers a topic.
func (r *reader) add(t *topic) *topic {
	t.id = storage.TopicID(len(r.topics))
	r.topics = append(r.topics, t)
	return t
}

// builtin makes the topic of what is not described by the file, with its first message.
func (r *reader) builtin(op byte) {
	const events = "rcl_interfaces/msg/ParameterEvent"
	t := &topic{name: prefix + "log", typ: "rcl_interfaces/msg/Log", text: logText}
	switch op {
	case opTagged:
		op = opText
	case opParameter:
		t = &topic{name: prefix + "parameter_events", typ: events, text: parameterText}
	case opDefault:
		t = &topic{name: prefix + "parameter_defaults", typ: events, text: parameterText}
	}
	if r.builtins[op] == nil {
		r.builtins[op] = r.add(t)
	}
}

// topicOf returns the topic that an id has before an offset; nil if it has no topic.
func (r *reader) topicOf(id uint16, before int64) *topic {
	list := r.ids[id]
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].at < before {
			return list[i].topic
		}
	}
	return nil
}

// addDropout counts an O.
func (r *reader) addDropout(m *message) {
	r.dropouts.add(m.at)
	r.dropped += time.Duration(binary.LittleEndian.Uint16(m.body)) * time.Millisecond
}

// setInfo makes the description.
func (r *reader) setInfo() {
	i := &storage.Info{
		Format: formatName, Version: strconv.Itoa(int(r.version)), Path: r.src.Path, Size: r.src.Size,
		Files: []string{r.src.Path}, Metadata: r.info,
	}
	i.Start, i.End = math.MaxInt64, math.MinInt64
	for k := range r.blocks {
		b := &r.blocks[k]
		i.Messages += b.Messages
		i.Start, i.End = min(i.Start, b.Start), max(i.End, b.End)
	}
	if i.Messages == 0 {
		i.Start, i.End = 0, 0
	}
	for _, t := range r.topics {
		i.Topics = append(i.Topics, storage.TopicInfo{ID: t.id, Messages: t.messages, Topic: storage.Topic{
			Name: t.name, Type: t.typ, Encoding: encoding,
			Schema: storage.Schema{Encoding: "ros2msg", Data: []byte(t.text)},
		}})
	}
	fact := func(key, value string) { i.Facts = append(i.Facts, storage.Fact{Key: key, Value: value}) }
	fact("clock", "time since the vehicle has booted")
	fact("logging", "began "+time.Duration(r.start).String()+" after it")
	if n := len(r.offsets); n > 0 {
		fact("appended", strconv.Itoa(n))
	}
	if n := r.dropouts.count; n > 0 {
		fact("dropouts", fmt.Sprintf("%d, %v in all", n, r.dropped))
	}
	i.Damage = r.Damage()
	r.describe = i
}

// Info describes the recording. See storage.Reader.
func (r *reader) Info() *storage.Info { return r.describe.Clone() }

// Damage returns what was found. See storage.Reader.
func (r *reader) Damage() storage.Damage { return r.src.Damage() }

// ReadNext returns the next message. See storage.Reader.
func (r *reader) ReadNext() (*storage.Message, error) {
	return r.sequence.Next(r.src.Ctx, r, len(r.blocks))
}

// Close closes the file. See storage.Reader.
func (r *reader) Close() error {
	r.sequence.Stop(errors.New("the reader is closed"))
	return r.src.File.Close()
}

var (
	_ storage.BlockReader   = (*reader)(nil)
	_ storage.Querier       = (*reader)(nil)
	_ storage.ExtraReader   = (*reader)(nil)
	_ storage.SectionLister = (*reader)(nil)
)
