package mp4

import (
	"encoding/binary"
	"math"
)

// fileType is the first box.
var fileType = []byte("\x00\x00\x00\x1cftypisom\x00\x00\x02\x00isomiso2mp41")

// fields is a payload that grows.
type fields []byte

func (f *fields) u8(v ...byte) { *f = append(*f, v...) }
func (f *fields) u16(v uint16) { *f = binary.BigEndian.AppendUint16(*f, v) }
func (f *fields) u32(v ...uint32) {
	for _, n := range v {
		*f = binary.BigEndian.AppendUint32(*f, n)
	}
}
func (f *fields) u64(v uint64) { *f = binary.BigEndian.AppendUint64(*f, v) }
func (f *fields) zeros(n int)  { *f = append(*f, make([]byte, n)...) }
func (f *fields) long(v uint64, wide bool) {
	if wide {
		f.u64(v)
	} else {
		f.u32(uint32(v))
	}
}

// matrix leaves pictures as they are.
var matrix = []uint32{1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30}

// epoch is 1970 in seconds since 1904.
const epoch = 2082844800

// open appends the head of a box, and returns where it is; end fills in its length.
func (f *fields) open(kind string) (at int) {
	at = len(*f)
	f.u32(0)
	*f = append(*f, kind...)
	return at
}

func (f *fields) end(at int) { binary.BigEndian.PutUint32((*f)[at:], uint32(len(*f)-at)) }

// box appends a box.
func (f *fields) box(kind string, payload string) {
	at := f.open(kind)
	*f = append(*f, payload...)
	f.end(at)
}

// movie returns the moov box.
func (w *Writer) movie() ([]byte, error) {
	w.sum.Scale = w.table.scale()
	duration := w.table.durations(w.sum.Scale, func(_, _ uint32) {})
	created := uint64(0)
	if w.sum.Start >= 0 {
		created = epoch + uint64(w.sum.Start)/1e9
	}
	t := timing{created, duration, w.sum.Scale, duration > math.MaxUint32 || created > math.MaxUint32}

	f := make(fields, 0, 4096+12*w.sum.Frames+8*len(w.table.chunks))
	moov := f.open("moov")
	at := f.open("mvhd")
	f.timing(t)
	f.u32(1<<16, 1<<24) // rate 1, volume 1
	f.zeros(8)
	f.u32(matrix...)
	f.zeros(24)
	f.u32(2) // the number of the next track
	f.end(at)

	trak := f.open("trak")
	at = f.open("tkhd")
	f.u8(t.version(), 0, 0, 3) // enabled, in the movie
	f.long(t.created, t.wide)
	f.long(t.created, t.wide)
	f.u32(1, 0)
	f.long(t.duration, t.wide)
	f.zeros(16)
	f.u32(matrix...)
	f.u32(uint32(w.sum.Width)<<16, uint32(w.sum.Height)<<16)
	f.end(at)

	mdia := f.open("mdia")
	at = f.open("mdhd")
	f.timing(t)
	f.u16(0x55c4) // no language: und, 5 bits a letter
	f.u16(0)
	f.end(at)
	f.box("hdlr", "\x00\x00\x00\x00\x00\x00\x00\x00vide\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00video\x00")
	minf := f.open("minf")
	f.box("vmhd", "\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00")
	f.box("dinf", // this file
		"\x00\x00\x00\x1cdref\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x0curl \x00\x00\x00\x01")
	if err := w.sampleTable(&f); err != nil {
		return nil, err
	}
	for _, at := range []int{minf, mdia, trak, moov} {
		f.end(at)
	}
	if uint64(len(f)) > math.MaxUint32 {
		return nil, unsupported("split the video by time", "tables of %d frames, which are longer than 4 GB", w.sum.Frames)
	}
	return f, nil
}

// A timing is what three boxes say about time.
type timing struct {
	created, duration uint64
	scale             uint32
	wide              bool // 64 bits
}

func (t timing) version() byte {
	if t.wide {
		return 1
	}
	return 0
}

// timing appends what mvhd and mdhd begin with.
func (f *fields) timing(t timing) {
	f.u8(t.version(), 0, 0, 0)
	f.long(t.created, t.wide)
	f.long(t.created, t.wide)
	f.u32(t.scale)
	f.long(t.duration, t.wide)
}

