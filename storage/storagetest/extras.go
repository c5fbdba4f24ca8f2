package storagetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// An Attachment is an attachment with its content.
type Attachment struct {
	Name, MediaType     string
	LogTime, CreateTime int64
	Content             []byte
}

// Source returns the attachment as a Reader has it.
func (a *Attachment) Source() *storage.Attachment {
	return &storage.Attachment{
		Name: a.Name, MediaType: a.MediaType, LogTime: a.LogTime, CreateTime: a.CreateTime, Size: int64(len(a.Content)),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(a.Content)), nil },
	}
}

// A MetadataRecord is a metadata record with its values.
type MetadataRecord struct {
	Name   string
	Values map[string]string
}

// Source returns the record as a Reader has it.
func (m *MetadataRecord) Source() *storage.MetadataRecord {
	return &storage.MetadataRecord{Name: m.Name, Values: func() (map[string]string, error) {
		return maps.Clone(m.Values),
			nil
	}}
}

// ReadExtras reads all attachments and metadata records of a recording. It returns nothing for a
// recording without a place for them.
func ReadExtras(r storage.Reader) (attachments []Attachment, records []MetadataRecord, err error) {
	reader := storage.ReaderCapabilities(r).Extras
	if reader == nil {
		return nil, nil, nil
	}
	x, err := reader.Extras()
	if err != nil {
		return nil, nil, err
	}
	for _, a := range x.Attachments {
		content, err := a.Open()
		if err != nil {
			return nil, nil, err
		}
		b, err := io.ReadAll(content)
		if err = errors.Join(err, content.Close()); err != nil {
			return nil, nil, err
		}
		if int64(len(b)) != a.Size {
			return nil, nil, errors.New("attachment " + a.Name + " does not have the size that it says")
		}
		attachments = append(attachments, Attachment{a.Name, a.MediaType, a.LogTime, a.CreateTime, b})
	}
	for _, m := range x.Metadata {
		values, err := m.Values()
		if err != nil {
			return nil, nil, err
		}
		records = append(records, MetadataRecord{m.Name, values})
	}
	return attachments, records, nil
}

// fillExtras writes attachments and metadata records.
func fillExtras(w storage.ExtraWriter, r Recording) error {
	for i := range r.Attachments {
		if err := w.WriteAttachment(r.Attachments[i].Source()); err != nil {
			return err
		}
	}
	for i := range r.Records {
		if err := w.WriteMetadata(r.Records[i].Source()); err != nil {
			return err
		}
	}
	return nil
}

// SampleExtras adds attachments and metadata records to a recording: equal names, no
// content, and more of it than fits into a buffer.
func SampleExtras(r Recording) Recording {
	large := bytes.Repeat([]byte("0123456789abcdef"), 3<<16)
	r.Attachments = []Attachment{
		{"calibration.yaml", "text/yaml", start, start - 1000, []byte("fx: 1\n")},
		{"calibration.yaml", "text/yaml", start + 5, start, []byte("fx: 2\n")},
		{"ünïcödé / with space", "", start + 1, 0, nil},
		{"map", "application/octet-stream", 0, 0, large},
	}
	r.Records = []MetadataRecord{
		{"robot", map[string]string{"name": "r2", "": "no key", "ü": "two\nlines"}},
		{"robot", map[string]string{"name": "d2"}},
		{"empty", map[string]string{}},
	}
	return r
}

