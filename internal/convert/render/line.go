package render

import (
	"encoding/base64"
	"slices"
	"strconv"

	"github.com/bagconv/bagconv/internal/frames"
)

// A Line writes a message with its topic and time, and with the line end:
//
//	{"topic":"/imu","time":"1700000000000000000","fields":{...}}     JSON
//
//	---                                                              YAML
//	topic: "/imu"
//	time: "1700000000000000000"
//	fields:
//	  ...
//
//	/imu,1700000000000000000,...                                     CSV
//
// Times are log times, ns since 1970; see AppendPublished. A Line may be used by any number of
// goroutines. It is a program that packages convert and mapping can run.
type Line struct {
	head, mid, tail []byte
	publish         []byte   // between both times, if a line has two; nil: no line has
	p               *Program // nil: the serialized bytes, in base64 or in a frame
	framed          bool     // head is the head of a frame behind its time
}

// NewLine makes the lines of a topic, with the fields that p writes. In YAML, p
// must have been compiled with Indent 1.
func NewLine(topic string, p *Program) *Line {
	l := lineOf(topic, p.o.Style, "fields")
	l.p = p
	return l
}

// RawLine makes lines that have the serialized message as base64 under the name
// raw, instead of fields.
func RawLine(topic string, style Style) *Line {
	l := lineOf(topic, style, "raw")
	switch style {
	case JSON:
		l.mid, l.tail = append(l.mid, '"'), append([]byte{'"'}, l.tail...)
	case YAML:
		l.mid, l.tail = append(l.mid, ' ', '"'), append([]byte{'"'}, l.tail...)
	}
	return l
}

// FramedLine makes frames of serialized messages, for other programs: package internal/frames draws them.
func FramedLine(topic, typ, encoding string) *Line {
	return &Line{head: frames.AppendNames(nil, encoding, typ, topic), framed: true}
}

// Typed returns the lines with the type of the topic behind its name, in JSON and YAML: for topics that share their
// name.
func (l *Line) Typed(typ string, style Style) *Line {
	w := out{style: style, yaml: style == YAML}
	w.text([]byte(typ))
	t := *l
	switch style {
	case JSON:
		t.head = slices.Concat(l.head[:len(l.head)-len(timeKey)], []byte(`,"type":`), w.buf, []byte(timeKey))
	case YAML:
		t.head = slices.Concat(l.head[:len(l.head)-len(timeYAML)], []byte("\ntype: "), w.buf, []byte(timeYAML))
	}
	return &t
}

// What stands behind the name of a topic.
const timeKey, timeYAML = `,"time":"`, "\ntime: \""

func lineOf(topic string, style Style, name string) *Line {
	w := out{style: style, yaml: style == YAML}
	w.text([]byte(topic))
	quoted := string(w.buf)
	l := &Line{}
	switch style {
	case JSON:
		l.head, l.mid, l.tail = []byte(`{"topic":`+quoted+timeKey), []byte(`","`+name+`":`), []byte("}\n")
		l.publish = []byte(`","publish_time":"`)
	case YAML:
		l.head, l.mid, l.tail = []byte("---\ntopic: "+quoted+timeYAML), []byte("\"\n"+name+":"), []byte("\n")
		l.publish = []byte("\"\npublish_time: \"")
	case CSV:
		l.head, l.mid, l.tail = []byte(quoted+","), []byte{','}, []byte("\n")
	}
	return l
}

// CSVHeader returns the first line of a CSV file, with the names of the columns that
// come after topic and time, and its line end.
func CSVHeader(columns []string) []byte {
	b := []byte("topic,time")
	for _, name := range columns {
		b = AppendCell(append(b, ','), []byte(name))
	}
	return append(b, '\n')
}

// AppendAt writes the line of the message src, which was logged at time, at the
// end of dst. On error dst is returned at its old length.
func (l *Line) AppendAt(dst, src []byte, time int64) ([]byte, error) {
	if l.framed {
		return frames.Append(dst, time, l.head, src)
	}
	old := len(dst)
	dst = append(dst, l.head...)
	dst = strconv.AppendInt(dst, time, 10)
	dst = append(dst, l.mid...)
	if l.p == nil {
		dst = base64.StdEncoding.AppendEncode(dst, src)
	} else {
		if len(l.p.names) == 0 && l.p.o.Style == CSV {
			dst = dst[:len(dst)-1] // no columns, no comma
		}
		var err error
		if dst, err = l.p.Append(dst, src); err != nil {
			return dst[:old], err
		}
	}
	return append(dst, l.tail...), nil
}

// AppendPublished appends a line that AppendAt has made of a message logged at time, with the time at which
// it was published behind the log time, as publish_time. It is not ok for CSV, whose header has no such
// column, and for frames: then the line stays as it is.
func (l *Line) AppendPublished(dst, line []byte, time, publish int64) (out []byte, ok bool) {
	if l.publish == nil {
		return append(dst, line...), false
	}
	begin := len(dst)
	dst = strconv.AppendInt(append(dst, l.head...), time, 10)
	rest := line[len(dst)-begin:]
	dst = append(dst, l.publish...)
	dst = strconv.AppendInt(dst, publish, 10)
	return append(dst, rest...), true
}

// Append is AppendAt for a message at time 0.
func (l *Line) Append(dst, src []byte) ([]byte, error) { return l.AppendAt(dst, src, 0) }

// SizeHint returns how many bytes the line of a message of n bytes has, about.
func (l *Line) SizeHint(n int) int {
	frame := len(l.head) + len(l.mid) + len(l.tail) + 20
	if l.framed {
		return frame + n
	}
	if l.p == nil {
		return frame + base64.StdEncoding.EncodedLen(n)
	}
	return frame + l.p.SizeHint(n)
}

// Unknown returns what Unknown of the program returns.
func (l *Line) Unknown() int64 {
	if l.p == nil {
		return 0
	}
	return l.p.Unknown()
}

// Noted returns what Noted of the program returns.
func (l *Line) Noted() (long, bytes int64) {
	if l.p == nil {
		return 0, 0
	}
	return l.p.Noted()
}

// Reset resets the program.
func (l *Line) Reset() {
	if l.p != nil {
		l.p.Reset()
	}
}
