package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// TestWorkflow: the workflow of the forge runs .ci/run with the Go of the Dockerfile, and names
// actions by commits, which nobody can move.
func TestWorkflow(t *testing.T) {
	text, err := os.ReadFile("../../.github/workflows/ci.yml")
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		Jobs map[string]struct {
			Container struct{ Image string }
			Steps     []struct{ Uses, Run string }
		}
	}
	if err := yaml.Unmarshal(text, &workflow); err != nil {
		t.Fatal(err)
	}
	dockerfile, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	for name, job := range workflow.Jobs {
		if image := job.Container.Image; image == "" || !strings.Contains(string(dockerfile), " "+image+" AS build") {
			t.Errorf("job %s runs in %q, and the Dockerfile does not", name, image)
		}
		for _, step := range job.Steps {
			if step.Uses != "" && !regexp.MustCompile(`^[\w/-]+@[0-9a-f]{40}$`).MatchString(step.Uses) {
				t.Errorf("job %s uses %s, and not a commit", name, step.Uses)
			}
			if step.Run == ".ci/run" {
				runs++
			}
		}
	}
	if runs != 1 {
		t.Errorf("%d steps run .ci/run", runs)
	}
}
