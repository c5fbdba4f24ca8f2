package engine_test

import (
	"errors"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/bagconv/bagconv/convert/engine"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
)

// TestScanIndex: the index of a recording has the messages and the timeline that reading all of it finds.
func TestScanIndex(t *testing.T) {
	for _, name := range []string{"demo.bag", "demo.record", "recordings/rosbag2/v9-sqlite", "recordings/rosbag2/v9-mcap/run"} {
		open := func() storage.Reader {
			r, err := all.Registry().Open(t.Context(), filepath.Join("..", "..", "testdata", name), storage.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = r.Close() })
			return r
		}
		want, err := engine.Scan(t.Context(), open(), 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := engine.ScanIndex(t.Context(), open())
		if err != nil {
			t.Fatal(name, err)
		}
		if got.Messages != want.Messages || got.Messages == 0 || got.Start != want.Start || got.End != want.End || !reflect.DeepEqual(got.Timeline, want.Timeline) {
			t.Errorf("%s: %d messages, %+v; want %d, %+v", name, got.Messages, got.Timeline, want.Messages, want.Timeline)
		}
	}
	if _, err := engine.ScanIndex(t.Context(), struct{ storage.Reader }{}); !errors.Is(err, storage.ErrUnsupported) {
		t.Error(err)
	}
}
