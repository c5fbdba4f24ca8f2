// Package serial names how messages are serialized. Functions may be called concurrently.
package serial

// An Encoding is how messages are serialized.
type Encoding uint8

// The encodings. ROS1 and CDR are the encodings of ROS.
const (
	ROS1 Encoding = iota
	CDR
	Protobuf
	JSON
	Other // none that is known
)

// encodingNames are the names that topics have them by.
var encodingNames = [...]string{ROS1: "ros1", CDR: "cdr", Protobuf: "protobuf", JSON: "json", Other: "unknown"}

// Of returns the encoding of a name, as storage.Topic.Encoding has it.
func Of(name string) Encoding {
	for e := ROS1; e < Other; e++ {
		if encodingNames[e] == name {
			return e
		}
	}
	return Other
}

// String returns the name.
func (e Encoding) String() string { return encodingNames[min(e, Other)] }
