package rosbag2_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/formats/rosbag2"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// TestManyTopics: a folder is read whose metadata.yaml is larger than 64 MB, as the
// writer makes it of some 100,000 topics. It takes half a minute.
func TestManyTopics(t *testing.T) {
	if os.Getenv("BAGCONV_LARGE") == "" {
		t.Skip("BAGCONV_LARGE is not set")
	}
	const topics = 200_000
	ctx, path := context.Background(), filepath.Join(t.TempDir(), "many")
	w, err := rosbag2.Format.Create(ctx, path, storage.WriteOptions{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range topics {
		id, err := w.CreateTopic(storage.Topic{Name: fmt.Sprintf("/topic_%06d", i), Type: "std_msgs/msg/Empty",
			Encoding: "cdr", QoS: make([]storage.QoS, 2)})
		if err == nil {
			err = w.Write(&storage.Message{Topic: id, LogTime: int64(i), PublishTime: int64(i), Data: []byte{0, 1, 0, 0, 0}})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(filepath.Join(path, "metadata.yaml")); err != nil || st.Size() < 64<<20 {
		t.Fatalf("metadata.yaml: %v, %v", st, err)
	}
	r, err := rosbag2.Format.Open(ctx, path, storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	info := storagetest.InfoOf(r)
	if len(info.Topics) != topics || info.Messages != topics || len(info.Warnings) != 0 {
		t.Errorf("%d topics, %d messages, warnings %v, %v", len(info.Topics), info.Messages, info.Warnings, err)
	}
}
