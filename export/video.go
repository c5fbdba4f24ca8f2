package export

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/bagconv/bagconv/internal/export/mp4"
	"github.com/bagconv/bagconv/internal/export/view"
	"github.com/bagconv/bagconv/storage"
)

// video is a product: an MP4 file of pictures or frames. What is encoded stays as it is; pixels go through ffmpeg, or
// become Motion JPEG. The file begins with the first frame that it can have.
type video struct {
	*viewer
	w    *writer
	name string // in the output
	read func(x *view.Values) (view.Frame, error)

	file    io.WriteCloser
	out     frameWriter // nil: there is no frame yet
	pixels  mp4.PixelFormat
	width   int
	height  int
	bad     int64 // frames that the file cannot have
	first   error // why it cannot have the first of them
	ended   bool
	summary mp4.Summary
	err     error // of the end
}

// A frameWriter is an mp4.Writer or an mp4.Encoder.
type frameWriter interface {
	Frame(data []byte, time int64) error
	Close() (mp4.Summary, error)
}

// video returns the video of a topic, nil if it has no video.
func (w *writer) video(t *topic, v *viewer) product {
	x := &video{viewer: v, w: w}
	if x.read = v.FrameReader(); x.read == nil {
		return nil
	}
	x.name = w.names.take(t.Name, ".mp4") + ".mp4"
	return x
}

func (x *video) encode(b *block) (*made, error) {
	return x.makeEach(b, videoFrameCode, videoFrameText, x.take), nil
}

// The loss of frames that a video cannot have.
const (
	videoFrameCode = "video-frame"
	videoFrameText = "frames are not in the video"
)

// take reads the frame of a message.
func (x *video) take(m *made, row *row, data []byte) error {
	values := x.Open(data)
	defer values.Close()
	f, err := x.read(values)
	if err != nil {
		return err
	}
	f.Time = values.StampOr(row.log)
	if err := values.All(); err != nil {
		return err
	}
	m.parts = append(m.parts, f)
	return nil
}

func (x *video) append(part any) error {
	f := part.(view.Frame)
	if x.out == nil {
		if err := x.begin(&f); err != nil {
			return x.refuse(err)
		}
	}
	if f.Pixels != x.pixels || f.Pixels != "" && (f.Width != x.width || f.Height != x.height) {
		return x.refuse(fmt.Errorf("a picture of %d x %d pixels of %s in a video of %d x %d of %s (%w)",
			f.Width, f.Height, f.Pixels, x.width, x.height, x.pixels, storage.ErrUnsupported))
	}
	return x.refuse(x.out.Frame(f.Data, f.Time))
}

// refuse counts a frame whose error is about itself.
func (x *video) refuse(err error) error {
	if !errors.Is(err, storage.ErrCorrupt) && !errors.Is(err, storage.ErrUnsupported) {
		return err
	}
	if x.bad++; x.first == nil {
		x.first = err
	}
	return nil
}

// begin begins the file with the codec of its first frame.
func (x *video) begin(f *view.Frame) (err error) {
	codec := mp4.H264
	if f.Pixels == "" {
		if codec = mp4.Sniff(f.Data); codec == mp4.Unknown {
			return fmt.Errorf("a frame that is no JPEG, PNG, H.264, H.265, VP9 or AV1: without --video its bytes are in a "+
				"table (%w)", storage.ErrUnsupported)
		}
	}
	if x.file == nil {
		if x.file, err = x.w.place.create(x.name); err != nil {
			return err
		}
	}
	if f.Pixels == "" {
		w, err := mp4.NewWriter(x.file, codec)
		if err == nil {
			x.out = w
		}
		return err
	}
	e, err := mp4.NewEncoder(x.w.ctx, x.file, f.Pixels, f.Width, f.Height, mp4.EncodeOptions{FFmpeg: mp4.FindFFmpeg()})
	if err != nil {
		return err
	}
	x.out, x.pixels, x.width, x.height = e, f.Pixels, f.Width, f.Height
	return nil
}

// end ends the file, once.
func (x *video) end() {
	if x.ended || x.out == nil {
		return
	}
	x.ended = true
	if x.summary, x.err = x.out.Close(); x.summary.Frames == 0 && errors.Is(x.err, storage.ErrUnsupported) {
		x.first, x.err = x.err, nil
		x.bad += int64(x.summary.Dropped)
		x.summary.Dropped = 0
	}
}

// abort ends ffmpeg when the export is not finished.
func (x *video) abort() { x.end() }

func (x *video) losses() []loss {
	x.end()
	s := &x.summary
	list := some(loss{code: "video-begin", messages: int64(s.Dropped),
		text:    "frames before the first key frame with its parameters are in no video: nothing can decode them",
		leftOut: true},
		loss{code: "video-time", messages: int64(s.Moved),
			text: "frames are not later than the one before, and are 1 us after it in the video"})
	if x.bad > 0 {
		list = append(list, loss{videoFrameCode, x.bad, videoFrameText + "; the first: " + x.first.Error(), true})
	}
	return list
}

// note returns what was decided, for the report; "" if nothing was.
func (x *video) note() string {
	if x.pixels != "" && x.ended && x.summary.Codec == mp4.JPEG {
		return "ffmpeg is not on the path, so that the video is Motion JPEG, some ten times as large as H.264"
	}
	return ""
}

func (x *video) finish() ([]IndexFile, error) {
	if x.end(); x.err != nil || x.file == nil {
		return nil, x.err
	}
	f := IndexFile{Path: x.name, Kind: "video", Rows: int64(x.summary.Frames), Codec: x.summary.Codec.String()}
	if x.summary.Frames > 0 {
		f.StartNS = strconv.FormatInt(x.summary.Start, 10)
	}
	return []IndexFile{f}, x.file.Close()
}
