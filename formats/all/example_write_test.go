package all_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
)

// Writing: topics first, then messages that are serialized already. The file
// stands under its name when Commit has succeeded, and not before.
func ExampleRegistry_write() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "bagconv-example-*")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "hello.bag")

	if err := writeHello(ctx, path); err != nil {
		panic(err)
	}
	r, err := all.Open(ctx, path, storage.ReadOptions{})
	if err != nil {
		panic(err)
	}
	defer r.Close()
	m, err := r.ReadNext()
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d %q\n", m.LogTime, m.Data)
	// Output: 1700000000000000000 "\x05\x00\x00\x00hello"
}

func writeHello(ctx context.Context, path string) error {
	w, err := all.Registry().Lookup("bag").Create(ctx, path, storage.WriteOptions{Compression: "lz4"})
	if err != nil {
		return err
	}
	defer w.Close() // throws away what is not committed
	topic, err := w.CreateTopic(storage.Topic{
		Name: "/chatter", Type: "std_msgs/String", Encoding: "ros1",
		Schema:   storage.Schema{Encoding: "ros1msg", Data: []byte("string data\n")},
		Metadata: map[string]string{storage.MetaMD5Sum: "992ce8a1687cec8c8bd883ec73ca41d1"},
	})
	if err == nil {
		const text = "hello"
		data := binary.LittleEndian.AppendUint32(nil, uint32(len(text)))
		data = append(data, text...)
		at := int64(1_700_000_000_000_000_000)
		err = w.Write(&storage.Message{Topic: topic, LogTime: at, PublishTime: at, Data: data})
	}
	if err == nil {
		err = w.Commit()
	}
	return err
}
