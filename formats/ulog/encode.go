package ulog

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
)

// cdrHead begins a message in CDR: little endian, version 1.
var cdrHead = []byte{0, 1, 0, 0}

// An encoder appends values in CDR.
type encoder struct {
	b    []byte
	base int // where values begin: alignment counts from there
}

// begin begins a message at the end of b.
func (e *encoder) begin() {
	e.b = append(e.b, cdrHead...)
	e.base = len(e.b)
}

// align fills up to a multiple of n, a power of two.
func (e *encoder) align(n int) {
	for (len(e.b)-e.base)&(n-1) != 0 {
		e.b = append(e.b, 0)
	}
}

func (e *encoder) uint8(v uint8) { e.b = append(e.b, v) }

func (e *encoder) uint32(v uint32) {
	e.align(4)
	e.b = binary.LittleEndian.AppendUint32(e.b, v)
}

func (e *encoder) uint64(v uint64) {
	e.align(8)
	e.b = binary.LittleEndian.AppendUint64(e.b, v)
}

func (e *encoder) string(s string) {
	e.uint32(uint32(len(s) + 1))
	e.b = append(append(e.b, s...), 0)
}

// stamp appends a builtin_interfaces/Time.
func (e *encoder) stamp(ns int64) {
	e.uint32(uint32(ns / 1e9))
	e.uint32(uint32(ns % 1e9))
}

// structure appends a packed struct, and returns what follows it in src, of which the padding at the end may be
// missing.
func (e *encoder) structure(s *structure, src []byte) []byte {
	if s.text == "" { // as ROS 2 writes a type without fields
		e.uint8(0)
		return src[min(s.size, len(src)):]
	}
	for i := range s.fields {
		f := &s.fields[i]
		n := f.size * f.count
		switch {
		case f.padding:
			src = src[min(n, len(src)):]
		case f.nested != nil:
			for range f.count {
				src = e.structure(f.nested, src)
			}
		default:
			e.align(f.size)
			e.b = append(e.b, src[:n]...)
			src = src[n:]
		}
	}
	return src
}

// Definitions of what is not described by the file, with all that they need.
const (
	timeText = separator + "MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"

	logText = "uint8 DEBUG=10\nuint8 INFO=20\nuint8 WARN=30\nuint8 ERROR=40\nuint8 FATAL=50\n" +
		"builtin_interfaces/Time stamp\nuint8 level\nstring name\nstring msg\nstring file\nstring function\nuint32 line\n" +
		timeText

	parameterText = "builtin_interfaces/Time stamp\nstring node\nParameter[] new_parameters\nParameter[] " +
		"changed_parameters\n" +
		"Parameter[] deleted_parameters\n" + timeText +
		separator + "MSG: rcl_interfaces/Parameter\nstring name\nParameterValue value\n" +
		separator + "MSG: rcl_interfaces/ParameterValue\nuint8 type\nbool bool_value\nint64 integer_value\nfloat64 " +
		"double_value\n" +
		"string string_value\nbyte[] byte_array_value\nbool[] bool_array_value\nint64[] integer_array_value\n" +
		"float64[] double_array_value\nstring[] string_array_value\n"
)

// levels are the severities of a rcl_interfaces/msg/Log, and names, for '0' to '7'.
var levels = []struct {
	severity uint8
	name     string
}{{50, "emergency"}, {50, "alert"}, {50, "critical"}, {40, "error"}, {30, "warning"}, {20, "notice"}, {20, "info"},
	{10, "debug"}}

// log appends a rcl_interfaces/msg/Log. The name of the level is the function: several levels have one severity.
func (e *encoder) log(m *message, ns int64) {
	severity, level := uint8(0), fmt.Sprintf("level %d", m.body[0])
	if i := int(m.body[0]) - '0'; i >= 0 && i < len(levels) {
		severity, level = levels[i].severity, levels[i].name
	}
	name, text := "px4", m.body[min(textHead, len(m.body)):]
	if m.op == opTagged {
		name, text = fmt.Sprintf("px4.%d", binary.LittleEndian.Uint16(m.body[1:])), m.body[taggedHead:]
	}
	e.begin()
	e.stamp(ns)
	e.uint8(severity)
	e.string(name)
	e.string(string(text))
	e.string("")
	e.string(level)
	e.uint32(0)
}

// Types of a rcl_interfaces/msg/ParameterValue.
const (
	parameterInteger = 2
	parameterDouble  = 3
)

// parameter appends a rcl_interfaces/msg/ParameterEvent with one parameter, which is changed or new.
func (e *encoder) parameter(kv *keyValue, node string, ns int64, changed bool) {
	integer, float, isFloat, _ := kv.parameter()
	e.begin()
	e.stamp(ns)
	e.string(node)
	if changed {
		e.uint32(0)
	}
	e.uint32(1)
	e.string(kv.name)
	if isFloat {
		e.uint8(parameterDouble)
	} else {
		e.uint8(parameterInteger)
	}
	e.uint8(0)
	e.uint64(uint64(integer))
	e.uint64(math.Float64bits(float64(float)))
	e.string("")
	for range 5 { // arrays
		e.uint32(0)
	}
	if !changed {
		e.uint32(0)
	}
	e.uint32(0)
}

// parameterNode is the node of a parameter.
const parameterNode = "/px4"

// defaultNode returns the node of a default: which defaults it belongs to.
func defaultNode(bits byte) string {
	var list []string
	for i := range 8 {
		switch bit := bits >> i & 1; {
		case bit == 0:
		case i == 0:
			list = append(list, "system")
		case i == 1:
			list = append(list, "configuration")
		default:
			list = append(list, fmt.Sprintf("kind%d", i))
		}
	}
	return parameterNode + "/" + strings.Join(list, "_")
}
