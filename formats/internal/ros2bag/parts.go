package ros2bag

import (
	"fmt"
	"math"
)

// PartName returns the name of part n of the recording in a folder of that name.
func (s *Storage) PartName(folder string, n int) string {
	return fmt.Sprintf("%s_%d%s", folder, n, s.Ext)
}

// The modes of compression that metadata.yaml names.
const (
	ModeFile    = "FILE"
	ModeMessage = "MESSAGE"
)

// PackedName returns the name that a part has when it is compressed as a whole.
func PackedName(name string) string { return name + zstdEndings[0] }

// SetPacked notes that the parts are compressed as a whole. As rosbag2 does, it renames them
// in the list of paths alone.
func (m *Metadata) SetPacked() {
	m.Compression, m.Mode = "zstd", ModeFile
	for i := range m.Paths {
		m.Paths[i] = PackedName(m.Paths[i])
	}
}

// PacksMessages reports whether metadata.yaml, if there is one, says that each message is compressed by
// itself: as a zstd frame, or with another codec.
func (m *Metadata) PacksMessages() (zstd, other bool) {
	packs := m != nil && m.Mode == ModeMessage
	return packs && m.Compression == "zstd", packs && m.Compression != "zstd"
}

// A Part is a part that is written.
type Part struct {
	Name       string // in the folder
	Messages   int64
	Start, End int64 // least and greatest log time, if there are messages
}

// Add counts a message.
func (p *Part) Add(logTime int64) {
	if p.Messages == 0 {
		p.Start, p.End = logTime, logTime
	}
	p.Start, p.End = min(p.Start, logTime), max(p.End, logTime)
	p.Messages++
}

// SetParts fills in what m has about its parts. Decoders take times as unsigned: a start
// before 1970 is written as 0, and what has no messages starts at the end of time, as
// rosbag2 writes it.
func (m *Metadata) SetParts(parts []Part) {
	m.Paths, m.Files = nil, nil
	var all Part
	for _, p := range parts {
		m.Paths = append(m.Paths, p.Name)
		m.Files = append(m.Files, p.file())
		if p.Messages > 0 {
			all.Add(p.Start)
			all.Add(p.End)
		}
	}
	whole := all.file()
	m.Start, m.Duration, m.Messages = whole.Start, whole.Duration, 0
	for _, p := range parts {
		m.Messages += p.Messages
	}
}

func (p *Part) file() File {
	f := File{Path: p.Name, Start: math.MaxInt64, Messages: p.Messages}
	if p.Messages > 0 {
		f.Start = max(p.Start, 0)
		f.Duration = int64(min(uint64(p.End)-uint64(p.Start), math.MaxInt64))
	}
	return f
}
