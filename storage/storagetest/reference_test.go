package storagetest

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// The reference is the smallest format that passes the suite: a magic word, then
// the recording as gob. broken names one thing that it does wrong.
func reference(broken string) *storage.Format {
	options := storage.Options{{Name: storage.NameCompression, Kind: storage.OptionChoice, Values: []string{"none"}}}
	return &storage.Format{
		Name: "ref", Extensions: []string{".ref"}, Native: "x", Carries: func(encoding, schema string) bool { return encoding != "cdr" }, Options: options,
		Metadata: []string{"*"}, QoS: true, TopicMetadata: func(string) bool { return true }, PublishTime: true, Sequence: true, Extras: broken != "hides its place for extras",
		MinTime: 0, MaxTime: 1 << 62,
		Sniff: func(_ storage.FS, path string, head []byte) bool {
			if broken == "sniffs at the disk" {
				head, _ = os.ReadFile(path)
			}
			return bytes.HasPrefix(head, []byte("REF1"))
		},
		Open: func(ctx context.Context, path string, o storage.ReadOptions) (storage.Reader, error) {
			return openRef(ctx, path, o, broken)
		},
		Create: func(_ context.Context, path string, o storage.WriteOptions) (storage.Writer, error) {
			if err := options.Check(&o); err != nil && broken != "takes any option" {
				return nil, err
			}
			out, err := iox.NewOutput(o.FS, path, o.Overwrite || broken == "overwrites", !o.NoSync)
			if err != nil {
				return nil, err
			}
			w := &refWriter{out: out, fs: iox.FS(o.FS), broken: broken, rec: Recording{Metadata: maps.Clone(o.Metadata)}}
			if broken == "shows itself early" {
				return w, os.WriteFile(path, nil, 0o666)
			}
			return w, nil
		},
	}
}

type refWriter struct {
	out     *iox.Output
	fs      storage.FS
	broken  string
	rec     Recording
	err     error
	late    []byte // what Commit writes, of a mutant
	onBlock func(storage.PendingBlock) error

	finished bool
}

var errEnded = errors.New("ref: the writer has ended")

func (w *refWriter) fail(err error) error {
	if w.err == nil && w.broken != "forgets errors" {
		w.err = err
	}
	return err
}

func (w *refWriter) Identity() storage.Identity { return storage.IdentityTopic }

func (w *refWriter) CreateTopic(t storage.Topic) (storage.TopicID, error) {
	if w.err != nil {
		return 0, w.err
	}
	switch w.broken {
	case "refuses a second topic of one name for good", "takes two topics of one name for one":
		for i := range w.rec.Topics {
			if w.rec.Topics[i].Name != t.Name {
				continue
			}
			if w.broken == "takes two topics of one name for one" {
				return storage.TopicID(i), nil
			}
			return 0, w.fail(fmt.Errorf("ref: a second topic %q: %w", t.Name, storage.ErrUnsupported))
		}
	}
	w.rec.Topics = append(w.rec.Topics, t)
	return storage.TopicID(len(w.rec.Topics) - 1), nil
}

func (w *refWriter) Write(m *storage.Message) error {
	switch {
	case w.err != nil:
		return w.err
	case int(m.Topic) >= len(w.rec.Topics):
		return w.fail(fmt.Errorf("ref: no topic %d", m.Topic))
	case m.LogTime < 0 || m.LogTime > 1<<62:
		return w.fail(fmt.Errorf("ref: time %d: %w", m.LogTime, storage.ErrUnsupported))
	}
	c := *m
	if w.broken != "keeps data" {
		c.Data = bytes.Clone(m.Data)
	}
	w.rec.Messages = append(w.rec.Messages, c)
	return nil
}

