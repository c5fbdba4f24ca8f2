package mapping

import (
	"bytes"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/convert/transcode"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/builtin"
	"github.com/bagconv/bagconv/storage"
)

func ros1Topic(t *testing.T, name string) *storage.Topic {
	t.Helper()
	m := newLibrary(nil).ros1(name)
	if m == nil {
		t.Fatalf("no %s", name)
	}
	return &storage.Topic{Name: "/t", Type: name, Encoding: "ros1",
		Schema: storage.Schema{Encoding: "ros1msg", Data: rosmsg.Format(m, rosmsg.ROS1)},
		Metadata: map[string]string{storage.MetaMD5Sum: schema.MD5(m), storage.MetaLatching: "0",
			storage.MetaCallerID: "/node"}}
}

func mapTo(t *testing.T, encoding string, topic *storage.Topic) *Result {
	t.Helper()
	res, err := New(Options{Encoding: encoding, Distro: "humble", SourceDistro: "humble"}).Map(topic)
	if err != nil {
		t.Fatalf("%s to %s: %v", topic.Type, encoding, err)
	}
	if encoding != "protobuf" {
		checkDefinition(t, &res.Topic)
	}
	return res
}

// checkDefinition parses the definition that is written for a topic: it has each
// type once, and the hash that is written with it.
func checkDefinition(t *testing.T, topic *storage.Topic) {
	t.Helper()
	dialect, text := rosmsg.ROS1, string(topic.Schema.Data)
	if topic.Encoding == "cdr" {
		dialect = rosmsg.ROS2
	}
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "MSG: ") && seen[line] {
			t.Errorf("%s: the definition has %q twice", topic.Type, line)
		}
		seen[line] = true
	}
	msg, err := rosmsg.Parse(topic.Type, topic.Schema.Data, dialect, nil)
	if err != nil {
		t.Errorf("the definition of %s: %v", topic.Type, err)
	} else if md5 := topic.Metadata[storage.MetaMD5Sum]; dialect == rosmsg.ROS1 && md5 != schema.MD5(msg) {
		t.Errorf("%s has md5sum %s, its definition %s", topic.Type, md5, schema.MD5(msg))
	} else if hash := topic.Metadata[storage.MetaTypeHash]; dialect == rosmsg.ROS2 && hash != hashOf(msg) {
		t.Errorf("%s has type hash %s, its definition %s", topic.Type, hash, hashOf(msg))
	}
}

// TestThereAndBack: every standard ROS 1 type comes back from ROS 2 with its name,
// md5sum and metadata.
func TestThereAndBack(t *testing.T) {
	for _, name := range builtin.Names(ROS1Distro) {
		topic := ros1Topic(t, name)
		there := mapTo(t, "cdr", topic)
		if !validHash(there.Topic.Metadata[storage.MetaTypeHash]) || !strings.Contains(there.Topic.Type, "/msg/") {
			t.Errorf("%s became %s, %v", name, there.Topic.Type, there.Topic.Metadata)
		}
		back := mapTo(t, "ros1", &there.Topic)
		if back.Topic.Type != name {
			t.Errorf("%s came back as %s", name, back.Topic.Type)
		}
		for k, v := range topic.Metadata {
			if back.Topic.Metadata[k] != v {
				t.Errorf("%s: %s came back as %q, was %q", name, k, back.Topic.Metadata[k], v)
			}
		}
	}
}

