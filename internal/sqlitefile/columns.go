package sqlitefile

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/sqlite"
)

// columns is where the values of messages stand in a record of a table that has other
// columns than rosbag2's table, or more columns between them.
type columns struct{ topic, time, data int }

// otherColumns finds the columns of a table messages that NewTable declines for them. It
// returns nil if they are the usual ones, or the schema cannot be read.
func otherColumns(r io.ReaderAt, size int64, h sqlite.Header) (*columns, error) {
	list, err := readSchema(r, size, h)
	if err != nil && !damage(err) && !errors.Is(err, ErrDeclined) {
		return nil, err
	}
	e, err := findMessages(list)
	if !errors.Is(err, ErrDeclined) || e.root == 0 {
		return nil, nil
	}
	names := e.columns()
	c := &columns{slices.Index(names, "topic_id"), slices.Index(names, "timestamp"), slices.Index(names, "data")}
	if min(c.topic, c.time, c.data) < 0 || slices.Equal(names, []string{"id", "topic_id", "timestamp", "data"}) {
		return nil, nil
	}
	return c, nil
}

// columns returns the names of a table's columns, by the words of its CREATE TABLE.
func (e *entry) columns() (names []string) {
	begin := slices.Index(e.sql, "(")
	if begin < 0 {
		return nil
	}
	depth, first := 0, true
	for _, word := range e.sql[begin:] {
		switch {
		case word == "(":
			depth++
		case word == ")":
			if depth--; depth == 0 {
				return names
			}
		case word == "," && depth == 1:
			first = true
		case first && depth == 1:
			names, first = append(names, strings.ToLower(word)), false
		}
	}
	return names
}

// usual are the columns of rosbag2's own table.
var usual = columns{topic: 1, time: 2, data: 3}

// parse decodes a record of total bytes, of which the leaf has rec, as parseMessage. The
// topic and the time must be in the leaf: they are where they stand before the data.
func (c *columns) parse(rec []byte, total int, m *message) shape {
	head, n := varint(rec)
	if n == 0 || head < int64(n) || head > int64(len(rec)) {
		return isOther
	}
	*m = message{noTime: true, noData: true}
	is, seen, at := isMessage, 0, head
	types := rec[n:head]
	for i := 0; len(types) > 0; i++ {
		t, n := varint(types)
		if n == 0 || t < 0 || t == 10 || t == 11 {
			return isOther
		}
		types = types[n:]
		size := valueBytes(t)
		if size > int64(total)-at {
			return isBroken
		}
		switch i {
		case c.topic, c.time:
			seen++
			if t == 0 || t == 7 || t > 9 {
				is = isOdd
				break
			}
			if at+size > int64(len(rec)) {
				return isOther
			}
			if v := getInt(rec[at:], byte(t)); i == c.topic {
				m.topic = v
			} else {
				m.time, m.noTime = v, false
			}
		case c.data:
			seen++
			if t < 12 {
				is = isOdd
				break
			}
			if at > int64(len(rec)) {
				return isOther
			}
			m.start, m.size, m.noData = int(at), int(size), false
		}
		at += size
	}
	if seen < 3 {
		return isOther
	}
	if at != int64(total) {
		return isBroken
	}
	return is
}
