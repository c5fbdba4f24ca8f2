package lerobot

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/bagconv/bagconv/internal/export/mp4"
	"github.com/bagconv/bagconv/storage"
)

// A take is what a camera has recorded in an episode: a file of frames, each with its length before it, as the data set
// will have them.
//
//	u32  length, little endian
//	...  the frame: an access unit, or a picture as a file
//
// Pictures that are encoded go through ffmpeg, which runs beside the reading of the recording.
type take struct {
	c      *camera
	file   storage.File
	out    *bufio.Writer
	frames int64 // in the file
	picks  []int // of kindVideo: in the spool
	sent   int64
	copied bool // the frames are copied from the recording

	queue   chan []byte // to ffmpeg; nil: no ffmpeg
	samples chan []byte // to the palette
	work    sync.WaitGroup
	colors  palette
	broken  int64 // samples that could not be decoded
	mu      sync.Mutex
	err     error
}

// queued is how many pictures wait for ffmpeg at most.
const queued = 8

// begin begins the take of an episode.
func (c *camera) begin(path string) (*take, error) {
	f, err := createFile(c.w.fs, path)
	if err != nil {
		return nil, err
	}
	t := &take{c: c, file: f, out: bufio.NewWriterSize(f, 1<<18)}
	if c.kind == kindVideo {
		return t, nil
	}
	t.samples = make(chan []byte, 2)
	samples := t.samples
	t.work.Go(func() { t.sample(samples) })
	if c.codec == "h264" || c.codec == "av1" {
		r, err := t.recoder(c.pixels, c.source)
		if err != nil {
			return t, err
		}
		t.queue = make(chan []byte, queued)
		queue := t.queue
		t.work.Go(func() { t.encode(r, queue) })
	}
	return t, nil
}

// recoder returns what encodes frames to the codec of the camera, and writes them.
func (t *take) recoder(pixels mp4.PixelFormat, source mp4.Codec) (*mp4.Recoder, error) {
	output, quality := mp4.H264, 23
	if t.c.codec == "av1" {
		output, quality = mp4.AV1, 30
	}
	return mp4.NewRecoder(t.c.w.ctx, mp4.RecodeOptions{FFmpeg: t.c.w.ffmpeg, Pixels: pixels, Codec: source,
		Width: t.c.width, Height: t.c.height, Output: output, KeyEach: 2, Quality: quality}, t.write)
}

// write writes a frame of the file.
func (t *take) write(data []byte) error {
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(data)))
	if _, err := t.out.Write(head); err != nil {
		return err
	}
	t.frames++
	_, err := t.out.Write(data)
	return err
}

// encode gives pictures to ffmpeg until there are no more.
func (t *take) encode(r *mp4.Recoder, queue <-chan []byte) {
	for data := range queue {
		if t.failed() == nil {
			t.fail(r.Frame(data))
		}
	}
	t.fail(r.Close())
}

// sample counts the colors of some pictures.
func (t *take) sample(samples <-chan []byte) {
	c := t.c
	for data := range samples {
		if c.kind == kindJPEG {
			if !t.colors.addJPEG(data) {
				t.broken++
			}
			continue
		}
		if rgb, err := c.rgb(data); err == nil {
			t.colors.addRGB(rgb, c.width, c.height)
		}
	}
}

func (t *take) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = err
	}
}

func (t *take) failed() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// add adds the picture of a row.
func (t *take) add(f *frame) error {
	n := t.sent
	t.sent++
	if t.c.kind == kindVideo {
		t.picks = append(t.picks, f.index)
		return nil
	}
	if sampled(n) {
		t.samples <- f.data
	}
	if t.queue != nil {
		t.queue <- f.data
		return t.failed()
	}
	data := f.data
	if t.c.codec != "jpeg" {
		var err error
		if data, err = t.c.imageOf(data); err != nil {
			return err
		}
	}
	return t.write(data)
}

// stop ends what runs.
func (t *take) stop() {
	if t.samples != nil {
		close(t.samples)
		t.samples = nil
	}
	if t.queue != nil {
		close(t.queue)
		t.queue = nil
	}
	t.work.Wait()
}

