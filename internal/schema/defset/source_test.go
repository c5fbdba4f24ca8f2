package defset

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/protoschema"
)

// protoTree is a workspace with .proto files of several roots, by path.
var protoTree = map[string]string{
	"modules/arm/proto/joint.proto": "syntax = \"proto2\";\npackage arm;\nimport " +
		"\"modules/arm/proto/link.proto\";\nimport \"shared.proto\";\nmessage Joint { optional Link link = 1; optional " +
		"shared.S s = 2; }\n",
	"modules/arm/proto/link.proto": "syntax = \"proto2\";\npackage arm;\nmessage Link { optional string name = 1; " +
		"}\n",
	"lib/one/shared.proto": "syntax = \"proto3\";\npackage shared;\nmessage S { int32 one = 1; }\n",
	"lib/two/shared.proto": "syntax = \"proto3\";\npackage shared;\nmessage S { int32 two = 1; }\n",
	"lib/two/user.proto": "syntax = \"proto3\";\npackage user;\nimport \"shared.proto\";\nmessage U { " +
		"shared.S s = 1; }\n",
	"lib/bad.proto":                      "syntax = \"proto3\";\nmessage {}\n",
	"skip/COLCON_IGNORE":                 "",
	"skip/x.proto":                       "message {}\n",
	"3rd/google/protobuf/duration.proto": "nothing of this is read",
}

// TestProto: imports are found from the folder of the importer upwards, then by the end of a path,
// and every problem has its file and line.
func TestProto(t *testing.T) {
	dir := writeTree(t, protoTree)
	for name, place := range map[string]string{"folder": dir, "below": filepath.Join(dir, "modules"),
		"zip": writeZip(t, protoTree), "file": filepath.Join(dir, "modules/arm/proto/joint.proto")} {
		set, err := Read(nil, place)
		if name == "below" || name == "file" {
			before, wrong := Read(nil, filepath.Join(dir, "lib/one"))
			if wrong != nil {
				t.Fatal(wrong)
			}
			if err == nil && set.Descriptor("arm.Joint") != nil {
				t.Errorf("%s: shared.proto was found outside of the place", name)
			}
			set, err = Read(nil, place, before)
		}
		if err != nil {
			t.Fatal(name, err)
		}
		md := set.Descriptor("arm.Joint")
		if md == nil {
			t.Fatalf("%s: %v", name, set.Problems)
		}
		if text := protoschema.ProtoText(md.Fields().ByName("s").Message()); !strings.Contains(text, "one = 1") {
			t.Errorf("%s: the first by path is another:\n%s", name, text)
		}
		if name != "folder" && name != "zip" {
			continue
		}
		if text := protoschema.ProtoText(set.Descriptor("user.U").Fields().ByName("s").Message()); !strings.Contains(text,
			"two = 1") {
			t.Errorf("%s: the file beside is another:\n%s", name, text)
		}
		all := strings.Join(set.Problems, "\n")
		if !strings.HasPrefix(all, "lib/bad.proto:2:9: ") ||
			!strings.Contains(all, "lib/two/shared.proto: shared.S is defined by lib/one/shared.proto already") ||
			len(set.Problems) != 2 {
			t.Errorf("%s: problems:\n%s", name, all)
		}
		files := map[string]string{}
		for _, e := range set.Entries(Rest{}) {
			files[e.Type] = e.File
		}
		if files["arm.Link"] != "modules/arm/proto/link.proto" || files["user.U"] != "lib/two/user.proto" {
			t.Errorf("%s: %v", name, files)
		}
	}
}

// TestProtoPack: a pack has what the .proto files define.
func TestProtoPack(t *testing.T) {
	set, err := Read(nil, writeTree(t, protoTree))
	if err != nil {
		t.Fatal(err)
	}
	path, _ := writePackFile(t, Merge("all", set))
	pack, err := Read(nil, path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range set.Entries(Rest{}) {
		md := pack.Descriptor(e.Type)
		if md == nil || protoschema.ProtoText(md) != protoschema.ProtoText(set.Descriptor(e.Type)) {
			t.Errorf("%s is another in the pack", e.Type)
		}
	}
}
