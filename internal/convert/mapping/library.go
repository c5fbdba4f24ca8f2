package mapping

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/schema/defset"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/builtin"
	"github.com/bagconv/bagconv/schema/rosidl"
	"github.com/bagconv/bagconv/storage"
)

// ROS1Distro is the distribution whose standard ROS 1 types are built in.
const ROS1Distro = "noetic"

// A library holds the standard definitions that were asked for, parsed, and the
// definitions of the user.
type library struct {
	parsed   map[string]*schema.Message // by distribution and name; nil: the distribution does not have the type
	sets     []*defset.Set              // in order of preference
	evidence *Evidence                  // of the recording's messages, or nil
}

func newLibrary(sets []*defset.Set) library {
	return library{parsed: map[string]*schema.Message{}, sets: sets}
}

func (l library) get(distro, name string, d rosmsg.Dialect) *schema.Message {
	k := distro + " " + name
	msg, known := l.parsed[k]
	if !known {
		if _, ok := builtin.Lookup(distro, name); ok {
			// A definition that does not parse would be a bug; the tests of
			// package builtin parse each one.
			msg, _ = rosmsg.Parse(name, nil, d, lookupIn(distro))
		}
		l.parsed[k] = msg
	}
	return msg
}

func (l library) ros1(name string) *schema.Message { return l.get(ROS1Distro, name, rosmsg.ROS1) }
func (l library) ros2(distro, name string) *schema.Message {
	return l.get(distro, name, rosmsg.ROS2)
}

func lookupIn(distro string) func(string) (string, bool) {
	return func(name string) (string, bool) { return builtin.Lookup(distro, name) }
}

// ros2Distros lists the built-in ROS 2 distributions.
func ros2Distros() []string {
	var names []string
	for _, d := range builtin.Distros() {
		if d != ROS1Distro {
			names = append(names, d)
		}
	}
	return names
}

// isStandard reports whether some ROS 2 distribution has a definition.
func (l library) isStandard(msg *schema.Message) bool {
	hash, err := schema.RIHS01(msg)
	if err != nil {
		return false
	}
	found, _ := l.byHash(msg.Name, hash)
	return found != nil
}

// byHash finds the definition of a type with that hash in any distribution.
func (l library) byHash(name, hash string) (*schema.Message, string) {
	for _, distro := range ros2Distros() {
		if msg := l.ros2(distro, name); msg != nil {
			if h, err := schema.RIHS01(msg); err == nil && h == hash {
				return msg, distro
			}
		}
	}
	return nil, ""
}

// unambiguous finds a definition that is the same in every distribution that
// has the type.
func (l library) unambiguous(name string) (msg *schema.Message, distro string) {
	for _, d := range ros2Distros() {
		switch m := l.ros2(d, name); {
		case m == nil:
		case msg == nil:
			msg, distro = m, d
		case !schema.Equal(msg, m):
			return nil, ""
		}
	}
	return msg, distro
}

func (d *Definition) remark(code, format string, a ...any) {
	d.Remarks = append(d.Remarks, Remark{Code: code, Message: fmt.Sprintf(format, a...)})
}

// warn adds a remark that the user must see.
func (d *Definition) warn(code, format string, a ...any) {
	d.Remarks = append(d.Remarks, Remark{Code: code, Message: fmt.Sprintf(format, a...), Warning: true})
}

// result starts the result for a topic with this definition.
func (d *Definition) result(t *storage.Topic) *Result {
	res := &Result{Topic: *t, Definition: d.Origin, Remarks: d.Remarks}
	res.Topic.Metadata = maps.Clone(t.Metadata)
	if res.Topic.Metadata == nil {
		res.Topic.Metadata = map[string]string{}
	}
	if d.seq {
		res.byDesign("header-seq", "std_msgs/Header.seq does not exist in ROS 2")
	}
	return res
}

