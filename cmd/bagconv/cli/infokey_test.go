package cli

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/storage"
)

// FuzzKey: no path panics, and one that is taken can be followed.
func FuzzKey(f *testing.F) {
	f.Add("topics[0].name")
	f.Add("metadata.a.b")
	f.Add("topics.qos[1].depth")
	info := recording.Describe(
		&storage.Info{Topics: []storage.TopicInfo{{Topic: storage.Topic{Name: "/a", QoS: make([]storage.QoS, 2)}}}}, nil)
	f.Fuzz(func(t *testing.T, path string) {
		steps, err := parseKey(path)
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := writeKey(&out, "", reflect.ValueOf(info), steps); err != nil {
			t.Error(err)
		}
	})
}
