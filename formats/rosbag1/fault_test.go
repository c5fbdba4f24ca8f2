package rosbag1

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// A memFS is one file in memory, for reading.
type memFS struct {
	storage.FS
	b []byte
}

func (m memFS) Open(string) (storage.File, error) { return memFile{b: m.b}, nil }

type memFile struct {
	storage.File
	b []byte
}

func (f memFile) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off >= int64(len(f.b)) {
		return 0, io.EOF
	}
	n := copy(p, f.b[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f memFile) Stat() (os.FileInfo, error) { return memInfo{size: int64(len(f.b))}, nil }
func (memFile) Close() error                 { return nil }

type memInfo struct {
	os.FileInfo
	size int64
}

func (i memInfo) Size() int64 { return i.size }

// openBytes opens a bag in memory and reads all of it, block by block and by
// ReadNext, which must agree.
func openBytes(t testing.TB, b []byte, o storage.ReadOptions) ([]storage.Message, *storage.Info, error) {
	o.FS = memFS{b: b}
	r, err := openReader(context.Background(), "x.bag", o)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	before := info(t, r)
	var messages []storage.Message
	var batch storage.Batch
	blocks, _, _ := r.(storage.BlockReader).Blocks(context.Background(), nil)
	for i := range blocks {
		if err := r.(storage.BlockReader).ReadBlock(context.Background(), i, &batch); err != nil {
			if !o.Strict {
				t.Fatal(err)
			}
			return messages, nil, err
		}
		for _, m := range batch.Messages {
			if int(m.Topic) >= len(before.Topics) {
				t.Fatalf("message of topic %d, there are %d", m.Topic, len(before.Topics))
			}
			m.Data = append([]byte(nil), m.Data...)
			messages = append(messages, m)
		}
	}
	equalMessages(t, readAll(t, r), messages)
	after := info(t, r)
	if len(after.Topics) != len(before.Topics) {
		t.Fatal("topics have changed by reading")
	}
	return messages, after, nil
}

// smallBag returns the bytes of a bag with several chunks, and its messages.
func smallBag(t testing.TB, codec string) ([]byte, []storage.Message) {
	path := filepath.Join(t.TempDir(), "a.bag")
	messages := testMessages(24)
	o := storage.WriteOptions{Compression: codec, ChunkSize: 500, NoSync: true}
	if codec == "bz2" {
		o.ChunkSize = 1200 // fewer chunks: damaged ones take long to decode
	}
	write(t, path, o, messages)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b, messages
}

// TestLost counts what damage has cost.
func TestLost(t *testing.T) {
	whole, messages := smallBag(t, "none")
	damage := bytes.Clone(whole)
	copy(damage[5300:], make([]byte, 40))
	for name, b := range map[string][]byte{"damaged": damage, "cut": whole[:len(whole)*2/3]} {
		got, info, err := openBytes(t, b, storage.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if l := info.Lost; l.Bytes == 0 && l.Messages == 0 || l.Blocks == 0 || l.Blocks > 3 ||
			int(l.Messages) > len(messages)-len(got) {
			t.Errorf("%s: %d of %d messages, lost %+v: %v", name, len(got), len(messages), l, info.Warnings)
		}
	}
	if _, info, err := openBytes(t, whole, storage.ReadOptions{}); err != nil || info.Lost != (storage.Lost{}) {
		t.Errorf("of a sound bag %+v is lost, %v", info.Lost, err)
	}
}

// TestTruncated cuts a bag at every third byte, or at every one with BAGCONV_EXHAUSTIVE=1: the messages that
// are whole in the file come back, in order, and a warning reports the damage. TestTruncatedPlain has every byte.
func TestTruncated(t *testing.T) {
	for _, codec := range Format.Options.Choices(storage.NameCompression) {
		t.Run(codec, func(t *testing.T) {
			whole, messages := smallBag(t, codec)
			last := 0
			for n := 0; n < len(whole); n += samples.Pick(1, 3, 7) {
				got, i, err := openBytes(t, whole[:n], storage.ReadOptions{})
				if n < len(versionLine)+8+headerSize {
					if !errors.Is(err, storage.ErrTruncated) {
						t.Fatalf("cut at %d: error %v", n, err)
					}
					continue
				}
				if err != nil {
					t.Fatalf("cut at %d: %v", n, err)
				}
				if len(got) < last || len(got) < len(messages) && !damaged(i) {
					t.Fatalf("cut at %d: %d messages after %d, warnings %v", n, len(got), last, i.Warnings)
				}
				last = len(got)
				equalMessages(t, got, messages[:len(got)])
				if i.Messages != int64(len(got)) {
					t.Fatalf("cut at %d: info has %d messages, %d are read", n, i.Messages, len(got))
				}
				if _, _, err := openBytes(t, whole[:n], storage.ReadOptions{Strict: true}); (err != nil) != damaged(i) {
					t.Fatalf("cut at %d: strict reading: %v", n, err)
				}
				if l := i.Lost; !l.Uncounted && len(got)+int(l.Messages) != len(messages) || l.Bytes > int64(len(whole)) {
					t.Fatalf("cut at %d: %d messages of %d, lost %+v", n, len(got), len(messages), l)
				}
			}
			if last != len(messages) {
				t.Errorf("%d messages before the last cut, want %d", last, len(messages))
			}
		})
	}
}

// TestTruncatedPlain: salvage is exact to the byte: a plain message is there as soon
// as its last byte is.
func TestTruncatedPlain(t *testing.T) {
	whole, messages := smallBag(t, "none")
	r, err := openReader(context.Background(), "x.bag", storage.ReadOptions{FS: memFS{b: whole}})
	if err != nil {
		t.Fatal(err)
	}
	var ends []int64
	blocks, _, _ := r.(*reader).Blocks(context.Background(), nil)
	for i, b := range blocks {
		var batch storage.Batch
		if err := r.(*reader).ReadBlock(context.Background(), i, &batch); err != nil {
			t.Fatal(err)
		}
		var h header
		for p := 0; p < len(batch.Buf); p += h.headLen + int(h.dataLen) {
			if err := h.parseRecord(batch.Buf[p:]); err != nil {
				t.Fatal(err)
			}
			if h.op == opMessage {
				ends = append(ends, b.Offset+int64(chunkHead(compress.None)+p+h.headLen)+int64(h.dataLen))
			}
		}
	}
	for n := len(versionLine) + 8 + headerSize; n < len(whole); n++ {
		want := 0
		for want < len(ends) && ends[want] <= int64(n) {
			want++
		}
		got, _, err := openBytes(t, whole[:n], storage.ReadOptions{})
		if err != nil || len(got) != want {
			t.Fatalf("cut at %d: %d messages, want %d, %v", n, len(got), want, err)
		}
	}
	if len(ends) != len(messages) {
		t.Fatal(len(ends))
	}
}

// TestFlipped flips every byte of a bag, by turns in one of two ways, with BAGCONV_EXHAUSTIVE=1 in both (of a bz2
// one, whose damage takes long to decode, every ninth or third byte one way): nothing breaks, messages that are not
// touched come back, and what is lost is reported.
func TestFlipped(t *testing.T) {
	for _, codec := range Format.Options.Choices(storage.NameCompression) {
		t.Run(codec, func(t *testing.T) {
			whole, messages := smallBag(t, codec)
			intact := map[string]bool{}
			for _, m := range messages {
				intact[key(m)] = true
			}
			b := make([]byte, len(whole))
			masks := []byte{0x01, 0xff}
			if codec == "bz2" {
				masks = masks[1:]
			}
			for at := range whole {
				if testing.Short() && at%7 != 0 {
					continue
				}
				if at > 100 && at < len(versionLine)+8+headerSize && at%100 != 0 {
					continue // one blank is like another
				}
				if codec == "bz2" && at%samples.Pick(3, 9, 3) != 0 {
					continue
				}
				for k, mask := range masks {
					if len(masks) > 1 && at%2 != k && samples.Pick(0, 1, 0) == 1 {
						continue
					}
					copy(b, whole)
					b[at] ^= mask
					got, i, err := openBytes(t, b, storage.ReadOptions{})
					if err != nil {
						if at >= 4117 {
							t.Fatalf("byte %d: %v", at, err)
						}
						continue
					}
					if len(got) > len(messages) {
						t.Fatalf("byte %d ^ %#x: %d messages of %d", at, mask, len(got), len(messages))
					}
					same := 0
					for _, m := range got {
						if intact[key(m)] {
							same++
						}
					}
					if lost := len(messages) - len(got); lost > 0 && !damaged(i) || !i.Lost.Uncounted && int(i.Lost.Messages) != lost {
						t.Fatalf("byte %d ^ %#x: %d messages are lost, and the report is %+v: %v", at, mask, lost, i.Lost, i.Warnings)
					}
					if i.Lost.Uncounted && at >= len(versionLine)+8+headerSize {
						t.Fatalf("byte %d ^ %#x: the index counts what is lost, and the report is %+v: %v", at, mask, i.Lost, i.Warnings)
					}
					if codec == "none" && same < len(messages)-2 {
						t.Errorf("byte %d ^ %#x: only %d messages of %d are as they were: %v", at, mask, same, len(messages), i.Warnings)
					}
				}
			}
		})
	}
}

func key(m storage.Message) string {
	return string(rune(m.Topic)) + time.Unix(0, m.LogTime).String() + string(m.Data)
}

// TestHostileSizes opens bags whose lengths lie, at every third place, and at all with BAGCONV_EXHAUSTIVE=1 or without
// compression: memory stays small.
func TestHostileSizes(t *testing.T) {
	var before, after runtime.MemStats
	for _, codec := range Format.Options.Choices(storage.NameCompression) {
		whole, _ := smallBag(t, codec)
		step := samples.Pick(1, 3, 3)
		if codec == "none" {
			step = 1
		}
		for at := 4117; at+4 <= len(whole); at += step {
			b := append([]byte(nil), whole...)
			copy(b[at:], "\xf0\xff\xff\xff")
			runtime.ReadMemStats(&before)
			openBytes(t, b, storage.ReadOptions{})
			runtime.ReadMemStats(&after)
			if d := after.TotalAlloc - before.TotalAlloc; d > 64<<20 {
				t.Fatalf("%s: byte %d: %d bytes of memory", codec, at, d)
			}
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, codec := range Format.Options.Choices(storage.NameCompression) {
		whole, _ := smallBag(f, codec)
		f.Add(whole)
		f.Add(whole[:len(whole)*2/3])
		open := append([]byte(nil), whole...)
		copy(open[13:], (&writer{}).fileHeader(0)[13:])
		f.Add(open)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		openBytes(t, b, storage.ReadOptions{})
		openBytes(t, b, storage.ReadOptions{Strict: true})
	})
}

// TestVersionLine: a bag is found by its file header where the version line is
// damaged, and by its records if both are damaged and the caller names the format.
func TestVersionLine(t *testing.T) {
	whole, messages := smallBag(t, "lz4")
	for at := range versionLine {
		b := bytes.Clone(whole)
		b[at] ^= 0x20
		if !sniff(nil, "", b[:storage.SniffLen]) {
			t.Errorf("byte %d: not recognized", at)
		}
		got, i, err := openBytes(t, b, storage.ReadOptions{})
		if err != nil {
			t.Fatalf("byte %d: %v", at, err)
		}
		equalMessages(t, got, messages)
		if i.Lost != (storage.Lost{}) || damaged(i) {
			t.Errorf("byte %d: lost %+v, %v", at, i.Lost, i.Warnings)
		}
	}
	b := bytes.Clone(whole)
	copy(b, make([]byte, 100))
	if sniff(nil, "", b[:storage.SniffLen]) {
		t.Error("zeros are recognized as a bag")
	}
	got, i, err := openBytes(t, b, storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	equalMessages(t, got, messages)
	if i.Lost.Messages != 0 || i.Lost.Uncounted {
		t.Errorf("lost %+v, %v", i.Lost, i.Warnings)
	}
	if _, _, err := openBytes(t, make([]byte, 9000), storage.ReadOptions{}); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("zeros: %v", err)
	}
}
