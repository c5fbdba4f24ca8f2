package convert

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/storage"
)

// EncodingKeep is the value of Job.Encoding with which messages stay as they are if
// the sink carries them, and else get its native encoding.
const EncodingKeep = "keep"

// encodings are the encodings that messages can be converted to, each with the encoding of its
// definitions.
var encodings = [][2]string{{"ros1", "ros1msg"}, {"cdr", "ros2msg"}, {"protobuf", "protobuf"}}

// Encodings returns the encodings that a conversion to a format can write, the native
// one first: the values of Job.Encoding.
func Encodings(f *storage.Format) []string {
	var list []string
	if f.Holds.Native != "" {
		list = append(list, f.Holds.Native)
	}
	for _, e := range encodings {
		if e[0] != f.Holds.Native && f.Holds.Carries != nil && f.Holds.Carries(e[0], e[1]) {
			list = append(list, e[0])
		}
	}
	return list
}

// encoding returns the encoding of messages that do not stay as they are.
func (j *Job) encoding() (string, error) {
	if j.Encoding == "" || j.Encoding == EncodingKeep {
		return j.SinkFormat.Holds.Native, nil
	}
	known := Encodings(j.SinkFormat)
	for _, e := range known {
		if e == j.Encoding {
			return e, nil
		}
	}
	return "", fmt.Errorf("%s: messages of encoding %.40q: %w; %s carries %s", j.Sink, j.Encoding, storage.ErrUnsupported,
		j.SinkFormat.Name, strings.Join(known, ", "))
}

// becomesCDR reports whether all messages in CDR are made by this job: their types are the types of
// its distribution.
func (j *Job) becomesCDR(info *storage.Info) bool {
	if j.Encoding == "" && j.SourceFormat.Name == j.SinkFormat.Name {
		return false
	}
	to, err := j.encoding()
	return err == nil && to == "cdr" && !slices.ContainsFunc(info.Topics,
		func(t storage.TopicInfo) bool { return t.Encoding == "cdr" })
}

// stays reports whether the messages of a topic stay as they are, whatever their
// encoding. Unless another is asked for, that is so between recordings of one format.
func (j *Job) stays(t *storage.Topic) bool {
	switch j.Encoding {
	case "":
		return j.SourceFormat.Name == j.SinkFormat.Name || j.SinkFormat.Holds.Native == ""
	case EncodingKeep:
		return j.SourceFormat.Name == j.SinkFormat.Name || j.SinkFormat.Holds.CarriesTopic(t)
	}
	return false
}
