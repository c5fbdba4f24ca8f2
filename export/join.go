package export

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/export/align"
	"github.com/bagconv/bagconv/internal/export/columns"
	"github.com/bagconv/bagconv/internal/export/tables"
	"github.com/bagconv/bagconv/storage"
)

// joinName is the path of the joined table, without its ending.
const joinName = "joined"

// A joiner makes one table of several topics: a row at each tick, with what each topic had then.
//
//	messages   a1      a2      a3          of /a
//	              b1                b2     of /b
//	ticks      |   |   |   |   |   |       of a rate, or the messages of a topic
//	last       a1  a1  a2  a2  a3  a3      the last message not later than the tick
//	           -   b1  b1  b1  b1  b2
//
// A tick becomes a row when nothing that comes later can change it. So messages must come in the
// order of time, and of each topic only the messages are kept that a row may still need.
type joiner struct {
	set       joinSettings
	topics    []*joinTopic
	w         *writer
	ticks     []ticks // that are no rows yet
	ticksFrom int64   // the first tick of a rate
	next      int64   // tick of a rate
	last      int64   // log time
	started   bool
	limit     int   // bytes of messages that are kept for ticks
	early     int64 // rows that were made before it was known that no message can change them
	size      int   // bytes of the messages of the rows in batch

	schema []columns.Field
	batch  *columns.Batch
	file   io.WriteCloser
	name   string
	out    tables.Table
	rows   int64
}

// joinSettings are the options of a joined table.
type joinSettings struct {
	period int64  // of the ticks, ns; 0: the messages of a topic are the clock
	clock  string // this topic
	method string // "last", "nearest" or "linear"
	maxGap int64  // between a tick and the messages that its row has, ns; 0: any
	flat   bool
}

// on reports whether there is a joined table.
func (s *joinSettings) on() bool { return s.period > 0 || s.clock != "" }

// rule returns which messages belong to a tick.
func (s *joinSettings) rule() align.Rule { return align.Rule{Method: s.method, MaxGap: s.maxGap} }

// A joinTopic is a topic of a joined table.
type joinTopic struct {
	*reader
	t       *topic
	program *columns.Program
	batch   *columns.Batch // messages that rows may need
	times   []int64        // their log times
	sizes   []int          // their bytes
	bytes   int            // of the messages from at on
	all     int            // of all
	at      int            // the last one that is not later than the next tick; -1: no such message
	first   int            // its columns in the table
	clock   bool
	scratch []byte
	doubts  columns.Doubts // of batches that are forgotten
}

// add begins a topic.
func (j *joiner) add(w *writer, t *topic, r *reader) error {
	o := w.columnsOf(r)
	o.Explode, o.Sequence = "", false
	program, err := columns.Compile(r.Type, o)
	if err != nil {
		return errors.Join(storage.ErrUnsupported, err)
	}
	x := &joinTopic{reader: r, t: t, program: program, batch: program.NewBatch(), at: -1,
		first: len(j.schema), clock: t.Name == j.set.clock}
	name := strings.TrimPrefix(t.Name, "/")
	for n := 2; slices.ContainsFunc(j.schema, func(f columns.Field) bool {
		return f.Name == name ||
			strings.HasPrefix(f.Name, name+".")
	}); n++ {
		name = fmt.Sprintf("%s~%d", strings.TrimPrefix(t.Name, "/"), n)
	}
	fields := slices.DeleteFunc(slices.Clone(program.Schema()),
		func(f columns.Field) bool { return f.Name == "publish_time" || f.Name == "_publish_time" })
	if !j.set.flat {
		j.schema = append(j.schema, columns.Field{Name: name, Kind: columns.Struct, Nullable: true, Children: fields,
			Type: t.Type})
	} else {
		for _, f := range fields {
			f.Name, f.Nullable = name+"."+f.Name, true
			j.schema = append(j.schema, f)
		}
	}
	j.topics = append(j.topics, x)
	return nil
}

// begin makes the table, when all topics are known.
func (j *joiner) begin(w *writer) (err error) {
	if j.set.clock != "" && !slices.ContainsFunc(j.topics, func(x *joinTopic) bool { return x.clock }) {
		return fmt.Errorf("%s is no topic that is selected and can be read, and --%s makes its messages the clock",
			j.set.clock, nameJoin)
	}
	j.w, j.limit = w, 8*w.blockBytes
	for _, x := range j.topics {
		x.first++
	}
	j.schema = append([]columns.Field{{Name: "time", Kind: columns.Time}}, j.schema...)
	j.batch = columns.NewRows(j.schema)
	j.name = joinName + w.kind.ext
	if w.single {
		j.name = w.tableName(nil)
	}
	if j.file, err = w.place.create(j.name); err != nil {
		return err
	}
	about := []tables.KeyValue{{Key: "bagconv.join", Value: j.set.method}}
	j.out, err = w.kind.open(j.file, j.schema, about, w.tableOptions(nil))
	return err
}

