package recording

import "github.com/bagconv/bagconv/storage"

// maxSampled is up to how many sinks each sink has a sample of its own: more would take too much memory.
const maxSampled = 64

// sample returns which of the needed blocks are read, some for each sink besides the blocks for all, and
// sets the shares of all sinks.
func (p *Pipeline) sample(src *Source) []bool {
	chosen, share := sample(src.blocks, src.need, p.Sample)
	if share == 1 {
		return src.need
	}
	if n := len(p.Sinks); n > 1 && n <= maxSampled {
		for _, s := range p.Sinks {
			some, all := sample(src.blocks, s.Choice.Blocks(src.blocks), p.Sample/int64(n))
			for i := range chosen {
				chosen[i] = chosen[i] || all == 1 && some == nil || some != nil && some[i]
			}
		}
	}
	p.Share = shareOf(src.blocks, src.need, chosen)
	for _, s := range p.Sinks {
		if s.Share = shareOf(src.blocks, s.Choice.Blocks(src.blocks), chosen); s.Share == 0 {
			s.Share = p.Share
		}
	}
	return chosen
}

// shareOf returns how much of the needed blocks are chosen, from 0 to 1.
func shareOf(blocks []storage.Block, need, chosen []bool) float64 {
	sum, all := 0.0, 0.0
	for i := range blocks {
		if w := weight(blocks, need, i); chosen[i] {
			all, sum = all+w, sum+w
		} else {
			all += w
		}
	}
	return sum / max(all, 1)
}

// weight is the memory that a needed block takes, 0 for other blocks.
func weight(blocks []storage.Block, need []bool, i int) float64 {
	if need != nil && !need[i] {
		return 0
	}
	return float64(max(blocks[i].RawSize, blocks[i].Size, 1))
}

// sample leaves some of the needed blocks, about limit bytes of memory: from all over the
// recording, always the first. share is how much of all needed blocks they are, from 0 to 1.
func sample(blocks []storage.Block, need []bool, limit int64) (chosen []bool, share float64) {
	all := 0.0
	for i := range blocks {
		all += weight(blocks, need, i)
	}
	if all <= float64(limit) {
		return need, 1
	}
	chosen = make([]bool, len(blocks))
	passed, sum := 0.0, 0.0
	for i := range blocks {
		w := weight(blocks, need, i)
		passed += w
		if chosen[i] = w > 0 && sum < passed*float64(limit)/all; chosen[i] {
			sum += w
		}
	}
	return chosen, sum / all
}
