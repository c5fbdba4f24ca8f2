package cyber

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	pb "github.com/bagconv/bagconv/proto/cyber"
	"github.com/bagconv/bagconv/storage"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

func names(t *testing.T, set []byte) (out []string) {
	t.Helper()
	fds := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(set, fds); err != nil {
		t.Fatal(err)
	}
	for _, f := range fds.File {
		out = append(out, f.GetName())
	}
	return out
}

// TestSchema: trees and flat lists lead to the same set.
func TestSchema(t *testing.T) {
	file := func(name string, imports ...string) []byte { return marshal(testFile(name, name, imports...)) }
	a, b, c, d := file("a", "b", "c"), file("b", "d"), file("c", "d", "none"), file("d")
	for name, desc := range map[string]*pb.ProtoDesc{
		"tree":   tree(a, tree(b, tree(d)), tree(c, tree(d))),
		"flat":   tree(a, tree(d), tree(c), tree(b)),
		"nodes":  tree(a, tree(nil), tree(b, tree(d, tree(nil))), tree(c)),
		"cyclic": tree(a, tree(b, tree(d), tree(a, tree(b))), tree(c)),
	} {
		set, err := schemaOf(marshal(desc))
		if err != nil || !slices.Equal(names(t, set), []string{"d", "b", "c", "a"}) {
			t.Errorf("%s: %v, %v", name, names(t, set), err)
		}
	}
	// What the writer makes of a set, the reader makes the same set of again.
	var trees descTrees
	set, _ := schemaOf(marshal(tree(a, tree(b, tree(d)), tree(c, tree(d)))))
	desc, err := trees.tree(set, "a.String")
	if err != nil || !bytes.Equal(desc, marshal(tree(a, tree(b, tree(d)), tree(c, tree(d))))) {
		t.Errorf("tree %x, %v", desc, err)
	}
	if desc, err := trees.tree(set, "c.String"); err != nil || !bytes.Equal(desc, marshal(tree(c, tree(d)))) {
		t.Errorf("tree of another type %x, %v", desc, err)
	}
	twice := tree(a, tree(b), tree(file("b", "x")))
	if set, err := schemaOf(marshal(twice)); !errors.Is(err, errDescTwice) || len(names(t, set)) != 2 {
		t.Errorf("two files of one name: %v", err)
	}
	if set, err := schemaOf(nil); set != nil || err != nil {
		t.Errorf("empty: %x, %v", set, err)
	}
}

// TestBombs: hostile descriptors cost little and leave the messages readable.
func TestBombs(t *testing.T) {
	node := func(inner []byte) []byte { return protowire.AppendBytes([]byte{2<<3 | 2}, inner) }
	deep := marshal(tree(marshal(testFile("leaf", "leaf"))))
	for range 3000 {
		deep = node(deep)
	}
	var wide []byte
	for range 2 << 20 {
		wide = append(wide, 2<<3|2, 0)
	}
	var files []byte
	for i := range maxDescFiles + 2 {
		files = append(files,
			node(marshal(tree(marshal(&descriptorpb.FileDescriptorProto{Name: proto.String(fmt.Sprint(i))}))))...)
	}
	chain := marshal(testFile("f0", "f0", "f1"))
	long := protowire.AppendBytes([]byte{1<<3 | 2}, chain)
	for i := 1; i < maxDescFiles; i++ {
		long = append(long, node(
			marshal(tree(marshal(&descriptorpb.FileDescriptorProto{Name: proto.String(fmt.Sprint("f", i)),
				Dependency: []string{fmt.Sprint("f", i+1)}}))))...)
	}
	for name, c := range map[string]struct {
		desc []byte
		err  error
	}{
		"deep": {deep, errDescDepth}, "wide": {wide, nil}, "many files": {files, errDescFiles}, "a long chain": {long, nil},
		"too large": {make([]byte, maxDesc+1), errDescSize}, "claims 1 GB": {[]byte{2<<3 | 2, 0x80, 0x80, 0x80, 0x80, 0x04,
			1}, errDescContent},
		"no protobuf": {[]byte("\xff\xff\xff"), errDescContent}, "no file": {[]byte("\x0a\x03\xff\xff\xff"), errDescContent},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := schemaOf(c.desc)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, c.err) {
			t.Errorf("%s: %v", name, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > uint64(20*len(c.desc)+8<<20) {
			t.Errorf("%s: %d bytes of memory for %d", name, used, len(c.desc))
		}
		r := newRecord(nil).channel("/a", "test.String", c.desc).chunk(three[0])
		msgs, info, err := openBytes(t, r.b, storage.ReadOptions{})
		if err != nil || len(msgs) != 1 || info.Messages != 1 {
			t.Errorf("%s: %d messages, %v", name, len(msgs), err)
		} else if got := codes(info); c.err != nil && !got["descriptor"] {
			t.Errorf("%s: %v", name, info.Warnings)
		}
	}
}

// TestTwoHeaders: two channels that bring different files of the same name are
// two schemas, and each stays as it is through a copy.
func TestTwoHeaders(t *testing.T) {
	older, newer := testFile("header.proto", "apollo.common"), testFile("modules/header.proto", "apollo.common")
	newer.MessageType[0].Field[0].Number = proto.Int32(2)
	r := newRecord(nil).
		channel("/a", "apollo.common.String", marshal(tree(marshal(older)))).
		channel("/b", "apollo.common.String", marshal(tree(marshal(newer)))).chunk(three...)
	_, info, err := openBytes(t, r.b, storage.ReadOptions{})
	if err != nil || len(info.Topics) != 2 {
		t.Fatal(info, err)
	}
	if a, b := info.Topics[0].Schema.Data, info.Topics[1].Schema.Data; bytes.Equal(a, b) ||
		names(t, a)[0] != "header.proto" || names(t, b)[0] != "modules/header.proto" {
		t.Errorf("schemas %v and %v", names(t, a), names(t, b))
	}
}
