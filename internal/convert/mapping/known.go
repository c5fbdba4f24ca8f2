package mapping

import (
	"context"

	"github.com/bagconv/bagconv/internal/schema/defset"
	"github.com/bagconv/bagconv/storage"
)

// Known is what is known about the definitions of a recording: which places have them, and what its
// messages show. Every command that decodes messages gets it from Look, so that all decode alike.
type Known struct {
	Definitions  []*defset.Set // definitions of the user, in order of preference
	SourceDistro string        // ROS 2 distribution whose types are read if the source has no definitions
	Certain      bool          // SourceDistro is what the source has or the user asks for, and no default
	Evidence     *Evidence     // what the messages show; nil: it is not needed
}

// Look finds what is known about the definitions of an open recording with this description. asked is
// the distribution that the user wants, "" for any. It tries definitions for all topics without
// one, whichever of them the caller reads: see Evidence. For that it reads a few blocks, spread over
// the recording, and by a query messages of topics that these blocks do not have. A part that cannot be read
// is skipped: Damage of r has it.
func Look(ctx context.Context, r storage.Reader, info *storage.Info, sets []*defset.Set, asked string) (Known, error) {
	k := Known{Definitions: sets}
	k.SourceDistro, k.Certain = SourceDistro(asked, info.Metadata)
	s := sampler{evidence: NewEvidence(sets, k.SourceDistro), info: info, seen: make([]int, len(info.Topics))}
	some := false
	for i := range info.Topics {
		s.seen[i] = evidenceMessages // enough
		if s.evidence.Doubts(&info.Topics[i].Topic) {
			s.seen[i], some = 0, true
		}
	}
	if !some || info.Locked {
		return k, nil
	}
	caps := storage.ReaderCapabilities(r)
	if caps.Blocks != nil {
		s.blocks(ctx, caps.Blocks)
	}
	if caps.Query != nil {
		s.query(ctx, caps.Query)
	}
	k.Evidence = s.evidence
	return k, context.Cause(ctx)
}

// Options returns the options of a mapper that reads the recording.
func (k Known) Options() Options {
	return Options{Definitions: k.Definitions, SourceDistro: k.SourceDistro, Certain: k.Certain, Evidence: k.Evidence}
}

// How much is read to find definitions.
const (
	evidenceBlocks   = 12       // spread over the recording
	evidenceBytes    = 64 << 20 // of these blocks
	evidenceMessages = 32       // of one topic, as far as the blocks have them
	evidenceQuery    = 4        // of a topic that no block has, by a query
	evidenceRows     = 1000     // messages of such topics, all together
)

// A sampler reads messages.
type sampler struct {
	evidence *Evidence
	info     *storage.Info
	seen     []int // messages; index = TopicID
}

func (s *sampler) add(m *storage.Message) {
	if i := int(m.Topic); i < len(s.seen) && s.seen[i] < evidenceMessages {
		s.seen[i]++
		s.evidence.Add(&s.info.Topics[i].Topic, m)
	}
}

// blocks reads some blocks, spread over all blocks.
func (s *sampler) blocks(ctx context.Context, r storage.BlockReader) {
	blocks, _, err := r.Blocks(ctx, nil)
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

// spread takes so many messages of each topic of a block, spread over the block.
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
