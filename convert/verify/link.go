package verify

import (
	"fmt"
	"strings"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/convert/transcode"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// A link is how the messages of two groups are compared.
type link struct {
	typ    *schema.Message // canonical type of both; nil: bytes as they are
	strip  *transcode.Plan // from typ to what is hashed, without Header.seq; nil: it has none
	progs  [2][]chainOf    // of the members of either group
	notes  []note
	both   bool // one encoding on both sides: unreadable messages are compared too
	mapped bool
}

type chainOf []mapping.Program

// unknown is how many messages of a member had fields that their descriptor does
// not have, which are in no digest.
func (k *link) unknown(side, member int) (n int64) {
	if k == nil || k.typ == nil {
		return 0
	}
	for _, p := range k.progs[side][member] {
		if c, ok := p.(mapping.Counter); ok {
			n += c.Unknown()
		}
	}
	return n
}

// A note is an exception of a whole topic; its count is that of the messages.
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
	job     *Job
	info    [2]*storage.Info
	taken   [2][]bool
	turned  map[string]bool // names whose types are mapped the other way round
	decoder [2]*mapping.Mapper
	mappers map[mapperKey]*mapping.Mapper
}

// A mapperKey is a way of mapping the topics of a side to the other's encoding.
type mapperKey struct {
	from     int
	encoding string
	types    mapping.ProtoTypes
	rosout   mapping.Rosout
}

func newLinker(job *Job, info [2]*storage.Info, taken [2][]bool, turned map[string]bool) *linker {
	l := &linker{job: job, info: info, taken: taken, turned: turned, mappers: map[mapperKey]*mapping.Mapper{}}
	for i := range info {
		l.decoder[i] = mapping.New(mapping.Options{Encoding: "ros1", SourceDistro: l.distro(i), ProtoTypes: mapping.ProtoGenerated})
	}
	return l
}

// distro is whose definitions complete a side, as for a conversion.
func (l *linker) distro(side int) string {
	switch d := l.info[side].Metadata[storage.MetaDistro]; {
	case l.job.Distro != "":
		return l.job.Distro
	case mapping.KnownDistro(d):
		return d
	}
	return convert.DefaultDistro
}

func (l *linker) mapper(k mapperKey) *mapping.Mapper {
	m := l.mappers[k]
	if m == nil {
		m = mapping.New(mapping.Options{
			Encoding: k.encoding, Distro: l.distro(1 - k.from), SourceDistro: l.distro(k.from),
			Rosout: k.rosout, ProtoTypes: k.types, Frames: l.job.Frames,
		})
		l.mappers[k] = m
	}
	return m
}

// A member is a topic of a side, with what its messages are.
type member struct {
	topic *storage.TopicInfo
	dec   *mapping.Decoded // nil: nothing is known of them
	err   error            // why
}

func (l *linker) decode(side int, t *storage.TopicInfo) *member {
	m := &member{topic: t}
	m.dec, m.err = l.decoder[side].Decode(&t.Topic)
	return m
}

// link finds the way to compare a with b, false when there is none.
func (l *linker) link(g [2]*group) (*link, bool) {
	a, b := g[0].members[0], g[1].members[0]
	same := a.topic.Encoding == b.topic.Encoding
	sameType := same && a.topic.Encoding == "protobuf" && a.topic.Type == b.topic.Type ||
		same && mapping.SameType(a.topic.Type, b.topic.Type)
	if l.job.Level == Bytes {
		return &link{both: true}, sameType
	}
	if a.dec != nil && b.dec != nil {
		if sameType || mapping.SameType(a.dec.Message.Name, b.dec.Message.Name) {
			if k := l.direct(g); k != nil {
				k.both = same
				return k, true
			}
		}
		for _, way := range l.ways(g) {
			if k := l.through(g, way); k != nil {
				k.both = same
				return k, true
			}
		}
	}
	return &link{both: true}, sameType
}

// seqs are the ways to take Header.seq, in the order to try.
func (l *linker) seqs() []bool {
	if l.job.ignores(HeaderSeq) {
		return []bool{false}
	}
	return []bool{true, false}
}

// direct links groups whose types are of one shape.
func (l *linker) direct(g [2]*group) *link {
	a, b := g[0].members[0].dec.Message, g[1].members[0].dec.Message
	for _, seq := range l.seqs() {
		typ := canonical(a, seq)
		if shapeOf(typ) != shapeOf(canonical(b, seq)) {
			continue
		}
		k := &link{}
		if k.setType(typ) != nil {
			return nil
		}
		for side := range g {
			for _, m := range g[side].members {
				p, err := k.fit(m.dec, nil)
				if err != nil {
					return nil
				}
				k.progs[side] = append(k.progs[side], p)
			}
		}
		k.seqNote(a, b, seq)
		k.presenceNote(g)
		return k
	}
	return nil
}

// setType sets the type of the link. Hashes are without Header.seq, so that they
// are the same for all encodings; it is compared beside them.
func (k *link) setType(typ *schema.Message) (err error) {
	k.typ = typ
	if bare := canonical(typ, false); shapeOf(bare) != shapeOf(typ) {
		k.strip, err = transcode.Compile(typ, bare, transcode.Options{From: transcode.ROS1, To: transcode.ROS1})
	}
	return err
}

// seqNote notes that Header.seq is not compared.
func (k *link) seqNote(a, b *schema.Message, seq bool) {
	if seq {
		return
	}
	for _, m := range []*schema.Message{a, b} {
		if shapeOf(canonical(m, true)) != shapeOf(canonical(m, false)) {
			k.note(HeaderSeq, "Header.seq is not compared")
			return
		}
	}
}

