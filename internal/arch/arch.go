// Package arch has the rules of which package may import which, as drawn in
// docs/architecture.md; its test applies them to the whole module.
package arch

import (
	"fmt"
	"slices"
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
	{"cmd/bagconv/cli", []string{"cmd/bagconv/cli/...", "convert", "internal/convert/apollo", "internal/convert/batch",
		"internal/convert/catalogue",
		"convert/check", "internal/convert/extras", "internal/convert/mapping", "internal/convert/migrate",
		"internal/convert/multi", "internal/convert/recipe", "internal/convert/recording", "internal/convert/render",
		"internal/convert/selection", "internal/convert/tasks", "internal/convert/text", "internal/convert/where",
		"convert/verify",
		"export", "internal/export/lerobot", "gen", "internal/ingest", "internal/ingest/lerobot", "live/...",
		"internal/live/...", "storage", "schema", "schema/builtin", "internal/schema/defset", "internal/schema/facts",
		"internal/schema/tree",
		"internal/guard", "internal/identify", "internal/iox", "internal/nearest", "internal/ordered", "internal/remote",
		"internal/report/...", "internal/stdio", "internal/through", "internal/yaml"}},
	{"cmd/bagconv/cli/phrase", []string{"internal/iox"}},
	{"cmd/bagconv/cli/flags", []string{"cmd/bagconv/cli/phrase", "internal/nearest"}},
	{"cmd/bagconv/cli/help", []string{"cmd/bagconv/cli/flags", "cmd/bagconv/cli/phrase"}},
	{"cmd/bagconv/cli/complete", []string{"cmd/bagconv/cli/flags", "cmd/bagconv/cli/phrase"}},
	{"formats/all", []string{"formats/...", "storage", "urls"}},
	{"formats/internal/chunked", []string{"storage", "internal/compress", "internal/iox", "internal/timeorder",
		"internal/warnings"}},
	{"formats/internal/ros2bag", []string{"storage", "formats/internal/chunked", "internal/compress", "internal/inplace",
		"internal/iox", "internal/ordered", "internal/warnings", "internal/yaml"}},
	{"formats/rosbag1", []string{"storage", "internal/...", "formats/internal/...", "formats/rosbag1/internal/..."}},
	{"formats/...", []string{"storage", "internal/...", "proto/...", "formats/internal/..."}},
	{"convert", []string{"storage", "internal/schema/defset", "internal/schema/protoschema", "internal/convert/recording",
		"internal/convert/edit", "internal/convert/extras", "internal/convert/mapping", "internal/convert/multi",
		"internal/convert/selection", "internal/convert/apollo",
		"internal/guard", "internal/identify", "internal/iox", "proto/apollo"}},
	{"internal/convert/recording", []string{"storage", "internal/schema/defset", "internal/convert/edit",
		"internal/convert/mapping",
		"internal/convert/selection", "internal/convert/where", "internal/iox", "internal/ordered",
		"internal/through"}},
	{"internal/testing/...", []string{"storage", "schema", "internal/...", "internal/convert/recording",
		"internal/live/ros1/wire", "internal/schema/rosmsg"}},
	{"internal/convert/transcode", []string{"schema", "internal/nearest", "internal/schema/facts",
		"internal/schema/serial", "internal/schema/literal", "internal/schema/measure", "internal/schema/numbers",
		"internal/schema/protoschema", "internal/schema/jsonschema", "internal/wire/..."}},
	{"internal/convert/apollo", []string{"schema", "internal/schema/serial", "internal/schema/numbers", "proto/...",
		"internal/convert/transcode", "internal/wire/..."}},
	{"internal/convert/fit", []string{"schema", "internal/message", "internal/wire/..."}},
	{"internal/convert/foxglove", []string{"schema", "internal/schema/serial", "internal/schema/numbers",
		"internal/message", "internal/convert/transcode", "internal/wire/..."}},
	{"convert/verify", []string{"convert", "internal/convert/recording", "internal/convert/extras",
		"internal/convert/mapping", "internal/convert/selection", "internal/convert/content", "internal/convert/apollo",
		"internal/identify", "internal/nearest", "schema/...", "internal/schema/...", "storage"}},
	{"internal/convert/extras", []string{"storage", "internal/iox"}},
	{"internal/convert/content", []string{"schema", "internal/schema/facts", "internal/schema/serial",
		"internal/schema/literal", "internal/schema/measure", "internal/schema/numbers", "internal/schema/jsonschema",
		"internal/message", "internal/wire/..."}},
	{"internal/convert/migrate", []string{"schema/...", "internal/schema/...", "internal/convert/transcode",
		"internal/yaml"}},
	{"internal/convert/mapping", []string{"storage", "schema/...", "internal/schema/...", "internal/convert/transcode",
		"internal/convert/migrate", "internal/convert/apollo", "internal/convert/fit", "internal/convert/foxglove",
		"internal/message", "internal/wire/...", "proto/..."}},
	{"internal/convert/batch", []string{"storage", "internal/iox"}},
	{"internal/convert/catalogue", []string{"storage", "internal/convert/batch", "internal/convert/recording",
		"internal/export/columns", "internal/export/tables", "internal/export/track", "internal/export/view",
		"internal/ingest/parquet", "internal/iox", "internal/ordered", "internal/sqlite"}},
	{"internal/report", []string{"storage", "convert/check", "internal/convert/contract", "internal/convert/recording",
		"internal/convert/selection", "internal/convert/mapping", "internal/message", "internal/export/cloud",
		"internal/export/picture", "internal/export/track", "internal/export/view"}},
	{"internal/report/page", []string{"internal/report"}},
	{"internal/convert/recipe", nil},
	{"internal/convert/tasks", []string{"storage", "internal/convert/batch", "internal/convert/content",
		"internal/convert/recipe", "internal/iox"}},
	{"internal/convert/render", []string{"internal/convert/transcode", "schema", "internal/message", "internal/frames"}},
	{"internal/convert/text", []string{"storage", "internal/message", "internal/frames", "internal/nearest",
		"internal/convert/mapping", "internal/convert/recording", "internal/convert/render", "internal/convert/selection"}},
	{"convert/values", []string{"storage", "schema", "internal/schema/defset", "internal/message",
		"internal/convert/mapping", "internal/convert/recording", "internal/convert/selection", "internal/wire/..."}},
	{"internal/convert/selection", []string{"storage", "schema", "internal/schema/facts", "internal/schema/serial",
		"schema/builtin", "internal/schema/rosmsg", "internal/convert/multi", "internal/convert/where", "internal/message",
		"internal/nearest", "proto/apollo", "internal/wire/..."}},
	{"internal/convert/multi", []string{"storage", "schema", "schema/builtin", "internal/schema/rosmsg",
		"internal/wire/..."}},
	{"internal/convert/edit", []string{"schema", "internal/convert/transcode", "internal/convert/where",
		"internal/message", "internal/wire/..."}},
	{"internal/convert/where", []string{"schema", "internal/schema/literal", "internal/schema/numbers",
		"internal/message", "internal/nearest"}},
	{"internal/convert/contract", []string{"internal/convert/selection", "internal/yaml"}},
	{"convert/check", []string{"internal/convert/contract", "internal/convert/recording", "internal/convert/apollo",
		"internal/convert/mapping", "internal/convert/transcode", "internal/convert/selection", "internal/message",
		"internal/nearest", "schema", "internal/schema/defset", "internal/schema/protoschema", "storage"}},
	{"export", []string{"storage", "schema", "internal/message", "internal/export/...", "internal/convert/mapping",
		"internal/convert/extras", "internal/iox"}},
	{"internal/export/lerobot", []string{"storage", "internal/message", "internal/export/align", "internal/export/columns",
		"internal/export/mp4", "internal/export/picture", "internal/export/tables", "internal/export/view",
		"internal/ingest/parquet", "internal/iox", "internal/yaml"}},
	{"internal/export/align", nil},
	{"internal/export/view", []string{"storage", "schema", "internal/schema/numbers", "internal/message",
		"internal/convert/mapping", "internal/export/cloud", "internal/export/mp4", "internal/export/picture"}},
	{"internal/ingest", []string{"storage", "schema/...", "internal/schema/...", "internal/convert/mapping",
		"internal/ingest/...", "internal/frames", "internal/nearest", "internal/iox", "internal/wire/..."}},
	{"internal/ingest/parquet", []string{"storage", "internal/ingest/build", "internal/compress"}},
	{"internal/ingest/lerobot", []string{"storage", "internal/convert/mapping", "internal/export/mp4",
		"internal/export/picture", "internal/ingest/parquet", "internal/iox"}},
	{"internal/ingest/build", []string{"storage", "schema", "internal/schema/jsonschema", "internal/message",
		"internal/wire/..."}},
	{"internal/export/columns", []string{"schema", "internal/message", "internal/wire/..."}},
	{"internal/export/tables", []string{"internal/export/columns", "internal/convert/render", "schema",
		"internal/compress"}},
	{"internal/export/cloud", []string{"storage"}},
	{"internal/export/track", []string{"storage"}},
	{"internal/message", []string{"schema", "internal/schema/serial", "internal/schema/numbers", "internal/wire/..."}},
	{"internal/live/intake", []string{"storage"}},
	{"live", []string{"storage", "internal/live/intake"}},
	{"internal/live/virtual", []string{"convert", "internal/convert/recording", "storage", "internal/iox"}},
	{"live/ros1", []string{"live/...", "internal/live/...", "storage", "internal/outward"}},
	{"live/...", []string{"live/...", "internal/live/...", "storage"}},
	{"internal/live/...", []string{"live/...", "internal/live/...", "storage"}},
	{"internal/export/picture", []string{"storage"}},
	{"internal/export/mp4", []string{"storage"}},
	{"gen", []string{"schema", "internal/schema/measure"}},
	{"schema", nil},
	{"internal/schema/defset", []string{"storage", "schema", "internal/schema/facts", "internal/schema/protoschema",
		"internal/schema/tree", "internal/schema/protosource", "internal/schema/rosmsg", "schema/rosidl", "internal/iox"}},
	{"internal/schema/tree", []string{"schema", "internal/schema/protoschema", "internal/wire/ros"}},
	{"internal/schema/jsonschema", []string{"schema", "internal/schema/names"}},
	{"internal/schema/protoschema", []string{"schema", "internal/schema/names", "proto/..."}},
	{"schema/rosmsg", []string{"schema", "internal/schema/rosmsg"}},
	{"internal/schema/rosmsg", []string{"schema", "internal/schema/facts"}},
	{"schema/rosidl", []string{"schema", "internal/schema/literal", "internal/schema/names"}},
	{"schema/...", []string{"schema", "proto/..."}},
	{"internal/schema/...", []string{"schema", "proto/..."}},
	{"storage", nil},
	{"storage/files", []string{"storage", "internal/iox"}},
	{"internal/stdio", []string{"storage", "internal/iox"}},
	{"internal/through", []string{"internal/frames"}},
	{"storage/storagetest", []string{"storage", "internal/testing/faultio", "internal/iox", "internal/testing/samples"}},
	{"internal/sqlite", []string{"storage", "internal/iox"}},
	{"internal/wire/xtypes", []string{"schema", "internal/schema/literal", "internal/wire/ros"}},
	{"urls", []string{"storage", "internal/iox", "internal/remote"}},
	{"internal/...", []string{"storage", "internal/..."}},
	{"proto/...", []string{"proto/..."}},
	{"scripts/...", []string{"formats/...", "schema/...", "internal/schema/...", "proto/...", "storage", "convert/...",
		"internal/...", "internal/convert/..."}},
}

