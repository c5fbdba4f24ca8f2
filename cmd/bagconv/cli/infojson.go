package cli

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/convert/recording"
	"github.com/bagconv/bagconv/storage"
)

// The JSON of info and topics, documented in docs/cli.md. Nanoseconds are
// strings, as many programs read numbers as 64-bit floats.
type (
	infoJSON struct {
		SchemaVersion int               `json:"schema_version"`
		Path          string            `json:"path"`
		Error         string            `json:"error,omitempty"` // why it cannot be read; everything below is empty then
		Format        string            `json:"format"`
		Version       string            `json:"version"`
		Size          int64             `json:"size"`
		Messages      int64             `json:"messages"`
		StartNS       *string           `json:"start_ns"` // null without messages, as the next four
		EndNS         *string           `json:"end_ns"`
		DurationNS    *string           `json:"duration_ns"`
		Start         *string           `json:"start"` // RFC 3339, UTC
		End           *string           `json:"end"`
		Compression   map[string]int64  `json:"compression"` // blocks by codec
		Scanned       bool              `json:"scanned"`     // all messages were read; else counts are those of the index
		Estimated     bool              `json:"estimated"`   // counts are about right
		Topics        []topicJSON       `json:"topics"`
		Timeline      *timelineJSON     `json:"timeline"` // null without a scan, or messages
		Attachments   []attachmentJSON  `json:"attachments"`
		Records       []recordJSON      `json:"metadata_records"`
		Files         []string          `json:"files"`
		Metadata      map[string]string `json:"metadata"`
		Facts         map[string]string `json:"facts"` // further facts of this format, such as the state of its index
		Lost          lostJSON          `json:"lost"`
		Warnings      []warningJSON     `json:"warnings"`

		start, end int64
		facts      []storage.Fact // in order
	}
	topicJSON struct {
		Name        string    `json:"name"`
		Type        string    `json:"type"`
		Encoding    string    `json:"encoding"`
		Count       int64     `json:"count"`
		Bytes       *int64    `json:"bytes"` // null without a scan, as the next three
		HzMean      *float64  `json:"hz_mean"`
		FirstNS     *string   `json:"first_ns"`
		LastNS      *string   `json:"last_ns"`
		Connections int       `json:"connections"`
		Publishers  []string  `json:"publishers"` // names of the nodes, where the recording has them
		Latched     bool      `json:"latched"`
		QoS         []qosJSON `json:"qos"`
		MD5Sum      string    `json:"md5sum"`
		TypeHash    string    `json:"type_hash"`
		Definition  string    `json:"definition"` // encoding of the definition; "" when there is none
	}
	qosJSON struct {
		History     string `json:"history"`
		Depth       int64  `json:"depth"`
		Reliability string `json:"reliability"`
		Durability  string `json:"durability"`
		Liveliness  string `json:"liveliness"`
		DeadlineNS  string `json:"deadline_ns"`
		LifespanNS  string `json:"lifespan_ns"`
		LeaseNS     string `json:"liveliness_lease_duration_ns"`
	}
)

// infoOf makes the JSON of a recording; scan is nil when it was not read whole.
func infoOf(info *storage.Info, scan *recording.Totals) *infoJSON {
	out := &infoJSON{
		SchemaVersion: schemaVersion, Path: info.Path, Format: info.Format, Version: info.Version, Size: info.Size,
		Messages: info.Messages, start: info.Start, end: info.End, Scanned: scan != nil, Estimated: info.Estimated && scan == nil,
		Compression: info.Compression, Files: info.Files, Metadata: info.Metadata,
		Topics: []topicJSON{}, Attachments: []attachmentJSON{}, Records: []recordJSON{}, Warnings: warningsJSON(info.Warnings),
		Facts: map[string]string{}, Lost: lostOf(info.Lost), facts: info.Facts,
	}
	for _, f := range info.Facts {
		out.Facts[f.Key] = f.Value
	}
	if out.Compression == nil {
		out.Compression = map[string]int64{}
	}
	if out.Metadata == nil {
		out.Metadata = map[string]string{}
	}
	if out.Files == nil {
		out.Files = []string{}
	}
	if scan != nil {
		out.Messages, out.start, out.end = scan.Messages, scan.Start, scan.End
	}
	if out.Messages > 0 {
		duration := span{out.start, out.end}.ns()
		out.StartNS, out.EndNS, out.DurationNS = nsText(out.start), nsText(out.end), &duration
		start, end := timeText(out.start), timeText(out.end)
		out.Start, out.End = &start, &end
	}
	var ids [][]storage.TopicID
	for _, g := range groups(info, scan) {
		out.Topics, ids = append(out.Topics, topicOf(g, info)), append(ids, g.ids)
	}
	if scan != nil {
		out.Timeline = timelineOf(scan.Timeline, ids)
	}
	return out
}

