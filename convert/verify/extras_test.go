package verify_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/verify"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// carried is a recording with attachments and metadata records.
func carried() storagetest.Recording {
	return storagetest.Recording{
		Topics:   []storage.Topic{{Name: "/a", Type: "std_msgs/msg/Empty", Encoding: "cdr"}},
		Messages: []storage.Message{{LogTime: 1, PublishTime: 1, Data: []byte{0, 1, 0, 0}}},
		Attachments: []storagetest.Attachment{
			{Name: "a", MediaType: "text/plain", LogTime: 1, CreateTime: 2, Content: []byte("one")},
			{Name: "a", MediaType: "text/plain", LogTime: 1, CreateTime: 2, Content: []byte("two")},
			{Name: "b", LogTime: 1, Content: []byte("one")},
		},
		Records: []storagetest.MetadataRecord{{Name: "a", Values: map[string]string{"k": "v"}},
			{Name: "a", Values: map[string]string{}}},
	}
}

// TestExtras: each change of an attachment or a metadata record is found, and nothing else.
func TestExtras(t *testing.T) {
	mcap := registry.Lookup("mcap")
	a := save(t, mcap, filepath.Join(t.TempDir(), "a"), carried())
	for what, c := range map[string]struct {
		change func(r *storagetest.Recording)
		want   verify.Extra
	}{
		"nothing": {func(*storagetest.Recording) {}, verify.Extra{}},
		"order": {func(r *storagetest.Recording) { slices.Reverse(r.Attachments); slices.Reverse(r.Records) },
			verify.Extra{}},
		"media type": {func(r *storagetest.Recording) { r.Attachments[2].MediaType = "x/y" },
			verify.Extra{Name: "b", Kind: verify.KindContent, Path: "media type", B: "x/y"}},
		"log time": {func(r *storagetest.Recording) { r.Attachments[0].LogTime = 3 },
			verify.Extra{Name: "a", Kind: verify.KindTime, Path: "log time", A: "1", B: "3"}},
		"create time": {func(r *storagetest.Recording) { r.Attachments[1].CreateTime = 0 },
			verify.Extra{Name: "a", Kind: verify.KindTime, Path: "create time", A: "2", B: "0"}},
		"size": {func(r *storagetest.Recording) { r.Attachments[1].Content = []byte("three") },
			verify.Extra{Name: "a", Kind: verify.KindContent, Path: "size", A: "3", B: "5"}},
		"content": {func(r *storagetest.Recording) { r.Attachments[1].Content = []byte("tow") },
			verify.Extra{Name: "a", Kind: verify.KindContent, Path: "content"}},
		"name": {func(r *storagetest.Recording) { r.Attachments[2].Name = "a" },
			verify.Extra{Name: "a", Kind: verify.KindExtra}},
		"missing": {func(r *storagetest.Recording) { r.Attachments = r.Attachments[:2] },
			verify.Extra{Name: "b", Kind: verify.KindMissing}},
		"one of two": {func(r *storagetest.Recording) { r.Attachments = r.Attachments[1:] },
			verify.Extra{Name: "a", Kind: verify.KindMissing}},
		"value": {func(r *storagetest.Recording) { r.Records[0].Values["k"] = "w" }, verify.Extra{Record: true, Name: "a",
			Kind: verify.KindContent, Path: "content"}},
		"key": {func(r *storagetest.Recording) { r.Records[1].Values["k"] = "" }, verify.Extra{Record: true, Name: "a",
			Kind: verify.KindContent, Path: "content"}},
		"record": {func(r *storagetest.Recording) { r.Records = r.Records[:1] }, verify.Extra{Record: true, Name: "a",
			Kind: verify.KindMissing}},
	} {
		rec := carried()
		c.change(&rec)
		b := save(t, mcap, filepath.Join(t.TempDir(), "b"), rec)
		res := compare(t, verify.Job{}, a, b)
		if c.want == (verify.Extra{}) {
			if !res.Equal || len(res.Extras) > 0 || res.A.Attachments != 3 || res.B.MetadataRecords != 2 {
				t.Errorf("%s: %+v", what, res)
			}
			continue
		}
		if res.Equal || len(res.Extras) == 0 || !res.Topics[0].Equal {
			t.Errorf("%s is not found", what)
			continue
		}
		got := res.Extras[0]
		if c.want.Path == "content" {
			if got.A == got.B {
				t.Errorf("%s: %+v", what, got)
			}
			got.A, got.B = "", ""
		}
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", what, got, c.want)
		}
		if ignored := compare(t, verify.Job{Ignore: []verify.Code{verify.Extras}}, a, b); !ignored.Equal ||
			len(ignored.Exceptions) != 1 {
			t.Errorf("%s is not ignored: %+v", what, ignored)
		}
		counts := compare(t, verify.Job{Level: verify.Counts}, a, b)
		if want := c.want.Path == "content"; counts.Equal != want {
			t.Errorf("%s: at level counts equal is %v", what, counts.Equal)
		}
	}
}

