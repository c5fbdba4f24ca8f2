package export

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/export/columns"
	"github.com/bagconv/bagconv/internal/export/tables"
	"github.com/bagconv/bagconv/storage"
)

// kept is a table whose rows stay in memory, as text.
type kept struct {
	rows []string
	part int // rows of the largest part
}

func (k *kept) Encode(b *columns.Batch) (tables.Part, error) {
	k.part = max(k.part, b.Len())
	cols := b.Columns()
	for i := range b.Len() {
		var cells []string
		for _, c := range cols {
			cells = append(cells, cellOf(c, i))
		}
		k.rows = append(k.rows, strings.Join(cells, " "))
	}
	return nil, nil
}

func (k *kept) Append(tables.Part) error { return nil }

func (k *kept) Close() error { return nil }

// cellOf returns a value as text: times in ms, the field data of a struct, - for null.
func cellOf(c *columns.Column, i int) string {
	switch {
	case c.Null(i):
		return "-"
	case c.Field.Kind == columns.Time:
		return fmt.Sprint(int64(binary.LittleEndian.Uint64(c.Values[8*i:])) / 1e6)
	case c.Field.Kind == columns.Float64:
		return fmt.Sprint(math.Float64frombits(binary.LittleEndian.Uint64(c.Values[8*i:])))
	}
	return cellOf(c.Children[len(c.Children)-1], i)
}

// joined writes messages of two topics with a float each, as "a10=1": of /a, at 10 ms, the value 1.
func joined(t *testing.T, set joinSettings, messages ...string) []string {
	t.Helper()
	rows, _ := joinedIn(t, maxBlock, set, messages...)
	return rows.rows
}

