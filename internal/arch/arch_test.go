package arch

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// TestArrows compares every import of the module with the arrows. Tests may
// import what they judge with, so only the test files of the contract and of the
// formats are held to them as well.
func TestArrows(t *testing.T) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", module+"/...")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(out)
	packages := 0
	for {
		var p struct {
			ImportPath                         string
			Imports, TestImports, XTestImports []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(p.ImportPath, "/internal/tmp") {
			continue
		}
		packages++
		for _, imp := range p.Imports {
			if wrong := check(p.ImportPath, imp); wrong != "" {
				t.Error(wrong)
			}
		}
		if strings.HasPrefix(p.ImportPath, module+"/formats/") {
			for _, imp := range append(p.TestImports, p.XTestImports...) {
				if sibling(strings.TrimPrefix(p.ImportPath, module+"/"), strings.TrimPrefix(imp, module+"/")) &&
					imp != p.ImportPath {
					t.Errorf("test of %s may not import %s", p.ImportPath, imp)
				}
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if packages < 10 {
		t.Errorf("only %d packages were looked at", packages)
	}
}

// TestFloors: an arrow up, or along a floor, is found, whatever the table of arrows allows.
func TestFloors(t *testing.T) {
	for _, c := range []struct {
		pkg, imp string
		ok       bool
	}{
		{"internal/convert/recording", "internal/convert/mapping", true},
		{"internal/convert/mapping", "internal/convert/recording", false},
		{"convert/check", "convert", false},
		{"convert/verify", "convert", true},
		{"internal/message", "internal/wire/xtypes", true},
		{"internal/iox", "internal/wire/xtypes", false},
		{"internal/schema/defset", "internal/schema/rosmsg", true},
		{"formats/mcap", "storage", true},
		{"convert/new", "storage", false},
		{"internal/convert/new", "storage", false},
	} {
		if got := upward(c.pkg, c.imp); (got == "") != c.ok {
			t.Errorf("%s importing %s: %q", c.pkg, c.imp, got)
		}
	}
}

// TestRule: the rule itself, on imports that must and must not be.
func TestRule(t *testing.T) {
	for _, c := range []struct {
		pkg, imp string
		ok       bool
	}{
		{"formats/rosbag1", module + "/storage", true},
		{"formats/rosbag1", module + "/internal/iox", true},
		{"formats/rosbag1", module + "/formats/rosbag1/internal/oldbag", true},
		{"formats/rosbag2", module + "/formats/rosbag1/internal/oldbag", false},
		{"formats/rosbag1", module + "/formats/rosbag2", false},
		{"formats/rosbag1", module + "/convert", false},
		{"formats/rosbag1", module + "/schema", false},
		{"formats/rosbag1", module + "/internal/message", false},
		{"formats/rosbag1", module + "/internal/schema/tree", false},
		{"internal/iox", module + "/internal/convert/extras", false},
		{"storage/storagetest", module + "/internal/convert/recording", false},
		{"formats/all", module + "/formats/rosbag1", true},
		{"cmd/bagconv/cli", module + "/formats/rosbag1", false},
		{"cmd/bagconv/cli", module + "/internal/convert/mapping", true},
		{"cmd/bagconv/cli", module + "/internal/convert/transcode", false},
		{"cmd/bagconv/cli", module + "/internal/message", false},
		{"cmd/bagconv/cli", module + "/schema/rosmsg", false},
		{"cmd/bagconv", module + "/convert", false},
		{"storage", "gopkg.in/yaml.v3", false},
		{"storage", "context", true},
		{"storage", module + "/internal/iox", false},
		{"schema", module + "/schema/rosmsg", false},
		{"internal/schema/rosmsg", module + "/schema", true},
		{"internal/convert/transcode", module + "/storage", false},
		{"formats/rosbag2", module + "/formats/internal/ros2bag", true},
		{"formats/internal/ros2bag", module + "/internal/sqlite", false},
		{"formats/internal/ros2bag", module + "/formats/rosbag2", false},
		{"convert", module + "/formats/internal/ros2bag", false},
		{"internal/sqlite", module + "/internal/sqlitefile", false},
		{"convert", module + "/internal/convert/recording", true},
		{"convert", module + "/convert/verify", false},
		{"internal/convert/recording", module + "/convert", false},
		{"internal/convert/recording", module + "/internal/convert/extras", false},
		{"convert/check", module + "/convert", false},
		{"convert", "gopkg.in/yaml.v3", false},
		{"internal/yaml", "gopkg.in/yaml.v3", true},
		{"convert", "google.golang.org/protobuf/proto", true},
		{"internal/export/tables", "github.com/apache/arrow-go/v18/arrow/ipc", true},
		{"internal/export/tables", "github.com/apache/arrow-go/v18/parquet/pqarrow", false},
		{"internal/export/tables", "github.com/parquet-go/parquet-go/format", true},
		{"internal/export/tables", "github.com/parquet-go/parquet-go", false},
		{"somewhere/else", module + "/storage", false},
	} {
		if got := check(module+"/"+c.pkg, c.imp); (got == "") != c.ok {
			t.Errorf("%s importing %s: %q", c.pkg, c.imp, got)
		}
	}
}
