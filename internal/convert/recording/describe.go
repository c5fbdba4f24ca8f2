package recording

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bagconv/bagconv/storage"
)

// A Description is what a recording has. docs/json.md describes its JSON, which bagconv info prints: nanoseconds
// are text there.
type Description struct {
	SchemaVersion int    `json:"schema_version"`
	Path          string `json:"path"`
	// why it cannot be read, set by the caller; everything below is empty then
	Error       string              `json:"error,omitempty"`
	Format      string              `json:"format"`
	Version     string              `json:"version"`
	Size        int64               `json:"size"`
	Messages    int64               `json:"messages"`
	StartNS     *int64              `json:"start_ns,string"` // nil without messages, as the next four
	EndNS       *int64              `json:"end_ns,string"`
	DurationNS  *string             `json:"duration_ns"` // text, as 292 years are no int64 any more
	Start       *string             `json:"start"`       // RFC 3339, UTC
	End         *string             `json:"end"`
	Compression map[string]int64    `json:"compression"` // blocks by codec
	Scanned     bool                `json:"scanned"`     // all messages were read; else the index has the counts
	Estimated   bool                `json:"estimated"`   // counts are about right
	Topics      []TopicDescription  `json:"topics"`
	Timeline    *Timeline           `json:"timeline"` // nil without a scan, or messages
	Attachments []AttachmentSummary `json:"attachments"`
	Records     []RecordSummary     `json:"metadata_records"`
	Files       []string            `json:"files"`
	Metadata    map[string]string   `json:"metadata"`
	Facts       map[string]string   `json:"facts"` // further facts of this format, such as the state of its index
	Lost        storage.Lost        `json:"lost"`
	Warnings    []storage.Warning   `json:"warnings"`
	InOrder     []storage.Fact      `json:"-"` // Facts
}

// A TopicDescription is about the topics of a recording that have name, type and encoding in common: its publishers.
type TopicDescription struct {
	Name        string   `json:"name"`
	Type        string   `json:"type"`
	Encoding    string   `json:"encoding"`
	Count       int64    `json:"count"`
	Bytes       *int64   `json:"bytes"`   // nil without a scan, as the next three
	HzMean      *float64 `json:"hz_mean"` // to 0.001
	FirstNS     *int64   `json:"first_ns,string"`
	LastNS      *int64   `json:"last_ns,string"`
	Connections int      `json:"connections"`
	Publishers  []string `json:"publishers"` // names of the nodes, where the recording has them
	// late subscribers got the last message: latched by ROS 1, or transient local
	Latched    bool              `json:"latched"`
	QoS        []storage.QoSText `json:"qos"`
	MD5Sum     string            `json:"md5sum"`
	TypeHash   string            `json:"type_hash"`
	Definition string            `json:"definition"` // encoding of the definition; "" without one
	Stored     int64             `json:"-"`          // as of TopicTotals
}

// An AttachmentSummary describes an attachment.
type AttachmentSummary struct {
	Name         string  `json:"name"`
	MediaType    string  `json:"media_type"`
	Size         int64   `json:"size"`
	LogTimeNS    int64   `json:"log_time_ns,string"`
	LogTime      string  `json:"log_time"`              // RFC 3339, UTC
	CreateTimeNS *int64  `json:"create_time_ns,string"` // nil if it is not known, as the next
	CreateTime   *string `json:"create_time"`
	File         string  `json:"file,omitempty"` // that it was written to
}

// A RecordSummary describes a metadata record.
type RecordSummary struct {
	Name   string            `json:"name"`
	Values map[string]string `json:"values"`
}

// Describe describes a recording; scan is nil when it was not read whole. Extras adds what it has besides messages.
func Describe(info *storage.Info, scan *Totals) *Description {
	d := &Description{
		Path: info.Path, Format: info.Format, Version: info.Version, Size: info.Size,
		Messages: info.Messages, Scanned: scan != nil, Estimated: info.Estimated && scan == nil,
		Compression: info.Compression, Files: append([]string{}, info.Files...), Metadata: info.Metadata,
		Topics: []TopicDescription{}, Attachments: []AttachmentSummary{}, Records: []RecordSummary{},
		Warnings: append([]storage.Warning{}, info.Warnings...),
		Facts:    map[string]string{}, Lost: info.Lost, InOrder: info.Facts,
	}
	for _, f := range info.Facts {
		d.Facts[f.Key] = f.Value
	}
	if d.Compression == nil {
		d.Compression = map[string]int64{}
	}
	if d.Metadata == nil {
		d.Metadata = map[string]string{}
	}
	start, end := info.Start, info.End
	if scan != nil {
		d.Messages, start, end = scan.Messages, scan.Start, scan.End
	}
	if d.Messages > 0 {
		duration, first, last := strconv.FormatUint(uint64(end)-uint64(start), 10), *timeText(start), *timeText(end)
		if end < start { // an index that contradicts itself
			duration = strconv.FormatInt(end-start, 10)
		}
		d.StartNS, d.EndNS, d.DurationNS, d.Start, d.End = &start, &end, &duration, &first, &last
	}
	groups := grouped(info)
	for _, ids := range groups {
		d.Topics = append(d.Topics, describeTopic(ids, info, scan))
	}
	if scan != nil {
		d.Timeline = Grouped(scan.Timeline, groups)
	}
	return d
}

