package defset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"

	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
)

// Types change over the years, so places have different definitions of one. What is of one place
// stays together: a version is places that do not contradict each other.

// maxVersions bounds the versions of a Set.
const maxVersions = 1000

// versionsFolder is where a pack has its second version and all after.
const versionsFolder = "versions/"

// All returns the Set and its versions, the first first.
func (s *Set) All() []*Set { return append([]*Set{s}, s.Versions...) }

// versionFolder returns where a pack has a version, counted from 1.
func versionFolder(n int) string {
	if n == 1 {
		return ""
	}
	return versionsFolder + strconv.Itoa(n) + "/"
}

// newVersion returns an empty version of a place.
func newVersion(place string, n int) *Set {
	folder := versionFolder(n)
	set := New(place + ": " + strings.TrimSuffix(folder, "/"))
	set.folder = folder
	return set
}

// versionOf returns the version of a file of a pack.
func versionOf(name string) int {
	rest, ok := strings.CutPrefix(name, versionsFolder)
	number, _, below := strings.Cut(rest, "/")
	if n, err := strconv.Atoi(number); ok && below && err == nil && n > 1 && n <= maxVersions {
		return n
	}
	return 1
}

// Merge returns the definitions of several places as one. Places that define a type differently
// are different versions; Problems names these types.
func Merge(place string, sets ...*Set) *Set {
	out := New(place)
	for _, one := range sets {
		for _, set := range one.All() {
			out.merge(set, true)
		}
	}
	return out
}

// merge adds a place to the first version that does not contradict it. other: it is another place, so
// that a contradiction is one of Problems, and paths begin with its name.
func (s *Set) merge(set *Set, other bool) {
	s.Recorded = s.Recorded || set.Recorded
	for i, version := range s.All() {
		first := version.contradicts(set)
		if first != "" {
			if i == 0 && other && set.folder == "" {
				s.Problems = append(s.Problems, fmt.Sprintf("%s has another definition of %s than the places before; both are kept",
					set.Place, first))
			}
			continue
		}
		version.take(set, other)
		return
	}
	if len(s.Versions)+1 == maxVersions {
		s.Problems = append(s.Problems, fmt.Sprintf("%s is left out: over %d versions of a type", set.Place, maxVersions))
		return
	}
	next := newVersion(s.Place, len(s.Versions)+2)
	next.Recorded = set.Recorded
	s.Versions = append(s.Versions, next)
	next.take(set, other)
}

// Join adds what another part of the same place has, such as another topic of a recording. If it
// defines a type differently, it is of another version.
func (s *Set) Join(part *Set) {
	s.merge(part, false)
}

// contradicts returns the first type that another Set defines differently, "" if there is no such
// type.
func (s *Set) contradicts(set *Set) string {
	for _, d := range set.Definitions() {
		if old := s.byName[d.Name]; old != nil && old.Kind == d.Kind && !rosmsg.SameText(old.Text, d.Text) {
			return d.Name
		}
	}
	for name, p := range set.protos {
		if old, ok := s.protos[name]; ok && !proto.Equal(protodesc.ToDescriptorProto(old.md),
			protodesc.ToDescriptorProto(p.md)) {
			return name
		}
	}
	return ""
}

// take adds all definitions of another Set; placed: their paths begin with its place.
func (s *Set) take(set *Set, placed bool) {
	for _, d := range set.Definitions() {
		c := *d
		if placed {
			c.Path = set.Place + ": " + d.Path
		}
		s.Add(c)
	}
	s.mergeProtos(set, placed)
}

// Entries describes all definitions, version by version, by name.
func (s *Set) Entries(rest Rest) []Entry {
	list := []Entry{}
	for _, set := range s.All() {
		for _, d := range set.Definitions() {
			list = append(list, set.entry(d, rest))
		}
		list = append(list, set.protoEntries((*descriptors).pathOf)...)
	}
	return list
}

// Differing lists the types that versions define differently, by name.
func (s *Set) Differing() (names []string) {
	seen := map[string]*Definition{}
	for _, set := range s.All() {
		for _, d := range set.Definitions() {
			old := seen[d.Name]
			if old == nil {
				seen[d.Name] = d
			} else if (old.Kind != d.Kind || !rosmsg.SameText(old.Text, d.Text)) && !slices.Contains(names, d.Name) {
				names = append(names, d.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// Version returns the version with a number, from 1, or with a sum: the first 6 or more characters of
// the md5sum or type hash of a type, if only one version has it. The error names the versions.
func (s *Set) Version(choice string, rest Rest) (*Set, error) {
	all := s.All()
	if n, err := strconv.Atoi(choice); err == nil && n >= 1 && n <= len(all) {
		return all[n-1], nil
	}
	var chosen []*Set
	if sum := strings.ToLower(strings.TrimPrefix(choice, rihsPrefix)); len(sum) >= 6 {
		for _, set := range all {
			for _, d := range set.Definitions() {
				e := set.entry(d, rest)
				if strings.HasPrefix(e.MD5, sum) || strings.HasPrefix(strings.TrimPrefix(e.RIHS01, rihsPrefix), sum) {
					chosen = append(chosen, set)
					break
				}
			}
		}
	}
	switch len(chosen) {
	case 1:
		return chosen[0], nil
	case 0:
		return nil, fmt.Errorf("%s has no version %s; %s", s.Place, choice, s.Choices(rest))
	}
	return nil, fmt.Errorf("%d versions of %s have a type with the sum %s; %s", len(chosen), s.Place, choice,
		s.Choices(rest))
}

// rihsPrefix is before the 64 digits of a type hash.
const rihsPrefix = "RIHS01_"

// Choices describes the versions by the first types that they define differently.
func (s *Set) Choices(rest Rest) string {
	const limit = 3 // types
	var b strings.Builder
	names := s.Differing()
	if len(names) == 0 {
		return fmt.Sprintf("it has %d", len(s.All()))
	}
	for i, name := range names[:min(len(names), limit)] {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(name)
		sep := " is "
		for n, set := range s.All() {
			d := set.byName[name]
			if d == nil {
				continue
			}
			e := set.entry(d, rest)
			sum := "md5sum " + e.MD5
			switch {
			case e.MD5 == "" && e.RIHS01 == "":
				sum = "in " + d.Path
			case e.MD5 == "":
				sum = "type hash " + e.RIHS01
			}
			fmt.Fprintf(&b, "%s%s in version %d", sep, sum, n+1)
			sep = ", "
		}
	}
	if more := len(names) - limit; more > 0 {
		fmt.Fprintf(&b, "; %d more types differ", more)
	}
	return b.String()
}

// From returns where the definition of a type is, and its own text; "" if the Set does not have it.
func (s *Set) From(name string) (path, text string) {
	if p, ok := s.protos[name]; ok {
		return p.from.pathOf(p.md), protoschema.ProtoText(p.md)
	}
	if d := s.find(name); d != nil {
		return d.Path, d.Text + "\n"
	}
	return "", ""
}
