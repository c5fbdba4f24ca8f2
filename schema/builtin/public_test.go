package builtin_test

import (
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/builtin"
)

// TestPublic compares the messages of packages that are no part of a distribution's core with sums that builds of these
// packages printed: md5sums of code that genpy and others generated, type hashes of code that rosidl generated and of
// running systems. A type hash covers the types of all fields, so that it proves these too. A message of ROS 2 without
// a type hash is proved by the md5sum of the ROS 1 message of its name, of which it has the fields. No message of such
// a package may be without proof.
func TestPublic(t *testing.T) {
	md5, packages, proved := map[string]string{}, map[string]bool{}, map[string]bool{}
	hashes := map[string]map[string]bool{}
	for line := range lines(t, "testdata/public.txt") {
		name, sum, _ := strings.Cut(line, " ")
		pkg, _, _ := strings.Cut(name, "/")
		packages[pkg] = true
		if !strings.HasPrefix(sum, "RIHS01_") {
			md5[name] = sum
			continue
		}
		if hashes[name] == nil {
			hashes[name] = map[string]bool{}
		}
		hashes[name][sum] = false
	}
	for _, distro := range builtin.Distros()[1:7] {
		for _, name := range builtin.Names(distro) {
			m := parse(t, distro, name)
			sum, err := schema.RIHS01(m)
			if err != nil {
				t.Fatal(err)
			}
			_, known := hashes[name][sum]
			if known {
				hashes[name][sum] = true
				prove(m, distro, proved)
			}
			if !known && md5[strings.Replace(name, "/msg/", "/", 1)] != "" && twin(t, distro, name) ==
				md5[strings.Replace(name, "/msg/", "/", 1)] {
				proved[distro+" "+name] = true
			}
		}
	}
	for name, sums := range hashes {
		for sum, met := range sums {
			if !met {
				t.Errorf("no distribution has %s with %s", name, sum)
			}
		}
	}
	for name, want := range md5 {
		if got := schema.MD5(parse(t, "noetic", name)); got != want {
			t.Errorf("%s has md5sum %s, want %s", name, got, want)
		}
	}
	for _, distro := range builtin.Distros()[1:7] {
		for _, name := range builtin.Names(distro) {
			if pkg, _, _ := strings.Cut(name, "/"); packages[pkg] && !proved[distro+" "+name] {
				t.Errorf("%s of %s is not proved", name, distro)
			}
		}
	}
}

func prove(m *schema.Message, distro string, proved map[string]bool) {
	proved[distro+" "+m.Name] = true
	for _, f := range m.Fields {
		if f.Type.Message != nil {
			prove(f.Type.Message, distro, proved)
		}
	}
}

// twin is the md5sum that a message of ROS 2 has in ROS 1's spelling, with ROS 1's types in its fields.
func twin(t *testing.T, distro, name string) string {
	text, _ := builtin.Lookup(distro, name)
	text = strings.NewReplacer("builtin_interfaces/Time ", "time ", "builtin_interfaces/Duration ", "duration ").
		Replace(text)
	m, err := rosmsg.Parse(strings.Replace(name, "/msg/", "/", 1), []byte(text), rosmsg.ROS1,
		func(n string) (string, bool) { return builtin.Lookup("noetic", n) })
	if err != nil {
		t.Fatalf("%s of %s as a message of ROS 1: %v", name, distro, err)
	}
	return schema.MD5(m)
}
