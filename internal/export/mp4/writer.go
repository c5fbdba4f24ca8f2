package mp4

import (
	"encoding/binary"
	"errors"
	"io"
)

const (
	partSize     = 1 << 20 // bytes of frames in an mdat, unless a single one is larger
	maxFrame     = 1 << 30 // bytes
	maxFrames    = 1 << 27
	maxEntries   = 256 // of stsd
	boxHead      = 8
	copiedFrames = partSize / 4 // bytes from which on a JPEG is written without a copy
	maxTime      = 1 << 62      // ns: the year 2116
	maxSpan      = 1 << 61      // ns: 73 years
)

// A Summary is what a file has, and what it does not.
type Summary struct {
	Codec         Codec
	Frames        int
	Width, Height int    // of the first frame
	Entries       int    // of stsd: sets of parameters, or sizes
	Dropped       int    // frames before the first key frame, which are not in the file
	Headers       int    // data without a picture: its parameter sets count for the frames after it
	Moved         int    // frames whose time was not later than the time of the frame before
	MovedMost     int64  // the most that one of them was put later, ns
	Start, End    int64  // the times of the first and the last frame in the file, ns
	Scale         uint32 // units of time in a second
	Bytes         int64  // of the file
	Encoder       string // of an Encoder: what made the frames
}

// A Writer writes a file.
type Writer struct {
	w        io.Writer
	codec    Codec
	framing  framing
	sets     parameters // the parameters that are known by now
	changed  bool       // since the current entry was made
	sequence *entry     // of AV1: the last sequence header
	entries  []entry
	table    samples
	part     []byte // an mdat that grows
	inPart   int    // frames in it
	offset   int64  // bytes written
	last     int64  // the time of the last frame, as it is in the file
	sum      Summary
	err      error
	closed   bool
}

// An entry is an entry of stsd.
type entry struct {
	width, height int
	sets          parameters // of H.264 and H.265, whose config is made of them at the end
	config        string     // what the box in it has
}

func (e *entry) equal(f *entry) bool {
	return e.width == f.width && e.height == f.height && e.config == f.config && e.sets.equal(&f.sets)
}

// NewWriter begins a file of JPEG, H264, H265, VP9 or AV1. Nothing is written before the first frame.
func NewWriter(w io.Writer, codec Codec) (*Writer, error) {
	switch codec {
	case JPEG, H264, H265, VP9, AV1:
		return &Writer{w: w, codec: codec, sets: parameters{codec: codec}, sum: Summary{Codec: codec}}, nil
	}
	return nil, unsupported("export the bytes of its frames in a table",
		"%v in MP4 (JPEG, H.264, H.265, VP9 and AV1 are)", codec)
}

// maxRate is the highest of SetRate.
const maxRate = 100_000

// SetRate makes the rate of the video exactly constant: frame k is at k/rate s. The times of Frame then have to be
// later from frame to frame, and do not count otherwise. It is called before the first frame; rate is 1 to 100,000.
func (w *Writer) SetRate(rate int) error {
	if rate < 1 || rate > maxRate {
		return unsupported("", "%d frames in a second, 1 to %d", rate, maxRate)
	}
	w.table.rate = uint32(rate)
	return nil
}

// Frame adds a frame with its time in ns, which may be since any moment. An error that wraps
// storage.ErrCorrupt or storage.ErrUnsupported is about this frame alone: it is not in the file, and the
// writer goes on.
func (w *Writer) Frame(data []byte, time int64) error {
	switch {
	case w.err != nil:
		return w.err
	case w.closed:
		return errors.New("internal error: a frame after Close")
	case len(data) > maxFrame:
		return unsupported("", "a frame of %d bytes, %d at most", len(data), maxFrame)
	case time > maxTime || time < -maxTime || w.sum.Frames > 0 && time-w.sum.Start > maxSpan:
		return unsupported("", "a frame at %d ns, which is no time of this video", time)
	case w.sum.Frames == maxFrames:
		return unsupported("split it by time", "more than %d frames in one video", maxFrames)
	}
	switch w.codec {
	case JPEG:
		return w.jpegFrame(data, time)
	case VP9:
		return w.vp9Frame(data, time)
	case AV1:
		return w.av1Frame(data, time)
	}
	return w.unitFrame(data, time)
}

// jpegFrame adds a JPEG; each size has its entry.
func (w *Writer) jpegFrame(data []byte, time int64) error {
	width, height, err := JPEGSize(data)
	if err != nil {
		return err
	}
	return w.whole(data, time, &entry{width: width, height: height, config: jpegDescriptor})
}

