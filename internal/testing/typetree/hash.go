package typetree

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// MD5 returns the ROS 1 md5sum of a type (ros/genmsg compute_md5_text).
func MD5(m *Message) string {
	var b strings.Builder
	for _, c := range m.Constants {
		fmt.Fprintf(&b, "%s %s=%s\n", c.Kind, c.Name, c.ROS1)
	}
	for i := range m.Fields {
		f := &m.Fields[i]
		if f.Kind == Nested {
			fmt.Fprintf(&b, "%s %s\n", MD5(f.Message), f.Name)
		} else {
			fmt.Fprintf(&b, "%s %s\n", f.word(ROS1), f.Name)
		}
	}
	sum := md5.Sum([]byte(strings.TrimSpace(b.String())))
	return hex.EncodeToString(sum[:])
}

// RIHS01 returns the ROS 2 type hash of a type (REP 2016).
func RIHS01(m *Message) string {
	text := map[string]string{}
	describe(m, text)
	root := text[m.TypeName(ROS2)]
	delete(text, m.TypeName(ROS2))
	var others []string
	for _, name := range slices.Sorted(maps.Keys(text)) {
		others = append(others, text[name])
	}
	line := `{"type_description": ` + root + `, "referenced_type_descriptions": [` + strings.Join(others, ", ") + `]}`
	return fmt.Sprintf("RIHS01_%x", sha256.Sum256([]byte(line)))
}

var typeIDs = map[Kind]int{Nested: 1, Time: 1, Duration: 1, "int8": 2, "uint8": 3, "char": 3, "int16": 4, "uint16": 5,
	"int32":  6,
	"uint32": 7, "int64": 8, "uint64": 9, "float32": 10, "float64": 11, "bool": 15, "byte": 16, String: 17, Wide: 18}

// describe adds the descriptions of m and of all types below it, by name.
func describe(m *Message, text map[string]string) {
	if text[m.TypeName(ROS2)] != "" {
		return
	}
	fields := []Field{{Name: "structure_needs_at_least_one_member", Kind: "uint8"}}
	if in := m.in(ROS2); len(in) > 0 {
		fields = nil
		for _, i := range in {
			fields = append(fields, m.Fields[i])
		}
	}
	var parts []string
	for _, f := range fields {
		id, capacity, nested := typeIDs[f.Kind], 0, ""
		if f.Bound > 0 {
			id += 4
		}
		switch f.Array {
		case Fixed:
			id, capacity = id+48, f.Len
		case Bounded:
			id, capacity = id+96, f.Len
		case List:
			id += 144
		}
		switch f.Kind {
		case Nested:
			nested = f.Message.TypeName(ROS2)
			describe(f.Message, text)
		case Time, Duration:
			t := &Message{Package: "builtin_interfaces", Name: strings.ToUpper(string(f.Kind[:1])) + string(f.Kind[1:]),
				Fields: []Field{{Name: "sec", Kind: "int32"}, {Name: "nanosec", Kind: "uint32"}}}
			nested = t.TypeName(ROS2)
			describe(t, text)
		}
		parts = append(parts,
			fmt.Sprintf(`{"name": %q, "type": {"type_id": %d, "capacity": %d, "string_capacity": %d, "nested_type_name": %q}}`,
				f.Name, id, capacity, f.Bound, nested))
	}
	text[m.TypeName(ROS2)] = fmt.Sprintf(`{"type_name": %q, "fields": [%s]}`, m.TypeName(ROS2), strings.Join(parts, ", "))
}
