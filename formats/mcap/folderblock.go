package mcap

import (
	"context"
	"fmt"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/storage"
)

// Blocks lists the blocks of all parts; each has times of its own. See storage.BlockReader.
func (r *folderReader) Blocks(ctx context.Context, wanted *storage.TimeRange) (all []storage.Block, _ storage.Order,
	_ error) {
	for _, p := range r.parts {
		list, _, err := p.reader.Blocks(ctx, wanted)
		if err != nil {
			return nil, storage.OrderNone, err
		}
		shared := map[*storage.TopicID][]storage.TopicID{} // blocks share lists of topics
		for _, b := range list {
			if len(b.Topics) > 0 {
				topics, ok := shared[&b.Topics[0]]
				if !ok {
					topics = make([]storage.TopicID, len(b.Topics))
					for i, t := range b.Topics {
						topics[i] = p.topics[t]
					}
					shared[&b.Topics[0]] = topics
				}
				b.Topics = topics
			}
			if r.packedMessages {
				b.RawSize = min(packedGrowth*b.RawSize, max(b.RawSize, maxUnpacked))
			}
			all = append(all, b)
		}
	}
	return all, storage.OrderBlocks, nil
}

// wanted returns which topics of the part are asked for, of topics of the folder; nil: all.
func (p *inPart) wanted(folder []bool) []bool {
	if folder == nil {
		return nil
	}
	list := make([]bool, len(p.topics))
	for i, t := range p.topics {
		list[i] = folder[t]
	}
	return list
}

// ReadBlock reads block i of all parts. See storage.BlockReader.
func (r *folderReader) ReadBlock(ctx context.Context, i int, b *storage.Batch) error {
	if i < 0 || i >= len(r.blocks) {
		return fmt.Errorf("%s: there is no block %d", r.Path, i)
	}
	x := r.blocks[i]
	wanted := b.Wanted
	b.Wanted = x.part.wanted(wanted)
	err := x.part.reader.ReadBlock(ctx, x.block, b)
	if b.Wanted = wanted; err != nil {
		return err
	}
	if x.part.packed {
		b.File = ""
	}
	packed := false
	for k := range b.Messages {
		m := &b.Messages[k]
		m.Topic = x.part.topics[m.Topic]
		packed = packed || r.packed(m)
	}
	if !packed && !r.otherCodec {
		return nil
	}
	return r.unpackMessages(x, b)
}

// packed reports whether a message is to be decompressed: no message in CDR begins as a zstd
// frame.
func (r *folderReader) packed(m *storage.Message) bool {
	return ros2bag.IsFrame(m.Data) && (r.Topics.List[m.Topic].Encoding == native || r.packedMessages)
}

// The memory that decompressed messages of a block may take, and how much larger than
// they are thought to be.
const (
	maxUnpacked  = 512 << 20
	maxMixed     = 64 << 20 // of a message that may be small before
	packedGrowth = 4
)

// unpackMessages decompresses the messages of a block that are compressed one by one.
func (r *folderReader) unpackMessages(x partBlock, b *storage.Batch) error {
	b.Stored, b.File = nil, ""
	buf, bad := b.Scratch[:0], int64(0)
	at := x.part.blocks[x.block].Offset
	kept := b.Messages[:0]
	sizes := make([]int, 0, len(b.Messages))
	for _, m := range b.Messages {
		start := len(buf)
		if !r.packed(&m) {
			if r.otherCodec {
				return r.Fail(x.part.src.Path, fmt.Sprintf("messages compressed with %.40q", r.Layout.Meta.Compression),
					storage.ErrUnsupported)
			}
			buf = append(buf, m.Data...)
		} else if out, ok := r.unpackMessage(buf, &m); ok {
			buf = out
		} else {
			bad++
			continue
		}
		kept, sizes = append(kept, m), append(sizes, len(buf)-start)
	}
	end := 0
	for i := range kept {
		kept[i].Data = buf[end : end+sizes[i] : end+sizes[i]]
		end += sizes[i]
	}
	b.Messages, b.Buf, b.Scratch = kept, buf, b.Buf
	if bad > 0 {
		return r.WarnLost(storage.Lost{Messages: bad, Blocks: 1}, "zstd", at, true, x.part.src.Path,
			"%d messages of a block are left out: they cannot be decompressed", bad)
	}
	if !r.packedMessages && !r.otherCodec {
		return r.Warn("compression", false, x.part.src.Path,
			"messages are compressed with zstd, but the file does not mark that")
	}
	return nil
}

// unpackMessage appends what a message decompresses to. If nothing shows that messages are
// compressed, a message that is not a frame only looked like one, and is taken as it is.
func (r *folderReader) unpackMessage(dst []byte, m *storage.Message) ([]byte, bool) {
	limit := ros2bag.UnpackedSize(m.Data, len(m.Data))
	if limit <= maxMixed {
		limit = min(limit, maxUnpacked-int64(len(dst))) // a message that becomes larger is large before
	}
	out, err := compress.Zstd.Decode(dst, m.Data, limit)
	switch {
	case err == nil:
		return out, true
	case !r.packedMessages && !r.otherCodec:
		return append(dst, m.Data...), true
	}
	return dst, false
}
