package rosbag1

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// missing skips the test for want of a referee, but not where CI runs it.
func missing(t *testing.T, what string, err error) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is missing: %v", what, err)
	}
	t.Skipf("%s is missing: %v", what, err)
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// refereeBags writes a bag for each codec and shape, and returns their paths.
func refereeBags(t *testing.T, messages []storage.Message) []string {
	var paths []string
	dir := t.TempDir()
	for _, codec := range Format.Options.Choices(storage.NameCompression) {
		for _, chunk := range []int64{1, 2000, 0} {
			path := filepath.Join(dir, fmt.Sprintf("%s-%d.bag", codec, chunk))
			write(t, path, storage.WriteOptions{Compression: codec, ChunkSize: chunk, NoSync: true}, messages)
			paths = append(paths, path)
		}
		path := filepath.Join(dir, codec+"-appended.bag")
		appended(t, path, storage.WriteOptions{Compression: codec, NoSync: true}, messages)
		paths = append(paths, path)
	}
	paths = append(paths, copiedBags(t, messages)...)
	empty := filepath.Join(dir, "empty.bag")
	write(t, empty, storage.WriteOptions{NoSync: true}, nil)
	return append(paths, empty)
}

// bigMessages has what makes chunks of several lz4 and bz2 blocks, and what does
// not compress. The referees take half a minute for 4 MB in all bags: they get more than one block of
// each codec, 1.3 MB, and 4 MB with BAGCONV_EXHAUSTIVE=1.
func bigMessages() []storage.Message {
	messages := testMessages(300)
	noise := make([]byte, samples.Pick(1<<20, 1<<18, 1<<18))
	for i, x := 0, uint64(1); i < len(noise); i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		noise[i] = byte(x)
	}
	for i, data := range [][]byte{payload(samples.Pick(3<<20, 1<<20+1000, 1<<20+1000)), noise, payload(5)} {
		data = append([]byte{byte(len(data)), byte(len(data) >> 8), byte(len(data) >> 16), 0}, data...)
		at := messages[10+i].LogTime + 1
		messages = append(messages, storage.Message{Topic: storage.TopicID(i % 2), LogTime: at, PublishTime: at, Data: data})
	}
	return messages
}

// summary is what a referee should find.
func summary(messages []storage.Message) (bytes int, first, last int64, sum uint64) {
	for i, m := range messages {
		if i == 0 {
			first, last = m.LogTime, m.LogTime
		}
		first, last = min(first, m.LogTime), max(last, m.LogTime)
		bytes += len(m.Data)
		h := fnv.New64a()
		h.Write(m.Data)
		sum += h.Sum64()
	}
	return bytes, first, last, sum
}

