package mp4

import "encoding/binary"

// JPEGSize returns the size that a JPEG states in its start of frame, pixels. An error wraps storage.ErrCorrupt:
//
//	FF D8   then segments: FF kind u8  length u16 with itself  ...     of kinds C0 to CF without C4, C8, CC:
//	                                                                   bits u8  height u16  width u16  ...
func JPEGSize(data []byte) (width, height int, err error) {
	if len(data) < 4 || data[0] != 0xff || data[1] != 0xd8 {
		return 0, 0, corrupt("a frame that begins with % x, as no JPEG does", data[:min(len(data), 4)])
	}
	for at := 2; at+4 <= len(data); {
		if data[at] != 0xff {
			break
		}
		kind := data[at+1]
		switch {
		case kind == 0xff: // filler
			at++
			continue
		case kind == 0x01 || kind >= 0xd0 && kind <= 0xd8: // without a length
			at += 2
			continue
		}
		if kind >= 0xc0 && kind <= 0xcf && kind != 0xc4 && kind != 0xc8 && kind != 0xcc {
			if at+9 > len(data) {
				break
			}
			height, width = int(binary.BigEndian.Uint16(data[at+5:])), int(binary.BigEndian.Uint16(data[at+7:]))
			if width == 0 || height == 0 {
				return 0, 0, corrupt("a JPEG of %d x %d pixels", width, height)
			}
			return width, height, nil
		}
		if kind == 0xd9 || kind == 0xda {
			break
		}
		at += 2 + int(binary.BigEndian.Uint16(data[at+2:]))
	}
	return 0, 0, corrupt("a JPEG of %d bytes without a size", len(data))
}
