package protosource

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/protoschema"
)

// compile compiles files by path; an import means the file of that name.
func compile(files map[string]string) (sets [][]byte, problems []error) {
	byPath := map[string]*File{}
	var list []*File
	for name, text := range files {
		byPath[name] = &File{Path: name, Text: text}
		list = append(list, byPath[name])
	}
	slices.SortFunc(list, func(a, b *File) int { return strings.Compare(a.Path, b.Path) })
	return Compile(list, func(_ *File, name string) *File { return byPath[name] })
}

// TestSyntaxes: the three syntaxes, with imports of each other and of the standard files.
func TestSyntaxes(t *testing.T) {
	sets, problems := compile(map[string]string{
		"a/two.proto": "syntax = \"proto2\";\npackage a;\nimport \"three.proto\";\nmessage Two { required int32 x = 1 " +
			"[default = -7]; optional b.Three t = 2; optional group G = 3 { optional bool on = 1; } extensions 100 to max; }\n",
		"three.proto": "syntax = \"proto3\";\npackage b;\nimport public \"google/protobuf/timestamp.proto\";\nmessage " +
			"Three { google.protobuf.Timestamp at = 1; map<string, double> m = 2; oneof o { bytes b = 3; sint64 s = 4; } " +
			"optional float f = 5; }\n",
		"edition.proto": "edition = \"2023\";\npackage c;\nimport \"a/two.proto\";\noption features.field_presence = " +
			"IMPLICIT;\nmessage Ed { repeated int32 r = 1 [features.repeated_field_encoding = EXPANDED]; a.Two two = 2; enum " +
			"E { Z = 0; } E e = 3; }\n",
		"none.proto": "message Bare { optional string s = 1; }\n",
	})
	if len(problems) > 0 || len(sets) != 1 {
		t.Fatalf("%d sets: %v", len(sets), problems)
	}
	set, err := protoschema.Parse(sets[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a.Two": "default = -7", "b.Three": "google.protobuf.Timestamp at = 1",
		"c.Ed": "a.Two two = 2", "Bare": "string s = 1"} {
		md, err := set.Message(name)
		if err != nil || !strings.Contains(protoschema.ProtoText(md), want) {
			t.Errorf("%s: %v\n%s", name, err, protoschema.ProtoText(md))
		}
	}
	if md, _ := set.Message("c.Ed"); md.Fields().ByName("r").IsPacked() || md.Fields().ByName("e").HasPresence() {
		t.Error("the features of the edition are lost")
	}
}

// TestErrors: what is wrong with a file has its line, and leaves the others alone.
func TestErrors(t *testing.T) {
	deep := map[string]string{"good.proto": "message Good {}"}
	for i := range maxDepth + 5 {
		deep[fmt.Sprintf("d%03d.proto", i)] = fmt.Sprintf("import \"d%03d.proto\";", i+1)
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"syntax": {map[string]string{"x.proto": "syntax = \"proto3\";\nmessage A {\n  int32 = 1;\n}\n"},
			[]string{"x.proto:3:"}},
		"type": {map[string]string{"x.proto": "message A {\n  optional Other o = 1;\n}\n"},
			[]string{"x.proto:2:", "Other"}},
		"number": {map[string]string{"x.proto": "message A {\n  optional int32 a = 1;\n  optional int32 b = 1;\n}\n"},
			[]string{"x.proto:3:"}},
		"missing": {map[string]string{"x.proto": "\nimport \"y.proto\";\n"},
			[]string{"x.proto:2: import \"y.proto\": no place has that file"}},
		"broken": {map[string]string{"x.proto": "import \"y.proto\";\n", "y.proto": "?"},
			[]string{"x.proto:1: import \"y.proto\": y.proto has an error", "y.proto:1:"}},
		"circle": {map[string]string{"x.proto": "import \"y.proto\";\n", "y.proto": "\n\nimport \"x.proto\";"},
			[]string{"y.proto:3: import \"x.proto\": the files import each other"}},
		"itself": {map[string]string{"x.proto": "import \"x.proto\";\n"},
			[]string{"x.proto:1: import \"x.proto\": the files import each other"}},
		"outside": {map[string]string{"x.proto": "import \"../y.proto\";\n", "../y.proto": ""},
			[]string{"x.proto:1: \"../y.proto\" is not the name"}},
		"edition": {map[string]string{"x.proto": "edition = \"1999\";\n"}, []string{"x.proto:1:", "1999"}},
		"far":     {deep, []string{"imports are more than 100 deep"}},
		"braces": {map[string]string{"x.proto": "\noption (a) = " + strings.Repeat("{ b ", 200)},
			[]string{"x.proto:2: braces are more than 100 deep"}},
		"messages": {map[string]string{"x.proto": strings.Repeat("message A { ", 60) + strings.Repeat("}", 60)},
			[]string{"x.proto:1:", "nesting"}},
		"names": {map[string]string{"x.proto": strings.Repeat("message "+strings.Repeat("a", 250)+" {\n", 20) +
			strings.Repeat("message A {}\n", 20_000) + strings.Repeat("}", 20)}, []string{"out of proportion"}},
		"word": {map[string]string{"x.proto": "\nmessage " + strings.Repeat("a", 257) + " {}"},
			[]string{"x.proto:2: a name of more than 256 bytes"}},
		"large": {map[string]string{"x.proto": strings.Repeat("//\n", 500_000)}, []string{"x.proto: over 1 MiB"}},
	} {
		c.files["good.proto"] = "message Good {}"
		sets, problems := compile(c.files)
		all := fmt.Sprint(problems)
		for _, want := range c.want {
			if !strings.Contains(all, want) {
				t.Errorf("%s: no %q in %.500s", name, want, all)
			}
		}
		if len(sets) != 1 || len(all) > 60_000 {
			t.Errorf("%s: %d sets, %d problems", name, len(sets), len(problems))
			continue
		}
		if set, err := protoschema.Parse(sets[0]); err != nil || len(set.Messages()) != 1 {
			t.Errorf("%s: the sound file: %v", name, err)
		}
	}
}

// TestTwins: files that define the same names do not hide each other's other names.
func TestTwins(t *testing.T) {
	sets, problems := compile(map[string]string{
		"a.proto": "message T { optional int32 a = 1; }\nmessage A { optional T t = 1; }\n",
		"b.proto": "message T { optional string b = 1; }\nmessage B { optional T t = 1; }\n",
		"c.proto": "import \"b.proto\";\nmessage C { optional B b = 1; }\n",
		"e.proto": "enum E { T = 0; }\nmessage D {}\n",
	})
	if len(problems) > 0 || len(sets) != 4 {
		t.Fatalf("%d sets: %v", len(sets), problems)
	}
	for i, want := range []string{"A T", "B T", "B C T", "D"} {
		set, err := protoschema.Parse(sets[i])
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, md := range set.Messages() {
			names = append(names, string(md.FullName()))
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("set %d has %s", i, got)
		}
	}
}

// FuzzCompile: no text makes the compiler panic or take memory out of proportion, and what it
// makes is read.
func FuzzCompile(f *testing.F) {
	f.Add("syntax = \"proto3\"; package p; import \"other.proto\"; message A { repeated p.B b = 1; map<int32, string> m " +
		"= 2; reserved 5 to 9; }")
	f.Add("edition = \"2023\"; option features.enum_type = CLOSED; enum E { A = 1; } message M { E e = 1 [default = A]; }")
	f.Add("import \"google/protobuf/descriptor.proto\"; extend google.protobuf.MessageOptions { optional M o = 50000; } " +
		"message M { option (o) = { x: 1 }; optional int32 x = 1; }")
	f.Add("message A { optional group G = 1 { } extensions 4 to max; } extend A { optional string s = 5; } service S { " +
		"rpc R (A) returns (stream A); }")
	f.Add("syntax = \"proto2\"; message A { optional double d = 1 [default = nan, deprecated = true]; oneof o { bytes b " +
		"= 2; } } /* \" */ // '")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<16 {
			return
		}
		other := &File{"other.proto", "package p; message B { optional A a = 1; message A {} }"}
		sets, _ := Compile([]*File{{"x.proto", text}}, func(_ *File, name string) *File {
			if path.Base(name) == "other.proto" {
				return other
			}
			return nil
		})
		for _, data := range sets {
			set, err := protoschema.Parse(data)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			for _, md := range set.Messages() {
				_ = protoschema.ProtoText(md)
			}
		}
	})
}
