package rosbag1

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// TestCopySeveral: chunks of bags that follow each other are copied if their connections have the same ids; if they
// do not, the larger bag keeps its ids.
func TestCopySeveral(t *testing.T) {
	messages := testMessages(900)
	for name, c := range map[string]struct {
		cut   int   // messages of the first bag
		order []int // of the connections of the second bag
		want  []bool
	}{
		"the next drive":               {400, []int{0, 1, 2, 3}, []bool{true, true}},
		"the second has other ids":     {600, []int{2, 0, 1, 3}, []bool{true, false}},
		"the larger second keeps them": {300, []int{2, 0, 1, 3}, []bool{false, true}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			o := storage.WriteOptions{Compression: "lz4", ChunkSize: 2000, NoSync: true}
			var readers []storage.Reader
			for i, part := range [][]storage.Message{messages[:c.cut], messages[c.cut:]} {
				order := []int{0, 1, 2, 3}
				if i > 0 {
					order = c.order
				}
				rec := storagetest.Recording{Messages: slices.Clone(part)}
				for _, k := range order {
					rec.Topics = append(rec.Topics, testTopics[k])
				}
				for k := range rec.Messages {
					rec.Messages[k].Topic = storage.TopicID(slices.Index(order, int(part[k].Topic)))
				}
				path := filepath.Join(dir, []string{"a.bag", "b.bag"}[i])
				if err := storagetest.WriteAll(Format, path, o, rec); err != nil {
					t.Fatal(err)
				}
				readers = append(readers, open(t, path, storage.ReadOptions{}))
			}
			out := filepath.Join(dir, "out.bag")
			if got := joinBags(t, readers, out); !slices.Equal(got, c.want) {
				t.Errorf("copied: %v, want %v", got, c.want)
			}
			sameBag(t, out, messages, testNames)
		})
	}
}

// joinBags writes bags of testTopics one after the other, and returns of which chunks were copied: all but the last.
func joinBags(t *testing.T, readers []storage.Reader, out string) (copied []bool) {
	t.Helper()
	sw, err := createWriter(context.Background(), out, storage.WriteOptions{Compression: "lz4", NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	w := sw.(*writer)
	w.threshold = 2000
	var ids, topics []storage.TopicID
	for _, topic := range testTopics {
		id, err := w.CreateTopic(topic)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	for _, r := range readers {
		for _, info := range r.Info().Topics {
			topics = append(topics, ids[slices.IndexFunc(testTopics, func(o storage.Topic) bool {
				return o.Name == info.Name && o.Metadata["callerid"] == info.Metadata["callerid"]
			})])
		}
	}
	if !w.CopyFrom(readers, topics) {
		t.Fatal("no chunk can be copied")
	}
	for _, sr := range readers {
		r, before := sr.(*reader), w.copied
		var b storage.Batch
		for i := range r.blocks {
			if err := r.ReadBlock(context.Background(), i, &b); err != nil {
				t.Fatal(err)
			}
			ok, err := w.CopyBlock(&b)
			for k := 0; err == nil && !ok && k < len(b.Messages); k++ {
				m := b.Messages[k]
				m.Topic = topics[m.Topic]
				err = w.Write(&m)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		topics = topics[len(r.conns.list):]
		copied = append(copied, w.copied-before >= len(r.blocks)-1)
		if !copied[len(copied)-1] && w.copied > before {
			t.Errorf("%d of %d chunks are copied", w.copied-before, len(r.blocks))
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	return copied
}
