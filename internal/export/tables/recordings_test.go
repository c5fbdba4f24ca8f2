package tables_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/export/columns"
	"github.com/bagconv/bagconv/internal/export/tables"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// A recorded topic is what becomes a table.
type recorded struct {
	typ     *message.Type
	program *columns.Program
	batches []*columns.Batch
	size    int
}

// writeRecordings writes tables of the types that the recordings of the tests have. A message has columns if, and only
// if, all of its values can be read.
func writeRecordings(t *testing.T, dir string) {
	t.Helper()
	tables, messages := 0, 0
	seen := map[string]bool{}
	for _, root := range samples.Roots(t) {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if info, err := d.Info(); err != nil || info.Size() > int64(samples.Pick(20, 2, 1))<<20 {
				return err
			}
			if r, err := all.Open(context.Background(), path, storage.ReadOptions{}); err == nil {
				for _, topic := range readRecording(t, path, r) {
					if topic.batches == nil {
						continue
					}
					key := fmt.Sprint(topic.typ.Name, topic.program.Schema()) // one table of each type, if not all are wanted
					if !seen[key] || samples.Pick(1, 0, 0) == 1 {
						seen[key] = true
						tables++
						messages += topic.batches[0].Len()
						writeRecorded(t, topic, filepath.Join(dir, fmt.Sprintf("recording-%04d", tables)))
					}
				}
				r.Close()
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if t.Logf("%d topics, %d messages", tables, messages); tables < 10 || messages < 50 {
		t.Fatal("these are too few")
	}
}

func readRecording(t *testing.T, path string, r storage.Reader) (topics []*recorded) {
	info := r.Info()
	mapper := mapping.New(mapping.Options{SourceDistro: mapping.DefaultDistro})
	topics = make([]*recorded, len(info.Topics))
	for i := range info.Topics {
		topics[i] = &recorded{}
		if typ, d, err := mapper.Type(&info.Topics[i].Topic); err == nil && d.Head == nil {
			p, err := columns.Compile(typ, columns.Options{Sequence: true})
			if err != nil {
				t.Errorf("%s, %s: %v", path, info.Topics[i].Name, err)
				continue
			}
			topics[i].typ, topics[i].program = typ, p
		}
	}
	for range 5000 {
		m, err := r.ReadNext()
		if err != nil {
			break
		}
		if int(m.Topic) >= len(topics) || topics[m.Topic].typ == nil || len(m.Data) > 1<<20 {
			continue
		}
		if err := topics[m.Topic].add(m); err != nil {
			t.Errorf("%s, %s: %v", path, info.Topics[m.Topic].Name, err)
			break
		}
	}
	return topics
}

// add adds a message, and compares whether it can be read with what the cursor finds.
func (r *recorded) add(m *storage.Message) error {
	if r.size += len(m.Data); r.size > 30_000 {
		return nil
	}
	if r.batches == nil {
		r.batches = append(r.batches, r.program.NewBatch())
	}
	got := r.batches[0].Append(m.Data, m.LogTime, m.PublishTime, 1)
	c := message.Open(r.typ, m.Data)
	defer c.Close()
	c.Fields(r.typ, c.Check)
	if want := c.End(); (want == nil) != (got == nil) {
		return fmt.Errorf("the cursor: %v, columns: %v", want, got)
	}
	return nil
}

func writeRecorded(t *testing.T, r *recorded, name string) {
	t.Helper()
	for _, k := range makers {
		if err := os.WriteFile(name+k.ending, write(t, k, r.program, r.batches, tables.Options{}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
