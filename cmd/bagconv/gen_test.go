package main

import (
	"bufio"
	"bytes"
	bin "encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/schema/builtin"
)

// exhaustive tests take minutes, and run with BAGCONV_EXHAUSTIVE=1.
func exhaustive(t *testing.T) {
	t.Helper()
	if os.Getenv("BAGCONV_EXHAUSTIVE") == "" {
		t.Skip("takes minutes; BAGCONV_EXHAUSTIVE=1 runs it")
	}
}

// A program is generated code, built: it prints the frames of its standard input.
type program []string

// buildCPP generates C++ and compiles it; it returns "" if there is nothing to generate.
func buildCPP(t *testing.T, compiler []string, args ...string) program {
	t.Helper()
	cxx, err := exec.LookPath(compiler[0])
	if err != nil {
		missing(t, compiler[0])
	}
	dir := t.TempDir()
	status, stderr := bagconv(t, append([]string{"gen", "cpp", "-o", dir}, args...)...)
	switch {
	case status == 1 && (strings.Contains(stderr, "no topic for which") || strings.Contains(stderr, "it has no messages")):
		return nil
	case status != 0 && status != 3:
		t.Fatalf("gen cpp %v: %d %s", args, status, stderr)
	}
	sources, err := filepath.Glob(filepath.Join(dir, "*.cpp"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(cxx, slices.Concat(compiler[1:], []string{"-Wall", "-Wextra", "-Werror", "-pedantic", "-o",
		"example"}, sources)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v %v: %v\n%.3000s", compiler, args, err, out)
	}
	return program{filepath.Join(dir, "example")}
}

// output runs a command, and returns its standard output and exit status.
func output(t *testing.T, in io.Reader, name string, args ...string) ([]byte, int) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Stdin = in
	cmd.Env = append(os.Environ(), "ASAN_OPTIONS=exitcode=99", "UBSAN_OPTIONS=halt_on_error=1:exitcode=99")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if status := cmd.ProcessState.ExitCode(); status != 0 && status != 1 && status != 3 {
		t.Fatalf("%s %v: exit status %d: %.3000s", name, args, status, stderr.String())
	}
	return out, cmd.ProcessState.ExitCode()
}

// sameAsCat compares what generated code prints of a recording with what cat prints.
func sameAsCat(t *testing.T, p program, path string) (frames []byte) {
	t.Helper()
	frames, _ = output(t, nil, binary, "cat", path, "--raw", "--framed")
	got, _ := output(t, bytes.NewReader(frames), p[0], p[1:]...)
	want, _ := output(t, nil, binary, "cat", path, "--bytes", "--arrays")
	if bytes.Equal(got, want) {
		again, _ := output(t, bytes.NewReader(frames), p[0], append(p[1:], "--frames")...)
		if plain := !bytes.Contains(frames, []byte("cdr")); plain && !bytes.Equal(again, frames) {
			t.Fatalf("%s: messages that are written again have other bytes", path)
		}
		if got, _ := output(t, bytes.NewReader(again), p[0], p[1:]...); !bytes.Equal(got, want) {
			t.Fatalf("%s: messages that are written again are not equal", path)
		}
		return frames
	}
	gotLines, wantLines := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range min(len(gotLines), len(wantLines)) {
		if !bytes.Equal(gotLines[i], wantLines[i]) {
			t.Fatalf("%s: line %d of %d is\n%.2000s\nand of cat, of %d,\n%.2000s", path, i, len(gotLines), gotLines[i],
				len(wantLines), wantLines[i])
		}
	}
	t.Fatalf("%s: %d lines, and %d of cat", path, len(gotLines), len(wantLines))
	return nil
}

// mutated returns n frames with damaged messages: bytes changed, cut, repeated, lengths made large.
func mutated(frames []byte, n int, seed uint64) []byte {
	var heads, messages [][]byte
	for b := frames; len(b) >= 20; {
		size := 4 + int(bin.LittleEndian.Uint32(b))
		head := 20 + int(bin.LittleEndian.Uint16(b[12:])) + int(bin.LittleEndian.Uint16(b[14:])) +
			int(bin.LittleEndian.Uint32(b[16:]))
		if size-head < 20_000 {
			heads, messages = append(heads, b[:head]), append(messages, b[head:size])
		}
		b = b[size:]
	}
	if len(messages) == 0 {
		return nil
	}
	r := rand.New(rand.NewPCG(seed, 1))
	var out []byte
	for i := range n {
		k := r.IntN(len(messages))
		m := bytes.Clone(messages[k])
		for range 1 + r.IntN(3) {
			switch at := r.IntN(len(m) + 1); r.IntN(5) {
			case 0:
				m = m[:at]
			case 1:
				m = append(m, messages[r.IntN(len(messages))]...)
			case 2:
				if at+4 <= len(m) {
					bin.LittleEndian.PutUint32(m[at:], []uint32{0, 1, 0xffffffff, 0x7fffffff, 0x10000, uint32(len(m))}[i%6])
				}
			case 3:
				if len(m) > 1 && r.IntN(4) == 0 {
					m[1] = []byte{0, 1, 6, 7, 8, 9, 0x10, 0x14}[i%8] // another form of CDR
				}
			default:
				if at < len(m) {
					m[at] ^= 1 << r.IntN(8)
				}
			}
		}
		head := bytes.Clone(heads[k])
		bin.LittleEndian.PutUint32(head, uint32(len(head)-4+len(m)))
		out = append(append(out, head...), m...)
	}
	return out
}

// TestGeneratedCPP: generated C++ compiles without a warning, prints what cat prints, and reports
// damaged messages.
func TestGeneratedCPP(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles C++")
	}
	folder := filepath.Join(t.TempDir(), "ros2")
	convert(t, "../../testdata/demo.bag", folder)
	p := buildCPP(t, []string{"g++", "-std=c++20", "-O0"}, folder)
	frames := sameAsCat(t, p, folder)
	if again, _ := output(t, bytes.NewReader(frames), p[0], "--frames"); !bytes.Equal(again, frames) {
		t.Error("messages in CDR that are written again have other bytes")
	}
	if _, status := output(t, bytes.NewReader(mutated(frames, 2000, 1)), p[0]); status != 1 {
		t.Errorf("exit status %d after damaged messages", status)
	}
	if _, status := output(t, bytes.NewReader(frames[:len(frames)-1]), p[0]); status != 1 {
		t.Errorf("exit status %d after a frame that ends early", status)
	}
}