// end ends the take, and returns the Stats of its pictures.
func (t *take) end() (s Stats, err error) {
	t.stop()
	if t.c.kind == kindVideo && t.failed() == nil {
		t.fail(t.video())
	}
	err = t.failed()
	if e := t.out.Flush(); err == nil {
		err = e
	}
	if e := t.file.Close(); err == nil {
		err = e
	}
	if err == nil && t.frames != t.sent {
		err = fmt.Errorf("%w: %d frames of %d pictures", storage.ErrCorrupt, t.frames, t.sent)
	}
	if err != nil {
		return s, fmt.Errorf("the camera %s: %w", t.c.name, err)
	}
	s, ok := t.colors.stats()
	if !ok {
		t.c.w.note("nobody decoded pictures of %s: its statistics are the statistics of ImageNet", t.c.name)
	}
	return s, nil
}

// video writes the frames of a video: as they are if each row has its own, else encoded again.
func (t *take) video() error {
	c := t.c
	first, last := t.picks[0], t.picks[len(t.picks)-1]
	plain := c.w.m.Codec == "stored" || c.w.ffmpeg == ""
	exact := c.spool.frames[first].key && last-first == len(t.picks)-1
	for i, pick := range t.picks {
		exact = exact && pick == first+i
	}
	switch {
	case plain && exact:
		t.copied = true
		for _, pick := range t.picks {
			data, err := c.spool.read(pick)
			if err == nil {
				err = t.write(data)
			}
			if err != nil {
				return err
			}
		}
		if c.w.ffmpeg == "" {
			return nil
		}
		return t.decode(first, last, nil)
	case c.w.ffmpeg == "":
		return fmt.Errorf("it is %v without a frame of its own for each tick, and ffmpeg, which would make the video, is "+
			"not on the path; "+
			"install ffmpeg, or choose the fps of the camera", c.source)
	case c.codec != "h264" && c.codec != "av1" && c.codec != "image":
		return fmt.Errorf("%w: it has no frame of its own for each tick, so that its %v cannot stay as it is; "+
			"codec: h264 or av1 encodes it again", storage.ErrUnsupported, c.source)
	case c.codec == "image":
		return t.decode(c.spool.keyBefore(first), last, func(rgb []byte) error {
			file, err := c.imageOf(rgb)
			if err == nil {
				err = t.write(file)
			}
			return err
		})
	}
	r, err := t.recoder(mp4.RGB, mp4.Unknown)
	if err != nil {
		return err
	}
	err = t.decode(c.spool.keyBefore(first), last, r.Frame)
	if e := r.Close(); err == nil {
		err = e
	}
	return err
}

// decode decodes frames of the spool, and calls each with the pixels of the frames that rows have,
// as often as rows have them.
func (t *take) decode(from, to int, each func(rgb []byte) error) error {
	c := t.c
	ctx, cancel := context.WithCancel(c.w.ctx)
	defer cancel()
	at, pick, shown := from, 0, int64(0)
	r, err := mp4.NewRecoder(ctx, mp4.RecodeOptions{FFmpeg: c.w.ffmpeg, Codec: c.source, Width: c.width, Height: c.height,
		Decoded: mp4.RGB}, func(rgb []byte) error {
		for pick < len(t.picks) && t.picks[pick] == at {
			if sampled(shown) {
				t.colors.addRGB(rgb, c.width, c.height)
			}
			if each != nil {
				if err := each(rgb); err != nil {
					return err
				}
			}
			pick, shown = pick+1, shown+1
		}
		at++
		return nil
	})
	if err != nil {
		return err
	}
	for i := from; i <= to; i++ {
		data, err := c.spool.read(i)
		if err == nil {
			err = r.Frame(data)
		}
		if err != nil {
			r.Close() //nolint:errcheck // the first error counts
			return err
		}
	}
	return r.Close()
}

// abort ends a take that is not finished.
func (t *take) abort() {
	t.fail(context.Canceled)
	t.stop()
	_ = t.file.Close() // it goes
}
