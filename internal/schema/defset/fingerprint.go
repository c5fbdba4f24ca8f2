package defset

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
)

// Fingerprint returns a hash of what sets define, in their order: sets with the same definitions have
// the same, wherever they are from. It is "" without sets.
func Fingerprint(sets []*Set) string {
	if len(sets) == 0 {
		return ""
	}
	h := sha256.New()
	for _, s := range sets {
		fmt.Fprintf(h, "set %v %d %d\n", s.Recorded, len(s.byName), len(s.protos))
		for _, d := range s.Definitions() {
			fmt.Fprintf(h, "%q %q %q %v\n", d.Name, d.Kind, d.Text, d.whole)
		}
		for _, name := range slices.Sorted(maps.Keys(s.protos)) {
			fmt.Fprintf(h, "%q %x\n", name, sha256.Sum256(s.protos[name].from.data))
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