// TestRefereePython has Debian's rosbag read, check and reindex our bags.
func TestRefereePython(t *testing.T) {
	if testing.Short() {
		t.Skip("writes large bags")
	}
	if out, err := exec.Command("/usr/bin/python3", "-c", "import rosbag, std_msgs").CombinedOutput(); err != nil {
		missing(t, "python3-rosbag", fmt.Errorf("%w: %s", err, out))
	}
	messages := bigMessages()
	paths := refereeBags(t, messages)
	var sizes []int64
	for _, path := range paths {
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, st.Size())
	}
	lines := strings.Split(strings.TrimSpace(run(t, "/usr/bin/python3", append([]string{"testdata/referee/check.py"},
		paths...)...)), "\n")
	if len(lines) != len(paths) {
		t.Fatalf("%d lines for %d bags", len(lines), len(paths))
	}
	bytes, first, last, _ := summary(messages)
	for i, line := range lines {
		var got struct {
			Messages, Bytes int
			First, Last     *int64
			Connections     [][]string
			Chunks          map[string]int
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(paths[i])
		if name == "empty.bag" {
			if got.Messages != 0 || len(got.Connections) != 0 {
				t.Errorf("%s: %s", name, line)
			}
			continue
		}
		if got.Messages != len(messages) || got.Bytes != bytes {
			t.Errorf("%s: %d messages, %d bytes; want %d, %d", name, got.Messages, got.Bytes, len(messages), bytes)
		}
		if *got.First != first || *got.Last != last {
			t.Errorf("%s: from %d to %d, want %d to %d", name, *got.First, *got.Last, first, last)
		}
		codec, _, _ := strings.Cut(name, "-")
		if len(got.Chunks) != 1 || got.Chunks[codec] == 0 {
			t.Errorf("%s: chunks %v", name, got.Chunks)
		}
		if len(got.Connections) != 3 {
			t.Fatalf("%s: %d connections with messages", name, len(got.Connections))
		}
		for k, c := range got.Connections {
			w := testTopics[k]
			want := []string{w.Name, w.Type, w.Metadata["md5sum"], w.Metadata["callerid"], w.Metadata["latching"],
				string(w.Schema.Data)}
			if !slices.Equal(c, want) {
				t.Errorf("%s: connection %q, want %q", name, c, want)
			}
		}
	}
	lines = strings.Split(strings.TrimSpace(run(t, "/usr/bin/python3", append([]string{"testdata/referee/tools.py"},
		paths...)...)), "\n")
	if len(lines) != len(paths) {
		t.Fatalf("%d lines for %d bags", len(lines), len(paths))
	}
	for i, line := range lines {
		type result struct {
			Status int
			Output string
		}
		var got struct{ Info, Check, Reindex result }
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(paths[i])
		if got.Info.Status != 0 || !strings.Contains(got.Info.Output, fmt.Sprintf("size: %d\n", sizes[i])) {
			t.Errorf("rosbag info %s: %+v", name, got.Info)
		}
		if got.Check.Status != 0 || !strings.Contains(got.Check.Output, "Bag file does not need any migrations") {
			t.Errorf("rosbag check %s: %+v", name, got.Check)
		}
		if got.Reindex.Status != 0 {
			t.Errorf("rosbag reindex %s: %+v", name, got.Reindex)
		}
		r := open(t, paths[i], storage.ReadOptions{Strict: true})
		if n := len(readAll(t, r)); n != len(messages) && name != "empty.bag" {
			t.Errorf("%s has %d messages after rosbag reindex", name, n)
		}
	}
}

// TestRefereeCpp has roscpp's library read our bags.
func TestRefereeCpp(t *testing.T) {
	if testing.Short() {
		t.Skip("writes large bags")
	}
	bin := filepath.Join(t.TempDir(), "count")
	args := []string{"-O1", "-o", bin, "testdata/referee/count.cpp"}
	for _, p := range []string{"class_loader", "pluginlib", "rcpputils", "rcutils", "ament_index_cpp"} {
		args = append(args, "-I/usr/include/"+p)
	}
	for _, l := range []string{"rosbag_storage", "roscpp_serialization", "rostime", "cpp_common", "console_bridge",
		"boost_system",
		"class_loader", "rcpputils", "rcutils", "ament_index_cpp", "tinyxml2"} {
		args = append(args, "-l"+l)
	}
	if out, err := exec.Command("g++", args...).CombinedOutput(); err != nil {
		missing(t, "librosbag-storage-dev", fmt.Errorf("%w: %.2000s", err, out))
	}
	messages := bigMessages()
	paths := refereeBags(t, messages)
	lines := strings.Split(strings.TrimSpace(run(t, bin, paths...)), "\n")
	if len(lines) != len(paths) {
		t.Fatalf("%d lines for %d bags: %s", len(lines), len(paths), lines)
	}
	bytes, first, last, sum := summary(messages)
	want := fmt.Sprintf("ok %d 3 %d %d %d %016x", len(messages), bytes, first, last, sum)
	for i, line := range lines {
		name := filepath.Base(paths[i])
		if name == "empty.bag" {
			want = fmt.Sprintf("ok 0 0 0 0 0 %016x", 0)
		}
		if line != want {
			t.Errorf("%s: %s, want %s", name, line, want)
		}
	}
	t.Run("encrypted", func(t *testing.T) { encryptedCpp(t, bin) })
	appendCpp(t, bin)
	t.Run("old", func(t *testing.T) { oldCpp(t, bin) })
}

