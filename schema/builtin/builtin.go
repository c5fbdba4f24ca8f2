// Package builtin holds the standard message definitions of ROS 1 Noetic and of
// ROS 2 Foxy to Kilted, without comments. They are used if a recording
// carries no definition, and for the canonical text of well-known types.
//
// Types that many record are among them, although they are no part of a distribution's core: turtlesim,
// ackermann_msgs, and messages of control_msgs, gazebo_msgs, moveit_msgs, nav2_msgs and others
// (scripts/definitions/packages.txt), each proved by a sum that a build of its package printed. A distribution has
// only those that such a sum proves for it. test_msgs of Crystal count as Foxy's.
//
// Lyrical and Rolling are taken to have Kilted's definitions: no facts of their
// own were at hand.
//
// data/types.txt, made by scripts/definitions, has each distinct definition once:
//
//	== std_msgs/msg/Header foxy galactic humble iron jazzy kilted
//	builtin_interfaces/Time stamp
//	string frame_id
//
// Of the standard services and the example action it has the messages that rosidl
// makes of them (pkg/srv/X_Request, _Response and, from Iron on, _Event), so that
// topics of service introspection can be read if a recording has no text.
//
// Every md5sum and type hash is checked in a test against values from elsewhere.
// The package is read once, when first asked; all functions may be called
// concurrently.
package builtin

import (
	_ "embed"
	"sort"
	"strings"
	"sync"
)

//go:embed data/types.txt
var data string

// newer are distributions that share the definitions of another.
var newer = map[string]string{"lyrical": "kilted", "rolling": "kilted"}

var distros = []string{"noetic", "foxy", "galactic", "humble", "iron", "jazzy", "kilted", "lyrical", "rolling"}

type key struct{ distro, name string }

var texts = sync.OnceValue(func() map[key]string {
	out := map[key]string{}
	for _, block := range strings.Split("\n"+data, "\n== ")[1:] {
		head, text, _ := strings.Cut(block, "\n")
		words := strings.Fields(head)
		for _, d := range words[1:] {
			out[key{d, words[0]}] = text
		}
	}
	return out
})

// Distros lists the distributions, ROS 1 first, then ROS 2 by age.
func Distros() []string { return append([]string(nil), distros...) }

// Lookup returns the text of one message, without its dependencies. Names are
// pkg/Type in noetic and pkg/msg/Type (/srv/, /action/) in ROS 2. An empty message
// has empty text.
func Lookup(distro, name string) (text string, ok bool) {
	if same, ok := newer[distro]; ok {
		distro = same
	}
	text, ok = texts()[key{distro, name}]
	return text, ok
}

// Names lists the messages of a distribution.
func Names(distro string) []string {
	if same, ok := newer[distro]; ok {
		distro = same
	}
	var names []string
	for k := range texts() {
		if k.distro == distro {
			names = append(names, k.name)
		}
	}
	sort.Strings(names)
	return names
}
