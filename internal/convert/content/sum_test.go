package content

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestSum: the sum is what docs/content-hash.md defines, by another route, and that of parts is the sum
// of theirs wherever a recording is cut between two log times. Another order at one time, a missing
// and a repeated message make another sum.
func TestSum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	type message struct {
		time   int64
		digest [sha256.Size]byte
	}
	var all []message
	for i := range 200 {
		m := message{time: int64(i/3) - 20}
		for k := range m.digest {
			m.digest[k] = byte(rng.Uint32())
		}
		all = append(all, m)
	}
	sumOf := func(list []message) string {
		var s Sum
		for i := range list {
			s.Add(list[i].time, &list[i].digest)
		}
		return s.String()
	}
	want := new(big.Int)
	for i, m := range all {
		rank := uint32(0)
		for k := i - 1; k >= 0 && all[k].time == m.time; k-- {
			rank++
		}
		text := binary.LittleEndian.AppendUint64(nil, uint64(m.time))
		text = append(binary.LittleEndian.AppendUint32(text, rank), m.digest[:]...)
		sum := sha256.Sum256(text)
		slices.Reverse(sum[:])
		want.Add(want, new(big.Int).SetBytes(sum[:]))
	}
	want.Mod(want, new(big.Int).Lsh(big.NewInt(1), 256))
	number := want.FillBytes(make([]byte, 32))
	slices.Reverse(number)
	whole := sumOf(all)
	if whole != hex.EncodeToString(number) {
		t.Errorf("the sum is %s, want %x", whole, number)
	}
	for cut := range all {
		if cut > 0 && all[cut].time == all[cut-1].time {
			continue
		}
		var s Sum
		if s.AddText(sumOf(all[:cut])) != nil || s.AddText(sumOf(all[cut:])) != nil || s.String() != whole {
			t.Fatalf("cut before message %d: %s, want %s", cut, s.String(), whole)
		}
	}
	swapped := slices.Clone(all)
	swapped[3], swapped[4] = swapped[4], swapped[3]
	for i, list := range [][]message{swapped, all[1:], append(slices.Clone(all), all[199])} {
		if sumOf(list) == whole {
			t.Errorf("case %d has the same sum", i)
		}
	}
	if none := sumOf(nil); none != strings.Repeat("00", 32) {
		t.Error(none)
	}
	for _, text := range []string{"", "00", strings.Repeat("0g", 32), whole + "00"} {
		if new(Sum).AddText(text) == nil {
			t.Errorf("%q is a sum", text)
		}
	}
}
