package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The readers that judge what became of random types: testdata/referee/trees.

// A treeJob is one output for the referees.
type treeJob struct {
	Path, Format, Truth string
	Without             []string // topics that a named loss has left out
	Seq                 bool     // Header.seq is that of the truth
	Odd                 bool     // PyPI's rosbags does not know all of its shapes
}

// A verdict is the judgement of a referee on an output.
type verdict struct {
	Path, Reader string
	Messages     int // that were decoded and compared
	Problems     []string
}

// readerLimits are the shapes that a reader does not know although they are right:
// what it prints of them, and why that is not a fault of the output.
var readerLimits = []struct{ reader, problem, reason string }{
	{"@foxglove/rosmsg2-serialization", "wstring is implementation-defined", "it refuses every wstring"},
	{"@foxglove/rosmsg2-serialization", "Invalid field name",
		"it refuses names that rosidl refuses, as fields of ROS 1 may have them"},
	{"@foxglove/rosmsg2-serialization", "Cannot unambiguously determine", "it looks for a bare type name in all packages"},
	{"@foxglove/rosbag", "Cannot unambiguously determine", "it looks for a bare type name in all packages"},
	{"@foxglove/rosmsg2-serialization", "no root MessageDefinition",
		"it takes a type of constants alone for a module of constants"},
}

// limitOf returns which limit of a reader a problem is, -1 for none.
func limitOf(reader, problem string) int {
	for i, l := range readerLimits {
		if l.reader == reader && strings.Contains(problem, l.problem) {
			return i
		}
	}
	return -1
}

// referees are the interpreters that have other people's readers.
type referees struct{ rosbags, cyber, node, modules string }

func findReferees(t *testing.T) (r referees) {
	t.Helper()
	if r.rosbags = os.Getenv("BAGCONV_ROSBAGS_PYTHON"); r.rosbags == "" {
		missing(t, "PyPI's rosbags (set BAGCONV_ROSBAGS_PYTHON to a python that has it)")
	}
	if r.cyber = os.Getenv("BAGCONV_CYBER_PYTHON"); r.cyber == "" {
		missing(t, "PyPI's protobuf (set BAGCONV_CYBER_PYTHON to a python that has it)")
	}
	if r.modules = os.Getenv("BAGCONV_NODE_MODULES"); r.modules == "" {
		missing(t, "npm's @foxglove/rosbag (set BAGCONV_NODE_MODULES to a node_modules that has it)")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		missing(t, "node")
	}
	r.node = node
	return r
}

// judge lets every referee read the outputs that it knows; each has so many
// messages. dir is for the input of the referees.
func (r referees) judge(t *testing.T, dir string, messages int, jobs []treeJob) {
	t.Helper()
	const folder = "testdata/referee/trees/"
	for _, referee := range []struct {
		program, script, formats string
		readers                  int // of each output
	}{
		{r.rosbags, "ros.py", "bag db3", 2}, {r.cyber, "proto.py", "record", 1}, {r.node, "foxglove.mjs", "bag db3", 1},
	} {
		var mine []treeJob
		want := 0
		for _, job := range jobs {
			if strings.Contains(referee.formats, job.Format) {
				mine = append(mine, job)
				if want += referee.readers; job.Odd && referee.readers == 2 {
					want-- // rosbags is not asked
				}
			}
		}
		if len(mine) == 0 {
			continue
		}
		text, err := json.Marshal(mine)
		if err != nil {
			t.Fatal(err)
		}
		list := filepath.Join(dir, referee.script+".jobs")
		if err := os.WriteFile(list, text, 0o666); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(referee.program, folder+referee.script, list)
		cmd.Env = append(os.Environ(), "BAGCONV_NODE_MODULES="+r.modules)
		verdicts := jsonLines[verdict](t, cmd)
		for _, v := range verdicts {
			problems := slices.DeleteFunc(v.Problems, func(p string) bool { return limitOf(v.Reader, p) >= 0 })
			if n := len(problems); n > 0 {
				t.Errorf("%s reads %s: %d problems\n%s", v.Reader, filepath.Base(v.Path), n, strings.Join(problems[:min(n, 8)],
					"\n"))
			} else if v.Messages < messages/8 { // of odd names some reader knows few
				t.Errorf("%s reads %s: only %d messages were compared", v.Reader, filepath.Base(v.Path), v.Messages)
			}
		}
		if len(verdicts) != want {
			t.Errorf("%s: %d of %d verdicts", referee.script, len(verdicts), want)
		}
	}
}