// floors are the floors of the upper half, from the ground. A package stands on the floor of the longest pattern that
// matches it, and imports packages of floors below its own. Packages of one pattern may import each other, and so may
// the public half of a pattern and its half below internal/.
var floors = [][]string{
	{"storage"},
	{"internal/...", "proto/..."},
	{"schema/...", "internal/schema/..."},
	{"internal/wire/xtypes", "gen", "storage/files", "internal/live/intake"},
	{"internal/message"},
	{"internal/convert/transcode", "internal/convert/content", "internal/convert/render", "internal/convert/fit",
		"internal/convert/where", "internal/convert/extras", "internal/convert/multi", "internal/convert/batch",
		"internal/convert/recipe", "internal/export/align", "internal/export/columns", "internal/export/cloud",
		"internal/export/track", "internal/export/mp4", "internal/export/picture", "internal/ingest/build", "live",
		"internal/live/access"},
	{"internal/convert/apollo", "internal/convert/edit", "internal/convert/foxglove", "internal/convert/migrate",
		"internal/convert/selection",
		"internal/convert/tasks", "internal/export/tables", "internal/ingest/parquet", "internal/live/ros1/...",
		"live/ros1/...", "live/foxglove", "internal/live/serve"},
	{"internal/convert/mapping", "internal/convert/contract"},
	{"internal/convert/recording", "internal/export/view"},
	{"convert", "convert/check", "convert/values", "internal/convert/catalogue", "internal/convert/text", "export",
		"internal/export/lerobot", "internal/ingest", "internal/ingest/lerobot"},
	{"convert/verify", "internal/live/virtual", "internal/report/..."},
	{"cmd/bagconv/cli/phrase"},
	{"cmd/bagconv/cli/flags"},
	{"cmd/bagconv/cli/help", "cmd/bagconv/cli/complete"},
	{"cmd/bagconv/cli"},
	{"cmd/bagconv"},
}

