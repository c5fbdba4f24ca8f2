package ros2bag

import "bytes"

// A node of yaml.v3 takes over a hundred times the bytes of a small value. So the text
// of metadata.yaml is parsed in pieces: the list of topics, which can be long, some
// topics at a time, and the rest.
const (
	pieceBytes = 256 << 10 // of topics that are parsed together
	maxSimple  = 8 << 20   // of a text that is parsed as a whole, but for long strings
	longString = 64 << 10
)

// cutTopics cuts the list of topics out of a text in block style, as rosbag2 writes it,
// and into pieces, each a sequence of some topics. Pieces are nil if there is no such
// list; rest is then the text.
func cutTopics(text []byte) (rest []byte, pieces [][]byte) {
	begin, indent := findTopics(text)
	if begin < 0 {
		return text, nil
	}
	start := begin + lineEnd(text[begin:])
	depth, at := -1, start
	for p := start; p < len(text); {
		end := p + lineEnd(text[p:])
		d := indentOf(text[p:end])
		switch {
		case d == end-p-1 || d == end-p: // an empty line
		case depth < 0 && text[p+d] == '-' && d >= indent:
			depth = d
		case depth >= 0 && d > depth:
		case depth >= 0 && d == depth && text[p+d] == '-':
			if p-at >= pieceBytes {
				pieces, at = append(pieces, text[at:p]), p
			}
		default:
			if depth < 0 || d != indent {
				return text, nil
			}
			return append(bytes.Clone(text[:begin]), text[p:]...), append(pieces, text[at:p])
		}
		p = end
	}
	if depth < 0 {
		return text, nil
	}
	return text[:begin], append(pieces, text[at:])
}

// findTopics returns where the line with the key of the topics begins, and its indentation, which
// is also the indentation of the first key beside it; -1 if no such line is found.
func findTopics(text []byte) (begin, indent int) {
	indent = -1
	for p := 0; p < len(text); {
		end := p + lineEnd(text[p:])
		line := text[p:end]
		switch d := indentOf(line); {
		case bytes.HasPrefix(line, []byte(metadataKey+":")):
		case indent < 0 && len(line) > d+1 && line[d] != '#':
			indent = d
			fallthrough
		case d == indent:
			if string(bytes.TrimRight(line[d:], " \r\n")) == topicsKey+":" {
				return p, d
			}
		}
		p = end
	}
	return -1, 0
}

// lineEnd returns the length of the first line, with its end.
func lineEnd(b []byte) int {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return i + 1
	}
	return len(b)
}

func indentOf(line []byte) int {
	n := 0
	for n < len(line) && line[n] == ' ' {
		n++
	}
	return n
}

// simple reports whether a text has few enough nodes to be parsed as a whole: it is
// short, but for lines that are one long string.
func simple(text []byte) bool {
	if len(text) <= maxSimple {
		return true
	}
	rest := len(text)
	for line := range bytes.Lines(text) {
		if len(line) >= longString && oneString(bytes.TrimSpace(line)) {
			rest -= len(line)
		}
	}
	return rest <= maxSimple
}

// oneString reports whether a line is a key with a value in double quotes.
func oneString(line []byte) bool {
	key, value, ok := bytes.Cut(line, []byte(`: "`))
	if !ok || bytes.ContainsAny(key, `"'{[&*!|>`) || !bytes.HasSuffix(value, []byte(`"`)) {
		return false
	}
	value = value[:len(value)-1]
	for i := 0; i < len(value); i++ {
		switch value[i] {
		case '\\':
			i++
		case '"':
			return false
		}
	}
	return true
}

// WithoutTopics leaves the topics out of the text of the metadata table.
func WithoutTopics(text string) string {
	rest, _ := cutTopics([]byte(text))
	return string(rest)
}
