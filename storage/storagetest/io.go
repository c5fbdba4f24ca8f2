package storagetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/bagconv/bagconv/storage"
)

// WriteAll writes a recording with the plain calls of Writer and commits it. On
// error nothing is left of it. A format without chunks is not asked for their size.
func WriteAll(f *storage.Format, path string, o storage.WriteOptions, r Recording) (err error) {
	w, err := r.create(f, path, withChunks(f, o))
	if err != nil {
		return err
	}
	if err = fill(w, r); err == nil {
		err = w.Commit()
	}
	return errors.Join(err, w.Close())
}

// create starts an output for a recording.
func (r *Recording) create(f *storage.Format, path string, o storage.WriteOptions) (storage.Writer, error) {
	if o.Metadata == nil {
		o.Metadata = r.Metadata
	}
	return f.Create(context.Background(), path, o)
}

// WriteBlocks does the same through OnBlock: blocks are encoded by several
// goroutines and appended in order by one more.
func WriteBlocks(f *storage.Format, path string, o storage.WriteOptions, r Recording) (err error) {
	w, err := r.create(f, path, withChunks(f, o))
	if err != nil {
		return err
	}
	err = throughBlocks(w, func() error { return fill(w, r) })
	if err == nil {
		err = w.Commit()
	}
	return errors.Join(err, w.Close())
}

// throughBlocks calls f, which writes to w, with the goroutines of OnBlock, and
// waits for them. A writer that hands out no blocks is written to as it is.
func throughBlocks(w storage.Writer, f func() error) error {
	blocks := storage.WriterCapabilities(w).Blocks
	if blocks == nil {
		return f()
	}
	type job struct {
		block    storage.PendingBlock
		done     chan error
		appended chan struct{}
	}
	order := make(chan job, 4)
	finished := make(chan error)
	go func() {
		var first error
		for j := range order {
			err := <-j.done
			if err == nil && first == nil {
				err = j.block.Append()
			}
			if first == nil {
				first = err
			}
			close(j.appended)
		}
		finished <- first
	}()
	blocks.OnBlock(func(b storage.PendingBlock) error {
		lent := b.Lent() // asked before b is somebody else's
		j := job{b, make(chan error, 1), make(chan struct{})}
		go func() { j.done <- b.Encode() }()
		order <- j
		if lent {
			<-j.appended
		}
		return nil
	})
	err := f()
	if err == nil {
		err = blocks.Flush(false)
	}
	close(order)
	if e := <-finished; err == nil {
		err = e
	}
	return err
}

// fill writes topics and messages. The memory of each message is spoilt as soon
// as Write has returned: a writer that keeps it is found out.
func fill(w storage.Writer, r Recording) error {
	ids := make([]storage.TopicID, len(r.Topics))
	for i, t := range r.Topics {
		id, err := w.CreateTopic(t)
		if err != nil {
			return err
		}
		if id != storage.TopicID(i) {
			return fmt.Errorf("topic %d was given id %d", i, id)
		}
		ids[i] = id
	}
	if x := storage.WriterCapabilities(w).Extras; x != nil {
		if err := fillExtras(x, r); err != nil {
			return err
		}
	}
	var data []byte
	for _, m := range r.Messages {
		data = append(data[:0], m.Data...)
		c := m
		c.Topic, c.Data = ids[m.Topic], data
		if err := w.Write(&c); err != nil {
			return err
		}
		for i := range data {
			data[i] = 0xdd
		}
		c = storage.Message{Topic: 1 << 31}
	}
	return nil
}

// ReadAll reads by ReadNext. The data of each message is copied, then spoilt: a
// reader that needs it again is found out.
func ReadAll(r storage.Reader) ([]storage.Message, error) {
	var out []storage.Message
	for {
		m, err := r.ReadNext()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		c := *m
		c.Data = bytes.Clone(m.Data)
		for i := range m.Data {
			m.Data[i] = 0xdd
		}
		out = append(out, c)
	}
}

// ReadBlocks reads all blocks with several goroutines, each with a batch of its
// own that it uses again and again, and returns the messages in the order of
// blocks.
func ReadBlocks(r storage.BlockReader, workers int) ([]storage.Message, error) {
	blocks, _, err := r.Blocks(context.Background(), nil)
	if err != nil {
		return nil, err
	}
	parts, errs := make([][]storage.Message, len(blocks)), make([]error, len(blocks))
	next := make(chan int)
	var wg sync.WaitGroup
	for range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var batches [2]storage.Batch // the one before must stay good while the next is read
			var before []storage.Message
			at := -1
			for i := range next {
				b := &batches[i&1]
				if at >= 0 && at&1 == i&1 {
					parts[at] = clone(before)
					at = -1
				}
				errs[i] = r.ReadBlock(context.Background(), i, b)
				if at >= 0 {
					parts[at] = clone(before)
				}
				before, at = b.Messages, i
			}
			if at >= 0 {
				parts[at] = clone(before)
			}
		}()
	}
	for i := range blocks {
		next <- i
	}
	close(next)
	wg.Wait()
	var out []storage.Message
	for i := range parts {
		if errs[i] != nil {
			return out, errs[i]
		}
		out = append(out, parts[i]...)
	}
	return out, nil
}

func clone(msgs []storage.Message) []storage.Message {
	out := make([]storage.Message, len(msgs))
	for i, m := range msgs {
		m.Data = bytes.Clone(m.Data)
		out[i] = m
	}
	return out
}

// Diff returns the first difference between two lists of messages, "" if they are equal. Topics are
// compared by their number.
func Diff(got, want []storage.Message) string {
	for i := range min(len(got), len(want)) {
		g, w := got[i], want[i]
		if g.Topic != w.Topic || g.LogTime != w.LogTime || g.PublishTime != w.PublishTime || g.Sequence != w.Sequence ||
			!bytes.Equal(g.Data, w.Data) {
			return fmt.Sprintf("message %d is %s; want %s", i, show(&g), show(&w))
		}
	}
	if len(got) != len(want) {
		return fmt.Sprintf("%d messages, want %d", len(got), len(want))
	}
	return ""
}

func show(m *storage.Message) string {
	return fmt.Sprintf("topic %d, time %d, published %d, sequence %d, %d bytes % .20x", m.Topic, m.LogTime, m.PublishTime,
		m.Sequence, len(m.Data), m.Data)
}
