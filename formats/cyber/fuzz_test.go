package cyber

import (
	"os"
	"path/filepath"
	"testing"

	pb "github.com/bagconv/bagconv/proto/cyber"
	"github.com/bagconv/bagconv/storage"
	"google.golang.org/protobuf/proto"
)

// maxFuzz keeps inputs small enough to be read three times.
const maxFuzz = 1 << 16

// FuzzSections reads whole files.
func FuzzSections(f *testing.F) {
	f.Add(tiny(f)[:6000])
	f.Add(newRecord(nil).channel("/a", "test.String", testDesc()).channel("/b", "", nil).chunk(three...).chunk(three[1]).b)
	f.Add(newRecord(&pb.Header{MajorVersion: proto.Uint32(1), IsComplete: proto.Bool(true)}).chunk(three...).section(3,
		[]byte("\x0a\x04\x08\x04\x10\x01")).b)
	f.Add(newRecord(nil).channel("/a", "test.String", testDesc()).section(1, chunkHeader(three...)).claim(2, 1<<40,
		body(three...)).chunk(three...).b)
	f.Add(newRecord(nil).channel("/a", "t", nil).chunk(three...).bytes(make([]byte, 50)...).chunk(three...).b)
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > maxFuzz {
			return
		}
		_, _, err := openBytes(t, b, storage.ReadOptions{})
		if err != nil && !isOurs(err) {
			t.Fatal(err)
		}
		_, _, strict := openBytes(t, b, storage.ReadOptions{Strict: true})
		if err != nil && strict == nil {
			t.Fatalf("strict reads what is refused otherwise: %v", err)
		}
	})
}

// FuzzBody reads chunk bodies. What Go's protobuf reads as messages, in the
// form that writers use, is read alike.
func FuzzBody(f *testing.F) {
	f.Add(body(three...))
	f.Add([]byte("\x0a\x13\x1a\x03one\x20\x05\x10\x09\x0a\x02/x\x10\x0a\x0a\x02/a"))
	f.Add(append(body(three...), 0x0a, 0x7f, 0x0a))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > maxFuzz || len(b) == 0 {
			return
		}
		r := newRecord(nil).channel("/a", "test.String", nil).channel("/b", "test.String", nil).section(1,
			[]byte("\x08\x01")).section(2, b)
		msgs, info, err := openBytes(t, r.b, storage.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		want := &pb.ChunkBody{}
		if damaged(info) || codes(info)["time"] || proto.Unmarshal(b, want) != nil ||
			len(want.ProtoReflect().GetUnknown()) > 0 {
			return
		}
		if len(msgs) != len(want.Messages) {
			t.Fatalf("%d messages, protobuf reads %d", len(msgs), len(want.Messages))
		}
		for i, m := range want.Messages {
			if got := info.Topics[msgs[i].Topic].Name; got != m.GetChannelName() || uint64(msgs[i].LogTime) != m.GetTime() ||
				string(msgs[i].Data) != string(m.Content) {
				t.Fatalf("message %d: %q at %d with %q, protobuf reads %v", i, got, msgs[i].LogTime, msgs[i].Data, m)
			}
		}
	})
}

// FuzzDescriptor makes schemas of proto_desc bytes, and trees of the schemas.
func FuzzDescriptor(f *testing.F) {
	f.Add(testDesc())
	f.Add(marshal(tree(marshal(testFile("a", "a", "b", "c")), tree(marshal(testFile("b", "b"))),
		tree(marshal(testFile("c", "c", "b"))))))
	paths, _ := filepath.Glob("../../testdata/*.record")
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		_, info, err := openBytes(f, b, storage.ReadOptions{})
		if err != nil {
			f.Fatal(err)
		}
		var trees descTrees
		for _, topic := range info.Topics {
			desc, err := trees.tree(topic.Schema.Data, topic.Type)
			if err != nil {
				f.Fatal(err)
			}
			if len(desc) < 8000 {
				f.Add(desc)
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > maxFuzz {
			return
		}
		set, err := schemaOf(b)
		if set == nil {
			return
		}
		if len(set) > len(b)+16*len(b) {
			t.Fatalf("%d bytes of %d", len(set), len(b))
		}
		var trees descTrees
		desc, treeErr := trees.tree(set, "a.String")
		if treeErr != nil || err != nil {
			return
		}
		again, err := schemaOf(desc)
		if err != nil {
			t.Fatalf("a tree of ours: %v", err)
		}
		if len(again) > len(set) {
			t.Fatalf("%d bytes become %d", len(set), len(again))
		}
	})
}
