package rosbag2

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/storage"
)

// A writer writes one recording, whose parts are databases.
type writer struct {
	ros2bag.Writer
	packing packing

	runs   sync.Pool // of *rowRun
	topics []outTopic
	custom *string // of custom_data, once all topics are there
	live   bool    // there are checkpoints
}

// outTopic is a topic with what is known when it is finished.
type outTopic struct {
	storage.Topic
	ownSchema bool // message_definitions cannot hold its schema
}

// pageSize is the page size of every recording seen, and SQLite's default. Larger pages make small
// recordings ten times as big; see docs/benchmarks/sqlite.md.
const pageSize = 4096

// createWriter starts a recording at path: a folder, or one file if the name ends
// in .db3. See storage.Format.
func createWriter(ctx context.Context, path string, o storage.WriteOptions) (storage.Writer, error) {
	w, err := newWriter(ctx, path, o, strings.HasSuffix(path, db3.Ext))
	if err == nil {
		w.Packed = w.packing.mode == ros2bag.ModeFile
		err = w.Create()
	}
	if err != nil {
		return nil, err
	}
	return w, nil
}

// appendTo starts to add to the recording at path: parts to a folder, rows to a file. See storage.Format.
func appendTo(ctx context.Context, path string, o storage.WriteOptions) (storage.Writer, []storage.Topic, error) {
	if st, err := iox.FS(o.FS).Stat(path); err != nil {
		return nil, nil, err
	} else if !st.IsDir() {
		return appendToFile(ctx, path, o)
	}
	w, err := newWriter(ctx, path, o, false)
	if err == nil && w.packing.mode != "" {
		err = w.Fail("a part that is added, compressed", storage.ErrUnsupported)
	}
	var topics []storage.Topic
	if err == nil {
		topics, err = w.Append(openReader, nil)
	}
	if err != nil {
		return nil, nil, err
	}
	return w, topics, nil
}

// newWriter returns a writer with its options, without a place.
func newWriter(ctx context.Context, path string, o storage.WriteOptions, single bool) (*writer, error) {
	w := &writer{}
	w.Storage, w.Single = db3, single
	w.Begin, w.Amend = w.begin, w.amend
	w.Init(ctx, path, o)
	return w, w.checkOptions(&o)
}

// checkOptions refuses what cannot be written.
func (w *writer) checkOptions(o *storage.WriteOptions) (err error) {
	refuse := func(what, hint string) error {
		e := w.Fail(what, storage.ErrUnsupported)
		e.Hint = hint
		return e
	}
	if err := options.Check(o); err != nil {
		return w.Fail("option", err)
	}
	if w.Single && (o.SegmentSize > 0 || o.SegmentDuration > 0) {
		return refuse("segments", "a single file cannot have segments; write a folder")
	}
	if err := w.CheckStorage(); err != nil {
		return err
	}
	if w.packing, err = packingOf(o, w.Single); err != nil {
		return w.Fail("option", err)
	}
	return nil
}

// CreateTopic adds a row to the topics of all parts. See ros2bag.PartWriter.
func (p *outPart) CreateTopic(t storage.Topic) (storage.TopicID, error) {
	w := p.w
	t.QoS = slices.Clone(t.QoS)
	t.Metadata = maps.Clone(t.Metadata)
	t.Schema.Data = slices.Clone(t.Schema.Data)
	w.topics, w.custom = append(w.topics, outTopic{Topic: t}), nil
	return storage.TopicID(len(w.topics) - 1), nil
}

// rowOverhead is more than what a row of messages has besides its data.
const rowOverhead = 64

// Write adds a row to messages. See ros2bag.PartWriter.
func (p *outPart) Write(m *storage.Message) error {
	w := p.w
	switch {
	case int(m.Topic) >= len(w.topics):
		return fmt.Errorf("internal error: a message of topic %d, of %d: %w", m.Topic, len(w.topics), storage.ErrUnsupported)
	case len(m.Data) > sqlite.MaxRow-rowOverhead:
		return tooLarge(len(m.Data), w.topics[m.Topic].Name)
	case p.ended:
		return errors.New("internal error: a message after Flush")
	case p.about.Messages&255 == 0 && w.State.Ctx.Err() != nil:
		return w.State.Ctx.Err()
	}
	return p.add(int64(m.Topic)+1, m.LogTime, m.Data)
}

func tooLarge(size int, topic string) error {
	return fmt.Errorf("a message of %d bytes on topic %.200q; SQLite allows at most %d: %w", size, topic,
		sqlite.MaxRow-rowOverhead, storage.ErrUnsupported)
}

// amend adds to metadata.yaml what rosbag2 has no place for.
func (w *writer) amend(m *ros2bag.Metadata) error {
	if w.packing.mode == ros2bag.ModeMessage {
		m.Compression, m.Mode = compress.Zstd.Name(), w.packing.mode
	}
	if w.custom == nil { // all parts have the same definitions, and so the same custom_data
		var kept []ros2bag.CustomTopic
		for i := range w.topics {
			if c, ok := ros2bag.KeepTopic(&w.topics[i].Topic, w.topics[i].ownSchema); ok {
				kept = append(kept, c)
			}
		}
		value, err := ros2bag.EncodeCustom(kept)
		if err != nil {
			return err
		}
		w.custom = &value
	}
	if value := *w.custom; value != "" {
		if m.Custom == nil {
			m.Custom = map[string]string{}
		}
		m.Custom[ros2bag.CustomKey] = value
	}
	return nil
}

var (
	_ storage.Writer      = (*writer)(nil)
	_ storage.BlockWriter = (*writer)(nil)
)
