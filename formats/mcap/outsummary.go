package mcap

import (
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"slices"
)

// sections is what a Writer keeps of what it has written, for the summary.
type sections struct {
	pos    int64  // end of the file so far
	sum    uint32 // checksum of the file so far
	counts []uint64
	stats  statistics

	chunkIndexes, attachmentIndexes, metadataIndexes []byte // records
}

// begin writes what a file begins with, once. The profile fits the channels that there are by then.
func (w *writer) begin() error {
	if w.File == nil {
		return w.fail("the writer is closed", nil)
	}
	if w.pos > 0 {
		return nil
	}
	if !w.profiled {
		encodings := make([]string, len(w.channels))
		for i := range w.channels {
			encodings[i] = w.channels[i].encoding
		}
		if w.header.profile = profileOf(encodings); len(encodings) == 0 && w.own.always {
			w.header.profile = profileROS2
		}
	}
	return w.put(w.header.append([]byte(magic)))
}

// put writes bytes at the end of the file, and adds them to its checksum.
func (w *writer) put(b []byte) error {
	if err := w.write(b); err != nil {
		return err
	}
	w.sum = crc32.Update(w.sum, crc32.IEEETable, b)
	return nil
}

// write writes bytes at the end of the file, whose checksum the caller updates.
func (w *writer) write(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if w.packing != nil {
		if err := w.packing.add(w, b); err != nil {
			return err
		}
	} else if _, err := w.File.WriteAt(b, w.pos); err != nil {
		return w.fail("output", err)
	}
	w.pos += int64(len(b))
	return nil
}

// account adds a chunk that was written at an offset to the summary.
func (w *writer) account(k *outChunk, offset int64) {
	x := chunkIndex{
		start: k.start, end: k.end, offset: uint64(offset), length: uint64(k.length),
		indexLength: uint64(k.Len() - k.length), compression: codecName(w.codec),
		stored: uint64(k.stored), original: uint64(k.Raw),
	}
	for i := range k.used {
		u := &k.used[i]
		for len(w.counts) <= u.channel {
			w.counts = append(w.counts, 0)
		}
		w.counts[u.channel] += uint64(u.count)
		if w.layout.messageIndexes {
			x.indexes = appendCount(x.indexes, u.id, uint64(offset+int64(k.length+u.at)))
		}
	}
	s := &w.stats
	if s.messages == 0 || k.start < s.start {
		s.start = k.start
	}
	s.end = max(s.end, k.end)
	s.messages += uint64(len(k.index))
	if w.layout.chunks {
		s.chunks++
		w.chunkIndexes = x.append(w.chunkIndexes)
	}
}

// writeSummary writes the end of the data, the summary and the footer.
func (w *writer) writeSummary() error {
	if err := w.begin(); err != nil {
		return err
	}
	return w.put(w.appendEnd(nil, true))
}

// appendEnd appends to b, which stands at the end of the file, the end of the data if that is
// wanted, the summary and the footer.
func (w *writer) appendEnd(b []byte, dataEnd bool) []byte {
	start := w.pos
	if dataEnd {
		var at int
		b, at = beginRecord(b, opDataEnd)
		sum := w.sum
		if w.old != nil && w.old.unsummed {
			sum = 0
		}
		b = endRecord(binary.LittleEndian.AppendUint32(b, sum), at)
		start += int64(len(b) - at)
	}
	summary := len(b)
	var offsets []byte
	group := func(op byte, write bool, f func(dst []byte) []byte) {
		from := len(b)
		if write {
			b = f(b)
		}
		if len(b) > from {
			x := summaryOffset{op, uint64(start) + uint64(from-summary), uint64(len(b) - from)}
			offsets = x.append(offsets)
		}
	}
	l := &w.layout
	group(opSchema, l.schemas, w.appendSchemas)
	group(opChannel, l.channels, w.appendChannels)
	group(opStatistics, l.statistics, w.appendStatistics)
	group(opChunkIndex, l.chunkIndexes, func(dst []byte) []byte { return append(dst, w.chunkIndexes...) })
	group(opAttachmentIndex, l.attachmentIndexes, func(dst []byte) []byte { return append(dst, w.attachmentIndexes...) })
	group(opMetadataIndex, l.metadataIndexes, func(dst []byte) []byte { return append(dst, w.metadataIndexes...) })
	var f footer
	if len(b) > summary {
		f.summaryStart = uint64(start)
		if l.summaryOffsets {
			f.offsetStart = uint64(start) + uint64(len(b)-summary)
			b = append(b, offsets...)
		}
	}
	b = f.append(b, crc32.ChecksumIEEE(b[summary:]), true)
	return append(b, magic...)
}

// appendSchemas appends the schemas in the order of id.
func (w *writer) appendSchemas(dst []byte) []byte {
	for _, s := range slices.SortedFunc(slices.Values(w.schemas),
		func(a, b outSchema) int { return cmp.Compare(a.id, b.id) }) {
		dst = s.append(dst)
	}
	return dst
}

// order returns the indexes of channels in the order of id.
func (w *writer) order() []int {
	order := make([]int, len(w.channels))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(w.channels[a].id, w.channels[b].id) })
	return order
}

func (w *writer) appendChannels(dst []byte) []byte {
	for _, i := range w.order() {
		dst = w.channels[i].append(dst)
	}
	return dst
}

func (w *writer) appendStatistics(dst []byte) []byte {
	s := w.stats
	s.schemas, s.channels = uint16(len(w.schemas)), uint32(len(w.channels))
	for _, i := range w.order() {
		if i < len(w.counts) && w.counts[i] > 0 {
			s.counts = appendCount(s.counts, w.channels[i].id, w.counts[i])
		}
	}
	return s.append(dst)
}
