package defset

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/bagconv/bagconv/internal/schema/facts"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema"
)

// A pack is a zip archive of definitions, one file for each type as a workspace has it, and an
// index for people and programs. Read takes it as any other archive; of the index it uses
// "recorded" alone.
//
//	bagconv-definitions.json      index
//	robot_msgs/msg/Status.msg
//	robot_msgs/srv/Start.srv
//	descriptors/00001-0123456789abcdef.desc   protobuf descriptors
//	versions/2/robot_msgs/msg/Status.msg      of another place that has another definition of it,
//	versions/2/robot_msgs/msg/Mode.msg        and all others of that place
//
// The same definitions make the same bytes: entries are in order of names, and have one time.

// PackIndex is the name of the index in a pack.
const PackIndex = "bagconv-definitions.json"

// An Entry is what the index of a pack has about a type.
type Entry struct {
	Type   string `json:"type"`   // pkg/msg/Type
	Kind   string `json:"kind"`   // "msg", "srv", "action", "idl", or "desc": a protobuf message
	File   string `json:"file"`   // in the pack, or within the place
	MD5    string `json:"md5"`    // of ROS 1, 32 hex digits; "" of services, actions and what ROS 1 does not have
	RIHS01 string `json:"rihs01"` // the type hash of ROS 2; "" of services and actions
	Layout string `json:"layout"` // facts.Layout of the ROS 2 type, 32 hex digits; "" of services and actions
	Error  string `json:"error"`  // why sums are missing; "" if nothing is wrong
}

type packIndex struct {
	SchemaVersion int     `json:"schema_version"`
	Recorded      bool    `json:"recorded"`
	Definitions   []Entry `json:"definitions"`
}

// Rest are functions that return the text of types that a Set does not have, by the names of each
// dialect; they may be nil.
type Rest struct{ ROS1, ROS2 func(string) (string, bool) }

func (s *Set) entry(d *Definition, rest Rest) Entry {
	e := Entry{Type: d.Name, Kind: d.Kind, File: d.Path}
	if d.Kind != "msg" && d.Kind != "idl" {
		return e
	}
	msg, err := s.Message(d.Name, rosmsg.ROS2, rest.ROS2)
	if err == nil {
		e.RIHS01, _ = schema.RIHS01(msg) // some kinds of IDL have no hash
		e.Layout = facts.Layout(msg)
	} else {
		e.Error = err.Error()
	}
	if d.Kind == "msg" {
		if msg, err := s.Message(facts.ShortName(d.Name), rosmsg.ROS1, rest.ROS1); err == nil {
			e.MD5 = schema.MD5(msg)
			e.Error = ""
		}
	}
	return e
}

// WritePack writes the definitions as a pack. Definitions that no file can have are left out:
// problems has a line for each.
func (s *Set) WritePack(w io.Writer, rest Rest) (written int, problems []string, err error) {
	index := packIndex{SchemaVersion: 1, Recorded: s.Recorded, Definitions: []Entry{}}
	var texts []string
	for i, set := range s.All() {
		folder := versionFolder(i + 1)
		for _, d := range set.Definitions() {
			text := strings.ToValidUTF8(d.Text, "?")
			switch {
			case !isPlainName(d.Name):
				problems = append(problems, fmt.Sprintf("%s: %q is not the name of a type", d.Path, d.Name))
				continue
			case len(text) > maxFile:
				problems = append(problems, fmt.Sprintf("%s: the definition of %s has over %d MiB", d.Path, d.Name, maxFile>>20))
				continue
			}
			e := set.entry(d, rest)
			e.File = folder + d.Name + "." + d.Kind
			index.Definitions = append(index.Definitions, e)
			texts = append(texts, text)
		}
	}
	n := len(texts)
	names := map[*descriptors]string{}
	var chains []*descriptors
	for i, set := range s.All() {
		for k, d := range set.descriptors {
			names[d] = versionFolder(i+1) + d.name(k)
			chains = append(chains, d)
		}
		index.Definitions = append(index.Definitions,
			set.protoEntries(func(d *descriptors, _ protoreflect.MessageDescriptor) string { return names[d] })...)
	}
	z := zip.NewWriter(w)
	doc, err := json.MarshalIndent(index, "", "  ")
	if err == nil {
		err = addEntry(z, PackIndex, string(doc)+"\n")
	}
	for i := 0; err == nil && i < n; i++ {
		err = addEntry(z, index.Definitions[i].File, texts[i])
	}
	for _, d := range chains {
		if err == nil {
			err = addEntry(z, names[d], string(d.data))
		}
	}
	if err != nil {
		return 0, problems, err
	}
	return len(index.Definitions), problems, z.Close()
}

// packTime is the time of all entries, the first that an archive can have.
var packTime = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

func addEntry(z *zip.Writer, name, text string) error {
	f, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: packTime})
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	return err
}

// isPlainName reports whether a name has three parts of letters, digits and underscores.
func isPlainName(name string) bool {
	parts := strings.Split(name, "/")
	for _, p := range parts {
		if p == "" || strings.Trim(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
			return false
		}
	}
	return len(parts) == 3
}
