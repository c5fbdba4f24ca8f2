package convert_test

import (
	"context"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
)

// TestStoredParts: parts of a record with large messages, which reach over several blocks, are of
// about equal size.
func TestStoredParts(t *testing.T) {
	ctx := context.Background()
	path := t.TempDir() + "/large.record"
	w, err := all.Registry().Lookup("record").Create(ctx, path, storage.WriteOptions{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	const messages, size = 24, 4 << 20
	data := make([]byte, size)
	topic, err := w.CreateTopic(storage.Topic{Name: "/image", Type: "apollo.Image", Encoding: "protobuf"})
	for i := int64(0); i < messages && err == nil; i++ {
		err = w.Write(&storage.Message{Topic: topic, LogTime: 1 + i, PublishTime: 1 + i, Data: data})
	}
	if err == nil {
		err = w.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
	job := jobOf(t, path, nil)
	windows, _, err := convert.Windows(ctx, &job, convert.Cut{ReadSize: 2 * size})
	if n := len(windows); err != nil || n < messages/3 || n > messages {
		t.Errorf("%d parts of %d messages, each of which is half a part: %v", n, messages, err)
	}
}