// presenceNote notes that one side does not know which fields were set.
func (k *link) presenceNote(g [2]*group) {
	if g[0].members[0].dec.Generated != g[1].members[0].dec.Generated {
		k.note(Presence, "fields that are not set are compared by their default")
	}
}

// fit makes the program from the messages of d, after the programs of head, to
// the type of the link.
func (k *link) fit(d *mapping.Decoded, head chainOf) (chainOf, error) {
	chain := append(chainOf{}, head...)
	if d.Program != nil {
		chain = append(chain, d.Program)
	}
	plan, err := transcode.Compile(d.Message, k.typ, transcode.Options{From: d.Wire, To: transcode.ROS1})
	if err != nil {
		return nil, err
	}
	if lost := append(plan.Dropped(), plan.Added()...); len(lost) > 0 {
		k.note(Fields, "one of %s and %s does not have %s", d.Message.Name, k.typ.Name, some(lost))
	}
	return append(chain, plan), nil
}

// A way is a conversion from one side to the type of the other.
type way struct {
	from   int
	types  mapping.ProtoTypes
	rosout mapping.Rosout
}

// ways lists the conversions by which one group may have become the other, the
// likely ones first: what was made from protobuf says so; else A became B.
func (l *linker) ways(g [2]*group) (out []way) {
	first := 0
	for side := range g {
		if g[side].members[0].topic.Metadata[storage.MetaProtoType] != "" && g[1-side].members[0].topic.Encoding == "protobuf" {
			first = 1 - side
		}
	}
	if l.turned[g[0].name] {
		first = 1 - first
	}
	for _, from := range []int{first, 1 - first} {
		out = append(out,
			way{from, mapping.ProtoMapped, mapping.RosoutKeep}, way{from, mapping.ProtoMapped, mapping.RosoutROS2},
			way{from, mapping.ProtoGenerated, mapping.RosoutKeep})
	}
	return out
}

// through links groups by converting one to the type of the other, nil when
// that is not what the conversion gives.
func (l *linker) through(g [2]*group, w way) *link {
	to := 1 - w.from
	dst := g[to].members[0]
	mapper := l.mapper(mapperKey{w.from, dst.topic.Encoding, w.types, w.rosout})
	k := &link{mapped: true}
	type converted struct {
		res *mapping.Result
		dec *mapping.Decoded
	}
	var made []converted
	for _, m := range g[w.from].members {
		res, err := mapper.Map(&m.topic.Topic)
		if err != nil || res.Topic.Encoding != dst.topic.Encoding || !sameName(&res.Topic, &dst.topic.Topic) {
			return nil
		}
		dec, err := l.decoder[to].Decode(&res.Topic)
		if err != nil {
			return nil
		}
		made = append(made, converted{res, dec})
		for _, r := range res.Remarks {
			if r.Loss && (strings.HasSuffix(r.Code, "fields") || r.Code == "fields-dropped" || r.Code == "point-times") {
				k.note(Fields, "%s", r.Message)
			}
		}
	}
	src, want := made[0].dec.Message, dst.dec.Message
	seq := false
	for _, seq = range l.seqs() {
		if shapeOf(canonical(src, seq)) == shapeOf(canonical(want, seq)) {
			break
		}
	}
	for i := range g {
		if g[i].members[0].topic.Encoding == "cdr" { // a conversion has no counter to give, or makes one up
			seq = false
		}
	}
	if k.setType(canonical(want, seq)) != nil {
		return nil
	}
	for _, c := range made {
		var head chainOf
		if c.res.Plan != nil {
			head = chainOf{c.res.Plan}
		}
		p, err := k.fit(c.dec, head)
		if err != nil {
			return nil
		}
		k.progs[w.from] = append(k.progs[w.from], p)
	}
	for _, m := range g[to].members {
		p, err := k.fit(m.dec, nil)
		if err != nil {
			return nil
		}
		k.progs[to] = append(k.progs[to], p)
	}
	a, b := g[0].members[0], g[1].members[0]
	k.seqNote(a.dec.Message, b.dec.Message, seq)
	k.presenceNote(g)
	if !mapping.SameType(a.dec.Message.Name, b.dec.Message.Name) {
		k.note(Types, "%s and %s are compared as a conversion maps them", a.topic.Type, b.topic.Type)
	}
	return k
}

func sameName(a, b *storage.Topic) bool {
	return a.Type == b.Type || a.Encoding != "protobuf" && mapping.SameType(a.Type, b.Type)
}

// crosses tells whether a conversion can write a topic in the other side's
// encoding, and why not.
func (l *linker) crosses(side int, m *member) error {
	to := l.otherEncoding(side)
	if to == "" || to == m.topic.Encoding {
		return nil
	}
	_, err := l.mapper(mapperKey{side, to, mapping.ProtoMapped, mapping.RosoutKeep}).Map(&m.topic.Topic)
	return err
}

// otherEncoding is the encoding that a conversion to the other side writes.
func (l *linker) otherEncoding(side int) string {
	a, b := l.job.A.Format, l.job.B.Format
	other := b
	if side == 1 {
		other = a
	}
	if a.Name == b.Name || len(other.Accepts) == 0 || other.Accepts[0] == "*" {
		return ""
	}
	return other.Accepts[0]
}

// some names at most four of the paths.
func some(paths []string) string {
	if n := len(paths); n > 4 {
		return fmt.Sprintf("%s and %d more", strings.Join(paths[:4], ", "), n-4)
	}
	return strings.Join(paths, ", ")
}
