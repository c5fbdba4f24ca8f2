// Package storagetest is the suite that every format passes. A format's test is
//
//	func TestStorage(t *testing.T) {
//		storagetest.Run(t, storagetest.Config{Format: Format, Encoding: "ros1", Name: "x.ext", ...})
//	}
//
// The suite writes recordings that try the corners of the contract in package
// storage, reads them back in every way that the format offers, and compares
// the results. Gaps that a format is known to have are named in
// Config, each with its reason.
//
// The messages are made from a seed: the same in every run.
package storagetest

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// Config is what to test.
type Config struct {
	Format   *storage.Format
	Encoding string         // of the messages written; the suite's are random bytes
	Name     string         // of the output in its folder: "x.ext", or "x" for a folder
	Schema   storage.Schema // that every topic gets
	Type     string         // of every topic; "std_msgs/String" when empty

	// Metadata is what every topic gets: what the format would add otherwise.
	Metadata map[string]string

	// Others are further definitions: one of another type, and one of Type that is not
	// Schema.
	Others []Definition

	// FaultFS is set if all of a writer's I/O goes through WriteOptions.FS, so
	// that each operation can be made to fail. Otherwise NoFaultFS is the reason.
	FaultFS   bool
	NoFaultFS string

	// NoAppend is why nothing can be added to recordings of this Name, although the format
	// has AppendTo.
	NoAppend string

	// OverlapCode is the code of the warning about messages that were added and are earlier than
	// the messages before them; "": no warning.
	OverlapCode string

	// ReadsAll is why a query cannot do with a small part of the file; else it
	// is held to that.
	ReadsAll string

	sample string // of RunReader
}

// A Recording is what is written and expected back: topics, messages in the order
// of writing, what the recording has about itself, and what else it carries.
type Recording struct {
	Topics   []storage.Topic
	Messages []storage.Message
	Metadata map[string]string

	Attachments []Attachment
	Records     []MetadataRecord
}

// Spec is what Generate makes.
type Spec struct {
	Topics, Messages int
	MaxSize          int   // of a message's data, bytes
	Step             int64 // mean distance of log times, ns; 0: all equal
	Jitter           int64 // how far times stray, ns: above Step they are out of order
}

// start is the log time of the first message.
const start = 1_700_000_000_000_000_000

// Generate makes a recording from a seed.
func (c *Config) Generate(seed uint64, s Spec) Recording {
	rng := rand.New(rand.NewPCG(seed, 7))
	var r Recording
	for i := range s.Topics {
		r.Topics = append(r.Topics, c.topic(fmt.Sprintf("/topic_%d", i)))
	}
	for i := range s.Messages {
		at := start + int64(i)*s.Step
		if s.Jitter > 0 {
			at += rng.Int64N(s.Jitter)
		}
		data := make([]byte, rng.IntN(s.MaxSize+1))
		for k := range data {
			data[k] = byte(rng.Uint32() >> 8 & 0x3f) // compresses a little, as real data does
		}
		m := storage.Message{Topic: storage.TopicID(rng.IntN(s.Topics)), LogTime: at, PublishTime: at, Data: data}
		if c.Format.Holds.PublishTime {
			m.PublishTime -= int64(i%7) * 1000
		}
		if c.Format.Holds.Sequence {
			m.Sequence = uint32(i)
		}
		r.Messages = append(r.Messages, m)
	}
	return r
}

func (c *Config) topic(name string) storage.Topic {
	typ := c.Type
	if typ == "" {
		typ = "std_msgs/String"
	}
	metadata := maps.Clone(c.Metadata)
	if metadata == nil {
		metadata = map[string]string{}
	}
	return storage.Topic{Name: name, Type: typ, Encoding: c.Encoding, Schema: c.Schema, Metadata: metadata}
}

