package storage

import (
	"context"
	"iter"
)

// A SectionLister lists what the files of a recording consist of, in the terms of its
// format and as the files have it: damage is part of the list.
type SectionLister interface {
	// Sections lists the sections of a kind in the order of the files. A Section and its
	// Fields are valid until the loop's next step. An error comes with a nil Section and
	// ends the loop; it wraps ErrUnsupported if the format has no sections of the kind.
	// Damage is not an error, also of a strict Reader: see Section.Broken. Sections moves
	// nothing that the other calls read, and takes no more memory than opening did.
	Sections(ctx context.Context, kind SectionKind) iter.Seq2[*Section, error]
}

// A SectionKind is what Sections lists.
type SectionKind uint8

// The kinds of sections.
const (
	SectionRecords     SectionKind = iota // the pieces that follow each other in a file: records, sections, pages
	SectionChunks                         // what is compressed, or read, as a whole
	SectionConnections                    // connections, channels, topics: an entry of the file for each
	SectionParts                          // the files that hold the messages
)

// A Section is a piece of a recording, or a range of bytes that belongs to no piece.
type Section struct {
	File string `json:"file"` // path of the file that it lies in
	// what the documents of the format call it, such as CHUNK; "" for bytes that are not sections
	Kind   string `json:"kind"`
	Offset Known  `json:"offset"` // first byte in the file; -1 if it has no place of its own
	Size   int64  `json:"size"`   // bytes that the file has of it
	Data   Known  `json:"data"`   // bytes after its header, as the header states them; -1 if the header states no size

	Compression string `json:"compression,omitempty"` // codec of Data; "" if the section states no codec
	Raw         Known  `json:"raw"`                   // bytes of Data before compression, as stated; -1 if not known

	Messages Known  `json:"messages"`        // in it, or that it is about; -1 if not known
	Start    *int64 `json:"start_ns,string"` // least LogTime of these messages, ns since 1970; nil if it is not known
	End      *int64 `json:"end_ns,string"`   // greatest LogTime of these messages; nil if it is not known

	Fields Facts  `json:"fields"`           // further fields, in the order of the file; a key may be there twice
	Broken string `json:"broken,omitempty"` // what is wrong with it, and where reading goes on; "" if nothing is
}

// NewSection returns a Section of size bytes in which nothing more is known.
func NewSection(file, kind string, offset, size int64) Section {
	return Section{File: file, Kind: kind, Offset: Known(offset), Size: size, Data: -1, Raw: -1, Messages: -1}
}

// Span sets the times of a section.
func (s *Section) Span(start, end int64) { s.Start, s.End = &start, &end }

// Add adds a field.
func (s *Section) Add(key, value string) { s.Fields = append(s.Fields, Fact{key, value}) }
