package check

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/transcode"
	"github.com/bagconv/bagconv/internal/nearest"
	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// A kind is a definition as topics have it, and what was found about it.
type kind struct {
	typ, encoding string
	graph         *schema.Message // to compare with others of the name; nil: no definition
	decoder       *decoder
	topics        []string
	first         int // TopicID of the first of topics
	severity      Severity
	code          string // "" when nothing was found
	message, hint string
}

// define finds the definition of each topic, and compiles its decoder. Topics
// with the same definition are told of once.
func (c *checker) define(known mapping.Known) {
	m := mapping.New(known.Options())
	type identity struct {
		typ, encoding, md5, hash, proof string
		text                            uint64
	}
	kinds := map[identity]*kind{}
	var list []*kind
	c.decoders = make([]*decoder, len(c.info.Topics))
	for i := range c.info.Topics {
		t := &c.info.Topics[i].Topic
		id := identity{t.Type, t.Encoding, t.Metadata[storage.MetaMD5Sum], t.Metadata[storage.MetaTypeHash],
			known.Evidence.Layout(t), maphash.Bytes(seed, t.Schema.Data)}
		k := kinds[id]
		if k == nil {
			k = c.kindOf(m, t)
			k.first = i
			kinds[id] = k
			list = append(list, k)
		}
		c.decoders[i] = k.decoder
		k.topics = append(k.topics, t.Name)
	}
	c.kinds = list
}

// definitionFindings are about definitions, once for all topics that have one.
func (c *checker) definitionFindings() {
	for _, k := range c.kinds {
		if k.code != "" {
			c.add(k.severity, k.code, k.topics[0], k.hint, "%s%s", k.message, k.others())
			c.findings[len(c.findings)-1].Count = int64(len(k.topics))
		}
		if n := k.unknown(); n > 0 {
			c.add(Note, "message-unknown-fields", k.topics[0], "the descriptor in the recording may be older than the publisher",
				"%s fields that the descriptor of %s does not have%s", times(n, "has", "have"), k.typ, k.others())
			c.findings[len(c.findings)-1].Count = n
		}
		if k.decoder != nil {
			c.jsonFindings(k)
		}
	}
	c.twoDefinitions(c.kinds)
}

// unknown returns how many messages have fields that their descriptor does not have.
func (k *kind) unknown() int64 {
	if k.decoder == nil {
		return 0
	}
	return k.decoder.unknown.Load()
}

// jsonFindings are about messages in JSON that do not fit their schema.
func (c *checker) jsonFindings(k *kind) {
	p, ok := k.decoder.head.(*transcode.FromJSON)
	if !ok {
		return
	}
	for _, f := range []struct {
		n          int64
		code, what string
		severity   Severity
	}{
		{p.Unknown(), "message-unknown-fields", "properties that the schema of %s does not have%s", Note},
		{p.Odd(), "message-schema", "values that do not fit the schema of %s%s", Warning},
	} {
		if f.n > 0 {
			c.add(f.severity, f.code, k.topics[0], "a conversion to another encoding leaves them out", "%s "+f.what,
				times(f.n, "has", "have"), k.typ, k.others())
			c.findings[len(c.findings)-1].Count = f.n
		}
	}
}

// others names the topics but for the first.
func (k *kind) others() string {
	if len(k.topics) == 1 {
		return ""
	}
	return fmt.Sprintf(" (also of %s)", nearest.Some(k.topics[1:], 3))
}

// kindOf looks at the definition of a topic.
func (c *checker) kindOf(m *mapping.Mapper, t *storage.Topic) *kind {
	k := &kind{typ: t.Type, encoding: t.Encoding}
	found := func(s Severity, code, message, hint string) {
		k.severity, k.code, k.message, k.hint = s, code, message, hint
	}
	has := len(bytes.TrimSpace(t.Schema.Data)) > 0
	def, err := m.Define(t)
	switch {
	case t.Encoding != "ros1" && t.Encoding != "cdr" && t.Encoding != "protobuf" && t.Encoding != "json":
		found(Note, "message-unchecked", fmt.Sprintf("messages in encoding %q are not decoded", t.Encoding), "")
		return k
	case t.Encoding == "json" && !has:
		found(Note, "message-unchecked", `messages in encoding "json" without a schema are not decoded`, "")
		return k
	case err != nil && has:
		found(Warning, "definition-unreadable", err.Error(),
			"its messages cannot be decoded nor converted to another encoding")
		return k
	case err != nil && t.Encoding == "protobuf" && c.warned("no-descriptor", "undeclared-channel"):
		return k // the reader has reported it
	case err != nil:
		found(Warning, "definition-missing", strings.TrimPrefix(fmt.Sprintf("%s: %v", t.Type, err), ": "),
			"its messages cannot be decoded nor converted to another encoding")
		return k
	}
	message, doubtful := fmt.Sprintf("the recording has no descriptor of %s; the built-in one is used", t.Type), false
	for i, r := range def.Remarks {
		if doubtful = doubtful || r.Warning; i == 0 {
			message = r.Message
		} else {
			message += "; " + r.Message
		}
	}
	hashed := strings.HasPrefix(t.Metadata[storage.MetaTypeHash], "RIHS01_")
	switch {
	case def.Origin == "file" && len(def.Remarks) == 0:
	case def.Either != nil:
		found(Note, "definition-ros1", message, "programs that expect CDR of ROS 2 cannot read such messages; a conversion "+
			"writes messages that they can read")
	case doubtful:
		found(Warning, "definition-doubtful", message,
			"bagconv defs which shows which definitions fit; --defs names a place with the right one")
	case !has:
		found(Note, "definition-missing", message, "")
	case t.Encoding == "ros1":
		found(Warning, "definition-md5sum", message, "subscribers may refuse the topic when it is played")
	case hashed:
		found(Warning, "definition-hash", message, "tools that compare hashes may refuse the topic")
	default:
		found(Warning, "definition-unreadable", message, "")
	}
	switch k.decoder, err = decoderOf(def); {
	case err != nil:
	case def.Proto != nil && has:
		k.graph, err = protoschema.NewNamer(false).ROS(def.Proto)
	case def.Origin == "file":
		k.graph = def.ROS
	}
	if err != nil && k.code == "" {
		found(Note, "message-unchecked", fmt.Sprintf("messages of %s are not decoded: %v", t.Type, err), "")
	}
	return k
}

// twoDefinitions reports types with one name and different fields.
func (c *checker) twoDefinitions(list []*kind) {
	type identity struct{ typ, encoding string }
	first := map[identity]*kind{}
	told := map[identity]bool{}
	for _, k := range list {
		id := identity{k.typ, k.encoding}
		switch old := first[id]; {
		case k.graph == nil:
		case old == nil:
			first[id] = k
		case !told[id] && !schema.Equal(old.graph, k.graph):
			told[id] = true
			c.add(Warning, "definition-two", "", "a program that has one of them cannot read messages of the other",
				"%s has two definitions: topics %s and %s differ", k.typ, nearest.Some(old.topics, 3), nearest.Some(k.topics, 3))
		}
	}
}

// warned reports whether the reader has a warning with one of the codes.
func (c *checker) warned(codes ...string) bool {
	return slices.ContainsFunc(c.info.Warnings, func(w storage.Warning) bool { return slices.Contains(codes, w.Code) })
}