// TestExtrasNoPlace: what the other format has no place for is an exception; what was
// attached to the one is expected in the other.
func TestExtrasNoPlace(t *testing.T) {
	rec := carried()
	mcap := save(t, registry.Lookup("mcap"), filepath.Join(t.TempDir(), "a"), rec)
	rec.Attachments, rec.Records = nil, nil
	db3 := save(t, registry.Lookup("db3"), filepath.Join(t.TempDir(), "a"), rec)
	for _, sides := range [][2]string{{mcap, db3}, {db3, mcap}} {
		res := compare(t, verify.Job{}, sides[0], sides[1])
		if !res.Equal || !slices.ContainsFunc(res.Exceptions,
			func(e verify.Exception) bool { return e.Code == verify.Extras && e.Count == 5 }) {
			t.Errorf("%+v", res)
		}
		if res := compare(t, verify.Job{Exact: []verify.Code{verify.Extras}}, sides[0], sides[1]); res.Equal ||
			len(res.Extras) != 5 {
			t.Errorf("exact: %+v", res.Extras)
		}
	}
	file := filepath.Join(t.TempDir(), "c.txt")
	if err := os.WriteFile(file, []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	job := verify.Job{A: verify.Side{Attach: []string{file}}}
	if res := compare(t, job, db3, mcap); res.Equal || len(res.Extras) != 1 || res.Extras[0].Kind != verify.KindMissing {
		t.Errorf("what should be attached is not missed: %+v", res.Extras)
	}
}

// A pickyWriter takes no attachment of the name b, and the first metadata record alone.
type pickyWriter struct {
	storage.Writer
	storage.ExtraWriter
	records int
}

func (w *pickyWriter) WriteAttachment(a *storage.Attachment) error {
	if a.Name == "b" {
		return storage.ErrUnsupported
	}
	return w.ExtraWriter.WriteAttachment(a)
}

func (w *pickyWriter) WriteMetadata(m *storage.MetadataRecord) error {
	if w.records++; w.records > 1 {
		return storage.ErrUnsupported
	}
	return w.ExtraWriter.WriteMetadata(m)
}

// TestExtrasRefused: what an output does not take is a loss of the conversion, and no
// difference for its Verify; whatever else is missing is one.
func TestExtrasRefused(t *testing.T) {
	mcap := registry.Lookup("mcap")
	in := save(t, mcap, filepath.Join(t.TempDir(), "a"), carried())
	picky := *mcap
	picky.Create = func(ctx context.Context, path string, o storage.WriteOptions) (storage.Writer, error) {
		w, err := mcap.Create(ctx, path, o)
		return &pickyWriter{Writer: w, ExtraWriter: storage.WriterCapabilities(w).Extras}, err
	}
	for _, aside := range []string{"", filepath.Join(t.TempDir(), "aside")} {
		job := convert.Job{Source: in, SourceFormat: mcap, Sink: filepath.Join(t.TempDir(), "b.mcap"), SinkFormat: &picky,
			Extras: aside}
		job.Verify = func(path string, refused []convert.Extra) error {
			if !slices.Equal(refused, []convert.Extra{{Name: "b"}, {Record: true, Name: "a"}}) {
				t.Errorf("refused are %v", refused)
			}
			for missing := range len(refused) + 1 {
				sides := verify.Job{A: sideOf(in, mcap), B: sideOf(path, mcap), Refused: refused[missing:]}
				res, err := verify.Run(t.Context(), sides)
				if err != nil {
					return err
				}
				if res.Equal != (missing == 0) || len(res.Extras) != missing {
					t.Errorf("with %v: equal %v, %v", refused[missing:], res.Equal, res.Extras)
				}
			}
			return nil
		}
		r, err := convert.Run(t.Context(), job)
		if err != nil || r.Lossy() != (aside == "") {
			t.Errorf("%v, %+v", err, r.Losses)
		}
	}
}

// TestExtrasDamaged: a damaged attachment is damage for a conversion and for the comparison after it, or, if the other
// format has no place for attachments, for neither.
func TestExtrasDamaged(t *testing.T) {
	in := save(t, registry.Lookup("mcap"), filepath.Join(t.TempDir(), "a"), carried())
	b, err := os.ReadFile(in)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(b, []byte("two"))
	b[at] ^= 1
	if err := os.WriteFile(in, b, 0o666); err != nil {
		t.Fatal(err)
	}
	for to, damaged := range map[string]bool{"mcap": true, "db3": false} {
		format := registry.Lookup(to)
		out := filepath.Join(t.TempDir(), "out"+format.Extensions[0])
		r, err := convert.Run(t.Context(), convert.Job{Source: in, SourceFormat: registry.Lookup("mcap"), Sink: out,
			SinkFormat: format})
		if err != nil || r.Lossy() != damaged {
			t.Errorf("to %s: %v, lossy %v", to, err, r.Lossy())
			continue
		}
		for _, level := range []verify.Level{verify.Content, verify.Counts} {
			there, back := compare(t, verify.Job{Level: level}, in, out), compare(t, verify.Job{Level: level}, out, in)
			read := damaged && level == verify.Content
			if !there.Equal || there.A.Damaged != read || there.B.Damaged || back.B.Damaged != read || back.A.Damaged {
				t.Errorf("to %s, level %v: equal %v, damaged %v and %v, back %v and %v", to, level, there.Equal, there.A.Damaged,
					there.B.Damaged,
					back.A.Damaged, back.B.Damaged)
			}
		}
	}
}
