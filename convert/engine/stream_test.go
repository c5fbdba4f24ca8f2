package engine_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/bagconv/bagconv/convert/engine"
	"github.com/bagconv/bagconv/convert/internal/fake"
	"github.com/bagconv/bagconv/convert/transcode"
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

// TestStreamOptions: blocks that no index knows and that are out of order are
// measured; the order of the file can be had; write may
// end the stream; what the program refuses is reported.
func TestStreamOptions(t *testing.T) {
	at := func(time int64, data string) storage.Message {
		return storage.Message{LogTime: time, PublishTime: time, Data: []byte(data)}
	}
	for _, plain := range []bool{false, true} {
		bag := &fake.Bag{Plain: plain, Topics: []storage.Topic{{Name: "/a", Encoding: "x"}}, Blocks: [][]storage.Message{
			{at(50, "e"), at(60, "f")}, {at(40, "!")}, {at(30, "c")}, {at(1, "a"), at(2, "b")}}}
		path, format := bag.Source(t)
		run := func(job engine.StreamJob, enough int) (got string, res *engine.StreamResult, err error) {
			job.Path, job.Format = path, format
			res, err = engine.Stream(context.Background(), job, func(info *storage.Info, taken []bool) ([]engine.StreamTopic, error) {
				return []engine.StreamTopic{{Program: odd{}}}, nil
			}, func(m *storage.Message) error {
				got += string(m.Data)
				if len(got) == enough {
					return engine.ErrEnough
				}
				return nil
			})
			return got, res, err
		}
		for _, c := range []struct {
			job    engine.StreamJob
			enough int
			want   string
			bad    int64
		}{
			{engine.StreamJob{}, 0, "abcef", 1},
			{engine.StreamJob{Threads: 1}, 0, "abcef", 1},
			{engine.StreamJob{Order: engine.OrderFile}, 0, "efcab", 1},
			{engine.StreamJob{}, 2, "ab", -1},
			{engine.StreamJob{Order: engine.OrderFile}, 1, "e", -1},
		} {
			got, res, err := run(c.job, c.enough)
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

// TestStreamError: an error of write is returned as it is.
func TestStreamError(t *testing.T) {
	bag := &fake.Bag{Topics: []storage.Topic{{Name: "/a", Encoding: "x"}}, Blocks: [][]storage.Message{{{LogTime: 1, Data: []byte("a")}}}}
	path, format := bag.Source(t)
	broken := fmt.Errorf("broken pipe")
	_, err := engine.Stream(context.Background(), engine.StreamJob{Path: path, Format: format},
		func(*storage.Info, []bool) ([]engine.StreamTopic, error) { return []engine.StreamTopic{{}}, nil },
		func(*storage.Message) error { return broken })
	if !errors.Is(err, broken) {
		t.Error(err)
	}
}
