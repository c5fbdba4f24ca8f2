package cyber

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	pb "github.com/bagconv/bagconv/proto/cyber"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
	"google.golang.org/protobuf/proto"
)

// unindexed is a record whose recorder has not ended.
func unindexed() *record {
	r := newRecord(&pb.Header{
		MajorVersion: proto.Uint32(1), MinorVersion: proto.Uint32(0), IndexPosition: proto.Uint64(0),
		MessageNumber: proto.Uint64(0),
		IsComplete:    proto.Bool(false), VehicleInfo: &pb.VehicleInfo{Name: proto.String("car")},
	})
	r.channel("/a", "test.String", testDesc()).channel("/b", "test.String", nil)
	long := strings.Repeat("long ", 60)
	for i := range uint64(3) {
		r.chunk(msg{"/a", 100*i + 1, long}, msg{"/b", 100*i + 20, "two"}, msg{"/a", 100*i + 30, "three"},
			msg{"/b", 100*i + 31, long})
	}
	return r
}

// hasIndex reports whether a record has an index and a header that are right.
func hasIndex(t testing.TB, path string) bool {
	r, err := openReader(t.Context(), path, storage.ReadOptions{Strict: true})
	if err != nil {
		t.Error(err)
		return false
	}
	defer r.Close()
	f := r.(*reader).files[0]
	for _, w := range r.Damage().Warnings {
		if w.Code != "no-descriptor" && w.Code != "stale-tail" {
			t.Error(w)
		}
	}
	return f.proven && f.index == indexOK && f.header.GetIsComplete()
}

// TestReindexCut: a record without an index that is cut at any byte gets one, or stays as it is.
func TestReindexCut(t *testing.T) {
	c := storagetest.Reindexing{Format: Format, Name: "x.record", Bytes: unindexed().b, Indexed: hasIndex}
	if n, of := c.Cuts(t, headerEnd); n < of {
		t.Errorf("%d of %d cuts got an index", n, of)
	}
}

// TestReindexFaults: with half a message at the end, and with an old index.
func TestReindexFaults(t *testing.T) {
	t.Parallel()
	b := unindexed().b
	c := storagetest.Reindexing{Format: Format, Name: "x.record", Bytes: b[:len(b)-40], Indexed: hasIndex}
	c.Faults(t)
	c.Bytes = unindexed().section(3, []byte("\x0a\x04\x08\x04\x10\x01")).b
	c.Faults(t)
}

// reindexed writes a record, runs Reindex on it and returns what it has then.
func reindexed(t *testing.T, b []byte) (after []byte, changes []storage.IndexChange, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.record")
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	changes, err = reindex(t.Context(), path, storage.ReindexOptions{NoSync: true})
	after, e := os.ReadFile(path)
	if e != nil {
		t.Fatal(e)
	}
	return after, changes, err
}

