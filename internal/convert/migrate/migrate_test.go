package migrate_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/convert/migrate"
	"github.com/bagconv/bagconv/internal/convert/transcode"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema"
)

func parse(t testing.TB, name, text string) *schema.Message {
	t.Helper()
	m, err := rosmsg.Parse(name, []byte(text), rosmsg.ROS2, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func compile(src, dst *schema.Message, rules *migrate.Rules) (*transcode.Plan, error) {
	return transcode.Compile(src, dst, transcode.Options{From: serial.CDR, To: serial.CDR, Migrate: true, Rule: rules.For})
}

const good = `version: 1
types:
  - from: p/Drive
    to: q/msg/Drive
    fields:
      kmh: {from: speed, scale: 3.6}
      mode: {values: {1: 0x10, 2: -1}}
    drop: [note]
    lossy: [mode]
`

// TestParse: what is wrong in a file is refused, with its line.
func TestParse(t *testing.T) {
	if _, err := migrate.Parse("r.yaml", []byte(good)); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"":           "it is empty",
		"version: 2": `line 1: the rules cannot be used: version "2" is not supported`,
		"version: 1\ntypes:\n  - {from: p/A, colour: red}": `line 3: the rules cannot be used: unknown key "colour"; there are`,
		"types:\n  - {to: p/A}": "line 2: the rules cannot be used: " +
			"from is missing",
		"types:\n  - {from: p/A, to: \"\"}": "line 2: the rules cannot be used: " +
			"to is empty",
		"types:\n  - {from: p/A, open: [a, b]}": "decide what becomes of a, b",
		"types:\n  - {from: p/A}\n  - {from: p/msg/A, to: q/B}": "line 3: the rules cannot be used: " +
			"line 2 has a rule for the same messages of p/msg/A",
		"types:\n  - {from: p/A, fields: {x: {from: y, default: 1}}}":                 "not both",
		"types:\n  - {from: p/A, fields: {x: {scale: much}}}":                         `"much" is not a number`,
		"types:\n  - {from: p/A, fields: {x: {values: {a: 1}}}}":                      `"a" is not an integer`,
		"types:\n  - {from: p/A, from: p/B}":                                          `"from" is here twice`,
		"types: 3":                                                                    "there must be a list here",
		"types:\n  - {from: p/A, drop: [[a]]}":                                        "there must be a single value here",
		"types:\n  - {from: p/A, fields: 3}":                                          "there must be keys with values here",
		"types:\n  - {from: p/A}\n  - {from: p/A, md5: 1}\n  - {from: p/A, md5: '1'}": "line 4",
	} {
		_, err := migrate.Parse("r.yaml", []byte(text))
		if !errors.Is(err, migrate.ErrRules) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %s", text, err, want)
		}
	}
}