// TestSharedParts: a type of its own that has a standard type in it besides others
// which share its parts is written with each part once, and comes back as it was.
func TestSharedParts(t *testing.T) {
	for _, name := range builtin.Names(ROS1Distro) {
		msg, err := rosmsg.Parse("acme/T",
			[]byte("Header a\n"+name+" b\ngeometry_msgs/PoseStamped c\ngeometry_msgs/Point[2] d\ntime e\n"), rosmsg.ROS1,
			lookupIn(ROS1Distro))
		if err != nil {
			t.Fatal(err)
		}
		there := mapTo(t, "cdr", &storage.Topic{Name: "/t", Type: msg.Name, Encoding: "ros1",
			Schema: storage.Schema{Encoding: "ros1msg", Data: rosmsg.Format(msg, rosmsg.ROS1)}})
		back := mapTo(t, "ros1", &there.Topic)
		wrapped := name == "std_msgs/Time" || name == "std_msgs/Duration" // become time and duration
		if got := back.Topic.Metadata[storage.MetaMD5Sum]; got != schema.MD5(msg) && !wrapped &&
			ros1Name(ros2Name(name)) == name {
			t.Errorf("with %s: md5sum %s, was %s", name, got, schema.MD5(msg))
		}
		mapTo(t, "protobuf", &there.Topic)
	}
}

// TestComplete: a recording without definitions gets all of them or none; one with
// some gets those that are known.
func TestComplete(t *testing.T) {
	topic := func(typ, text string) *storage.Topic {
		s := &storage.Topic{Name: "/" + typ, Type: typ, Encoding: "cdr"}
		if text != "" {
			s.Schema = storage.Schema{Encoding: "ros2msg", Data: []byte(text)}
		}
		return s
	}
	same, other, custom, own := topic("std_msgs/msg/String", ""), topic("sensor_msgs/msg/Range", ""), topic("acme/msg/T",
		""), topic("acme/msg/U", "int8 a")
	old := topic("std_msgs/String", "") // of before 2019
	for name, c := range map[string]struct {
		distro string
		topics []*storage.Topic
		filled int // of the topics without a definition
	}{
		"all share the types":           {"", []*storage.Topic{same, old}, 2},
		"one depends on the distro":     {"", []*storage.Topic{same, other}, 0},
		"the distro is known":           {"jazzy", []*storage.Topic{same, other, old}, 3},
		"one is nowhere":                {"jazzy", []*storage.Topic{same, other, custom}, 0},
		"some have definitions already": {"jazzy", []*storage.Topic{same, other, custom, own}, 2},
	} {
		o := Options{Encoding: "cdr", Keep: func(*storage.Topic) bool { return true }, Distro: "humble",
			SourceDistro: "humble"}
		if c.distro != "" {
			o.SourceDistro, o.Certain = c.distro, true
		}
		m := New(o)
		m.Complete(c.topics)
		filled := 0
		for _, s := range c.topics {
			res, err := m.Map(s)
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Schema.Data) == 0 && len(res.Topic.Schema.Data) > 0 {
				filled++
				checkDefinition(t, &res.Topic)
			}
		}
		if filled != c.filled {
			t.Errorf("%s: %d definitions are filled in, want %d", name, filled, c.filled)
		}
	}
}

// TestNoFields: types without fields have a definition, and keep their constants.
func TestNoFields(t *testing.T) {
	for _, text := range []string{"", "int8 X=1\nstring NAME=some text\n"} {
		msg, err := rosmsg.Parse("acme/T", []byte(text), rosmsg.ROS1, nil)
		if err != nil {
			t.Fatal(err)
		}
		topic := &storage.Topic{Name: "/t", Type: "acme/T", Encoding: "ros1", Schema: storage.Schema{Encoding: "ros1msg",
			Data: []byte(text)},
			Metadata: map[string]string{storage.MetaMD5Sum: schema.MD5(msg)}}
		there := mapTo(t, "cdr", topic)
		if there.Topic.Schema.Encoding == "" || !newLibrary(nil).defined(&there.Topic) {
			t.Errorf("%q: no definition in ROS 2", text)
		}
		if back := mapTo(t, "ros1", &there.Topic); back.Topic.Metadata[storage.MetaMD5Sum] != schema.MD5(msg) {
			t.Errorf("%q: another md5sum came back, of %q", text, back.Topic.Schema.Data)
		}
	}
}

