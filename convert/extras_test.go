package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/formats/mcap"
	"github.com/bagconv/bagconv/internal/guard"
	"github.com/bagconv/bagconv/internal/testing/fake"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// An extraSink takes attachments and metadata records, but for those of one name.
type extraSink struct {
	fake.Sink
	refused string
	names   []string
}

func (s *extraSink) target() *storage.Format { return s.Sink.TargetOf(s) }

func (s *extraSink) take(name string) error {
	if name == s.refused {
		return fmt.Errorf("the name %s: %w", name, storage.ErrUnsupported)
	}
	s.names = append(s.names, name)
	return nil
}

func (s *extraSink) WriteAttachment(a *storage.Attachment) error   { return s.take(a.Name) }
func (s *extraSink) WriteMetadata(m *storage.MetadataRecord) error { return s.take(m.Name) }

// withExtras writes an MCAP file with attachments and metadata records.
func withExtras(t *testing.T) (path string, rec storagetest.Recording) {
	rec = storagetest.SampleExtras(storagetest.Recording{Topics: []storage.Topic{textTopic("cdr")}})
	rec.Topics[0].Metadata = map[string]string{}
	for i := range int64(5) {
		rec.Messages = append(rec.Messages, storage.Message{LogTime: 1e18 + i, PublishTime: 1e18 + i, Data: text["cdr"]})
	}
	path = filepath.Join(t.TempDir(), "in.mcap")
	if err := storagetest.WriteAll(mcap.Format, path, storage.WriteOptions{NoSync: true}, rec); err != nil {
		t.Fatal(err)
	}
	return path, rec
}

