// Package defset reads definitions of messages from where developers have them: a tree of ROS
// packages, as a workspace, its install folder or a ROS installation is one; an archive of such
// tree, or a pack (.zip, .tar.gz, .tgz); one file (.msg, .srv, .action, .idl, .proto, or .desc with
// protobuf descriptors).
//
//	src/robot_msgs/package.xml      <name>robot_msgs</name>: the package of all below it
//	src/robot_msgs/msg/Status.msg   robot_msgs/msg/Status
//	src/robot_msgs/srv/Start.srv    robot_msgs/srv/Start: of Start_Request, Start_Response, Start_Event
//	src/other_msgs/msg/Mode.idl     other_msgs/msg/Mode, unless there is a Mode.msg
//	proto/arm/joint.proto           the messages in it, by their full names
//
// Without a package.xml above it, a file is of the package that the folder above msg, srv, action
// is called. Folders with a COLCON_IGNORE, AMENT_IGNORE or CATKIN_IGNORE are left out, and folders
// whose name begins with a dot. Links within the folder are followed, each folder once; links that
// lead out of it are not, and Problems counts them. Of two files for one type the first by path
// counts, and Problems names the other if it differs.
//
// Refused is what is out of proportion: over 100,000 definitions, a million files and folders, a
// file of over 1 MiB (16 of descriptors), 64 MiB in all. Nothing is unpacked to the disk. A Set does not change
// after Read and Add; its other methods may be called concurrently.
package defset

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/rosidl"
)

// A Set is the definitions of one place, by the name of their type.
type Set struct {
	Place    string   // a path, as it was given
	Problems []string // what was left out and why, a line each
	Recorded bool     // the place is a recording: some recorders wrote place-holders for standard types
	Versions []*Set   // other definitions of the same types, which a pack of several places has: see All

	folder      string // of a version, in a pack
	byName      map[string]*Definition
	descriptors []*descriptors
	protos      map[string]protoType // by full name
	told        map[string]bool      // problems with them
	sources     sources
}

// A Definition is the text of one type.
type Definition struct {
	Name string // pkg/msg/Type, pkg/srv/Type, pkg/action/Type; in ROS 1 too
	Kind string // "msg", "srv", "action", "idl"
	Text string // of this type alone
	Path string // of the file, within Place

	whole bool // Text is a chain of IDL blocks, with all that the type uses
}

// New returns an empty Set for a place.
func New(place string) *Set {
	return &Set{Place: place, byName: map[string]*Definition{}, protos: map[string]protoType{}, told: map[string]bool{}}
}

// Definitions lists all definitions by name.
func (s *Set) Definitions() []*Definition {
	list := make([]*Definition, 0, len(s.byName))
	for _, d := range s.byName {
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b *Definition) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Empty reports whether nothing is defined.
func (s *Set) Empty() bool { return len(s.byName)+len(s.protos) == 0 }

// Add adds a definition, unless the type has one. A .msg replaces an .idl, which the tools of
// ROS 2 make of it.
func (s *Set) Add(d Definition) {
	old := s.byName[d.Name]
	switch {
	case old == nil, old.Kind == "idl" && d.Kind != "idl":
		s.byName[d.Name] = &d
	case old.Kind == d.Kind && !rosmsg.SameText(old.Text, d.Text):
		s.Problems = append(s.Problems, fmt.Sprintf("%s: %s already has another definition, from %s, which is used", d.Path,
			d.Name, old.Path))
	}
}

// AddText adds what a recording has as the definition of a type: its text and the texts of the
// types that it uses. encoding is "ros1msg", "ros2msg", "ros2idl" or "protobuf"; others are left
// out. path names where it is from.
func (s *Set) AddText(name, encoding string, text []byte, path string) error {
	switch encoding {
	case "ros1msg", "ros2msg":
	case "ros2idl":
		s.Add(Definition{Name: CommonName(name), Kind: "idl", Text: string(text), Path: path, whole: true})
		return nil
	case "protobuf":
		return s.AddDescriptors(text, path)
	default:
		return nil
	}
	dialect := rosmsg.ROS2
	if encoding == "ros1msg" {
		dialect = rosmsg.ROS1
	}
	blocks, err := rosmsg.Blocks(name, text, dialect)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(blocks)) {
		if full := CommonName(name); strings.Count(full, "/") == 2 {
			s.Add(Definition{Name: full, Kind: strings.Split(full, "/")[1], Text: blocks[name], Path: path})
		}
	}
	return nil
}

// CommonName returns the name that a type has in a Set: pkg/msg/Type for pkg/Type.
func CommonName(name string) string {
	if pkg, short, ok := strings.Cut(name, "/"); ok && !strings.Contains(short, "/") {
		return pkg + "/msg/" + short
	}
	return name
}

// Has reports whether the Set defines a type. The name is a name of ROS 1 or ROS 2, or of a message
// that belongs to a service or an action.
func (s *Set) Has(name string) bool { return s.find(name) != nil }

// Text returns the text of a message that the Set defines in .msg text.
func (s *Set) Text(name string) (string, bool) {
	d := s.byName[CommonName(name)]
	if d == nil || d.Kind == "idl" {
		return "", false
	}
	return d.Text, true
}

// find returns the definition of a type, or of the service or action that it belongs to.
func (s *Set) find(name string) *Definition {
	name = CommonName(name)
	if d := s.byName[name]; d != nil {
		return d
	}
	return s.byName[rosmsg.ServiceOf(name)]
}

// Message returns the definition of a type and all that it uses, in a dialect. Types that the Set
// does not have are looked up with rest, by their names in the dialect. It is nil without an error
// if the Set does not have the type itself.
func (s *Set) Message(name string, d rosmsg.Dialect, rest func(string) (string, bool)) (*schema.Message, error) {
	def := s.find(name)
	if def == nil {
		return nil, nil
	}
	if def.Kind == "idl" {
		if d == rosmsg.ROS1 {
			return nil, fmt.Errorf("%s is defined in IDL, by %s, which ROS 1 does not have", name, def.Path)
		}
		msg, err := rosidl.Parse(CommonName(name), s.chain(def))
		return msg, s.about(def, err)
	}
	msg, err := rosmsg.Parse(name, nil, d, s.Lookup(rest))
	return msg, s.about(def, err)
}

// Lookup returns a function that returns the text of a type of the Set, else what rest does.
func (s *Set) Lookup(rest func(string) (string, bool)) func(string) (string, bool) {
	return func(name string) (string, bool) {
		if text, ok := s.Text(name); ok {
			return text, true
		}
		if rest == nil {
			return "", false
		}
		return rest(name)
	}
}

func (s *Set) about(d *Definition, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s, %s: %w", s.Place, d.Path, err)
}

// chain returns the text of an IDL definition and of all that it includes, as recordings have it.
func (s *Set) chain(d *Definition) []byte {
	if d.whole {
		return []byte(d.Text)
	}
	const most = 16 << 20 // bytes: what rosidl reads
	var text []byte
	done := map[string]bool{}
	var add func(d *Definition)
	add = func(d *Definition) {
		if d == nil || d.Kind != "idl" || done[d.Name] || len(text) > most {
			return
		}
		done[d.Name] = true
		text = append(text, strings.Repeat("=", 80)+"\nIDL: "+d.Name+"\n"+d.Text+"\n"...)
		for line := range strings.Lines(d.Text) {
			if file, ok := strings.CutPrefix(strings.TrimSpace(line), "#include"); ok {
				add(s.byName[strings.TrimSuffix(strings.Trim(strings.TrimSpace(file), `"<>`), ".idl")])
			}
		}
	}
	add(d)
	return text
}
