package apollo

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/bagconv/bagconv/formats/cyber"
	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// TestData converts every message of records that several writers made, with the descriptors in them: compared with
// reflection, and back.
func TestData(t *testing.T) {
	files := append(samples.Glob(t, "cyber/generated/sensor-*.record"), samples.Glob(t, "cyber/*.record.00000")...)
	seen := map[family]int{}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			r, err := cyber.Format.Open(context.Background(), path, storage.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			info := r.Info()
			pairs := map[storage.TopicID]pair{}
			for i, topic := range info.Topics {
				if ROSType(topic.Type) == "" {
					continue
				}
				set, err := protoschema.Parse(topic.Schema.Data)
				if err != nil {
					t.Fatal(err)
				}
				md, err := set.Message(topic.Type)
				if err != nil {
					t.Fatal(err)
				}
				to, err := ToROS(md, Options{})
				if err != nil {
					t.Fatal(err)
				}
				from, err := FromROS(standard(ROSType(topic.Type), Options{}), md, Options{})
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%s %s drops %q and %q", topic.Name, topic.Type, to.Dropped(), from.Dropped())
				pairs[storage.TopicID(i)] = pair{md, to, from}
			}
			for {
				m, err := r.ReadNext()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				p, ok := pairs[m.Topic]
				if !ok {
					continue
				}
				seen[p.to.family]++
				whole := dynamicpb.NewMessage(p.md)
				if err := proto.Unmarshal(m.Data, whole); err != nil {
					t.Fatal(err)
				}
				got, err := p.to.AppendAt(nil, m.Data, now)
				if err != nil {
					t.Fatal(err)
				}
				if want := (naive{whole}).reference(p.to.family, false); string(got) != string(want) {
					t.Fatalf("%s at %d: %v\ngot  %x\nwant %x", p.md.FullName(), m.LogTime, whole, got, want)
				}
				apollo, err := p.from.AppendAt(nil, got, now)
				if err != nil {
					t.Fatal(err)
				}
				again, err := p.to.AppendAt(nil, apollo, now)
				if err != nil {
					t.Fatal(err)
				}
				if p.to.family != bestPose && string(again) != string(got) {
					t.Fatalf("%s at %d: %v\nfirst  %x\nsecond %x", p.md.FullName(), m.LogTime, whole, got, again)
				}
			}
		})
	}
	t.Log(seen)
	if len(seen) != int(families) {
		t.Errorf("only %d of %d types occur", len(seen), families)
	}
}
