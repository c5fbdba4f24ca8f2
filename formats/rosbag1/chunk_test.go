package rosbag1

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// TestUnderstatedSize: a chunk that decompresses to far more than its header states takes
// memory in proportion to its bytes. What is read of it is there, and the rest is
// reported.
func TestUnderstatedSize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "zeros.bag")
	messages := make([]storage.Message, 100)
	for i := range messages {
		messages[i] = storage.Message{LogTime: int64(i+1) * 1e9, Data: make([]byte, 1<<20)}
	}
	write(t, path, storage.WriteOptions{Compression: "lz4", ChunkSize: 1 << 30}, messages)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(data, []byte("\x09\x00\x00\x00size="))
	binary.LittleEndian.PutUint32(data[at+9:], 1000)
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := openReader(context.Background(), path, storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var b storage.Batch
	if err := r.(storage.BlockReader).ReadBlock(context.Background(), 0, &b); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if n := len(b.Messages); n < 4 || n > 10 {
		t.Errorf("%d messages of 1 MB are read of a chunk of %d bytes", n, len(data))
	}
	if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 32 {
		t.Errorf("a bag of %d bytes takes %d MB", len(data), took)
	}
	info := storagetest.InfoOf(r)
	if info.Lost.Blocks == 0 || int(info.Lost.Messages)+len(b.Messages) != len(messages) || info.Lost.Uncounted {
		t.Errorf("reported are %+v, %v", info.Lost, err)
	}
}

// TestConstantMessage: a message of one value, of which bz2 makes a millionth, is read.
func TestConstantMessage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "map.bag")
	want := []storage.Message{{LogTime: 1e9, Data: make([]byte, maxOpen+16<<20)}}
	write(t, path, storage.WriteOptions{Compression: "bz2", NoSync: true}, want)
	r := open(t, path, storage.ReadOptions{Strict: true})
	if got := readAll(t, r); len(got) != 1 || !bytes.Equal(got[0].Data, want[0].Data) {
		t.Errorf("%d messages", len(got))
	}
}
