package rosmsg

import (
	"fmt"
	"strings"

	"github.com/bagconv/bagconv/schema"
)

// Services and actions: recordings have topics of the messages that rosidl
// derives from them, and the .srv or .action text (rosidl_parser definition.py):
//
//	X_Request, X_Response          the parts of X.srv, which "---" divides
//	X_Event                        ServiceEventInfo info; X_Request[<=1] request; X_Response[<=1] response
//	X_Goal, X_Result, X_Feedback   the parts of X.action
//	X_SendGoal_*, X_GetResult_*    services made of them; X_FeedbackMessage
const (
	uuid  = "unique_identifier_msgs/msg/UUID"
	stamp = "builtin_interfaces/msg/Time"
	event = "service_msgs/msg/ServiceEventInfo"
)

// serviceName completes the name of a SRV: or ACTION: block.
func serviceName(name, kind string) string {
	space := map[string]string{"SRV:": "/srv/", "ACTION:": "/action/"}[kind]
	if pkg, short, ok := strings.Cut(name, "/"); ok && !strings.Contains(short, "/") {
		return pkg + space + short
	}
	return name
}

// adoptService moves .srv or .action text that stands under the name of a message
// derived from it to the name under which derived looks for it.
func adoptService(root string, texts map[string]string) {
	base, part := serviceOf(root)
	if part == "" || len(divide(texts[root])) == 1 {
		return
	}
	if _, ok := texts[base]; !ok {
		texts[base] = texts[root]
	}
	delete(texts, root)
}

// serviceOf returns the service or action that a message is derived from, and
// the part that it is.
func serviceOf(name string) (base, part string) {
	i := strings.LastIndexByte(name, '/')
	if i < 0 || !strings.Contains(name, "/srv/") && !strings.Contains(name, "/action/") {
		return name, ""
	}
	parts := []string{"_Request", "_Response", "_Event"}
	if strings.Contains(name, "/action/") {
		parts = []string{"_SendGoal_Request", "_SendGoal_Response", "_SendGoal_Event", "_GetResult_Request",
			"_GetResult_Response",
			"_GetResult_Event", "_FeedbackMessage", "_Goal", "_Result", "_Feedback"}
	}
	for _, s := range parts {
		if base, ok := strings.CutSuffix(name, s); ok {
			return base, s[1:]
		}
	}
	return name, ""
}

// partsOf returns what the names of the parts of a service or action begin with if they are written
// with two parts: pkg/X_ for pkg/srv/X.
func partsOf(base string) string {
	return base[:strings.IndexByte(base, '/')] + base[strings.LastIndexByte(base, '/'):] + "_"
}

// ServiceOf returns the service or action that a message belongs to, by its name; other names are
// returned as they are.
func ServiceOf(name string) string {
	base, _ := serviceOf(name)
	return base
}

// derived makes a message of a service or action; nil if name is not such a name, or its text is
// not there.
func (p *parser) derived(name string, depth int) (*schema.Message, error) {
	base, part := serviceOf(name)
	if part == "" || depth > maxDepth {
		return nil, nil
	}
	switch part {
	case "Event":
		return p.compose(name, depth, "info", event, "request[<=1]", base+"_Request", "response[<=1]", base+"_Response")
	case "SendGoal_Event", "GetResult_Event":
		service := strings.TrimSuffix(name, "_Event")
		return p.compose(name, depth, "info", event, "request[<=1]", service+"_Request", "response[<=1]", service+"_Response")
	case "SendGoal_Request":
		return p.compose(name, depth, "goal_id", uuid, "goal", base+"_Goal")
	case "SendGoal_Response":
		return p.compose(name, depth, "accepted", "bool", "stamp", stamp)
	case "GetResult_Request":
		return p.compose(name, depth, "goal_id", uuid)
	case "GetResult_Response":
		return p.compose(name, depth, "status", "int8", "result", base+"_Result")
	case "FeedbackMessage":
		return p.compose(name, depth, "goal_id", uuid, "feedback", base+"_Feedback")
	}
	text, ok := p.texts[base]
	if !ok && p.lookup != nil {
		text, ok = p.lookup(base)
	}
	if !ok {
		return nil, nil
	}
	sections := divide(text)
	at, ok := map[string]int{"Request": 0, "Response": 1}[part]
	want := 2
	if !ok {
		at, want = map[string]int{"Goal": 0, "Result": 1, "Feedback": 2}[part], 3
	}
	if len(sections) != want {
		return nil, &Error{Type: base, What: fmt.Sprintf("its text has %d parts, %d are needed for %s", len(sections), want,
			part)}
	}
	p.texts[name] = sections[at] + "\n"
	return p.message(name, base, depth)
}

// IsService reports whether a definition is the text of a service or an action.
func IsService(text []byte) bool { return len(divide(string(text))) > 1 }

// divide cuts .srv or .action text at its lines of three dashes.
func divide(text string) []string {
	parts := []string{""}
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "---" {
			parts = append(parts, "")
			continue
		}
		parts[len(parts)-1] += line
	}
	return parts
}

// compose makes a message of pairs of field and type.
func (p *parser) compose(name string, depth int, pairs ...string) (*schema.Message, error) {
	m := &schema.Message{Name: name}
	for i := 0; i < len(pairs); i += 2 {
		field, bounded := strings.CutSuffix(pairs[i], "[<=1]")
		t := schema.Type{Kind: schema.Struct}
		if kind, ok := p.kind(pairs[i+1]); ok {
			t.Kind = kind
		} else {
			sub, err := p.message(pairs[i+1], name, depth+1)
			if err != nil {
				return nil, err
			}
			t.Message = sub
		}
		if bounded {
			t.Array, t.Len = schema.Bounded, 1
		}
		m.Fields = append(m.Fields, schema.Field{Name: field, Type: t})
	}
	return m, p.finish(m)
}
