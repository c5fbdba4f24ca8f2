package engine

import "github.com/bagconv/bagconv/storage"

// sample leaves some of the needed blocks, about limit bytes of memory: from all over the
// recording, always the first. share is how much of all they are, from 0 to 1.
func sample(blocks []storage.Block, need []bool, limit int64) (chosen []bool, share float64) {
	weight := func(i int) float64 {
		if need != nil && !need[i] {
			return 0
		}
		return float64(max(blocks[i].RawSize, blocks[i].Size, 1))
	}
	all := 0.0
	for i := range blocks {
		all += weight(i)
	}
	if all <= float64(limit) {
		return need, 1
	}
	chosen = make([]bool, len(blocks))
	passed, sum := 0.0, 0.0
	for i := range blocks {
		w := weight(i)
		passed += w
		if chosen[i] = w > 0 && sum < passed*float64(limit)/all; chosen[i] {
			sum += w
		}
	}
	return chosen, sum / all
}
