package rosbag2

import (
	"context"
	"fmt"
	"strings"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/internal/sqlitefile"
	"github.com/bagconv/bagconv/storage"
)

// salvage takes what there is from the pages of a part that cannot be read as a
// database, for the reason cause: rows, and of the small tables what SQLite could
// not read. Without a single row the reason is returned.
func (p *part) salvage(ctx context.Context, fsys storage.FS, meta *ros2bag.Metadata, cause error,
	warn ros2bag.Warner) error {
	if p.overlay == nil {
		p.total = p.size // no zeros after the end
	}
	c, err := openConn(fsys, p)
	if err != nil {
		return err
	}
	err = p.giveUpTree(ctx, c.src, cause, 0, warn)
	if e := c.close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	p.useRecords(p.salvaged.Found.Records)
	return p.nameByCount(ctx, meta, warn)
}

// giveUpTree finds the leaves of messages without their tree, and has the rows be read from
// there. Unless they have more rows than were returned in order, cause is returned.
func (p *part) giveUpTree(ctx context.Context, src *sqlite.Image, cause error, rows int64, warn ros2bag.Warner) error {
	s, err := sqlitefile.NewSalvage(ctx, src, p.total)
	if err != nil && !storage.IsDamage(err) {
		return err
	}
	if err != nil || s.Found.Rows <= rows {
		return cause
	}
	p.salvaged, p.table, p.spans, p.empty = s, nil, nil, false
	text := ""
	if !s.Found.Freelist {
		text = "; unused pages cannot be told apart, so deleted messages may be among them"
	}
	if p.cut != "" {
		return warn("truncated", true, "%s; %d messages are read from its pages one by one%s", p.cut, s.Found.Rows, text)
	}
	return warn("salvaged", true, "%v; %d messages are read from its pages one by one%s", cause, s.Found.Rows, text)
}

// tallyFound is the tally of a part that was salvaged.
func (p *part) tallyFound() tally {
	f := &p.salvaged.Found
	t := tally{some: f.Rows > 0, least: f.First, most: f.Last, topics: map[storage.TopicID]int64{},
		unknown: map[int64]int64{}}
	for id, n := range f.Topics {
		if topic, ok := p.ids.get(id); ok {
			t.topics[topic] += n
		} else {
			t.unknown[id] = n
		}
	}
	return t
}

// useRecords finds the rows of the small tables by their shapes, and takes the rows that SQLite did
// not return. The last value of a record is its rowid.
func (p *part) useRecords(list [][]sqlitefile.Value) {
	if p.defs == nil {
		p.defs = map[string]definition{}
	}
	last := int64(0)
	topics := map[int64]topicRow{}
	for _, rec := range list {
		id := rec[len(rec)-1].Int
		v := rec[:len(rec)-1]
		text := func(i int) string {
			if i < len(v) {
				return string(v[i].Data)
			}
			return ""
		}
		texts := 0
		for texts+1 < len(v) && v[texts+1].Kind == sqlitefile.Text {
			texts++
		}
		switch n := len(v); {
		case n < 2 || v[0].Kind != sqlitefile.Null:
		case n == texts+1 && n >= 3 && n <= 6 && text(1) != "" && strings.Contains(text(2), "/"):
			row := topicRow{id, text(1), text(2), text(3), text(4), text(5)}
			if n == 3 {
				row.format = encoding
			}
			if _, ok := topics[id]; !ok {
				topics[id] = row
			}
		case n == texts+1 && n == 5 && strings.Contains(text(1), "/"):
			if _, ok := p.defs[text(1)]; !ok {
				p.defs[text(1)] = definition{text(2), v[3].Data}
			}
		case n == texts+1 && n == 2 && p.distro == "" && id > 0 && id < 10:
			p.tables.schema, p.distro = int(id), text(1)
		case n == 3 && v[1].Kind == sqlitefile.Int && v[2].Kind == sqlitefile.Text && p.last == "" && id > last &&
			strings.Contains(text(2), "version:"):
			last = id
		}
	}
	if last != 0 {
		for _, rec := range list {
			if len(rec) == 4 && rec[3].Int == last && rec[2].Kind == sqlitefile.Text && rec[1].Kind == sqlitefile.Int {
				p.last = string(rec[2].Data)
			}
		}
	}
	for _, row := range topics {
		p.topics = append(p.topics, row)
	}
	p.topics = sortTopics(p.topics)
}

