// Package toy is a whole format as somebody outside of this repository adds it: JSON after a magic, with an encoding of
// its own, options, attachments, publish times, and notes that lie beside a recording.
//
//	TOY1\n   {"Topics": [...], "Messages": [{"Topic": 0, "LogTime": 5, "Data": "base64"}], "Mood": "calm", ...}
//
// It imports public packages only. A recording is read and written as a whole, so it is for small ones.
package toy

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/files"
)

// Format is the format.
var Format = &storage.Format{
	Name: "toy", Help: "toy recording", Extensions: []string{".toy"}, Holds: storage.Capacity{
		Native:        "toy",
		Carries:       func(string, string) bool { return true },
		Metadata:      []string{"*"},
		QoS:           true,
		TopicMetadata: func(string) bool { return true },
		PublishTime:   true,
		Sequence:      true,
		Extras:        true,
	},
	Options: options,

	Layout: storage.Layout{Files: filesOf, Recordings: recordings, Identify: identify},
	Sniff:  func(_ storage.FS, _ string, head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) },
	Open:   open, Create: create,
}

const (
	magic     = "TOY1\n"
	notes     = ".notes"
	maxMemory = 256 << 20 // bytes of a file
)

var options = storage.Options{{Name: "mood", Kind: storage.OptionChoice, Values: []string{"calm", "wild"},
	Help: "how it feels"}}

// identify explains the notes.
func identify(path string, _ []byte) (what, hint string) {
	if strings.HasSuffix(path, notes) {
		return "the notes of a toy recording", "name the recording itself"
	}
	return "", ""
}

// filesOf lists a recording and its notes.
func filesOf(fsys storage.FS, path string) (storage.Files, error) {
	list := storage.Files{Messages: []string{path}}
	if _, err := files.FS(fsys).Stat(path + notes); err == nil {
		list.Beside = []string{path + notes}
	}
	return list, nil
}

// recordings takes notes to the recording beside them.
func recordings(_ storage.FS, _ string, names []string) (groups []storage.Group, rest []string) {
	for _, name := range names {
		switch {
		case slices.Contains(names, name+notes):
			groups = append(groups, storage.Group{Name: name, Parts: []string{name}, Beside: []string{name + notes}})
		case !strings.HasSuffix(name, notes) || !slices.Contains(names, strings.TrimSuffix(name, notes)):
			rest = append(rest, name)
		}
	}
	return groups, rest
}

// A content is what a recording has.
type content struct {
	Topics      []storage.Topic
	Messages    []storage.Message
	Metadata    map[string]string
	Attachments []attachment
	Records     []record
	Mood        string
}

// An attachment is a file with what is known of it, times in ns since 1970.
type attachment struct {
	Name, MediaType     string
	LogTime, CreateTime int64
	Content             []byte
}

// A record is a table of texts.
type record struct {
	Name   string
	Values map[string]string
}

// fail returns an error about a recording.
func fail(path, what string, err error) error {
	return &storage.Error{Format: "toy", Path: path, Offset: -1, What: what, Err: err}
}

// A reader reads a recording. See storage.Reader.
type reader struct {
	content
	info *storage.Info
	next int
}

func open(_ context.Context, path string, o storage.ReadOptions) (_ storage.Reader, err error) {
	f, err := files.FS(o.FS).Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() > maxMemory {
		return nil, fail(path, "recording", fmt.Errorf("larger than %d MiB: %w", maxMemory>>20, storage.ErrUnsupported))
	}
	b := make([]byte, st.Size())
	if err := files.ReadFull(f, b, 0); err != nil {
		return nil, fail(path, "recording", err)
	}
	r := &reader{}
	if err := json.Unmarshal(bytes.TrimPrefix(b, []byte(magic)), &r.content); err != nil {
		return nil, fail(path, "recording", fmt.Errorf("%w: %w", storage.ErrCorrupt, err))
	}
	return r, r.describe(path, st.Size())
}

// describe makes the description.
func (r *reader) describe(path string, size int64) error {
	r.info = &storage.Info{Format: "toy", Version: "1", Path: path, Size: size, Files: []string{path},
		Messages: int64(len(r.Messages)),
		Metadata: r.Metadata, Facts: []storage.Fact{{Key: "mood", Value: r.Mood}}}
	for i, t := range r.Topics {
		r.info.Topics = append(r.info.Topics, storage.TopicInfo{Topic: t, ID: storage.TopicID(i)})
	}
	for i, m := range r.Messages {
		if int(m.Topic) >= len(r.Topics) {
			return fail(path, "message", fmt.Errorf("topic %d of %d: %w", m.Topic, len(r.Topics), storage.ErrCorrupt))
		}
		r.info.Topics[m.Topic].Messages++
		if i == 0 {
			r.info.Start, r.info.End = m.LogTime, m.LogTime
		}
		r.info.Start, r.info.End = min(r.info.Start, m.LogTime), max(r.info.End, m.LogTime)
	}
	return nil
}

