package cyber

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/iox"
	pb "github.com/bagconv/bagconv/proto/cyber"
	"github.com/bagconv/bagconv/storage"
	"google.golang.org/protobuf/proto"
)

// What Apollo 10 writes when nothing else is asked for
// (cyber/record/header_builder.h).
const (
	defaultChunk  = 16 << 20       // bytes of content in a chunk
	leastChunk    = 1 << 20        // the same, if there is little memory
	chunkInterval = 20_000_000_000 // ns that a chunk lasts
)

// maxSection is the largest section that Apollo's reader takes, in bytes: it
// holds sizes in an int (cyber/record/file/record_file_reader.h).
const maxSection = math.MaxInt32

// createWriter starts a recording. See storage.Format. With a limit for segments it becomes
// path.00000.YYYYMMDDhhmmss, path.00001... and nothing stands at path itself; without a limit it is
// a single file at path.
func createWriter(ctx context.Context, path string, o storage.WriteOptions) (storage.Writer, error) {
	w, err := newWriter(ctx, path, o)
	if err != nil {
		return nil, err
	}
	if w.place, err = newPlace(iox.FS(o.FS), path, o); err != nil {
		return nil, outError(path, "output", err, "")
	}
	if w.place.segmented {
		return w, nil // the name of a segment has the time of its first message
	}
	if err := w.enter(w.seg); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// newWriter returns a Writer with its options, without a place.
func newWriter(ctx context.Context, path string, o storage.WriteOptions) (*writer, error) {
	if err := options.Check(&o); err != nil {
		return nil, outError(path, "option", err, "")
	}
	if o.ChunkSize > maxSection {
		return nil, outError(path, fmt.Sprintf("chunk size %d", o.ChunkSize), storage.ErrUnsupported,
			"a chunk has up to 2147483647 bytes")
	}
	header := fixedHeader(o)
	if n := proto.Size(header) + maxCounters; n > maxHeader {
		return nil, outError(path, fmt.Sprintf("the names of map and vehicle need a header of %d bytes", n),
			storage.ErrUnsupported,
			fmt.Sprintf("a header has room for %d bytes", maxHeader))
	}
	w := &writer{
		header: header, names: map[string]bool{}, seg: &outSegment{},
		chunkSize: int64(header.GetChunkRawSize()), segmentSize: o.SegmentSize, segmentDuration: o.SegmentDuration,
	}
	w.State = chunked.State{Ctx: ctx, Fail: func(what string, err error) error {
		return outError(w.place.path, what, err,
			"")
	}}
	w.bodySize = min(2*w.chunkSize+1<<20, maxSection)
	return w, nil
}

// fixedHeader is what stands in the header of every segment. Apollo sets all numbers, also if they
// are 0.
func fixedHeader(o storage.WriteOptions) *pb.Header {
	chunk := o.ChunkSize
	if chunk == 0 {
		chunk = defaultChunk
		if o.Memory > 0 { // one chunk is filled while another is written
			chunk = min(chunk, max(o.Memory/2, leastChunk))
		}
	}
	h := &pb.Header{
		MajorVersion: proto.Uint32(1), MinorVersion: proto.Uint32(0),
		Compress:        pb.CompressType_COMPRESS_NONE.Enum(),
		ChunkInterval:   proto.Uint64(chunkInterval),
		ChunkRawSize:    proto.Uint64(uint64(chunk)),
		SegmentInterval: proto.Uint64(uint64(o.SegmentDuration)),
		SegmentRawSize:  proto.Uint64(uint64(o.SegmentSize)),
	}
	field := func(key string) *string {
		if v, ok := o.Metadata[key]; ok {
			return &v
		}
		return nil
	}
	if name, version := field(metaMapName), field(metaMapVersion); name != nil || version != nil {
		h.MapInfo = &pb.MapInfo{Name: name, Version: version}
	}
	if name := field(metaVehicleName); name != nil {
		h.VehicleInfo = &pb.VehicleInfo{Name: name}
	}
	return h
}

func outError(path, what string, err error, hint string) error {
	return &storage.Error{Format: formatName, Path: path, Offset: -1, What: what, Err: err, Hint: hint}
}