// nameByCount finds topics that no table has any more in the metadata, which has no ids: by their
// numbers of messages. If the topics of the metadata have, in their order, the numbers of ids 1, 2,
// 3 ..., they get these ids. Else a topic gets an id if no other topic or id has the same number.
func (p *part) nameByCount(ctx context.Context, meta *ros2bag.Metadata, warn ros2bag.Warner) error {
	if meta == nil && p.last != "" {
		meta, _, _ = ros2bag.ParseMetadata(ctx, []byte(p.last), ros2bag.QoSCache{}) // opening reports what is wrong with it
	}
	if meta == nil {
		return nil
	}
	have := map[ros2bag.TopicKey]bool{}
	counts := map[int64]int64{}
	for id, n := range p.salvaged.Found.Topics {
		counts[id] = n
	}
	for _, t := range p.topics {
		have[ros2bag.TopicKey{Name: t.name, Type: t.typ, Encoding: t.format}] = true
		delete(counts, t.id)
	}
	if len(counts) == 0 {
		return nil
	}
	inOrder := len(p.topics) == 0
	for i, t := range meta.Topics {
		inOrder = inOrder && counts[int64(i)+1] == t.Messages
	}
	named := 0
	for i := range meta.Topics {
		t := &meta.Topics[i]
		if have[ros2bag.TopicKey{Name: t.Name, Type: t.Type, Encoding: t.Format}] || t.Messages == 0 {
			continue
		}
		id, ok := int64(i)+1, inOrder
		if !ok {
			id, ok = only(counts, meta.Topics, t.Messages)
		}
		if ok {
			p.topics = append(p.topics, topicRow{id: id, name: t.Name, typ: t.Type, format: t.Format, hash: t.Hash})
			named++
		}
	}
	p.topics = sortTopics(p.topics)
	if named == 0 {
		return nil
	}
	return warn("topics", true,
		"the table of topics is damaged; %d topics are read from the metadata and matched by message counts", named)
}

// only is the one id that has n messages, if one topic has so many.
func only(counts map[int64]int64, topics []ros2bag.Topic, n int64) (id int64, ok bool) {
	ids, same := 0, 0
	for k, v := range counts {
		if v == n {
			id = k
			ids++
		}
	}
	for i := range topics {
		if topics[i].Messages == n {
			same++
		}
	}
	return id, ids == 1 && same == 1
}

// salvage reads the rows of block i from the leaves that were found.
func (f *filler) salvage(i int, s *sqlitefile.Salvage) error {
	c := f.c
	if c.salv == nil {
		c.salv = s.NewSalvager(c.src)
	}
	if err := f.read(c.salv); err != nil {
		return err
	}
	f.r.lose(i, storage.Lost{Messages: c.salv.LostRows, Bytes: c.salv.LostBytes})
	if c.salv.LostRows == 0 {
		return nil
	}
	return f.r.Warn("corrupt", f.c.part.cut == "", f.c.part.path,
		"%d messages of %d bytes around row %d are cut and left out", c.salv.LostRows, c.salv.LostBytes, f.last)
}

// rescue reads the rows of block i from all leaves that have them, because the tree
// turned out to be damaged there, for the reason cause. The leaves are looked for
// once.
func (f *filler) rescue(i int, cause error) (err error) {
	c, p, blk := f.c, f.c.part, f.blk
	p.mu.Lock()
	if p.rescued == nil {
		p.rescued, err = sqlitefile.NewSalvage(f.ctx, c.src, p.total)
	}
	s := p.rescued
	p.mu.Unlock()
	if err != nil {
		return err
	}
	f.begin(blk)
	if err := f.salvage(i, s); err != nil {
		return err
	}
	lost := storage.Lost{Blocks: 1, Bytes: int64(p.head.Page) + c.salv.LostBytes, Messages: c.salv.LostRows,
		Uncounted: p.dense() < 0}
	text := ""
	if p.dense() >= 0 { // then every rowid is a message
		lost.Messages = max(min(blk.hi, p.end)-max(blk.lo, p.first)+1-int64(f.n), 0)
		text = fmt.Sprintf(", %d are lost", lost.Messages)
	}
	f.r.lose(i, lost)
	return f.r.Warn("corrupt", true, p.path, "messages from row %d to %d: %v; %d were found in other ways%s",
		max(blk.lo, p.first), min(blk.hi, p.end), cause, f.n, text)
}
