package schema_test

import (
	"database/sql"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/builtin"
	"github.com/bagconv/bagconv/schema/rosidl"
)

// files lists the recordings with a suffix.
func files(t *testing.T, folder, suffix string) []string {
	t.Helper()
	var out []string
	for _, root := range samples.Roots(t) {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && strings.HasSuffix(path, suffix) {
				out = append(out, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// headerFields calls f for each "name=value" of a bag's header block.
func headerFields(b []byte, f func(name, value string)) {
	for len(b) >= 4 {
		n := binary.LittleEndian.Uint32(b)
		if uint64(n)+4 > uint64(len(b)) {
			return
		}
		if name, value, ok := strings.Cut(string(b[4:4+n]), "="); ok {
			f(name, value)
		}
		b = b[4+n:]
	}
}

// bagConnections calls f for each connection record of a bag that stands outside
// its chunks.
func bagConnections(b []byte, f func(typ, md5, text string)) {
	const magic = "#ROSBAG V2.0\n"
	if !strings.HasPrefix(string(b[:min(len(b), len(magic))]), magic) {
		return
	}
	part := func() []byte {
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b))+4 > uint64(len(b)) {
			b = nil
			return nil
		}
		n := 4 + int(binary.LittleEndian.Uint32(b))
		p := b[4:n]
		b = b[n:]
		return p
	}
	for b = b[len(magic):]; len(b) > 0; {
		head, data := part(), part()
		op := ""
		headerFields(head, func(name, value string) {
			if name == "op" {
				op = value
			}
		})
		if op != "\x07" {
			continue
		}
		got := map[string]string{}
		headerFields(data, func(name, value string) { got[name] = value })
		f(got["type"], got["md5sum"], got["message_definition"])
	}
}

// TestBags: the md5sum of every definition in bags is the one that the
// publisher gave with it.
func TestBags(t *testing.T) {
	lookup := func(name string) (string, bool) { return builtin.Lookup("noetic", name) }
	checked := 0
	for _, path := range files(t, "ros1", ".bag") {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		bagConnections(b, func(typ, md5, text string) {
			m, err := rosmsg.Parse(typ, []byte(text), rosmsg.ROS1, lookup)
			if err != nil {
				t.Errorf("%s: %s: %v", filepath.Base(path), typ, err)
				return
			}
			if got := schema.MD5(m); got != md5 {
				t.Errorf("%s: %s has md5sum %s, the bag says %s", filepath.Base(path), typ, got, md5)
				return
			}
			again, err := rosmsg.Parse(typ, rosmsg.Format(m, rosmsg.ROS1), rosmsg.ROS1, nil)
			if err != nil || !schema.Equal(m, again) || schema.MD5(again) != md5 {
				t.Errorf("%s: %s is not the same after Format: %v", filepath.Base(path), typ, err)
			}
			checked++
		})
	}
	t.Logf("%d definitions", checked)
	if checked < 4 {
		t.Errorf("only %d definitions were compared", checked)
	}
}

// TestRosbag2: the type hash of every definition in rosbag2 databases is the
// one that stands beside it. Some recorders left a place-holder there.
func TestRosbag2(t *testing.T) {
	checked := 0
	for _, path := range files(t, "rosbag2", ".db3") {
		db, err := sql.Open("sqlite", "file:"+path+"?mode=ro&immutable=1")
		if err != nil {
			t.Fatal(err)
		}
		rows, err := db.Query(
			"SELECT topic_type, encoding, encoded_message_definition, type_description_hash FROM message_definitions")
		if err != nil { // schemas before 4 have no such table, some files are not databases
			db.Close()
			continue
		}
		for rows.Next() {
			var name, encoding, text, want string
			if err := rows.Scan(&name, &encoding, &text, &want); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(name, "/srv/") && !strings.HasSuffix(name, "_Event") {
				name += "_Event" // the hash beside a service is that of its events
			}
			if !strings.HasPrefix(want, "RIHS01_") {
				continue
			}
			var m *schema.Message
			if encoding == "ros2idl" {
				m, err = rosidl.Parse(name, []byte(text))
			} else {
				m, err = rosmsg.Parse(name, []byte(text), rosmsg.ROS2, nil)
			}
			if err != nil {
				t.Errorf("%s: %s: %v", filepath.Base(path), name, err)
				continue
			}
			if got, err := schema.RIHS01(m); err != nil || got != want {
				t.Errorf("%s: %s (%s) has %s, the recording says %s (%v)", filepath.Base(path), name, encoding, got, want, err)
				continue
			}
			checked++
		}
		rows.Close()
		db.Close()
	}
	t.Logf("%d definitions", checked)
	if checked < 4 {
		t.Errorf("only %d definitions were compared", checked)
	}
}
