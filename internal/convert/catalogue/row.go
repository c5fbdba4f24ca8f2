package catalogue

// A Recording is what a catalogue has of a recording. docs/catalogue.md describes the columns.
type Recording struct {
	Path          string
	Format        *string // nil if no format reads it
	FormatVersion *string
	Size          int64 // bytes of all its files
	Files         int64
	ModifiedNS    int64   // of the newest of its files
	ETag          *string // of a store, of all its files
	Start, End    *string // RFC 3339 with 9 digits, UTC; nil without messages, as the next three
	StartNS       *int64
	EndNS         *int64
	DurationNS    *int64
	Messages      *int64 // nil if it cannot be read
	Estimated     bool
	Locked        bool // it is encrypted, and there was no key
	TopicCount    int64
	Compression   *string
	Definitions   *string // a hash of all of them
	Damage        *string // codes, with commas
	Notes         *string
	LostMessages  int64
	LostBytes     int64
	Error         *string // why it cannot be read
	LeftOut       int64
	Content       bool // its messages were read

	Topics []Topic
	keys   []Key // of Topics, as the recording has them; nil if the row comes from a catalogue
}

// A Topic is what a catalogue has of a topic.
type Topic struct {
	Name, Type, Encoding string
	Count                int64
	Hz                   *float64
	Connections          int64
	Latched              bool
	QoS                  *string // JSON
	DefinitionEncoding   *string
	DefinitionHash       *string
	MD5Sum               *string
	TypeHash             *string

	ContentHash    *string // nil unless messages were read, as the next two
	Fixes          *int64
	FixesLeftOut   *int64
	LatMin, LatMax *float64 // nil without a fix
	LonMin, LonMax *float64
}

// A kind is what the values of a column are.
type kind uint8

const (
	text kind = iota
	integer
	real
	truth
)

// A column is a column of a table: at returns the address of the value in a row.
type column[R any] struct {
	name     string
	kind     kind
	nullable bool
	at       func(r *R) any
}

// The columns of recordings and of topics.
var (
	recordingColumns = []column[Recording]{
		{"path", text, false, func(r *Recording) any { return &r.Path }},
		{"format", text, true, func(r *Recording) any { return &r.Format }},
		{"format_version", text, true, func(r *Recording) any { return &r.FormatVersion }},
		{"size", integer, false, func(r *Recording) any { return &r.Size }},
		{"files", integer, false, func(r *Recording) any { return &r.Files }},
		{"mtime_ns", integer, false, func(r *Recording) any { return &r.ModifiedNS }},
		{"etag", text, true, func(r *Recording) any { return &r.ETag }},
		{"start_time", text, true, func(r *Recording) any { return &r.Start }},
		{"end_time", text, true, func(r *Recording) any { return &r.End }},
		{"start_ns", integer, true, func(r *Recording) any { return &r.StartNS }},
		{"end_ns", integer, true, func(r *Recording) any { return &r.EndNS }},
		{"duration_ns", integer, true, func(r *Recording) any { return &r.DurationNS }},
		{"messages", integer, true, func(r *Recording) any { return &r.Messages }},
		{"estimated", truth, false, func(r *Recording) any { return &r.Estimated }},
		{"locked", truth, false, func(r *Recording) any { return &r.Locked }},
		{"topic_count", integer, false, func(r *Recording) any { return &r.TopicCount }},
		{"compression", text, true, func(r *Recording) any { return &r.Compression }},
		{"definitions_hash", text, true, func(r *Recording) any { return &r.Definitions }},
		{"damage", text, true, func(r *Recording) any { return &r.Damage }},
		{"notes", text, true, func(r *Recording) any { return &r.Notes }},
		{"lost_messages", integer, false, func(r *Recording) any { return &r.LostMessages }},
		{"lost_bytes", integer, false, func(r *Recording) any { return &r.LostBytes }},
		{"error", text, true, func(r *Recording) any { return &r.Error }},
		{"left_out", integer, false, func(r *Recording) any { return &r.LeftOut }},
		{"content", truth, false, func(r *Recording) any { return &r.Content }},
	}
	topicColumns = []column[Topic]{
		{"topic", text, false, func(t *Topic) any { return &t.Name }},
		{"type", text, false, func(t *Topic) any { return &t.Type }},
		{"encoding", text, false, func(t *Topic) any { return &t.Encoding }},
		{"count", integer, false, func(t *Topic) any { return &t.Count }},
		{"hz", real, true, func(t *Topic) any { return &t.Hz }},
		{"connections", integer, false, func(t *Topic) any { return &t.Connections }},
		{"latched", truth, false, func(t *Topic) any { return &t.Latched }},
		{"qos", text, true, func(t *Topic) any { return &t.QoS }},
		{"definition_encoding", text, true, func(t *Topic) any { return &t.DefinitionEncoding }},
		{"definition_hash", text, true, func(t *Topic) any { return &t.DefinitionHash }},
		{"md5sum", text, true, func(t *Topic) any { return &t.MD5Sum }},
		{"type_hash", text, true, func(t *Topic) any { return &t.TypeHash }},
		{"content_hash", text, true, func(t *Topic) any { return &t.ContentHash }},
		{"fixes", integer, true, func(t *Topic) any { return &t.Fixes }},
		{"fixes_left_out", integer, true, func(t *Topic) any { return &t.FixesLeftOut }},
		{"lat_min", real, true, func(t *Topic) any { return &t.LatMin }},
		{"lat_max", real, true, func(t *Topic) any { return &t.LatMax }},
		{"lon_min", real, true, func(t *Topic) any { return &t.LonMin }},
		{"lon_max", real, true, func(t *Topic) any { return &t.LonMax }},
	}
)

// value returns what stands at an address: nil, string, int64 or float64.
func value(at any) any {
	switch p := at.(type) {
	case *string:
		return *p
	case *int64:
		return *p
	case *bool:
		if *p {
			return int64(1)
		}
		return int64(0)
	case **string:
		if *p != nil {
			return **p
		}
	case **int64:
		if *p != nil {
			return **p
		}
	case **float64:
		if *p != nil {
			return **p
		}
	}
	return nil
}

// set puts a value at an address. It is false if the value is of another kind, or a null where none may be.
func set(at, v any) bool {
	switch p := at.(type) {
	case *string:
		return put(p, v)
	case *int64:
		return put(p, v)
	case *bool:
		n, ok := v.(int64)
		*p = n != 0
		return ok
	case **string:
		return putOrNil(p, v)
	case **int64:
		return putOrNil(p, v)
	case **float64:
		return putOrNil(p, v)
	}
	return false
}

func put[T any](p *T, v any) bool {
	x, ok := v.(T)
	*p = x
	return ok
}

func putOrNil[T any](p **T, v any) bool {
	if v == nil {
		*p = nil
		return true
	}
	x, ok := v.(T)
	*p = &x
	return ok
}
