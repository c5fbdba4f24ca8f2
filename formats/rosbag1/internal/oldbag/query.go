package oldbag

import (
	"context"
	"iter"
	"slices"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/storage"
)

// Query reads the blocks that have messages of the topics and times that are asked for.
// See storage.Querier.
func (r *Reader) Query(ctx context.Context, q storage.Query) iter.Seq2[*storage.Message, error] {
	block := func(i int) *storage.Block { return &r.blocks[i].Block }
	return chunked.NewQuery(ctx, q, r.src, r, block, lookup{r}).Run(q, len(r.topics), len(r.blocks))
}

// A lookup knows how many messages of each topic a block has, and not where.
type lookup struct{ r *Reader }

// Count adds up what the scan has counted. See chunked.Index.
func (x lookup) Count(q *chunked.Query, i int) (n int64, err error) {
	b := &x.r.blocks[i]
	for k, id := range b.Topics {
		if q.Wanted[id] {
			n += b.counts[k]
		}
	}
	return n, nil
}

// Find has nothing to add of a block without messages of the topics; others are read. See
// chunked.Index.
func (x lookup) Find(q *chunked.Query, i int) (plain chunked.Extent, ok bool, err error) {
	wanted := slices.ContainsFunc(x.r.blocks[i].Topics, func(id storage.TopicID) bool { return q.Wanted[id] })
	return plain, !wanted, nil
}

// Parse is not asked: Find knows no places. See chunked.Index.
func (x lookup) Parse([]byte) (rec chunked.Record, need int, ok bool) { return rec, 0, false }

var _ chunked.Index = lookup{}
