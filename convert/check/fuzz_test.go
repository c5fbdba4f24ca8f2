package check_test

import (
	"encoding/binary"
	"testing"

	"github.com/bagconv/bagconv/convert/check"
	"github.com/bagconv/bagconv/storage"
)

// FuzzRun: whatever a file has as definition, times and messages, check ends
// with findings that hold together.
func FuzzRun(f *testing.F) {
	imu := apolloImu(f)
	f.Add(uint8(0), "acme_msgs/Value", []byte(imuText), "*", value(start, 1), start)
	f.Add(uint8(1), "acme_msgs/msg/N", []byte("int8 n\nstring[<=3] s\n"), "RIHS01_0", []byte{0, 1, 0, 0, 5, 0, 0, 0, 0, 0,
		0, 0}, int64(-1))
	f.Add(uint8(1), "std_msgs/msg/Header", []byte{}, "", []byte{0, 0, 0, 0}, int64(0))
	f.Add(uint8(2), imu.Type, imu.Schema.Data, "", imuMessage(2), start)
	encodings := []string{"ros1", "cdr", "protobuf", "json"}
	schemas := []string{"ros1msg", "ros2msg", "protobuf", "jsonschema"}
	f.Fuzz(func(t *testing.T, form uint8, typ string, text []byte, hash string, data []byte, at int64) {
		k := int(form) % 4
		rec := &fake{}
		topic := storage.Topic{Name: "/x", Type: typ, Encoding: encodings[k], Schema: storage.Schema{Encoding: schemas[k],
			Data: text},
			Metadata: map[string]string{storage.MetaMD5Sum: hash, storage.MetaTypeHash: hash}}
		if form >= 128 {
			topic.Schema.Encoding = "ros2idl"
		}
		a := rec.topic(topic)
		topic.Schema.Data = append([]byte("int8 x\n"), text...)
		b := rec.topic(topic)
		rec.add(a, at, data)
		rec.add(a, at, data)
		for i := 0; i+8 <= len(data) && i < 512; i += 8 {
			rec.add(a, int64(binary.LittleEndian.Uint64(data[i:])), data[i:])
			rec.add(b, at+int64(i), data[:i])
		}
		res := rec.run(t, check.Options{})
		if res.Messages != int64(len(rec.messages)) || res.Decoded > res.Messages {
			t.Fatalf("%d messages, %d read, %d decoded", len(rec.messages), res.Messages, res.Decoded)
		}
		for _, x := range res.Findings {
			if x.Code == "" || x.Message == "" || x.Count < 1 {
				t.Fatalf("%+v", x)
			}
		}
		text, err := check.MakeContract(res).Format()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := check.ParseContract(text); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	})
}