func timeText(ns int64) *string {
	text := time.Unix(0, ns).UTC().Format(time.RFC3339Nano)
	return &text
}

// grouped joins publishers, ordered by name, then type, then encoding.
func grouped(info *storage.Info) (groups [][]storage.TopicID) {
	type key struct{ name, typ, encoding string }
	at := map[key]int{}
	for _, t := range info.Topics {
		k := key{t.Name, t.Type, t.Encoding}
		i, ok := at[k]
		if !ok {
			i = len(groups)
			at[k], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], t.ID)
	}
	slices.SortStableFunc(groups, func(a, b []storage.TopicID) int {
		x, y := &info.Topics[a[0]], &info.Topics[b[0]]
		return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.Type, y.Type), cmp.Compare(x.Encoding, y.Encoding))
	})
	return groups
}

func describeTopic(ids []storage.TopicID, info *storage.Info, scan *Totals) TopicDescription {
	first := &info.Topics[ids[0]]
	t := TopicDescription{
		Name: first.Name, Type: first.Type, Encoding: first.Encoding, Connections: len(ids), Publishers: []string{},
		QoS:    []storage.QoSText{},
		MD5Sum: first.Metadata[storage.MetaMD5Sum], TypeHash: first.Metadata[storage.MetaTypeHash],
		Definition: first.Schema.Encoding,
	}
	for _, id := range ids {
		member := &info.Topics[id]
		t.Count += member.Messages
		t.Latched = t.Latched || member.Metadata[storage.MetaLatching] == "1"
		for _, name := range strings.Split(member.Metadata[storage.MetaCallerID]+","+member.Metadata[storage.MetaCallerIDs],
			",") {
			if name != "" && !slices.Contains(t.Publishers, name) {
				t.Publishers = append(t.Publishers, name)
			}
		}
		for _, q := range member.QoS {
			t.Latched = t.Latched || q.Durability == storage.DurabilityTransientLocal
			t.QoS = append(t.QoS, q.Text())
		}
	}
	if scan != nil {
		t.measure(ids, scan)
	}
	return t
}

// measure adds what only reading all messages shows.
func (t *TopicDescription) measure(ids []storage.TopicID, scan *Totals) {
	bytes, first, last := int64(0), int64(math.MaxInt64), int64(math.MinInt64)
	t.Count = 0
	for _, id := range ids {
		s := &scan.Topics[id]
		if s.Messages > 0 {
			first, last = min(first, s.First), max(last, s.Last)
		}
		t.Count, t.Stored, bytes = t.Count+s.Messages, t.Stored+s.Stored, bytes+s.Bytes
	}
	if t.Bytes = &bytes; t.Count > 0 {
		t.FirstNS, t.LastNS = &first, &last
	}
	if d := float64(uint64(last) - uint64(first)); t.Count > 1 && last > first {
		hz := math.Round(float64(t.Count-1)/(d/1e9)*1000) / 1000
		t.HzMean = &hz
	}
}

// Extras adds the attachments and metadata records of a recording.
func (d *Description) Extras(r storage.Reader) error {
	from := storage.ReaderCapabilities(r).Extras
	if from == nil {
		return nil
	}
	x, err := from.Extras()
	if err != nil {
		return err
	}
	for i := range x.Attachments {
		a := &x.Attachments[i]
		s := AttachmentSummary{Name: a.Name, MediaType: a.MediaType, Size: a.Size, LogTimeNS: a.LogTime,
			LogTime: *timeText(a.LogTime)}
		if a.CreateTime != 0 {
			s.CreateTimeNS, s.CreateTime = &a.CreateTime, timeText(a.CreateTime)
		}
		d.Attachments = append(d.Attachments, s)
	}
	for i := range x.Metadata {
		values, err := x.Metadata[i].Values()
		if err != nil {
			return err
		}
		d.Records = append(d.Records, RecordSummary{x.Metadata[i].Name, values})
	}
	return nil
}
