package frames

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/storage"
)

// A Definition declares a topic. Its frame has type and topic as names, and as message:
//
//	{"encoding":"cdr","publisher":0,"qos":[{...}],"metadata":{"type_description_hash":"RIHS01_..."}}\n
//	the definition: text, or for protobuf a serialized FileDescriptorSet
//
// All keys may be missing. The encoding is then the usual one for the encoding of the definition. A topic with several
// publishers has a Definition for each publisher, with its number; messages of publishers other than 0 have a stamp
// before them. A Definition replaces an earlier one of the same type, topic, encoding and publisher.
type Definition struct {
	storage.Topic
	Publisher uint32
}

// definitionJSON is the line of JSON.
type definitionJSON struct {
	Encoding  string            `json:"encoding,omitempty"`
	Publisher uint32            `json:"publisher,omitempty"`
	QoS       []Profile         `json:"qos,omitempty"`
	Metadata  map[string]string `json:"metadata,omitempty"`
}

// usual has the encoding of messages by the encoding of definitions.
var usual = map[string]string{
	"ros1msg": "ros1", "ros2msg": "cdr", "ros2idl": "cdr", "omgidl": "cdr", "protobuf": "protobuf",
	"jsonschema": "json",
}

// UsualEncoding returns the encoding that messages nearly always have with definitions in an encoding; "" if it is not
// known.
func UsualEncoding(definition string) string { return usual[definition] }

// AppendDefinition appends the frame of a topic.
func AppendDefinition(dst []byte, d *Definition) ([]byte, error) {
	head := definitionJSON{Encoding: d.Encoding, Publisher: d.Publisher, Metadata: d.Metadata}
	for i := range d.QoS {
		head.QoS = append(head.QoS, profileOf(&d.QoS[i]))
	}
	text, err := json.Marshal(head)
	if err != nil {
		return dst, err
	}
	text = append(append(text, '\n'), d.Schema.Data...)
	return Append(dst, 0, AppendNames(nil, Defines+d.Schema.Encoding, d.Type, d.Name), text)
}

// ParseDefinition reads the message of such a frame. What it returns shares no memory with message. The error wraps
// storage.ErrCorrupt.
func ParseDefinition(encoding, typ, topic string, message []byte) (*Definition, error) {
	line, rest, found := bytes.Cut(message, []byte{'\n'})
	var head definitionJSON
	if len(bytes.TrimSpace(line)) > 0 {
		if err := json.Unmarshal(line, &head); err != nil {
			return nil, fmt.Errorf("the definition of %s does not begin with a line of JSON (%v): %w", topic, err,
				storage.ErrCorrupt)
		}
	}
	d := &Definition{Publisher: head.Publisher}
	d.Name, d.Type, d.Encoding, d.Metadata = topic, typ, head.Encoding, head.Metadata
	d.Schema.Encoding = strings.TrimPrefix(encoding, Defines)
	if found {
		d.Schema.Data = bytes.Clone(rest)
	}
	if d.Encoding == "" {
		d.Encoding = usual[d.Schema.Encoding]
	}
	for i := range head.QoS {
		q, err := head.QoS[i].QoS()
		if err != nil {
			return nil, fmt.Errorf("the definition of %s: %v: %w", topic, err, storage.ErrCorrupt)
		}
		d.QoS = append(d.QoS, q)
	}
	return d, nil
}

// A Stamp is what a format may have of a message besides its log time.
type Stamp struct {
	PublishTime int64 // ns since 1970
	Sequence    uint32
	Publisher   uint32 // of its topic, as its Definition numbers them
}

// stampSize is the bytes of a Stamp.
const stampSize = 16

var stampNames = AppendNames(nil, StampName, "", "")

// AppendStamp appends the frame of a stamp, which comes before the frame of its message.
func AppendStamp(dst []byte, s Stamp) []byte {
	var b [stampSize]byte
	binary.LittleEndian.PutUint64(b[:], uint64(s.PublishTime))
	binary.LittleEndian.PutUint32(b[8:], s.Sequence)
	binary.LittleEndian.PutUint32(b[12:], s.Publisher)
	dst, _ = Append(dst, 0, stampNames, b[:]) // it is not too large
	return dst
}

// ParseStamp reads the message of such a frame. The error wraps storage.ErrCorrupt.
func ParseStamp(message []byte) (s Stamp, err error) {
	if len(message) != stampSize {
		return s, fmt.Errorf("a stamp has %d bytes, and not %d: %w", len(message), stampSize, storage.ErrCorrupt)
	}
	return Stamp{int64(binary.LittleEndian.Uint64(message)), binary.LittleEndian.Uint32(message[8:]),
		binary.LittleEndian.Uint32(message[12:])}, nil
}