// joinedIn is joined with blocks of a size.
func joinedIn(t *testing.T, block int, set joinSettings, messages ...string) (*kept, *writer) {
	t.Helper()
	table := &kept{}
	k := &kind{ext: ".t", open: func(io.Writer, []columns.Field, []tables.KeyValue, tables.Options) (tables.Table, error) {
		return table, nil
	}}
	w := &writer{kind: k, names: newNames(), place: &stream{out: io.Discard}, joined: &joiner{set: set}, blockBytes: block}
	ids := map[string]storage.TopicID{}
	for _, name := range []string{"a", "b"} {
		id, err := w.CreateTopic(storage.Topic{Name: "/" + name, Type: "std_msgs/Float64", Encoding: "ros1",
			Schema: storage.Schema{Encoding: "ros1msg", Data: []byte("float64 data\n")}})
		if err != nil {
			t.Fatal(err)
		}
		ids[name] = id
	}
	for _, text := range messages {
		var ms int64
		var x float64
		if _, err := fmt.Sscanf(text[1:], "%d=%g", &ms, &x); err != nil {
			t.Fatal(text, err)
		}
		m := &storage.Message{Topic: ids[text[:1]], LogTime: ms * 1e6, Data: binary.LittleEndian.AppendUint64(nil,
			math.Float64bits(x))}
		if err := w.Write(m); err != nil {
			t.Fatal(err)
		}
		if kept := w.joined.keptBytes(); kept > 8*block+len(ids)*len(m.Data) {
			t.Fatalf("%s: %d bytes are kept", text, kept)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	return table, w
}

// TestJoinMemory: neither the rows of a high rate, nor large messages, nor a topic that is silent for long fill the
// memory.
func TestJoinMemory(t *testing.T) {
	table, _ := joinedIn(t, maxBlock, joinSettings{period: 1, method: "last"}, "a0=1", "a1=2")
	if len(table.rows) != 1e6+1 || table.part > maxRows {
		t.Errorf("%d rows, %d in a part", len(table.rows), table.part)
	}
	var all []string
	for i := range 2000 {
		all = append(all, fmt.Sprintf("a%d=%d", i, i))
	}
	for _, method := range []string{"last", "nearest", "linear"} {
		table, w := joinedIn(t, 64, joinSettings{period: 1e6, method: method}, append([]string{"b0=5"}, all...)...)
		if len(table.rows) != 2000 || table.part > 8 {
			t.Errorf("%s: %d rows, %d in a part", method, len(table.rows), table.part)
		}
		if early := len(w.Losses()) > 0; early != (method != "last") {
			t.Errorf("%s: losses: %+v", method, w.Losses())
		}
	}
}

// TestJoin: the rows of a joined table, each as the time in ms and the values of /a and /b.
func TestJoin(t *testing.T) {
	some := []string{"a0=0", "b5=50", "a10=1", "a20=2", "b25=250", "a30=3", "a40=4"}
	for _, c := range []struct {
		name     string
		set      joinSettings
		messages []string
		want     string
	}{
		{"last", joinSettings{period: 10e6, method: "last"}, some, "0 0 -, 10 1 50, 20 2 50, 30 3 250, 40 4 250"},
		{"nearest", joinSettings{period: 10e6, method: "nearest"}, some, "0 0 50, 10 1 50, 20 2 250, 30 3 250, 40 4 250"},
		{"linear", joinSettings{period: 10e6, method: "linear"}, some, "0 0 -, 10 1 100, 20 2 200, 30 3 -, 40 4 -"},
		{"a gap", joinSettings{period: 10e6, method: "last", maxGap: 6e6}, some, "0 0 -, 10 1 50, 20 2 -, 30 3 250, 40 4 -"},
		{"a clock", joinSettings{clock: "/b", method: "last"}, some, "5 0 50, 25 2 250"},
		{"a clock, linear", joinSettings{clock: "/b", method: "linear"}, some, "5 0.5 50, 25 2.5 250"},
		{"equal times", joinSettings{period: 10e6, method: "last"}, []string{"a0=1", "b0=2", "a0=3"}, "0 3 2"},
		{"an odd rate", joinSettings{period: 7e6, method: "last"}, []string{"a1=1", "a20=2", "b21=3"},
			"1 1 -, 8 1 -, 15 1 -"},
		{"one message", joinSettings{period: 10e6, method: "linear"}, []string{"a3=1"}, "3 1 -"},
		{"no message", joinSettings{period: 10e6, method: "last"}, nil, ""},
	} {
		if got := strings.Join(joined(t, c.set, c.messages...), ", "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestJoinIdle: a jump of the clock by a day makes no row for each tick of it.
func TestJoinIdle(t *testing.T) {
	for _, method := range []string{"last", "nearest", "linear"} {
		rows := joined(t, joinSettings{period: 10e6, method: method}, "a0=1", "b0=2", "a86400000=3", "b86400010=4")
		if n := len(rows); n < 3 || n > 1100 {
			t.Errorf("%s: %d rows", method, n)
		}
		if last := rows[len(rows)-1]; !strings.HasPrefix(last, "86400010 ") {
			t.Errorf("%s: the last row is %s", method, last)
		}
	}
}

// TestJoinLong: many messages give the same rows as few, although those are forgotten that no row needs.
func TestJoinLong(t *testing.T) {
	var all []string
	for i := range 5000 {
		all = append(all, fmt.Sprintf("a%d=%d", 10*i, i))
		if i%7 == 0 {
			all = append(all, fmt.Sprintf("b%d=%d", 10*i+3, i))
		}
	}
	rows := joined(t, joinSettings{period: 10e6, method: "last"}, all...)
	if len(rows) != 5000 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, row := range rows {
		b := fmt.Sprint((i - 1) / 7 * 7)
		if i == 0 {
			b = "-"
		}
		if want := fmt.Sprintf("%d %d %s", 10*i, i, b); row != want {
			t.Fatalf("row %d: %s, want %s", i, row, want)
		}
	}
}

// TestJoinOrder: messages that go back in time are refused.
func TestJoinOrder(t *testing.T) {
	j := &joiner{set: joinSettings{period: 10e6, method: "last"}, started: true, last: 5}
	if err := j.message(&joinTopic{}, &storage.Message{LogTime: 4}); err == nil {
		t.Error("no error")
	}
}

func TestPeriod(t *testing.T) {
	for text, want := range map[string]int64{"10Hz": 1e8, "30 hz": 33333333, "0.5Hz": 2e9, "100ms": 1e8, "0Hz": 0,
		"-1Hz": 0, "NaNHz": 0, "x": 0, "1e30Hz": 0, "1GHz": 1, "2 kHz": 5e5, "1MHz": 1e3, "1mHz": 0, "2GHz": 0, "Hz": 0,
		"kHz": 0} {
		if got := periodOf(text); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
