package mp4

import (
	"context"
	"fmt"
	"io"
	"strconv"
)

// RecodeOptions are what a Recoder makes of what.
type RecodeOptions struct {
	FFmpeg string // its path, of FindFFmpeg

	// Frames that come in: of Pixels, with their size, or, if that is "", of Codec.
	Pixels        PixelFormat
	Width, Height int
	Codec         Codec // JPEG, or H264, H265, VP9 and AV1 from a key frame on

	Output  Codec       // H264 or AV1; Unknown: pixels of format Decoded
	Decoded PixelFormat // of pixels that come out
	KeyEach int         // a key frame each so many; 0: the encoder decides
	Quality int         // of the encoder, its crf: a lower one is better
}

// A Recoder makes frames of others through ffmpeg, one of each, in their order. Colors are as in
// ITU-R BT.601 in its limited range, which JPEG has, too, but for the range: decoders that know no
// better take any video to have them. An odd side becomes one pixel longer, of black.
//
// The frames that come out are the same in each run of the same ffmpeg. A Recoder is used by one goroutine at a time;
// the frames come on another one.
type Recoder struct {
	process *process
	size    int // bytes of a frame of pixels; 0: any
}

// NewRecoder starts ffmpeg. Each frame that it makes goes to sink, which must not keep it. If ctx ends, ffmpeg does.
// The caller must call Close in any case.
func NewRecoder(ctx context.Context, o RecodeOptions, sink func(frame []byte) error) (*Recoder, error) {
	args, err := o.args()
	if err != nil {
		return nil, err
	}
	split := eachAccessUnit
	switch o.Output {
	case AV1:
		split = eachTemporalUnit
	case Unknown:
		split = eachOf(o.Width * o.Height * o.Decoded.channels())
	}
	r := &Recoder{size: o.Width * o.Height * o.Pixels.channels()}
	r.process, err = start(ctx, o.FFmpeg, args, split, func(frame []byte, _ int64) error { return sink(frame) })
	return r, err
}

// inputs are ffmpeg's names of streams of frames.
var inputs = map[Codec]string{JPEG: "mjpeg", H264: "h264", H265: "hevc", AV1: "obu"}

// args are the arguments of ffmpeg. The frames have any constant rate, so that none is repeated or
// left out, except frames that cannot be decoded, in whose place the one before comes again.
func (o *RecodeOptions) args() ([]string, error) {
	args := []string{"-hide_banner", "-loglevel", "error", "-nostdin"}
	switch name := inputs[o.Codec]; {
	case o.Pixels.channels() > 0:
		args = append(args, "-f", "rawvideo", "-pix_fmt", string(o.Pixels), "-video_size",
			fmt.Sprintf("%dx%d", o.Width, o.Height), "-framerate", "30", "-i", "pipe:0")
	case name != "":
		args = append(args, "-f", name, "-framerate", "30", "-i", "pipe:0", "-r", "30", "-vsync", "cfr")
	default:
		return nil, unsupported("", "frames of %v as a stream", o.Codec)
	}
	if o.Output == Unknown {
		if o.Decoded.channels() == 0 || o.Width <= 0 || o.Height <= 0 {
			return nil, unsupported("", "frames of %d x %d pixels of format %q", o.Width, o.Height, o.Decoded)
		}
		return append(args, "-pix_fmt", string(o.Decoded), "-f", "rawvideo", "pipe:1"), nil
	}
	filter := "scale=out_color_matrix=bt601:out_range=tv"
	if o.Width%2 != 0 || o.Height%2 != 0 {
		filter = "pad=ceil(iw/2)*2:ceil(ih/2)*2," + filter
	}
	args = append(args, "-vf", filter, "-pix_fmt", "yuv420p", "-colorspace", "smpte170m", "-color_primaries", "smpte170m",
		"-color_trc", "smpte170m", "-color_range", "tv", "-threads", "2")
	if o.KeyEach > 0 {
		args = append(args, "-g", strconv.Itoa(o.KeyEach))
	}
	quality := strconv.Itoa(o.Quality)
	switch o.Output {
	case H264:
		return append(args, "-c:v", "libx264", "-preset", "ultrafast", "-crf", quality, "-bf", "0",
			"-bsf:v", "h264_metadata=aud=insert", "-f", "h264", "pipe:1"), nil
	case AV1:
		return append(args, "-c:v", "libsvtav1", "-preset", "12", "-crf", quality, "-svtav1-params", "lp=2",
			"-f", "obu", "pipe:1"), nil
	}
	return nil, unsupported("there are H.264 and AV1", "%v as output", o.Output)
}

// Frame sends a frame, which is not kept.
func (r *Recoder) Frame(data []byte) error {
	if r.size > 0 && len(data) != r.size {
		return unsupported("", "a picture of %d bytes among pictures of %d", len(data), r.size)
	}
	return r.process.frame(data, 0)
}

// Close ends ffmpeg, when all frames have come. It returns the first error. Fewer or more frames
// than were sent are an error.
func (r *Recoder) Close() error { return r.process.close() }

// eachOf returns a splitter into frames of a size.
func eachOf(size int) splitter {
	return func(r io.Reader, do func([]byte) error) error {
		frame := make([]byte, size)
		for {
			if _, err := io.ReadFull(r, frame); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			if err := do(frame); err != nil {
				return err
			}
		}
	}
}

// eachTemporalUnit calls do with each temporal unit of a stream of AV1: they begin with delimiters.
func eachTemporalUnit(r io.Reader, do func([]byte) error) error {
	var pending []byte
	whole := 0 // bytes of OBUs of the unit so far
	room := make([]byte, 1<<18)
	for {
		n, err := r.Read(room)
		pending = append(pending, room[:n]...)
		for {
			kind, size := nextOBU(pending[whole:])
			if size == 0 {
				break
			}
			if kind == obuDelimiter && whole > 0 {
				if err := do(pending[:whole]); err != nil {
					return err
				}
				pending = pending[:copy(pending, pending[whole:])]
				whole = 0
			}
			whole += size
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if len(pending) > maxFrame {
			return fmt.Errorf("ffmpeg made a frame of more than %d bytes", maxFrame)
		}
	}
	if whole < len(pending) {
		return corrupt("a stream of AV1 that ends within a unit")
	}
	if whole == 0 {
		return nil
	}
	return do(pending)
}

// nextOBU returns the type of the OBU at the begin of a stream, and its length; 0 if it is not whole yet.
func nextOBU(b []byte) (kind byte, size int) {
	if len(b) < 2 || b[0]&2 == 0 {
		return 0, 0
	}
	at := 1
	if b[0]&4 != 0 {
		at++
	}
	n, used := leb128(b[min(at, len(b)):])
	if used == 0 || n > uint64(len(b)-at-used) {
		return 0, 0
	}
	return b[0] >> 3 & 15, at + used + int(n)
}

// A Shape is what a frame of video says about itself.
type Shape struct {
	Key           bool // nothing before it is needed to decode it
	Width, Height int  // pixels, of a key frame
}

// ShapeOf returns the shape of a frame of H.264, H.265, VP9 or AV1. An error wraps storage.ErrCorrupt or
// storage.ErrUnsupported.
func ShapeOf(codec Codec, data []byte) (s Shape, err error) {
	w, err := NewWriter(io.Discard, codec)
	if err == nil {
		err = w.Frame(data, 0)
	}
	if err != nil || w.sum.Frames == 0 {
		return s, err
	}
	return Shape{true, w.sum.Width, w.sum.Height}, nil
}
