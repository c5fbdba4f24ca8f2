package protoschema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/names"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/proto/apollo"
	"github.com/bagconv/bagconv/schema"
)

func TestFieldNames(t *testing.T) {
	for in, want := range map[string]string{
		"timestamp_sec": "timestamp_sec", "throttle_status__510": "throttle_status_510", "L2Pdataflag": "l2pdataflag",
		"D": "d", "_x_": "x", "1st": "f_1st", "__": "f", "a__b": "a_b", "ümlaut": "mlaut",
	} {
		if got := names.Field(in); got != want {
			t.Errorf("%s becomes %s, not %s", in, got, want)
		}
	}
	for in, want := range map[string]string{"apollo.drivers.gnss": "apollo_drivers_gnss", "": "protobuf", "9x": "p_9x"} {
		if got := packageName(in); got != want {
			t.Errorf("package %s becomes %s, not %s", in, got, want)
		}
	}
	for in, want := range map[[2]string]string{
		{"ErrorCode", "OK"}: "ERROR_CODE_OK", {"GNSSType", "A__b"}: "GNSS_TYPE_A_B", {"E", "x"}: "E_X",
	} {
		if got := names.Constant(in[0], in[1]); got != want {
			t.Errorf("constant %v becomes %s, not %s", in, got, want)
		}
	}
}

// TestGenerated shows a generated type as text.
func TestGenerated(t *testing.T) {
	m, err := NewNamer(true).ROS(apollo.Message("apollo.drivers.gnss.Imu"))
	if err != nil {
		t.Fatal(err)
	}
	got := string(rosmsg.FormatSingle(m, rosmsg.ROS2))
	want := "apollo_common/Header header\nfloat64 measurement_time\nfloat32 measurement_span\n" +
		"apollo_common/Point3D linear_acceleration\napollo_common/Point3D angular_velocity\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if m.Name != "apollo_drivers_gnss/msg/Imu" {
		t.Error(m.Name)
	}
	status := m.Fields[0].Type.Message.Fields[7].Type.Message
	if status.Name != "apollo_common/msg/StatusPb" ||
		status.Constants[1] != (schema.Constant{Kind: schema.Int32, Name: "ERROR_CODE_CONTROL_ERROR", Text: "1000"}) {
		t.Errorf("%+v", status)
	}
	if again, err := rosmsg.Parse(m.Name, rosmsg.Format(m, rosmsg.ROS2), rosmsg.ROS2, nil); err != nil ||
		!schema.Equal(m, again) {
		t.Errorf("the definition does not come back: %v", err)
	}
}

func field(name string, number int32, typ descriptorpb.FieldDescriptorProto_Type,
	of string) *descriptorpb.FieldDescriptorProto {
	f := &descriptorpb.FieldDescriptorProto{Name: &name, Number: &number, Type: &typ,
		Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
	if of != "" {
		f.TypeName = &of
	}
	return f
}

func file(name string, deps []string, messages ...*descriptorpb.DescriptorProto) *descriptorpb.FileDescriptorProto {
	return &descriptorpb.FileDescriptorProto{Name: &name, Package: proto.String("p"), Dependency: deps,
		MessageType: messages}
}

func message(name string, fields ...*descriptorpb.FieldDescriptorProto) *descriptorpb.DescriptorProto {
	return &descriptorpb.DescriptorProto{Name: &name, Field: fields}
}

func set(t testing.TB, files ...*descriptorpb.FileDescriptorProto) *Set {
	t.Helper()
	b, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: files})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestTwinFiles has the old and the new layout of a type in one set.
func TestTwinFiles(t *testing.T) {
	s := set(t, file("old/header.proto", nil, message("Header", field("x", 1, 5, ""))),
		file("new/header.proto", nil, message("Header", field("x", 1, 5, ""))),
		file("user.proto", []string{"new/header.proto"}, message("User", field("header", 1, 11, ".p.Header"))))
	md, err := s.Message("p.User")
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewNamer(false).ROS(md)
	if err != nil || len(m.Fields) != 1 || m.Fields[0].Type.Kind != schema.Struct {
		t.Errorf("%+v %v", m, err)
	}
}

// TestTwoDefinitions has one type name with two definitions in two channels.
func TestTwoDefinitions(t *testing.T) {
	n := NewNamer(true)
	var names []string
	for _, typ := range []descriptorpb.FieldDescriptorProto_Type{5, 9, 5} {
		md, err := set(t, file("h", nil, message("Header", field("x", 1, typ, "")))).Message("p.Header")
		if err != nil {
			t.Fatal(err)
		}
		m, err := n.ROS(md)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, m.Name)
	}
	if got := strings.Join(names, " "); got != "p/msg/Header p/msg/Header2 p/msg/Header" {
		t.Error(got)
	}
}

func TestRecursionAndLacks(t *testing.T) {
	s := set(t, file("f", []string{"lacks.proto"}, message("A", field("b", 1, 11, ".p.B"), field("c", 2, 11, ".p.C"),
		field("gone", 3, 11, ".q.Gone")),
		message("B", field("a", 1, 11, ".p.A")), message("C", field("x", 1, 5, ""))))
	md, err := s.Message("p.A")
	if err != nil {
		t.Fatal(err)
	}
	m, err := NewNamer(false).ROS(md)
	if err != nil {
		t.Fatal(err)
	}
	raw := schema.Type{Kind: schema.Uint8, Array: schema.Unbounded}
	if m.Fields[0].Type != raw || m.Fields[2].Type != raw || m.Fields[1].Type.Message.Name != "p/C" {
		t.Errorf("%+v", m)
	}
}

