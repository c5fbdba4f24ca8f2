package mapping

import (
	"fmt"
	"slices"

	"github.com/bagconv/bagconv/internal/schema/facts"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/convert/migrate"
	"github.com/bagconv/bagconv/internal/convert/transcode"
	"github.com/bagconv/bagconv/internal/schema/defset"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/internal/wire/xtypes"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// A Target is the definitions that ROS types shall have in the output, whatever they have in the
// source. A type that it does not have stays as it is.
type Target struct {
	Set    *defset.Set    // the definitions
	Distro string         // or the definitions of this distribution
	Rules  *migrate.Rules // how old versions become new ones; nil: by the names of fields
}

// Place names the target in messages.
func (t *Target) Place() string {
	if t.Set != nil {
		return t.Set.Place
	}
	if t.Distro == ROS1Distro {
		return "ROS 1 " + t.Distro
	}
	return "ROS 2 " + t.Distro
}

// maxVersions is how many versions messages pass through at most.
const maxVersions = 32

// target returns the definition that a type has in the target, in the dialect of an encoding; nil
// if the target does not have it. name is a common one. Messages of a type that only IDL has are
// written as plain messages.
func (m *Mapper) target(name string, to serial.Encoding) (*schema.Message, error) {
	msg, err := m.targetOwn(name, to)
	if msg != nil {
		msg = facts.Plain(msg)
	}
	return msg, err
}

func (m *Mapper) targetOwn(name string, to serial.Encoding) (*schema.Message, error) {
	ros1, ros2 := facts.ShortName(name), name
	t := m.o.Target
	switch {
	case t.Set == nil && to == serial.ROS1:
		return m.lib.get(t.Distro, ros1, rosmsg.ROS1), nil
	case t.Set == nil:
		return m.lib.get(t.Distro, ros2, rosmsg.ROS2), nil
	}
	old := func() (*schema.Message, error) {
		return t.Set.Message(ros1, rosmsg.ROS1, t.Set.Lookup(lookupIn(ROS1Distro)))
	}
	now := func() (*schema.Message, error) {
		return t.Set.Message(ros2, rosmsg.ROS2, t.Set.Lookup(lookupIn(m.o.Distro)))
	}
	if to == serial.ROS1 {
		msg, err := old()
		if err != nil {
			if other, _ := now(); other != nil { // bounds and defaults are of ROS 2 alone
				return m.translation().toROS1(other), nil
			}
		}
		return msg, err
	}
	msg, err := now()
	if err != nil {
		if other, _ := old(); other != nil { // time and duration are of ROS 1 alone
			return m.translation().toROS2(other), nil
		}
	}
	return msg, err
}

// translation returns what translates the definitions of the target, and nothing but their dialect.
func (m *Mapper) translation() *dialect {
	return &dialect{known: func(*schema.Message) *schema.Message { return nil }, defaults: true,
		made: map[*schema.Message]*schema.Message{}}
}

// migrates reports whether a topic keeps its encoding, and gets the definition of the target.
func (m *Mapper) migrates(t *storage.Topic) bool {
	if m.o.Target == nil || t.Encoding != "ros1" && t.Encoding != "cdr" || foreign(t) {
		return false
	}
	return t.Encoding == m.o.Encoding || m.o.Keep != nil && m.o.Keep(t)
}

// ErrRules is wrapped by the errors of Map if rules of the target do not fit.
var ErrRules = migrate.ErrRules

// A Migration is what becomes of a type whose target has another definition.
type Migration struct {
	Source, Target *schema.Message // Target is nil if the target does not have the type
	Plans          []*transcode.Plan
	Steps          []Step // what each of the plans does
}

// A Step is one version becoming the next.
type Step struct {
	Source, Target *schema.Message
	Rule           func(src, dst *schema.Message) *transcode.Rule // as transcode.Options.Rule
}

// Same reports whether the bytes of messages stay.
func (g *Migration) Same() bool { return len(g.Plans) == 0 }

// Equal reports whether the target has the definition of the source.
func (g *Migration) Equal() bool { return g.Target != nil && schema.Equal(g.Source, g.Target) }

// Migration finds out what becomes of the messages of a topic in ROS 1 serialization or CDR, in one
// of these encodings. The error wraps migrate.ErrRules if it is about the rules.
func (m *Mapper) Migration(t *storage.Topic, encoding string) (*Migration, error) {
	d, err := m.sourceDefinition(t)
	if err != nil {
		return nil, err
	}
	return m.migration(d, serial.Of(t.Encoding), serial.Of(encoding))
}

// migration makes the programs from a definition to the definition of the target, by way of the
// versions between that the rules name.
func (m *Mapper) migration(d *Definition, from, to serial.Encoding) (*Migration, error) {
	g := &Migration{Source: d.ROS}
	rules := m.o.Target.Rules
	dialect, distro := rosmsg.ROS2, m.o.SourceDistro
	if from == serial.ROS1 {
		dialect, distro = rosmsg.ROS1, ROS1Distro
	}
	src := d.ROS
	for {
		next, err := rules.Between(src, dialect, m.lib.lookup(distro))
		if err != nil {
			return nil, err
		}
		if next == nil {
			break
		}
		if len(g.Plans) == maxVersions {
			return nil, fmt.Errorf("%w: %s passes through more than %d versions", migrate.ErrRules, d.ROS.Name, maxVersions)
		}
		if err := m.step(g, src, next, from, from); err != nil {
			return nil, err
		}
		src = next
	}
	var err error
	if g.Target, err = m.target(rules.Name(src), to); err != nil {
		return nil, fmt.Errorf("the definition of %s: %w", m.o.Target.Place(), err)
	}
	if g.Target == nil && from == to && src == d.ROS && m.lib.isKnown(src) {
		g.Target = facts.Plain(src) // a folder of packages has no standard types
	}
	if g.Target == nil {
		return g, nil
	}
	if first := m.types[g.Target.Name]; first == nil {
		m.types[g.Target.Name] = g.Target
	} else {
		g.Target = first
	}
	plain := from == serial.ROS1 || xtypes.New(src) == nil
	if from == to && plain && sameLayout(src, g.Target) && rules.For(src, g.Target) == nil {
		return g, nil
	}
	return g, m.step(g, src, g.Target, from, to)
}

// isKnown reports whether ROS 1 or some ROS 2 distribution has a definition.
func (l library) isKnown(msg *schema.Message) bool {
	if std := l.ros1(msg.Name); std != nil && schema.MD5(std) == schema.MD5(msg) {
		return true
	}
	return l.isStandard(msg)
}

// step adds the program from one version to the next.
func (m *Mapper) step(g *Migration, src, dst *schema.Message, from, to serial.Encoding) error {
	rules := m.o.Target.Rules
	ruled := rules.For(src, dst) != nil
	var broken error
	find := func(src, dst *schema.Message) *transcode.Rule {
		if one := rules.For(src, dst); one != nil {
			return one
		}
		return rule(src, dst)
	}
	plan, err := transcode.Compile(src, dst, transcode.Options{From: from, To: to, Migrate: true,
		Rule: func(src, dst *schema.Message) *transcode.Rule {
			if rules.For(src, dst) != nil && broken == nil {
				broken = rules.Check(src, dst)
			}
			return find(src, dst)
		}})
	switch {
	case broken != nil:
		return broken
	case err != nil && ruled:
		return fmt.Errorf("%w: %s: %w", migrate.ErrRules, src.Name, err)
	case err != nil:
		return err
	}
	if ruled {
		if err := rules.Accept(src, plan); err != nil {
			return err
		}
	}
	g.Plans = append(g.Plans, plan)
	g.Steps = append(g.Steps, Step{src, dst, find})
	return nil
}

// migrate maps a topic to the definition of the target in the same encoding.
func (m *Mapper) migrate(t *storage.Topic) (*Result, error) {
	d, err := m.sourceDefinition(t)
	if err != nil {
		res := m.same(t)
		res.remark("types-to", "its definition is not known, so that it stays as it is: %v", err)
		return res, nil
	}
	g, err := m.migration(d, serial.Of(t.Encoding), serial.Of(t.Encoding))
	if err != nil {
		return nil, err
	}
	if g.Target == nil {
		res := m.same(t)
		res.remark("types-to", "%s does not have %s: it stays as it is", m.o.Target.Place(), t.Type)
		return res, nil
	}
	if g.Same() && schema.Equal(d.ROS, g.Target) && d.Head == nil && m.lib.defined(t) {
		res := m.same(t)
		if was, sum := t.Metadata[storage.MetaMD5Sum], schema.MD5(g.Target); t.Encoding == "ros1" && was != sum {
			res.Remarks = slices.DeleteFunc(res.Remarks, func(r Remark) bool { return r.Code == "md5sum-mismatch" })
			res.setMetadata(storage.MetaMD5Sum, sum)
			res.remark("md5sum-changed", "the bag has the md5sum %s for the type; now it has the md5sum of its definition, %s",
				was,
				sum)
		}
		return res, nil
	}
	res := d.result(t)
	m.migrated(res, g)
	res.Plan = After(d.Head, res.Plan)
	if t.Encoding == "ros1" {
		res.setROS1(g.Target)
	} else {
		res.setROS2(g.Target)
	}
	return res, nil
}

// intoTarget makes the program from one encoding to the definition of the target in another; it
// returns nil without a target, and if the target does not have the type.
func (m *Mapper) intoTarget(res *Result, src *Definition, from, to serial.Encoding) (*schema.Message, *transcode.Plan,
	error) {
	if m.o.Target == nil {
		return nil, nil, nil
	}
	g, err := m.migration(src, from, to)
	if err != nil {
		return nil, nil, err
	}
	if g.Target == nil {
		res.remark("types-to", "%s does not have %s", m.o.Target.Place(), src.ROS.Name)
		return nil, nil, nil
	}
	m.migrated(res, g)
	return g.Target, g.Plans[0], nil
}

// migrated sets the program, and remarks what it does.
func (m *Mapper) migrated(res *Result, g *Migration) {
	for _, plan := range g.Plans {
		if res.Plan == nil {
			res.Plan = plan
		} else {
			res.Plan = chained(res.Plan, plan)
		}
		res.dropped(g.Target.Name, plan.Dropped())
		if a := plan.Added(); len(a) > 0 {
			res.remark("fields-added", "%s is written as zero: %s does not have it", transcode.List(a), g.Source.Name)
		}
		if a := plan.Defaulted(); len(a) > 0 {
			res.remark("fields-defaulted", "%s has its default: %s does not have it", transcode.List(a), g.Source.Name)
		}
	}
	res.remark("types-to", "%s has the definition of %s", g.Target.Name, m.o.Target.Place())
}

// setROS1 sets the definition of a topic in a bag.
func (r *Result) setROS1(dst *schema.Message) {
	r.Topic.Type = dst.Name
	r.Topic.Encoding = "ros1"
	r.Topic.Schema = storage.Schema{Encoding: "ros1msg", Data: rosmsg.Format(dst, rosmsg.ROS1)}
	r.setMetadata(storage.MetaMD5Sum, schema.MD5(dst))
}

// setROS2 sets the definition of a topic in ROS 2.
func (r *Result) setROS2(dst *schema.Message) {
	r.Topic.Type = dst.Name
	r.Topic.Encoding = "cdr"
	r.Topic.Schema = storage.Schema{Encoding: "ros2msg", Data: rosmsg.Format(dst, rosmsg.ROS2)}
	r.setTypeHash(dst)
}
