package storage

import "io"

// Extras is what a recording carries besides messages, in the order of the file.
type Extras struct {
	Attachments []Attachment
	Metadata    []MetadataRecord
}

// An Attachment is a file within a recording, such as a calibration. Several may have
// one name.
type Attachment struct {
	Name      string
	MediaType string // as in "text/yaml"; "" when it is not known

	LogTime    int64 // when it was recorded, ns since 1970
	CreateTime int64 // when the file was made, ns since 1970; 0 when that is not known

	Size int64 // of the content, bytes

	// Open opens the content, which has Size bytes. It may be called more than once, as
	// long as the Reader is open.
	Open func() (io.ReadCloser, error)
}

// A MetadataRecord is a table of texts about a recording. Several may have one name.
type MetadataRecord struct {
	Name string

	// Values reads the table, which is the caller's then. It may be called as long as
	// the Reader is open.
	Values func() (map[string]string, error)
}

// An ExtraReader is a Reader of a format that has a place for attachments or metadata
// records.
type ExtraReader interface {
	// Extras lists the attachments and records. It does not read their contents.
	Extras() (Extras, error)
}

// An ExtraWriter is a Writer that takes attachments and metadata records. Its calls come after the
// topics that are known at the start and before Finish, whenever all blocks that were handed out
// have been appended. An error that wraps ErrUnsupported is about this attachment or record alone,
// and the writer goes on.
type ExtraWriter interface {
	// WriteAttachment copies an attachment. Content of another size than a.Size is an
	// error.
	WriteAttachment(a *Attachment) error

	WriteMetadata(m *MetadataRecord) error
}
