package cli_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bagconv/bagconv/cmd/bagconv/cli"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/remote"
	"github.com/bagconv/bagconv/internal/testing/s3test"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// bagconv runs a command, and returns its exit status and all that it prints.
func bagconv(args ...string) (status int, out string) {
	var b bytes.Buffer
	status = cli.Run(context.Background(), append([]string{"bagconv"}, args...), cli.Stdio{Out: &b, Err: &b},
		all.Registry())
	return status, b.String()
}

func must(t *testing.T, args ...string) string {
	t.Helper()
	status, out := bagconv(args...)
	if status != 0 {
		t.Fatalf("bagconv %q: status %d: %s", args, status, out)
	}
	return out
}

// s3Outputs are outputs of all formats, with the flags that they need.
var s3Outputs = []struct {
	name string
	args []string
}{
	{"x.bag", nil}, {"a b%20ü.mcap", nil}, {"x.record", nil}, {"db/", nil}, {"mcap/", []string{"--storage", "mcap"}},
	{"parts.record", []string{"--segment-size", "100k"}},
}

// TestS3 writes every format to two servers and reads it from there: what is there is byte for
// byte what is written to the disk. The same through a proxy that fails each request once and
// cuts each answer.
func TestS3(t *testing.T) { testStores(t, s3test.Names) }

// eachServer runs a test with each of some servers.
func eachServer(t *testing.T, servers []string, test func(t *testing.T, server string)) {
	for _, server := range servers {
		t.Run(server, func(t *testing.T) { test(t, server) })
	}
}

func testStores(t *testing.T, servers []string) {
	for i, server := range servers {
		for _, faulty := range []bool{false, true} {
			name := server
			if faulty {
				name += "-faults"
			}
			t.Run(name, func(t *testing.T) {
				if faulty && testing.Short() {
					t.Skip("faults take long")
				}
				s := s3test.Start(t, server)
				t.Setenv("XDG_CACHE_HOME", t.TempDir())
				if faulty {
					defer func(d time.Duration) { remote.Pause = d }(remote.Pause)
					remote.Pause = time.Millisecond
					s.Faults(t, false)
				}
				local := t.TempDir()
				for k, o := range s3Outputs {
					// each is written to one server, and with BAGCONV_EXHAUSTIVE=1 to each
					if faulty && (i+k)%samples.Pick(1, 2, 2) != 0 {
						continue
					}
					writeBoth(t, s, local, o.name, o.args)
				}
				if left := s.Uploads(t); len(left) > 0 {
					t.Errorf("uploads are left: %q", left)
				}
				if keys := s.Keys(t, "d/."); len(keys) > 0 {
					t.Errorf("objects are left: %q", keys)
				}
			})
		}
	}
}

// testCuts writes and reads every format while each answer with a body is cut, always: a run has the bytes
// that it has on the disk, or it fails and nothing is under the name.
func testCuts(t *testing.T, server string) {
	if testing.Short() {
		t.Skip("faults take long")
	}
	s := s3test.Start(t, server)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	defer func(d time.Duration) { remote.Pause = d }(remote.Pause)
	remote.Pause = time.Millisecond
	const demo = "../../../testdata/demo.bag"
	local := t.TempDir()
	wrote, read := 0, 0
	for i, o := range s3Outputs {
		s.Use(t, s.Endpoint)
		backName := filepath.Join(local, strconv.Itoa(i)+".bag")
		here, there := filepath.Join(local, o.name), s.URL+"/in/"+o.name
		if strings.HasSuffix(o.name, "/") {
			here += "/"
		}
		must(t, append([]string{demo, here, "-q"}, o.args...)...)
		must(t, append([]string{demo, there, "-q"}, o.args...)...)
		s.Faults(t, true)
		status, out := bagconv(append([]string{demo, s.URL + "/out/" + o.name, "-q"}, o.args...)...)
		back, backOut := bagconv(there, backName, "-q")
		s.Use(t, s.Endpoint)
		base := "out/" + strings.TrimSuffix(o.name, "/")
		if keys := s.Keys(t, base); status == 0 {
			wrote++
			must(t, "verify", here, s.URL+"/out/"+o.name)
		} else if len(keys) > 0 || !strings.Contains(out, s.URL) {
			t.Errorf("%s: %q are there after status %d: %s", o.name, keys, status, out)
		}
		if back == 0 {
			read++
			must(t, "verify", here, backName)
		} else if _, err := os.Lstat(backName); err == nil || !strings.Contains(backOut, s.URL) {
			t.Errorf("%s is read: an output is there after status %d: %s", o.name, back, backOut)
		}
	}
	t.Logf("of %d formats %d were written and %d read, the others failed", len(s3Outputs), wrote, read)
}

func TestS3Cuts(t *testing.T) { testCuts(t, "versitygw") }

