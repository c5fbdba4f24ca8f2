package multi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/bagconv/bagconv/storage"
)

// A Transform leads from a frame to its parent, and does not change.
type Transform struct {
	Parent, Child string
	numbers       [7]float64 // x y z, and the quaternion qx qy qz qw
}

// ParseTransform reads "PARENT CHILD x y z qx qy qz qw", with blanks or commas between.
func ParseTransform(text string) (Transform, error) {
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	if len(words) != 9 {
		return Transform{}, fmt.Errorf("%q has %d words: write 'PARENT CHILD x y z qx qy qz qw'", text, len(words))
	}
	t := Transform{Parent: words[0], Child: words[1]}
	for i, w := range words[2:] {
		x, err := strconv.ParseFloat(w, 64)
		if err != nil || x-x != 0 {
			return t, fmt.Errorf("%q: %q is not a number", text, w)
		}
		t.numbers[i] = x
	}
	length := math.Hypot(math.Hypot(t.numbers[3], t.numbers[4]), math.Hypot(t.numbers[5], t.numbers[6]))
	switch {
	case t.Parent == t.Child:
		return t, fmt.Errorf("%q: a frame is not its own parent", text)
	case strings.HasPrefix(t.Parent, "/") || strings.HasPrefix(t.Child, "/"):
		return t, fmt.Errorf("%q: frames have no leading slash", text)
	case math.Abs(length-1) > 1e-3:
		return t, fmt.Errorf("%q: the quaternion has length %.4g, and must have 1; without a rotation it is 0 0 0 1", text,
			length)
	}
	return t, nil
}

// Static are transforms that are read before a recording. The zero value changes nothing.
type Static struct {
	Add  []Transform
	Once bool // with all that the recording has on /tf_static, which is not read again by itself
}

// Any reports whether there is a message with transforms.
func (s *Static) Any() bool { return len(s.Add) > 0 || s.Once }

// IsStatic reports whether a topic has transforms that do not change.
func IsStatic(topic string) bool { return topic == "/tf_static" || topic == "tf_static" }

// With returns a format whose Open reads a recording with a message before all others, on /tf_static, at the time of
// the first message. Its topic is topic 0. With Once the messages of the recording on such topics are still there, and
// the conversion leaves them out.
func (s *Static) With(f *storage.Format) *storage.Format {
	if !s.Any() {
		return f
	}
	out := *f
	out.Open = func(ctx context.Context, path string, o storage.ReadOptions) (storage.Reader, error) {
		real, err := f.Open(ctx, path, o)
		if err != nil {
			return nil, err
		}
		a, err := s.made(ctx, f, path, o, real)
		if err != nil {
			return nil, errors.Join(&storage.Error{Path: path, Offset: -1, Err: err}, real.Close())
		}
		formatOf := func(r storage.Reader) *storage.Format {
			return &storage.Format{Name: f.Name, Holds: f.Holds,
				Open: func(context.Context, string, storage.ReadOptions) (storage.Reader, error) { return r, nil }}
		}
		return open(ctx, path, []Input{{Path: "--static", Format: formatOf(a)}, {Format: formatOf(real)}}, o)
	}
	return &out
}

// made makes the message for a recording.
func (s *Static) made(ctx context.Context, f *storage.Format, path string, o storage.ReadOptions, real storage.Reader) (
	*added, error) {
	info := real.Info()
	if info.Messages == 0 {
		return nil, errors.New("--static: the recording has no message, and so no time for the transforms")
	}
	topic, err := transformTopic(info, f)
	if err != nil {
		return nil, err
	}
	var list []transform
	if s.Once {
		if list, err = gather(ctx, f, path, o, real, &topic); err != nil {
			return nil, err
		}
	}
	for i, t := range s.Add {
		if slices.ContainsFunc(s.Add[:i], func(o Transform) bool { return o.Child == t.Child }) {
			return nil, fmt.Errorf("--static: two transforms to %s", t.Child)
		}
		list = replaced(list, transform{t.Child, t.bytes(topic.Encoding, info.Start)})
	}
	if len(list) == 0 {
		return nil, errors.New("--static-once: the recording has no transforms on /tf_static")
	}
	a := &added{data: transformMessage(topic.Encoding, list)}
	a.info = storage.Info{Format: info.Format, Version: info.Version, Messages: 1, Start: info.Start, End: info.Start,
		Topics: []storage.TopicInfo{{Topic: topic, Messages: 1}}}
	return a, nil
}

// An added is a recording of one message.
type added struct {
	info storage.Info
	data []byte
	read bool
}

// Info implements storage.Reader.
func (a *added) Info() *storage.Info { return a.info.Clone() }

// Damage implements storage.Reader.
func (a *added) Damage() storage.Damage { return storage.Damage{} }

// Close implements storage.Reader.
func (a *added) Close() error { return nil }

// ReadNext implements storage.Reader.
func (a *added) ReadNext() (*storage.Message, error) {
	if a.read {
		return nil, io.EOF
	}
	a.read = true
	return &storage.Message{LogTime: a.info.Start, PublishTime: a.info.Start, Data: a.data}, nil
}

// Blocks implements storage.BlockReader.
func (a *added) Blocks(context.Context, *storage.TimeRange) ([]storage.Block, storage.Order, error) {
	n := int64(len(a.data))
	return []storage.Block{{Offset: -1, Size: n, RawSize: n, Messages: 1, Start: a.info.Start, End: a.info.Start,
		Timed: true, Topics: []storage.TopicID{0}}}, storage.OrderBlocks, nil
}

// ReadBlock implements storage.BlockReader.
func (a *added) ReadBlock(_ context.Context, i int, b *storage.Batch) error {
	if i != 0 {
		return fmt.Errorf("there is no block %d", i)
	}
	b.Buf = append(b.Buf[:0], a.data...)
	b.File, b.Stored = "", nil
	b.Messages = append(b.Messages[:0], storage.Message{LogTime: a.info.Start, PublishTime: a.info.Start, Data: b.Buf})
	return nil
}
