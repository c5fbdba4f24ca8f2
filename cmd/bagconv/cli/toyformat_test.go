package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// toy is a whole format as somebody may add it: JSON after a magic, with an encoding of
// its own, options, attachments, publish times, and files that lie beside a recording.
var toy = &storage.Format{
	Name: "toy", Help: "toy recording", Extensions: []string{".toy"}, Native: "toy",
	Carries: func(string, string) bool { return true },
	Options: toyOptions, Metadata: []string{"*"}, QoS: true, TopicMetadata: func(string) bool { return true },
	PublishTime: true, Sequence: true, Extras: true,
	Sniff: func(_ storage.FS, _ string, head []byte) bool { return bytes.HasPrefix(head, []byte(toyMagic)) },
	Identify: func(path string, _ []byte) (what, hint string) {
		if strings.HasSuffix(path, toyNotes) {
			return "the notes of a toy recording", "name the recording itself"
		}
		return "", ""
	},
	Files: func(_ storage.FS, path string) (storage.Files, error) {
		files := storage.Files{Messages: []string{path}}
		if _, err := os.Stat(path + toyNotes); err == nil {
			files.Beside = []string{path + toyNotes}
		}
		return files, nil
	},
	Recordings: func(_ storage.FS, _ string, names []string) (groups []storage.Group, rest []string) {
		for _, name := range names {
			switch {
			case slices.Contains(names, name+toyNotes):
				groups = append(groups, storage.Group{Name: name, Parts: []string{name}, Beside: []string{name + toyNotes}})
			case !strings.HasSuffix(name, toyNotes) || !slices.Contains(names, strings.TrimSuffix(name, toyNotes)):
				rest = append(rest, name)
			}
		}
		return groups, rest
	},
	Open: openToy, Create: createToy,
}

const (
	toyMagic = "TOY1\n"
	toyNotes = ".notes"
)

var toyOptions = storage.Options{{Name: "mood", Kind: storage.OptionChoice, Values: []string{"calm", "wild"}, Help: "how it feels"}}

// toyFile is what a recording has.
type toyFile struct {
	storagetest.Recording
	Mood string
}

type toyReader struct {
	toyFile
	info *storage.Info
	next int
}

func openToy(_ context.Context, path string, _ storage.ReadOptions) (storage.Reader, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &toyReader{}
	if err := json.Unmarshal(bytes.TrimPrefix(b, []byte(toyMagic)), &r.toyFile); err != nil {
		return nil, &storage.Error{Format: "toy", Path: path, Offset: -1, What: "recording", Err: fmt.Errorf("%w: %w", storage.ErrCorrupt, err)}
	}
	r.info = &storage.Info{Format: "toy", Version: "1", Path: path, Size: int64(len(b)), Files: []string{path}, Messages: int64(len(r.Messages)),
		Metadata: r.Metadata, Facts: []storage.Fact{{Key: "mood", Value: r.Mood}}}
	for i, t := range r.Topics {
		r.info.Topics = append(r.info.Topics, storage.TopicInfo{Topic: t, ID: storage.TopicID(i)})
	}
	for i, m := range r.Messages {
		r.info.Topics[m.Topic].Messages++
		if i == 0 {
			r.info.Start, r.info.End = m.LogTime, m.LogTime
		}
		r.info.Start, r.info.End = min(r.info.Start, m.LogTime), max(r.info.End, m.LogTime)
	}
	return r, nil
}

func (r *toyReader) Info() (*storage.Info, error) { return r.info.Clone(), nil }
func (r *toyReader) Damage() storage.Damage       { return storage.Damage{} }
func (r *toyReader) Close() error                 { return nil }

func (r *toyReader) ReadNext() (*storage.Message, error) {
	if r.next == len(r.Messages) {
		return nil, io.EOF
	}
	r.next++
	return &r.Messages[r.next-1], nil
}

func (r *toyReader) Extras() (x storage.Extras, err error) {
	for i := range r.Attachments {
		x.Attachments = append(x.Attachments, *r.Attachments[i].Source())
	}
	for i := range r.Records {
		x.Metadata = append(x.Metadata, *r.Records[i].Source())
	}
	return x, nil
}

type toyWriter struct {
	toyFile
	out *iox.Output
	did bool // Finish
}

func createToy(_ context.Context, path string, o storage.WriteOptions) (storage.Writer, error) {
	if err := toyOptions.Check(&o); err != nil {
		return nil, err
	}
	out, err := iox.NewOutput(o.FS, path, o.Overwrite, !o.NoSync)
	return &toyWriter{toyFile: toyFile{storagetest.Recording{Metadata: o.Metadata}, o.Values["mood"]}, out: out}, err
}

func (w *toyWriter) Identity() storage.Identity { return storage.IdentityTopic }
func (w *toyWriter) Close() error               { return w.out.Abort() }

func (w *toyWriter) CreateTopic(t storage.Topic) (storage.TopicID, error) {
	w.Topics = append(w.Topics, t)
	return storage.TopicID(len(w.Topics) - 1), nil
}

func (w *toyWriter) Write(m *storage.Message) error {
	kept := *m
	kept.Data = bytes.Clone(m.Data)
	w.Messages = append(w.Messages, kept)
	return nil
}

func (w *toyWriter) WriteAttachment(a *storage.Attachment) error {
	content, err := a.Open()
	if err != nil {
		return err
	}
	b, err := io.ReadAll(content)
	w.Attachments = append(w.Attachments, storagetest.Attachment{Name: a.Name, MediaType: a.MediaType, LogTime: a.LogTime, CreateTime: a.CreateTime, Content: b})
	return errors.Join(err, content.Close())
}

func (w *toyWriter) WriteMetadata(m *storage.MetadataRecord) error {
	values, err := m.Values()
	w.Records = append(w.Records, storagetest.MetadataRecord{Name: m.Name, Values: values})
	return err
}

func (w *toyWriter) Finish() (string, error) {
	w.did = true
	b, err := json.Marshal(&w.toyFile)
	if err != nil {
		return "", err
	}
	return w.out.Temp(), os.WriteFile(w.out.Temp(), append([]byte(toyMagic), b...), 0o666)
}

func (w *toyWriter) Commit() error {
	if !w.did {
		if _, err := w.Finish(); err != nil {
			return err
		}
	}
	return w.out.Commit()
}
