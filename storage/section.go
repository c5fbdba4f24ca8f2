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

// A Section is one piece of a recording, or bytes that are none.
type Section struct {
	File   string // path of the file that it lies in
	Kind   string // what the documents of the format call it, such as CHUNK; "" for bytes that are not sections
	Offset int64  // first byte in the file; -1 if it has no place of its own
	Size   int64  // bytes that the file has of it
	Data   int64  // bytes after its header, as the header states them; -1 if it states none

	Compression string // of Data; "" if the section has none
	Raw         int64  // bytes of Data before compression, as stated; -1 if not known

	Messages   int64 // in it, or that it is about; -1 if not known
	Start, End int64 // least and greatest LogTime of these, ns since 1970, when Timed
	Timed      bool

	Fields []Fact // further fields, in the order of the file; a key may be there twice
	Broken string // what is wrong with it, and where reading goes on; "" if nothing is
}

// NewSection returns a Section of size bytes in which nothing more is known.
func NewSection(file, kind string, offset, size int64) Section {
	return Section{File: file, Kind: kind, Offset: offset, Size: size, Data: -1, Raw: -1, Messages: -1}
}

// Span sets the times of a section.
func (s *Section) Span(start, end int64) { s.Start, s.End, s.Timed = start, end, true }

// Add adds a field.
func (s *Section) Add(key, value string) { s.Fields = append(s.Fields, Fact{key, value}) }