// sampleTable appends the stbl box.
func (w *Writer) sampleTable(f *fields) error {
	stbl := f.open("stbl")
	at := f.open("stsd")
	f.u32(0, uint32(len(w.entries)))
	for i := range w.entries {
		if err := w.entries[i].appendTo(f, w.codec); err != nil {
			return err
		}
	}
	f.end(at)
	t := &w.table
	at = f.open("stts")
	*f, _ = t.appendTimes(*f, w.sum.Scale)
	f.end(at)
	if w.codec != JPEG && len(t.keys) < len(t.sizes) {
		at = f.open("stss")
		f.u32(0, uint32(len(t.keys)))
		f.u32(t.keys...)
		f.end(at)
	}
	at = f.open("stsc")
	f.u32(0, uint32(len(t.runs)))
	for _, r := range t.runs {
		f.u32(r.first, r.frames, r.entry)
	}
	f.end(at)
	at = f.open("stsz")
	f.u32(0, 0, uint32(len(t.sizes)))
	f.u32(t.sizes...)
	f.end(at)
	at = f.open("co64")
	f.u32(0, uint32(len(t.chunks)))
	for _, offset := range t.chunks {
		f.u64(uint64(offset))
	}
	f.end(at)
	f.end(stbl)
	return nil
}

// appendTo appends an entry of stsd.
func (e *entry) appendTo(f *fields, c Codec) error {
	kinds := [...][2]string{JPEG: {"mp4v", "esds"}, H264: {"avc1", "avcC"}, H265: {"hvc1", "hvcC"},
		VP9: {"vp09", "vpcC"}, AV1: {"av01", "av1C"}}
	at := f.open(kinds[c][0])
	f.zeros(6)
	f.u16(1) // of dref
	f.zeros(16)
	f.u16(uint16(e.width))
	f.u16(uint16(e.height))
	f.u32(72<<16, 72<<16, 0) // dots per inch
	f.u16(1)                 // frame in a sample
	f.zeros(32)              // the compressor's name
	f.u16(24)                // bits
	f.u16(0xffff)
	config, err := e.config, error(nil)
	switch c {
	case H264:
		config, err = e.sets.avcConfig()
	case H265:
		config, err = e.sets.hevcConfig()
	}
	f.box(kinds[c][1], config)
	f.end(at)
	return err
}

// jpegDescriptor is the payload of esds: a visual stream (4) of object type 6C, which is JPEG.
const jpegDescriptor = "\x00\x00\x00\x00" +
	"\x03\x15\x00\x01\x00" + // ES_Descriptor of stream 1
	"\x04\x0d\x6c\x11\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" + // DecoderConfigDescriptor
	"\x06\x01\x02" // SLConfigDescriptor

// avcConfig returns an AVCDecoderConfigurationRecord:
//
//	1  profile, constraints, level  FC | 3: lengths of 4 bytes  E0 | sequence sets: length u16, unit ...
//	picture sets u8: length u16, unit ...   of high profiles: FC | chroma  F8 | bits - 8 of Y, of color  0
func (p *parameters) avcConfig() (string, error) {
	pic, err := p.picture()
	if err != nil {
		return "", err
	}
	var f fields
	f.u8(1)
	f.u8(pic.profile...)
	f.u8(0xfc|3, 0xe0|byte(len(p.sets[sequenceSets])))
	f.sets(p.sets[sequenceSets])
	f.u8(byte(len(p.sets[pictureSets])))
	f.sets(p.sets[pictureSets])
	if profile := pic.profile[0]; profile != 66 && profile != 77 && profile != 88 {
		f.u8(0xfc|byte(pic.chroma), 0xf8|byte(pic.lumaBits-8), 0xf8|byte(pic.colorBits-8), 0)
	}
	return string(f), nil
}

func (f *fields) sets(sets []parameterSet) {
	for _, s := range sets {
		f.u16(uint16(len(s.unit)))
		f.u8(s.unit...)
	}
}

// hevcConfig returns an HEVCDecoderConfigurationRecord:
//
//	1  the 12 bytes of profile_tier_level  F0 00: segmentation unknown  FC: parallelism unknown  FC | chroma
//	F8 | bits - 8 of Y, of color  0 0: frame rate unknown  layers << 3 | nested << 2 | 3: lengths of 4 bytes
//	lists u8: 80 | type: complete  sets u16: length u16, unit ...
func (p *parameters) hevcConfig() (string, error) {
	pic, err := p.picture()
	if err != nil {
		return "", err
	}
	var f fields
	f.u8(1)
	f.u8(pic.profile...)
	f.u8(0xf0, 0, 0xfc, 0xfc|byte(pic.chroma), 0xf8|byte(pic.lumaBits-8), 0xf8|byte(pic.colorBits-8), 0, 0)
	last := pic.layers<<3 | 3
	if pic.nested {
		last |= 1 << 2
	}
	f.u8(last, 3)
	for i, kind := range []byte{hevcVPS, hevcSPS, hevcPPS} {
		f.u8(0x80 | kind)
		f.u16(uint16(len(p.sets[i])))
		f.sets(p.sets[i])
	}
	return string(f), nil
}
