package storagetest

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

type refReader struct {
	ctx    context.Context
	path   string
	size   int64
	rec    Recording
	at     int
	buf    []byte
	broken string
	shared *storage.Info // of a broken one
}

func openRef(ctx context.Context, path string, o storage.ReadOptions, broken string) (storage.Reader, error) {
	f, err := iox.FS(o.FS).Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b := make([]byte, st.Size())
	for at := 0; at < len(b) && err == nil; at += 16 << 10 {
		err = iox.ReadFull(f, b[at:min(len(b), at+16<<10)], int64(at))
	}
	ignores := broken == "ignores read errors" || broken == "queries ignore read errors"
	if err != nil && !ignores {
		return nil, err
	}
	r := &refReader{ctx: ctx, path: path, size: st.Size(), broken: broken}
	if len(b) < 4 {
		return nil, errors.New("ref: too short")
	}
	if err := gob.NewDecoder(bytes.NewReader(b[4:])).Decode(&r.rec); err != nil && !ignores {
		return nil, err
	}
	for _, m := range r.rec.Messages {
		if int(m.Topic) >= len(r.rec.Topics) {
			return nil, fmt.Errorf("ref: a message of topic %d", m.Topic)
		}
	}
	if broken == "touches the source" {
		return r, os.WriteFile(filepath.Join(filepath.Dir(path), "lock"), nil, 0o666)
	}
	return r, nil
}

func (r *refReader) Info() *storage.Info {
	info := &storage.Info{Format: "ref", Path: r.path, Size: r.size, Files: []string{r.path},
		Messages: int64(len(r.rec.Messages))}
	if r.broken != "drops the recording's metadata" {
		info.Metadata = maps.Clone(r.rec.Metadata)
	}
	for i, t := range r.rec.Topics {
		info.Topics = append(info.Topics, storage.TopicInfo{Topic: r.topic(t), ID: storage.TopicID(i)})
	}
	for i, m := range r.rec.Messages {
		if i == 0 {
			info.Start, info.End = m.LogTime, m.LogTime
		}
		info.Start, info.End = min(info.Start, m.LogTime), max(info.End, m.LogTime)
		info.Topics[m.Topic].Messages++
	}
	if r.broken == "miscounts" {
		info.Messages++
	}
	if r.broken == "spoils data too early" {
		clear(r.buf)
	}
	switch r.broken {
	case "Info that grows":
		if r.at > 0 {
			info.Warnings = append(info.Warnings, storage.Warning{Code: "late"})
		}
	case "Info that is shared":
		if r.shared == nil {
			r.shared = info
		}
		return r.shared
	case "Info without damage":
		info.Warnings = append(info.Warnings, storage.Warning{Code: "early"})
	}
	return info
}

func (r *refReader) Damage() (d storage.Damage) {
	if r.broken == "finds damage that is not there" && r.at > 0 {
		d.Warnings = append(d.Warnings, storage.Warning{Code: "late"})
	}
	return d
}

// topic returns a topic as it is, or without one thing.
func (r *refReader) topic(t storage.Topic) storage.Topic {
	switch r.broken {
	case "drops types":
		t.Type = ""
	case "drops encodings":
		t.Encoding = ""
	case "carries one encoding in truth":
		t.Encoding = "x"
	case "drops definitions":
		t.Schema.Data = nil
	case "drops the language of definitions":
		t.Schema.Encoding = ""
	case "one definition of a type":
		for _, o := range r.rec.Topics {
			if o.Type == t.Type {
				t.Schema = o.Schema
				break
			}
		}
	case "drops quality of service":
		t.QoS = nil
	case "one profile of a topic":
		t.QoS = t.QoS[:min(len(t.QoS), 1)]
	case "drops metadata of topics":
		t.Metadata = nil
	}
	return t
}

// message is the same for messages.
func (r *refReader) message(m *storage.Message) {
	switch r.broken {
	case "drops publish times":
		m.PublishTime = m.LogTime
	case "drops sequence numbers":
		m.Sequence = 0
	}
}

func (r *refReader) ReadNext() (*storage.Message, error) {
	if r.at == len(r.rec.Messages) {
		return nil, io.EOF
	}
	m := r.rec.Messages[r.at]
	r.message(&m)
	r.at++
	r.buf = append(r.buf[:0], m.Data...)
	m.Data = r.buf
	return &m, nil
}

func (r *refReader) Extras() (x storage.Extras, err error) {
	names := map[string]bool{}
	for i := range r.rec.Attachments {
		a := *r.rec.Attachments[i].Source()
		switch r.broken {
		case "drops attachments":
			continue
		case "one attachment of a name":
			if names[a.Name] {
				continue
			}
		case "drops media types":
			a.MediaType = ""
		case "drops times of attachments":
			a.CreateTime = a.LogTime
		case "reads attachments once":
			whole := bytes.NewReader(r.rec.Attachments[i].Content)
			a.Open = func() (io.ReadCloser, error) { return io.NopCloser(whole), nil }
		}
		names[a.Name] = true
		x.Attachments = append(x.Attachments, a)
	}
	names = map[string]bool{}
	for i := range r.rec.Records {
		m := r.rec.Records[i].Source()
		if r.broken == "drops metadata records" || r.broken == "one metadata record of a name" && names[m.Name] {
			continue
		}
		names[m.Name] = true
		x.Metadata = append(x.Metadata, *m)
	}
	return x, nil
}

func (r *refReader) Close() error { return nil }