// ros1Definition finds the definition of a ROS 1 topic: the file's own text,
// completed or replaced by the standard one when the md5sum proves it right. It does not change.
func (l library) ros1Definition(t *storage.Topic) (*Definition, error) {
	if len(l.sets) > 0 || l.evidence != nil {
		return l.findROS1(t)
	}
	key := definitionOf(t)
	if d, ok := definitions.get(key); ok {
		return d, nil
	}
	d, err := l.findROS1(t)
	if err == nil {
		d.Remarks = slices.Clip(d.Remarks)
		definitions.put(key, d, len(t.Schema.Data))
	}
	return d, err
}

// findROS1 is ros1Definition, each time anew.
func (l library) findROS1(t *storage.Topic) (*Definition, error) {
	want := t.Metadata[storage.MetaMD5Sum]
	zeros := want != "" && want != "*" && isAny(want)
	if isAny(want) {
		want = ""
	}
	suits := func(msg *schema.Message) bool { return want == "" || schema.MD5(msg) == want }
	std := l.ros1(t.Type)
	if len(strings.TrimSpace(string(t.Schema.Data))) == 0 && !(std == nil && want == schema.MD5(&schema.Message{})) {
		if trial := l.evidence.of(t); trial != nil && want == "" {
			d, _, err := trial.decide("the bag")
			return d, err
		}
		custom, err := l.ros1Given(t.Type, suits)
		bare := l.bare(t, want)
		switch {
		case custom != nil:
			return custom.because("the bag has no definition of %s", t.Type), nil
		case bare != nil:
		case err != nil:
			return nil, fmt.Errorf("the bag has no definition of it, and %w", err)
		case std == nil:
			return nil, fmt.Errorf(
				"the bag has no definition of it, and it is not a standard type; --defs names a place that has it%s",
				l.without(t.Type))
		default:
			return nil, fmt.Errorf(
				"the bag has no definition of it, and its md5sum %s differs from the md5sum of the standard type, %s", want,
				schema.MD5(std))
		}
		d := &Definition{ROS: bare, Origin: "builtin " + ROS1Distro}
		d.remark("definition-builtin", "the bag has no definition of %s; the definition of ROS 1 %s is used", t.Type,
			ROS1Distro)
		d.misfit(err)
		return d, nil
	}
	msg, err := rosmsg.Parse(t.Type, t.Schema.Data, rosmsg.ROS1, l.lookup(ROS1Distro))
	if err == nil && suits(msg) {
		d := &Definition{ROS: msg, Origin: "file"}
		if zeros {
			d.remark("md5sum-mismatch", "the definition of %s has md5sum %s, but its connection has zeros", t.Type,
				schema.MD5(msg))
		}
		return d, nil
	}
	if custom, _ := l.ros1Given(t.Type, suits); custom != nil {
		return custom.because("the bag's definition of %s cannot be read or does not have the md5sum of its messages",
			t.Type), nil
	}
	if std != nil && want == schema.MD5(std) {
		d := &Definition{ROS: std, Origin: "builtin " + ROS1Distro}
		d.remark("definition-builtin",
			"the bag's definition of %s does not have the md5sum of its messages; the definition of ROS 1 %s does, and is used",
			t.Type,
			ROS1Distro)
		return d, nil
	}
	if err != nil {
		return nil, fmt.Errorf("its definition cannot be read: %w%s", err, l.without(t.Type))
	}
	d := &Definition{ROS: msg, Origin: "file"}
	d.remark("md5sum-mismatch", "the definition of %s has md5sum %s, but its connection has %s", t.Type, schema.MD5(msg),
		want)
	return d, nil
}

