package oldbag

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A Reader reads an old bag. ReadBlock, Info and Query are safe for concurrent use.
type Reader struct {
	src     *chunked.Source
	version Version
	form    dialect
	first   int64 // offset of the first record

	topics []topic // index = TopicID
	byKey  map[string]storage.TopicID
	blocks []storage.Block // of records that follow each other in the file, about blockSize bytes each

	blockSize int64 // when records go into another block

	seq  storage.Sequence
	info *storage.Info
}

type topic struct {
	storage.Topic
	messages int64
}

// minBlock is as many bytes as a core keeps near while it reads them. maxBlocks is how many blocks
// there are before they become larger.
const (
	minBlock  = 512 << 10
	maxBlocks = 128 << 10
)

// Open reads the heads of all records of src, whose first bytes Detect knows. If audit is true, it
// also compares the index with the records. The Reader closes src.File, unless the error is not
// nil.
func Open(src *chunked.Source, v Version, audit bool) (*Reader, error) {
	r := &Reader{src: src, version: v, byKey: map[string]storage.TopicID{}, blockSize: max(minBlock, src.Size/maxBlocks)}
	if v.Damaged {
		if err := src.Warn("version-line", 0, false, "the version line is damaged; what follows is a bag of version %s",
			v.Name); err != nil {
			return nil, err
		}
	}
	if err := r.begin(); err != nil {
		return nil, err
	}
	s := scanner{r: r, w: src.Window(), defs: map[definition]string{}}
	if err := s.scan(); err != nil {
		return nil, err
	}
	if audit {
		if err := s.audit(); err != nil {
			return nil, err
		}
	}
	r.info = r.newInfo()
	return r, nil
}

// begin finds out how records are written, and where the first one is.
func (r *Reader) begin() error {
	r.first = r.version.first
	switch r.version.Name {
	case "1.2":
		r.form = v12{}
		return nil
	case "1.1":
		r.form = v11{r.byKey}
		return nil
	}
	head := make([]byte, min(r.src.Size-r.first, maxTableSize))
	if err := iox.ReadFull(r.src.File, head, r.first); err != nil {
		return r.src.Fail(r.first, "topics", err)
	}
	read := readTable
	if r.version.Name == "0" {
		read = readSingle
	}
	t, size, err := read(head)
	if err != nil {
		if errors.Is(err, storage.ErrTruncated) {
			return r.src.Fail(r.first, "the table of topics", err)
		}
		return r.src.Fail(r.first, fmt.Sprintf("the table of topics cannot be read (%v)", err), storage.ErrCorrupt)
	}
	r.form = t
	r.first += int64(size)
	for _, name := range t.names {
		r.topic(&record{topic: name, key: name})
	}
	return nil
}

// maxTableSize is the most bytes of a table of topics that are read.
const maxTableSize = 4 << 20

// topic returns the topic of a message. It makes the topic if it is new.
func (r *Reader) topic(rec *record) storage.TopicID {
	id, ok := r.byKey[string(rec.key)]
	if !ok {
		id = storage.TopicID(len(r.topics))
		r.byKey[string(rec.key)] = id
		r.topics = append(r.topics, topic{Topic: r.form.describe(rec)})
	}
	return id
}

// Info describes the bag. See storage.Reader.
func (r *Reader) Info() *storage.Info { return r.info.Clone() }

func (r *Reader) newInfo() *storage.Info {
	info := &storage.Info{
		Format: r.src.Format, Version: r.version.Name, Path: r.src.Path, Size: r.src.OnDisk(), Facts: r.src.Facts,
		Files:       []string{r.src.Path},
		Compression: map[string]int64{}, Metadata: map[string]string{},
	}
	for i, t := range r.topics {
		info.Topics = append(info.Topics, storage.TopicInfo{Topic: t.Topic, ID: storage.TopicID(i), Messages: t.messages})
		info.Messages += t.messages
	}
	for i, b := range r.blocks {
		if i == 0 {
			info.Start, info.End = b.Start, b.End
		}
		info.Start, info.End = min(info.Start, b.Start), max(info.End, b.End)
	}
	if len(r.blocks) > 0 {
		info.Compression["none"] = int64(len(r.blocks))
	}
	info.Damage = r.Damage()
	return info
}

// Damage returns what was found so far. See storage.Reader.
func (r *Reader) Damage() storage.Damage { return r.src.Damage() }

// Blocks lists the groups of records; the scan has seen all times. See storage.BlockReader.
func (r *Reader) Blocks(context.Context, *storage.TimeRange) ([]storage.Block, storage.Order, error) {
	return slices.Clone(r.blocks), storage.OrderBlocks, nil
}

// ReadBlock reads a group of records. See storage.BlockReader. Damage lies between blocks: a block
// that cannot be read as it was when the bag was opened has changed since.
func (r *Reader) ReadBlock(ctx context.Context, i int, b *storage.Batch) error {
	b.Messages = b.Messages[:0]
	if err := cmp.Or(ctx.Err(), r.src.Ctx.Err()); err != nil {
		return err
	}
	if i < 0 || i >= len(r.blocks) {
		return r.src.Fail(-1, fmt.Sprintf("there is no block %d", i), nil)
	}
	bl := &r.blocks[i]
	b.Buf = storage.Grow(b.Buf, int(bl.Size))
	if err := iox.ReadFull(r.src.File, b.Buf, bl.Offset); err != nil {
		return r.src.Fail(bl.Offset, "records", err)
	}
	var rec record
	for p := 0; p < len(b.Buf); {
		err := r.form.parse(&rec, b.Buf[p:])
		end := int64(p) + int64(rec.head) + rec.size
		if err == nil && end > int64(len(b.Buf)) {
			err = storage.ErrTruncated
		}
		if err != nil {
			return r.changed(bl.Offset + int64(p))
		}
		if rec.kind == kindMessage {
			id, ok := r.byKey[string(rec.key)]
			if !ok {
				return r.changed(bl.Offset + int64(p))
			}
			b.Messages = append(b.Messages, storage.Message{
				Topic: id, LogTime: rec.time, PublishTime: rec.time, Data: b.Buf[p+rec.head : end : end],
			})
		}
		p = int(end)
	}
	return nil
}

func (r *Reader) changed(at int64) error {
	return r.src.Fail(at, "the file has changed since it was opened", storage.ErrCorrupt)
}

// ReadNext returns the next message. See storage.Reader.
func (r *Reader) ReadNext() (*storage.Message, error) { return r.seq.Next(r.src.Ctx, r, len(r.blocks)) }

// Close closes the file.
func (r *Reader) Close() error {
	r.seq.Stop(r.src.Fail(-1, "the reader is closed", nil))
	return r.src.File.Close()
}

// Query reads the blocks that have messages of the topics and times that are asked for.
// See storage.Querier.
func (r *Reader) Query(ctx context.Context, q storage.Query) iter.Seq2[*storage.Message, error] {
	block := func(i int) *storage.Block { return &r.blocks[i] }
	return chunked.NewQuery(ctx, q, r.src, r, block, nil).Run(q, len(r.topics), len(r.blocks))
}

var (
	_ storage.Reader      = (*Reader)(nil)
	_ storage.BlockReader = (*Reader)(nil)
	_ storage.Querier     = (*Reader)(nil)
)
