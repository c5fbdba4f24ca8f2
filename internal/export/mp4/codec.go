package mp4

import (
	"bytes"
	"strings"
)

// A Codec is how a frame is encoded.
type Codec int

// The codecs. VP8 is recognized, but not written.
const (
	Unknown Codec = iota
	JPEG
	H264
	H265
	VP8
	VP9
	AV1
)

// codecs are what codecs are called, and parts of names that formats of messages have for them.
var codecs = [...]struct {
	name    string
	aliases []string
}{
	Unknown: {"unknown", nil},
	JPEG:    {"JPEG", []string{"jpeg", "jpg"}},
	H264:    {"H.264", []string{"h264", "h.264", "avc1", "x264"}},
	H265:    {"H.265", []string{"h265", "h.265", "hevc", "hvc1", "x265"}},
	VP8:     {"VP8", []string{"vp8"}},
	VP9:     {"VP9", []string{"vp9", "vp09"}},
	AV1:     {"AV1", []string{"av1", "av01"}},
}

// String returns the name of a codec: "H.264".
func (c Codec) String() string {
	if c < 0 || int(c) >= len(codecs) {
		c = Unknown
	}
	return codecs[c].name
}

// Named returns the codec that the format of a message names: "h264", "jpeg", "rgb8; jpeg compressed bgr8",
// "libx264". Sniff is surer.
func Named(format string) Codec {
	format = strings.ToLower(format)
	for c := H264; int(c) < len(codecs); c++ {
		for _, alias := range codecs[c].aliases {
			if strings.Contains(format, alias) {
				return c
			}
		}
	}
	if strings.Contains(format, "jpeg") || strings.Contains(format, "jpg") {
		return JPEG
	}
	return Unknown
}

// Sniff returns the codec of a frame by its bytes, or Unknown. H.264 and H.265 are found in any frame, VP8 and
// VP9 in key frames only.
func Sniff(data []byte) Codec {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return JPEG
	case len(data) > 9 && data[0]&1 == 0 && string(data[3:6]) == "\x9d\x01\x2a":
		return VP8
	case len(data) > 3 && data[0]>>6 == 2 && string(data[1:4]) == "\x49\x83\x42":
		return VP9
	case bytes.HasPrefix(data, []byte("\x12\x00\x0a")): // a temporal delimiter, then a sequence header
		return AV1
	}
	return sniffUnits(data)
}

// sniffUnits returns which of H.264 and H.265 all NAL units of a frame can be. It is never both: a frame of
// H.264 has a slice or a sequence parameter set, whose first byte is odd, and in H.265 that is another layer.
func sniffUnits(data []byte) Codec {
	avc, hevc, avcCore, hevcCore := true, true, false, false
	err := eachUnit(data, framingOf(data), func(unit []byte) error {
		avc = avc && plausibleAVC(unit)
		hevc = hevc && plausibleHEVC(unit)
		kind := unit[0] & 31
		avcCore = avcCore || kind == avcSlice || kind == avcIDR || kind == avcSPS
		kind = unit[0] >> 1
		hevcCore = hevcCore || kind <= hevcLastPicture || kind == hevcVPS || kind == hevcSPS
		return nil
	})
	switch {
	case err == nil && avc && avcCore:
		return H264
	case err == nil && hevc && hevcCore:
		return H265
	}
	return Unknown
}

// plausibleAVC reports whether a NAL unit can be of H.264: its forbidden bit is 0, its type is one that cameras
// send, and types that need or forbid a reference have it so.
func plausibleAVC(unit []byte) bool {
	kind, reference := unit[0]&31, unit[0]>>5
	switch kind {
	case avcSlice:
		return unit[0]>>7 == 0
	case avcIDR, avcSPS, avcPPS:
		return reference >= 1 && reference <= 3
	case avcSEI, avcDelimiter, avcEndSequence, avcEndStream, avcFiller:
		return reference == 0
	}
	return false
}

// plausibleHEVC reports whether a NAL unit can be of H.265: of the base layer, with a temporal layer, and of a
// type that is not reserved.
func plausibleHEVC(unit []byte) bool {
	if len(unit) < 2 || unit[0]>>7 != 0 || unit[0]&1 != 0 || unit[1]>>3 != 0 || unit[1]&7 == 0 {
		return false
	}
	kind := unit[0] >> 1
	return kind <= 9 || kind >= 16 && kind <= 21 || kind >= hevcVPS && kind <= 40
}