// ros2Definition finds the definition of a ROS 2 topic: the file's own text,
// else the standard one with the file's type hash, else the one of distro.
func (l library) ros2Definition(t *storage.Topic, distro string) (*Definition, error) {
	name, hash := ros2TopicType(t), t.Metadata[storage.MetaTypeHash]
	if !validHash(hash) {
		hash = ""
	}
	var msg *schema.Message
	err := fmt.Errorf("the recording has no definition of it")
	if blank := len(strings.TrimSpace(string(t.Schema.Data))) == 0; blank {
		// The text of a type without fields is empty, as if there were no text.
		if empty := (&schema.Message{Name: name}); hash != "" && hash == hashOf(empty) {
			return &Definition{ROS: empty, Origin: "file"}, nil
		}
	} else {
		switch t.Schema.Encoding {
		case "ros1msg":
			return l.ros1InCDR(t, distro)
		case "ros2idl":
			msg, err = rosidl.Parse(name, t.Schema.Data)
		case "omgidl":
			msg, err = rosidl.Parse(t.Type, t.Schema.Data)
		default:
			msg, err = rosmsg.Parse(name, t.Schema.Data, rosmsg.ROS2, l.lookup(distro))
		}
	}
	if err == nil && (hash == "" && !l.doubtful(msg) || hash != "" && hash == hashOf(msg)) {
		return &Definition{ROS: msg, Origin: "file"}, nil
	}
	if trial := l.evidence.of(t); trial != nil && hash == "" {
		d, _, err := trial.decide("the recording")
		return d, err
	}
	custom, wrong := l.ros2Given(name, distro, hash)
	if custom != nil {
		if err == nil && schema.Equal(custom.ROS, msg) {
			return &Definition{ROS: msg, Origin: "file"}, nil
		}
		return custom.because("the recording has no usable definition of %s", name), nil
	}
	if hash != "" {
		if std, of := l.byHash(name, hash); std != nil {
			d := &Definition{ROS: std, Origin: "builtin " + of}
			d.remark("definition-builtin", "the definition of %s of ROS 2 %s is used, because it has the recording's type hash",
				name, of)
			d.misfit(wrong)
			return d, nil
		}
		if err == nil {
			d := &Definition{ROS: msg, Origin: "file"}
			d.remark("type-hash-mismatch", "the definition of %s does not have the type hash of its topic", name)
			return d, nil
		}
		if wrong == nil && l.ros2(distro, name) != nil {
			wrong = errors.New("no distribution has a standard type of that name with the type hash of the topic")
		}
		if wrong != nil {
			return nil, fmt.Errorf("%w, and %w; --defs names a place that has it%s", err, wrong, l.without(name))
		}
	}
	std := l.ros2(distro, name)
	if std == nil {
		if err == nil { // doubtful, but nothing better is known
			return &Definition{ROS: msg, Origin: "file"}, nil
		}
		if wrong != nil {
			return nil, fmt.Errorf("%w, and %w", err, wrong)
		}
		return nil, fmt.Errorf("%w, and ROS 2 %s has no standard type of that name; --defs names a place that has it%s", err,
			distro, l.without(name))
	}
	d := &Definition{ROS: std, Origin: "builtin " + distro}
	if one, _ := l.unambiguous(name); one != nil {
		d.remark("definition-builtin", "the recording has no usable definition of %s; the standard one is used, which is "+
			"the same in all ROS 2 distributions", name)
	} else {
		d.remark("definition-builtin", "the recording has no usable definition of %s; the definition of ROS 2 %s is used; "+
			"other "+
			"distributions have another one, which --distro chooses", name, distro)
	}
	return d, nil
}

// doubtful reports whether a definition contradicts every distribution that has the type. Some
// recorders wrote place-holders.
func (l library) doubtful(msg *schema.Message) bool {
	for _, distro := range ros2Distros() {
		if l.ros2(distro, msg.Name) != nil {
			return !l.isStandard(msg)
		}
	}
	return false
}

func hashOf(msg *schema.Message) string {
	h, _ := schema.RIHS01(msg) // "" for kinds that have no hash
	return h
}

func validHash(h string) bool {
	const prefix = "RIHS01_"
	if len(h) != len(prefix)+64 || !strings.HasPrefix(h, prefix) {
		return false
	}
	return strings.Trim(h[len(prefix):], "0123456789abcdef") == ""
}

// KnownDistro reports whether the standard types of a ROS 2 distribution are built in.
func KnownDistro(name string) bool {
	for _, d := range ros2Distros() {
		if d == name {
			return true
		}
	}
	return false
}