// TestCheck: rules are compared with both definitions.
func TestCheck(t *testing.T) {
	src := parse(t, "p/msg/Drive", "float32 speed\nuint8 mode\nstring note\n")
	dst := parse(t, "q/msg/Drive", "float64 kmh\nint8 mode\n")
	rules := func(text string) *migrate.Rules {
		r, err := migrate.Parse("r.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := rules(good)
	if err := r.Check(src, dst); err != nil {
		t.Fatal(err)
	}
	plan, err := compile(src, dst, r)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Accept(src, plan); err == nil || !strings.Contains(err.Error(), "kmh") {
		t.Errorf("a scaled number may not fit, and lossy does not name it: %v", err)
	}
	if err := rules(strings.Replace(good, "lossy: [mode]", "lossy: [mode, kmh]", 1)).Accept(src, plan); err != nil {
		t.Error(err)
	}
	for change, want := range map[[2]string]string{
		{"from: speed", "from: velocity"}: "line 6: the rules cannot be used: p/msg/Drive has no field velocity",
		{"kmh:", "mph:"}:                  "line 6: the rules cannot be used: q/msg/Drive has no field mph",
		{"drop: [note]", "drop: [notes]"}: "p/msg/Drive has no field notes, which drop names",
		{"drop: [note]", "drop: [speed]"}: "speed is dropped, and becomes another field",
		{"lossy: [mode]", "lossy: [m]"}:   "q/msg/Drive has no field m, which lossy names",
	} {
		err := rules(strings.Replace(good, change[0], change[1], 1)).Check(src, dst)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %s", change, err, want)
		}
	}
	for _, change := range [][2]string{{"drop: [note]", "drop: []"}, {"lossy: [mode]", "lossy: [kmh]"}} {
		r := rules(strings.Replace(good, change[0], change[1], 1))
		if plan, err := compile(src, dst, r); err != nil || r.Accept(src, plan) == nil {
			t.Errorf("%s: more is lost than the rule names: %v", change[1], err)
		}
	}
}

// TestLossyInList: numbers within a list can be named under lossy, as a draft asks for it.
func TestLossyInList(t *testing.T) {
	const text = "p/Item[] items\n================================================================================\nMSG: p/Item\n"
	src, dst := parse(t, "p/msg/A", text+"uint32 count\n"), parse(t, "p/msg/A", text+"uint8 count\n")
	r, err := migrate.Parse("r.yaml", []byte("types:\n  - {from: p/A, lossy: [items.count]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	plan, err := compile(src, dst, r)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Check(src, dst); err != nil {
		t.Error(err)
	}
	if err := r.Accept(src, plan); err != nil {
		t.Error(err)
	}
	if draft := migrate.Draft([]migrate.Change{{Source: src, Target: dst, Plan: plan}}); !strings.Contains(draft,
		"- items.count #") {
		t.Error(draft)
	}
}

// TestVersions: the rule for the very version of a type goes before others.
func TestVersions(t *testing.T) {
	first, second := parse(t, "p/msg/A", "uint8 a\n"), parse(t, "p/msg/A", "uint8 b\n")
	r, err := migrate.Parse("r.yaml", []byte("types:\n  - {from: p/A, to: p/B}\n  - from: p/A\n    md5: "+
		schema.MD5(first)+"\n    definition: |\n      uint8 b\n"))
	if err != nil {
		t.Fatal(err)
	}
	if m, err := r.Between(first, rosmsg.ROS2, nil); err != nil || !schema.Equal(m, second) {
		t.Error(m, err)
	}
	if m, err := r.Between(second, rosmsg.ROS2, nil); m != nil || err != nil {
		t.Error(m, err)
	}
	if got := r.Name(second); got != "p/msg/B" {
		t.Error(got)
	}
	var none *migrate.Rules
	if none.Name(first) != "p/msg/A" || none.For(first, second) != nil || none.Check(first, second) != nil {
		t.Error("no rules at all")
	}
}

// TestDraft: a draft is read again, and refused as long as something is open.
func TestDraft(t *testing.T) {
	src := parse(t, "p/msg/A", "float32 speed\nuint32 count\nstring label\n")
	dst := parse(t, "p/msg/A", "float32 velocity\nuint8 count\nstring<=3 label\n")
	plan, err := compile(src, dst, nil)
	if err != nil {
		t.Fatal(err)
	}
	same := parse(t, "p/msg/B", "uint8 x\n")
	text := migrate.Draft([]migrate.Change{
		{Topics: []string{"/a", "/odd \n name"}, Source: src, Target: dst, Plan: plan},
		{Topics: []string{"/b"}, Source: same, Others: []string{"q/msg/B"}},
		{Topics: []string{"/c"}, Source: same, Target: same},
	})
	for _, want := range []string{"- speed # it is not in the new type; new ones of its type: velocity",
		"- count # its new type", "- label # its new type", "# new, written as zero: velocity",
		`to: ""`, "# the same name in other packages: q/msg/B", "the bytes of messages stay"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if _, err := migrate.Parse("d.yaml", []byte(text)); !errors.Is(err, migrate.ErrRules) || !strings.Contains(err.Error(),
		"decide what becomes of speed, count, label") {
		t.Errorf("%v\n%s", err, text)
	}
	decided := "types:\n  - from: p/A\n    fields: {velocity: {from: speed}}\n    lossy: [count, label]\n"
	r, err := migrate.Parse("d.yaml", []byte(decided))
	if err != nil {
		t.Fatal(err)
	}
	if plan, err = compile(src, dst, r); err != nil {
		t.Fatal(err)
	}
	if err := r.Accept(src, plan); err != nil {
		t.Error(err)
	}
	if text := migrate.Draft(nil); !strings.Contains(text, "types: []") {
		t.Error(text)
	} else if _, err := migrate.Parse("d.yaml", []byte(text)); err != nil {
		t.Error(err)
	}
}

// FuzzRules: any text is read or refused, and any rules are compared with types without a panic.
func FuzzRules(f *testing.F) {
	f.Add(good)
	f.Add("types:\n  - from: p/Drive\n    hash: RIHS01_00\n    definition: |\n      uint8 a\n")
	f.Add("types:\n  - {from: p/Drive, fields: {a.b: {from: mode, offset: 1}, note: {default: x}}, drop: [note.x]}\n")
	src := parse(f, "p/msg/Drive", "float32 speed\nuint8 mode\nstring note\n")
	dst := parse(f, "p/msg/Drive", "float64 kmh\nint8 mode\nstring<=2 note\nuint8[] list\n")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := migrate.Parse("r.yaml", []byte(text))
		if err != nil {
			if !errors.Is(err, migrate.ErrRules) {
				t.Fatal(err)
			}
			return
		}
		if _, err := r.Between(src, rosmsg.ROS2, func(string) (string, bool) { return "", false }); err != nil &&
			!errors.Is(err, migrate.ErrRules) {
			t.Fatal(err)
		}
		_ = r.Name(src)
		checked := r.Check(src, dst)
		plan, err := compile(src, dst, r)
		if err != nil || checked != nil {
			return
		}
		_ = r.Accept(src, plan)
		if _, err := plan.Append(nil, []byte{0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 'a', 'b', 0}); err != nil {
			t.Fatal(err)
		}
	})
}

// TestOneAndMany: a draft asks about a value that is a list now, and rules let it become one.
func TestOneAndMany(t *testing.T) {
	src, dst := parse(t, "p/msg/A", "uint8 x\nuint8[] y\nuint8[3] z\nuint8 w\n"), parse(t, "p/msg/A",
		"uint8[] x\nuint8 y\nuint8[2] z\nstring w\n")
	plan, err := compile(src, dst, nil)
	if err != nil {
		t.Fatal(err)
	}
	draft := migrate.Draft([]migrate.Change{{Source: src, Target: dst, Plan: plan}})
	for _, want := range []string{
		"- x # it is a uint8[] now; a rule x: {from: x} makes a value a list of one",
		"- y # it is a uint8 now; a rule y: {from: y}",
		"- z # its new type has room for less; add it to lossy", "- w # it is a string now\n",
	} {
		if !strings.Contains(draft, want) {
			t.Errorf("%s\nis without %q", draft, want)
		}
	}
	const text = "types:\n  - from: p/A\n    fields: {x: {from: x}, y: {from: y}}\n    drop: [w]\n    lossy: [z, y]\n"
	for rules, want := range map[string]string{text: "", strings.Replace(text, "z, y", "y",
		1): "not all values fit into z: ", strings.Replace(text, "z, y", "z", 1): "not all values fit into y: "} {
		r, err := migrate.Parse("r.yaml", []byte(rules))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Check(src, dst); err != nil {
			t.Fatal(err)
		}
		if plan, err = compile(src, dst, r); err != nil {
			t.Fatal(err)
		}
		if err := r.Accept(src, plan); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %q", err, want)
		}
	}
}