// Run runs the suite.
func Run(t *testing.T, c Config) {
	t.Helper()
	if c.FaultFS == (c.NoFaultFS != "") {
		t.Fatal("storagetest: set FaultFS, or say in NoFaultFS why not")
	}
	if topic := c.topic("/a"); !c.Format.Holds.CarriesTopic(&topic) {
		t.Fatalf("storagetest: the format does not carry %s", c.Encoding)
	}
	t.Run("Recordings", c.recordings)
	t.Run("OneName", c.oneName)
	t.Run("Extras", c.extras)
	t.Run("Constant", c.constant)
	t.Run("Lifecycle", c.lifecycle)
	t.Run("Existing", c.existing)
	t.Run("Options", c.options)
	t.Run("Finish", c.finish)
	t.Run("Close", c.closing)
	t.Run("Append", c.appending)
	t.Run("Aliasing", c.aliasing)
	t.Run("Concurrent", c.concurrent)
	t.Run("BlockWriter", c.blockWriter)
	t.Run("BlockCopier", c.blockCopier)
	t.Run("Deterministic", c.deterministic)
	t.Run("SourceUntouched", c.sourceUntouched)
	t.Run("Elsewhere", c.otherFS)
	t.Run("Cancelled", c.cancelled)
	t.Run("WriteFaults", c.writeFaults)
	t.Run("ReadFaults", c.readFaults)
	t.Run("Query", c.query)
	t.Run("QueryBytes", c.queryBytes)
	t.Run("QueryDamage", c.queryDamage)
	t.Run("QueryFaults", c.queryFaults)
}

// cases returns the recordings that every format must carry unharmed.
func (c *Config) cases() map[string]Recording {
	mb := func(n int) []byte { return make([]byte, n<<20) }
	at := func(d int64, data []byte) storage.Message {
		return storage.Message{LogTime: start + d, PublishTime: start + d, Data: data}
	}
	one := []storage.Topic{c.topic("/a")}
	out := map[string]Recording{
		"empty":                  {},
		"topic without messages": {Topics: one},
		"message of 0 bytes":     {Topics: one, Messages: []storage.Message{at(0, nil), at(1, []byte{1}), at(2, nil)}},
		"messages of megabytes": {Topics: one, Messages: []storage.Message{at(0, mb(3)), at(1, []byte("small")),
			at(2, mb(9)), at(3, mb(1))}},
		"equal times":    c.Generate(1, Spec{Topics: 3, Messages: 500, MaxSize: 50}),
		"unsorted times": c.Generate(2, Spec{Topics: 3, Messages: 2000, MaxSize: 400, Step: 1000, Jitter: 1_000_000_000}),
		"many small":     c.Generate(3, Spec{Topics: 5, Messages: 30_000, MaxSize: 60, Step: 1_000_000}),
		"mixed sizes":    c.Generate(4, Spec{Topics: 9, Messages: 300, MaxSize: 60_000, Step: 1_000_000, Jitter: 3_000_000}),
		"10,000 topics":  c.Generate(5, Spec{Topics: 10_000, Messages: 12_000, MaxSize: 8, Step: 1000}),
		"odd names": {Topics: []storage.Topic{c.topic("/ünïcödé/日本語"), c.topic("relative"), c.topic("/with space"),
			c.topic("/quote'\"\\"),
			c.topic("/a=b"), c.topic("/new\nline"), c.topic("/very" + string(longName('x')))},
			Messages: []storage.Message{at(0, []byte("x"))}},
	}
	out["whole"] = c.whole()
	ends := Recording{Topics: one}
	least, greatest := c.Format.Holds.MinTime, c.Format.Holds.MaxTime
	if least == 0 && greatest == 0 {
		least, greatest = math.MinInt64, math.MaxInt64
	}
	for _, t := range []int64{least, least + 1, max(least, -1), 0, 1, start, greatest} {
		m := storage.Message{LogTime: t, PublishTime: t, Data: []byte("x")}
		ends.Messages = append(ends.Messages, m)
	}
	out["times at the limits"] = ends
	return out
}

// longName returns a long name.
func longName(c byte) []byte {
	b := make([]byte, 700)
	for i := range b {
		b[i] = c
	}
	return b
}

func (c *Config) open(t testing.TB, path string, o storage.ReadOptions) storage.Reader {
	t.Helper()
	r, err := c.Format.Open(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
