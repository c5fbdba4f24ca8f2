package storagetest

import (
	"context"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// checkBlocks compares the order, times and topics that a reader states for its blocks with
// the messages in them.
func checkBlocks(t *testing.T, r storage.Reader, want Recording) {
	t.Helper()
	caps := storage.ReaderCapabilities(r)
	blocks, order, err := caps.Blocks.Blocks(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	all := &storage.TimeRange{First: math.MinInt64, Last: math.MaxInt64}
	timed, found, err := caps.Blocks.Blocks(context.Background(), all)
	if err != nil || len(timed) != len(blocks) {
		t.Fatalf("times of %d blocks, want %d: %v", len(timed), len(blocks), err)
	}
	if found == storage.OrderBlocks {
		checkSomeTimes(t, caps.Blocks, timed)
	}
	var b storage.Batch
	total := 0
	for i, blk := range blocks {
		if err := caps.Blocks.ReadBlock(context.Background(), i, &b); err != nil {
			t.Fatal(err)
		}
		total += len(b.Messages)
		if blk.Messages >= 0 && blk.Messages != int64(len(b.Messages)) {
			t.Errorf("block %d has %d messages, its index says %d", i, len(b.Messages), blk.Messages)
		}
		checkWanted(t, caps.Blocks, i, b.Messages, len(r.Info().Topics))
		checkBlockTopics(t, i, blk, b.Messages)
		checkBlockTimes(t, i, blk, order, b.Messages)
		checkBlockTimes(t, i, timed[i], found, b.Messages)
	}
	if total != len(want.Messages) {
		t.Errorf("blocks have %d messages, want %d", total, len(want.Messages))
	}
}

// checkWanted: a block has the same messages of the topics that are asked for, whatever it leaves out.
func checkWanted(t *testing.T, r storage.BlockReader, i int, all []storage.Message, topics int) {
	t.Helper()
	for first := range min(topics, 2) {
		b := storage.Batch{Wanted: make([]bool, topics)}
		for id := first; id < topics; id += 2 {
			b.Wanted[id] = true
		}
		if err := r.ReadBlock(context.Background(), i, &b); err != nil {
			t.Fatal(err)
		}
		of := func(list []storage.Message) (wanted []storage.Message) {
			for _, m := range list {
				if b.Wanted[m.Topic] {
					wanted = append(wanted, m)
				}
			}
			return wanted
		}
		if d := Diff(of(b.Messages), of(all)); d != "" {
			t.Errorf("block %d, if every other topic from %d on is asked for: %s", i, first, d)
		}
		for k := range b.Messages {
			if file, _ := b.PlaceOf(b.Messages[k].Data); file != "" && len(b.Messages) < len(all) {
				t.Errorf("block %d, of which messages are left out, lies in %s", i, file)
			}
		}
	}
}

// checkSomeTimes: if times are asked for in a range, blocks with messages in the range have their
// own times, and the times of other blocks are not in the range.
func checkSomeTimes(t *testing.T, r storage.BlockReader, timed []storage.Block) {
	t.Helper()
	if len(timed) == 0 {
		return
	}
	for _, of := range []int{0, len(timed) / 2, len(timed) - 1} {
		first, last := timed[of].Start, timed[of].Start+1
		some, order, err := r.Blocks(context.Background(), &storage.TimeRange{First: first, Last: last})
		if err != nil || len(some) != len(timed) || order != storage.OrderBlocks {
			t.Fatalf("times of %d blocks in a range, want %d: promise %d, %v", len(some), len(timed), order, err)
		}
		for i, got := range some {
			want := timed[i]
			within := want.Timed && want.Start <= last && want.End >= first
			if own := got.Timed == want.Timed && got.Start == want.Start && got.End == want.End; within && !own {
				t.Errorf("block %d lasts from %d to %d, and from %d to %d if times from %d to %d are asked for", i, want.Start,
					want.End, got.Start, got.End, first, last)
			} else if want.Timed && (got.Start > want.Start || got.End < want.End) || !own && got.Timed && got.Start <= last &&
				got.End >= first {
				t.Errorf("block %d lasts from %d to %d, and from %d to %d if others are asked for", i, want.Start, want.End,
					got.Start, got.End)
			}
		}
	}
}

// checkBlockTopics: the topics of a block are all that it has.
func checkBlockTopics(t *testing.T, i int, blk storage.Block, msgs []storage.Message) {
	t.Helper()
	if len(blk.Topics) == 0 {
		return
	}
	has := map[storage.TopicID]bool{}
	for k := range msgs {
		has[msgs[k].Topic] = true
	}
	if got := slices.Sorted(slices.Values(blk.Topics)); !slices.Equal(got, slices.Sorted(maps.Keys(has))) {
		t.Errorf("block %d has messages of topics %v, its index says %v", i, slices.Sorted(maps.Keys(has)), got)
	}
}

// checkBlockTimes: the times of a block keep the promise of its recording.
func checkBlockTimes(t *testing.T, i int, blk storage.Block, order storage.Order, msgs []storage.Message) {
	t.Helper()
	if len(msgs) == 0 || order == storage.OrderNone {
		return
	}
	least, most := msgs[0].LogTime, msgs[0].LogTime
	for k := range msgs {
		least, most = min(least, msgs[k].LogTime), max(most, msgs[k].LogTime)
	}
	if !blk.Timed || blk.Start > least || blk.End < most {
		t.Errorf("block %d has messages from %d to %d, its index says %d to %d (%v)", i, least, most, blk.Start, blk.End,
			blk.Timed)
	}
	if order == storage.OrderBlocks && (blk.Start < least || blk.End > most) {
		t.Errorf("block %d lasts from %d to %d, and its messages from %d to %d", i, blk.Start, blk.End, least, most)
	}
}
