package rosbag1

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/storage"
)

// An oldForm is a way in which bags before version 2.0 were written.
type oldForm struct {
	name   string
	line   string // version line
	header bool   // with a file header
	closed bool   // with an index
	byType bool   // a definition is written for each type, not for each topic
	swap   bool   // the table of topics has the type before the md5sum
}

var oldForms = []oldForm{
	{name: "1.2", line: "#ROSRECORD V1.2\n", header: true, closed: true},
	{name: "1.2 unclosed", line: "#ROSRECORD V1.2\n", header: true},
	{name: "1.2 headless", line: "#ROSRECORD V1.2\n", byType: true},
	{name: "1.1", line: "#ROSRECORD V1.1\n"},
	{name: "1.1 log", line: "#ROSLOG V1.1\n"},
	{name: "1.0", line: "#ROSLOG V1.0\n"},
	{name: "1.0 swapped", line: "#ROSLOG V1.0\n", swap: true},
	{name: "0"},
}

func (f *oldForm) version() string { return strings.Fields(f.name)[0] }

// Two topics of one type and one of another; version 0 takes the first one only.
var oldTopics = []storage.Topic{
	{Name: "/chatter", Type: "std_msgs/String", Encoding: encoding, Schema: textSchema("string data\n"),
		Metadata: map[string]string{storage.MetaMD5Sum: "992ce8a1687cec8c8bd883ec73ca41d1"}},
	{Name: "/a/chatter", Type: "std_msgs/String", Encoding: encoding, Schema: textSchema("string data\n"),
		Metadata: map[string]string{storage.MetaMD5Sum: "992ce8a1687cec8c8bd883ec73ca41d1"}},
	{Name: "/count", Type: "std_msgs/UInt32", Encoding: encoding, Schema: textSchema("uint32 data\n"),
		Metadata: map[string]string{storage.MetaMD5Sum: "304a39449588c7f8ce2df6e8001c5fce"}},
}

// oldMessages returns n messages of topics topics with the size of data between them.
func oldMessages(n, topics, size int) []storage.Message {
	out := make([]storage.Message, n)
	for i := range out {
		m := &out[i]
		m.Topic = storage.TopicID(i % topics)
		m.LogTime = 1_250_000_000_000_000_000 + int64(i)*1e7
		m.PublishTime = m.LogTime
		if m.Topic == 2 {
			m.Data = binary.LittleEndian.AppendUint32(nil, uint32(i))
			continue
		}
		text := fmt.Sprintf("message %d", i)
		if size > len(text) {
			text += strings.Repeat(".", size-len(text))
		}
		m.Data = append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...)
	}
	return out
}

// messagesOf returns messages for a form: version 0 has one topic.
func (f *oldForm) messages(n, size int) []storage.Message {
	if f.line == "" {
		return oldMessages(n, 1, size)
	}
	return oldMessages(n, len(oldTopics), size)
}

// write returns a bag.
func (f *oldForm) write(messages []storage.Message) []byte {
	b := []byte(f.line)
	if f.version() == "1.2" {
		return f.records(b, messages)
	}
	lines := func(t *storage.Topic) string {
		md5, typ := t.Metadata[storage.MetaMD5Sum], t.Type
		if f.swap {
			md5, typ = typ, md5
		}
		return t.Name + "\n" + md5 + "\n" + typ + "\n"
	}
	switch f.version() {
	case "1.0":
		b = fmt.Appendf(b, "%04d\n", len(oldTopics))
		for i := range oldTopics {
			b = append(b, lines(&oldTopics[i])...)
		}
	case "0":
		b = append(b, lines(&oldTopics[0])...)
	}
	for i := range messages {
		m := &messages[i]
		switch f.version() {
		case "1.1":
			b = append(b, lines(&oldTopics[m.Topic])...)
		case "1.0":
			b = append(b, oldTopics[m.Topic].Name+"\n"...)
		}
		b = append(b, 0, 0, 0, 0, 0, 0, 0, 0)
		putTime(b[len(b)-8:], m.LogTime)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(m.Data)))
		b = append(b, m.Data...)
	}
	return b
}

// oldRecord appends a record with the fields in the order of their names, as C++ does.
func oldRecord(b []byte, fields map[string]string, data []byte) []byte {
	at := len(b)
	b = append(b, 0, 0, 0, 0)
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		b = appendField(b, name, fields[name])
	}
	binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
	return append(b, data...)
}

func (f *oldForm) records(b []byte, messages []storage.Message) []byte {
	u32 := func(v uint32) string { return string(binary.LittleEndian.AppendUint32(nil, v)) }
	u64 := func(v uint64) string { return string(binary.LittleEndian.AppendUint64(nil, v)) }
	head := func(pos int) []byte {
		return oldRecord(nil, map[string]string{"index_pos": u64(uint64(pos)), "op": "\x03"},
			[]byte(strings.Repeat(" ", headerSize-30)))
	}
	if f.header {
		b = append(b, head(0)...)
	}
	index, defined := make([][]byte, len(oldTopics)), map[string]bool{}
	for i := range messages {
		m := &messages[i]
		t := &oldTopics[m.Topic]
		at := len(b)
		of := t.Name
		if f.byType {
			of = t.Type
		}
		md5 := t.Metadata[storage.MetaMD5Sum]
		if !defined[of] {
			defined[of] = true
			b = oldRecord(b, map[string]string{"op": "\x01", "topic": t.Name, "type": t.Type, "md5": md5,
				"def": string(t.Schema.Data)}, nil)
		}
		fields := map[string]string{"op": "\x02", "topic": t.Name, "type": t.Type, "md5": md5,
			"sec": u32(uint32(m.LogTime / 1e9)), "nsec": u32(uint32(m.LogTime % 1e9))}
		for _, name := range []string{storage.MetaCallerID, storage.MetaLatching} {
			if v, ok := t.Metadata[name]; ok {
				fields[name] = v
			}
		}
		b = oldRecord(b, fields, m.Data)
		index[m.Topic] = append(index[m.Topic], fields["sec"]+fields["nsec"]+u64(uint64(at))...)
	}
	if f.closed {
		copy(b[len(f.line):], head(len(b)))
		for i, entries := range index {
			if len(entries) > 0 {
				b = oldRecord(b, map[string]string{"op": "\x04", "ver": u32(0), "topic": oldTopics[i].Name,
					"count": u32(uint32(len(entries) / 16))}, entries)
			}
		}
	}
	return b
}
