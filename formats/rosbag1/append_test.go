package rosbag1

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/testing/faultio"
	"github.com/bagconv/bagconv/storage"
)

// appended writes a bag in two steps: a part of the messages, and the rest after it.
func appended(t testing.TB, path string, o storage.WriteOptions, messages []storage.Message) {
	t.Helper()
	n := len(messages) / 3
	write(t, path, o, messages[:n])
	writeAs(t, adding, path, o, messages[n:2*n])
	o.Compression = "" // that of the bag
	writeAs(t, adding, path, o, messages[2*n:])
}

// TestAppendCost: what is written does not depend on the size of the bag.
func TestAppendCost(t *testing.T) {
	target := int64(300 << 20)
	if !testing.Short() && os.Getenv("BAGCONV_EXHAUSTIVE") != "" {
		target = 10 << 30
	}
	path := filepath.Join(t.TempDir(), "large.bag")
	fill := func(f *storage.Format, o storage.WriteOptions, size int64) {
		w, err := f.Create(context.Background(), path, o)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if _, err := w.CreateTopic(testTopics[0]); err != nil {
			t.Fatal(err)
		}
		data := make([]byte, 1<<20)
		for at := int64(0); at < size; at += int64(len(data)) {
			if err := w.Write(&storage.Message{LogTime: 1e9 + at, Data: data}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	fill(Format, storage.WriteOptions{NoSync: true, FS: iox.Sparse(iox.OS)}, target)
	counter := &faultio.Counter{FS: iox.OS}
	fill(adding, storage.WriteOptions{NoSync: true, FS: counter}, 10<<20)
	if n := counter.Written.Load(); n > 12<<20 {
		t.Errorf("10 MiB after %d MiB: %d bytes are written", target>>20, n)
	}
	r := open(t, path, storage.ReadOptions{Strict: true})
	if info := r.Info(); info.Messages != target>>20+10 {
		t.Errorf("%d messages", info.Messages)
	}
}

// TestAppendHeader: the fields of the file header may stand anywhere, with any blanks.
func TestAppendHeader(t *testing.T) {
	messages := testMessages(30)
	path := filepath.Join(t.TempDir(), "x.bag")
	write(t, path, storage.WriteOptions{NoSync: true}, messages[:20])
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// The order of Python 3: op first.
	at := len(versionLine) + 4
	fields := string(b[at:])
	op := strings.Index(fields, "\x04\x00\x00\x00op=")
	moved := fields[op:op+8] + fields[:op]
	copy(b[at:], moved)
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	writeAs(t, adding, path, storage.WriteOptions{NoSync: true}, messages[20:])
	equalMessages(t, readAll(t, open(t, path, storage.ReadOptions{Strict: true})), messages)
}

// TestAppendRefused: bags that are whole, and cannot be added to.
func TestAppendRefused(t *testing.T) {
	for _, name := range []string{"future-2.1", "v1.2-indexed", "encrypted-none"} {
		source := filepath.Join("..", "..", "..", "shared", "data", "ros1", "generated", name+".bag")
		b, err := os.ReadFile(source)
		if err != nil {
			t.Skip(err)
		}
		path := filepath.Join(t.TempDir(), "x.bag")
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		_, err = adding.Create(context.Background(), path, storage.WriteOptions{})
		if !errors.Is(err, storage.ErrUnsupported) && !errors.Is(err, storage.ErrKey) {
			t.Errorf("%s: %v", name, err)
		}
		if now, _ := os.ReadFile(path); string(now) != string(b) {
			t.Errorf("%s has changed", name)
		}
	}
}

// TestAppendPython: rosbag adds to a bag that was added to, and the reverse.
func TestAppendPython(t *testing.T) {
	if out, err := exec.Command("/usr/bin/python3", "-c", "import rosbag, std_msgs").CombinedOutput(); err != nil {
		missing(t, "python3-rosbag", fmt.Errorf("%w: %s", err, out))
	}
	const script = `
import sys, rosbag, rospy, std_msgs.msg
with rosbag.Bag(sys.argv[1], 'a') as bag:
    for i in range(5):
        bag.write('/python', std_msgs.msg.String('hello'), rospy.Time(1700000100 + i))
`
	messages := testMessages(90)
	path := filepath.Join(t.TempDir(), "x.bag")
	appended(t, path, storage.WriteOptions{NoSync: true}, messages)
	run(t, "/usr/bin/python3", "-c", script, path)
	writeAs(t, adding, path, storage.WriteOptions{NoSync: true}, messages[:10])
	run(t, "/usr/bin/python3", "-c", script, path)
	if n := len(readAll(t, open(t, path, storage.ReadOptions{Strict: true}))); n != 110 {
		t.Errorf("%d messages, want 110", n)
	}
	if out := run(t, "/usr/bin/rosbag", "info", "-y", path); !strings.Contains(out, "messages: 110") {
		t.Errorf("rosbag info: %s", out)
	}
}
