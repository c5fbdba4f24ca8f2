package protosource

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	_ "github.com/bagconv/bagconv/proto/apollo"
	_ "github.com/bagconv/bagconv/proto/cyber"
)

// TestProtoc: the files of proto/ become the descriptors that protoc made of them, which are in the
// Go code beside them.
func TestProtoc(t *testing.T) {
	files := map[string]string{}
	for _, root := range []string{"../../../proto/apollo", "../../../proto/cyber"} {
		err := filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error {
			if err != nil || filepath.Ext(name) != ".proto" {
				return err
			}
			text, err := os.ReadFile(name)
			rel, wrong := filepath.Rel(root, name)
			files[filepath.ToSlash(rel)] = string(text)
			if err == nil {
				err = wrong
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	sets, problems := compile(files)
	if len(sets) != 1 || len(problems) > 0 || len(files) < 10 {
		t.Fatalf("%d sets of %d files: %v", len(sets), len(files), problems)
	}
	set := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(sets[0], set); err != nil {
		t.Fatal(err)
	}
	for _, f := range set.File {
		want, err := protoregistry.GlobalFiles.FindFileByPath(f.GetName())
		if err != nil {
			t.Error(err)
			continue
		}
		if !proto.Equal(f, protodesc.ToFileDescriptorProto(want)) {
			t.Errorf("%s differs:\n%v\n%v", f.GetName(), f, protodesc.ToFileDescriptorProto(want))
		}
		delete(files, f.GetName())
	}
	if len(files) > 0 {
		t.Errorf("not made: %v", slices.Collect(maps.Keys(files)))
	}
}
