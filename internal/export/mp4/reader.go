package mp4

import (
	"encoding/binary"
	"io"
	"slices"
)

// A Sample is a frame of a File.
type Sample struct {
	Time int64 // since the begin of the video, ns
	Key  bool

	at    int64
	size  int
	entry int
}

// A File is a video that is read: its first track of pictures.
type File struct {
	Codec         Codec
	Width, Height int
	Samples       []Sample // in the order of decoding

	r       io.ReaderAt
	size    int64
	scale   uint32
	entries []readEntry
}

// A readEntry is an entry of stsd.
type readEntry struct {
	codec  Codec
	length int    // bytes of the length of a NAL unit
	sets   []byte // parameter sets with start codes, or the sequence header of AV1
}

const (
	maxMovie  = 256 << 20 // bytes of moov
	maxNested = 16
)

// Open reads the tables of a file of H.264, H.265, AV1, VP9 or JPEG. Files in fragments and encrypted ones wrap
// storage.ErrUnsupported, files that are not as they should be storage.ErrCorrupt. No length is trusted. A File does
// not change, and may be used by any number of goroutines.
func Open(r io.ReaderAt, size int64) (*File, error) {
	moov, err := findMovie(r, size)
	if err != nil {
		return nil, err
	}
	var found *File
	err = eachBox(moov, func(kind string, b []byte) error {
		switch {
		case kind == "mvex":
			return unsupported("remux it: ffmpeg -i IN -c copy OUT", "a video in fragments")
		case kind != "trak" || found != nil:
			return nil
		}
		boxes := map[string][]byte{}
		if err := collect(b, boxes, 0); err != nil {
			return err
		}
		if h := boxes["hdlr"]; len(h) < 12 || string(h[8:12]) != "vide" {
			return nil
		}
		f := &File{r: r, size: size}
		found = f
		return f.read(boxes)
	})
	if err == nil && found == nil {
		err = corrupt("there is no video in the file")
	}
	return found, err
}

// findMovie returns the moov box.
func findMovie(r io.ReaderAt, size int64) ([]byte, error) {
	var head [16]byte
	for at := int64(0); at+8 <= size; {
		n, err := r.ReadAt(head[:], at)
		if n < 8 {
			return nil, err
		}
		length, skip := int64(binary.BigEndian.Uint32(head[:])), int64(8)
		switch {
		case length == 1 && n == 16:
			length, skip = int64(binary.BigEndian.Uint64(head[8:])), 16
		case length == 0:
			length = size - at
		}
		if length < skip || length > size-at {
			return nil, corrupt("a box %q of %d bytes at byte %d of %d", head[4:8], length, at, size)
		}
		if string(head[4:8]) == "moov" {
			if length > maxMovie {
				return nil, unsupported("", "tables of %d bytes", length)
			}
			moov := make([]byte, length-skip)
			_, err := io.ReadFull(io.NewSectionReader(r, at+skip, length-skip), moov)
			return moov, err
		}
		at += length
	}
	return nil, corrupt("a file of %d bytes without its tables (moov): it is cut, or no MP4", size)
}

