package cli

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/convert/recipe"
	"github.com/bagconv/bagconv/internal/convert/tasks"
	"github.com/bagconv/bagconv/internal/iox"
)

// examples are values of flags whose kind does not tell one.
var examples = map[string][]string{
	"topic": {"/imu", "re:/a.*"}, "exclude-topic": {"/x"}, "type": {"sensor_msgs/*"}, "exclude-type": {"a/B"},
	"where": {"/imu.x > 2", "/gps.a == 1"}, "within": {"1.5s"}, "start": {"1.5"}, "end": {"-2s"}, "duration": {"1m"},
	"remap": {"/a:=/b", "/c:=/d"}, "prefix": {"/robot"}, "throttle": {"/imu=2"}, "every": {"/gps=3"}, "offset": {"-1h"},
	"set": {"/imu.x = 2", `/gps.a = "b c"`}, "drop-field": {"/cam.data"}, "frame": {"a:=b", "r/*:=*"}, "drop-tf": {"odom base"},
	"static":     {"base cam 1 2 3 0 0 0 1"},
	"latch":      {"none"},
	"chunk-size": {"4M"}, "segment-size": {"2G"}, "segment-duration": {"60s"}, "encrypt": {"key:@FILES/key"},
	"qos": {"/a:reliable,depth=3", "/b:FILES/qos.yaml"}, "custom-data": {"a=b"},
	"attach": {"FILES/note.txt"}, "extras": {"FILES/extras"}, "defs": {"FILES/odd/msg/Odd.msg"},
	"rules": {"FILES/rules.yaml"}, "map": {"FILES/map.yaml"},
	"columns": {"header.stamp,x"}, "explode": {"transforms"}, "chain": {"map:odom"}, "resample": {"10Hz"},
	"join": {"/imu"}, "max-gap": {"1s"},
}

// exampleOf returns values of a flag, with files in a folder.
func exampleOf(f *flags.Flag, dir string) (texts []string) {
	switch {
	case examples[f.Name] != nil:
		for _, text := range examples[f.Name] {
			if before, name, ok := cutLast(text, "FILES/"); ok {
				text = before + filepath.Join(dir, name)
			}
			texts = append(texts, text)
		}
	case f.Name == "types-to":
		texts = []string{"humble"}
	case f.Kind == flags.OnOff:
		texts = []string{"true"}
	case f.Kind == flags.Number:
		texts = []string{"3"}
	case len(f.Values) > 0:
		texts = []string{f.Values[len(f.Values)-1].Value}
	}
	return texts
}

// companions are flags without which others have no effect.
var companions = map[string]string{"within": "where", "while": "where"}

// TestRecipe: each flag of plan is in a recipe or in none of its parts, comes back from a line of JSON as it was, and
// changes the hash if it changes the output. Where the files lie does not.
func TestRecipe(t *testing.T) {
	fill := func(dir string) {
		for name, text := range map[string]string{"key": "00112233445566778899aabbccddeeff",
			"qos.yaml": "reliability: reliable\n", "note.txt": "a note", "odd/msg/Odd.msg": "int32 x\n",
			"rules.yaml": "types: {}\n", "map.yaml": "fps: 1"} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	here, there := t.TempDir(), t.TempDir()
	fill(here)
	fill(there)
	sink := all.Registry().Lookup("mcap")
	// made returns the recipe of a line of plan with one flag, and the texts of all flags after it was followed.
	made := func(name, dir string) (r *recipe.Recipe, asked, got map[string][]string) {
		t.Helper()
		e := freshEnv()
		e.command = flags.Named(e.commands(), "plan")
		asked = map[string][]string{}
		for _, name := range []string{name, companions[name]} {
			if f := e.command.Flag(name); f != nil {
				if f.Texts = exampleOf(f, dir); f.Texts == nil {
					t.Fatalf("--%s has no example here", name)
				}
				asked[name] = f.Texts
			}
		}
		if err := e.applyFlags(t.Context(), nil); err != nil {
			t.Fatalf("--%s: %v", name, err)
		}
		r = e.recipe(sink)
		var read recipe.Recipe
		if err := json.Unmarshal(tasks.Line(r), &read); err != nil {
			t.Fatal(err)
		}
		next, got := freshEnv(), map[string][]string{}
		if err := next.follow(t.Context(), "plan", &read); err != nil {
			t.Fatalf("--%s: %v", name, err)
		}
		for _, f := range next.command.Flags {
			if f.Texts != nil {
				got[f.Name] = f.Texts
			}
		}
		if again := next.recipe(sink); again.Hash() != r.Hash() || string(tasks.Line(again)) != string(tasks.Line(r)) {
			t.Errorf("--%s: %s became %s", name, tasks.Line(r), tasks.Line(again))
		}
		return r, asked, got
	}
	empty, _, _ := made("", here)
	e, seen := freshEnv(), map[part]int{}
	for _, f := range flags.Named(e.commands(), "plan").Flags {
		seen[partOf(f)]++
		if partOf(f) == inNothing || f.Name == "rules" { // which --types-to goes with
			continue
		}
		r, asked, got := made(f.Name, here)
		if !maps.EqualFunc(got, asked, slices.Equal) {
			t.Errorf("%v became %v", asked, got)
		}
		if changed := r.Hash() != empty.Hash(); changed != (partOf(f) == inSettings) {
			t.Errorf("--%s changes the hash: %v", f.Name, changed)
		}
		if other, _, _ := made(f.Name, there); other.Hash() != r.Hash() {
			t.Errorf("--%s: other hashes: %s and %s", f.Name, tasks.Line(r), tasks.Line(other))
		}
	}
	if seen[inSettings] < 30 || seen[inRun] != 5 || seen[inNothing] < 10 {
		t.Errorf("%v", seen)
	}
}

// freshEnv returns an env without a line.
func freshEnv() *env {
	e := &env{formats: withExports(all.Registry()), meter: &iox.Meter{}}
	e.useFiles(iox.OS)
	return e
}
