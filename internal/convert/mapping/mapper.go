package mapping

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/convert/apollo"
	"github.com/bagconv/bagconv/internal/convert/transcode"
	"github.com/bagconv/bagconv/internal/schema/defset"
	"github.com/bagconv/bagconv/internal/schema/jsonschema"
	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/internal/wire/xtypes"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// Options are what the topics are mapped to.
type Options struct {
	Encoding string // of the sink's messages: "ros1", "cdr" or "protobuf"
	// reports whether messages stay as they are, whatever their encoding; nil: no messages do
	Keep func(t *storage.Topic) bool
	// reports whether the sink could take a topic as it is; nil: no topic that has another encoding
	Holds        func(t *storage.Topic) bool
	Distro       string // ROS 2 distribution whose types are written
	SourceDistro string // ROS 2 distribution whose types are read if the source has no definitions
	Certain      bool   // SourceDistro is what the source has or the user asks for, and no default
	Rosout       Rosout
	ProtoTypes   ProtoTypes
	Frames       apollo.Frames
	Definitions  []*defset.Set // definitions of the user, in order of preference
	Target       *Target       // the definitions that ROS types shall have; nil: see Distro
	Evidence     *Evidence     // what the messages show about definitions; nil: the order of preference decides alone
	Sequence     bool          // the sink keeps Message.Sequence, which the source does not have
	Hashes       bool          // CDR topics that stay as they are get the hash of their definition, if they have no hash
	Events       bool          // and messages of services and actions a definition of their own, in place of the service's
	Decided      bool          // messages stay as they are, and topics get the definitions by which they are read
	// of the descriptors of Apollo types that are written, from proto/apollo.Layouts; "" is the first
	Layout string
}

// A Mapper maps the topics of one recording. It sees to it that a type name has
// one definition in a ROS 2 sink, which keeps definitions by type and not by
// topic.
type Mapper struct {
	o     Options
	lib   library
	types map[string]*schema.Message // ROS 2 sinks: the definition that each type name has

	complete bool // topics that stay CDR get the standard definitions that the source does not have
	dialect  dialect
	proto    protoTypes
	json     jsonTypes
}

// ErrCannotCross is wrapped by the errors of Map: the topic has no form in the
// target encoding.
var ErrCannotCross = errors.New("cannot be converted")

// New returns a mapper.
func New(o Options) *Mapper {
	m := &Mapper{o: o, lib: newLibrary(o.Definitions), types: map[string]*schema.Message{}}
	m.lib.evidence = o.Evidence
	m.json = jsonTypes{namer: jsonschema.NewNamer(), known: map[[32]byte]parsedJSON{}}
	m.dialect.made = map[*schema.Message]*schema.Message{}
	m.proto = protoTypes{namer: protoschema.NewNamer(o.Encoding == "cdr"), sets: map[[32]byte]parsedSet{}}
	if o.Encoding == "cdr" {
		m.dialect.known = m.knownROS2
	} else {
		m.dialect.known = m.knownROS1
	}
	return m
}

// Map returns what topic t becomes. A topic that cannot be converted stays as it is if the
// sink holds such topics. The error wraps ErrCannotCross.
func (m *Mapper) Map(t *storage.Topic) (*Result, error) {
	res, err := m.convert(t)
	if err != nil && !errors.Is(err, ErrRules) && m.o.Holds != nil && m.o.Holds(t) {
		res := &Result{Topic: *t, Definition: "file"}
		if !m.lib.defined(t) {
			res.Definition = "none"
		}
		res.remark("carried", "its messages are written unchanged, in encoding %q: %v", t.Encoding, err)
		return res, nil
	}
	return res, err
}

func (m *Mapper) convert(t *storage.Topic) (*Result, error) {
	var res *Result
	var err error
	switch {
	case m.migrates(t):
		res, err = m.migrate(t)
	case m.o.Decided:
		res, err = m.decided(t)
	case m.o.Keep != nil && m.o.Keep(t):
		res = m.same(t)
	case t.Encoding == m.o.Encoding:
		if foreign(t) {
			res, err = m.toROS2(t)
		}
		if res == nil {
			res, err = m.same(t), nil
		}
	case t.Encoding == "ros1" && m.o.Encoding == "cdr":
		res, err = m.ros1ToCDR(t)
	case t.Encoding == "cdr" && m.o.Encoding == "ros1":
		res, err = m.cdrToROS1(t)
	case t.Encoding == "protobuf" && (m.o.Encoding == "ros1" || m.o.Encoding == "cdr"):
		res, err = m.fromProto(t)
	case t.Encoding == "json" && slices.Contains([]string{"ros1", "cdr", "protobuf"}, m.o.Encoding):
		res, err = m.fromJSON(t)
	case m.o.Encoding == "protobuf" && (t.Encoding == "ros1" || t.Encoding == "cdr"):
		res, err = m.toProto(t)
	default:
		err = errNoWay(t.Encoding, m.o.Encoding)
	}
	switch {
	case err != nil && t.Type == "":
		return nil, fmt.Errorf("a topic without a type %w: %w", ErrCannotCross, err)
	case err != nil:
		return nil, fmt.Errorf("type %s %w: %w", t.Type, ErrCannotCross, err)
	}
	return res, nil
}

