package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"
)

// An action is the part of action.yml that is run.
type action struct {
	Inputs map[string]struct {
		Required bool
		Default  string
	}
	Outputs map[string]struct{ Value string }
	Runs    struct {
		Using string
		Steps []struct {
			ID, Shell, Run string
			Env            map[string]string
		}
	}
}

var expression = regexp.MustCompile(`\$\{\{ *inputs\.([a-z-]+) *\}\}`)

// run runs the steps as a runner does: each a script of its own in a shell of
// its own, with the inputs in the environment. It returns what was written to
// the files of outputs and of the summary, and everything that was printed.
func (a *action) run(t *testing.T, inputs map[string]string, environ ...string) (outputs, summary, printed string,
	err error) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	values := map[string]string{}
	for name, in := range a.Inputs {
		values[name] = in.Default
	}
	for name, value := range inputs {
		if _, ok := a.Inputs[name]; !ok {
			t.Fatalf("there is no input %s", name)
		}
		values[name] = value
	}
	for name, in := range a.Inputs {
		if in.Required && values[name] == "" {
			t.Fatalf("the input %s is missing", name)
		}
	}
	read := func(name string) string {
		text, _ := os.ReadFile(filepath.Join(dir, name)) // not there: nothing was written
		return string(text)
	}
	for i, step := range a.Runs.Steps {
		if step.Shell != "bash" {
			t.Fatalf("step %d has the shell %q", i, step.Shell)
		}
		script := filepath.Join(dir, fmt.Sprintf("step%d.sh", i))
		if err := os.WriteFile(script, []byte(step.Run), 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		cmd := exec.CommandContext(ctx, "bash", "--noprofile", "--norc", "-eo", "pipefail", script)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GITHUB_ACTION_PATH="+root, "RUNNER_TEMP="+filepath.Join(dir, "temp"),
			"GITHUB_OUTPUT="+filepath.Join(dir, "outputs"), "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary"), "GITHUB_PATH="+
				filepath.Join(dir, "path"))
		cmd.Env = append(cmd.Env, environ...)
		for name, value := range step.Env {
			cmd.Env = append(cmd.Env, name+"="+expression.ReplaceAllStringFunc(value, func(s string) string {
				return values[expression.FindStringSubmatch(s)[1]]
			}))
		}
		out, err := cmd.CombinedOutput()
		cancel()
		printed += string(out)
		if err != nil {
			return read("outputs"), read("summary"), printed, err
		}
	}
	return read("outputs"), read("summary"), printed, nil
}

