package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/builtin"
	"github.com/bagconv/bagconv/schema/rosmsg"
	"github.com/bagconv/bagconv/storage"
)

// A definitionJSON is one message definition and the topics that have it.
type definitionJSON struct {
	Topics   []string  `json:"topics"`
	Type     string    `json:"type"`
	Encoding string    `json:"encoding"` // of the text: "ros1msg", "ros2msg", "ros2idl", ...; "" when there is none
	Origin   string    `json:"origin"`   // "file", "builtin humble" or "none"
	Text     string    `json:"text"`
	Tree     *treeNode `json:"tree,omitempty"`

	proto   protoreflect.MessageDescriptor // of a protobuf type that can be read
	ros     *schema.Message                // the type by which other commands read its messages, if they are not protobuf
	unread  error                          // why there is no such type
	remarks []mapping.Remark               // about ros
	wire    string                         // encoding of the messages
}

// schema prints the definition of a topic, or of all topics.
func (e *env) schema(c *cli.Context) (err error) {
	if c.NArg() < 1 || c.NArg() > 2 {
		return usage("type: bagconv schema IN [TOPIC]", "schema needs a recording and takes one topic at most")
	}
	path, topic := c.Args().Get(0), c.Args().Get(1)
	r, err := e.glance(c.Context, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	info := r.Info
	known, err := r.Known(c.Context, info)
	if err != nil {
		return err
	}
	defs, err := definitionsOf(info, topic, mapping.New(known.Options()))
	if err != nil {
		return err
	}
	var ended outcome
	for _, d := range defs {
		switch {
		case d.Origin == "none":
			e.say("%s: there is no definition of %s, neither in the file nor among the standard ones; --defs names a place that has it", clean(path), clean(d.Type))
			ended.failed = true
			continue
		case strings.HasPrefix(d.Origin, mapping.Given):
			e.say("%s: no definition of %s in the file; this is that of %s", clean(path), clean(d.Type), clean(d.Origin[len(mapping.Given):]))
		case d.Origin != "file":
			e.say("%s: no definition of %s in the file; this is the standard one of %s", clean(path), clean(d.Type), strings.TrimPrefix(d.Origin, "builtin "))
		}
		if d.Origin == "file" && d.remarks != nil {
			e.say("%s: %s", clean(path), clean(d.remarks[0].Message))
		}
		e.sayDoubts(&storage.Topic{Name: strings.Join(d.Topics, ", ")}, d.remarks)
		if e.set.tree {
			if d.Tree, err = d.tree(); err != nil {
				e.say("%s: %s", clean(path), explain(err))
				ended.failed = true
			}
		}
	}
	if err := e.writeDefinitions(defs, path, e.set.tree, e.set.json); err != nil {
		return err
	}
	return ended.end()
}

// definitionsOf collects the distinct definitions of the topics called name, of
// all with an empty name, in the order of the recording.
func definitionsOf(info *storage.Info, name string, m *mapping.Mapper) ([]*definitionJSON, error) {
	type key struct{ typ, encoding, text string }
	byKey := map[key]*definitionJSON{}
	var out []*definitionJSON
	var names []string
	for i := range info.Topics {
		t := &info.Topics[i].Topic
		if names = append(names, t.Name); name != "" && t.Name != name {
			continue
		}
		d := definitionOf(t, m)
		d.wire = t.Encoding
		k := key{d.Type, d.Encoding, d.Text}
		if old := byKey[k]; old != nil {
			if !slices.Contains(old.Topics, t.Name) {
				old.Topics = append(old.Topics, t.Name)
			}
			continue
		}
		byKey[k] = d
		out = append(out, d)
	}
	if name != "" && len(out) == 0 {
		fail := &failure{path: info.Path, what: fmt.Sprintf("there is no topic %s", clean(name)), hint: "bagconv topics lists them"}
		if near := suggest(name, names); near != "" {
			fail.hint = "did you mean " + clean(near) + "?"
		}
		return nil, fail
	}
	return out, nil
}

// md5OfEmpty is the ROS 1 md5sum of a message without fields: its definition is
// the empty text.
const md5OfEmpty = "d41d8cd98f00b204e9800998ecf8427e"

func definitionOf(t *storage.Topic, m *mapping.Mapper) *definitionJSON {
	if t.Encoding == "protobuf" {
		return protoDefinition(t, m)
	}
	d := &definitionJSON{Topics: []string{t.Name}, Type: t.Type, Encoding: t.Schema.Encoding, Origin: "file", Text: string(t.Schema.Data)}
	if t.Encoding != "ros1" && t.Encoding != "cdr" && len(t.Schema.Data) == 0 {
		d.Origin = "none"
		return d
	}
	def, err := m.Define(t)
	if err == nil {
		d.remarks = def.Remarks
		if d.ros = def.ROS; def.Either != nil {
			d.ros = def.Either
		}
	}
	d.unread = err
	if len(bytes.TrimSpace(t.Schema.Data)) > 0 || t.Metadata[storage.MetaMD5Sum] == md5OfEmpty {
		return d
	}
	d.Encoding, d.Origin, d.Text = "", "none", ""
	if err != nil {
		return d
	}
	dialect := rosmsg.ROS2
	if d.Encoding = "ros2msg"; t.Encoding == "ros1" {
		d.Encoding, dialect = "ros1msg", rosmsg.ROS1
	}
	d.Origin, d.Text = def.Origin, string(rosmsg.Format(def.ROS, dialect))
	return d
}

func lookupIn(distro string) func(string) (string, bool) {
	return func(name string) (string, bool) { return builtin.Lookup(distro, name) }
}

// tree expands the type by which messages are read.
func (d *definitionJSON) tree() (*treeNode, error) {
	switch {
	case d.proto != nil:
		return protoTree(d.proto)
	case d.Encoding == "protobuf":
		return nil, fmt.Errorf("the descriptors of %s cannot be read", d.Type)
	case d.ros == nil:
		return nil, d.unread
	}
	return treeOf(d.ros, d.wire)
}

// forReader returns text of several lines from a file as it is, for a terminal
// with each line made safe.
func (e *env) forReader(text string) string {
	if !e.OutTerminal {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		words := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		for i := range words {
			words[i] = clean(words[i])
		}
		b.WriteString(strings.Join(words, "\t") + line[len(strings.TrimSuffix(line, "\n")):])
	}
	return b.String()
}

func (e *env) writeDefinitions(defs []*definitionJSON, path string, tree, asJSON bool) error {
	if asJSON {
		if defs == nil {
			defs = []*definitionJSON{}
		}
		return writeJSON(e.Out, struct {
			SchemaVersion int               `json:"schema_version"`
			Path          string            `json:"path"`
			Definitions   []*definitionJSON `json:"definitions"`
		}{schemaVersion, path, defs})
	}
	var b strings.Builder
	for i, d := range defs {
		if len(defs) > 1 {
			if i > 0 {
				b.WriteByte('\n')
			}
			fmt.Fprintf(&b, "# %s: %s [%s]\n", clean(strings.Join(d.Topics, ", ")), clean(d.Type), d.Encoding)
		}
		switch {
		case !tree:
			b.WriteString(d.Text)
			if d.Text != "" && !strings.HasSuffix(d.Text, "\n") {
				b.WriteByte('\n')
			}
		case d.Tree != nil:
			d.Tree.write(&b, 0)
		}
	}
	_, err := io.WriteString(e.Out, e.forReader(b.String()))
	return err
}