// same carries the topic over. A ROS 2 topic gets its type's name as it is
// written since 2019, unless it stays as it is with its definition. A topic without a
// definition gets the standard one, if Complete has found it.
func (m *Mapper) same(t *storage.Topic) *Result {
	res := &Result{Topic: *t, Definition: "file"}
	if t.Encoding == "cdr" && !(m.lib.defined(t) && m.o.Keep != nil && m.o.Keep(t)) && strings.Count(t.Type, "/") == 1 {
		res.Topic.Type = fullROS2Name(t.Type)
	}
	if m.lib.defined(t) {
		if t.Encoding == "cdr" && rosmsg.IsService(t.Schema.Data) && t.Schema.Encoding != "ros2idl" {
			m.defineEvent(res)
		}
		if m.o.Hashes && t.Encoding == "cdr" && res.Topic.Schema.Encoding == "ros2msg" {
			m.completeText(res)
		}
		switch ros1 := t.Encoding == "ros1" && m.o.Encoding == "ros1"; {
		case ros1 && isAny(t.Metadata[storage.MetaMD5Sum]):
			m.sumDefinition(res)
		case ros1:
			m.checkSum(res)
		}
		return res
	}
	res.Definition = "none"
	if m.o.Hashes && t.Encoding == "cdr" {
		m.legalType(res)
	}
	if t.Encoding == "ros1" && m.o.Encoding == "ros1" && (m.o.Keep == nil || !m.o.Keep(t)) {
		m.completeROS1(res)
	}
	if t.Encoding == "protobuf" && (m.o.Keep == nil || !m.o.Keep(t)) {
		m.completeProto(res)
	}
	if !m.complete || t.Encoding != "cdr" {
		return res
	}
	def, err := m.standardROS2(t)
	if err != nil {
		res.remark("definition-missing", "%s is written without a definition: %v", t.Type, err)
		return res
	}
	if def == nil {
		res.remark("definition-missing", "the definition of %s is unknown; it is written without one, and readers that "+
			"need definitions in the recording cannot decode its messages%s", t.Type, m.lib.without(fullROS2Name(t.Type)))
		return res
	}
	msg := def.ROS
	if xtypes.New(msg) != nil {
		msg = plainTypes(msg, map[*schema.Message]*schema.Message{}, false)
		if res.Plan, err = transcode.Compile(def.ROS, msg, transcode.Options{From: serial.CDR, To: serial.CDR}); err != nil {
			res.remark("definition-missing", "%s is written without a definition: %v", t.Type, err)
			return res
		}
	}
	res.Definition, res.Remarks = def.Origin, append(res.Remarks, def.Remarks...)
	res.Topic.Type = msg.Name
	res.Topic.Schema = storage.Schema{Encoding: "ros2msg", Data: rosmsg.Format(msg, rosmsg.ROS2)}
	res.setTypeHash(msg)
	return res
}

// completeProto adds the descriptors that the user has.
func (m *Mapper) completeProto(res *Result) {
	def, err := m.descriptor(&res.Topic)
	if err != nil || !strings.HasPrefix(def.Origin, Given) {
		return
	}
	if data := def.descriptors(&res.Topic); data != nil {
		res.Remarks, res.Definition = append(res.Remarks, def.Remarks...), def.Origin
		res.Topic.Schema = storage.Schema{Encoding: "protobuf", Data: data}
	}
}

// completeROS1 adds the standard definition that has the md5sum of a ROS 1 topic without one.
func (m *Mapper) completeROS1(res *Result) {
	t := &res.Topic
	want := t.Metadata[storage.MetaMD5Sum]
	def, err := m.lib.ros1Definition(t)
	if err != nil || isAny(want) {
		return
	}
	res.Remarks = append(res.Remarks, def.Remarks...)
	res.Definition = def.Origin
	t.Schema = storage.Schema{Encoding: "ros1msg", Data: rosmsg.Format(def.ROS, rosmsg.ROS1)}
	if sum := schema.MD5(def.ROS); sum != want { // by the old algorithm
		res.setMetadata(storage.MetaMD5Sum, sum)
		res.remark("md5sum-changed", "the bag has the md5sum %s for the type, by the algorithm of before 2009; now it is %s",
			want, sum)
	}
}

