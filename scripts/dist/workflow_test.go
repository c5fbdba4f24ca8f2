package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// A workflow is the part of a workflow of the forge that tests look at.
type workflow struct {
	Jobs map[string]workflowJob
}

type workflowJob struct {
	Uses      string
	Container struct{ Image string }
	Steps     []struct{ Uses, Run string }
}

// readWorkflow reads a workflow, whose containers have the Go of the Dockerfile, and which names actions by commits,
// which nobody can move.
func readWorkflow(t *testing.T, name string) (w workflow) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../.github/workflows", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, &w); err != nil {
		t.Fatal(err)
	}
	dockerfile, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	for name, job := range w.Jobs {
		if image := job.Container.Image; image != "" && !strings.Contains(string(dockerfile), " "+image+" AS build") {
			t.Errorf("job %s runs in %q, and the Dockerfile does not", name, image)
		}
		for _, step := range job.Steps {
			if step.Uses != "" && !regexp.MustCompile(`^[\w/-]+@[0-9a-f]{40}$`).MatchString(step.Uses) {
				t.Errorf("job %s uses %s, and not a commit", name, step.Uses)
			}
		}
	}
	return w
}

// TestWorkflow: the workflow of the forge runs .ci/run with the Go of the Dockerfile.
func TestWorkflow(t *testing.T) {
	runs := 0
	for name, job := range readWorkflow(t, "ci.yml").Jobs {
		if job.Container.Image == "" {
			t.Errorf("job %s runs in no container", name)
		}
		for _, step := range job.Steps {
			if step.Run == ".ci/run" {
				runs++
			}
		}
	}
	if runs != 1 {
		t.Errorf("%d steps run .ci/run", runs)
	}
}

// TestReleaseWorkflow runs the steps of the workflow of a release, but for the actions of others: in a folder that has
// all that the owner must add, with files for what scripts/release makes, which TestRelease runs, and with a gh and a
// git that write down how they were called.
func TestReleaseWorkflow(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	of := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	notes, err := os.ReadFile("../release-notes")
	if err != nil {
		t.Fatal(err)
	}
	write("scripts/release-notes", string(notes), 0o777)
	write("scripts/nfpm.yaml", "maintainer: A <a@example.org>\nlicense: MIT\n", 0o666)
	write("LICENSE", "You may.\n", 0o666)
	write("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\nNot yet.\n\n## 1.2.3\n\n### New\n\n- It works.\n\n## 1.2.2\n\n"+
		"Old.\n", 0o666)
	write("scripts/release", "#!/bin/sh\necho \"release $*\" >> log; mkdir dist; cd dist\n"+
		"echo x > a.whl; echo y > b.deb; sha256sum a.whl b.deb > SHA256SUMS\n", 0o777)
	for _, program := range []string{"git", "gh"} {
		write("bin/"+program, "#!/bin/sh\necho \""+program+" $*\" >> log\n", 0o777)
	}
	jobs := readWorkflow(t, "release.yml").Jobs
	if uses := jobs["gate"].Uses; uses != "./.github/workflows/ci.yml" {
		t.Errorf("the gate is %q", uses)
	}
	run := func(job string) (printed string, err error) {
		for _, step := range jobs[job].Steps {
			if step.Run == "" {
				continue
			}
			cmd := exec.Command(bash, "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "GITHUB_REF_NAME=v1.2.3", "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			if printed += string(out); err != nil {
				return printed, err
			}
		}
		return printed, nil
	}
	for _, job := range []string{"build", "page", "pypi"} {
		if printed, err := run(job); err != nil {
			t.Fatalf("job %s: %v\n%s", job, err, printed)
		}
	}
	if text := of("notes.md"); text != "### New\n\n- It works.\n" {
		t.Errorf("notes: %q", text)
	}
	if text := of("wheels/a.whl"); text != "x\n" {
		t.Errorf("wheel: %q", text)
	}
	log := of("log")
	if !strings.Contains(log, "release v1.2.3\n") || !strings.Contains(log, "gh release create v1.2.3 ") ||
		!strings.Contains(log, "dist/SHA256SUMS dist/a.whl dist/b.deb\n") {
		t.Errorf("what was called:\n%s", log)
	}
	// A file that has changed since stops the page; what the owner has not added stops the build.
	write("dist/b.deb", "z\n", 0o666)
	if printed, err := run("page"); err == nil {
		t.Errorf("a file with another checksum goes to the page:\n%s", printed)
	}
	write("LICENSE", "", 0o666)
	write("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\nNot yet.\n", 0o666)
	write("scripts/nfpm.yaml", "maintainer: A <a@b.invalid>\nlicense: unspecified\n", 0o666)
	printed, err := run("build")
	if err == nil {
		t.Error("it builds without all that the owner must add")
	}
	for _, missing := range []string{"CHANGELOG.md", "LICENSE", "name of the licence", "address of the maintainer"} {
		if !strings.Contains(printed, missing) {
			t.Errorf("it does not name %s:\n%s", missing, printed)
		}
	}
}

// TestInstallable: `go install` of a version refuses a module with such directives.
func TestInstallable(t *testing.T) {
	text, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if found := regexp.MustCompile(`(?m)^\s*(replace|exclude)\b.*`).FindString(string(text)); found != "" {
		t.Errorf("go.mod has %q", found)
	}
}
