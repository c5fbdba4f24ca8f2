package convert_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
)

// TestConstantMessage: a large message of one value, which becomes ten thousand times smaller, is read
// back of every format and codec.
func TestConstantMessage(t *testing.T) {
	source := filepath.Join(t.TempDir(), "in.bag")
	w, err := all.Registry().Lookup("bag").Create(t.Context(), source, storage.WriteOptions{NoSync: true,
		Compression: "none"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	id, err := w.CreateTopic(storage.Topic{Name: "/map", Type: "acme/Map", Encoding: "ros1",
		Schema: storage.Schema{Encoding: "ros1msg", Data: []byte("uint8[] data\n")}})
	if err != nil {
		t.Fatal(err)
	}
	size := 90 << 20
	if testing.Short() {
		size = 20 << 20 // with the race detector, all take more than a minute
	}
	data := make([]byte, 4+size)
	binary.LittleEndian.PutUint32(data, uint32(size))
	if err := w.Write(&storage.Message{Topic: id, LogTime: 1e9, PublishTime: 1e9, Data: data}); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	for _, o := range []struct{ format, name, compression, mode string }{
		{"bag", "o.bag", "lz4", ""}, {"bag", "o.bag", "bz2", ""}, {"mcap", "o.mcap", "lz4", ""}, {"mcap", "o.mcap", "zstd",
			""},
		{"db3", "o", "zstd", "message"}, {"db3", "o", "zstd", "file"}, {"ros2mcap", "o", "zstd", "file"}, {"record",
			"o.record", "", ""},
	} {
		t.Run(o.format+o.compression+o.mode, func(t *testing.T) {
			job := jobOf(t, source, func(j *convert.Job) {
				j.Sink, j.SinkFormat = filepath.Join(t.TempDir(), o.name), all.Registry().Lookup(o.format)
				j.Write.Compression, j.Write.ChunkSize = o.compression, 0
				if o.mode != "" {
					j.Write.Values = map[string]string{storage.NameCompressionMode: o.mode}
				}
			})
			if _, err := convert.Run(t.Context(), job); err != nil {
				t.Fatal(err)
			}
			r, err := all.Registry().Open(context.Background(), job.Sink, storage.ReadOptions{Strict: true})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			m, err := r.ReadNext()
			if err != nil || len(m.Data) < size {
				t.Error(fmt.Sprint("the message cannot be read back: ", err))
			}
		})
	}
}