func (r *reader) Info() *storage.Info    { return r.info.Clone() }
func (r *reader) Damage() storage.Damage { return storage.Damage{} }
func (r *reader) Close() error           { return nil }

func (r *reader) ReadNext() (*storage.Message, error) {
	if r.next == len(r.Messages) {
		return nil, io.EOF
	}
	r.next++
	return &r.Messages[r.next-1], nil
}

// Extras implements storage.ExtraReader.
func (r *reader) Extras() (x storage.Extras, err error) {
	for _, a := range r.Attachments {
		x.Attachments = append(x.Attachments, storage.Attachment{Name: a.Name, MediaType: a.MediaType, LogTime: a.LogTime,
			CreateTime: a.CreateTime,
			Size:       int64(len(a.Content)),
			Open:       func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(a.Content)), nil }})
	}
	for _, m := range r.Records {
		x.Metadata = append(x.Metadata, storage.MetadataRecord{Name: m.Name, Values: func() (map[string]string,
			error) {
			return maps.Clone(m.Values), nil
		}})
	}
	return x, nil
}

// A writer writes a recording. See storage.Writer.
type writer struct {
	content
	path string
	fs   storage.FS
	out  *files.Output
	sync bool  // wait for the disk
	err  error // of the first call that failed, or that nothing can follow
	done bool  // Finish
}

var errEnded = errors.New("the writer has ended")

func create(_ context.Context, path string, o storage.WriteOptions) (storage.Writer, error) {
	if err := options.Check(&o); err != nil {
		return nil, fail(path, "option", err)
	}
	out, err := files.NewOutput(o.FS, path, o.Overwrite, !o.NoSync)
	if err != nil {
		return nil, fail(path, "create", err)
	}
	return &writer{content: content{Metadata: o.Metadata, Mood: o.Values["mood"]}, path: path, fs: files.FS(o.FS),
		out: out, sync: !o.NoSync}, nil
}

func (w *writer) Identity() storage.Identity { return storage.IdentityTopic }

// Close removes an output that was not committed.
func (w *writer) Close() error {
	w.err = cmp.Or(w.err, errEnded)
	return w.out.Abort()
}

func (w *writer) CreateTopic(t storage.Topic) (storage.TopicID, error) {
	if w.err != nil {
		return 0, w.err
	}
	w.Topics = append(w.Topics, t)
	return storage.TopicID(len(w.Topics) - 1), nil
}

func (w *writer) Write(m *storage.Message) error {
	if w.err == nil && int(m.Topic) >= len(w.Topics) {
		w.err = fail(w.path, "message", fmt.Errorf("topic %d of %d", m.Topic, len(w.Topics)))
	}
	if w.err != nil {
		return w.err
	}
	kept := *m
	kept.Data = bytes.Clone(m.Data) // a writer keeps no reference
	w.Messages = append(w.Messages, kept)
	return nil
}

// WriteAttachment implements storage.ExtraWriter.
func (w *writer) WriteAttachment(a *storage.Attachment) error {
	if w.err != nil {
		return w.err
	}
	b, err := contentOf(a)
	if err != nil {
		w.err = fail(w.path, "attachment", err)
		return w.err
	}
	w.Attachments = append(w.Attachments, attachment{a.Name, a.MediaType, a.LogTime, a.CreateTime, b})
	return nil
}

// contentOf reads an attachment, which has as many bytes as its Size tells.
func contentOf(a *storage.Attachment) (_ []byte, err error) {
	f, err := a.Open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	b, err := io.ReadAll(io.LimitReader(f, a.Size+1))
	if err == nil && int64(len(b)) != a.Size {
		err = fmt.Errorf("%d bytes and more, and it should have %d", len(b), a.Size)
	}
	return b, err
}

// WriteMetadata implements storage.ExtraWriter.
func (w *writer) WriteMetadata(m *storage.MetadataRecord) error {
	if w.err != nil {
		return w.err
	}
	values, err := m.Values()
	if err != nil {
		w.err = fail(w.path, "metadata record", err)
		return w.err
	}
	w.Records = append(w.Records, record{m.Name, values})
	return nil
}

// Finish completes the output under its temporary name.
func (w *writer) Finish() (out storage.Output, err error) {
	if w.err == nil {
		w.done, w.err = true, errEnded
		if err := w.save(); err != nil {
			w.done, w.err = false, fail(w.path, "write", err)
			return out, w.err
		}
		return storage.Output{Path: w.out.Temp()}, nil
	}
	return out, w.err
}

// save writes the file.
func (w *writer) save() error {
	b, err := json.Marshal(&w.content)
	if err != nil {
		return err
	}
	f, err := w.fs.OpenFile(w.out.Temp(), os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(append([]byte(magic), b...))
	if err == nil && w.sync {
		err = files.Sync(f)
	}
	return errors.Join(err, f.Close())
}

// Commit gives the output its name.
func (w *writer) Commit() error {
	if !w.done {
		if _, err := w.Finish(); err != nil {
			return err
		}
	}
	return w.out.Commit()
}
