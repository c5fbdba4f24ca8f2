package convert

import (
	"context"

	"github.com/bagconv/bagconv/internal/identify"
	"github.com/bagconv/bagconv/storage"
)

// File converts the recording at a path or URL into another: Run, with the formats that the content of in and the name
// of out have. A folder, such as drive_ros2/ or drive_ros2, is a rosbag2 recording, with the storage of in if that is a
// folder, too, and Write asks for no storage or profile. job has what is to be done otherwise; of it Source and Sink
// are not used, and what is set of SourceFormat, SinkFormat, Formats and the file systems stays.
//
//	report, err := convert.File(ctx, all.Registry(), in, out, convert.Job{Progress: show})
//
// If in is no recording, or the name of out has no format, the error wraps
// storage.ErrUnknownFormat. Other errors are the errors of Run.
func File(ctx context.Context, formats *storage.Registry, in, out string, job Job) (*Report, error) {
	if job.Read.FS == nil && job.Write.FS == nil {
		place, err := formats.Locate(ctx, nil, in, out)
		if err != nil {
			return nil, err
		}
		defer place.End()
		in, out = place.Names[0], place.Names[1]
		job.Read.FS, job.Write.FS = place.FS, place.FS
	}
	job.Source, job.Sink = in, out
	var err error
	if job.SourceFormat == nil {
		if job.SourceFormat, err = identify.Detect(formats, job.Read.FS, in); err != nil {
			return nil, err
		}
	}
	asked := job.Write.Profile != "" || job.Write.Values[storage.NameStorage] != ""
	if job.SinkFormat == nil && !asked && identify.KeepsFormat(job.SourceFormat, out) {
		job.SinkFormat = job.SourceFormat
	}
	if job.SinkFormat == nil {
		if job.SinkFormat, err = formats.Output(out); err != nil {
			return nil, err
		}
	}
	if job.Formats == nil {
		job.Formats = formats
	}
	return Run(ctx, job)
}
