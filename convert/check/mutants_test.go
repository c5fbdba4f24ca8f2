package check_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/convert/check"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
)

// soundBag writes a bag with several chunks and topics, and returns its bytes.
func soundBag(t *testing.T, codec string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sound.bag")
	w, err := all.Registry().Lookup("bag").Create(context.Background(), path, storage.WriteOptions{Compression: codec,
		ChunkSize: 300, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	var topics []storage.TopicID
	for _, name := range []string{"/a", "/b", "/c"} {
		id, err := w.CreateTopic(storage.Topic{Name: name, Type: "std_msgs/String", Encoding: "ros1",
			Schema:   storage.Schema{Encoding: "ros1msg", Data: []byte("string data\n")},
			Metadata: map[string]string{storage.MetaMD5Sum: "992ce8a1687cec8c8bd883ec73ca41d1"}})
		if err != nil {
			t.Fatal(err)
		}
		topics = append(topics, id)
	}
	for i := range int64(24) {
		text := fmt.Sprintf("message %d of them all", i)
		data := append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...)
		m := storage.Message{Topic: topics[i%3], LogTime: 1.7e18 + i*1e8, PublishTime: 1.7e18 + i*1e8, Data: data}
		if err := w.Write(&m); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// records returns where the records of a bag begin, outside of chunks.
func records(b []byte) (at []int) {
	for p := 13; p < len(b); {
		at = append(at, p)
		p += 4 + int(binary.LittleEndian.Uint32(b[p:]))
		p += 4 + int(binary.LittleEndian.Uint32(b[p:]))
	}
	return at
}

// mutants makes changed copies of a sound bag: every field of every record header
// outside of the chunks, records that are doubled, left out or put elsewhere, and n
// seeded changes of any byte.
func mutants(b []byte, n int) (list [][]byte) {
	splice := func(from, to int, with []byte) {
		list = append(list, append(append(bytes.Clone(b[:from]), with...), b[to:]...))
	}
	all := append(records(b), len(b))
	for i, p := range all[:len(all)-1] {
		head := b[p+4:][:binary.LittleEndian.Uint32(b[p:])]
		for at := 0; at < len(head); at += 4 + int(binary.LittleEndian.Uint32(head[at:])) {
			field := head[at+4:][:binary.LittleEndian.Uint32(head[at:])]
			value := p + 4 + at + 4 + bytes.IndexByte(field, '=') + 1
			for _, mask := range []byte{0xff, 1} {
				splice(value, value+1, []byte{b[value] ^ mask})
			}
		}
		record := b[p:all[i+1]]
		other := all[(i*7+3)%len(all)]
		splice(p, p, record)
		splice(p, p+len(record), nil)
		splice(other, other, record)
	}
	rnd := rand.New(rand.NewPCG(12, uint64(len(b))))
	for range n {
		m := bytes.Clone(b)
		for range 1 + rnd.IntN(2) {
			at := 13 + rnd.IntN(90)
			if rnd.IntN(20) > 0 {
				at = 4117 + rnd.IntN(len(b)-4117)
			}
			m[at] ^= byte(1 + rnd.IntN(255))
		}
		list = append(list, m)
	}
	return list
}

// TestMutants changes sound bags in many ways: what check finds nothing wrong with,
// PyPI rosbags opens and reads, and finds the same number of messages in.
func TestMutants(t *testing.T) {
	python := os.Getenv("BAGCONV_ROSBAGS_PYTHON")
	if python == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("BAGCONV_ROSBAGS_PYTHON is missing")
		}
		t.Skip("no rosbags here")
	}
	dir := t.TempDir()
	silent := map[string]int64{} // messages by path
	made := 0
	for _, codec := range []string{"none", "lz4", "bz2"} {
		sound := soundBag(t, codec)
		for i, b := range append([][]byte{sound}, mutants(sound, 150)...) {
			made++
			path := filepath.Join(dir, fmt.Sprintf("%s-%03d.bag", codec, i))
			if err := os.WriteFile(path, b, 0o666); err != nil {
				t.Fatal(err)
			}
			n, ok := passes(t, path)
			if i == 0 && (!ok || n != 24) {
				t.Fatalf("%s: %d messages of a sound bag, found sound: %v", codec, n, ok)
			}
			if ok {
				silent[path] = n
			}
		}
	}
	const script = `
import json, sys
from rosbags.rosbag1 import Reader
out = {}
for path in json.load(sys.stdin):
    try:
        with Reader(path) as r:
            out[path] = str(sum(1 for _ in r.messages()))
    except Exception as e:
        out[path] = repr(e)
print(json.dumps(out))
`
	list, _ := json.Marshal(silent)
	cmd := exec.Command(python, "-c", script)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(list), os.Stderr
	out, err := cmd.Output()
	var read map[string]string
	if err == nil {
		err = json.Unmarshal(out, &read)
	}
	if err != nil || len(read) != len(silent) {
		t.Fatalf("rosbags read %d of %d: %v", len(read), len(silent), err)
	}
	for path, n := range silent {
		if read[path] != fmt.Sprint(n) {
			t.Errorf("%s: check finds nothing wrong and %d messages, and rosbags: %s", filepath.Base(path), n, read[path])
		}
	}
	t.Logf("%d bags, check finds nothing wrong with %d", made, len(silent))
}

// passes reports whether check finds neither an error nor a warning.
func passes(t *testing.T, path string) (messages int64, ok bool) {
	t.Helper()
	f, err := all.Registry().Detect(path)
	if err != nil {
		return 0, false
	}
	r, err := f.Open(context.Background(), path, storage.ReadOptions{CheckIndexes: true})
	if err != nil {
		return 0, false
	}
	defer r.Close()
	res, err := check.Run(context.Background(), r, check.Options{Threads: 1})
	if err != nil {
		return 0, false
	}
	for _, f := range res.Findings {
		if f.Severity >= check.Warning {
			return res.Messages, false
		}
	}
	return res.Messages, true
}
