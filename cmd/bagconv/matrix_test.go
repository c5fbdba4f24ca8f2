package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// The pairs of formats: bag -> db3 and back are in bags_test.go and db3_test.go,
// where others judge them. Within one format nothing changes but the container.

// TestBagToBag: another compression, the same connections and bytes, in order
// of time. bz2, which is slow, is for every third bag, and for all with BAGCONV_EXHAUSTIVE=1.
func TestBagToBag(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := 0
	for i, path := range sorted(bags(t)) {
		for _, codec := range []string{"none", "lz4", "bz2"} {
			if codec == "bz2" && i%samples.Pick(1, 3, 3) != 0 {
				continue
			}
			n++
			out := filepath.Join(dir, fmt.Sprintf("b%d.bag", n))
			convert(t, path, out, "--compression", codec, "--no-sync")
			same(t, path, out)
		}
	}
}

// TestDB3ToDB3: each profile keeps every message, also those in encodings that
// nobody knows.
func TestDB3ToDB3(t *testing.T) {
	dir := t.TempDir()
	for i, path := range folders(t) {
		for _, distro := range []string{"", "foxy", "humble", "iron", "jazzy"} {
			out := filepath.Join(dir, fmt.Sprintf("d%d%s", i, distro))
			args := []string{path, out + "/", "--no-sync"}
			if distro != "" {
				args = append(args, "--distro", distro)
			}
			convert(t, args...)
			same(t, path, out)
		}
	}
}

// same compares two recordings of one format with each other: topics with all
// that is reported about them, and messages in order of time, byte for byte.
func same(t *testing.T, a, b string) {
	t.Helper()
	infoA, msgsA := read(t, a)
	infoB, msgsB := read(t, b)
	if len(infoA.Topics) != len(infoB.Topics) {
		t.Errorf("%s: %d topics became %d", a, len(infoA.Topics), len(infoB.Topics))
		return
	}
	number := map[string][]storage.TopicID{} // topics of b by what they are
	describe := func(ti *storage.TopicInfo) string {
		typ := ti.Type
		if ti.Encoding == "cdr" && strings.Count(typ, "/") == 1 { // as recorders wrote it before 2019
			typ = strings.Replace(typ, "/", "/msg/", 1)
		}
		return fmt.Sprint(ti.Name, typ, ti.Encoding, ti.Metadata[storage.MetaCallerID], ti.Metadata[storage.MetaMD5Sum],
			ti.QoS, ti.Messages)
	}
	for i := range infoB.Topics {
		d := describe(&infoB.Topics[i])
		number[d] = append(number[d], storage.TopicID(i))
	}
	renumber := make([]storage.TopicID, len(infoA.Topics))
	for i := range infoA.Topics {
		ids := number[describe(&infoA.Topics[i])]
		if len(ids) == 0 {
			t.Errorf("%s: %s is not in %s", a, describe(&infoA.Topics[i]), b)
			return
		}
		renumber[i], number[describe(&infoA.Topics[i])] = ids[0], ids[1:]
	}
	for i := range msgsA {
		msgsA[i].Topic = renumber[msgsA[i].Topic]
	}
	stableByTime(msgsA)
	if d := storagetest.Diff(msgsB, msgsA); d != "" {
		t.Errorf("%s and %s: %s", a, b, d)
	}
}
