package check

import (
	"bytes"
	"hash/maphash"
	"math"

	"github.com/bagconv/bagconv/storage"
)

// A messagePlace is where in a recording something was seen.
type messagePlace struct {
	time   int64 // log time of the message
	offset int64 // of its block in the file, -1 when blocks have no place
}

// A tally counts what was seen again and again.
type tally struct {
	n        int64
	greatest int64 // the largest value of what is counted, if it has values
	first    messagePlace
}

func (t *tally) count(p messagePlace) {
	if t.n++; t.n == 1 {
		t.first = p
	}
}

// A track is what is remembered of one topic of the recording: of one publisher,
// where the format keeps them apart.
type track struct {
	stream int // index into checker.streams
	n      int64

	lastTime, lastStamp int64
	index               int // of its last message in the block at hand, -1 for no message
	lastLen             int
	lastSum             uint64 // of the last message of the block before

	decoded             int64
	bad                 tally
	firstBad            error
	rest                tally // bytes after the last field
	duplicate, sameTime tally
	stampSame           tally
	stampBack, stampFar tally
	stampZero           tally
	stampLeast          int64 // least and greatest difference to the log time of stamps that are far
	stampGreatest       int64
	latched             bool
}

// noStamp stands for the stamp of a message without one.
const noStamp = math.MinInt64

// order is what is remembered of all topics together.
type order struct {
	n    int64
	last int64
	back tally
	odd  tally // implausible times
}

// The times that a clock may show, ns since 1970: from 2007, when ROS began, to
// 2100, and the first year, as simulations begin at 0.
const (
	earliest  = 1167609600e9
	latest    = 4102444800e9
	simulated = 365 * 86400e9
)

func implausible(t int64) bool {
	return t < 0 || t > simulated && t < earliest || t > latest
}

// follow prepares the streams and tracks.
func (c *checker) follow() {
	type identity struct{ name, typ, encoding string }
	known := map[identity]int{}
	c.tracks = make([]track, len(c.info.Topics))
	for i := range c.info.Topics {
		t := &c.info.Topics[i].Topic
		k := identity{t.Name, t.Type, t.Encoding}
		at, ok := known[k]
		if !ok {
			at = len(c.streams)
			known[k] = at
			c.streams = append(c.streams, &stream{number: at, name: t.Name, typ: t.Type, encoding: t.Encoding})
		}
		c.streams[at].ids = append(c.streams[at].ids, storage.TopicID(i))
		c.tracks[i] = track{stream: at, index: -1, lastStamp: noStamp, latched: latched(t)}
	}
}

// latched reports whether late subscribers got the last message, so that its stamp
// may be old.
func latched(t *storage.Topic) bool {
	if t.Metadata[storage.MetaLatching] == "1" {
		return true
	}
	for _, q := range t.QoS {
		if q.Durability == storage.DurabilityTransientLocal {
			return true
		}
	}
	return false
}

// A decoded is what is known of the messages of a block, each by itself.
type decoded struct {
	out    []byte  // of the decoder, used again
	stamps []int64 // of the block's messages
	bad    []badMessage
	rest   []restMessage
	seen   []storage.TopicID // topics of the block
}

type badMessage struct {
	index int
	err   error
}

type restMessage struct{ index, bytes int }

var seed = maphash.MakeSeed()

// Work decodes the messages of a block. See recording.Visitor.
func (c *checker) Work(_ storage.Block, msgs []storage.Message, made any) (any, error) {
	w, used := made.(*decoded)
	if !used {
		w = &decoded{}
	}
	w.stamps, w.bad, w.rest = w.stamps[:0], w.bad[:0], w.rest[:0]
	for i := range msgs {
		m := &msgs[i]
		d := c.decoders[m.Topic]
		if d == nil {
			w.stamps = append(w.stamps, noStamp)
			continue
		}
		stamp, rest, err := d.decode(&w.out, m.Data)
		w.stamps = append(w.stamps, stamp)
		if err != nil {
			w.bad = append(w.bad, badMessage{i, err})
		} else if rest > 0 {
			w.rest = append(w.rest, restMessage{i, rest})
		}
	}
	return w, nil
}