// TestExtras: attachments and metadata records are copied where there is a place, and
// else are a loss by design.
func TestExtras(t *testing.T) {
	in, rec := withExtras(t)
	out := filepath.Join(t.TempDir(), "out.mcap")
	r, err := Run(context.Background(), Job{Source: in, SourceFormat: mcap.Format, Sink: out, SinkFormat: mcap.Format})
	if err != nil || len(r.Losses) > 0 {
		t.Fatal(err, r.Losses)
	}
	reader, err := mcap.Format.Open(context.Background(), out, storage.ReadOptions{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	attachments, records, err := storagetest.ReadExtras(reader)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(attachments, rec.Attachments, func(a, b storagetest.Attachment) bool {
		return a.Name == b.Name && a.LogTime == b.LogTime && a.MediaType == b.MediaType &&
			string(a.Content) == string(b.Content)
	}) || !slices.EqualFunc(records, rec.Records, func(a, b storagetest.MetadataRecord) bool {
		return a.Name == b.Name &&
			maps.Equal(a.Values, b.Values)
	}) {
		t.Errorf("%d attachments and %d metadata records are copied, or not as they were", len(attachments), len(records))
	}
	for _, to := range all.Registry().Formats() {
		if to.Create == nil {
			continue
		}
		out := filepath.Join(t.TempDir(), "out"+ending(to))
		r, err := Run(context.Background(), Job{Source: in, SourceFormat: mcap.Format, Sink: out, SinkFormat: to})
		if err != nil {
			t.Fatal(err)
		}
		if to.Holds.Extras {
			continue // as above
		}
		checkExtraLosses(t, r, 4, 3, true)
	}
}

// checkExtraLosses compares what a report has on attachments and metadata records.
func checkExtraLosses(t *testing.T, r *Report, attachments, records int64, byDesign bool) {
	t.Helper()
	got := map[string]Loss{}
	for _, l := range r.Losses {
		got[l.Code] = l
	}
	for code, want := range map[string]int64{"attachment": attachments, "metadata-record": records} {
		l, ok := got[code]
		if l.Count != want || ok && (l.ByDesign != byDesign || !strings.Contains(l.Message, `["`)) {
			t.Errorf("%s to %s: %s: %+v, want %d", r.Source.Format, r.Sink.Format, code, l, want)
		}
	}
	if attachments > 1 && got["attachment"].Bytes < 3<<16 {
		t.Errorf("attachments of %d bytes are lost", got["attachment"].Bytes)
	}
}

// TestExtrasRefused: one that the sink refuses costs no other, and is a loss that counts.
func TestExtrasRefused(t *testing.T) {
	in, _ := withExtras(t)
	for name, want := range map[string][2]int64{"map": {1, 0}, "robot": {0, 2}} {
		sink := &extraSink{refused: name}
		r, err := Run(context.Background(), Job{Source: in, SourceFormat: mcap.Format, Sink: filepath.Join(t.TempDir(), "x"),
			SinkFormat: sink.target()})
		if err != nil {
			t.Fatal(err)
		}
		checkExtraLosses(t, r, want[0], want[1], false)
		if n := len(sink.names); int64(n) != 7-want[0]-want[1] || !r.Lossy() {
			t.Errorf("%s: %d are copied: %+v", name, n, r.Losses)
		}
	}
}

// TestExtrasEnd: a context that has ended ends the copying.
func TestExtrasEnd(t *testing.T) {
	in, _ := withExtras(t)
	reader, err := mcap.Format.Open(context.Background(), in, storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	w, err := mcap.Format.Create(context.Background(), filepath.Join(t.TempDir(), "x.mcap"), storage.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := CopyExtras(ctx, reader, storage.WriterCapabilities(w).Extras); err == nil ||
		!strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Errorf("%v", err)
	}
}

// extrasIn reads the attachments and metadata records of an MCAP file.
func extrasIn(t *testing.T, path string) []storagetest.Attachment {
	t.Helper()
	reader, err := mcap.Format.Open(context.Background(), path, storage.ReadOptions{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	attachments, _, err := storagetest.ReadExtras(reader)
	if err != nil {
		t.Fatal(err)
	}
	return attachments
}

// TestAttach: files are attached after what the source has, and are an error where there
// is no place for them.
func TestAttach(t *testing.T) {
	in, rec := withExtras(t)
	file := filepath.Join(t.TempDir(), "cal.json")
	if err := os.WriteFile(file, []byte("{}"), 0o666); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out.mcap")
	job := Job{Source: in, SourceFormat: mcap.Format, Sink: out, SinkFormat: mcap.Format, Attach: []string{file, file}}
	if r, err := Run(context.Background(), job); err != nil || r.Lossy() {
		t.Fatal(err)
	}
	got := extrasIn(t, out)
	if n := len(rec.Attachments); len(got) != n+2 || got[n].Name != "cal.json" || string(got[n+1].Content) != "{}" ||
		got[n].MediaType != "application/json" {
		t.Errorf("%d attachments", len(got))
	}
	job.SinkFormat = all.Registry().Lookup("bag")
	job.Sink, job.Extras = filepath.Join(t.TempDir(), "out.bag"), filepath.Join(t.TempDir(), "x")
	if _, err := Run(context.Background(), job); !errors.Is(err, ErrNoPlace) {
		t.Errorf("%v", err)
	}
	for _, path := range []string{job.Sink, job.Extras} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s stands after a run that failed", path)
		}
	}
	job.Attach = []string{filepath.Join(t.TempDir(), "nothing")}
	if _, err := Run(context.Background(), job); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// TestExtrasAside: what the sink has no place for, or refuses, is not a loss when it is
// written beside the output; a run that fails leaves nothing there.
func TestExtrasAside(t *testing.T) {
	in, rec := withExtras(t)
	bag := all.Registry().Lookup("bag")
	dir := t.TempDir()
	job := Job{Source: in, SourceFormat: mcap.Format, Sink: filepath.Join(dir, "out.bag"), SinkFormat: bag,
		Extras: filepath.Join(dir, "x")}
	job.Verify = func(string, []Extra) error { return errors.New("no") }
	if _, err := Run(context.Background(), job); err == nil {
		t.Fatal("no error")
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("a run that failed leaves %v", entries)
	}
	job.Verify = nil
	r, err := Run(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	checkExtraLosses(t, r, 0, 0, true)
	entries, err := os.ReadDir(job.Extras)
	if err != nil || len(entries) != len(rec.Attachments)+1 {
		t.Errorf("%v, %v", entries, err)
	}
	if !slices.ContainsFunc(r.Notes, func(n Note) bool {
		return n.Code == "extras" && strings.Contains(n.Message,
			job.Extras)
	}) {
		t.Errorf("%+v", r.Notes)
	}

	sink := &extraSink{refused: "map"}
	job = Job{Source: in, SourceFormat: mcap.Format, Sink: filepath.Join(t.TempDir(), "x"), SinkFormat: sink.target(),
		Extras: filepath.Join(t.TempDir(), "y")}
	if r, err = Run(context.Background(), job); err != nil {
		t.Fatal(err)
	}
	checkExtraLosses(t, r, 0, 0, true)
	if entries, err := os.ReadDir(job.Extras); err != nil || len(entries) != 2 || len(sink.names) != 6 {
		t.Errorf("%v, %v, %v", entries, err, sink.names)
	}

	job.Sink, job.Extras = filepath.Join(dir, "folder"), filepath.Join(dir, "folder", "x")
	if _, err := Run(context.Background(), job); !errors.As(err, new(*guard.Refusal)) {
		t.Errorf("extras in the output: %v", err)
	}
}
