package text

import (
	"github.com/bagconv/bagconv/internal/frames"
	"github.com/bagconv/bagconv/storage"
)

// A describer makes a stream explain itself: a frame of the recording comes first, then one for each topic that is
// read, and before a message that has more than a log time, or is of another publisher than the first, a stamp.
type describer struct {
	publishers []uint32 // by TopicID
	frame      []byte
}

// begin writes the frames that come before all messages.
func (p *Printer) begin(info *storage.Info, topics []planned) error {
	d := &describer{publishers: make([]uint32, len(info.Topics))}
	p.describer = d
	var err error
	about := frames.Recording{Format: info.Format, Version: info.Version, Metadata: info.Metadata}
	if d.frame, err = frames.AppendRecording(nil, &about); err != nil {
		return err
	}
	type identity struct{ name, typ, encoding string }
	count := map[identity]uint32{}
	for i := range topics {
		t := &info.Topics[i].Topic
		id := identity{t.Name, t.Type, t.Encoding}
		d.publishers[i] = count[id]
		if count[id]++; !topics[i].written {
			continue
		}
		if d.frame, err = frames.AppendDefinition(d.frame,
			&frames.Definition{Topic: *t, Publisher: d.publishers[i]}); err != nil {
			return err
		}
	}
	return p.print(d.frame)
}

// describe writes the stamp of a message, if it needs one.
func (p *Printer) describe(m *storage.Message) error {
	d := p.describer
	s := frames.Stamp{PublishTime: m.PublishTime, Sequence: m.Sequence, Publisher: d.publishers[m.Topic]}
	if s == (frames.Stamp{PublishTime: m.LogTime}) {
		return nil
	}
	d.frame = frames.AppendStamp(d.frame[:0], s)
	return p.print(d.frame)
}