// sumDefinition writes the md5sum of the topic's own definition, which other formats than the bag may
// leave out, and some writers of bags, too: nodes of ROS 1 need it. What stands in the place of a sum is
// replaced only if the definition has all its parts.
func (m *Mapper) sumDefinition(res *Result) {
	t := &res.Topic
	was, lookup := t.Metadata[storage.MetaMD5Sum], m.lib.lookup(ROS1Distro)
	if was != "" {
		lookup = nil
	}
	msg, err := rosmsg.Parse(t.Type, t.Schema.Data, rosmsg.ROS1, lookup)
	if err != nil {
		return
	}
	sum := schema.MD5(msg)
	if res.setMetadata(storage.MetaMD5Sum, sum); was != "" {
		res.remark("md5sum-changed",
			"the source has %s in place of the md5sum, which nodes refuse; now it is the md5sum of the definition, %s", was, sum)
	}
}

// checkSum warns of an md5sum that is not the sum of the topic's definition. It stays, as all that a bag has
// stays in another bag.
func (m *Mapper) checkSum(res *Result) {
	def, err := m.lib.ros1Definition(&res.Topic)
	if err != nil || def.Origin != "file" || len(def.Remarks) == 0 {
		return
	}
	for _, r := range def.Remarks {
		r.Message += "; nodes refuse the topic, and --types-to with its definitions writes the right sum"
		r.Warning = true
		res.Remarks = append(res.Remarks, r)
	}
}

// ownROS2 makes the ROS 2 type of a ROS 1 type, and the program.
func (m *Mapper) ownROS2(t *storage.Topic, res *Result, src *schema.Message) (*schema.Message, *transcode.Plan, error) {
	dst := m.dialect.toROS2(src)
	switch asked := t.Metadata[MetaROS2Type]; {
	case asked != "" && asked != dst.Name:
		dst = m.named(asked, dst)
	case dst.Name == plainROS2Name(ros1Log) && m.o.Rosout == RosoutROS2:
		if log := m.lib.ros2(m.o.Distro, ros2Log); log != nil {
			dst = log
		}
	case dst.Name == plainROS2Name(ros1Log):
		res.remark("rosout-kept", "rosgraph_msgs/Log keeps its fields as rosgraph_msgs/msg/Log, which no ROS 2 "+
			"distribution has; --rosout ros2 makes it rcl_interfaces/msg/Log and drops topics and frame_id")
	}
	if err := unambiguous(dst); err != nil {
		return nil, nil, err
	}
	if first := m.named2(dst); first != dst {
		dst = first
		res.remark("definition-joined",
			"two definitions of %s in the source; messages are fitted to the first by field names", dst.Name)
	}
	plan, err := m.compile(res, src, dst, serial.ROS1, serial.CDR)
	return dst, plan, err
}

func (m *Mapper) cdrToROS1(t *storage.Topic) (*Result, error) {
	src, err := m.lib.ros2Definition(t, m.o.SourceDistro)
	if err != nil {
		return nil, err
	}
	res := src.result(t)
	dst, _, err := m.intoTarget(res, src, serial.CDR, serial.ROS1)
	if err == nil && dst == nil {
		dst, err = m.ownROS1(t, res, src.ROS)
	}
	if err != nil {
		return nil, err
	}
	res.Plan = After(src.Head, res.Plan)
	md5 := schema.MD5(dst)
	if was := t.Metadata[storage.MetaMD5Sum]; was != "" && was != "*" && was != md5 {
		res.remark("md5sum-changed", "the original bag had md5sum %s for the type, now it is %s", was, md5)
	}
	if len(t.QoS) > 0 {
		res.byDesign("qos", "ROS 1 has no quality of service except latching")
	}
	res.setROS1(dst)
	res.Topic.QoS = nil
	meta := res.Topic.Metadata
	meta[storage.MetaLatching] = ros1Latching(t)
	if meta[MetaHeaderSeq] == "sequence" {
		res.HeaderSeq = SeqFromSequence
	}
	delete(meta, MetaHeaderSeq)
	delete(meta, MetaROS1Type)
	delete(meta, storage.MetaTypeHash)
	if ros2Name(dst.Name) != src.ROS.Name {
		meta[MetaROS2Type] = src.ROS.Name
	}
	return res, nil
}

// ownROS1 makes the ROS 1 type of a ROS 2 type, and the program.
func (m *Mapper) ownROS1(t *storage.Topic, res *Result, src *schema.Message) (*schema.Message, error) {
	dst := m.dialect.toROS1(src)
	asked := t.Metadata[MetaROS1Type]
	if asked == "" && src.Name == ros2Log {
		asked = ros1Log
	}
	if asked != "" && asked != dst.Name {
		dst = m.named(asked, dst)
	}
	if err := unambiguous(dst); err != nil {
		return nil, err
	}
	_, err := m.compile(res, src, dst, serial.CDR, serial.ROS1)
	return dst, err
}