func (w *refWriter) WriteAttachment(a *storage.Attachment) error {
	if w.err != nil {
		return w.err
	}
	content, err := a.Open()
	if err != nil {
		return w.fail(err)
	}
	b, err := io.ReadAll(content)
	if err = errors.Join(err, content.Close()); err != nil {
		return w.fail(err)
	}
	if int64(len(b)) != a.Size && w.broken != "takes attachments of any size" {
		return w.fail(fmt.Errorf("ref: %d bytes of attachment %q, want %d", len(b), a.Name, a.Size))
	}
	w.rec.Attachments = append(w.rec.Attachments, Attachment{a.Name, a.MediaType, a.LogTime, a.CreateTime, b})
	return nil
}

func (w *refWriter) WriteMetadata(m *storage.MetadataRecord) error {
	if w.err != nil {
		return w.err
	}
	values, err := m.Values()
	if err != nil {
		return w.fail(err)
	}
	w.rec.Records = append(w.rec.Records, MetadataRecord{m.Name, values})
	return nil
}

func (w *refWriter) OnBlock(f func(storage.PendingBlock) error) { w.onBlock = f }

func (w *refWriter) Flush() error {
	if w.onBlock == nil {
		return w.err
	}
	return w.onBlock(refBlock{w})
}

// A refBlock stands for the work that can be done elsewhere; there is none here.
type refBlock struct{ w *refWriter }

func (b refBlock) Encode() error { return nil }
func (b refBlock) Lent() bool    { return false }
func (b refBlock) Append() error {
	if b.w.broken == "loses a block" && len(b.w.rec.Messages) > 100 {
		b.w.rec.Messages = b.w.rec.Messages[100:]
	}
	return nil
}

func (w *refWriter) Finish() (string, error) {
	if w.err != nil {
		return "", w.err
	}
	if n := len(w.rec.Messages); w.broken == "loses the last message" && n > 0 {
		w.rec.Messages = w.rec.Messages[:n-1]
	}
	var b bytes.Buffer
	b.WriteString("REF1")
	if err := gob.NewEncoder(&b).Encode(w.rec); err != nil {
		return "", w.fail(err)
	}
	if w.broken == "other bytes each time" {
		b.Write(binary.LittleEndian.AppendUint64(nil, rand.Uint64()))
	}
	if w.broken == "finishes at the end" {
		w.late = b.Bytes()
	} else if err := w.save(b.Bytes()); err != nil && w.broken != "ignores write errors" {
		return "", w.fail(err)
	}
	_ = w.fail(errEnded)
	w.finished = true
	if w.broken == "commits when it finishes" {
		return w.out.Final(), w.out.Commit()
	}
	return w.out.Temp(), nil
}

func (w *refWriter) Commit() error {
	if !w.finished {
		if _, err := w.Finish(); err != nil {
			return err
		}
	}
	w.finished = false
	if w.late != nil {
		if err := w.save(w.late); err != nil {
			return err
		}
	}
	err := w.out.Commit()
	if err != nil {
		w.err = err
		if w.broken == "hides the cause" {
			return errors.New("ref: something failed")
		}
	}
	return err
}