// withExtras adds small extras to a recording, if the format has a place for them.
func (c *Config) withExtras(t *testing.T, r Recording) Recording {
	t.Helper()
	if c.sample != "" {
		return r
	}
	w, err := c.Format.Create(context.Background(), filepath.Join(t.TempDir(), c.Name), storage.WriteOptions{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	if storage.WriterCapabilities(w).Extras != nil {
		r = SampleExtras(r)
		r.Attachments, r.Records = r.Attachments[:2], r.Records[:2]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return r
}

// extras: attachments and metadata records come back, whether they were written before
// the messages or after them.
func (c *Config) extras(t *testing.T) {
	want := SampleExtras(c.small())
	for _, first := range []bool{true, false} {
		path := filepath.Join(t.TempDir(), c.Name)
		w := c.extraWriter(t, path)
		x := storage.WriterCapabilities(w).Extras
		var err error
		if first {
			err = fill(w, want)
		} else if err = fill(w, Recording{Topics: want.Topics, Messages: want.Messages}); err == nil {
			err = fillExtras(x, want)
		}
		if err == nil {
			err = w.Commit()
		}
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		c.check(t, path, want)
		c.together(t, path)
	}
	a := want.Attachments[0].Source()
	unreadable := errors.New("cannot be read")
	for name, open := range map[string]func() (io.ReadCloser, error){
		"too short":      func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(make([]byte, a.Size-1))), nil },
		"too long":       func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(make([]byte, a.Size+1))), nil },
		"cannot be read": func() (io.ReadCloser, error) { return io.NopCloser(&failing{unreadable}), nil },
		"does not open":  func() (io.ReadCloser, error) { return nil, unreadable },
		"does not close": func() (io.ReadCloser, error) { return &failing{unreadable}, nil },
	} {
		dir := t.TempDir()
		w := c.extraWriter(t, filepath.Join(dir, c.Name))
		bad := *a
		bad.Open = open
		err := storage.WriterCapabilities(w).Extras.WriteAttachment(&bad)
		if err == nil || w.Commit() == nil {
			t.Errorf("content that is %s is taken: %v", name, err)
		}
		if _, err := open(); err != nil && !errors.Is(err, unreadable) {
			t.Errorf("content that %s: the error hides its cause: %v", name, err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		c.nothingLeft(t, dir)
	}
}

// extraWriter starts an output that has a place for extras.
func (c *Config) extraWriter(t *testing.T, path string) storage.Writer {
	t.Helper()
	w, err := c.Format.Create(context.Background(), path, storage.WriteOptions{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	if storage.WriterCapabilities(w).Extras == nil {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		t.Skip("the format has no place for attachments and metadata records")
	}
	if !c.Format.Holds.Extras {
		t.Error("there is a place for attachments and metadata records, and Format.Holds.Extras does not say so")
	}
	return w
}

// together reads two attachments in turn, and one twice.
func (c *Config) together(t *testing.T, path string) {
	t.Helper()
	r := c.open(t, path, storage.ReadOptions{})
	defer r.Close()
	x, err := storage.ReaderCapabilities(r).Extras.Extras()
	if err != nil {
		t.Fatal(err)
	}
	var open []io.ReadCloser
	for _, i := range []int{3, 0, 3} {
		content, err := x.Attachments[i].Open()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = content.Close() }()
		open = append(open, content)
	}
	var got [3][]byte
	for i, n := range []int{10, 6, 10, 10, 0, 10} {
		b := make([]byte, n)
		if _, err := io.ReadFull(open[i%3], b); err != nil {
			t.Fatal(err)
		}
		got[i%3] = append(got[i%3], b...)
	}
	if string(got[0]) != "0123456789abcdef0123" || string(got[1]) != "fx: 1\n" || !bytes.Equal(got[0], got[2]) {
		t.Errorf("attachments that are read together give %q", got)
	}
}

// A failing reader has the error of its name.
type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }
func (f *failing) Close() error             { return f.err }

// describe shows attachments in one line.
func describe(list []Attachment) string {
	var b strings.Builder
	for _, a := range list {
		fmt.Fprintf(&b, "%q (%s, %d, %d, %d bytes) ", a.Name, a.MediaType, a.LogTime, a.CreateTime, len(a.Content))
	}
	return b.String()
}

// checkExtras compares attachments and metadata records.
func checkExtras(t *testing.T, r storage.Reader, want Recording) {
	t.Helper()
	attachments, records, err := ReadExtras(r)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(attachments, want.Attachments, func(a, b Attachment) bool {
		return a.Name == b.Name && a.MediaType == b.MediaType && a.LogTime == b.LogTime && a.CreateTime == b.CreateTime &&
			bytes.Equal(a.Content, b.Content)
	}) {
		t.Errorf("attachments are %s; want %s", describe(attachments), describe(want.Attachments))
	}
	if !slices.EqualFunc(records, want.Records, func(a, b MetadataRecord) bool {
		return a.Name == b.Name &&
			maps.Equal(a.Values, b.Values)
	}) {
		t.Errorf("metadata records are %q; want %q", records, want.Records)
	}
}
