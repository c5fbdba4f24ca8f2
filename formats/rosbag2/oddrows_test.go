package rosbag2

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// timedBag is a single file with 40 messages whose times take 8 bytes.
func timedBag(t *testing.T) (path string, rows []storage.Message) {
	path = filepath.Join(t.TempDir(), "timed.db3")
	for i := range 40 {
		rows = append(rows, storage.Message{Topic: storage.TopicID(i % 2), LogTime: 1.7e18 + int64(i),
			Data: []byte{0, 1, 0, 0, byte(i)}})
	}
	write(t, path, storage.WriteOptions{}, sampleTopics()[:2], rows)
	return path, rows
}

// flipTime flips the one bit in the header of a row that makes its time, of 8 bytes, a
// floating-point number.
func flipTime(t *testing.T, path string, logTime int64) {
	t.Helper()
	file, err := os.ReadFile(path)
	check(t, err)
	stamp := binary.BigEndian.AppendUint64(nil, uint64(logTime))
	flipped := false
	for at := 0; ; at++ {
		i := bytes.Index(file[at:], stamp)
		if i < 0 {
			break
		}
		at += i
		if head := file[at-5 : at]; head[0] == 5 && head[1] == 0 && head[3] == 6 { // a row, not an entry of the index
			head[3], flipped = 7, true
		}
	}
	if !flipped {
		t.Fatal("there is no such row")
	}
	check(t, os.WriteFile(path, file, 0o666))
}

// TestTimeBit: where one bit makes a row's time a floating-point number, the index of
// times still has the true time.
func TestTimeBit(t *testing.T) {
	path, rows := timedBag(t)
	flipTime(t, path, rows[20].LogTime)
	got, info := readAll(t, path, storage.ReadOptions{})
	for i, m := range rows {
		if i >= len(got) || got[i].time != m.LogTime || !bytes.Equal(got[i].data, m.Data) {
			t.Fatalf("message %d of %d is not as it was", i, len(got))
		}
	}
	if !hasDamage(info, "row") || info.Lost != (storage.Lost{}) || info.Start != rows[0].LogTime || info.Messages != 40 {
		t.Errorf("lost %+v, start %d, %d messages, %v", info.Lost, info.Start, info.Messages, info.Warnings)
	}
	if _, _, err := try(t, path, true); err == nil {
		t.Error("strict reading finds nothing")
	}
}

func hasDamage(info *storage.Info, code string) bool {
	for _, w := range info.Warnings {
		if w.Code == code && w.Damage {
			return true
		}
	}
	return false
}

// TestOddValues: a message without a time in any place, or without data, is lost, and
// counted; it never gets another time or no data.
func TestOddValues(t *testing.T) {
	for name, c := range map[string]struct {
		change string
		lost   int
	}{
		"time NULL":    {"UPDATE messages SET timestamp = NULL WHERE id = 7", 1},
		"time text":    {"UPDATE messages SET timestamp = 'noon' WHERE id = 7", 1},
		"time blob":    {"UPDATE messages SET timestamp = x'0102' WHERE id = 7", 1},
		"time real":    {"UPDATE messages SET timestamp = 1.5 WHERE id = 7", 1},
		"data NULL":    {"UPDATE messages SET data = NULL WHERE id = 7", 1},
		"data integer": {"UPDATE messages SET data = 12345 WHERE id IN (7, 9)", 2},
	} {
		for _, index := range []bool{false, true} {
			path, rows := timedBag(t)
			sql := []string{
				"CREATE TABLE m2(id INTEGER PRIMARY KEY,topic_id INTEGER NOT NULL,timestamp INTEGER,data)",
				"INSERT INTO m2 SELECT * FROM messages",
				"DROP TABLE messages", "ALTER TABLE m2 RENAME TO messages", c.change,
			}
			if index {
				sql = append(sql, createIndex)
			}
			edit(t, path, sql...)
			got, info := readAll(t, path, storage.ReadOptions{})
			if len(got)+c.lost != len(rows) || info.Lost.Messages != int64(c.lost) || info.Lost.Uncounted ||
				!hasDamage(info, "row") || info.Messages > int64(len(rows)) {
				t.Errorf("%s: %d messages, lost %+v, %v", name, len(got), info.Lost, info.Warnings)
			}
			for _, m := range got {
				if m.time < rows[0].LogTime || len(m.data) != 5 {
					t.Errorf("%s: a message of %d bytes at %d", name, len(m.data), m.time)
				}
			}
			if info.Start != rows[0].LogTime || info.End != rows[39].LogTime {
				t.Errorf("%s: from %d to %d", name, info.Start, info.End)
			}
		}
	}
}