// TestIllegalNames: names that ROS 2 does not allow are reported; standard types have none.
func TestIllegalNames(t *testing.T) {
	for text, want := range map[string]string{
		"int8 kp\nint8 LIMIT_2=1\n": "", "int8 Kp\n": "acme/msg/T.Kp", "int8 class\n": "acme/msg/T.class",
		"int8 int32_\n":       "acme/msg/T.int32_",
		"int8 a__b\nint8 a\n": "acme/msg/T.a__b", "int8 Limit=1\n": "acme/msg/T.Limit",
		"Bar_Baz b\n" + strings.Repeat("=", 80) + "\nMSG: acme/Bar_Baz\nint8 a\n": "acme/msg/Bar_Baz",
	} {
		res := mapTo(t, "cdr", &storage.Topic{Name: "/t", Type: "acme/T", Encoding: "ros1",
			Schema: storage.Schema{Encoding: "ros1msg", Data: []byte(text)}})
		told := ""
		for _, r := range res.Remarks {
			if r.Code == "illegal-names" {
				told = r.Message
			}
		}
		if want == "" && told != "" || want != "" && !strings.Contains(told, "names "+want+";") {
			t.Errorf("%q: %q, want %q", text, told, want)
		}
	}
	for _, name := range builtin.Names("jazzy") {
		if names := illegalNames(newLibrary(nil).ros2("jazzy", name)); len(names) > 0 {
			t.Errorf("%s: %v", name, names)
		}
	}
}

// TestAmbiguous: two types that would have one name in the target are refused.
func TestAmbiguous(t *testing.T) {
	text := "acme/Q_Request a\n---\nint8 b\n" + strings.Repeat("=", 80) + "\nMSG: acme/Q_Request\nint8 c\n"
	_, err := New(Options{Encoding: "ros1", SourceDistro: "humble"}).Map(&storage.Topic{Type: "acme/srv/Q_Event",
		Encoding: "cdr",
		Schema:   storage.Schema{Encoding: "ros2msg", Data: []byte(text)}})
	if err == nil || !strings.Contains(err.Error(), "two different types") {
		t.Error(err)
	}
}

// TestKnownTypes: types that a distribution has get its own definition.
func TestKnownTypes(t *testing.T) {
	for name, want := range map[string]string{
		"sensor_msgs/CameraInfo": "sensor_msgs/msg/CameraInfo", "visualization_msgs/Marker": "visualization_msgs/msg/Marker",
		"tf/tfMessage": "tf2_msgs/msg/TFMessage", "std_msgs/Time": "builtin_interfaces/msg/Time",
		"shape_msgs/SolidPrimitive": "shape_msgs/msg/SolidPrimitive",
		"nav_msgs/Odometry":         "nav_msgs/msg/Odometry", "uuid_msgs/UniqueID": "unique_identifier_msgs/msg/UUID",
		"std_msgs/Header": "std_msgs/msg/Header",
	} {
		res := mapTo(t, "cdr", ros1Topic(t, name))
		std, err := schema.RIHS01(newLibrary(nil).ros2("humble", want))
		if err != nil || res.Topic.Type != want || res.Topic.Metadata[storage.MetaTypeHash] != std {
			t.Errorf("%s became %s with %s, want %s", name, res.Topic.Type, res.Topic.Metadata[storage.MetaTypeHash], std)
		}
	}
}