// TestReindexOdd: what lies at the end of a record, and what needs a copy.
func TestReindexOdd(t *testing.T) {
	wrong := []byte("\x0a\x04\x08\x04\x10\x01")
	for name, c := range map[string]struct {
		r       *record
		changes int
		refused string
		stays   string // at the end of the file
	}{
		"nothing recorded":   {newRecord(nil), 1, "", ""},
		"zeros":              {unindexed().bytes(make([]byte, 9000)...), 1, "", ""},
		"an index of others": {unindexed().section(3, wrong), 1, "", ""},
		"bytes behind it":    {unindexed().section(3, wrong).bytes([]byte(strings.Repeat("stale", 999))...), 1, "", "stale"},
		"empty chunk":        {unindexed().section(1, nil).section(2, nil).chunk(three...), 1, "", ""},
		"header of a chunk":  {unindexed().section(1, chunkHeader(three...)), 1, "", ""},
		"declared twice":     {unindexed().channel("/a", "test.String", testDesc()), 1, "", ""},
		"declared anew":      {unindexed().channel("/a", "test.Other", testDesc()).chunk(three...), 1, "", ""},
		"junk between": {unindexed().bytes([]byte(strings.Repeat("junk", 99))...).chunk(three...), 0, "it is damaged",
			""},
		"body alone": {newRecord(nil).channel("/a", "test.String", testDesc()).section(2, body(three[0])), 0,
			"has no header", ""},
		"wrong count": {newRecord(nil).channel("/a", "test.String", testDesc()).section(1, chunkHeader(three...)).section(2,
			body(three[0])), 0, "counts 3 messages; 1 can be read", ""},
		"only in the index": {newRecord(nil).chunk(msg{"/a", 1, "one"}).section(3,
			marshal(&pb.Index{Indexes: []*pb.SingleIndex{{
				Type: pb.SectionType_SECTION_CHANNEL.Enum(), Position: proto.Uint64(1),
				Cache: &pb.SingleIndex_ChannelCache{ChannelCache: &pb.ChannelCache{Name: proto.String("/a"),
					MessageType: proto.String("t"), MessageNumber: proto.Uint64(1)}},
			}}})), 0, "only its index declares", ""},
	} {
		before, _, err := openBytes(t, c.r.b, storage.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		b, changes, err := reindexed(t, c.r.b)
		if (err != nil) != (c.refused != "") || err != nil && !strings.Contains(err.Error(), c.refused) ||
			len(changes) != c.changes {
			t.Errorf("%s: %v, %+v", name, err, changes)
			continue
		}
		if err != nil && !bytes.Equal(b, c.r.b) {
			t.Errorf("%s: refused, and changed", name)
		}
		after, info, e := openBytes(t, b, storage.ReadOptions{})
		if e != nil || len(after) != len(before) || !bytes.HasSuffix(b, []byte(c.stays)) {
			t.Errorf("%s: %v, %d messages, were %d, %d bytes", name, e, len(after), len(before), len(b))
		}
		if c.refused != "" {
			continue
		}
		for _, w := range info.Warnings {
			if w.Damage || w.Code == "incomplete" || w.Code == "no-index" {
				t.Errorf("%s: %+v", name, w)
			}
		}
		if same, changes, err := reindexed(t, b); err != nil || len(changes) > 0 || !bytes.Equal(same, b) {
			t.Errorf("%s: a second run: %v, %+v", name, err, changes)
		}
	}
}

// TestReindexHeader: where the index is right, only the header is written.
func TestReindexHeader(t *testing.T) {
	b, _, err := reindexed(t, unindexed().b)
	if err != nil {
		t.Fatal(err)
	}
	old := bytes.Clone(unindexed().b[:headerEnd])
	torn := append(old, b[headerEnd:]...) // killed before the header was written
	after, changes, err := reindexed(t, torn)
	if err != nil || len(changes) != 1 || changes[0].Written != 0 || changes[0].Overwritten >= headerEnd ||
		!bytes.Equal(after, b) {
		t.Errorf("%v, %+v", err, changes)
	}
}

// TestReindexOwnerless: a record with messages of a channel that nothing declares gets no index, and stays as it is.
func TestReindexOwnerless(t *testing.T) {
	for name, r := range map[string]*record{
		"one of several": unindexed().chunk(msg{"/c", 1000, "three"}, msg{"/a", 1001, "four"}),
		"alone":          newRecord(nil).chunk(msg{"/c", 1000, "three"}),
	} {
		b, changes, err := reindexed(t, r.b)
		var e *storage.Error
		if !errors.Is(err, storage.ErrUnsupported) || !errors.As(err, &e) || e.Hint != copyHint || len(changes) > 0 ||
			!bytes.Equal(b, r.b) {
			t.Errorf("%s: %v, %+v, changed %v", name, err, changes, !bytes.Equal(b, r.b))
		}
	}
}

// TestContested: where the index describes a channel otherwise than its section, nothing is changed in place.
// Descriptors that cannot be read in the section are those of the index.
func TestContested(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.record")
	write := func(b []byte) {
		t.Helper()
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(unindexed().b)
	if _, err := reindex(t.Context(), path, storage.ReindexOptions{NoSync: true}); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	name := bytes.Index(whole, []byte("test.proto")) // in the section
	for at, want := range map[int]string{name: "the section counts", name - 2: "the index has its descriptors"} {
		b := bytes.Clone(whole)
		b[at] ^= 2
		write(b)
		info := infoOf(t, path)
		i := slices.IndexFunc(info.Warnings, func(w storage.Warning) bool { return w.Code == "contested" })
		if i < 0 || !strings.Contains(info.Warnings[i].Message, want) {
			t.Errorf("byte %d: %v", at, info.Warnings)
		}
		if len(info.Topics) != 2 || !isSet(info.Topics[0].Schema.Data) {
			t.Errorf("byte %d: %v, or topic /a has no descriptors", at, info.Topics)
		}
		if w, _, err := appendTo(t.Context(), path, storage.WriteOptions{NoSync: true}); !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("byte %d: something may be added to it: %v, %v", at, w, err)
		}
		write(b[:len(b)-3]) // the index is not whole
		if _, err := reindex(t.Context(), path, storage.ReindexOptions{NoSync: true}); !errors.Is(err,
			storage.ErrUnsupported) {
			t.Errorf("byte %d: it gets an index: %v", at, err)
		}
		if now, _ := os.ReadFile(path); !bytes.Equal(now, b[:len(b)-3]) {
			t.Errorf("byte %d: it has changed", at)
		}
	}
}

// TestContestedFile: a section has a .proto file twice, and a bit of one copy is wrong. The index, which other readers
// use, has both copies right: so the difference is reported, and nothing is added to the record.
func TestContestedFile(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join("..", "..", "testdata", "tiny.record"))
	if err != nil {
		t.Fatal(err)
	}
	name := []byte("PointENU") // of a file on which several others depend
	tried := 0
	for at := 0; ; at++ {
		next := bytes.Index(whole[at:], name)
		if next < 0 {
			break
		}
		at += next
		b := bytes.Clone(whole)
		b[at] ^= 2
		path := filepath.Join(t.TempDir(), "x.record")
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		info := infoOf(t, path)
		has := func(code string) bool {
			return slices.ContainsFunc(info.Warnings, func(w storage.Warning) bool { return w.Code == code })
		}
		if !has("descriptor") {
			continue // in the index, or in a file that the section has once
		}
		if tried++; !has("contested") {
			t.Errorf("byte %d: %v", at, info.Warnings)
		}
		if w, _, err := appendTo(t.Context(), path, storage.WriteOptions{NoSync: true}); !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("byte %d: something may be added to it: %v, %v", at, w, err)
		}
	}
	if tried == 0 {
		t.Error("no section has a file twice")
	}
}

// infoOf returns what a recording says about itself.
func infoOf(t *testing.T, path string) *storage.Info {
	t.Helper()
	r, err := openReader(t.Context(), path, storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	info := r.Info()
	if r.Close() != nil {
		t.Fatal(err)
	}
	return info
}
