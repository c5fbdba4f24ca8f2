package main

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestLiveCommands: the commands that docs/live.md begins with work as they are printed.
func TestLiveCommands(t *testing.T) {
	if l, err := net.Listen("tcp", "127.0.0.1:8765"); err != nil {
		t.Skip("port 8765 is in use")
	} else if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("curl"); err != nil {
		missing(t, "curl")
	}
	text, err := os.ReadFile("../../docs/live.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "```sh\n")
	block, _, _ = strings.Cut(block, "```")
	lines := strings.Split(strings.TrimSpace(block), "\n")
	if len(lines) < 3 || !strings.HasPrefix(lines[0], "bagconv serve drive.bag") {
		t.Fatalf("%q", lines)
	}
	dir := t.TempDir()
	source, err := os.ReadFile("../../testdata/demo.bag")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "drive.bag"), source, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	run := func(line string) *exec.Cmd {
		words := strings.Fields(line)
		for i, w := range words {
			if w == "#" {
				words = words[:i]
				break
			}
		}
		if words[0] == "bagconv" {
			words[0] = binary
		}
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "XDG_CACHE_HOME="+dir)
		return cmd
	}
	server := run(lines[0])
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if c, err := net.Dial("tcp", "127.0.0.1:8765"); err == nil {
			_ = c.Close()
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	var out bytes.Buffer
	for _, line := range lines[1:] {
		b, err := run(line).Output()
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
		out.Write(b)
	}
	if err := server.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := server.Wait(); err != nil {
		t.Error(err)
	}
	if got := out.String(); !strings.Contains(got, `"name": "drive.bag"`) || !strings.Contains(got, "#ROSBAG V2.0") {
		t.Errorf("%s", got)
	}
	convert(t, filepath.Join(dir, "drive.bag"), filepath.Join(dir, "want.mcap"), "--no-sync", "--compression", "none")
	want, err := os.ReadFile(filepath.Join(dir, "want.mcap"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "drive.mcap")); err != nil || !bytes.Equal(got, want) {
		t.Errorf("drive.mcap has %d bytes, want %d: %v", len(got), len(want), err)
	}
}
