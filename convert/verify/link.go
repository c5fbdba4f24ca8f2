package verify

import (
	"fmt"
	"strings"

	"github.com/bagconv/bagconv/internal/convert/content"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/nearest"
	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// A link is how the messages of two groups are compared.
type link struct {
	// canonical type of both, with the counters of Headers if both have them; nil: bytes as they are
	typ     *schema.Message
	seq     bool         // it has some
	readers [2][]*reader // of the members of either group
	notes   []note
	fields  map[string]int // that a type has no place for, by the message of a note
	both    bool           // one encoding on both sides: unreadable messages are compared too
	from    int            // the side whose messages are taken as the other's type; -1: neither
}

// unknown returns how many messages of a member had fields that a mapping of Apollo's
// types has left out because their descriptor does not have them.
func (k *link) unknown(side, member int) int64 {
	if k == nil || k.typ == nil {
		return 0
	}
	if c, ok := k.readers[side][member].head.(mapping.Counter); ok {
		return c.Unknown()
	}
	return 0
}

// A note is an exception of a whole topic; its count is the number of messages.
type note struct {
	code    Code
	message string
}

func (k *link) note(code Code, format string, a ...any) {
	n := note{code, fmt.Sprintf(format, a...)}
	for _, have := range k.notes {
		if have == n {
			return
		}
	}
	k.notes = append(k.notes, n)
}

// A linker makes links. It knows what conversions map topics to.
type linker struct {
	job      *Job
	info     [2]*storage.Info
	chosen   [2][]bool
	reversed map[string]bool // names whose types are mapped the other way round
	definer  [2]*mapping.Mapper
	known    [2]mapping.Known // about definitions
	namer    [2]*protoschema.Namer
	mappers  map[mapperKey]*mapping.Mapper
	target   *mapping.Mapper // to the definitions of Job.Target
}

// A mapperKey is a way of mapping the topics of a side to the other's encoding.
type mapperKey struct {
	from     int
	encoding string
	types    mapping.ProtoTypes
	rosout   mapping.Rosout
}

func newLinker(job *Job, info [2]*storage.Info, chosen [2][]bool, known [2]mapping.Known) *linker {
	l := &linker{job: job, info: info, chosen: chosen, known: known, mappers: map[mapperKey]*mapping.Mapper{}}
	for i := range info {
		o := known[i].Options()
		o.Encoding = "ros1"
		l.definer[i] = mapping.New(o)
		l.namer[i] = protoschema.NewNamer(false)
	}
	return l
}

func (l *linker) mapper(k mapperKey) *mapping.Mapper {
	m := l.mappers[k]
	if m == nil {
		o := l.known[k.from].Options()
		o.Encoding, o.Distro, o.Rosout, o.ProtoTypes, o.Frames = k.encoding, l.known[1-k.from].SourceDistro, k.rosout,
			k.types, l.job.Frames
		m = mapping.New(o)
		l.mappers[k] = m
	}
	return m
}

// link finds the way to compare a with b, false if there is no way.
func (l *linker) link(g [2]*group) (*link, bool) {
	a, b := g[0].members[0], g[1].members[0]
	same := a.topic.Encoding == b.topic.Encoding
	sameType := same && a.topic.Encoding == "protobuf" && a.topic.Type == b.topic.Type ||
		same && mapping.SameType(a.topic.Type, b.topic.Type)
	known := a.def != nil && b.def != nil
	if l.job.Level == Bytes {
		differ := known && content.ShapeOf(content.Canonical(a.def.msg, true)) != content.ShapeOf(content.Canonical(b.def.msg,
			true))
		return &link{both: true, from: -1}, sameType && !differ
	}
	if !known {
		return &link{both: true, from: -1}, sameType
	}
	alike := sameType || mapping.SameType(a.def.msg.Name, b.def.msg.Name)
	if alike {
		if k := l.direct(g); k != nil {
			k.both = same && a.head == nil
			return k, true
		}
	}
	for _, from := range l.conversionSides(g) {
		var k *link
		if alike {
			k = l.named(g, from, same)
		}
		for i := 0; k == nil && i < len(conversions); i++ {
			k = l.through(g, from, conversions[i])
		}
		if k != nil {
			k.both = same && a.head == nil
			return k, true
		}
	}
	return nil, false
}

// seqs returns the ways to take the counters of Headers, in the order to try.
func (l *linker) seqs(g [2]*group) []bool {
	if l.job.ignores(HeaderSeq) || g[0].members[0].uncounted {
		return []bool{false}
	}
	return []bool{true, false}
}

// direct links groups whose types are of one shape.
func (l *linker) direct(g [2]*group) *link {
	a, b := g[0].members[0].def.msg, g[1].members[0].def.msg
	for _, seq := range l.seqs(g) {
		typ := content.Canonical(a, seq)
		if content.ShapeOf(typ) != content.ShapeOf(content.Canonical(b, seq)) {
			continue
		}
		k := newLink(typ, -1)
		for side := range g {
			if k.readAll(side, g[side], true) != nil {
				return nil
			}
		}
		k.seqNote(a, b, seq)
		k.presenceNote(g)
		return k
	}
	return nil
}

// named links groups whose types have one name and not the same fields, by the names of the fields:
// types of ROS 1 and ROS 2, or of two distributions.
func (l *linker) named(g [2]*group, from int, strict bool) *link {
	a, b := g[0].members[0].def, g[1].members[0].def
	src, want := g[from].members[0].def.msg, g[1-from].members[0].def.msg
	seq := l.countersFit(g, src, want)
	k := newLink(content.Canonical(want, seq), from)
	for side := range g {
		if k.readAll(side, g[side], strict) != nil {
			return nil
		}
	}
	k.seqNote(a.msg, b.msg, seq)
	k.presenceNote(g)
	return k
}

// countersFit reports whether both types have the counters of Headers, and a
// conversion keeps them.
func (l *linker) countersFit(g [2]*group, a, b *schema.Message) bool {
	if g[0].members[0].uncounted {
		return false
	}
	for i := range g {
		if g[i].members[0].topic.Encoding == "cdr" { // a conversion has no counter to write, or makes one up
			return false
		}
	}
	return !l.job.ignores(HeaderSeq) && content.HasCounter(content.Canonical(a, true)) &&
		content.HasCounter(content.Canonical(b, true))
}

func newLink(typ *schema.Message, from int) *link {
	return &link{typ: typ, seq: content.HasCounter(typ), from: from}
}

// seqNote notes that the counters of Headers are not compared.
func (k *link) seqNote(a, b *schema.Message, seq bool) {
	if !seq && (content.HasCounter(content.Canonical(a, true)) || content.HasCounter(content.Canonical(b, true))) {
		k.note(HeaderSeq, "Header.seq is not compared")
	}
}

// presenceNote notes that one side does not know which fields were set.
func (k *link) presenceNote(g [2]*group) {
	if g[0].members[0].def.generated != g[1].members[0].def.generated {
		k.note(Presence, "fields that are not set are compared by their default")
	}
}

// readAll makes the readers of all members of a group.
func (k *link) readAll(side int, g *group, strict bool) error {
	for _, m := range g.members {
		if err := k.read(side, m.def, m.head, strict); err != nil {
			return err
		}
	}
	return nil
}

// read makes the reader of messages of d, which head makes, for the type of the link.
func (k *link) read(side int, d *topicDefinition, head mapping.Program, strict bool) error {
	p, err := d.program(k.typ, strict)
	if err != nil {
		return err
	}
	if lost := append(p.Dropped(), p.Added()...); len(lost) > 0 {
		k.note(Fields, "one of %s and %s does not have %s", d.msg.Name, k.typ.Name, nearest.Some(lost, 4))
	}
	k.readers[side] = append(k.readers[side], &reader{head, p, d, k.typ, strict})
	return nil
}

// A conversion is a way to convert types to others.
type conversion struct {
	types  mapping.ProtoTypes
	rosout mapping.Rosout
}

// conversions lists them, the likely ones first.
var conversions = []conversion{
	{mapping.ProtoMapped, mapping.RosoutKeep}, {mapping.ProtoMapped, mapping.RosoutROS2},
	{mapping.ProtoGenerated, mapping.RosoutKeep},
}

// conversionSides lists the sides from which a conversion may have come, the likely one
// first: what was made from protobuf is marked; else A became B.
func (l *linker) conversionSides(g [2]*group) [2]int {
	first := 0
	for side := range g {
		if g[side].members[0].topic.Metadata[mapping.MetaProtoType] != "" &&
			g[1-side].members[0].topic.Encoding == "protobuf" {
			first = 1 - side
		}
	}
	if l.reversed[g[0].name] {
		first = 1 - first
	}
	return [2]int{first, 1 - first}
}

// through links two groups if one becomes the type of the other in a conversion,
// nil when it does not. Only Apollo's types are converted by the programs of the
// conversion; fields of all others are paired here.
func (l *linker) through(g [2]*group, from int, c conversion) *link {
	to := 1 - from
	dst := g[to].members[0]
	if dst.topic.Encoding == g[from].members[0].topic.Encoding {
		return nil
	}
	mapper := l.mapper(mapperKey{from, dst.topic.Encoding, c.types, c.rosout})
	k := &link{from: from, fields: map[string]int{}}
	type source struct {
		def  *topicDefinition
		head mapping.Program
	}
	var sources []source
	for _, m := range g[from].members {
		res, err := mapper.Map(&m.topic.Topic)
		if err != nil || res.Topic.Encoding != dst.topic.Encoding || !sameName(&res.Topic, &dst.topic.Topic) {
			return nil
		}
		s := source{def: m.def}
		if _, ok := res.Plan.(mapping.Timed); ok {
			converted := l.define(to, &storage.TopicInfo{Topic: res.Topic})
			if converted.def == nil {
				return nil
			}
			s = source{converted.def, res.Plan}
			for _, r := range res.Remarks {
				if r.Loss && (strings.HasSuffix(r.Code, "fields") || r.Code == "point-times") {
					k.note(Fields, "%s", r.Message)
					k.fields[r.Message] = r.Fields
				}
			}
		}
		sources = append(sources, s)
	}
	src, want := sources[0].def.msg, dst.def.msg
	seq := l.countersFit(g, src, want)
	k.typ = content.Canonical(want, seq)
	k.seq = content.HasCounter(k.typ)
	for _, s := range sources {
		if k.read(from, s.def, s.head, false) != nil {
			return nil
		}
	}
	if k.readAll(to, g[to], false) != nil {
		return nil
	}
	a, b := g[0].members[0], g[1].members[0]
	k.seqNote(a.def.msg, b.def.msg, seq)
	k.presenceNote(g)
	if !mapping.SameType(a.def.msg.Name, b.def.msg.Name) {
		k.note(Types, "%s and %s are compared as a conversion maps them", a.topic.Type, b.topic.Type)
	}
	return k
}

// typesOf describes the types of two groups that cannot be compared: their names,
// or for types of one name the first field that is not the same.
func typesOf(a, b *group) [2]string {
	x, y := a.members[0].def, b.members[0].def
	if x == nil || y == nil || !mapping.SameType(x.msg.Name, y.msg.Name) {
		return [2]string{a.typ, b.typ}
	}
	path, ta, tb := content.TypesDiffer(content.Canonical(x.msg, false), content.Canonical(y.msg, false))
	if path == "" {
		return [2]string{a.typ, b.typ}
	}
	side := func(g *group, t string) string {
		if t == "" {
			return fmt.Sprintf("%s without %s", g.typ, path)
		}
		return fmt.Sprintf("%s with %s %s", g.typ, t, path)
	}
	return [2]string{side(a, ta), side(b, tb)}
}

func sameName(a, b *storage.Topic) bool {
	return a.Type == b.Type || a.Encoding != "protobuf" && mapping.SameType(a.Type, b.Type)
}

// crosses reports whether a conversion can write a topic in the other side's
// encoding, and why not.
func (l *linker) crosses(side int, m *member) error {
	a, other := l.job.A.Format, l.job.B.Format
	if side == 1 {
		a, other = other, a
	}
	if a.Name == other.Name || other.Holds.Native == "" || other.Holds.CarriesTopic(&m.topic.Topic) {
		return nil
	}
	_, err := l.mapper(mapperKey{side, other.Holds.Native, mapping.ProtoMapped, mapping.RosoutKeep}).Map(&m.topic.Topic)
	return err
}
