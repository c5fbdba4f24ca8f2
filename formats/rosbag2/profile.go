package rosbag2

import "strings"

// A profile is what a distribution of ROS writes, or what all of them read.
type profile struct {
	names    []string
	version  int    // of metadata.yaml
	schema   int    // of the tables
	qosNames bool   // policies as names, which needs version 9
	distro   string // of the schema table and metadata.yaml where the recording names none
}

// profiles are the choices of WriteOptions.Profile, the default first.
// "universal" opens on every distribution from Foxy on: no reader has an upper
// limit for the schema, or minds keys of later versions, but before Jazzy none
// can read version 9.
var profiles = []profile{
	{names: []string{"universal"}, version: 5, schema: 4},
	{names: []string{"foxy", "galactic"}, version: 4, schema: 2},
	{names: []string{"humble"}, version: 5, schema: 3},
	{names: []string{"iron"}, version: 7, schema: 4},
	{names: []string{"jazzy", "kilted", "lyrical", "rolling"}, version: 9, schema: 4, qosNames: true},
}

func profileNames() (names []string) {
	for _, p := range profiles {
		names = append(names, p.names...)
	}
	return names
}

// findProfile gives the profile of that name; "" is the default.
func findProfile(name string) (profile, bool) {
	if name == "" {
		return profiles[0], true
	}
	for _, p := range profiles {
		for _, n := range p.names {
			if n == strings.ToLower(name) {
				if n != "universal" {
					p.distro = n
				}
				return p, true
			}
		}
	}
	return profile{}, false
}
