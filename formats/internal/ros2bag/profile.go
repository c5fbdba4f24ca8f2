package ros2bag

import (
	"fmt"
	"maps"
	"strings"

	"github.com/bagconv/bagconv/storage"
)

// A Profile is what a distribution of ROS writes, or what all of them read.
type Profile struct {
	names    []string
	Version  int    // of metadata.yaml
	Schema   int    // of the tables of a database
	QoSNames bool   // policies as names, which needs version 9
	Storage  string // of the recorder
	Distro   string // of the schema table and metadata.yaml if the recording names no distribution
}

// profiles are the choices of WriteOptions.Profile, the default first. "universal" opens on every
// distribution from Foxy on: no reader has an upper limit for the schema, or minds keys of later
// versions, but no reader before Jazzy can read version 9.
var profiles = []Profile{
	{names: []string{"universal"}, Version: 5, Schema: 4, Storage: SQLite},
	{names: []string{"foxy", "galactic"}, Version: 4, Schema: 2, Storage: SQLite},
	{names: []string{"humble"}, Version: 5, Schema: 3, Storage: SQLite},
	{names: []string{"iron"}, Version: 7, Schema: 4, Storage: MCAP},
	{names: []string{"jazzy", "kilted", "lyrical", "rolling"}, Version: 9, Schema: 4, QoSNames: true, Storage: MCAP},
}

// ProfileNames returns the names of all profiles, the default first.
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

// ProfileFor returns the profile of an output: the profile that is asked for, whose name the
// options of the format have checked; else the profile of the source's version, which the output
// keeps; else the default. Versions before 4 are not written.
func ProfileFor(o *storage.WriteOptions) Profile {
	var version int
	if _, err := fmt.Sscanf(o.Version, versionText, &version); err != nil || o.Profile != "" || version < oldestWritten {
		p, _ := FindProfile(o.Profile)
		return p
	}
	p := ProfileOf(&Metadata{Version: version})
	p.Version = min(version, newestMetadata)
	return p
}

// oldestWritten is the version of Foxy.
const oldestWritten = 4

// versionText is how Info.Version begins.
const versionText = "metadata %d"

// VersionText returns what the Info.Version of a folder begins with.
func (m *Metadata) VersionText() string { return fmt.Sprintf(versionText, m.Version) }

// Metadata returns what metadata.yaml has about parts with these topics, whose Messages count all
// parts. own is what the recording has about itself.
func (p Profile) Metadata(s *Storage, own map[string]string, topics []Topic, parts []Part) *Metadata {
	m := &Metadata{Version: p.Version, StorageID: s.ID, Custom: maps.Clone(own), Distro: p.DistroOf(own), Topics: topics}
	delete(m.Custom, storage.MetaDistro)
	m.SetParts(parts)
	return m
}

// DistroOf returns the distribution that a recording names, or the profile's name.
func (p Profile) DistroOf(own map[string]string) string {
	if d := own[storage.MetaDistro]; d != "" {
		return d
	}
	return p.Distro
}
