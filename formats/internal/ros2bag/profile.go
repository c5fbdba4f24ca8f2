package ros2bag

import "strings"

// A Profile is what a distribution of ROS writes, or what all of them read.
type Profile struct {
	names    []string
	Version  int    // of metadata.yaml
	Schema   int    // of the tables of a database
	QoSNames bool   // policies as names, which needs version 9
	Distro   string // of the schema table and metadata.yaml where the recording names none
}

// profiles are the choices of WriteOptions.Profile, the default first.
// "universal" opens on every distribution from Foxy on: no reader has an upper
// limit for the schema, or minds keys of later versions, but before Jazzy none
// can read version 9.
var profiles = []Profile{
	{names: []string{"universal"}, Version: 5, Schema: 4},
	{names: []string{"foxy", "galactic"}, Version: 4, Schema: 2},
	{names: []string{"humble"}, Version: 5, Schema: 3},
	{names: []string{"iron"}, Version: 7, Schema: 4},
	{names: []string{"jazzy", "kilted", "lyrical", "rolling"}, Version: 9, Schema: 4, QoSNames: true},
}

// ProfileNames are the names of all profiles, the default first.
func ProfileNames() (names []string) {
	for _, p := range profiles {
		names = append(names, p.names...)
	}
	return names
}

// FindProfile returns the profile of that name; "" is the default.
func FindProfile(name string) (Profile, bool) {
	if name == "" {
		return profiles[0], true
	}
	for _, p := range profiles {
		for _, n := range p.names {
			if n == strings.ToLower(name) {
				if n != "universal" {
					p.Distro = n
				}
				return p, true
			}
		}
	}
	return Profile{}, false
}