// TestAction runs the steps of action.yml, with bagconv built from this checkout
// and with a release that lies in a folder.
func TestAction(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the steps are run by the bash of Linux")
	}
	for _, tool := range []string{"bash", "curl", "tar", "go"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	text, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var a action
	if err := yaml.Unmarshal(text, &a); err != nil {
		t.Fatal(err)
	}
	if a.Runs.Using != "composite" || len(a.Runs.Steps) != 2 {
		t.Fatalf("%+v", a.Runs)
	}
	for name, out := range a.Outputs {
		if !strings.HasPrefix(out.Value, "${{ steps."+a.Runs.Steps[1].ID+".outputs."+name) {
			t.Errorf("the output %s is %s", name, out.Value)
		}
	}

	dir := t.TempDir()
	in := filepath.Join(dir, "drives with spaces")
	for _, name := range []string{"a.bag", "sub/b.record"} {
		path := filepath.Join(in, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile("../../testdata/tiny" + filepath.Ext(name))
		if err == nil {
			err = os.WriteFile(path, data, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}

	binary := filepath.Join(dir, "built", "bagconv")
	t.Run("source", func(t *testing.T) {
		out := filepath.Join(dir, "out")
		outputs, summary, printed, err := a.run(t, map[string]string{"input": in, "output": out,
			"flags": "--topic\n*\n--jobs=1\n"})
		if err != nil {
			t.Fatalf("%v\n%s", err, printed)
		}
		for _, path := range []string{"a/metadata.yaml", "sub/b/metadata.yaml", "manifest.jsonl"} {
			if _, err := os.Stat(filepath.Join(out, path)); err != nil {
				t.Error(err)
			}
		}
		report := regexp.MustCompile(`(?m)\Astatus=0\nreport=(.*)\n\z`).FindStringSubmatch(outputs)
		if report == nil || !strings.Contains(summary, "exit status 0") {
			t.Fatalf("outputs %q, summary %q", outputs, summary)
		}
		if text, err := os.ReadFile(report[1]); err != nil || !strings.Contains(string(text), `"verified": "content"`) {
			t.Errorf("%v, report %s", err, text)
		}
		if err := os.MkdirAll(filepath.Dir(binary), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(filepath.Dir(report[1]), "bagconv", "bagconv"), binary); err != nil {
			t.Fatal(err)
		}
	})
	if t.Failed() {
		return
	}

	// A release in a folder, as scripts/release makes it.
	name := "bagconv_9.9.9_linux_" + runtime.GOARCH
	folder, release := filepath.Join(dir, name), filepath.Join(dir, "v9.9.9")
	for _, d := range []string{folder, release} {
		if err := os.Mkdir(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(binary, filepath.Join(folder, "bagconv")); err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(release, name+".tar.gz")
	if err := pack(archive, folder, when); err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	sums := func(sum [32]byte) {
		if err := os.WriteFile(filepath.Join(release, "SHA256SUMS"), fmt.Appendf(nil, "%x  %s.tar.gz\n", sum, name),
			0o666); err != nil {
			t.Fatal(err)
		}
	}
	releases := "BAGCONV_RELEASES=file://" + dir
	input := func(more ...string) map[string]string {
		m := map[string]string{"input": in, "output": filepath.Join(t.TempDir(), "out"), "version": "v9.9.9"}
		for i := 0; i < len(more); i += 2 {
			m[more[i]] = more[i+1]
		}
		return m
	}
	sums(sha256.Sum256(packed))

	config := filepath.Join(dir, "job.yaml")
	if err := os.WriteFile(config, []byte("to: bag\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	inputs := input("config", config)
	if _, _, printed, err := a.run(t, inputs, releases); err != nil {
		t.Errorf("a release: %v\n%s", err, printed)
	} else if _, err := os.Stat(filepath.Join(inputs["output"], "sub", "b.bag")); err != nil {
		t.Errorf("the file of flags was not heeded: %v\n%s", err, printed)
	}
	if _, _, printed, err := a.run(t, input("version", "9.9.8"), releases); err == nil ||
		!strings.Contains(printed, "cannot be had") {
		t.Errorf("a release that is not there: %v\n%s", err, printed)
	}
	if _, _, printed, err := a.run(t, input("input", filepath.Join(dir, "none")), releases); err == nil {
		t.Errorf("no input: %s", printed)
	}

	// A damaged recording fails the job, unless loss is allowed.
	tiny, err := os.ReadFile("../../testdata/tiny.bag")
	if err == nil {
		err = os.WriteFile(filepath.Join(in, "cut.bag"), tiny[:len(tiny)*2/3], 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	outputs, summary, printed, err := a.run(t, input(), releases)
	if exit, _ = err.(*exec.ExitError); exit == nil || exit.ExitCode() != 3 || !strings.Contains(outputs, "status=3\n") ||
		!strings.Contains(summary, "cut.bag") {
		t.Errorf("damage: %v, %q, %q\n%s", err, outputs, summary, printed)
	}
	if outputs, _, printed, err := a.run(t, input("allow-loss", "true"), releases); err != nil ||
		!strings.Contains(outputs, "status=3\n") {
		t.Errorf("allowed damage: %v, %q\n%s", err, outputs, printed)
	}

	sums(sha256.Sum256(packed[1:]))
	if _, _, printed, err := a.run(t, input(), releases); err == nil || !strings.Contains(printed, "another checksum") ||
		strings.Contains(printed, "9.9.9 go") {
		t.Errorf("a wrong checksum: %v\n%s", err, printed)
	}
}