// standsOn returns the floor of a package and the pattern that has it there; -1 for a package without a floor.
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

// upward returns what is wrong with the floors of a package and of its import, "" when nothing is. Formats and
// programs of scripts have floors of their own.
func upward(pkg, imp string) string {
	for _, other := range []string{"formats/...", "scripts/...", "storage/storagetest", "internal/testing/...", "urls"} {
		if match(other, pkg) || match(other, imp) {
			return ""
		}
	}
	from, room := standsOn(pkg)
	to, other := standsOn(imp)
	switch {
	case from < 0 || to < 0:
		return fmt.Sprintf("%s or %s stands on no floor of arch.go", pkg, imp)
	case to < from || strings.TrimPrefix(room, "internal/") == strings.TrimPrefix(other, "internal/") &&
		strings.HasSuffix(room, "/..."):
		return ""
	}
	return fmt.Sprintf("%s of floor %d may not import %s of floor %d", pkg, from, imp, to)
}

// stdOnly are rooms that import nothing from outside the module either.
var stdOnly = []string{"storage", "schema", "internal/wire/ros", "internal/wire/json"}

// forbidden are packages from elsewhere that no room imports, and why.
var forbidden = map[string]string{
	"github.com/apache/arrow-go/v18/parquet/...": "it makes the program 25 MB larger; export/tables writes Parquet",
	"github.com/parquet-go/parquet-go": "of it export/tables uses the encodings and the metadata, which are " +
		"packages of their own",
}