// TestGeneratedByTopic: the code of two recordings, by topic, each in a namespace of its own, is one program.
func TestGeneratedByTopic(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles C++")
	}
	const bag = "../../testdata/demo.bag"
	compiler := []string{"g++", "-std=c++11", "-O0"}
	sameAsCat(t, buildCPP(t, compiler, bag, "--by-topic", "--namespace", "drive"), bag)
	dir := t.TempDir()
	folder := filepath.Join(dir, "ros2")
	convert(t, bag, folder)
	for space, in := range map[string]string{"drive": bag, "acme::other": folder} {
		if status, stderr := bagconv(t, "gen", "cpp", in, "-t", "/imu/data", "--by-topic", "--namespace", space, "-o",
			filepath.Join(dir, space[:4])); status != 0 {
			t.Fatal(stderr)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "main.cpp"), []byte(`#include "driv/imu_data.h"
#include "acme/imu_data.h"
int main() {
  drive::imu_data::object from;
  from.header.frame_id = "imu";
  from.orientation.w = 0.5;
  acme::other::imu_data::object to;
  to.header.frame_id = from.header.frame_id;
  to.orientation.w = from.orientation.w;
  acme::other::ToolStream out(acme::other::ToolStream::kCdr);
  out << to;
  acme::other::ToolStream in(out.Bytes().data(), out.Bytes().size(), acme::other::ToolStream::kCdr);
  acme::other::imu_data::object again;
  in >> again;
  acme::other::imu_data::Quaternion_type q = again.orientation;
  return in.Finish() && q.w == 0.5 && again.header.frame_id == "imu" ? 0 : 1;
}
`), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", "g++ -std=c++11 -Wall -Wextra -Werror main.cpp driv/public_header.cpp driv/imu_data.cpp "+
		"acme/public_header.cpp acme/imu_data.cpp -o main && ./main")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if status, stderr := bagconv(t, "gen", "cpp", bag, "--namespace", "class", "-o", filepath.Join(dir, "x")); status == 0 ||
		!strings.Contains(stderr, `"class" is no namespace of C++`) {
		t.Errorf("%d %s", status, stderr)
	}
}

// TestCodegenDocs: the commands of docs/codegen.md run, and what they build prints what cat prints.
func TestCodegenDocs(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles C++")
	}
	if _, err := exec.LookPath("cmake"); err != nil {
		missing(t, "cmake")
	}
	text, err := os.ReadFile("../../docs/codegen.md")
	if err != nil {
		t.Fatal(err)
	}
	recording, err := os.ReadFile("../../testdata/demo.bag")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "drive.bag"), recording, 0o666); err != nil {
		t.Fatal(err)
	}
	script := "set -e\n"
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		script += block[1]
	}
	script = strings.ReplaceAll(script, "loader/build/example\n", "loader/build/example > got.txt\n")
	cmd := exec.Command("sh", "-c", script+"bagconv cat drive.bag --bytes --arrays > want.txt\ncmp got.txt want.txt\n")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(binary)+string(os.PathListSeparator)+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(script, "cmake") {
		t.Fatalf("%v\n%s\n%s", err, script, out)
	}
}