func TestLog(t *testing.T) {
	log := ros1Topic(t, ros1Log)
	kept := mapTo(t, "cdr", log)
	if kept.Topic.Type != "rosgraph_msgs/msg/Log" {
		t.Errorf("became %s", kept.Topic.Type)
	}
	there, err := New(Options{Encoding: "cdr", Distro: "humble", Rosout: RosoutROS2}).Map(log)
	if err != nil || there.Topic.Type != ros2Log {
		t.Fatalf("%v %+v", err, there)
	}
	str := func(s string) []byte { return append([]byte{byte(len(s)), 0, 0, 0}, s...) }
	in := bytes.Join([][]byte{{9, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0}, str("frame"), {8}, str("node"), str("text"),
		str("file"), str("fn"), {7, 0, 0, 0}, {1, 0, 0, 0}, str("/topic")}, nil)
	cdr, err := there.Plan.Append(nil, in)
	if err != nil || cdr[4+8] != 40 {
		t.Fatalf("%v % x", err, cdr)
	}
	if d := strings.Join(there.Plan.(*transcode.Plan).Dropped(), " "); d != "header.frame_id topics" ||
		len(there.Remarks) == 0 {
		t.Errorf("dropped %q", d)
	}
	back := mapTo(t, "ros1", &there.Topic)
	got, err := back.Plan.Append(nil, cdr)
	want := bytes.Join([][]byte{{0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0}, str(""), {8}, str("node"), str("text"), str("file"),
		str("fn"), {7, 0, 0, 0}, {0, 0, 0, 0}}, nil)
	if err != nil || !bytes.Equal(got, want) || back.Topic.Type != ros1Log {
		t.Errorf("%v\n% x\n% x", err, got, want)
	}
	// A ROS 2 log that went through a bag is a ROS 2 log again.
	plain := &storage.Topic{Name: "/rosout", Type: ros2Log, Encoding: "cdr"}
	bag := mapTo(t, "ros1", plain)
	if again := mapTo(t, "cdr", &bag.Topic); again.Topic.Type != ros2Log {
		t.Errorf("came back as %s", again.Topic.Type)
	}
}

func TestTimeWrappers(t *testing.T) {
	there := mapTo(t, "cdr", ros1Topic(t, "std_msgs/Time"))
	in := []byte{1, 0, 0, 0, 2, 0, 0, 0}
	cdr, err := there.Plan.Append(nil, in)
	if err != nil || !bytes.Equal(cdr, append([]byte{0, 1, 0, 0}, in...)) {
		t.Fatalf("%v % x", err, cdr)
	}
	back := mapTo(t, "ros1", &there.Topic)
	if got, err := back.Plan.Append(nil, cdr); err != nil || !bytes.Equal(got, in) || back.Topic.Type != "std_msgs/Time" {
		t.Errorf("%v % x %s", err, got, back.Topic.Type)
	}
}

func TestLatching(t *testing.T) {
	topic := ros1Topic(t, "std_msgs/String")
	topic.Metadata[storage.MetaLatching] = "1"
	there := mapTo(t, "cdr", topic)
	if len(there.Topic.QoS) != 1 || there.Topic.QoS[0].Durability != storage.DurabilityTransientLocal ||
		there.Topic.QoS[0].Reliability != storage.ReliabilityReliable {
		t.Errorf("%+v", there.Topic.QoS)
	}
	delete(there.Topic.Metadata, storage.MetaLatching)
	if back := mapTo(t, "ros1", &there.Topic); back.Topic.Metadata[storage.MetaLatching] != "1" {
		t.Errorf("%v", back.Topic.Metadata)
	}
	static := ros1Topic(t, "tf2_msgs/TFMessage")
	static.Name = "/tf_static"
	if there := mapTo(t, "cdr", static); len(there.Topic.QoS) != 1 {
		t.Errorf("%+v", there.Topic.QoS)
	}
}

