package recording

import (
	"cmp"
	"slices"

	"github.com/bagconv/bagconv/storage"
)

// A TopicList is what a Description has about its topics. docs/json.md describes its JSON, which bagconv info
// --topics prints.
type TopicList struct {
	SchemaVersion int                `json:"schema_version"`
	Path          string             `json:"path"`
	Estimated     bool               `json:"estimated"`
	Topics        []TopicDescription `json:"topics"`
	Warnings      []storage.Warning  `json:"warnings"`
}

// TopicList returns a part of the description, which shares its slices.
func (d *Description) TopicList() *TopicList {
	return &TopicList{d.SchemaVersion, d.Path, d.Estimated, d.Topics, d.Warnings}
}

// Sizes are the bytes of topics. docs/json.md describes their JSON, which bagconv info --sizes prints.
type Sizes struct {
	SchemaVersion int               `json:"schema_version"`
	Path          string            `json:"path"`
	Size          int64             `json:"size"` // of all files
	Messages      int64             `json:"messages"`
	Stored        *int64            `json:"stored"` // of the files, with messages in it; nil: the format has no such parts
	Raw           int64             `json:"raw"`    // of messages
	Topics        []TopicSize       `json:"topics"` // the largest first
	Warnings      []storage.Warning `json:"warnings"`
}

// A TopicSize is the bytes of a topic.
type TopicSize struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Encoding string `json:"encoding"`
	Messages int64  `json:"messages"`
	Stored   *int64 `json:"stored"` // as of Sizes
	Raw      int64  `json:"raw"`
}

// Sizes returns the bytes of the topics of a recording that was read whole: d.Scanned is set.
func (d *Description) Sizes() *Sizes {
	out := &Sizes{SchemaVersion: d.SchemaVersion, Path: d.Path, Size: d.Size, Messages: d.Messages, Topics: []TopicSize{}}
	out.Warnings = d.Warnings
	total := int64(0)
	for i := range d.Topics {
		t := &d.Topics[i]
		total, out.Raw = total+t.Stored, out.Raw+*t.Bytes
		out.Topics = append(out.Topics, TopicSize{t.Name, t.Type, t.Encoding, t.Count, &t.Stored, *t.Bytes})
	}
	if out.Stored = &total; total == 0 && out.Messages > 0 { // there are no blocks to share out
		out.Stored = nil
		for i := range out.Topics {
			out.Topics[i].Stored = nil
		}
	}
	slices.SortStableFunc(out.Topics, func(a, b TopicSize) int { return cmp.Compare(b.Raw, a.Raw) })
	return out
}
