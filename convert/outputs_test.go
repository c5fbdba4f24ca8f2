package convert

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/testing/fake"
	"github.com/bagconv/bagconv/storage"
)

// TestOutputs: more outputs than are written at once, some of which overlap in time, one of
// which has nothing, and latched topics at each cut. Each is what a run of its own makes.
func TestOutputs(t *testing.T) {
	f := fake.Random(3, 60, 20, 300)
	f.Timed = f.Honest()
	f.Topics[1].QoS = []storage.QoS{{Durability: storage.DurabilityTransientLocal, Depth: 2}}
	start, end, n := f.Span()
	var jobs []*Job
	var sinks []*fake.Sink
	source, format := f.Source(t)
	dir := t.TempDir()
	add := func(first, last int64) {
		s := &fake.Sink{}
		j := &Job{SinkFormat: s.Target(), Sink: filepath.Join(dir, fmt.Sprint(len(jobs))), Threads: 4, Source: source,
			SourceFormat: format}
		j.Select.Start, j.Select.End = selection.At(first), selection.At(last)
		jobs, sinks = append(jobs, j), append(sinks, s)
	}
	const parts = maxOutputs + 6
	step := (end - start + parts) / parts
	for i := range int64(parts) {
		add(start+i*step, start+(i+1)*step)
	}
	add(start+100, start+2000)
	indexed(jobs[0], f, nil)
	var alone []*fake.Sink
	for _, j := range jobs {
		s := &fake.Sink{}
		single := *j
		single.Sink, single.SinkFormat = filepath.Join(t.TempDir(), "alone"), s.Target()
		if _, err := Run(context.Background(), single); err != nil && !errors.Is(err, ErrNothing) {
			t.Fatal(err)
		}
		alone = append(alone, s)
	}
	reports, err := RunAll(context.Background(), jobs)
	if err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for i, r := range reports {
		fake.SameMessages(t, sinks[i].Messages, alone[i].Messages)
		if r.Sink.Messages != int64(len(sinks[i].Messages)) || (r.Sink.Files == nil) != (r.Sink.Messages == 0) ||
			sinks[i].Aborted == sinks[i].Closed {
			t.Errorf("output %d: %d messages in the report, %d written, closed %v, aborted %v", i, r.Sink.Messages,
				len(sinks[i].Messages), sinks[i].Closed, sinks[i].Aborted)
		}
		if i < parts {
			sum += r.Source.Messages
		}
	}
	if sum != n {
		t.Errorf("%d of %d messages are in one of the parts", sum, n)
	}
}

// TestOutputFails: when one of several outputs fails, all are thrown away.
func TestOutputFails(t *testing.T) {
	f := fake.Random(3, 60, 20, 300)
	f.Timed = f.Honest()
	source, format := f.Source(t)
	var jobs []*Job
	sinks := []*fake.Sink{{}, {FailAt: 5}, {}}
	for i, s := range sinks {
		j := &Job{SinkFormat: s.Target(), Sink: filepath.Join(t.TempDir(), "out"), Source: source, SourceFormat: format}
		j.Select.Topics, j.Write.Overwrite = []selection.Pattern{selection.Exactly(f.Topics[i].Name)}, true
		jobs = append(jobs, j)
	}
	_, err := RunAll(context.Background(), jobs)
	var failed *JobError
	if !errors.As(err, &failed) || !errors.Is(err, fake.ErrDisk) || failed.Job != 1 {
		t.Errorf("%+v", err)
	}
	for i, s := range sinks {
		if !s.Aborted || s.Closed {
			t.Errorf("output %d: aborted %v, closed %v", i, s.Aborted, s.Closed)
		}
	}
	jobs[2].Select.Topics = []selection.Pattern{selection.Exactly("/none")}
	if _, err = RunAll(context.Background(), jobs); !errors.As(err, &failed) || failed.Job != 2 {
		t.Errorf("%v, of job %d", err, failed.Job)
	}
}
