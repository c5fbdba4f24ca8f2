package ulog

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// A log is a ULog file in the making.
type log struct {
	b  []byte
	at []int // where messages begin, and the end
}

// newLog begins a log that began at a time, in microseconds.
func newLog(start uint64) *log {
	l := &log{b: binary.LittleEndian.AppendUint64(append(append([]byte{}, magic...), 1), start)}
	l.at = []int{len(l.b)}
	return l
}

// add appends a message of parts: numbers are little endian, texts and bytes as they are.
func (l *log) add(op byte, parts ...any) *log {
	var body []byte
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			body = append(body, p...)
		default:
			var err error
			if body, err = binary.Append(body, binary.LittleEndian, p); err != nil {
				panic(err)
			}
		}
	}
	l.b = append(binary.LittleEndian.AppendUint16(l.b, uint16(len(body))), op)
	l.b = append(l.b, body...)
	l.at = append(l.at, len(l.b))
	return l
}

// key appends I, M, P or Q: prefix is what stands before the key.
func (l *log) key(op byte, prefix []byte, key string, value any) *log {
	return l.add(op, prefix, uint8(len(key)), key, value)
}

func (l *log) subscribe(instance uint8, id uint16, name string) *log {
	return l.add(opSubscription, instance, id, name)
}

func (l *log) data(id uint16, us uint64, rest ...any) *log {
	return l.add(opData, append([]any{id, us}, rest...)...)
}

func (l *log) sync() *log { return l.add(opSync, syncMagic) }

// flags is a B with the offsets of appended data.
func (l *log) flags(compat, incompat uint8, offsets ...uint64) *log {
	var c, i [8]uint8
	c[0], i[0] = compat, incompat
	offsets = append(offsets, 0, 0, 0)
	return l.add(opFlags, c, i, offsets[:3])
}

// each is a small log with messages of all kinds.
func each() *log {
	l := newLog(2_000_000).flags(1, 0)
	l.add(opFormat, "vehicle_attitude:uint64_t timestamp;float[4] q;uint8_t n;bool ok;uint8_t[2] _padding0;")
	l.add(opFormat, "esc_status:uint64_t timestamp;uint8_t count;esc_report[2] esc;char[5] text;")
	l.add(opFormat, "esc_report:double volt;int16_t rpm;uint8_t[6] _padding0;")
	l.key(opInfo, nil, "char[3] sys_name", "PX4").key(opInfo, nil, "int32_t time_ref_utc", int32(-3600))
	l.key(opInfo, nil, "float[2] pair", []float32{1.5, -2}).key(opInfo, nil, "uint8_t[2] raw", "\x01\xfe")
	l.key(opMulti, []byte{0}, "char[3] perf", "one").key(opMulti, []byte{1}, "char[4] perf", " two").key(opMulti,
		[]byte{0}, "char[1] perf", "3")
	l.key(opParameter, nil, "int32_t SYS_ID", int32(-7)).key(opParameter, nil, "float ROLL_P", float32(6.5))
	l.key(opDefault, []byte{3}, "float ROLL_P", float32(6))
	l.subscribe(0, 0, "vehicle_attitude").subscribe(1, 1, "vehicle_attitude").subscribe(0, 2, "esc_status")
	l.data(0, 2_000_100, []float32{1, 0, 0, -0.5}, uint8(1), true)
	l.data(1, 2_000_200, []float32{0, 1, 0, 0.5}, uint8(2), false, [2]byte{})
	l.sync()
	l.data(2, 2_000_300, uint8(9), 1.5, int16(-3), [6]byte{}, 2.5, int16(4), [6]byte{}, "hello")
	l.add(opText, uint8('4'), uint64(2_000_400), "low battery")
	l.add(opTagged, uint8('6'), uint16(3), uint64(2_000_500), "tagged")
	l.key(opParameter, nil, "float ROLL_P", float32(7))
	l.add('z', "a kind of later versions")
	l.add(opEnd, uint16(1))
	l.data(0, 2_000_600, []float32{1, 2, 3, 4}, uint8(3), true)
	return l
}

// sample is a log without oddities of n messages of data, so that it has several blocks.
func sample(n int) *log {
	l := newLog(1_000_000)
	l.add(opFormat, "vehicle_attitude:uint64_t timestamp;float[4] q;uint8_t n;")
	l.add(opFormat, "sensor_baro:uint64_t timestamp;float pressure;uint32_t _padding0;")
	l.key(opInfo, nil, "char[3] sys_name", "PX4").key(opMulti, []byte{0}, "char[3] perf", "one")
	l.key(opParameter, nil, "int32_t SYS_ID", int32(1))
	l.subscribe(0, 0, "vehicle_attitude").subscribe(1, 1, "sensor_baro")
	for i := range n {
		us := 1_000_000 + uint64(i)*100
		switch i % 50 {
		case 7:
			l.data(1, us-150, float32(i))
		case 9:
			l.add(opText, uint8('6'), us, "text")
		case 11:
			l.key(opParameter, nil, "float ROLL_P", float32(i))
		case 13:
			l.sync()
		default:
			l.data(0, us, []float32{float32(i), 0, 0, 1}, uint8(i))
		}
	}
	return l
}

// save writes a log to a file.
func (l *log) save(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.ulg")
	if err := os.WriteFile(path, l.b, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// A read is what a reader returns.
type read struct {
	info     *storage.Info
	messages []storage.Message
	damage   storage.Damage
}

// name returns the name of the topic of message i.
func (r *read) name(i int) string { return r.info.Topics[r.messages[i].Topic].Name }

// codes returns the codes of the warnings.
func (r *read) codes() (list []string) {
	for _, w := range r.damage.Warnings {
		list = append(list, w.Code)
	}
	return list
}

// readBytes reads a file that has the bytes, and compares its two ways of reading.
func readBytes(t testing.TB, b []byte, o storage.ReadOptions) (*read, error) {
	t.Helper()
	o.FS = memory(b)
	r, err := openReader(context.Background(), "x.ulg", o)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	x := &read{}
	x.info = r.Info()
	if x.messages, err = storagetest.ReadAll(r); err != nil {
		t.Fatal(err)
	}
	blocks, err := storagetest.ReadBlocks(r.(storage.BlockReader), 2)
	if err != nil {
		t.Fatal(err)
	}
	if d := storagetest.Diff(blocks, x.messages); d != "" {
		t.Fatalf("ReadBlock: %s", d)
	}
	x.damage = r.Damage()
	if int64(len(x.messages)) != x.info.Messages {
		t.Fatalf("%d messages, info says %d", len(x.messages), x.info.Messages)
	}
	return x, nil
}

// mustRead reads a log that can be read.
func mustRead(t testing.TB, l *log) *read {
	t.Helper()
	x, err := readBytes(t, l.b, storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}
