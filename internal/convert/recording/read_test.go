package recording_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/convert/transcode"
	"github.com/bagconv/bagconv/internal/testing/fake"
	"github.com/bagconv/bagconv/storage"
)

// odd refuses messages that begin with '!'.
type odd struct{}

func (odd) Append(dst, src []byte) ([]byte, error) {
	if src[0] == '!' {
		return dst, &transcode.Error{What: "it is odd"}
	}
	return append(dst, src...), nil
}

func (odd) SizeHint(n int) int { return n }

// TestReadOptions: blocks that no index knows and that are out of order are
// measured; the order of the file can be had; write may
// end the stream; what the program refuses is reported.
func TestReadOptions(t *testing.T) {
	at := func(time int64, data string) storage.Message {
		return storage.Message{LogTime: time, PublishTime: time, Data: []byte(data)}
	}
	for _, plain := range []bool{false, true} {
		bag := &fake.Bag{Plain: plain, Topics: []storage.Topic{{Name: "/a", Encoding: "x"}}, Blocks: [][]storage.Message{
			{at(50, "e"), at(60, "f")}, {at(40, "!")}, {at(30, "c")}, {at(1, "a"), at(2, "b")}}}
		path, format := bag.Source(t)
		run := func(query recording.Query, enough int) (got string, res *recording.Result, err error) {
			topics := func(*storage.Info, []bool) ([]recording.Topic, error) {
				return []recording.Topic{{Program: odd{}}}, nil
			}
			write := func(m *storage.Message) error {
				got += string(m.Data)
				if len(got) == enough {
					return recording.ErrEnough
				}
				return nil
			}
			res, err = recording.Read(t.Context(), recording.Ref{Path: path, Format: format}, query,
				recording.Each{Topics: topics, Write: write})
			return got, res, err
		}
		for _, c := range []struct {
			query  recording.Query
			enough int
			want   string
			bad    int64
		}{
			{recording.Query{}, 0, "abcef", 1},
			{recording.Query{Threads: 1}, 0, "abcef", 1},
			{recording.Query{Order: recording.OrderFile}, 0, "efcab", 1},
			{recording.Query{}, 2, "ab", -1},
			{recording.Query{Order: recording.OrderFile}, 1, "e", -1},
		} {
			got, res, err := run(c.query, c.enough)
			if err != nil || got != c.want {
				t.Errorf("plain %v, %+v: %q, %v", plain, c, got, err)
				continue
			}
			if bad := res.Refused[0]; c.bad >= 0 && (bad.Messages != c.bad || bad.First == nil) {
				t.Errorf("%+v: refused %+v", c, bad)
			}
		}
	}
}

// TestReadError: an error of write is returned as it is.
func TestReadError(t *testing.T) {
	bag := &fake.Bag{Topics: []storage.Topic{{Name: "/a", Encoding: "x"}},
		Blocks: [][]storage.Message{{{LogTime: 1, Data: []byte("a")}}}}
	path, format := bag.Source(t)
	broken := fmt.Errorf("broken pipe")
	_, err := recording.Read(t.Context(), recording.Ref{Path: path, Format: format}, recording.Query{},
		recording.Each{Write: func(*storage.Message) error { return broken }})
	if !errors.Is(err, broken) {
		t.Error(err)
	}
}
