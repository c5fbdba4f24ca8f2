package mp4

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// A demuxed file is what the boxes of a file say, read by rules of ISO/IEC 14496-12 alone.
type demuxed struct {
	scale         uint32
	width, height int
	duration      uint64
	entries       [][]byte // of stsd
	times         []uint64 // in units of scale
	durations     []uint32
	samples       [][]byte
	keys          []bool
	sampleEntry   []int // from 1 on
	mdats         int
}

// children calls do with the boxes in b, and fails if they do not fill it.
func children(b []byte, do func(kind string, payload []byte, at int) error) error {
	for at := 0; at < len(b); {
		if at+8 > len(b) {
			return fmt.Errorf("%d bytes after the last box", len(b)-at)
		}
		n := int(binary.BigEndian.Uint32(b[at:]))
		if n < 8 || at+n > len(b) {
			return fmt.Errorf("box %q of %d bytes in %d", b[at+4:at+8], n, len(b)-at)
		}
		if err := do(string(b[at+4:at+8]), b[at+8:at+n], at+8); err != nil {
			return err
		}
		at += n
	}
	return nil
}

// demux reads a file.
func demux(file []byte) (d demuxed, err error) {
	boxes := map[string][]byte{}
	var order []string
	inMdat := make([][2]int, 0, 4)
	var walk func(kind string, payload []byte, at int) error
	walk = func(kind string, payload []byte, at int) error {
		switch kind {
		case "moov", "trak", "mdia", "minf", "stbl", "dinf":
			return children(payload, walk)
		case "mdat":
			d.mdats++
			inMdat = append(inMdat, [2]int{at, at + len(payload)})
			return nil
		}
		boxes[kind] = payload
		order = append(order, kind)
		return nil
	}
	if err := children(file, walk); err != nil {
		return d, err
	}
	if len(order) == 0 || order[0] != "ftyp" || len(boxes["mdhd"]) < 24 {
		return d, fmt.Errorf("boxes %q", order)
	}
	if m := boxes["mdhd"]; m[0] == 1 {
		d.scale, d.duration = binary.BigEndian.Uint32(m[20:]), binary.BigEndian.Uint64(m[24:])
	} else {
		d.scale, d.duration = binary.BigEndian.Uint32(m[12:]), uint64(binary.BigEndian.Uint32(m[16:]))
	}
	tkhd := boxes["tkhd"]
	d.width, d.height = int(binary.BigEndian.Uint16(tkhd[len(tkhd)-8:])), int(binary.BigEndian.Uint16(tkhd[len(tkhd)-4:]))
	if err := children(boxes["stsd"][8:], func(kind string, payload []byte, _ int) error {
		d.entries = append(d.entries, append([]byte(kind), payload...))
		return nil
	}); err != nil {
		return d, err
	}
	return d, d.table(file, boxes, inMdat)
}

// table reads the tables of samples.
func (d *demuxed) table(file []byte, boxes map[string][]byte, mdats [][2]int) error {
	numbers := func(kind string, skip int) (out []uint32) {
		for b := boxes[kind][skip:]; len(b) >= 4; b = b[4:] {
			out = append(out, binary.BigEndian.Uint32(b))
		}
		return out
	}
	at := uint64(0)
	for stts := numbers("stts", 8); len(stts) > 0; stts = stts[2:] {
		for range stts[0] {
			d.times, d.durations = append(d.times, at), append(d.durations, stts[1])
			at += uint64(stts[1])
		}
	}
	sizes, stsc, co64 := numbers("stsz", 12), numbers("stsc", 8), boxes["co64"][8:]
	if len(sizes) != len(d.times) || at != d.duration {
		return fmt.Errorf("%d sizes of %d frames, %d units long, the header has %d", len(sizes), len(d.times), at, d.duration)
	}
	d.keys = make([]bool, len(sizes))
	for i := range d.keys {
		d.keys[i] = boxes["stss"] == nil
	}
	if boxes["stss"] != nil {
		for _, k := range numbers("stss", 8) {
			d.keys[k-1] = true
		}
	}
	n := 0
	for chunk := 0; chunk < len(co64)/8; chunk++ {
		for len(stsc) > 3 && stsc[3] == uint32(chunk+1) {
			stsc = stsc[3:]
		}
		offset := int(binary.BigEndian.Uint64(co64[8*chunk:]))
		for range stsc[1] {
			end := offset + int(sizes[n])
			if !within(mdats, offset, end) {
				return fmt.Errorf("frame %d at %d to %d is in no mdat", n, offset, end)
			}
			d.samples = append(d.samples, file[offset:end])
			d.sampleEntry = append(d.sampleEntry, int(stsc[2]))
			offset, n = end, n+1
		}
	}
	if n != len(sizes) {
		return fmt.Errorf("%d frames in mdats, %d in stsz", n, len(sizes))
	}
	return nil
}