// only are packages from elsewhere that one room alone imports.
var only = map[string]string{"github.com/urfave/cli/v2": "cmd/bagconv/cli/flags", "gopkg.in/yaml.v3": "internal/yaml"}

// check returns what is wrong with pkg importing imp, "" when nothing is.
func check(pkg, imp string) string {
	pkg = strings.TrimPrefix(strings.TrimPrefix(pkg, module), "/")
	if !strings.HasPrefix(imp, module+"/") {
		std := !strings.Contains(strings.SplitN(imp, "/", 2)[0], ".")
		if room := only[imp]; room != "" && room != pkg {
			return fmt.Sprintf("%s may not import %s: %s does", pkg, imp, room)
		}
		for pattern, why := range forbidden {
			if match(pattern, imp) {
				return fmt.Sprintf("%s may not import %s: %s", pkg, imp, why)
			}
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

// upper are the folders of internal/ that belong to the upper half, each to the public package of its name, and what
// only tests use. The pattern internal/... means the tools below these folders, so formats do not import them.
var upper = []string{"convert", "export", "ingest", "live", "message", "schema", "testing"}

func match(pattern, path string) bool {
	base, ok := strings.CutSuffix(pattern, "/...")
	if !ok {
		return pattern == path
	}
	if rest, inside := strings.CutPrefix(path, "internal/"); inside && base == "internal" {
		top, _, _ := strings.Cut(rest, "/")
		return !slices.Contains(upper, top)
	}
	return path == base || strings.HasPrefix(path, base+"/")
}
