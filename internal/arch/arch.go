// Package arch has the rules of which package may import which, as drawn in
// docs/architecture.md; its test applies them to the whole module.
package arch

import (
	"fmt"
	"strings"
)

// module is the import path of the module.
const module = "github.com/bagconv/bagconv"

// An arrow lists what a room may import of the module. Patterns end in "/..."
// for a folder with all below it.
type arrow struct {
	room string
	may  []string
}

// arrows are tried in order; the first whose room matches counts. The standard
// library is always allowed; packages from elsewhere are, but for stdOnly and only.
var arrows = []arrow{
	{"cmd/bagconv", []string{"cmd/bagconv/cli", "formats/all"}},
	{"cmd/bagconv/cli", []string{"convert/...", "gen", "live/...", "storage", "schema/...", "proto/...", "internal/..."}},
	{"formats/all", []string{"formats/...", "storage"}},
	{"formats/internal/chunked", []string{"storage", "internal/compress", "internal/iox", "internal/timeorder", "internal/warnings"}},
	{"formats/internal/ros2bag", []string{"storage", "internal/compress", "internal/inplace", "internal/iox", "internal/ordered", "internal/warnings", "internal/yaml"}},
	{"formats/rosbag1", []string{"storage", "internal/...", "formats/internal/...", "formats/rosbag1/internal/..."}},
	{"formats/...", []string{"storage", "internal/...", "proto/...", "formats/internal/..."}},
	{"convert", []string{"storage", "schema/defset", "schema/protoschema", "convert/recording", "convert/extras", "convert/mapping", "convert/selection", "convert/apollo", "internal/guard", "internal/iox", "proto/apollo"}},
	{"convert/recording", []string{"storage", "schema/defset", "convert/mapping", "convert/selection", "internal/iox", "internal/ordered"}},
	{"convert/internal/fake", []string{"storage", "convert/recording"}},
	{"convert/transcode", []string{"schema", "schema/protoschema", "schema/jsonschema", "internal/wire/..."}},
	{"convert/apollo", []string{"schema", "proto/...", "convert/transcode", "internal/wire/..."}},
	{"convert/fit", []string{"schema", "message", "internal/wire/..."}},
	{"convert/foxglove", []string{"schema", "message", "convert/transcode", "internal/wire/..."}},
	{"convert/verify", []string{"convert", "convert/recording", "convert/extras", "convert/mapping", "convert/selection", "convert/content", "convert/apollo", "schema/...", "storage"}},
	{"convert/extras", []string{"storage", "internal/iox"}},
	{"convert/content", []string{"schema", "schema/jsonschema", "message", "internal/wire/..."}},
	{"convert/migrate", []string{"schema/...", "convert/transcode", "internal/yaml"}},
	{"convert/mapping", []string{"storage", "schema/...", "convert/transcode", "convert/migrate", "convert/apollo", "convert/fit", "convert/foxglove", "message", "internal/wire/...", "proto/..."}},
	{"convert/batch", []string{"storage", "internal/iox"}},
	{"convert/recipe", nil},
	{"convert/tasks", []string{"storage", "convert/batch", "convert/recipe", "internal/iox"}},
	{"convert/multi", []string{"storage"}},
	{"convert/render", []string{"convert/transcode", "schema", "message"}},
	{"convert/values", []string{"storage", "schema", "message", "convert/mapping", "internal/wire/..."}},
	{"convert/selection", []string{"storage", "schema", "schema/builtin", "schema/rosmsg", "message", "proto/apollo", "internal/wire/..."}},
	{"convert/check", []string{"convert/recording", "convert/mapping", "convert/transcode", "convert/selection", "internal/yaml", "message", "schema", "schema/defset", "schema/protoschema", "storage"}},
	{"message", []string{"schema", "internal/wire/..."}},
	{"live", []string{"storage"}},
	{"live/virtual", []string{"convert", "internal/iox"}},
	{"live/ros1", []string{"live/...", "storage", "internal/outward"}},
	{"live/...", []string{"live/...", "storage"}},
	{"gen", []string{"schema"}},
	{"schema", nil},
	{"schema/defset", []string{"storage", "schema", "schema/protoschema", "schema/tree", "schema/protosource", "schema/rosmsg", "schema/rosidl", "internal/iox"}},
	{"schema/tree", []string{"schema", "schema/protoschema", "internal/wire/ros"}},
	{"schema/...", []string{"schema", "proto/..."}},
	{"storage", nil},
	{"storage/storagetest", []string{"storage", "internal/faultio", "internal/iox", "internal/samples"}},
	{"internal/sqlite", []string{"storage", "internal/iox"}},
	{"internal/wire/xtypes", []string{"schema", "internal/wire/ros"}},
	{"urls", []string{"storage", "internal/iox", "internal/remote"}},
	{"internal/...", []string{"storage", "internal/..."}},
	{"proto/...", []string{"proto/..."}},
	{"scripts/...", []string{"formats/...", "schema/...", "proto/...", "storage", "convert/...", "internal/..."}},
}

