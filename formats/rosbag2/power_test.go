package rosbag2

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/storage"
)

// A powerFile is a database in memory that remembers each write, so that the disk
// can be shown as a power cut leaves it.
type powerFile struct {
	b      []byte
	writes []powerWrite
}

type powerWrite struct {
	off  int64
	data []byte
}

func (f *powerFile) ReadAt(p []byte, off int64) (int, error) {
	if off >= int64(len(f.b)) {
		return 0, io.EOF
	}
	n := copy(p, f.b[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *powerFile) WriteAt(p []byte, off int64) (int, error) {
	f.writes = append(f.writes, powerWrite{off, slices.Clone(p)})
	f.b = powerWrite{off, p}.apply(f.b)
	return len(p), nil
}

func (w powerWrite) apply(b []byte) []byte {
	if end := int(w.off) + len(w.data); end > len(b) {
		b = append(b, make([]byte, end-len(b))...)
	}
	copy(b[w.off:], w.data)
	return b
}

func (f *powerFile) Truncate(size int64) error { f.b = f.b[:size]; return nil }
func (f *powerFile) Size() (int64, error)      { return int64(len(f.b)), nil }

// TestPowerCut records as rosbag2 does without resilience (journal_mode=MEMORY, the
// index kept with each row, transactions of some rows) and cuts the power at many
// moments: after a number of writes, of which the last may have come in any order,
// or not at all. All rows of the transactions that were on the disk are read but
// for those of the pages that the cut has torn.
func TestPowerCut(t *testing.T) {
	f := &powerFile{}
	d, err := sqlite.Open(sqlite.Options{File: f})
	check(t, err)
	check(t, d.Exec("PRAGMA page_size=1024; PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; PRAGMA cache_size=20;"+
		createTopics2+");"+createMessages+";"+createIndex+
		";INSERT INTO topics VALUES (1, '/a', 'std_msgs/msg/String', 'cdr', '')"))
	data := func(i int) []byte { return fmt.Appendf(make([]byte, 50+i*7919%900), "row %d", i) }
	s, err := d.Prepare(insertMessage)
	check(t, err)
	type commit struct{ writes, rows int }
	var commits []commit
	rows := 0
	for range 60 {
		check(t, d.Exec("BEGIN"))
		for range 25 {
			check(t, s.Bind(int64(1), int64(rows), data(rows)))
			_, err := s.Step()
			check(t, err)
			s.Reset()
			rows++
		}
		check(t, d.Exec("COMMIT"))
		commits = append(commits, commit{len(f.writes), rows})
	}
	s.Finalize()
	check(t, d.Close())
	failed := 0
	for cut := commits[0].writes; cut <= len(f.writes); cut += 7 {
		rng := rand.New(rand.NewPCG(uint64(cut), 3))
		i := 0
		for i+1 < len(commits) && commits[i+1].writes <= cut {
			i++
		}
		done := commits[i]
		var disk []byte
		for _, w := range f.writes[:done.writes] {
			disk = w.apply(disk)
		}
		torn := slices.Clone(f.writes[done.writes:cut])
		rng.Shuffle(len(torn), func(i, j int) { torn[i], torn[j] = torn[j], torn[i] })
		for _, w := range torn[:rng.IntN(len(torn)+1)] {
			disk = w.apply(disk)
		}
		fsys := memFS{"/x/bag_0.db3": disk}
		got, info := readAll(t, "/x/bag_0.db3", storage.ReadOptions{FS: fsys})
		seen := map[int64]bool{}
		for _, r := range got {
			if r.time < 0 || r.time >= int64(rows) || seen[r.time] || string(r.data) != string(data(int(r.time))) ||
				r.topic != "/a" {
				t.Fatalf("cut at write %d of %d: a row of time %d, %d bytes, topic %s", cut, len(f.writes), r.time, len(r.data),
					r.topic)
			}
			seen[r.time] = true
		}
		missing := 0
		for k := range done.rows {
			if !seen[int64(k)] {
				missing++
			}
		}
		if missing > 12 || missing > 0 && len(info.Warnings) == 0 {
			t.Errorf("cut at write %d of %d: %d of %d rows are missing, %v", cut, len(f.writes), missing, done.rows,
				info.Warnings)
		}
		if len(info.Warnings) > 0 {
			failed++
		}
	}
	if failed < 20 {
		t.Errorf("only %d of the databases were broken", failed)
	}
}
