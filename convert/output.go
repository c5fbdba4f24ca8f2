package convert

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/bagconv/bagconv/internal/guard"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// CheckOutputs reports why the output of one of the jobs may not be written where it
// should: it would take the place of what the job reads, or of something that is no
// recording. It changes nothing; Run checks the same.
func CheckOutputs(jobs ...*Job) error {
	var g *guard.Guard
	for i, job := range jobs {
		if i == 0 || job.Source != jobs[i-1].Source || job.SourceFormat != jobs[i-1].SourceFormat {
			g = newGuard(job)
		}
		if _, err := checkOutput(g, job); err != nil {
			return err
		}
	}
	return nil
}

// guarded checks jobs of one source, and returns them with file systems that refuse what
// CheckOutputs cannot foresee. failed is the index of the job that the error is about.
func guarded(jobs []*Job) (list []*Job, failed int, err error) {
	if jobs[0].Tap != nil {
		return jobs, 0, nil // nothing is written
	}
	g := newGuard(jobs[0])
	for i, job := range jobs {
		replaces, err := checkOutput(g, job)
		if err != nil {
			return nil, i, err
		}
		job := *job
		if job.Verify != nil {
			job.Write.FS = iox.ReadBack(job.Write.FS)
		}
		job.extrasFS = g.Files(job.Write.FS, job.Write.Overwrite)
		job.Read.FS = g.Reader(job.Read.FS)
		switch {
		case job.DryRun:
			job.overlay = iox.NewOverlay(job.Write.FS)
			job.Write.FS = job.overlay
		case job.Append:
			job.Write.FS = g.Changer(job.Write.FS, job.SinkFormat, job.Sink)
		default:
			job.Write.FS = g.Writer(job.Write.FS, job.Write.Overwrite)
		}
		job.Write.Overwrite = job.Write.Overwrite || replaces // an empty folder is as good as no folder
		list = append(list, &job)
	}
	return list, 0, nil
}

func newGuard(job *Job) *guard.Guard {
	formats := []*storage.Format{job.SourceFormat, job.SinkFormat}
	if job.Formats != nil {
		formats = job.Formats.Known()
	}
	g := guard.New(job.Read.FS, job.Write.FS, formats...)
	g.Keep(job.SourceFormat, job.Source)
	for _, path := range job.Attach {
		g.KeepFile(path)
	}
	return g
}

func checkOutput(g *guard.Guard, job *Job) (replaces bool, err error) {
	if job.SinkFormat.Layout.Live {
		return false, nil
	}
	if iox.SamePath(job.Write.FS, job.Source, job.Sink) {
		return false, &guard.Refusal{Path: job.Sink, What: "input and output are the same", Hint: "choose another output",
			Err: guard.ErrInput}
	}
	if job.Extras != "" {
		if err := checkExtras(g, job); err != nil {
			return false, err
		}
	}
	if job.Append {
		return false, g.Target(job.SinkFormat, job.Sink)
	}
	return g.Output(guard.Output{
		Path: job.Sink, Format: job.SinkFormat, Name: job.Source, Overwrite: job.Write.Overwrite,
		Segments: job.Write.SegmentSize > 0 || job.Write.SegmentDuration > 0,
	})
}

// checkExtras refuses a folder for extras that would be a part of the source or the sink.
func checkExtras(g *guard.Guard, job *Job) error {
	sink, dir := absolute(job.Sink), absolute(job.Extras)
	if rest, ok := strings.CutPrefix(dir, sink); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		return &guard.Refusal{Path: job.Extras, What: "it would be inside the output", Hint: "choose a folder beside it",
			Err: guard.ErrInput}
	}
	return g.Folder(job.Extras)
}

func absolute(path string) string {
	if abs, err := iox.Abs(path); err == nil {
		return abs
	}
	return filepath.Clean(path)
}
