package mp4

import (
	"bytes"
	"encoding/binary"
)

// The types of NAL units of H.264: the lower 5 bits of their first byte.
const (
	avcSlice, avcIDR, avcSEI, avcSPS, avcPPS              = 1, 5, 6, 7, 8
	avcDelimiter, avcEndSequence, avcEndStream, avcFiller = 9, 10, 11, 12
)

// The types of NAL units of H.265: bits 1 to 6 of their first byte. 0 to 31 are pictures, 16 to 23
// of them pictures that decoding may begin with.
const (
	hevcFirstKey, hevcLastKey, hevcLastPicture = 16, 23, 31
	hevcVPS, hevcSPS, hevcPPS                  = 32, 33, 34
)

// A framing is how a frame separates its NAL units.
type framing int

const (
	noFraming  framing = iota
	startCodes         // 00 00 01 before each, with any zeros before that: Annex B
	lengths            // 4 bytes, big endian
)

// framingOf returns the framing of a frame. A length of 256 to 511 looks like a start code; it is one if the
// lengths do not add up, or if what follows it as a header is one.
func framingOf(data []byte) framing {
	zeros := 0
	for zeros < len(data) && data[zeros] == 0 {
		zeros++
	}
	isCode := zeros >= 2 && zeros+1 < len(data) && data[zeros] == 1
	switch {
	case isCode && (zeros > 2 || !addsUp(data)):
		return startCodes
	case isCode && (plausibleAVC(data[3:]) || plausibleHEVC(data[3:])):
		return startCodes
	case addsUp(data):
		return lengths
	}
	return noFraming
}

// addsUp reports whether data are units with lengths before them.
func addsUp(data []byte) bool {
	if len(data) == 0 {
		return false
	}
	for len(data) > 0 {
		if len(data) < 5 {
			return false
		}
		n := uint64(binary.BigEndian.Uint32(data))
		if n == 0 || n > uint64(len(data)-4) {
			return false
		}
		data = data[4+n:]
	}
	return true
}

// eachUnit calls f with each NAL unit, which is not empty. Zeros before and after units are not of them.
func eachUnit(data []byte, f framing, do func(unit []byte) error) error {
	switch f {
	case startCodes:
		return eachStartCode(data, do)
	case lengths:
		if !addsUp(data) {
			return corrupt("a frame of %d bytes whose lengths of NAL units do not add up", len(data))
		}
		for len(data) > 0 {
			n := 4 + binary.BigEndian.Uint32(data)
			if err := do(data[4:n]); err != nil {
				return err
			}
			data = data[n:]
		}
		return nil
	}
	return corrupt("a frame that begins with % x, which is neither a start code nor a length of NAL units",
		data[:min(len(data), 8)])
}

// startCode begins a unit.
var startCode = []byte{0, 0, 1}

func eachStartCode(data []byte, do func(unit []byte) error) error {
	at := bytes.Index(data, startCode)
	if at < 0 {
		return corrupt("a frame of %d bytes without a start code", len(data))
	}
	for at >= 0 {
		data = data[at+3:]
		at = bytes.Index(data, startCode)
		unit := data
		if at >= 0 {
			unit = data[:at]
		}
		for len(unit) > 0 && unit[len(unit)-1] == 0 {
			unit = unit[:len(unit)-1]
		}
		if len(unit) == 0 {
			continue
		}
		if err := do(unit); err != nil {
			return err
		}
	}
	return nil
}