// TestDefinitions: where the definition comes from, and what is refused.
func TestDefinitions(t *testing.T) {
	for name, c := range map[string]struct {
		topic  storage.Topic
		to     string
		origin string // "" when it cannot cross
		remark string
	}{
		"no text, standard": {storage.Topic{Type: "std_msgs/String", Encoding: "ros1"}, "cdr", "builtin noetic",
			"definition-builtin"},
		"no text, other md5sum": {storage.Topic{Type: "std_msgs/String", Encoding: "ros1",
			Metadata: map[string]string{storage.MetaMD5Sum: strings.Repeat("a", 32)}}, "cdr", "", ""},
		"no text, own type": {storage.Topic{Type: "acme/T", Encoding: "ros1"}, "cdr", "", ""},
		"bad text, standard": {storage.Topic{Type: "std_msgs/Bool", Encoding: "ros1",
			Schema:   storage.Schema{Encoding: "ros1msg", Data: []byte("?")},
			Metadata: map[string]string{storage.MetaMD5Sum: "8b94c1b53db61fb6aed406028ad6332a"}}, "cdr", "builtin noetic",
			"definition-builtin"},
		"text of another md5sum": {storage.Topic{Type: "acme/T", Encoding: "ros1", Schema: storage.Schema{Encoding: "ros1msg",
			Data: []byte("int8 a")}, Metadata: map[string]string{storage.MetaMD5Sum: strings.Repeat("a", 32)}}, "cdr", "file",
			"md5sum-mismatch"},
		"before Iron": {storage.Topic{Type: "std_msgs/msg/String", Encoding: "cdr"}, "ros1", "builtin humble",
			"definition-builtin"},
		"before 2019": {storage.Topic{Type: "std_msgs/String", Encoding: "cdr"}, "ros1", "builtin humble",
			"definition-builtin"},
		"place-holder": {storage.Topic{Type: "rcl_interfaces/msg/Log", Encoding: "cdr",
			Schema:   storage.Schema{Encoding: "ros2msg", Data: []byte("uint8 level")},
			Metadata: map[string]string{storage.MetaTypeHash: "hash2"}}, "ros1", "builtin humble", "definition-builtin"},
		"own type without text": {storage.Topic{Type: "acme/msg/T", Encoding: "cdr"}, "ros1", "", ""},
		"IDL": {storage.Topic{Type: "acme/msg/T", Encoding: "cdr",
			Schema: storage.Schema{Encoding: "ros2idl",
				Data: []byte("module acme { module msg { struct T { wstring a; }; }; };")}}, "ros1", "file", ""},
		"unknown encoding": {storage.Topic{Type: "std_msgs/msg/String", Encoding: "wrong_format"}, "ros1", "", ""},
		"hash of another distro": {storage.Topic{Type: "sensor_msgs/msg/Range", Encoding: "cdr",
			Metadata: map[string]string{storage.MetaTypeHash: hashOf(newLibrary(nil).ros2("jazzy", "sensor_msgs/msg/Range"))}},
			"ros1", "builtin iron", "definition-builtin"},
	} {
		t.Run(name, func(t *testing.T) {
			res, err := New(Options{Encoding: c.to, Distro: "humble", SourceDistro: "humble"}).Map(&c.topic)
			if c.origin == "" {
				if err == nil {
					t.Fatalf("became %+v", res)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if res.Definition != c.origin || c.remark != "" && (len(res.Remarks) == 0 || res.Remarks[0].Code != c.remark) {
				t.Errorf("%s %+v", res.Definition, res.Remarks)
			}
		})
	}
}

// TestOneDefinition: a ROS 2 sink keeps definitions by type name, so a second
// one is fitted to the first.
func TestOneDefinition(t *testing.T) {
	text := func(s string) *storage.Topic {
		return &storage.Topic{Name: "/t", Type: "acme/T", Encoding: "ros1", Schema: storage.Schema{Encoding: "ros1msg",
			Data: []byte(s)}}
	}
	m := New(Options{Encoding: "cdr", Distro: "humble"})
	a, err := m.Map(text("int8 a\nint8 b\n"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := m.Map(text("int8 b\nint8 c\n"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Topic.Schema.Data, b.Topic.Schema.Data) {
		t.Error("two definitions of one type")
	}
	if got, err := b.Plan.Append(nil, []byte{2, 3}); err != nil || !bytes.Equal(got, []byte{0, 1, 0, 0, 0, 2}) {
		t.Errorf("%v % x", err, got)
	}
}

// TestHeaderSeq: the counter of the first Header becomes the number of the message, if the
// sink has one for it; those of other Headers do not.
// TestNoSum: a topic without md5sum gets that of its definition, which mapTo compares.
func TestNoSum(t *testing.T) {
	topic := ros1Topic(t, "sensor_msgs/Imu")
	sum := topic.Metadata[storage.MetaMD5Sum]
	delete(topic.Metadata, storage.MetaMD5Sum)
	if got := mapTo(t, "ros1", topic).Topic.Metadata[storage.MetaMD5Sum]; got != sum ||
		topic.Metadata[storage.MetaMD5Sum] != "" {
		t.Errorf("%q, and the source has %q now", got, topic.Metadata[storage.MetaMD5Sum])
	}
	// What stands in place of a sum gives way, with a note, unless the definition lacks parts.
	for _, was := range []string{"*", strings.Repeat("0", 32)} {
		for _, keep := range []bool{false, true} {
			m := New(Options{Encoding: "ros1", Keep: func(*storage.Topic) bool { return keep }})
			topic.Metadata[storage.MetaMD5Sum] = was
			res, err := m.Map(topic)
			if err != nil || res.Topic.Metadata[storage.MetaMD5Sum] != sum || len(res.Remarks) != 1 ||
				res.Remarks[0].Code != "md5sum-changed" || topic.Metadata[storage.MetaMD5Sum] != was {
				t.Errorf("%s, keep %v: %+v (%v)", was, keep, res, err)
			}
			part := *topic
			part.Schema.Data, _, _ = bytes.Cut(topic.Schema.Data, []byte("\n====="))
			if res, err = m.Map(&part); err != nil || res.Topic.Metadata[storage.MetaMD5Sum] != was || len(res.Remarks) > 0 {
				t.Errorf("%s, keep %v, without its parts: %+v (%v)", was, keep, res, err)
			}
		}
	}
}

func TestHeaderSeq(t *testing.T) {
	const header = "\n================================================================================\nMSG: " +
		"std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n"
	for _, c := range []struct {
		name, text     string
		number, losses bool // with a sequence in the sink
	}{
		{"first", "std_msgs/Header header\nint8 a" + header, true, false},
		{"both", "std_msgs/Header header\nstd_msgs/Header other" + header, true, true},
		{"second", "int8 a\nstd_msgs/Header header" + header, false, true},
		{"array", "std_msgs/Header[] header" + header, false, true},
		{"none", "int8 a", false, false},
	} {
		topic := &storage.Topic{Name: "/t", Type: "p/T", Encoding: "ros1", Schema: storage.Schema{Encoding: "ros1msg",
			Data: []byte(c.text)}}
		for _, sequence := range []bool{false, true} {
			res, err := New(Options{Encoding: "cdr", Distro: "humble", Sequence: sequence}).Map(topic)
			if err != nil {
				t.Fatal(err)
			}
			number, lost := res.HeaderSeq == SeqToSequence, len(res.Remarks) > 0
			wantLost := c.losses || c.number && !sequence
			if number != (c.number && sequence) || (res.Topic.Metadata[MetaHeaderSeq] == "sequence") != number ||
				lost != wantLost {
				t.Errorf("%s, sequence %v: number %v, lost %v", c.name, sequence, number, lost)
			}
			if back := mapTo(t, "ros1", &res.Topic); (back.HeaderSeq == SeqFromSequence) != number ||
				back.Topic.Metadata[MetaHeaderSeq] != "" {
				t.Errorf("%s, sequence %v: on the way back %v", c.name, sequence, back.HeaderSeq)
			}
		}
	}
}

// TestOddNames: a definition whose names only we read is written with usual ones, where the
// hash of the type is written too.
func TestOddNames(t *testing.T) {
	const line = "================================================================================\n"
	topic := &storage.Topic{Name: "/t", Type: "p/msg/T", Encoding: "cdr",
		Schema: storage.Schema{Encoding: "ros2msg", Data: []byte("p/msg/A a\n" + line + "MSG: fastdds/p/msg/A\nint8 b\n")}}
	res, err := New(Options{Encoding: "cdr", Distro: "humble", SourceDistro: "humble", Hashes: true}).Map(topic)
	if err != nil || string(res.Topic.Schema.Data) != "p/A a\n\n"+line+"MSG: p/A\nint8 b\n" || len(res.Remarks) != 1 {
		t.Errorf("%q, %v, %v", res.Topic.Schema.Data, res.Remarks, err)
	}
}

// TestNoPackage: a type of DDS gets a package, which ROS 2 needs.
func TestNoPackage(t *testing.T) {
	topic := &storage.Topic{Name: "/t", Type: "HelloWorld", Encoding: "cdr", Schema: storage.Schema{Encoding: "ros2msg",
		Data: []byte("int8 a")}}
	res, err := New(Options{Encoding: "cdr", Distro: "humble", SourceDistro: "humble", Hashes: true}).Map(topic)
	if err != nil || res.Topic.Type != "idl/msg/HelloWorld" || len(res.Remarks) != 1 ||
		res.Remarks[0].Code != "type-renamed" {
		t.Errorf("%+v, %v", res, err)
	}
	if res := mapTo(t, "ros1", topic); res.Topic.Type != "idl/HelloWorld" {
		t.Errorf("%+v", res)
	}
}

// TestHashes: a topic that stays CDR gets the hash of its own definition, if it is asked for
// and there is none.
func TestHashes(t *testing.T) {
	topic := storage.Topic{Name: "/t", Type: "p/msg/T", Encoding: "cdr", Schema: storage.Schema{Encoding: "ros2msg",
		Data: []byte("int8 a")}}
	for _, hashes := range []bool{false, true} {
		res, err := New(Options{Encoding: "cdr", Distro: "humble", SourceDistro: "humble", Hashes: hashes}).Map(&topic)
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Topic.Metadata[storage.MetaTypeHash]; validHash(got) != hashes {
			t.Errorf("hashes %v: %q", hashes, got)
		}
	}
}

// TestSharedTypes: types that share their parts are compared in time that does not grow with the
// number of ways to a part.
func TestSharedTypes(t *testing.T) {
	graph := func() *schema.Message {
		m := &schema.Message{Name: "p/Leaf", Fields: []schema.Field{{Name: "x", Type: schema.Type{Kind: schema.Uint8}}}}
		for range 60 {
			part := schema.Type{Kind: schema.Struct, Message: m}
			m = &schema.Message{Name: "p/T", Fields: []schema.Field{{Name: "a", Type: part}, {Name: "b", Type: part}}}
		}
		return m
	}
	if !sameLayout(graph(), graph()) {
		t.Error("equal types have different layouts")
	}
	list := func(a schema.Array, n, bound int) *schema.Message {
		return &schema.Message{Name: "p/L",
			Fields: []schema.Field{{Name: "s", Type: schema.Type{Kind: schema.String, Array: a, Len: n, StringBound: bound}}}}
	}
	for _, c := range []struct {
		a, b *schema.Message
		want bool
	}{
		{list(schema.Bounded, 3, 2), list(schema.Unbounded, 0, 0), true},
		{list(schema.Bounded, 3, 2), list(schema.Bounded, 3, 2), true},
		{list(schema.Unbounded, 0, 0), list(schema.Bounded, 3, 0), false},
		{list(schema.Bounded, 3, 0), list(schema.Bounded, 2, 0), false},
		{list(schema.Fixed, 3, 0), list(schema.Fixed, 2, 0), false},
		{list(schema.Unbounded, 0, 0), list(schema.Unbounded, 0, 5), false},
	} {
		if got := sameLayout(c.a, c.b); got != c.want {
			t.Errorf("%+v and %+v: %v", c.a.Fields[0].Type, c.b.Fields[0].Type, got)
		}
	}
}

// TestEvents: the text of a service becomes the definition of its event if the sink is not one of
// rosbag2's, and a bag returns the event with its type hash.
func TestEvents(t *testing.T) {
	text := []byte(strings.Repeat("=", 80) + "\nSRV: acme/srv/Q\nstring a\n---\nint8 b\n")
	topic := &storage.Topic{Type: "acme/srv/Q_Event", Encoding: "cdr", Schema: storage.Schema{Encoding: "unknown",
		Data: text}}
	msg, err := rosmsg.Parse(topic.Type, text, rosmsg.ROS2, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := schema.RIHS01(msg)
	for _, events := range []bool{false, true} {
		res, err := New(Options{Encoding: "cdr", Hashes: true, Events: events}).Map(topic)
		if err != nil || res.Topic.Schema.Encoding != "ros2msg" || rosmsg.IsService(res.Topic.Schema.Data) == events ||
			res.Topic.Metadata[storage.MetaTypeHash] != want {
			t.Errorf("%v, %+v", err, res)
		}
	}
	res, err := New(Options{Encoding: "ros1", SourceDistro: "jazzy"}).Map(topic)
	if err != nil || res.Topic.Type != "acme/Q_Event" {
		t.Fatal(err, res)
	}
	if res, err = New(Options{Encoding: "cdr", Distro: "jazzy"}).Map(&res.Topic); err != nil ||
		res.Topic.Type != topic.Type || res.Topic.Metadata[storage.MetaTypeHash] != want {
		t.Errorf("%v, %+v", err, res)
	}
}

// timed is a program that writes the log time.
type timed struct{}

func (timed) Append(dst, _ []byte) ([]byte, error) { return append(dst, 0), nil }
func (timed) AppendAt(dst, _ []byte, logTime int64) ([]byte, error) {
	return append(dst, byte(logTime)), nil
}
func (timed) SizeHint(n int) int { return n }

// copying is a program that copies.
type copying struct{}

func (copying) Append(dst, src []byte) ([]byte, error) { return append(dst, src...), nil }
func (copying) SizeHint(n int) int                     { return n }

// TestChain: programs in a row get the log time, if one of them needs it.
func TestChain(t *testing.T) {
	for _, c := range []Program{chained(timed{}, copying{}), chained(copying{}, timed{})} {
		if out, err := AppendAt(c, nil, []byte{9}, 7); err != nil || len(out) != 1 || out[0] != 7 {
			t.Errorf("%v, %v", out, err)
		}
	}
	if _, is := chained(copying{}, copying{}).(Timed); is {
		t.Error("a chain without the log time is Timed")
	}
}

// TestChainLosses: what the first of two programs loses is told, too, if the second needs the log time.
func TestChainLosses(t *testing.T) {
	const text = "std_msgs/Header header\nstring format\nuint8[] data\n" + separator +
		"MSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n"
	res, err := New(Options{Encoding: "protobuf"}).Map(&storage.Topic{Name: "/c", Type: "sensor_msgs/CompressedImage",
		Encoding: "cdr",
		Schema:   storage.Schema{Encoding: "ros1msg", Data: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	msg := []byte{0, 1, 0, 0, 5, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 'f', 0, 0, 0, 2, 0, 0, 0, 'j', 0, 0, 0, 1, 0,
		0, 0, 9}
	if _, err := AppendAt(res.Plan, nil, append(msg, 1, 2, 3, 4, 5, 6, 7), 1); err != nil {
		t.Fatal(err)
	}
	if l := Losses(res.Plan); len(l) != 1 || l[0].Code != "trailing-bytes" ||
		res.Topic.Type != "apollo.drivers.CompressedImage" {
		t.Errorf("%s: %+v", res.Topic.Type, l)
	}
}