func (in *infoJSON) damaged() bool {
	return slices.ContainsFunc(in.Warnings, func(w warningJSON) bool { return w.Damage })
}

func topicOf(g *topicGroup, info *storage.Info) topicJSON {
	t := topicJSON{
		Name: g.Name, Type: g.Type, Encoding: g.Encoding, Count: g.messages, Connections: len(g.ids),
		Publishers: []string{}, QoS: []qosJSON{},
		MD5Sum: g.Metadata[storage.MetaMD5Sum], TypeHash: g.Metadata[storage.MetaTypeHash], Definition: g.Schema.Encoding,
	}
	for _, id := range g.ids {
		member := &info.Topics[id]
		t.Latched = t.Latched || latched(&member.Topic)
		for _, name := range strings.Split(member.Metadata[storage.MetaCallerID]+","+member.Metadata[storage.MetaCallerIDs], ",") {
			if name != "" && !slices.Contains(t.Publishers, name) {
				t.Publishers = append(t.Publishers, name)
			}
		}
		for _, q := range member.QoS {
			t.QoS = append(t.QoS, qosOf(q))
		}
	}
	if s := g.stats; s != nil {
		t.Bytes = &s.Bytes
		if s.Messages > 0 {
			t.FirstNS, t.LastNS = nsText(s.First), nsText(s.Last)
		}
		if d := float64(uint64(s.Last) - uint64(s.First)); s.Messages > 1 && s.Last > s.First {
			hz := math.Round(float64(s.Messages-1)/(d/1e9)*1000) / 1000
			t.HzMean = &hz
		}
	}
	return t
}

// latched reports whether late subscribers got the last message: a latched ROS 1
// publisher, or a transient local ROS 2 one.
func latched(t *storage.Topic) bool {
	if t.Metadata[storage.MetaLatching] == "1" {
		return true
	}
	return slices.ContainsFunc(t.QoS, func(q storage.QoS) bool { return q.Durability == storage.DurabilityTransientLocal })
}

func nsText(ns int64) *string {
	s := strconv.FormatInt(ns, 10)
	return &s
}

// The names of the policies are those of rosbag2 (rosbag2_storage qos.cpp).
var (
	historyNames     = []string{"system_default", "keep_last", "keep_all", "unknown"}
	reliabilityNames = []string{"system_default", "reliable", "best_effort", "unknown", "best_available"}
	durabilityNames  = []string{"system_default", "transient_local", "volatile", "unknown", "best_available"}
	livelinessNames  = []string{"system_default", "automatic", "manual_by_node", "manual_by_topic", "unknown", "best_available"}
)

func qosOf(q storage.QoS) qosJSON {
	return qosJSON{
		History: policy(historyNames, q.History), Depth: q.Depth,
		Reliability: policy(reliabilityNames, q.Reliability), Durability: policy(durabilityNames, q.Durability),
		Liveliness: policy(livelinessNames, q.Liveliness),
		DeadlineNS: qosNS(q.Deadline), LifespanNS: qosNS(q.Lifespan), LeaseNS: qosNS(q.Lease),
	}
}

func policy[T ~uint8](names []string, p T) string {
	if int(p) < len(names) {
		return names[p]
	}
	return strconv.Itoa(int(p))
}

// qosNS returns a duration in ns as text, "infinite" for what does not fit or is so.
func qosNS(d storage.QoSDuration) string {
	if d.Sec >= storage.QoSInfinite.Sec || d.NSec > math.MaxInt64/2 {
		return "infinite"
	}
	return strconv.FormatUint(d.Sec*1e9+d.NSec, 10)
}
