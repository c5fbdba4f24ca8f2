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
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	var said strings.Builder
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var c struct {
		Path, Topic, Set, Wrong string
		Kept                    int
		Done, Refused, Changed  int
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for n := 0; lines.Scan(); n++ {
		wrong := strings.HasPrefix(lines.Text(), `{"wrong"`)
		if c.Wrong = ""; json.Unmarshal(lines.Bytes(), &c) != nil {
			t.Fatal(lines.Text())
		}
		switch {
		case c.Done > 0:
		case wrong && c.Wrong != "":
			t.Errorf("%s --set '%s': %s", c.Path, c.Set, c.Wrong)
		case !wrong:
			made := filepath.Join(dir, fmt.Sprint(n, filepath.Ext(c.Path)))
			status, printed := runWords([]string{"bagconv", "filter", c.Path, made, "-q", "-t", c.Topic, "--set", c.Set})
			if status != 0 && status != 3 { // a value does not fit, or IN is damaged
				t.Errorf("%s --set '%s': status %d: %s", c.Path, c.Set, status, printed)
			}
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
	if c.Done < 40 || c.Changed < c.Done/3 || c.Refused == 0 {
		t.Errorf("%d edits, %d change something, %d are refused for a message", c.Done, c.Changed, c.Refused)
	}
	t.Logf("%d edits, %d change something, %d are refused for a message", c.Done, c.Changed, c.Refused)
}
