package mapping

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/bagconv/bagconv/internal/schema/defset"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema"
)

// Given stands before the place in the origin of a definition that the user has.
const Given = "given "

// lookup finds the text of types that a definition uses and does not have: among the user's
// definitions, then among the standard ones.
func (l library) lookup(distro string) func(string) (string, bool) {
	find := lookupIn(distro)
	for _, set := range slices.Backward(l.sets) {
		find = set.Lookup(find)
	}
	return find
}

// ros1Given returns the first definition of a ROS 1 type that the user has and that suits. Without
// one, the error explains why the definitions that were found do not suit.
func (l library) ros1Given(name string, suits func(*schema.Message) bool) (*Definition, error) {
	return l.fromSets(name, rosmsg.ROS1, ROS1Distro, func(msg *schema.Message) error {
		if suits(msg) {
			return nil
		}
		return fmt.Errorf("has md5sum %s, and its messages have another", schema.MD5(msg))
	})
}

// ros2Given does the same for a ROS 2 type. hash is the type hash of the messages, or "".
func (l library) ros2Given(name, distro, hash string) (*Definition, error) {
	return l.fromSets(name, rosmsg.ROS2, distro, func(msg *schema.Message) error {
		if hash == "" || hash == hashOf(msg) {
			return nil
		}
		return errors.New("has another type hash than its messages")
	})
}

// fromSets returns the first definition that suits; one with the Header of ROS 1 suits ROS 2 only if no other does.
func (l library) fromSets(name string, d rosmsg.Dialect, distro string, suits func(*schema.Message) error) (*Definition,
	error) {
	var wrong error
	var old *Definition
	for _, set := range l.sets {
		list, err := l.messages(set, name, d, distro)
		if err != nil && wrong == nil {
			wrong = err
		}
		for _, msg := range list {
			if set.Recorded && d == rosmsg.ROS2 && l.doubtful(msg) {
				continue
			}
			switch err := suits(msg); {
			case err == nil && d == rosmsg.ROS2 && hasCounter(msg):
				old = cmp.Or(old, &Definition{ROS: msg, Origin: Given + set.Place})
			case err == nil:
				return &Definition{ROS: msg, Origin: Given + set.Place}, nil
			case wrong == nil:
				wrong = fmt.Errorf("%s: %s %w", set.Place, name, err)
			}
		}
	}
	return old, wrong
}

// messages returns the type by the definitions of a place of the user: with the types that it uses as the
// place has them, and with the types of the distribution where it has them too, which turns a definition
// of ROS 1 into a definition of ROS 2. It is empty if the place does not define the type.
func (l library) messages(set *defset.Set, name string, d rosmsg.Dialect, distro string) (list []*schema.Message,
	err error) {
	msg, err := set.Message(name, d, l.lookup(distro))
	if msg != nil && err == nil {
		list = append(list, msg)
	}
	if text, ok := set.Text(name); ok {
		standard, own := lookupIn(distro), set.Lookup(l.lookup(distro))
		other, wrong := rosmsg.Parse(name, nil, d, func(used string) (string, bool) {
			if used == name {
				return text, true
			}
			if text, ok := standard(used); ok {
				return text, true
			}
			return own(used)
		})
		if wrong == nil && (msg == nil || !schema.Equal(msg, other)) {
			list, err = append(list, other), nil
		}
	}
	return list, err
}

// because adds the remark that a definition of the user is used, and why.
func (d *Definition) because(format string, a ...any) *Definition {
	d.remark("definition-given", "%s; the definition of %s is used", fmt.Sprintf(format, a...), d.Origin[len(Given):])
	return d
}
