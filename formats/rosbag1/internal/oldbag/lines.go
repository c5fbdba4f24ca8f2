package oldbag

import (
	"bytes"
	"strconv"

	"github.com/bagconv/bagconv/storage"
)

// The longest lines that are read, in bytes.
const (
	maxTopic = 4096
	maxType  = 1024
	md5Size  = 32
)

// line returns the line at the start of b, without its end. Names have no blanks and
// no control characters.
func line(b []byte, longest int) ([]byte, error) {
	n := bytes.IndexByte(b[:min(len(b), longest+1)], '\n')
	if n < 0 {
		for _, c := range b[:min(len(b), longest+1)] {
			if c <= ' ' || c == 0x7f {
				return nil, errLine
			}
		}
		if len(b) > longest {
			return nil, errLine
		}
		return nil, storage.ErrTruncated
	}
	for _, c := range b[:n] {
		if c <= ' ' || c == 0x7f {
			return nil, errLine
		}
	}
	if n == 0 {
		return nil, errLine
	}
	return b[:n], nil
}

// isMD5 reports whether a line is an md5sum, or the "*" of a subscriber to anything.
func isMD5(b []byte) bool {
	if len(b) != md5Size {
		return string(b) == "*"
	}
	for _, c := range b {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
			return false
		}
	}
	return true
}

// isType reports whether a line is the name of a type, or "*".
func isType(b []byte) bool {
	slash := bytes.IndexByte(b, '/')
	return string(b) == "*" || slash > 0 && slash < len(b)-1 && bytes.LastIndexByte(b, '/') == slash
}

// v11 is version 1.1.
type v11 struct {
	known map[string]storage.TopicID // keys that messages had so far, for next
}

func (v11) parse(r *record, b []byte) (err error) {
	r.reset()
	rest := b
	for _, x := range [...]struct {
		to      *[]byte
		longest int
	}{{&r.topic, maxTopic}, {&r.md5, md5Size}, {&r.typ, maxType}} {
		if *x.to, err = line(rest, x.longest); err != nil {
			return err
		}
		rest = rest[len(*x.to)+1:]
	}
	if !isMD5(r.md5) {
		return errMD5
	}
	if !isType(r.typ) {
		return errLine
	}
	r.head = len(b) - len(rest)
	r.key = b[:r.head]
	return r.messageTail(rest)
}

func (v11) describe(r *record) storage.Topic { return topicOf(r) }

// next looks for the lines of an md5sum and a type. A topic stands before them, with nothing
// between it and the data of the message before. So it is a known topic, or begins at the first '/'
// after a byte that no name has.
func (v v11) next(r *record, b []byte, from int) int {
	for at := from; ; at++ {
		n := bytes.IndexByte(b[min(at, len(b)):], '\n')
		if n < 0 {
			return -1
		}
		at += n
		md5, err := line(b[at+1:], md5Size)
		if err != nil || !isMD5(md5) {
			continue
		}
		rest := b[at+len(md5)+2:]
		typ, err := line(rest, maxType)
		if err != nil {
			continue
		}
		if start := v.topicBefore(b, from, at, len(b)-len(rest)+len(typ)+1); v.parse(r, b[start:]) == nil {
			return start
		}
	}
}

// topicBefore returns where the topic that ends at at begins, at or after from. The lines of
// its message end at end.
func (v v11) topicBefore(b []byte, from, at, end int) int {
	first := at
	for first > max(from, at-maxTopic) && isNameByte(b[first-1]) {
		first--
	}
	for start := first; start < at; start++ {
		if _, ok := v.known[string(b[start:end])]; ok {
			return start
		}
	}
	return first + max(0, bytes.IndexByte(b[first:at], '/'))
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '/'
}

// A table is version 1.0, and version 0, which has one topic and does not name it again.
type table struct {
	topics map[string]storage.Topic // by the line that messages begin with
	names  [][]byte                 // in order
	single bool                     // version 0
	any    bool                     // a topic has "*" for its md5sum or type

	longest int // bytes of the longest name
}

// maxTable is the most topics of a table; its number is written with four digits.
const maxTable = 9999

// readTable reads the table of version 1.0 at the start of b, and returns its size.
func readTable(b []byte) (*table, int, error) {
	number, err := line(b, 8)
	if err != nil {
		return nil, 0, err
	}
	n, err := strconv.Atoi(string(number))
	if err != nil || n < 0 || n > maxTable {
		return nil, 0, errLine
	}
	t := &table{topics: map[string]storage.Topic{}}
	size := len(number) + 1
	for range n {
		used, err := t.add(b[size:])
		if err != nil {
			return nil, 0, err
		}
		size += used
	}
	return t, size, nil
}

// readSingle reads the lines at the start of version 0, and returns their size.
func readSingle(b []byte) (*table, int, error) {
	t := &table{topics: map[string]storage.Topic{}, single: true}
	size, err := t.add(b)
	return t, size, err
}

// add adds the topic in the three lines at the start of b, and returns their size. The
// md5sum and the type stand in either order.
func (t *table) add(b []byte) (int, error) {
	var lines [3][]byte
	size := 0
	for i := range lines {
		var err error
		if lines[i], err = line(b[size:], maxTopic); err != nil {
			return 0, err
		}
		size += len(lines[i]) + 1
	}
	r := record{topic: lines[0], md5: lines[1], typ: lines[2]}
	if isMD5(r.typ) && !isMD5(r.md5) {
		r.md5, r.typ = r.typ, r.md5
	}
	if !isMD5(r.md5) {
		return 0, errMD5
	}
	if !isType(r.typ) {
		return 0, errLine
	}
	t.any = t.any || len(r.md5) != md5Size || len(r.typ) == 1
	if name := string(r.topic); t.topics[name].Name == "" {
		t.topics[name] = topicOf(&r)
		t.names = append(t.names, []byte(name))
		t.longest = max(t.longest, len(name))
	}
	return size, nil
}

func (t *table) parse(r *record, b []byte) error {
	r.reset()
	if t.single {
		r.topic = t.names[0]
		r.key = r.topic
		return r.messageTail(b)
	}
	topic, err := line(b, maxTopic)
	if err != nil {
		return err
	}
	if _, ok := t.topics[string(topic)]; !ok {
		return errTopic
	}
	r.topic, r.key, r.head = topic, topic, len(topic)+1
	return r.messageTail(b[r.head:])
}

func (t *table) describe(r *record) storage.Topic { return t.topics[string(r.topic)] }

// next looks for the name of a topic that ends a line; of several the longest one, as
// "/a/b" ends as "/b" does. In version 0 nothing marks where a message begins.
func (t *table) next(r *record, b []byte, from int) int {
	for at := from; !t.single; at++ {
		n := bytes.IndexByte(b[min(at, len(b)):], '\n')
		if n < 0 {
			break
		}
		at += n
		start := at
		for start > max(from, at-t.longest) && b[start-1] > ' ' {
			start--
		}
		for ; start < at; start++ {
			if _, ok := t.topics[string(b[start:at])]; ok && t.parse(r, b[start:]) == nil {
				return start
			}
		}
	}
	return -1
}
