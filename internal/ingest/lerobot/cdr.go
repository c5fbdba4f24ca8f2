package lerobot

import (
	"encoding/binary"
	"math"
)

// A cdr is a message in CDR, little endian, which grows. Numbers are aligned to their size from the end of the head on:
//
//	0   00 01 00 00   head
//	4   ...           the fields
type cdr []byte

func newCDR(dst []byte) cdr { return append(dst[:0], 0, 1, 0, 0) }

func (c *cdr) align(n int) {
	for (len(*c)-4)%n != 0 {
		*c = append(*c, 0)
	}
}

func (c *cdr) u32(v uint32) {
	c.align(4)
	*c = binary.LittleEndian.AppendUint32(*c, v)
}

func (c *cdr) float64s(list []float64) {
	c.u32(uint32(len(list)))
	for _, v := range list {
		c.align(8)
		*c = binary.LittleEndian.AppendUint64(*c, math.Float64bits(v))
	}
}

func (c *cdr) text(s string) {
	c.u32(uint32(len(s) + 1))
	*c = append(append(*c, s...), 0)
}

func (c *cdr) bytes(b []byte) {
	c.u32(uint32(len(b)))
	*c = append(*c, b...)
}

// stamp is a builtin_interfaces/Time; ns is 0 or more.
func (c *cdr) stamp(ns int64) {
	c.u32(uint32(ns / 1e9))
	c.u32(uint32(ns % 1e9))
}

// jointState is a sensor_msgs/JointState.
func jointState(dst []byte, ns int64, names []string, values []float64) []byte {
	c := newCDR(dst)
	c.stamp(ns)
	c.text("")
	c.u32(uint32(len(names)))
	for _, n := range names {
		c.text(n)
	}
	c.float64s(values)
	c.float64s(nil)
	c.float64s(nil)
	return c
}

// compressedImage is a sensor_msgs/CompressedImage.
func compressedImage(dst []byte, ns int64, format string, data []byte) []byte {
	c := newCDR(dst)
	c.stamp(ns)
	c.text("")
	c.text(format)
	c.bytes(data)
	return c
}

// compressedVideo is a foxglove_msgs/CompressedVideo.
func compressedVideo(dst []byte, ns int64, format string, data []byte) []byte {
	c := newCDR(dst)
	c.stamp(ns)
	c.text("")
	c.bytes(data)
	c.text(format)
	return c
}

// stringMessage is a std_msgs/String.
func stringMessage(dst []byte, s string) []byte {
	c := newCDR(dst)
	c.text(s)
	return c
}
