package mapping

import (
	"fmt"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/convert/transcode"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/internal/wire/xtypes"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// CDR is not always CDR of ROS 2. Recorders of DDS have definitions in plain IDL,
// and some programs write definitions of ROS 1 beside it. Only a recording that
// carries any definition has such topics.

// foreign reports whether a topic is in CDR and has a definition in a form that ROS 2 does not have.
func foreign(t *storage.Topic) bool {
	return t.Encoding == "cdr" && (t.Schema.Encoding == "omgidl" || t.Schema.Encoding == "ros1msg")
}

// toROS2 maps a foreign topic to CDR as ROS 2 has it. The bytes of messages with a
// definition in IDL stay, unless the definition has what only IDL has, such as unions.
func (m *Mapper) toROS2(t *storage.Topic) (*Result, error) {
	src, err := m.lib.ros2Definition(t, m.o.SourceDistro)
	if err != nil {
		return nil, err
	}
	res := src.result(t)
	res.Plan = src.Head
	msg := plainTypes(src.ROS, map[*schema.Message]*schema.Message{}, false)
	if src.Head == nil && xtypes.New(src.ROS) != nil {
		if res.Plan, err = transcode.Compile(src.ROS, msg, transcode.Options{From: serial.CDR, To: serial.CDR}); err != nil {
			return nil, err
		}
	}
	if err := unambiguous(msg); err != nil {
		return nil, err
	}
	res.Topic.Type = msg.Name
	res.Topic.Schema = storage.Schema{Encoding: "ros2msg", Data: rosmsg.Format(msg, rosmsg.ROS2)}
	res.setTypeHash(msg)
	return res, nil
}

// ros1InCDR reads the definition of messages that are called CDR, beside the text of
// ROS 1. Their bytes are CDR of the fields in the text, Header.seq among them, or, as
// other programs write it, serialized as in ROS 1. They become CDR of the type that
// ROS 2 has.
func (l library) ros1InCDR(t *storage.Topic, distro string) (*Definition, error) {
	text, err := rosmsg.Parse(ros1Name(t.Type), t.Schema.Data, rosmsg.ROS1, l.lookup(ROS1Distro))
	if err != nil {
		return nil, err
	}
	known := func(src *schema.Message) *schema.Message {
		if dst := l.ros2(distro, ros2Name(src.Name)); dst != nil && sameWire(src, dst) {
			return dst
		}
		return nil
	}
	msg := (&dialect{known: known, made: map[*schema.Message]*schema.Message{}}).toROS2(text)
	e := &either{}
	for i, from := range []serial.Encoding{serial.CDR, serial.ROS1} {
		if e[i], err = transcode.Compile(text, msg, transcode.Options{From: from, To: serial.CDR, Rule: rule}); err != nil {
			return nil, err
		}
	}
	_, seq := e[0].DropsSeq()
	d := &Definition{ROS: msg, Origin: "file", Head: e, Either: text, seq: seq}
	d.remark("definition-ros1",
		"the definition of %s is from ROS 1; messages that are not CDR are read as ROS 1 serialization", t.Type)
	return d, nil
}

// An either tries two programs on each message: the first reads CDR, the second ROS 1
// serialization of the same type. A message fits both only by chance: the first four bytes
// of CDR are not a length or number that often begins a message of ROS 1.
type either [2]*transcode.Plan

// Append implements Program.
func (e *either) Append(dst, src []byte) ([]byte, error) {
	old := len(dst)
	out, rest, err := e[0].AppendRest(dst, src)
	if err == nil && transcode.Trailing(rest) == 0 {
		return out, nil
	}
	if bare, ros1 := e[1].Append(dst[:old], src); ros1 == nil {
		return bare, nil
	} else if len(src) < 4 || src[0] != 0 {
		err = ros1
	}
	if err != nil {
		return dst[:old], err
	}
	return e[0].Append(dst[:old], src) // with bytes after its fields, which are counted
}

// SizeHint implements Program.
func (e *either) SizeHint(n int) int { return e[0].SizeHint(n) }

// Losses lists the losses of both.
func (e *either) Losses() []transcode.Loss { return append(Losses(e[0]), Losses(e[1])...) }

// Reset sets what Losses counts to zero.
func (e *either) Reset() {
	for _, p := range e {
		Reset(p)
	}
}

// After returns the program that runs p on what head makes, either of which may be nil.
func After(head, p Program) Program {
	switch {
	case head == nil:
		return p
	case p == nil:
		return head
	}
	return chained(head, p)
}

// errNoWay returns the error if there is no way between two encodings.
func errNoWay(from, to string) error {
	return fmt.Errorf("messages in encoding %q cannot be converted to %q", from, to)
}
