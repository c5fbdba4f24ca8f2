package ulog

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// TestEach: what messages of all kinds become.
func TestEach(t *testing.T) {
	x := mustRead(t, each())
	var got []string
	for i, m := range x.messages {
		got = append(got, x.name(i))
		if m.PublishTime != m.LogTime || len(m.Data) < 4 || string(m.Data[:4]) != "\x00\x01\x00\x00" {
			t.Errorf("message %d: %+v", i, m)
		}
	}
	want := []string{
		"/px4/parameter_events", "/px4/parameter_events", "/px4/parameter_defaults", "/px4/vehicle_attitude",
		"/px4/vehicle_attitude_1",
		"/px4/esc_status", "/px4/log", "/px4/log", "/px4/parameter_events", "/px4/vehicle_attitude",
	}
	if !slices.Equal(got, want) {
		t.Errorf("topics of messages: %q", got)
	}
	for i, ns := range []int64{2e9, 2e9, 2e9, 2_000_100_000, 2_000_200_000, 2_000_300_000, 2_000_400_000, 2_000_500_000,
		2_000_500_000, 2_000_600_000} {
		if x.messages[i].LogTime != ns {
			t.Errorf("message %d has the time %d, want %d", i, x.messages[i].LogTime, ns)
		}
	}
	const esc = "\x00\x01\x00\x00" + "\xac\x85\x1e\x00\x00\x00\x00\x00" + "\x09\x00\x00\x00\x00\x00\x00\x00" +
		"\x00\x00\x00\x00\x00\x00\xf8\x3f" + "\xfd\xff\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00\x00\x00\x00\x04\x40" +
		"\x04\x00" + "hello"
	if string(x.messages[5].Data) != esc {
		t.Errorf("esc_status is %q", x.messages[5].Data)
	}
	if !slices.Equal(x.codes(), []string{"unknown"}) || !x.damage.Lost.Uncounted {
		t.Errorf("warnings %v", x.damage)
	}
	wantInfo := map[string]string{"sys_name": "PX4", "time_ref_utc": "-3600", "pair": "1.5,-2", "raw": "01fe"}
	if !maps.Equal(x.info.Metadata, wantInfo) {
		t.Errorf("metadata %q", x.info.Metadata)
	}
}

// TestDefinition: the text that a topic gets, with what is nested.
func TestDefinition(t *testing.T) {
	x := mustRead(t, each())
	i := slices.IndexFunc(x.info.Topics, func(t storage.TopicInfo) bool { return t.Name == "/px4/esc_status" })
	topic := x.info.Topics[i]
	const want = "uint64 timestamp\nuint8 count\nEscReport[2] esc\nchar[5] text\n" + separator +
		"MSG: px4_msgs/EscReport\nfloat64 volt\nint16 rpm\n"
	if topic.Type != "px4_msgs/msg/EscStatus" || topic.Encoding != "cdr" || topic.Schema.Encoding != "ros2msg" ||
		string(topic.Schema.Data) != want {
		t.Errorf("%+v has the text %q", topic, topic.Schema.Data)
	}
}