// A Recording is what a stream says about the whole recording: as storage.Info has it.
type Recording struct {
	Format   string            `json:"format,omitempty"` // of the source; the same format keeps messages as they are
	Version  string            `json:"version,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// AppendRecording appends the frame of a Recording.
func AppendRecording(dst []byte, r *Recording) ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return dst, err
	}
	return Append(dst, 0, AppendNames(nil, AboutName, "", ""), text)
}

// ParseRecording reads the message of such a frame. The error wraps storage.ErrCorrupt.
func ParseRecording(message []byte) (r Recording, err error) {
	if err := json.Unmarshal(message, &r); err != nil {
		return r, fmt.Errorf("what the stream says about the recording is no JSON (%v): %w", err, storage.ErrCorrupt)
	}
	return r, nil
}

// A Profile is a QoS profile, with the keys and the names of policies that rosbag2 uses. A duration is an object of
// seconds and nanoseconds, or a text of nanoseconds or "infinite" under a key that ends in _ns, as in tables. What is
// missing is left to the system.
type Profile struct {
	History     string    `json:"history,omitempty"`
	Depth       int64     `json:"depth,omitempty"`
	Reliability string    `json:"reliability,omitempty"`
	Durability  string    `json:"durability,omitempty"`
	Deadline    *duration `json:"deadline,omitempty"`
	Lifespan    *duration `json:"lifespan,omitempty"`
	Liveliness  string    `json:"liveliness,omitempty"`
	Lease       *duration `json:"liveliness_lease_duration,omitempty"`
	Avoid       bool      `json:"avoid_ros_namespace_conventions,omitempty"`
	DeadlineNS  string    `json:"deadline_ns,omitempty"`
	LifespanNS  string    `json:"lifespan_ns,omitempty"`
	LeaseNS     string    `json:"liveliness_lease_duration_ns,omitempty"`
}

type duration struct {
	Sec  uint64 `json:"sec"`
	NSec uint64 `json:"nsec"`
}

// policyName returns the name of a policy, or its number.
func policyName(names []string, n uint8) string {
	if int(n) < len(names) {
		return names[n]
	}
	return strconv.Itoa(int(n))
}

func profileOf(q *storage.QoS) Profile {
	length := func(d storage.QoSDuration) *duration {
		if d == (storage.QoSDuration{}) {
			return nil
		}
		return &duration{d.Sec, d.NSec}
	}
	return Profile{
		History: policyName(storage.HistoryNames, uint8(q.History)), Depth: q.Depth,
		Reliability: policyName(storage.ReliabilityNames, uint8(q.Reliability)),
		Durability:  policyName(storage.DurabilityNames, uint8(q.Durability)),
		Deadline:    length(q.Deadline), Lifespan: length(q.Lifespan), Liveliness: policyName(storage.LivelinessNames,
			uint8(q.Liveliness)),
		Lease: length(q.Lease), Avoid: q.AvoidROSNamespaceConventions,
	}
}

// QoS returns the profile. The error names the key whose value is wrong.
func (p *Profile) QoS() (q storage.QoS, err error) {
	policy := func(key, value string, names []string) (n uint8) {
		i := slices.Index(names, strings.ToLower(value))
		if i < 0 && value != "" {
			number, wrong := strconv.ParseUint(value, 10, 8)
			if wrong != nil && err == nil {
				err = fmt.Errorf("%s: %q is not one of %s", key, value, strings.Join(names, ", "))
			}
			i = int(number)
		}
		return uint8(max(i, 0))
	}
	length := func(key string, d *duration, text string) storage.QoSDuration {
		switch {
		case d != nil:
			return storage.QoSDuration{Sec: d.Sec, NSec: d.NSec}
		case text == "infinite":
			return storage.QoSInfinite
		case text == "":
			return storage.QoSDuration{}
		}
		ns, wrong := strconv.ParseUint(text, 10, 64)
		if wrong != nil && err == nil {
			err = fmt.Errorf("%s: %q is no number of nanoseconds", key, text)
		}
		return storage.QoSDuration{Sec: ns / 1e9, NSec: ns % 1e9}
	}
	q = storage.QoS{
		History: storage.History(policy("history", p.History, storage.HistoryNames)), Depth: p.Depth,
		Reliability: storage.Reliability(policy("reliability", p.Reliability, storage.ReliabilityNames)),
		Durability:  storage.Durability(policy("durability", p.Durability, storage.DurabilityNames)),
		Deadline:    length("deadline", p.Deadline, p.DeadlineNS), Lifespan: length("lifespan", p.Lifespan,
			p.LifespanNS),
		Liveliness: storage.Liveliness(policy("liveliness", p.Liveliness, storage.LivelinessNames)),
		Lease:      length("liveliness_lease_duration", p.Lease, p.LeaseNS), AvoidROSNamespaceConventions: p.Avoid,
	}
	return q, err
}