// oldCpp has roscpp's library read bags of version 1.2 with an index, those of the tests and real
// ones, and compares what it reads with what we read.
func oldCpp(t *testing.T, bin string) {
	paths := []string{filepath.Join(t.TempDir(), "1.2.bag")}
	written := oldForms[0].messages(5000, 40)
	if err := os.WriteFile(paths[0], oldForms[0].write(written), 0o600); err != nil {
		t.Fatal(err)
	}
	paths = append(paths, samples.Glob(t, "ros1/*/v1.2-indexed.bag")...)
	for i, path := range paths {
		r, err := openReader(t.Context(), path, storage.ReadOptions{Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		messages := readAll(t, r)
		bytes, first, last, sum := summary(messages)
		if i == 0 && len(messages) != len(written) {
			t.Errorf("%d messages, want %d", len(messages), len(written))
		}
		// Connections are not compared: the library has one for each topic, and here each publisher has one.
		got := strings.Fields(run(t, bin, path))
		want := strings.Fields(fmt.Sprintf("ok %d - %d %d %d %016x", len(messages), bytes, first, last, sum))
		if len(got) != len(want) || !slices.Equal(append(got[:2:2], got[3:]...), append(want[:2:2], want[3:]...)) {
			t.Errorf("%s: the library reads %s, want %s", path, got, want)
		}
	}
}

// appendCpp adds to a bag by turns, with the library and with Writer.
func appendCpp(t *testing.T, bin string) {
	messages := testMessages(90)
	path, more := filepath.Join(t.TempDir(), "x.bag"), filepath.Join(t.TempDir(), "more.bag")
	write(t, path, storage.WriteOptions{NoSync: true}, messages)
	write(t, more, storage.WriteOptions{NoSync: true}, messages)
	writeAs(t, adding, path, storage.WriteOptions{NoSync: true}, messages)
	run(t, bin, "--append", path, more)
	writeAs(t, adding, path, storage.WriteOptions{NoSync: true}, messages)
	run(t, bin, "--append", path, more)
	bytes, first, last, sum := summary(messages)
	r := open(t, path, storage.ReadOptions{Strict: true})
	n := len(readAll(t, r))
	info := r.Info()
	if n != 5*len(messages) || info.Start != first || info.End != last {
		t.Errorf("%d messages from %d to %d; want %d from %d to %d", n, info.Start, info.End, 5*len(messages), first, last)
	}
	conns := 0 // with messages: the library lists no others
	for _, topic := range info.Topics {
		if topic.Messages > 0 {
			conns++
		}
	}
	got := strings.Fields(run(t, bin, path))
	want := strings.Fields(fmt.Sprintf("ok %d %d %d %d %d %016x", 5*len(messages), conns, 5*bytes, first, last, 5*sum))
	if !slices.Equal(got, want) {
		t.Errorf("the library reads %s, want %s", got, want)
	}
}

// encryptedCpp has roscpp's library decrypt what we encrypt, and reads what it encrypts.
func encryptedCpp(t *testing.T, bin string) {
	gpgHome(t, "%no-protection")               // it asks for a passphrase in a window
	t.Setenv("ROS_PACKAGE_PATH", "/usr/share") // where the plugin is found
	dir, messages := t.TempDir(), testMessages(200)
	slices.SortStableFunc(messages, func(a, b storage.Message) int { return cmp.Compare(a.LogTime, b.LogTime) })
	plain := filepath.Join(dir, "plain.bag")
	write(t, plain, storage.WriteOptions{NoSync: true}, messages)
	bytes, first, last, sum := summary(messages)
	want := fmt.Sprintf("ok %d 3 %d %d %d %016x", len(messages), bytes, first, last, sum)
	for _, codec := range Format.Options.Choices(storage.NameCompression) {
		ours, theirs := filepath.Join(dir, codec+".bag"), filepath.Join(dir, codec+"-cpp.bag")
		write(t, ours, storage.WriteOptions{Compression: codec, ChunkSize: 2000, NoSync: true,
			Values: map[string]string{storage.NameEncrypt: "gpg:" + testName}}, messages)
		if got := strings.TrimSpace(run(t, bin, ours)); got != want {
			t.Errorf("%s: %s, want %s", codec, got, want)
		}
		run(t, bin, "--encrypt", plain, theirs, codec, testName)
		r := open(t, theirs, storage.ReadOptions{Strict: true, CheckIndexes: true})
		got := readAll(t, r)
		n, first, last, sum := summary(got)
		if have := fmt.Sprintf("ok %d %d %d %d %d %016x", len(got), len(info(t, r).Topics), n, first, last,
			sum); have != want {
			t.Errorf("%s by roscpp: %s, want %s", codec, have, want)
		}
	}
}
