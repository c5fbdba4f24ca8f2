package rosbag2

import (
	"database/sql"
	"encoding/binary"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// makeWAL builds a log as SQLite does, from the pages in which two states of a
// database differ.
func makeWAL(old, now []byte, page int, commit bool) []byte {
	h := make([]byte, walHeaderLen)
	binary.BigEndian.PutUint32(h, 0x377f0683)
	binary.BigEndian.PutUint32(h[4:], 3007000)
	binary.BigEndian.PutUint32(h[8:], uint32(page))
	copy(h[16:], "saltsalt")
	var a, b uint32
	sum := func(p []byte) {
		for ; len(p) >= 8; p = p[8:] {
			a += binary.BigEndian.Uint32(p) + b
			b += binary.BigEndian.Uint32(p[4:]) + a
		}
	}
	sum(h[:24])
	binary.BigEndian.PutUint32(h[24:], a)
	binary.BigEndian.PutUint32(h[28:], b)
	var changed []int
	for i := 0; i*page < len(now); i++ {
		if (i+1)*page > len(old) || string(old[i*page:(i+1)*page]) != string(now[i*page:(i+1)*page]) {
			changed = append(changed, i)
		}
	}
	for k, i := range changed {
		f := make([]byte, walFrameLen)
		binary.BigEndian.PutUint32(f, uint32(i+1))
		if commit && k == len(changed)-1 {
			binary.BigEndian.PutUint32(f[4:], uint32(len(now)/page))
		}
		copy(f[8:], "saltsalt")
		sum(f[:8])
		sum(now[i*page : (i+1)*page])
		binary.BigEndian.PutUint32(f[16:], a)
		binary.BigEndian.PutUint32(f[20:], b)
		h = append(append(h, f...), now[i*page:(i+1)*page]...)
	}
	return h
}

// TestWAL applies a log of a crashed recorder, in a folder that may not be
// written to, and leaves the folder as it was.
func TestWAL(t *testing.T) {
	for _, c := range []struct {
		name   string
		commit bool
		cut    int
		flip   int
		rows   int
		codes  []string
	}{
		{"committed", true, 0, 0, 60, nil},
		{"uncommitted", false, 0, 0, 40, []string{"wal-uncommitted"}},
		{"last frame cut", true, 10, 0, 40, []string{"wal-uncommitted"}},
		{"header damaged", true, 0, 9, 40, []string{"wal"}},
		{"frame damaged", true, 0, walHeaderLen + 30, 40, nil},
		{"empty", true, 1 << 30, 0, 40, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path, _ := smallBag(t, dir)
			edit(t, path, "DELETE FROM metadata")
			old, err := os.ReadFile(path)
			check(t, err)
			edit(t, path, "BEGIN; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<20) INSERT INTO "+
				"messages (topic_id, timestamp, data) SELECT 1, 1000+i, zeroblob(500*i) FROM n; COMMIT")
			now, err := os.ReadFile(path)
			check(t, err)
			old[18], old[19], now[18], now[19] = 2, 2, 2, 2
			wal := makeWAL(old, now, pageSize, c.commit)
			wal = wal[:len(wal)-min(c.cut, len(wal))]
			if c.flip > 0 {
				wal[c.flip] ^= 0xff
			}
			check(t, os.WriteFile(path, old, 0o444))
			check(t, os.WriteFile(path+"-wal", wal, 0o444))
			check(t, os.WriteFile(path+"-shm", make([]byte, 32768), 0o444))
			check(t, os.Chmod(dir, 0o555))
			defer os.Chmod(dir, 0o777)
			before := listing(t, dir)
			rows, info := readAll(t, path, storage.ReadOptions{})
			if len(rows) != c.rows || info.Messages != int64(c.rows) || !slices.Equal(codes(info), c.codes) {
				t.Errorf("%d rows, want %d; %v", len(rows), c.rows, info.Warnings)
			}
			if c.rows == 60 && (info.End != 1020 || len(rows[59].data) != 10000) {
				t.Errorf("end %d, last row %d bytes", info.End, len(rows[59].data))
			}
			if after := listing(t, dir); !reflect.DeepEqual(before, after) {
				t.Errorf("the folder changed: %v to %v", before, after)
			}
			for _, f := range []string{path, path + "-wal"} {
				b, err := os.ReadFile(f)
				check(t, err)
				if want := map[bool][]byte{true: old, false: wal}[f == path]; string(b) != string(want) {
					t.Errorf("%s was changed", f)
				}
			}
		})
	}
}

// TestWALOfSQLite applies a log that SQLite wrote, taken while its connection
// was open, as a crash leaves it.
func TestWALOfSQLite(t *testing.T) {
	live, dir := filepath.Join(t.TempDir(), "x.db3"), t.TempDir()
	write(t, live, storage.WriteOptions{}, sampleTopics(), sampleRows())
	d, err := sql.Open("sqlite", "file:"+live+"?_pragma=journal_mode(WAL)&_pragma=wal_autocheckpoint(0)")
	check(t, err)
	defer d.Close()
	d.SetMaxOpenConns(1)
	_, err = d.Exec("DELETE FROM metadata")
	check(t, err)
	want := sampleRows()
	for i := range 300 {
		m := storage.Message{Topic: 3, LogTime: int64(i), Data: make([]byte, i*100)}
		_, err = d.Exec("INSERT INTO messages (topic_id, timestamp, data) VALUES (4, ?, ?)", m.LogTime, m.Data)
		check(t, err)
		want = append(want, m)
	}
	path := filepath.Join(dir, "x.db3")
	copyFile(t, live, path)
	copyFile(t, live+"-wal", path+"-wal")
	before := listing(t, dir)
	compare(t, path, withoutCustom(sampleTopics()), want)
	if after := listing(t, dir); !reflect.DeepEqual(before, after) {
		t.Errorf("the folder changed: %v to %v", before, after)
	}
}
