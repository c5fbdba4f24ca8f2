package mapping

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bagconv/bagconv/storage"
)

// TestApolloLosses: what a standard ROS type does not carry of one of Apollo's is
// said, and unknown fields are counted as for generated types.
func TestApolloLosses(t *testing.T) {
	foreign := protowire.AppendVarint(protowire.AppendTag(nil, 777, protowire.VarintType), 1)
	for _, c := range []struct {
		typ   string
		how   ProtoTypes
		codes []string
	}{
		{"apollo.drivers.PointCloud", ProtoMapped, []string{"apollo-fields", "point-times", "presence"}},
		{"apollo.drivers.PointCloud", ProtoGenerated, []string{"presence"}},
		{"apollo.drivers.Image", ProtoMapped, []string{"apollo-fields", "presence"}},
	} {
		topic := &storage.Topic{Name: "/t", Type: c.typ, Encoding: "protobuf"}
		res, err := New(Options{Encoding: "cdr", Distro: "humble", SourceDistro: "humble", ProtoTypes: c.how}).Map(topic)
		if err != nil {
			t.Fatal(err)
		}
		var codes []string
		for _, r := range res.Remarks {
			if r.Loss {
				codes = append(codes, r.Code)
			}
			if r.Loss != r.ByDesign {
				t.Errorf("%s: %s is not by design", c.typ, r.Code)
			}
		}
		if !slices.Equal(codes, c.codes) {
			t.Errorf("%s: losses %q, want %q", c.typ, codes, c.codes)
		}
		n, ok := res.Plan.(Counter)
		if !ok {
			t.Fatalf("%s: the program does not count", c.typ)
		}
		for _, msg := range [][]byte{nil, foreign, foreign} {
			if _, err := AppendAt(res.Plan, nil, msg, 1); err != nil {
				t.Fatal(err)
			}
		}
		if n.Unknown() != 2 {
			t.Errorf("%s: %d messages with unknown fields, want 2", c.typ, n.Unknown())
		}
		if n.Reset(); n.Unknown() != 0 {
			t.Errorf("%s: the count stays", c.typ)
		}
	}
}

// TestWithoutType: a channel of a record may have neither type nor descriptor.
func TestWithoutType(t *testing.T) {
	_, err := New(Options{Encoding: "cdr"}).Map(&storage.Topic{Name: "/t", Encoding: "protobuf"})
	if !errors.Is(err, ErrCannotCross) || !strings.HasPrefix(err.Error(), "a topic without a type cannot be converted: ") {
		t.Error(err)
	}
}
