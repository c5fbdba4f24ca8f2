package storagetest

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

type refWriter struct {
	out     *iox.Output
	fs      storage.FS
	broken  string
	rec     Recording
	err     error
	late    []byte // what Commit writes, of a mutant
	onBlock func(storage.PendingBlock) error

	finished bool

	lock storage.File    // of the recording that it adds to; nil: none
	old  []storage.Topic // of that recording
	ids  []int           // in rec.Topics, of the topics of CreateTopic when it adds
}

// appendRef adds to a recording, by writing it anew.
func appendRef(ctx context.Context, path string, o storage.WriteOptions, broken string) (storage.Writer,
	[]storage.Topic, error) {
	lock, err := iox.FS(o.FS).OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	if err := iox.TryLock(lock); err != nil && broken != "two add at once" {
		return nil, nil, errors.Join(err, lock.Close())
	}
	r, err := openRef(ctx, path, storage.ReadOptions{FS: o.FS}, broken)
	if err != nil && broken == "adds to anything" {
		r, err = &refReader{}, nil
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("ref: %w: %w", storage.ErrCorrupt, err), lock.Close())
	}
	out, err := iox.NewOutput(o.FS, path, true, !o.NoSync)
	if err != nil {
		return nil, nil, errors.Join(err, lock.Close())
	}
	w := &refWriter{out: out, fs: iox.FS(o.FS), broken: broken, lock: lock, rec: r.(*refReader).rec}
	w.old = append([]storage.Topic{}, w.rec.Topics...)
	switch broken {
	case "adds to an empty copy":
		w.rec.Messages = nil
	case "shows what is added early":
		return w, w.old, os.Truncate(path, 3)
	}
	return w, w.old, nil
}

// continued returns the topic that t continues.
func (w *refWriter) continued(t *storage.Topic) (int, error) {
	for i := range w.old {
		if w.old[i].Name != t.Name || w.broken == "makes every topic anew" {
			continue
		}
		if err := t.Continues(&w.old[i]); err != nil && w.broken != "adds what contradicts" {
			return 0, err
		}
		return i, nil
	}
	w.rec.Topics = append(w.rec.Topics, *t)
	return len(w.rec.Topics) - 1, nil
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
	if w.lock != nil {
		i, err := w.continued(&t)
		if err != nil {
			return 0, err
		}
		w.ids = append(w.ids, i)
		return storage.TopicID(len(w.ids) - 1), nil
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
	case int(m.Topic) >= len(w.rec.Topics) || w.lock != nil && int(m.Topic) >= len(w.ids):
		return w.fail(fmt.Errorf("ref: no topic %d", m.Topic))
	case m.LogTime < 0 || m.LogTime > 1<<62:
		return w.fail(fmt.Errorf("ref: time %d: %w", m.LogTime, storage.ErrUnsupported))
	}
	c := *m
	if w.lock != nil {
		c.Topic = storage.TopicID(w.ids[m.Topic])
	}
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

func (w *refWriter) Flush(bool) error {
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

func (w *refWriter) Finish() (out storage.Output, err error) {
	if w.err != nil {
		return out, w.err
	}
	if n := len(w.rec.Messages); w.broken == "loses the last message" && n > 0 {
		w.rec.Messages = w.rec.Messages[:n-1]
	}
	var b bytes.Buffer
	b.WriteString("REF1")
	if err := gob.NewEncoder(&b).Encode(w.rec); err != nil {
		return out, w.fail(err)
	}
	if w.broken == "other bytes each time" {
		b.Write(binary.LittleEndian.AppendUint64(nil, rand.Uint64()))
	}
	if w.broken == "finishes at the end" {
		w.late = b.Bytes()
	} else if err := w.save(b.Bytes()); err != nil && w.broken != "ignores write errors" {
		return out, w.fail(err)
	}
	_ = w.fail(errEnded)
	w.finished = true
	if w.broken == "commits when it finishes" {
		return storage.Output{Path: w.out.Final()}, w.out.Commit()
	}
	return storage.Output{Path: w.out.Temp()}, nil
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
	if w.lock != nil {
		_ = w.lock.Close()
	}
	if w.broken == "leaves a temporary file" {
		return os.WriteFile(w.out.Temp(), nil, 0o666)
	}
	return w.out.Abort()
}
