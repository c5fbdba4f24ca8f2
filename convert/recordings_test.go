package convert_test

import (
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/testing/samples"
)

// recordings lists recordings of all formats, damaged ones too.
func recordings(t testing.TB) []string {
	t.Helper()
	return samples.Recordings(t, func(path string) bool {
		_, err := all.Registry().Detect(path)
		return err == nil
	})
}

// jobOf returns the conversion of a recording to MCAP.
func jobOf(t testing.TB, path string, change func(*convert.Job)) convert.Job {
	t.Helper()
	formats := all.Registry()
	source, err := formats.Detect(path)
	if err != nil {
		t.Fatal(err)
	}
	job := convert.Job{Source: path, SourceFormat: source, SinkFormat: formats.Lookup("mcap"),
		Sink: filepath.Join(t.TempDir(), "out.mcap")}
	job.Write.NoSync, job.Write.Compression, job.Write.ChunkSize = true, "none", 4<<10
	if change != nil {
		change(&job)
	}
	return job
}
