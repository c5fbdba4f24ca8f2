package recording_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/convert/transcode"
	"github.com/bagconv/bagconv/internal/testing/fake"
	"github.com/bagconv/bagconv/storage"
)

// An amplifier makes messages a hundred thousand times as large. It refuses those that
// begin with '!'. made counts the bytes that it has made.
type amplifier struct{ made *atomic.Int64 }

const amplified = 1 << 20 // bytes of each message

func (a amplifier) Append(dst, src []byte) ([]byte, error) {
	if src[0] == '!' {
		return dst, &transcode.Error{What: "it is odd"}
	}
	a.made.Add(amplified)
	return append(append(dst, src...), make([]byte, amplified-len(src))...), nil
}

func (amplifier) SizeHint(n int) int { return n }

// TestLate: messages that become far larger than they are do not fill the memory. They
// are what they would be, in their order, whether blocks overlap or not, and those that
// cannot be re-encoded are counted.
func TestLate(t *testing.T) {
	const blocks, each = 3, 300
	for _, name := range []string{"sorted", "file", "shuffled", "spilled"} {
		t.Run(name, func(t *testing.T) {
			bag := &fake.Bag{Topics: []storage.Topic{{Name: "/a", Encoding: "x"}, {Name: "/plain", Encoding: "x"}}}
			order, bad := rand.New(rand.NewPCG(1, 1)).Perm(blocks*each), int64(0)
			for b := range blocks {
				var list []storage.Message
				for i := range each {
					k := b*each + i
					if name == "shuffled" {
						k = b*each + order[k]%each // within its block, with equal times
					} else if name == "spilled" {
						k = order[k]
					}
					data := binary.BigEndian.AppendUint32([]byte{0}, uint32(b*each+i))
					if k%50 == 7 {
						data[0] = '!'
						if k%3 != 0 {
							bad++
						}
					}
					topic := storage.TopicID(0)
					if k%3 == 0 {
						topic = 1
					}
					list = append(list, storage.Message{Topic: topic, LogTime: int64(k), Data: data})
				}
				bag.Blocks = append(bag.Blocks, list)
			}
			path, format := bag.Source(t)
			query := recording.Query{Threads: 2}
			if name == "file" {
				query.Order = recording.OrderFile
			}
			var made atomic.Int64
			var held, last, n int64
			last = -1
			var places [blocks * each]bool
			topics := func(*storage.Info, []bool) ([]recording.Topic, error) {
				return []recording.Topic{{Program: amplifier{&made}}, {}}, nil
			}
			write := func(m *storage.Message) error {
				if m.Topic == 0 {
					held = max(held, made.Load())
					if len(m.Data) != amplified {
						return errors.New("a message was not re-encoded")
					}
					made.Add(-amplified)
				} else if len(m.Data) != 5 {
					return errors.New("a message was re-encoded that has no program")
				}
				if place := binary.BigEndian.Uint32(m.Data[1:]); places[place] || name != "file" && m.LogTime < last {
					return errors.New("messages are out of order, or come twice")
				} else {
					places[place] = true
				}
				last = m.LogTime
				n++
				return nil
			}
			res, err := recording.Read(context.Background(), recording.Ref{Path: path, Format: format}, query,
				recording.Each{Topics: topics, Write: write})
			if err != nil {
				t.Fatal(err)
			}
			if n != blocks*each-bad || res.Refused[0].Messages != bad || bad == 0 {
				t.Errorf("%d messages of %d, %d are refused, want %d", n, blocks*each, res.Refused[0].Messages, bad)
			}
			if held > 100*amplified {
				t.Errorf("%d MB are held of %d", held>>20, blocks*each)
			}
		})
	}
}