// floors are the floors of the upper half, from the ground. A package stands on the floor of the longest pattern that
// matches it, and imports packages of floors below its own. Those of one pattern may import each other.
var floors = [][]string{
	{"storage"},
	{"internal/...", "proto/..."},
	{"schema/..."},
	{"internal/wire/xtypes", "gen"},
	{"message"},
	{"convert/transcode", "convert/content", "convert/render", "convert/fit", "convert/selection", "convert/extras", "convert/multi", "convert/batch", "convert/recipe", "live", "live/access"},
	{"convert/apollo", "convert/foxglove", "convert/migrate", "convert/tasks", "live/ros1/...", "live/foxglove", "live/serve"},
	{"convert/mapping"},
	{"convert/recording", "convert/values"},
	{"convert", "convert/check", "convert/internal/fake"},
	{"convert/verify", "live/virtual"},
	{"cmd/bagconv/cli"},
	{"cmd/bagconv"},
}

// standsOn returns the floor of a package and the pattern that has it there; -1 for one of no floor.
func standsOn(pkg string) (floor int, pattern string) {
	floor = -1
	for i, rooms := range floors {
		for _, room := range rooms {
			if match(room, pkg) && len(room) > len(pattern) {
				floor, pattern = i, room
			}
		}
	}
	return floor, pattern
}

// upward returns what is wrong with the floors of a package and of what it imports, "" when nothing is. Formats and
// programs of scripts have floors of their own.
func upward(pkg, imp string) string {
	for _, other := range []string{"formats/...", "scripts/...", "storage/storagetest", "gen/gentest", "live/foxglove/foxglovetest", "urls"} {
		if match(other, pkg) || match(other, imp) {
			return ""
		}
	}
	from, room := standsOn(pkg)
	to, other := standsOn(imp)
	switch {
	case from < 0 || to < 0:
		return fmt.Sprintf("%s or %s stands on no floor of arch.go", pkg, imp)
	case to < from || room == other && strings.HasSuffix(room, "/..."):
		return ""
	}
	return fmt.Sprintf("%s of floor %d may not import %s of floor %d", pkg, from, imp, to)
}

// stdOnly are rooms that import nothing from outside the module either.
var stdOnly = []string{"storage", "schema", "internal/wire/ros", "internal/wire/json"}

// only are packages from elsewhere that one room alone imports.
var only = map[string]string{"gopkg.in/yaml.v3": "internal/yaml"}

// check returns what is wrong with pkg importing imp, "" when nothing is.
func check(pkg, imp string) string {
	pkg = strings.TrimPrefix(strings.TrimPrefix(pkg, module), "/")
	if !strings.HasPrefix(imp, module+"/") {
		std := !strings.Contains(strings.SplitN(imp, "/", 2)[0], ".")
		if room := only[imp]; room != "" && room != pkg {
			return fmt.Sprintf("%s may not import %s: %s does", pkg, imp, room)
		}
		for _, room := range stdOnly {
			if room == pkg && !std {
				return fmt.Sprintf("%s may import the standard library only, not %s", pkg, imp)
			}
		}
		return ""
	}
	imp = strings.TrimPrefix(imp, module+"/")
	for _, a := range arrows {
		if !match(a.room, pkg) {
			continue
		}
		for _, m := range a.may {
			if match(m, imp) && !sibling(pkg, imp) {
				return upward(pkg, imp)
			}
		}
		return fmt.Sprintf("%s may not import %s", pkg, imp)
	}
	return fmt.Sprintf("%s is in no room of docs/architecture.md", pkg)
}

// sibling reports whether these are two formats, which may not know each other.
func sibling(pkg, imp string) bool {
	return strings.HasPrefix(pkg, "formats/") && pkg != "formats/all" && strings.HasPrefix(imp, "formats/") &&
		!strings.HasPrefix(imp, "formats/internal/") && !strings.HasPrefix(imp, pkg+"/internal/")
}

func match(pattern, path string) bool {
	if base, ok := strings.CutSuffix(pattern, "/..."); ok {
		return path == base || strings.HasPrefix(path, base+"/")
	}
	return pattern == path
}
