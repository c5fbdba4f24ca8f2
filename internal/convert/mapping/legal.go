package mapping

import (
	"strings"

	"github.com/bagconv/bagconv/internal/schema/names"
	"github.com/bagconv/bagconv/schema"
)

// illegalNames lists the names in a ROS 2 type, and in the types that it uses, that ROS 2
// does not allow (ros2/rosidl rosidl_adapter parser.py): ROS 1 allows more.
func illegalNames(m *schema.Message) (illegal []string) {
	for _, m := range append([]*schema.Message{m}, schema.Dependencies(m)...) {
		pkg, short := m.Name, ""
		if i := strings.LastIndexByte(m.Name, '/'); i >= 0 {
			pkg, _, _ = strings.Cut(m.Name, "/")
			short = m.Name[i+1:]
		}
		if !legalField(pkg) || short != "" && !legalType(short) {
			illegal = append(illegal, m.Name)
		}
		for _, c := range m.Constants {
			if !legalConstant(c.Name) {
				illegal = append(illegal, m.Name+"."+c.Name)
			}
		}
		for _, f := range m.Fields {
			if !legalField(f.Name) || names.Reserved(f.Name) {
				illegal = append(illegal, m.Name+"."+f.Name)
			}
		}
	}
	return illegal
}

// legalField reports whether a field or package may have a name: lower case with single
// underscores between its words, a letter first.
func legalField(s string) bool {
	return s != "" && s[0] >= 'a' && s[0] <= 'z' && only(s, "abcdefghijklmnopqrstuvwxyz0123456789_") &&
		!strings.Contains(s, "__") && !strings.HasSuffix(s, "_")
}

// legalType reports whether a type may have a name: letters and digits, a capital first. Types
// that belong to a service or action have an underscore before their last part.
func legalType(s string) bool {
	parts := strings.Split(s, "_")
	for _, part := range parts {
		if part == "" || part[0] < 'A' || part[0] > 'Z' ||
			!only(strings.ToLower(part), "abcdefghijklmnopqrstuvwxyz0123456789") {
			return false
		}
	}
	return len(parts) == 1 || serviceParts[parts[len(parts)-1]]
}

// serviceParts are the messages that rosidl makes of services and actions.
var serviceParts = map[string]bool{"Request": true, "Response": true, "Event": true, "Goal": true, "Result": true,
	"Feedback": true, "FeedbackMessage": true}

// legalConstant reports whether a constant may have a name: capitals with single underscores
// between its words.
func legalConstant(s string) bool { return legalField(strings.ToLower(s)) && strings.ToUpper(s) == s }

func only(s, set string) bool { return strings.Trim(s, set) == "" }
