package mapping

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/bagconv/bagconv/internal/convert/transcode"
	"github.com/bagconv/bagconv/internal/schema/jsonschema"
	"github.com/bagconv/bagconv/storage"
)

// jsonTypes is what the mapper knows of schemas of messages in JSON.
type jsonTypes struct {
	namer *jsonschema.Namer
	known map[[32]byte]parsedJSON // by hash of name and schema: each is read once
}

type parsedJSON struct {
	object *jsonschema.Object
	err    error
}

// jsonDefinition finds the definition of a topic in JSON: as a ROS 1 type, with the
// program to it.
func (m *Mapper) jsonDefinition(t *storage.Topic) (*Definition, error) {
	switch {
	case len(t.Schema.Data) == 0:
		return nil, errors.New("the recording has no JSON schema for it")
	case t.Schema.Encoding != "jsonschema":
		return nil, fmt.Errorf("its messages are JSON, and its schema is in %q", t.Schema.Encoding)
	}
	k := sha256.Sum256(append([]byte(t.Type+"\x00"), t.Schema.Data...))
	p, ok := m.json.known[k]
	if !ok {
		p.object, p.err = m.json.namer.Parse(t.Type, t.Schema.Data)
		m.json.known[k] = p
	}
	if p.err != nil {
		return nil, p.err
	}
	return &Definition{ROS: p.object.Message, JSON: p.object, Head: transcode.CompileFromJSON(p.object),
		Origin: "file"}, nil
}

// fromJSON maps a topic in JSON: unless its schema is one of Foxglove's well-known ones,
// it becomes a type of ROS 1, and from there what the type becomes in the target.
func (m *Mapper) fromJSON(t *storage.Topic) (*Result, error) {
	d, err := m.jsonDefinition(t)
	if err != nil {
		return nil, err
	}
	if m.o.Encoding != "protobuf" {
		res := d.result(t)
		if dst := m.wellKnown(res, t.Type, d.ROS, d.Head); dst != nil {
			res.becomeROS(dst, m.o.Encoding)
			res.json()
			return res, nil
		}
	}
	mid := &Result{Topic: storage.Topic{Name: t.Name, Metadata: t.Metadata, QoS: t.QoS}}
	mid.becomeROS(d.ROS, "ros1")
	res, err := m.convert(&mid.Topic)
	if err != nil {
		return nil, err
	}
	res.Plan = After(d.Head, res.Plan)
	if m.o.Encoding == "cdr" { // it never was a topic of ROS 1
		delete(res.Topic.Metadata, storage.MetaMD5Sum)
		if t.Metadata[storage.MetaLatching] == "" {
			delete(res.Topic.Metadata, storage.MetaLatching)
		}
	}
	res.json()
	return res, nil
}

// json reports what is lost of any message in JSON.
func (r *Result) json() {
	r.byDesign("presence", "properties that are not set, or null, have their default; which fields those were is not kept")
}
