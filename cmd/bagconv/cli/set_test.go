package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
)

// An editCase is a line of testdata/set.py and testdata/frames.py: an edit, what is wrong with its result, or the end.
type editCase struct {
	Path, Topic, Set       string
	Flags                  []string
	Changed                int64
	Wrong                  *string
	Done, Refused, Changes int
}

// judgeEdits runs a referee: it prints edits, reads where their outputs are, and prints what is wrong. It returns the
// last line.
func judgeEdits(t *testing.T, cmd *exec.Cmd, run func(c *editCase, out string)) editCase {
	t.Helper()
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	var said strings.Builder
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var asked, c editCase
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for n := 0; lines.Scan(); n++ {
		if c = (editCase{}); json.Unmarshal(lines.Bytes(), &c) != nil {
			t.Fatal(lines.Text())
		}
		switch {
		case c.Wrong != nil && *c.Wrong != "":
			t.Errorf("%s %s %q: %s", asked.Path, asked.Set, asked.Flags, *c.Wrong)
		case c.Path != "":
			asked = c
			made := filepath.Join(dir, fmt.Sprint(n, filepath.Ext(c.Path)))
			run(&c, made)
			if _, err := os.Stat(made); err != nil {
				made = ""
			}
			if _, err := io.WriteString(in, made+"\n"); err != nil {
				t.Fatal(err, said.String())
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err, said.String())
	}
	return c
}

// TestSetReferee: --set makes of the messages what a plain loop in Python makes of them, and leaves all other fields as
// they are.
func TestSetReferee(t *testing.T) {
	python := os.Getenv("BAGCONV_ROSBAGS_PYTHON")
	if python == "" {
		if os.Getenv("CI") == "true" {
			t.Error("BAGCONV_ROSBAGS_PYTHON is missing")
		}
		t.Skip("no rosbags")
	}
	cmd := exec.Command(python, append([]string{"testdata/set.py", strconv.Itoa(samples.Pick(3000, 80, 40)), "11"},
		rosRecordings(t)...)...)
	c := judgeEdits(t, cmd, func(c *editCase, out string) {
		status, printed := runWords([]string{"bagconv", "filter", c.Path, out, "-q", "-t", c.Topic, "--set", c.Set})
		if status != 0 && status != 3 { // a value does not fit, or IN is damaged
			t.Errorf("%s --set '%s': status %d: %s", c.Path, c.Set, status, printed)
		}
	})
	if c.Done < 40 || c.Changes < c.Done/3 || c.Refused == 0 {
		t.Errorf("%d edits, %d change something, %d are refused for a message", c.Done, c.Changes, c.Refused)
	}
	t.Logf("%d edits, %d change something, %d are refused for a message", c.Done, c.Changes, c.Refused)
}

// TestFramesReferee: frames and transforms are those of a plain loop in Python, tf2 answers the same about both, and as
// many values as the loop has changed are counted.
func TestFramesReferee(t *testing.T) {
	const python = "/usr/bin/python3" // Debian's, for which the packages of ROS 1 are
	if out, err := exec.Command(python, "-c", "import tf2_py, rosbag, tf2_msgs").CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("python3-tf2 is missing: %s", out)
		}
		t.Skip("this machine has no python3-tf2")
	}
	var bags []string
	for _, path := range rosRecordings(t) {
		if filepath.Ext(path) == ".bag" {
			bags = append(bags, path)
		}
	}
	bags = bags[:min(len(bags), samples.Pick(1000, 60, 20))]
	c := judgeEdits(t, exec.Command(python, append([]string{"testdata/frames.py"}, bags...)...),
		func(c *editCase, out string) {
			_, printed := runWords(append([]string{"bagconv", "filter", c.Path, out, "--order", "file", "-q", "--json"},
				c.Flags...))
			var report struct {
				Notes []struct {
					Code  string
					Count int64
				}
			}
			if err := json.NewDecoder(strings.NewReader(printed[max(strings.Index(printed, "{"), 0):])).Decode(&report); err != nil {
				t.Fatal(printed)
			}
			var changed int64
			for _, n := range report.Notes {
				if n.Code == "edited" {
					changed += n.Count
				}
			}
			if changed != c.Changed {
				t.Errorf("%s %q: %d values are counted, and the loop has changed %d", c.Path, c.Flags, changed, c.Changed)
			}
		})
	if c.Done == 0 {
		t.Error("no bag has transforms")
	}
	t.Logf("%d edits", c.Done)
}