// Take follows the messages of a block: all of them, as they come in the order of the file.
func (c *checker) Take(at storage.Block, msgs []storage.Message, _, _ int, made any) error {
	w := made.(*decoded)
	limit := int64(c.o.StampOffset)
	for i := range msgs {
		m := &msgs[i]
		t := &c.tracks[m.Topic]
		p := messagePlace{m.LogTime, at.Offset}
		c.streams[t.stream].add(m.LogTime, len(m.Data), at.Offset)
		c.times.Add(t.stream, m.LogTime, 1)
		if c.order.n++; c.order.n > 1 && m.LogTime < c.order.last {
			c.order.back.count(p)
		}
		c.order.last = m.LogTime
		if implausible(m.LogTime) {
			c.order.odd.count(p)
		}
		again := false
		if t.n++; t.n > 1 && m.LogTime == t.lastTime {
			if again = t.same(msgs, m.Data); again {
				t.duplicate.count(p)
			} else {
				t.sameTime.count(p)
			}
		}
		if c.decoders[m.Topic] != nil {
			t.decoded++ // less the bad ones, below
		}
		if s := w.stamps[i]; s != noStamp {
			t.stamp(s, again, t.n > 1 && m.LogTime < t.lastTime, limit, p)
		}
		if t.index < 0 {
			w.seen = append(w.seen, m.Topic)
		}
		t.lastTime, t.index = m.LogTime, i
	}
	for _, x := range w.bad {
		m := &msgs[x.index]
		t := &c.tracks[m.Topic]
		if t.decoded--; t.bad.n == 0 {
			t.firstBad = x.err
		}
		t.bad.count(messagePlace{m.LogTime, at.Offset})
	}
	for _, x := range w.rest {
		m := &msgs[x.index]
		t := &c.tracks[m.Topic]
		t.rest.count(messagePlace{m.LogTime, at.Offset})
		t.rest.greatest = max(t.rest.greatest, int64(x.bytes))
	}
	for _, id := range w.seen { // the batch goes: remember the last message of each topic
		t := &c.tracks[id]
		data := msgs[t.index].Data
		t.lastLen, t.lastSum, t.index = len(data), sum(data), -1
	}
	w.seen = w.seen[:0]
	return nil
}

// same reports whether data is the data of the topic's last message.
func (t *track) same(block []storage.Message, data []byte) bool {
	if t.index >= 0 {
		return bytes.Equal(block[t.index].Data, data)
	}
	return len(data) == t.lastLen && sum(data) == t.lastSum
}

// sum returns a hash over the first and the last 4 kB of a message: messages that are the same
// there, and have the same length, topic and time, are taken as equal where a block ends between
// them.
func sum(data []byte) uint64 {
	const part = 4096
	h := maphash.Bytes(seed, data[:min(len(data), part)])
	if len(data) > part {
		h ^= maphash.Bytes(seed, data[len(data)-part:]) << 1
	}
	return h
}

// stamp looks at the stamp in the header of a message. again means that it is the
// message before, again; back that its log time goes back, as the stamp may too.
func (t *track) stamp(s int64, again, back bool, limit int64, p messagePlace) {
	if s == 0 {
		t.stampZero.count(p)
		return
	}
	if t.lastStamp != noStamp && !again {
		switch {
		case s == t.lastStamp:
			t.stampSame.count(p)
		case s < t.lastStamp && !back:
			t.stampBack.count(p)
			t.stampBack.greatest = max(t.stampBack.greatest, sub(t.lastStamp, s))
		}
	}
	t.lastStamp = s
	if d := sub(s, p.time); (d > limit || d < -limit) && !t.latched {
		if t.stampFar.n == 0 {
			t.stampLeast, t.stampGreatest = d, d
		}
		t.stampLeast, t.stampGreatest = min(t.stampLeast, d), max(t.stampGreatest, d)
		t.stampFar.count(p)
	}
}