func (w *refWriter) save(b []byte) error {
	f, err := w.fs.OpenFile(w.out.Temp(), os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	for at := 0; at < len(b) && err == nil; at += 16 << 10 {
		_, err = f.WriteAt(b[at:min(len(b), at+16<<10)], int64(at))
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func (w *refWriter) Close() error {
	if w.err == nil {
		_ = w.fail(errEnded)
	}
	w.finished = false
	if w.broken == "leaves a temporary file" {
		return os.WriteFile(w.out.Temp(), nil, 0o666)
	}
	return w.out.Abort()
}

const refBlockLen = 100

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

func (r *refReader) Info() (*storage.Info, error) {
	info := &storage.Info{Format: "ref", Path: r.path, Size: r.size, Files: []string{r.path}, Messages: int64(len(r.rec.Messages))}
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
		return r.shared, nil
	case "Info without damage":
		info.Warnings = append(info.Warnings, storage.Warning{Code: "early"})
	}
	return info, nil
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

// Blocks have the times of the whole recording, and BlockTimes their own.
func (r *refReader) Blocks() ([]storage.Block, error) {
	all := times(r.rec.Messages)
	if r.broken == "bounds of parts that are too narrow" {
		all.End--
	}
	var out []storage.Block
	for at := 0; at < len(r.rec.Messages); at += refBlockLen {
		b := all
		b.Topics = topicsOf(r.rec.Messages[at:min(len(r.rec.Messages), at+refBlockLen)])
		if r.broken == "blocks without one of their topics" && len(b.Topics) > 1 {
			b.Topics = b.Topics[1:]
		}
		out = append(out, b)
	}
	return out, nil
}

func (r *refReader) Order() storage.Order { return storage.OrderParts }

func (r *refReader) BlockTimes(context.Context) ([]storage.Block, error) {
	var out []storage.Block
	for at := 0; at < len(r.rec.Messages); at += refBlockLen {
		b := times(r.rec.Messages[at:min(len(r.rec.Messages), at+refBlockLen)])
		if r.broken == "times of blocks that are too wide" {
			b.Start--
		}
		out = append(out, b)
	}
	return out, nil
}

func times(msgs []storage.Message) storage.Block {
	b := storage.Block{Offset: -1, Messages: -1}
	for i, m := range msgs {
		if i == 0 {
			b.Start, b.End, b.Timed = m.LogTime, m.LogTime, true
		}
		b.Start, b.End = min(b.Start, m.LogTime), max(b.End, m.LogTime)
	}
	return b
}

func topicsOf(msgs []storage.Message) (topics []storage.TopicID) {
	for _, m := range msgs {
		if !slices.Contains(topics, m.Topic) {
			topics = append(topics, m.Topic)
		}
	}
	return topics
}

func (r *refReader) ReadBlock(ctx context.Context, i int, b *storage.Batch) error {
	if err := ctx.Err(); err != nil && r.broken != "does not stop" {
		return err
	}
	b.Messages, b.Buf = b.Messages[:0], nil
	shared := r.broken == "shares memory of blocks"
	if shared {
		r.buf = r.buf[:0]
	}
	for _, m := range r.rec.Messages[i*refBlockLen : min(len(r.rec.Messages), (i+1)*refBlockLen)] {
		if shared {
			at := len(r.buf)
			r.buf = append(r.buf, m.Data...)
			m.Data = r.buf[at:]
		} else {
			m.Data = bytes.Clone(m.Data)
		}
		r.message(&m)
		b.Messages = append(b.Messages, m)
	}
	if r.broken == "swaps messages of blocks" && len(b.Messages) > 1 {
		b.Messages[0], b.Messages[1] = b.Messages[1], b.Messages[0]
	}
	return nil
}

// Query sorts all messages.
func (r *refReader) Query(ctx context.Context, q storage.Query) iter.Seq2[*storage.Message, error] {
	return func(yield func(*storage.Message, error) bool) {
		for _, id := range q.Topics {
			if int(id) >= len(r.rec.Topics) && r.broken != "queries any topic" {
				yield(nil, fmt.Errorf("ref: no topic %d", id))
				return
			}
		}
		if (q.Skip < 0 || q.Limit < 0) && r.broken != "queries any topic" {
			yield(nil, errors.New("ref: a query of less than nothing"))
			return
		}
		switch r.broken {
		case "queries without topics":
			q.Topics = nil
		case "queries up to the end":
			if q.Start != 0 {
				q.End--
			}
		case "queries forwards only":
			q.Reverse = false
		case "skips one too many":
			if q.Skip > 0 {
				q.Skip++
			}
		case "queries move ReadNext":
			r.at = min(r.at+1, len(r.rec.Messages))
		}
		var buf []byte
		list := Select(r.rec.Messages, q)
		if r.broken == "queries lose a message" && len(list) > 1 {
			list = list[1:]
		}
		for _, m := range list {
			if err := ctx.Err(); err != nil && r.broken != "does not stop queries" {
				yield(nil, err)
				return
			}
			buf = append(buf[:0], m.Data...)
			if r.broken == "queries give memory that is not theirs to give" {
				buf = m.Data
			}
			m.Data = buf
			if !yield(&m, nil) && r.broken != "does not stop queries" {
				return
			}
		}
	}
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