// genInputs lists the recordings that have messages of ROS.
func genInputs(t *testing.T) (paths []string) {
	for _, path := range catInputs(t) {
		if !strings.Contains(filepath.Base(path), ".record") {
			paths = append(paths, path)
		}
	}
	return paths
}

// TestGeneratedCPPEverywhere: every recording; the first of them, until 100,000 damaged messages were
// read, with sanitizers.
func TestGeneratedCPPEverywhere(t *testing.T) {
	exhaustive(t)
	sanitized := []string{"g++", "-std=c++11", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"}
	plain := []string{"g++", "-std=c++11", "-O0"}
	messages := 0
	eachGenerated(t, func(i int, path string) {
		if messages >= 100_000 {
			sameAsCat(t, buildCPP(t, plain, path), path)
			return
		}
		p := buildCPP(t, sanitized, path)
		if damaged := mutated(sameAsCat(t, p, path), 5000, uint64(i)); damaged != nil {
			output(t, bytes.NewReader(damaged), p[0])
			messages += 5000
		}
	})
	if messages < 100_000 {
		t.Errorf("only %d damaged messages", messages)
	}
}

// eachGenerated calls f with each recording from which code is generated whole. Of
// recordings with the same topics one is enough.
func eachGenerated(t *testing.T, f func(i int, path string)) {
	t.Helper()
	known := map[string]bool{}
	for i, path := range genInputs(t) {
		topics, _ := output(t, nil, binary, "schema", path)
		listed, _ := output(t, nil, binary, "topics", path)
		key := string(topics) + string(listed)
		if status, _ := bagconv(t, "gen", "cpp", path, "-o", t.TempDir()); status != 0 || known[key] {
			continue // damaged, not all of it is ROS, or like another
		}
		known[key] = true
		f(i, path)
	}
}

// TestGeneratedCPPStandard: all types of all distributions compile, in both standards, with each compiler.
func TestGeneratedCPPStandard(t *testing.T) {
	exhaustive(t)
	for _, distro := range builtin.Distros() {
		if distro == "lyrical" || distro == "rolling" {
			continue // their types are those of kilted
		}
		for _, compiler := range []string{"g++", "clang++"} {
			for _, standard := range []string{"-std=c++11", "-std=c++20"} {
				buildCPP(t, []string{compiler, standard, "-O0"}, "--distro", distro)
			}
		}
	}
}

// TestFrames: the frames of cat have the messages of a recording.
func TestFrames(t *testing.T) {
	const in = "../../testdata/demo.bag"
	frames, _ := output(t, nil, binary, "cat", in, "--raw", "--framed")
	lines, _ := output(t, nil, binary, "cat", in, "--raw")
	s := bufio.NewScanner(bytes.NewReader(lines))
	s.Buffer(nil, 1<<30)
	n := 0
	for ; s.Scan(); n++ {
		line := rawLine(t, s.Bytes())
		size := 4 + bin.LittleEndian.Uint32(frames)
		time, e, y, p := int64(bin.LittleEndian.Uint64(frames[4:])), uint32(bin.LittleEndian.Uint16(frames[12:])), uint32(
			bin.LittleEndian.Uint16(frames[14:])), bin.LittleEndian.Uint32(frames[16:])
		texts := string(frames[20 : 20+e+y+p])
		if time != line.time || !strings.HasPrefix(texts, "ros1") || !strings.HasSuffix(texts, line.topic) ||
			!bytes.Equal(frames[20+e+y+p:size], line.raw) {
			t.Fatalf("frame %d: %d %s, not %d %s", n, time, texts, line.time, line.topic)
		}
		frames = frames[size:]
	}
	if n == 0 || len(frames) > 0 {
		t.Errorf("%d frames, and %d bytes are left", n, len(frames))
	}
}

// A rawMessage is a line of cat --raw.
type rawMessage struct {
	topic string
	time  int64
	raw   []byte
}

func rawLine(t *testing.T, text []byte) rawMessage {
	t.Helper()
	var line struct {
		Topic string
		Time  int64 `json:",string"`
		Raw   []byte
	}
	if err := json.Unmarshal(text, &line); err != nil {
		t.Fatal(err)
	}
	return rawMessage{line.Topic, line.Time, line.Raw}
}
