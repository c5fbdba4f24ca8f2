// Package frames has the bytes of the stream that `bagconv cat --raw --framed` writes and `bagconv import` reads:
// messages as they are, each in a frame, and frames that describe what follows. Numbers are little endian.
//
//	 0  u32  n, the bytes of the frame behind this number
//	 4  i64  log time, ns since 1970
//	12  u16  e
//	14  u16  t
//	16  u32  p
//	20  e bytes encoding, t bytes type, p bytes topic; the rest of the n bytes is the message
//
// The encoding says what the message is:
//
//	ros1, cdr, protobuf, ...   a message of the topic, as it is
//	json                       a message; its values if messages of the topic are not JSON
//	values                     values in JSON, also of a topic whose messages are JSON
//	arrow                      whole messages of the Arrow IPC stream of the topic
//	definition/ENC             declares a topic: a line of JSON, see Definition, and the definition in ENC (ros1msg, ...)
//	stamp                      of the message in the next frame: i64 publish time (ns), u32 sequence, u32 publisher
//	recording                  of the recording: JSON, see Recording
//
// The last three hold no message, and have the time 0; stamp and recording have neither type nor topic. A reader that
// does not need them skips them: the messages are the same without them.
//
// A Head refuses lengths that contradict each other. What Split returns points into the bytes that it was given. There
// is no state: functions may be used concurrently.
package frames

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/bagconv/bagconv/storage"
)

// The encodings that frames have and messages of recordings do not have, and limits.
const (
	JSON       = "json"
	Values     = "values" // in JSON, also if messages of the topic are JSON
	Arrow      = "arrow"
	Defines    = "definition/" // and the encoding of the definition
	StampName  = "stamp"
	AboutName  = "recording"
	HeadSize   = 20       // bytes before the names
	FirstBytes = 4        // that n does not count
	MaxTopic   = 64 << 10 // bytes of the name of a topic that is read
)

// A Head is the first HeadSize bytes of a frame.
type Head struct {
	Size                  int64 // of the whole frame, with the first number
	Time                  int64 // ns since 1970
	Encoding, Type, Topic int   // bytes of these names
}

// ParseHead reads the first HeadSize bytes of a frame. The error wraps storage.ErrCorrupt.
func ParseHead(b []byte) (Head, error) {
	h := Head{
		Size: FirstBytes + int64(binary.LittleEndian.Uint32(b)), Time: int64(binary.LittleEndian.Uint64(b[4:])),
		Encoding: int(binary.LittleEndian.Uint16(b[12:])), Type: int(binary.LittleEndian.Uint16(b[14:])),
	}
	topic := int64(binary.LittleEndian.Uint32(b[16:]))
	switch {
	case topic > MaxTopic:
		return h, fmt.Errorf("the name of a topic has %d bytes, more than %d: %w", topic, MaxTopic, storage.ErrCorrupt)
	case h.Size < HeadSize+int64(h.Encoding)+int64(h.Type)+topic:
		return h, fmt.Errorf("the frame has %d bytes, fewer than its head and names: %w", h.Size, storage.ErrCorrupt)
	}
	h.Topic = int(topic)
	return h, nil
}

// Names is how many bytes the names take.
func (h *Head) Names() int { return h.Encoding + h.Type + h.Topic }

// Message is how many bytes the message has.
func (h *Head) Message() int64 { return h.Size - HeadSize - int64(h.Names()) }

// Split returns the parts of a whole frame.
func (h *Head) Split(frame []byte) (encoding, typ, topic, message []byte) {
	b := frame[HeadSize:]
	encoding, b = b[:h.Encoding], b[h.Encoding:]
	typ, b = b[:h.Type], b[h.Type:]
	return encoding, typ, b[:h.Topic], b[h.Topic:]
}

// AppendNames appends what a frame has between its time and its message. An encoding or a type of more than 65535
// bytes is cut there.
func AppendNames(dst []byte, encoding, typ, topic string) []byte {
	encoding, typ = encoding[:min(len(encoding), math.MaxUint16)], typ[:min(len(typ), math.MaxUint16)]
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(encoding)))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(typ)))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(topic)))
	return append(append(append(dst, encoding...), typ...), topic...)
}

// Append appends a frame; AppendNames has made names. The error is about a message that is too large for a frame.
func Append(dst []byte, time int64, names, message []byte) ([]byte, error) {
	size := uint64(8 + len(names) + len(message))
	if size > math.MaxUint32 {
		return dst, fmt.Errorf("a message of %d bytes has no place in a frame: %w", len(message),
			storage.ErrUnsupported)
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(size))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(time))
	return append(append(dst, names...), message...), nil
}

// Plausible reports whether a stream that begins with b may consist of frames: the names of encodings are words.
func Plausible(b []byte) bool {
	if len(b) < HeadSize {
		return false
	}
	h, err := ParseHead(b)
	if err != nil || h.Encoding > math.MaxUint8 {
		return false
	}
	for _, c := range b[HeadSize:min(len(b), HeadSize+h.Encoding)] {
		if c < '-' || c > 'z' || c > '9' && c < 'A' {
			return false
		}
	}
	return true
}