// writeBoth writes an output to the disk and to the server, compares both, and converts the
// latter back.
func writeBoth(t *testing.T, s *s3test.Server, local, name string, args []string) {
	const demo = "../../../testdata/demo.bag"
	here, there := filepath.Join(local, name), s.URL+"/d/"+name
	if strings.HasSuffix(name, "/") {
		here += "/"
	}
	must(t, append([]string{demo, here, "-q"}, args...)...)
	must(t, append([]string{demo, there, "-q", "--verify", "content"}, args...)...)
	var keys []string
	err := filepath.WalkDir(local, func(path string, d os.DirEntry, err error) error {
		rel, _ := filepath.Rel(local, path)
		if err == nil && !d.IsDir() && strings.HasPrefix(rel, strings.TrimSuffix(name, "/")) {
			keys = append(keys, "d/"+filepath.ToSlash(rel))
			sameBytes(t, path, s.URL+"/d/"+filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Keys(t, "d/"+strings.TrimSuffix(name, "/")); !slices.Equal(got, keys) {
		t.Errorf("%s: the server has %q, the disk %q", name, got, keys)
	}
	if out := must(t, "verify", there, here); !strings.Contains(out, "equal in content") {
		t.Error(out)
	}
	if status, out := bagconv(append([]string{demo, there, "-q"}, args...)...); status != 1 ||
		!strings.Contains(out, "exist") {
		t.Errorf("%s is there already: status %d: %s", name, status, out)
	}
	must(t, append([]string{demo, there, "-q", "--force"}, args...)...)
	must(t, there, filepath.Join(t.TempDir(), "back.bag"), "-q")
}

// sameBytes compares a file with an object.
func sameBytes(t *testing.T, path, url string) {
	t.Helper()
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := remote.New(context.Background(), &remote.Settings{}).Open(url)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(f)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: %d bytes, and %d on the disk, %v", url, len(got), len(want), err)
	}
}

// TestS3Requests counts the requests of outputs: those that look at names are asked once.
func TestS3Requests(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	s := s3test.NewFake(t)
	var requests []string
	s.Fault = func(_ http.ResponseWriter, r *http.Request) bool {
		requests = append(requests, r.Method+" "+r.URL.RequestURI())
		return false
	}
	const bucket = "s3://" + s3test.Bucket + "/d/e/"
	for _, c := range []struct {
		in, out string
		most    int
	}{{"../../../testdata/demo.bag", bucket + "x.bag", 12}, {"../../../testdata/demo.bag", bucket + "db/", 20},
		{bucket + "x.bag", bucket + "y.mcap", 25}} {
		requests = nil
		must(t, c.in, c.out, "-q", "--threads", "1", "--connections", "1")
		if len(requests) > c.most {
			t.Errorf("%s: %d requests, more than %d:\n%s", c.out, len(requests), c.most, strings.Join(requests, "\n"))
		}
	}
}

// TestS3NoDisk: an output in parts of 16 MiB needs no file of this machine, and has the bytes of a local one.
func TestS3NoDisk(t *testing.T) { testNoDisk(t, "versitygw") }

func testNoDisk(t *testing.T, server string) {
	s := s3test.Start(t, server)
	in, local := largeBag(t, 24), t.TempDir()
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	store := remote.New(context.Background(), &remote.Settings{})
	for _, c := range []struct {
		file, out string // file is what is compared
		flags     []string
	}{
		{"x.bag", "x.bag", nil},
		{"x.mcap", "x.mcap", []string{"--compression", "none"}},
		{"x.record", "x.record", nil},
		{"x.db3", "x.db3", nil},
		{"back.db3", "back.db3", []string{"--verify", "content"}},
		{"db/db_0.db3", "db/", []string{"--segment-size", "17M"}},
		{"zstd/zstd_0.db3.zstd", "zstd/", []string{"--compression", "zstd"}},
		{"rows/rows_0.db3", "rows/", []string{"--compression", "zstd", "--compression-mode", "message"}},
	} {
		url := s.URL + "/" + c.out
		if out := must(t, append([]string{in, url, "-q"}, c.flags...)...); out != "" {
			t.Errorf("%s: %s", c.out, out)
		}
		must(t, append([]string{in, filepath.Join(local, c.out) + strings.Repeat("/", strings.Count(c.out, "/")), "-q"},
			c.flags...)...)
		must(t, "verify", "-q", in, url)
		want, err := os.ReadFile(filepath.Join(local, c.file))
		f, err2 := store.Open(s.URL + "/" + c.file)
		if err = errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(f)
		if err = errors.Join(err, f.Close()); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %d on this machine, %v", c.file, len(got), len(want), err)
		}
	}
	if left := s.Uploads(t); len(left) > 0 {
		t.Errorf("uploads are left: %q", left)
	}
}

// largeBag writes a bag of so many messages of 1 MiB that do not compress.
func largeBag(t *testing.T, messages int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "large.bag")
	w, err := all.Registry().Lookup("bag").Create(context.Background(), path, storage.WriteOptions{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	topic := storage.Topic{Name: "/x", Type: "std_msgs/String", Encoding: "ros1",
		Schema: storage.Schema{Encoding: "ros1msg", Data: []byte("string data\n")}}
	if _, err := w.CreateTopic(topic); err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 4+1<<20)
	data[2] = 1 << 4 // 1 MiB
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range messages {
		for k := range data[4:] {
			data[4+k] = 'a' + byte(rng.Uint32()%26)
		}
		if err := w.Write(&storage.Message{LogTime: int64(i+1) * 1e9, Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestS3Killed kills runs at random moments: nothing of theirs is under the final name unless it
// is whole, and the next run gives up what they have begun.
func TestS3Killed(t *testing.T) {
	servers := s3test.Names[:1]
	if os.Getenv("BAGCONV_EXHAUSTIVE") != "" {
		servers = s3test.Names
	}
	eachServer(t, servers, testKilled)
}

func testKilled(t *testing.T, server string) {
	s := s3test.Start(t, server)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	program, err := exec.LookPath("bagconv") // TestMain has put it there
	if err != nil {
		t.Fatal(err)
	}
	kills := 6
	if os.Getenv("BAGCONV_EXHAUSTIVE") != "" {
		kills = 50
	}
	in := largeBag(t, 60)
	cut := 0 // uploads
	url := s.URL + "/killed.bag"
	for i := range kills {
		// part after part, in a second
		cmd := exec.Command(program, in, url, "-q", "--force", "--bandwidth", "60M", "--connections", "1")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 { // at any moment; else when something is there
			time.Sleep(time.Duration(rand.IntN(1000)) * time.Millisecond)
		}
		for end := time.Now().Add(2 * time.Second); i%2 == 1 && len(s.Uploads(t)) == 0 && time.Now().Before(end); {
			time.Sleep(time.Duration(rand.IntN(100)) * time.Millisecond)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if len(s.Uploads(t)) > 0 {
			cut++
		}
		if keys := s.Keys(t, "killed"); len(keys) > 0 {
			must(t, "verify", in, url)
		}
		if i == kills-1 {
			must(t, in, url, "-q", "--force")
		}
	}
	must(t, "verify", in, url)
	if left := s.Uploads(t); len(left) > 0 {
		t.Errorf("uploads are left: %q", left)
	}
	if t.Logf("%d of %d kills cut an upload", cut, kills); cut < kills/3 {
		t.Errorf("only %d of %d kills cut an upload", cut, kills)
	}
}

// TestS3Rivals begins a second run of the same name while a first one is busy: the one that ends
// first wins, the other one fails, and nothing of it is left.
func TestS3Rivals(t *testing.T) { testRivals(t, "versitygw") }

func testRivals(t *testing.T, server string) {
	s := s3test.Start(t, server)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	in, url := largeBag(t, 20), s.URL+"/rivals.bag"
	slow := start(t, in, url, "-q", "--bandwidth", "4M", "--compression", "lz4")
	waitUntil(func() bool { return len(s.Uploads(t)) > 0 })
	must(t, in, url, "-q")
	if err := slow.Wait(); err == nil || !strings.Contains(said(slow), "exist") {
		t.Errorf("the one that loses: %v, %s", err, said(slow))
	}
	must(t, "verify", in, url)
	local := filepath.Join(t.TempDir(), "rivals.bag")
	must(t, in, local, "-q")
	sameBytes(t, local, url)
	if left := s.Uploads(t); len(left) > 0 {
		t.Errorf("uploads are left: %q", left)
	}
}

// start starts bagconv as a process.
func start(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("bagconv", args...) // TestMain has put it into the PATH
	cmd.Stderr = &bytes.Buffer{}
	if err := cmd.Start(); err != nil {
		t.Error(err)
	}
	return cmd
}

// said returns what a process has written to standard error, when it has ended.
func said(cmd *exec.Cmd) string { return cmd.Stderr.(*bytes.Buffer).String() }

// waitUntil waits until something is true, for 20 s at most.
func waitUntil(is func() bool) {
	for end := time.Now().Add(20 * time.Second); !is() && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
}

// TestS3Definitions reads a folder of packages from a store.
func TestS3Definitions(t *testing.T) {
	s := s3test.Start(t, "versitygw")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	fsys := remote.New(context.Background(), &remote.Settings{})
	for name, text := range map[string]string{
		"ws/src/robot/package.xml": "<package><name>robot_msgs</name></package>", "ws/src/robot/msg/Odd.msg": "Part part\n",
		"ws/src/robot/msg/Part.msg": "int8 value\n",
		"ws/src/old/COLCON_IGNORE":  "-", "ws/src/old/msg/Old.msg": "int8 value\n",
	} {
		f, err := fsys.OpenFile(s.URL+"/"+name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil {
			_, err = io.WriteString(f, text)
		}
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	list := must(t, "defs", "list", s.URL+"/ws/")
	if strings.Count(list, "\n") != 3 || !strings.Contains(list, "robot_msgs/msg/Odd ") ||
		!strings.Contains(list, "robot_msgs/msg/Part ") {
		t.Error(list)
	}
	if text := must(t, "defs", "show", "robot_msgs/Odd", "--tree", "--defs", s.URL+"/ws"); !strings.Contains(text,
		"value") {
		t.Error(text)
	}
}
