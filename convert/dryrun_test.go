package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/formats/mcap"
	"github.com/bagconv/bagconv/formats/rosbag1"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// TestDryRun: a dry run expects what the run does, and writes nothing.
func TestDryRun(t *testing.T) {
	in, _ := withExtras(t)
	for _, to := range all.Registry().Formats() {
		if to.Create == nil {
			continue
		}
		dir := t.TempDir()
		job := Job{Source: in, SourceFormat: mcap.Format, Sink: filepath.Join(dir, "out"+ending(to)), SinkFormat: to,
			Order: OrderFile, DryRun: true}
		dry, err := Run(context.Background(), job)
		if err != nil {
			t.Fatal(to.Name, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Fatal(to.Name, left, err)
		}
		job.DryRun = false
		real, err := Run(context.Background(), job)
		if err != nil {
			t.Fatal(to.Name, err)
		}
		if dry.Share != 1 || real.Share != 0 || dry.Sink.Messages != real.Sink.Messages ||
			len(dry.Losses) != len(real.Losses) || dry.Topics[0] != real.Topics[0] {
			t.Errorf("%s: expects %+v, and %+v happened", to.Name, dry, real)
		}
		// headers of extras are not counted
		if off := dry.Sink.Size - real.Sink.Size; !to.Holds.Extras && off != 0 || math.Abs(float64(off)) > 2000 {
			t.Errorf("%s: expects %d bytes, and %d were written", to.Name, dry.Sink.Size, real.Sink.Size)
		}
		job.DryRun = true
		if _, err := Run(context.Background(), job); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v for an output that exists", to.Name, err)
		}
		job.Sink = filepath.Join(dir, "missing", "x"+ending(to))
		if _, err := Run(context.Background(), job); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v without the folder of the output", to.Name, err)
		}
	}
}

// TestDryRunOfPart: of a large recording a part is read, and the rest estimated.
func TestDryRunOfPart(t *testing.T) {
	rec := storagetest.Recording{Topics: []storage.Topic{textTopic("ros1"),
		{Name: "/rare", Type: "x", Encoding: "unknown"}}}
	const messages = 20_000
	for i := range int64(messages) {
		rec.Messages = append(rec.Messages, storage.Message{LogTime: 1e18 + i, PublishTime: 1e18 + i, Data: text["ros1"]})
		if i == messages/2 {
			rec.Messages = append(rec.Messages, storage.Message{Topic: 1, LogTime: 1e18 + i, PublishTime: 1e18 + i})
		}
	}
	in := filepath.Join(t.TempDir(), "in.mcap")
	if err := storagetest.WriteAll(mcap.Format, in, storage.WriteOptions{NoSync: true, ChunkSize: 4096}, rec); err != nil {
		t.Fatal(err)
	}
	var reads atomic.Int64
	source := *mcap.Format
	source.Open = func(ctx context.Context, path string, o storage.ReadOptions) (storage.Reader, error) {
		r, err := mcap.Format.Open(ctx, path, o)
		return &largeReader{r.(blockReader), &reads}, err
	}
	job := Job{Source: in, SourceFormat: &source, Sink: filepath.Join(t.TempDir(), "out.bag"), SinkFormat: rosbag1.Format,
		Threads: 1, DryRun: true}
	dry, err := Run(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	blocks := reads.Swap(0)
	job.DryRun = false
	real, err := Run(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	read := reads.Load()
	if blocks < 20 || blocks > read/3 || math.Abs(dry.Share-float64(blocks)/float64(read)) > 0.05 {
		t.Errorf("%d blocks of %d were read, said to be %.3f", blocks, read, dry.Share)
	}
	if math.Abs(float64(dry.Sink.Size)/float64(real.Sink.Size)-1) > 0.05 {
		t.Errorf("expects %d bytes, and %d were written", dry.Sink.Size, real.Sink.Size)
	}
	if len(dry.Losses) != 1 || dry.Losses[0] != real.Losses[0] || dry.Sink.Messages != messages ||
		dry.Topics[0] != real.Topics[0] || dry.Topics[1] != real.Topics[1] {
		t.Errorf("expects %+v, and %+v happened", dry, real)
	}
	var parts []*Job
	for i := range 4 {
		part := job
		part.DryRun, part.Sink = true, filepath.Join(t.TempDir(), fmt.Sprint(i, ".bag"))
		part.Select.Start, part.Select.End = selection.At(1e18+messages/4*int64(i)), selection.At(1e18+
			messages/4*int64(i+1)-1)
		parts = append(parts, &part)
	}
	reports, err := RunAll(context.Background(), parts)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range reports {
		if r.Share <= 0 || r.Share > 0.4 || math.Abs(float64(r.Sink.Messages)/(messages/4)-1) > 0.1 ||
			math.Abs(float64(r.Sink.Size)/(float64(real.Sink.Size)/4)-1) > 0.1 {
			t.Errorf("part %d: expects %d messages, %d bytes of %d, by %.3f of it", i, r.Sink.Messages, r.Sink.Size,
				real.Sink.Size/4, r.Share)
		}
	}
	reads.Store(0)
	job.DryRun, job.Select.Duration, job.Write.Overwrite = true, messages/4, true
	if dry, err = Run(context.Background(), job); err != nil ||
		math.Abs(float64(dry.Sink.Messages)/(messages/4)-1) > 0.05 {
		t.Errorf("a quarter: %+v %v", dry, err)
	}
}

// A blockReader is what the reader of MCAP files is.
type blockReader interface {
	storage.Reader
	storage.BlockReader
}

// A largeReader has blocks that take a hundred times as much memory as they do.
type largeReader struct {
	blockReader
	reads *atomic.Int64
}

func (r *largeReader) Blocks(ctx context.Context, wanted *storage.TimeRange) ([]storage.Block, storage.Order, error) {
	blocks, order, err := r.blockReader.Blocks(ctx, wanted)
	for i := range blocks {
		blocks[i].RawSize = 1 << 20
	}
	return blocks, order, err
}

func (r *largeReader) ReadBlock(ctx context.Context, i int, b *storage.Batch) error {
	r.reads.Add(1)
	return r.blockReader.ReadBlock(ctx, i, b)
}