// whole adds a frame whose bytes are in the file as they are. A key frame has the entry of it and
// of the frames that follow; of others it is nil.
func (w *Writer) whole(data []byte, time int64, key *entry) error {
	switch {
	case key == nil && len(w.entries) == 0:
		w.sum.Dropped++
		return nil
	case key != nil:
		if err := w.enter(*key); err != nil {
			return err
		}
	}
	if len(data) < copiedFrames {
		return w.end(time, append(w.begin(), data...), key != nil)
	}
	w.flush()
	w.head()
	head := binary.BigEndian.AppendUint32(nil, uint32(boxHead+len(data)))
	w.write(append(head, "mdat"...))
	at := w.offset
	w.write(data)
	w.sample(time, len(data), key != nil)
	w.table.chunk(at, 1, w.entry())
	return w.err
}

// entry returns the number of the current entry, from 1 on.
func (w *Writer) entry() int { return w.table.current + 1 }

// enter makes an entry current: one that is there already, or this one.
func (w *Writer) enter(e entry) error {
	if len(w.entries) > 0 && w.entries[w.table.current].equal(&e) {
		return nil
	}
	for i := range w.entries {
		if w.entries[i].equal(&e) {
			w.use(i)
			return nil
		}
	}
	if len(w.entries) == maxEntries {
		return unsupported("split it by time", "a video whose size or parameters change more than %d times", maxEntries)
	}
	w.entries = append(w.entries, e)
	w.use(len(w.entries) - 1)
	return nil
}

// use makes an entry current. All frames of an mdat have the same.
func (w *Writer) use(i int) {
	if w.table.current != i {
		w.flush()
		w.table.current = i
	}
}

// begin returns the mdat to which a frame is to be appended; end takes it.
func (w *Writer) begin() []byte {
	if len(w.part) == 0 {
		w.part = append(w.part, 0, 0, 0, 0, 'm', 'd', 'a', 't')
	}
	return w.part
}

// end takes an mdat with one more frame than w.part.
func (w *Writer) end(time int64, part []byte, key bool) error {
	n := len(part) - len(w.part)
	w.part = part
	w.inPart++
	w.sample(time, n, key)
	if len(w.part) >= partSize {
		w.flush()
	}
	return w.err
}

// flush writes the mdat.
func (w *Writer) flush() {
	if w.inPart == 0 {
		return
	}
	w.head()
	binary.BigEndian.PutUint32(w.part, uint32(len(w.part)))
	w.table.chunk(w.offset+boxHead, w.inPart, w.entry())
	w.write(w.part)
	w.part, w.inPart = w.part[:0], 0
}

// head writes what a file begins with.
func (w *Writer) head() {
	if w.offset == 0 {
		w.write(fileType)
	}
}

// write writes bytes of the file; after an error it does nothing.
func (w *Writer) write(b []byte) {
	if w.err != nil {
		return
	}
	n, err := w.w.Write(b)
	w.offset += int64(n)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	w.err = err
}

// sample adds a frame to the tables.
func (w *Writer) sample(time int64, size int, key bool) {
	if w.sum.Frames == 0 {
		w.sum.Start, w.last = time, time
		w.sum.Width, w.sum.Height = w.entries[0].width, w.entries[0].height
	} else if time <= w.last {
		w.sum.Moved++
		w.sum.MovedMost = max(w.sum.MovedMost, w.last+tick-time)
		time = w.last + tick
	}
	w.table.add(uint64(time-w.sum.Start), size, key && w.codec != JPEG)
	w.last, w.sum.End = time, time
	w.sum.Frames++
}

// Close ends the file, and returns what it has. A video without a frame writes nothing: that is an error, which
// wraps storage.ErrUnsupported, with the Summary.
func (w *Writer) Close() (Summary, error) {
	if w.closed {
		return w.sum, w.err
	}
	w.closed = true
	w.sum.Entries = len(w.entries)
	if w.err == nil && w.sum.Frames == 0 {
		w.err = unsupported("nothing can decode it",
			"a video of %v without a key frame and its parameter sets, in %d frames", w.codec, w.sum.Dropped)
		if w.sum.Dropped+w.sum.Headers == 0 {
			w.err = unsupported("", "a video without frames")
		}
	}
	w.flush()
	if w.err == nil {
		var moov []byte
		if moov, w.err = w.movie(); w.err == nil {
			w.write(moov)
		}
	}
	w.sum.Bytes = w.offset
	return w.sum, w.err
}