// TestRosName: types are named as PX4's own are, and each format has another name.
func TestRosName(t *testing.T) {
	for name, want := range map[string]string{"vehicle_attitude": "VehicleAttitude", "px4io_status": "Px4ioStatus",
		"a/b-C": "ABC", "3d": "M3d", "_": "M"} {
		if got := rosName(name); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
	var all types
	for _, name := range []string{"a_b", "aB", "AB", "a_b"} {
		all.add(&structure{name: name})
	}
	if all.byName["a_b"].ros != "AB" || all.byName["aB"].ros != "AB3" && all.byName["aB"].ros != "AB2" ||
		all.byName["AB"].ros == all.byName["aB"].ros {
		t.Errorf("%+v", all.byROS)
	}
}

// TestExtras: the pieces of a multi information are joined.
func TestExtras(t *testing.T) {
	r, err := openReader(context.Background(), "x.ulg", storage.ReadOptions{FS: memory(each().b)})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	_, records, err := storagetest.ReadExtras(r)
	if err != nil || len(records) != 1 || records[0].Name != "perf" || !maps.Equal(records[0].Values,
		map[string]string{"0": "one two", "1": "3"}) {
		t.Errorf("%+v, %v", records, err)
	}
}

// TestDropouts: what the logger has lost is one warning with the sum of the times, and no damage.
func TestDropouts(t *testing.T) {
	l := newLog(0).add(opFormat, "a:uint64_t timestamp;").subscribe(0, 0, "a").data(0, 1)
	at := int64(len(l.b))
	l.add(opDropout, uint16(20)).data(0, 2).add(opDropout, uint16(1000)).data(0, 3)
	x := mustRead(t, l)
	if len(x.messages) != 3 || !slices.Equal(x.codes(), []string{"dropout"}) {
		t.Fatalf("%d messages, %v", len(x.messages), x.damage)
	}
	w := x.damage.Warnings[0]
	if w.Damage || int64(w.Offset) != at || !strings.Contains(w.Message, "2 dropouts, 1.02s in all") ||
		x.damage.Lost != (storage.Lost{Uncounted: true}) {
		t.Errorf("%+v, lost %+v", w, x.damage.Lost)
	}
	if _, err := readBytes(t, l.b, storage.ReadOptions{Strict: true}); err != nil {
		t.Error(err)
	}
}

// TestAppended: data that was appended after a message that is cut is read, and the cut one is a loss.
func TestAppended(t *testing.T) {
	body := func(l *log) *log {
		return l.add(opFormat, "a:uint64_t timestamp;").subscribe(0, 0, "a").data(0, 1).data(0, 2)
	}
	whole := len(body(newLog(0).flags(0, 0)).b)
	for cut := range 14 {
		l := body(newLog(0).flags(0, 1, uint64(whole-cut)))
		l.b = l.b[:whole-cut]
		l.data(0, 3)
		x := mustRead(t, l)
		want := 3
		if cut > 0 {
			want = 2
		}
		if got := len(x.messages); got != want && cut < 13 || cut == 13 && got != 2 {
			t.Errorf("cut by %d: %d messages", cut, got)
		}
		if codes := x.codes(); cut > 0 && cut < 13 && !slices.Equal(codes, []string{"truncated"}) ||
			(cut == 0 || cut == 13) && len(codes) > 0 {
			t.Errorf("cut by %d: %v", cut, codes)
		}
		if x.messages[len(x.messages)-1].LogTime != 3000 {
			t.Errorf("cut by %d: what was appended is not read", cut)
		}
	}
	far := body(newLog(0).flags(0, 1, 1<<40, 5))
	if x := mustRead(t, far); len(x.messages) != 2 || !slices.Contains(x.codes(), "appended") {
		t.Errorf("offsets outside of the file: %d messages, %v", len(x.messages), x.codes())
	}
}

// TestRefused: files that must not be read, and those that are none.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		l    *log
		want error
	}{
		"unknown flag":     {newLog(0).flags(0, 2), storage.ErrUnsupported},
		"ends in the head": {&log{b: magic}, storage.ErrTruncated},
		"no magic":         {&log{b: []byte("ULog, or not")}, storage.ErrCorrupt},
	} {
		if _, err := readBytes(t, c.l.b, storage.ReadOptions{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTimes: a time that does not fit is that of the message before, and a format without a time has it, too.
func TestTimes(t *testing.T) {
	l := newLog(5).add(opFormat, "a:uint64_t timestamp;").add(opFormat, "b:uint32_t timestamp;").subscribe(0, 0,
		"a").subscribe(0, 1, "b")
	l.data(0, 7).add(opData, uint16(1), uint32(99)).data(0, math.MaxUint64).data(0, 9)
	x := mustRead(t, l)
	var got []int64
	for _, m := range x.messages {
		got = append(got, m.LogTime)
	}
	if !slices.Equal(got, []int64{7000, 7000, 7000, 9000}) || !slices.Equal(x.codes(), []string{"time"}) {
		t.Errorf("times %v, %v", got, x.codes())
	}
}

// TestFormats: formats that cannot be read take their topics with them, and no others.
func TestFormats(t *testing.T) {
	for name, format := range map[string]string{
		"itself": "x:uint64_t timestamp;x y;", "missing": "x:uint64_t timestamp;nowhere y;",
		"large":     "x:uint64_t[65000] timestamp;",
		"no fields": "x:", "count": "x:uint8_t[0] a;", "bracket": "x:uint8_t[3 a;", "twice": "x:uint8_t a;uint8_t a;",
		"name":  "x:uint8_t a-b;",
		"blank": "x:uint8_t;",
	} {
		l := newLog(0).add(opFormat, "a:uint64_t timestamp;").add(opFormat, format).subscribe(0, 0, "a").subscribe(0, 1, "x")
		l.data(0, 1).data(1, 2).data(1, 3).data(0, 4)
		x := mustRead(t, l)
		if len(x.messages) != 2 || !slices.Contains(x.codes(), "format") || x.damage.Lost.Messages != 2 {
			t.Errorf("%s: %d messages, %v", name, len(x.messages), x.damage)
		}
	}
}

// TestDefinitionsBounded: definitions that repeat each other do not take memory out of proportion.
func TestDefinitionsBounded(t *testing.T) {
	l := newLog(0)
	fields := strings.Builder{}
	for i := range 2000 {
		name := "n" + strings.Repeat("x", i%200) + string(rune('a'+i/200))
		l.add(opFormat, name+":uint8_t "+strings.Repeat("y", 100)+";")
		if fields.Len() < 60000 {
			fields.WriteString(name + " " + name + ";")
		}
	}
	l.add(opFormat, "all:"+fields.String())
	for i := range 4000 {
		name := "t" + strings.Repeat("x", i/100) + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) +
			string(rune('a'+i/676))
		l.add(opFormat, name+":uint64_t timestamp;all all;").subscribe(0, uint16(i), name)
	}
	x := mustRead(t, l)
	total := 0
	for _, topic := range x.info.Topics {
		total += len(topic.Schema.Data)
	}
	if total > maxTexts || !slices.Contains(x.codes(), "format") {
		t.Errorf("%d topics with %d bytes of definitions; %v", len(x.info.Topics), total, x.codes())
	}
}

// TestQueries: the n-th message and those of a range are found, in the order of time.
func TestQueries(t *testing.T) {
	r, err := openReader(context.Background(), "x.ulg", storage.ReadOptions{FS: memory(sample(20_000).b)})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	storagetest.CheckQueries(t, r, 1, 100)
}

// TestUnstamped: messages with the time 0 keep it, and are reported once.
func TestUnstamped(t *testing.T) {
	l := newLog(5).add(opFormat, "a:uint64_t timestamp;").subscribe(0, 0, "a").data(0, 0).data(0, 7).data(0, 0)
	x := mustRead(t, l)
	if len(x.messages) != 3 || x.messages[2].LogTime != 0 || !slices.Equal(x.codes(), []string{"unstamped"}) {
		t.Errorf("%d messages, %v", len(x.messages), x.damage)
	}
}