// unambiguous refuses a type whose definition cannot be written: two different
// types of the source have one name in the target.
func unambiguous(dst *schema.Message) error {
	if name := schema.Ambiguous(dst); name != "" {
		return fmt.Errorf("two different types that it uses would both be called %s", name)
	}
	return nil
}

// named sets the name of the target that was asked for: the library's definition
// of that name, or else the same fields under it.
func (m *Mapper) named(name string, dst *schema.Message) *schema.Message {
	known := m.lib.ros1(name)
	if m.o.Encoding == "cdr" {
		known = m.lib.ros2(m.o.Distro, name)
	}
	if known != nil {
		return known
	}
	return derived(name, dst)
}

// compile makes the program and reports fields that one side lacks.
func (m *Mapper) compile(res *Result, src, dst *schema.Message, from, to serial.Encoding) (*transcode.Plan, error) {
	plan, err := transcode.Compile(src, dst, transcode.Options{From: from, To: to, Rule: rule})
	if err != nil {
		return nil, err
	}
	res.Plan = plan
	res.dropped(dst.Name, plan.Dropped())
	if a := plan.Added(); len(a) > 0 {
		res.remark("fields-added", "%s is written as zero: %s does not have it", transcode.List(a), src.Name)
	}
	return plan, nil
}

// knownROS2 returns the distribution's own definition for a ROS 1 type, when the
// source's definition is the standard one of ROS 1 or has the same fields.
func (m *Mapper) knownROS2(src *schema.Message) *schema.Message {
	dst := m.lib.ros2(m.o.Distro, ros2Name(src.Name))
	if dst == nil {
		return nil
	}
	if sameWire(src, dst) {
		return dst
	}
	if std := m.lib.ros1(src.Name); std != nil && schema.MD5(std) == schema.MD5(src) {
		return dst
	}
	return nil
}

// knownROS1 returns the standard ROS 1 definition for a ROS 2 type, when the
// source's definition is in any ROS 2 distribution or has the same fields.
func (m *Mapper) knownROS1(src *schema.Message) *schema.Message {
	dst := m.lib.ros1(ros1Name(src.Name))
	if dst == nil {
		return nil
	}
	if sameWire(dst, src) || m.lib.isStandard(src) {
		return dst
	}
	return nil
}

// remark adds what is worth knowing.
func (r *Result) remark(code, format string, a ...any) {
	r.Remarks = append(r.Remarks, Remark{Code: code, Message: fmt.Sprintf(format, a...)})
}

// dropped reports which fields the type of that name has no place for although it
// could. Only messages in which they have a value lose something.
func (r *Result) dropped(typ string, paths []string) {
	if len(paths) > 0 {
		r.Remarks = append(r.Remarks, Remark{Code: "fields-dropped", Message: fmt.Sprintf("%s has no field for %s", typ,
			transcode.List(paths)), Loss: true, Counted: true})
	}
}

// byDesign reports what the target has no place for by its nature.
func (r *Result) byDesign(code, format string, a ...any) {
	r.Remarks = append(r.Remarks, Remark{Code: code, Message: fmt.Sprintf(format, a...), Loss: true, ByDesign: true})
}

// noPlace reports fields that a type of another middleware has no place for.
func (r *Result) noPlace(code, typ string, fields []string) {
	if len(fields) > 0 {
		r.byDesign(code, "%s has no place for %s; --proto-types generated keeps all fields", typ, transcode.List(fields))
		r.Remarks[len(r.Remarks)-1].Fields = len(fields)
	}
}

// dropSeq sets what becomes of the counters of ROS 1 Headers in ROS 2, which has no such counters.
// The counter that a message begins with may become the sequence of the message.
func (r *Result) dropSeq(plan *transcode.Plan, sequence bool) {
	first, other := plan.DropsSeq()
	if first && sequence {
		r.HeaderSeq = SeqToSequence
		r.Topic.Metadata[MetaHeaderSeq] = "sequence"
		first = false
	}
	if first || other {
		r.byDesign("header-seq", "std_msgs/Header.seq does not exist in ROS 2")
	}
}

func (r *Result) setTypeHash(msg *schema.Message) {
	hash, err := schema.RIHS01(msg)
	if err != nil {
		return // kinds of IDL that have no hash: the column stays empty
	}
	r.setMetadata(storage.MetaTypeHash, hash)
}

// setMetadata sets a key of the topic's metadata, which the source may share.
func (r *Result) setMetadata(key, value string) {
	if r.Topic.Metadata = maps.Clone(r.Topic.Metadata); r.Topic.Metadata == nil {
		r.Topic.Metadata = map[string]string{}
	}
	r.Topic.Metadata[key] = value
}