// eachBox calls do with each box in b.
func eachBox(b []byte, do func(kind string, payload []byte) error) error {
	for len(b) > 0 {
		if len(b) < 8 {
			return nil // some writers leave zeros
		}
		n, skip := uint64(binary.BigEndian.Uint32(b)), uint64(8)
		if n == 1 && len(b) >= 16 {
			n, skip = binary.BigEndian.Uint64(b[8:]), 16
		}
		if n < skip || n > uint64(len(b)) {
			return corrupt("a box %q of %d bytes in %d", b[4:8], n, len(b))
		}
		if err := do(string(b[4:8]), b[skip:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// collect keeps the boxes of a track by their names.
func collect(b []byte, boxes map[string][]byte, depth int) error {
	if depth > maxNested {
		return corrupt("boxes too deep")
	}
	return eachBox(b, func(kind string, payload []byte) error {
		switch kind {
		case "mdia", "minf", "stbl", "edts":
			return collect(payload, boxes, depth+1)
		}
		boxes[kind] = payload
		return nil
	})
}

// read takes the tables of a track.
func (f *File) read(boxes map[string][]byte) error {
	m := boxes["mdhd"]
	at := 12
	if len(m) > 0 && m[0] == 1 {
		at = 20
	}
	if len(m) < at+4 {
		return corrupt("a track without a time scale")
	}
	if f.scale = binary.BigEndian.Uint32(m[at:]); f.scale == 0 {
		return corrupt("a time scale of 0")
	}
	if err := f.readEntries(boxes["stsd"]); err != nil {
		return err
	}
	if err := f.sizes(boxes["stsz"]); err != nil {
		return err
	}
	if err := f.times(boxes); err != nil {
		return err
	}
	return f.places(boxes)
}

// u32s reads the count of a table and the numbers behind it, n for each entry.
func u32s(b []byte, n int) (list []uint32, err error) {
	if len(b) < 8 {
		return nil, corrupt("a table of %d bytes", len(b))
	}
	count := uint64(binary.BigEndian.Uint32(b[4:]))
	if b = b[8:]; count > uint64(len(b)/4/n) {
		return nil, corrupt("a table of %d entries in %d bytes", count, len(b))
	}
	for i := range int(count) * n {
		list = append(list, binary.BigEndian.Uint32(b[4*i:]))
	}
	return list, nil
}

// sizes reads the sizes of all frames.
func (f *File) sizes(b []byte) error {
	if len(b) < 12 {
		return corrupt("a track without sizes of frames")
	}
	each, count := binary.BigEndian.Uint32(b[4:]), uint64(binary.BigEndian.Uint32(b[8:]))
	b = b[12:]
	if each == 0 && count > uint64(len(b)/4) || each > 0 && count > uint64(f.size)/uint64(each) || count > maxFrames {
		return corrupt("%d frames in a file of %d bytes", count, f.size)
	}
	f.Samples = make([]Sample, count)
	for i := range f.Samples {
		f.Samples[i].size = int(each)
		if each == 0 {
			f.Samples[i].size = int(binary.BigEndian.Uint32(b[4*i:]))
		}
		if f.Samples[i].size > maxFrame {
			return corrupt("a frame of %d bytes", f.Samples[i].size)
		}
	}
	return nil
}

// times reads when frames are shown, and which are key frames.
func (f *File) times(boxes map[string][]byte) error {
	durations, err := u32s(boxes["stts"], 2)
	if err != nil {
		return err
	}
	i, now := 0, int64(0)
	for k := 0; k+1 < len(durations); k += 2 {
		for n := durations[k]; n > 0 && i < len(f.Samples); n-- {
			f.Samples[i].Time = now
			now += int64(durations[k+1])
			i++
		}
	}
	if i < len(f.Samples) {
		return corrupt("times of %d frames of %d", i, len(f.Samples))
	}
	start := int64(0)
	if e := boxes["elst"]; len(e) >= 20 && e[0] == 0 {
		start = int64(int32(binary.BigEndian.Uint32(e[12:])))
	} else if len(e) >= 28 && e[0] == 1 {
		start = int64(binary.BigEndian.Uint64(e[16:]))
	}
	if c := boxes["ctts"]; c != nil {
		offsets, err := u32s(c, 2)
		if err != nil {
			return err
		}
		i := 0
		for k := 0; k+1 < len(offsets); k += 2 {
			for n := offsets[k]; n > 0 && i < len(f.Samples); n-- {
				f.Samples[i].Time += int64(int32(offsets[k+1]))
				i++
			}
		}
	}
	for i := range f.Samples {
		t := f.Samples[i].Time - max(start, 0)
		scale := int64(f.scale)
		f.Samples[i].Time = t/scale*1e9 + t%scale*1e9/scale
	}
	return f.keys(boxes["stss"])
}

func (f *File) keys(b []byte) error {
	if b == nil {
		for i := range f.Samples {
			f.Samples[i].Key = true
		}
		return nil
	}
	keys, err := u32s(b, 1)
	for _, k := range keys {
		if k == 0 || uint64(k) > uint64(len(f.Samples)) {
			return corrupt("key frame %d of %d frames", k, len(f.Samples))
		}
		f.Samples[k-1].Key = true
	}
	return err
}

// places finds where each frame is.
func (f *File) places(boxes map[string][]byte) error {
	var chunks []int64
	if b := boxes["co64"]; b != nil {
		list, err := u32s(b, 2)
		if err != nil {
			return err
		}
		for i := 0; i+1 < len(list); i += 2 {
			chunks = append(chunks, int64(uint64(list[i])<<32|uint64(list[i+1])))
		}
	} else {
		list, err := u32s(boxes["stco"], 1)
		if err != nil {
			return err
		}
		for _, at := range list {
			chunks = append(chunks, int64(at))
		}
	}
	runs, err := u32s(boxes["stsc"], 3)
	if err != nil {
		return err
	}
	i, run := 0, 0
	for c, at := range chunks {
		for run+3 < len(runs) && uint64(runs[run+3]) <= uint64(c+1) {
			run += 3
		}
		if run+2 >= len(runs) {
			return corrupt("parts of a file without frames")
		}
		for n := runs[run+1]; n > 0 && i < len(f.Samples); n-- {
			s := &f.Samples[i]
			if s.at, s.entry = at, int(runs[run+2])-1; at < 0 || at > f.size-int64(s.size) || s.entry < 0 ||
				s.entry >= len(f.entries) {
				return corrupt("frame %d at byte %d of %d, with entry %d of %d", i, at, f.size, s.entry+1, len(f.entries))
			}
			at += int64(s.size)
			i++
		}
	}
	if i < len(f.Samples) {
		return corrupt("places of %d frames of %d", i, len(f.Samples))
	}
	return nil
}

// readEntries reads stsd.
func (f *File) readEntries(b []byte) error {
	if len(b) < 8 {
		return corrupt("a track without a codec")
	}
	err := eachBox(b[8:], func(kind string, b []byte) error {
		if len(b) < 78 {
			return corrupt("an entry %q of %d bytes", kind, len(b))
		}
		e := readEntry{}
		switch kind {
		case "avc1", "avc3":
			e.codec = H264
		case "hvc1", "hev1":
			e.codec = H265
		case "av01":
			e.codec = AV1
		case "vp09":
			e.codec = VP9
		case "mp4v", "jpeg", "mjpa", "mjpg", "MJPG":
			e.codec = JPEG
		default:
			return unsupported("", "a video of %q", kind)
		}
		if len(f.entries) == 0 {
			f.Codec = e.codec
			f.Width, f.Height = int(binary.BigEndian.Uint16(b[24:])), int(binary.BigEndian.Uint16(b[26:]))
		} else if e.codec != f.Codec {
			return unsupported("", "a video of %v and of %v", f.Codec, e.codec)
		}
		err := eachBox(b[78:], func(kind string, b []byte) error { return e.configure(kind, b) })
		if err == nil && (e.codec == H264 || e.codec == H265) && e.length == 0 {
			err = corrupt("a video of %v without its parameters", e.codec)
		}
		f.entries = append(f.entries, e)
		return err
	})
	if err == nil && len(f.entries) == 0 {
		err = corrupt("a track without a codec")
	}
	return err
}

// configure takes the parameters of a codec.
func (e *readEntry) configure(kind string, b []byte) error {
	switch {
	case kind == "avcC" && len(b) >= 6:
		e.length = int(b[4]&3) + 1
		rest, err := e.units(b[6:], int(b[5]&31))
		if err == nil && len(rest) > 0 {
			_, err = e.units(rest[1:], int(rest[0]))
		}
		return err
	case kind == "hvcC" && len(b) >= 23:
		e.length = int(b[21]&3) + 1
		rest := b[23:]
		for range int(b[22]) {
			if len(rest) < 3 {
				return corrupt("parameters of H.265 that end early")
			}
			var err error
			if rest, err = e.units(rest[3:], int(binary.BigEndian.Uint16(rest[1:]))); err != nil {
				return err
			}
		}
	case kind == "av1C" && len(b) > 4:
		e.sets = slices.Clone(b[4:])
	}
	return nil
}

// units takes n parameter sets, each with its length in 2 bytes.
func (e *readEntry) units(b []byte, n int) (rest []byte, err error) {
	for range n {
		if len(b) < 2 || int(binary.BigEndian.Uint16(b)) > len(b)-2 {
			return nil, corrupt("a parameter set that ends early")
		}
		size := int(binary.BigEndian.Uint16(b))
		e.sets = append(append(e.sets, 0, 0, 0, 1), b[2:2+size]...)
		b = b[2+size:]
	}
	return b, nil
}

// Frame appends frame i to dst as messages have it: an access unit of H.264 or H.265 with start codes and, if it is a
// key frame, its parameter sets; a temporal unit of AV1 with its delimiter, a key frame with its sequence header;
// others as they are.
func (f *File) Frame(dst []byte, i int) ([]byte, error) {
	s := &f.Samples[i]
	raw := make([]byte, s.size)
	if _, err := io.ReadFull(io.NewSectionReader(f.r, s.at, int64(s.size)), raw); err != nil {
		return dst, err
	}
	e := &f.entries[s.entry]
	switch e.codec {
	case H264, H265:
		return e.unitsOf(dst, raw, s.Key)
	case AV1:
		if len(raw) > 0 && raw[0]>>3&15 != obuDelimiter {
			dst = append(dst, obuDelimiter<<3|2, 0)
		}
		if s.Key && len(e.sets) > 0 && !hasSequence(raw) {
			dst = append(dst, e.sets...)
		}
	}
	return append(dst, raw...), nil
}

// hasSequence reports whether a temporal unit has a sequence header.
func hasSequence(unit []byte) (has bool) {
	err := eachOBU(unit, func(kind byte, _ []byte, _ int) error {
		has = has || kind == obuSequence
		return nil
	})
	return has && err == nil
}

// unitsOf puts start codes in the place of lengths.
func (e *readEntry) unitsOf(dst, raw []byte, key bool) ([]byte, error) {
	if key {
		dst = append(dst, e.sets...)
	}
	for len(raw) > 0 {
		if len(raw) < e.length {
			return dst, corrupt("a frame that ends within a length")
		}
		size := 0
		for _, b := range raw[:e.length] {
			size = size<<8 | int(b)
		}
		if raw = raw[e.length:]; size > len(raw) {
			return dst, corrupt("a NAL unit of %d bytes in %d", size, len(raw))
		}
		dst = append(append(dst, 0, 0, 0, 1), raw[:size]...)
		raw = raw[size:]
	}
	return dst, nil
}