// TestBombs are descriptors that would take memory or time out of proportion.
func TestBombs(t *testing.T) {
	var wide, deep, exponential []*descriptorpb.DescriptorProto
	for i := range maxTypes + 5 {
		deep = append(deep, message(fmt.Sprintf("M%d", i), field("x", 1, 11, fmt.Sprintf(".p.M%d", min(i+1, maxTypes+4)))))
	}
	root := message("M0")
	for i := range maxTypes + 5 {
		wide = append(wide, message(fmt.Sprintf("W%d", i), field("x", 1, 5, "")))
		root.Field = append(root.Field, field(fmt.Sprintf("f%d", i), int32(i+1), 11, fmt.Sprintf(".p.W%d", i)))
	}
	for i := range 60 {
		next := fmt.Sprintf(".p.M%d", i+1)
		exponential = append(exponential, message(fmt.Sprintf("M%d", i), field("x", 1, 11, next), field("y", 2, 11, next)))
	}
	exponential = append(exponential, message("M60", field("x", 1, 5, "")))
	for name, msgs := range map[string][]*descriptorpb.DescriptorProto{"deep": deep, "wide": append(wide, root),
		"exponential": exponential} {
		md, err := set(t, file("f", nil, msgs...)).Message("p.M0")
		if err != nil {
			t.Fatal(name, err)
		}
		if m, err := NewNamer(false).ROS(md); err == nil {
			t.Errorf("%s: becomes %s", name, m.Name)
		}
	}
	if _, err := Parse(make([]byte, maxSetSize+1)); err == nil {
		t.Error("a set beyond the limit is taken")
	}
}

func TestFileSet(t *testing.T) {
	b, err := FileSet(apollo.Message("apollo.drivers.PointCloud"),
		func(n string) string { return apollo.FileName("legacy", n) })
	if err != nil {
		t.Fatal(err)
	}
	fds := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(b, fds); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range fds.File {
		names = append(names, f.GetName())
	}
	if got := strings.Join(names, " "); got != "modules/common/proto/error_code.proto modules/common/proto/header.proto "+
		"modules/drivers/proto/pointcloud.proto" {
		t.Error(got)
	}
	if _, err := Parse(b); err != nil {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"apollo.drivers.PointCloud", "apollo.localization.LocalizationEstimate"} {
		b, err := FileSet(apollo.Message(name), nil)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	b, _, err := Describe(&schema.Message{Name: "p/T",
		Fields: []schema.Field{{Name: "t", Type: schema.Type{Kind: schema.Time, Array: schema.Unbounded}}}},
		func(*schema.Message) *Origin { return &Origin{"ros1msg", "p/T", "time[] t"} })
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(data)
		if err != nil {
			return
		}
		fds := &descriptorpb.FileDescriptorSet{}
		_ = proto.UnmarshalOptions{AllowPartial: true}.Unmarshal(data, fds)
		for _, file := range fds.File {
			for _, m := range file.MessageType {
				md, err := s.Message(file.GetPackage() + "." + m.GetName())
				if err != nil {
					continue
				}
				Origins(md)
				msg, err := NewNamer(true).ROS(md)
				if err != nil {
					continue
				}
				bound, err := Bind(md, msg)
				if err != nil {
					t.Fatalf("the generated type does not fit: %v", err)
				}
				if len(bound.Alone) > 0 {
					t.Fatalf("the generated type has no place for %v", bound.Alone)
				}
			}
		}
	})
}

// TestProtoText: a message of each shape, as .proto text.
func TestProtoText(t *testing.T) {
	md := apollo.Message("apollo.localization.CorrectedImu")
	text := ProtoText(md)
	for _, want := range []string{
		"// localization_msgs/imu.proto\nsyntax = \"proto2\";\npackage apollo.localization;\nimport " +
			"\"basic_msgs/header.proto\";\nimport \"localization_msgs/pose.proto\";\n\n" +
			"message CorrectedImu {\n  optional apollo.common.Header header = 1;\n  optional apollo.localization.Pose imu = " +
			"3;\n}\n",
		"  optional double x = 1 [default = nan];\n", "  optional apollo.common.ErrorCode error_code = 1 [default = OK];\n",
		"enum ErrorCode {\n  OK = 0;\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "message Gps") || strings.Count(text, "message Point3D") != 1 {
		t.Errorf("types that are not needed, or twice:\n%s", text)
	}
}

// TestCircles: files that import themselves or each other are read, and the same
// files lead to the same types every time, whatever their order.
func TestCircles(t *testing.T) {
	ref := func(name, of string) *descriptorpb.DescriptorProto {
		return message(name, field("x", 1, descriptorpb.FieldDescriptorProto_TYPE_MESSAGE, of))
	}
	self := set(t, file("a.proto", []string{"a.proto", "a.proto"}, ref("A", ".p.B"), message("B")))
	if md, err := self.Message("p.A"); err != nil || md.Fields().Get(0).Message().IsPlaceholder() {
		t.Errorf("a file that imports itself: %v", err)
	}
	a, b := file("a.proto", []string{"b.proto"}, ref("A", ".p.B")), file("b.proto", []string{"a.proto"}, ref("B", ".p.A"))
	circle := set(t, a, b)
	if md, err := circle.Message("p.A"); err != nil || md.Fields().Get(0).Message().IsPlaceholder() {
		t.Errorf("two files that import each other: %v", err)
	}
	// c uses a type of a file that it does not import.
	foreign := file("c.proto", nil, ref("C", ".p.D"))
	other := file("d.proto", nil, message("D"))
	for range 50 {
		for _, s := range []*Set{set(t, foreign, other), set(t, other, foreign)} {
			md, err := s.Message("p.C")
			if err != nil || !md.Fields().Get(0).Message().IsPlaceholder() {
				t.Fatalf("a type of a file that is not imported: %v", err)
			}
		}
	}
}