func within(mdats [][2]int, start, end int) bool {
	for _, m := range mdats {
		if m[0] <= start && end <= m[1] {
			return true
		}
	}
	return false
}

// units returns the NAL units of a frame.
func units(t testing.TB, data []byte) (out [][]byte) {
	t.Helper()
	if err := eachUnit(data, framingOf(data), func(u []byte) error {
		out = append(out, u)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// tiny returns the frames of a stream of testdata.
func tiny(t testing.TB, c Codec) [][]byte {
	t.Helper()
	name := map[Codec]string{H264: "tiny.h264", H265: "tiny.h265", VP9: "tiny.vp9", AV1: "tiny.av1"}[c]
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if c == VP9 || c == AV1 {
		return ivf(t, data)
	}
	return accessUnits(t, data, c)
}

// ivf returns the frames of an IVF file.
func ivf(t testing.TB, data []byte) (out [][]byte) {
	t.Helper()
	for data = data[32:]; len(data) > 0; {
		n := 12 + int(binary.LittleEndian.Uint32(data))
		out, data = append(out, data[12:n]), data[n:]
	}
	if len(out) < 5 {
		t.Fatalf("%d frames", len(out))
	}
	return out
}

// inFile is what a frame is in the file.
func inFile(t testing.TB, c Codec, frame []byte) (out []byte) {
	t.Helper()
	switch c {
	case AV1:
		return bytes.TrimPrefix(frame, []byte("\x12\x00"))
	case H264, H265:
		for _, u := range stripped(t, c, frame) {
			out = append(binary.BigEndian.AppendUint32(out, uint32(len(u))), u...)
		}
		return out
	}
	return frame
}

// accessUnits cuts a stream before its delimiters.
func accessUnits(t testing.TB, data []byte, c Codec) (out [][]byte) {
	t.Helper()
	delimiter := []byte{0, 0, 0, 1, avcDelimiter}
	if c == H265 {
		delimiter = []byte{0, 0, 0, 1, 35 << 1}
	}
	for len(data) > 0 {
		n := bytes.Index(data[1:], delimiter) + 1
		if n == 0 {
			n = len(data)
		}
		out, data = append(out, data[:n]), data[n:]
	}
	if len(out) < 5 {
		t.Fatalf("%d access units", len(out))
	}
	return out
}

// withLengths returns a frame with lengths in the place of start codes.
func withLengths(t testing.TB, data []byte) (out []byte) {
	t.Helper()
	for _, u := range units(t, data) {
		out = binary.BigEndian.AppendUint32(out, uint32(len(u)))
		out = append(out, u...)
	}
	return out
}

// stripped returns the NAL units of a frame that are no parameter sets.
func stripped(t testing.TB, c Codec, data []byte) (out [][]byte) {
	t.Helper()
	for _, u := range units(t, data) {
		if setKind(c, u) < 0 {
			out = append(out, u)
		}
	}
	return out
}