// message takes a message, and makes rows of the ticks that are ready.
func (j *joiner) message(x *joinTopic, m *storage.Message) error {
	now := m.LogTime
	if j.started && now < j.last {
		return errors.New("messages of a joined table must be in the order of time; omit --order file")
	}
	if !j.started {
		j.started, j.next, j.ticksFrom, j.last = true, now, now, now
	}
	j.tick(now)
	j.last = now
	b := block{t: x.t, rows: []row{{end: len(m.Data), log: now, publish: m.PublishTime}}, data: m.Data}
	data, err := x.reader.message(&b, 0, &x.scratch)
	if err == nil {
		err = x.batch.Append(data, now, m.PublishTime, 0)
	}
	if err != nil {
		if x.t.refused++; x.t.first == nil {
			x.t.first = err
		}
	} else {
		x.times, x.sizes = append(x.times, now), append(x.sizes, len(data))
		x.bytes, x.all = x.bytes+len(data), x.all+len(data)
		if x.clock {
			j.ticks = append(j.ticks, ticks{at: now, n: 1})
		}
	}
	x.t.count(b.rows)
	return j.ready(now, false)
}

// settled reports whether no message from now on can change the row of a tick.
func (j *joiner) settled(tick, now int64) bool {
	rule := j.set.rule()
	if now <= tick || rule.Settled(tick, now) {
		return now > tick
	}
	return !slices.ContainsFunc(j.topics, func(x *joinTopic) bool { return rule.Awaits(x.times, tick) })
}

// row makes the row of a tick.
func (j *joiner) row(tick int64) {
	rule := j.set.rule()
	cols := j.batch.Top()
	cols[0].Values = binary.LittleEndian.AppendUint64(cols[0].Values, uint64(tick))
	cols[0].Len++
	for _, x := range j.topics {
		for x.at+1 < len(x.times) && x.times[x.at+1] <= tick {
			if x.at++; x.at > 0 {
				x.bytes -= x.sizes[x.at-1]
			}
		}
		i, k, share := rule.Choose(x.times, x.at, tick)
		if i >= 0 {
			j.size += x.sizes[i]
		}
		from := x.kept()
		if j.set.flat {
			for n, c := range from {
				j.value(cols[x.first+n], c, i, k, share)
			}
			continue
		}
		cols[x.first].AppendMembers(from, i, k, share)
	}
	j.batch.AddRow()
	j.rows++
}

// value appends a value of a column, or null.
func (j *joiner) value(to, from *columns.Column, i, k int, share float64) {
	if i < 0 {
		to.AppendNull()
		return
	}
	to.AppendBetween(from, i, k, share)
}

// kept returns the columns of the messages that the table has.
func (x *joinTopic) kept() []*columns.Column {
	cols := x.batch.Top()
	return append(cols[:1:1], cols[2:]...) // without the publish time
}

// forget drops messages that no row needs any more, when they are many or long. It costs as much as the messages that
// stay.
func (x *joinTopic) forget() {
	const many, long = 1024, 1 << 20
	if x.at <= 0 || x.at < many && x.all-x.bytes < max(long, x.bytes) {
		return
	}
	rest := x.program.NewBatch()
	old := x.batch.Top()
	for i := x.at; i < len(x.times); i++ {
		for n, c := range rest.Top() {
			c.AppendFrom(old[n], i)
		}
		rest.AddRow()
	}
	x.doubts = x.doubts.Sum(x.batch.Doubts())
	x.times, x.sizes = slices.Clone(x.times[x.at:]), slices.Clone(x.sizes[x.at:])
	x.batch, x.at, x.all = rest, 0, x.bytes
}

// A joinBlock is rows of a joined table on their way to the file.
type joinBlock struct {
	j     *joiner
	batch *columns.Batch
	part  tables.Part
}

// take returns the rows so far as a block.
func (j *joiner) take() *joinBlock {
	b := &joinBlock{j: j, batch: j.batch}
	j.batch, j.size = columns.NewRows(j.schema), 0
	return b
}

// Encode implements storage.PendingBlock.
func (b *joinBlock) Encode() (err error) {
	b.part, err = b.j.out.Encode(b.batch)
	return err
}

// Append implements storage.PendingBlock.
func (b *joinBlock) Append() error { return b.j.out.Append(b.part) }

// Lent implements storage.PendingBlock.
func (b *joinBlock) Lent() bool { return false }

// end makes the last rows: of a rate to the last message.
func (j *joiner) end() error {
	if !j.started {
		return nil
	}
	j.tick(plus(j.last, 1))
	err := j.ready(j.last, true)
	j.count()
	return err
}

// count gives the topics what was lost of their messages, and the first one what concerns all. What it has counted, it
// does not count again.
func (j *joiner) count() {
	for i, x := range j.topics {
		m := &made{}
		loseDoubts(m, x.doubts.Sum(x.batch.Doubts()))
		if i == 0 {
			m.lose("join-early", j.early, "rows were made before the next message of a topic that is silent for long, "+
				"as the messages that waited for it took too much memory; --max-gap bounds how long they wait")
		}
		x.t.lose(m)
		x.doubts, x.batch = columns.Doubts{}, x.program.NewBatch()
		x.times, x.sizes, x.bytes, x.all, x.at = nil, nil, 0, 0, -1
	}
	j.early = 0
}

// finish ends the table.
func (j *joiner) finish() (IndexFile, error) {
	err := j.out.Close()
	return IndexFile{Path: j.name, Kind: "joined", Rows: j.rows}, errors.Join(err, j.file.Close())
}
