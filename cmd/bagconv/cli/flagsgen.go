package cli

import (
	"slices"

	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/convert/selection"
)

// genFlags are those of gen.
func (s *settings) genFlags() []flag {
	list := &s.job.Select
	distro := s.distroFlag()
	distro.values = words(slices.Concat([]string{mapping.ROS1Distro}, distros())...)
	return allIn(readGroup, []string{"gen"},
		flag{name: "output", short: "o", arg: "DIR", kind: aFile, set: put(&s.output), help: "folder for the code; created if missing"},
		flag{name: "topic", short: "t", arg: "P", kind: aTopic, several: true, set: parsedEach(&list.Topics, selection.ParsePattern),
			help: "only these topics of IN; P as in bagconv convert. Repeat the flag for more topics"},
		flag{name: "type", arg: "P", kind: aType, several: true, set: parsedEach(&list.Types, selection.ParsePattern),
			help: "only topics of these types; without IN, only these types, such as sensor_msgs/msg/Imu or acme_msgs/*"},
		s.defsFlag().in(readGroup, "where to find definitions that IN lacks, as convert --defs; without IN, the types to generate", "gen"),
		distro.in(readGroup, "distribution whose standard definitions to use, such as humble; without IN, noetic makes ROS 1 types of --defs, and the others those of ROS 2", "gen"),
		s.forceFlag("replace files of the same names in DIR"),
	)
}
