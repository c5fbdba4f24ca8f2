package rosidl

import "strings"

// A token is a word, a number, a string literal or a sign.
type token struct {
	kind tokenKind
	text string // of a string: its value
	line int
}

type tokenKind uint8

const (
	endToken tokenKind = iota
	wordToken
	numberToken
	stringToken
	signToken
)

// lex cuts IDL into tokens. Comments and preprocessor lines go; bytes that are
// no UTF-8 stay as they are.
func lex(src string) ([]token, error) {
	var out []token
	line := 1
	lineStart := true
	for i := 0; i < len(src); {
		c := src[i]
		switch {
		case c == '\n':
			line, lineStart = line+1, true
			i++
			continue
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			i++
			continue
		case c == '#' && lineStart:
			for i < len(src) && src[i] != '\n' {
				i++
			}
			continue
		case strings.HasPrefix(src[i:], "//"):
			for i < len(src) && src[i] != '\n' {
				i++
			}
			continue
		case strings.HasPrefix(src[i:], "/*"):
			end := strings.Index(src[i+2:], "*/")
			if end < 0 {
				return nil, &Error{Line: line, What: "a comment without an end"}
			}
			line += strings.Count(src[i:i+2+end], "\n")
			i += end + 4
			continue
		}
		lineStart = false
		start := i
		switch {
		case isLetter(c):
			for i < len(src) && (isLetter(src[i]) || isDigit(src[i])) {
				i++
			}
			if i-start > maxWord {
				return nil, &Error{Line: line, What: "a name of more than 256 bytes"}
			}
			out = append(out, token{wordToken, src[start:i], line})
		case isDigit(c) || c == '.' && i+1 < len(src) && isDigit(src[i+1]):
			for i < len(src) && (isLetter(src[i]) || isDigit(src[i]) || src[i] == '.' || (src[i] == '-' || src[i] == '+') &&
				(src[i-1] == 'e' || src[i-1] == 'E')) {
				i++
			}
			out = append(out, token{numberToken, src[start:i], line})
		case c == '"' || c == '\'':
			text, end, err := lexString(src, i, &line)
			if err != nil {
				return nil, err
			}
			i = end
			out = append(out, token{stringToken, text, line})
		default:
			i++ // ">>" closes two sequences as often as it shifts: expression joins it
			if strings.HasPrefix(src[start:], "::") || strings.HasPrefix(src[start:], "<<") {
				i++
			}
			out = append(out, token{signToken, src[start:i], line})
		}
		if len(out) > maxTokens {
			return nil, &Error{Line: line, What: "too much text"}
		}
	}
	return append(out, token{endToken, "", line}), nil
}

// lexString returns the text of the string or character that begins at i, and where it
// ends.
func lexString(src string, i int, line *int) (text string, end int, err error) {
	var b strings.Builder
	quote := src[i]
	for i++; i < len(src); i++ {
		switch c := src[i]; {
		case c == quote:
			return b.String(), i + 1, nil
		case c == '\\' && i+1 < len(src):
			i++
			unescape(&b, src[i])
		default:
			if c == '\n' {
				*line++
			}
			b.WriteByte(c)
		}
	}
	return "", 0, &Error{Line: *line, What: "a string without an end"}
}

// unescape writes the byte that a backslash and c stand for; escapes by number
// stay as they are.
func unescape(b *strings.Builder, c byte) {
	switch c {
	case 'n':
		b.WriteByte('\n')
	case 't':
		b.WriteByte('\t')
	case 'r':
		b.WriteByte('\r')
	case '\\', '"', '\'', '?':
		b.WriteByte(c)
	default:
		b.WriteByte('\\')
		b.WriteByte(c)
	}
}

func isLetter(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
