package engine

import (
	"context"

	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/schema/defset"
	"github.com/bagconv/bagconv/storage"
)

// How much is read to find definitions.
const (
	evidenceBlocks   = 12       // spread over the recording
	evidenceBytes    = 64 << 20 // of them
	evidenceMessages = 32       // of one topic, as far as the blocks have them
	evidenceQuery    = 4        // of a topic that no block has, by a query
	evidenceRows     = 1000     // messages of such topics, all together
)

// FindEvidence tries the definitions that are known on messages of those topics of a recording
// that have none: see mapping.Evidence. It reads a few blocks, spread over the recording, and by a
// query messages of topics that these do not have. wanted reports which topics matter, by their
// numbers; nil: all. sets and sourceDistro are those of mapping.Options. It is nil if no topic
// needs it. A part of a recording that cannot be read is skipped: Damage has it.
func FindEvidence(ctx context.Context, r storage.Reader, info *storage.Info, wanted []bool, sets []*defset.Set, sourceDistro string) (*mapping.Evidence, error) {
	s := sampler{evidence: mapping.NewEvidence(sets, sourceDistro), info: info, seen: make([]int, len(info.Topics))}
	some := false
	for i := range info.Topics {
		s.seen[i] = evidenceMessages // enough
		if (wanted == nil || wanted[i]) && s.evidence.Doubts(&info.Topics[i].Topic) {
			s.seen[i], some = 0, true
		}
	}
	if !some || info.Locked {
		return nil, nil
	}
	caps := storage.ReaderCapabilities(r)
	if caps.Blocks != nil {
		s.blocks(ctx, caps.Blocks)
	}
	if caps.Query != nil {
		s.query(ctx, caps.Query)
	}
	return s.evidence, context.Cause(ctx)
}

// A sampler reads messages.
type sampler struct {
	evidence *mapping.Evidence
	info     *storage.Info
	seen     []int // messages; index = TopicID
}

func (s *sampler) add(m *storage.Message) {
	if i := int(m.Topic); i < len(s.seen) && s.seen[i] < evidenceMessages {
		s.seen[i]++
		s.evidence.Add(&s.info.Topics[i].Topic, m)
	}
}

// blocks reads some blocks, spread over all of them.
func (s *sampler) blocks(ctx context.Context, r storage.BlockReader) {
	blocks, err := r.Blocks()
	if err != nil || len(blocks) == 0 {
		return
	}
	n, bytes := min(len(blocks), evidenceBlocks), int64(0)
	var b storage.Batch
	share := max(1, evidenceMessages/n)
	for k := range n {
		i := 0
		if n > 1 {
			i = k * (len(blocks) - 1) / (n - 1)
		}
		if bytes += blocks[i].RawSize; k > 0 && bytes > evidenceBytes || ctx.Err() != nil {
			return
		}
		if r.ReadBlock(ctx, i, &b) != nil {
			continue
		}
		s.spread(b.Messages, share)
	}
}

// spread takes so many messages of each topic of a block, spread over it.
func (s *sampler) spread(list []storage.Message, share int) {
	count, at := make([]int, len(s.seen)), make([]int, len(s.seen))
	for i := range list {
		if id := int(list[i].Topic); id < len(count) {
			count[id]++
		}
	}
	for i := range list {
		id := int(list[i].Topic)
		if id >= len(count) {
			continue
		}
		if at[id]*share%count[id] < share {
			s.add(&list[i])
		}
		at[id]++
	}
}

// query reads the first messages of topics that no block has shown.
func (s *sampler) query(ctx context.Context, r storage.Querier) {
	q := storage.Query{Limit: evidenceRows}
	for i, n := range s.seen {
		if n == 0 && s.info.Topics[i].Messages != 0 {
			q.Topics = append(q.Topics, storage.TopicID(i))
		}
	}
	missing := len(q.Topics)
	if missing == 0 {
		return
	}
	for m, err := range r.Query(ctx, q) {
		if err != nil {
			return
		}
		if s.add(m); s.seen[m.Topic] == evidenceQuery {
			if missing--; missing == 0 {
				return
			}
		}
	}
}
