// Package deploy tests the manifests of the folder above: they decode strictly into the types of Kubernetes
// and Argo, and their commands are lines of bagconv. It is a module of its own, so that the one
// of bagconv does not need theirs.
package deploy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	argo "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	batch "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"
)

func decode(t *testing.T, name string, into any) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err == nil {
		err = yaml.UnmarshalStrict(text, into)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	misspelt := strings.Replace(string(text), "image:", "imagee:", 1)
	if err := yaml.UnmarshalStrict([]byte(misspelt), into); err == nil {
		t.Errorf("%s: a misspelt key is not refused", name)
	}
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestJob: each Job is indexed, and knows the exit statuses.
func TestJob(t *testing.T) {
	for _, name := range []string{"kubernetes-job.yaml", "kubernetes-job-s3.yaml"} {
		t.Run(name, func(t *testing.T) { testJob(t, "../"+name) })
	}
}

func testJob(t *testing.T, name string) {
	var job batch.Job
	decode(t, name, &job)
	s := job.Spec
	c := s.Template.Spec.Containers[0]
	if *s.CompletionMode != batch.IndexedCompletion || s.BackoffLimitPerIndex == nil || s.PodFailurePolicy == nil {
		t.Errorf("%+v", s)
	}
	if c.Env[0].Name != "JOB_COMPLETIONS" || c.Env[0].Value != fmt.Sprint(*s.Completions) {
		t.Errorf("%+v, but there are %d completions", c.Env, *s.Completions)
	}
	for _, rule := range s.PodFailurePolicy.Rules {
		if rule.Action == batch.PodFailurePolicyActionFailIndex && slices.Contains(rule.OnExitCodes.Values, 75) {
			t.Error("a reason that may pass fails the share")
		}
	}
	runs(t, c.Args, "JOB_COMPLETION_INDEX=0", "JOB_COMPLETIONS=8")
}

// TestArgo: each template is a line of bagconv.
func TestArgo(t *testing.T) {
	var flow argo.Workflow
	decode(t, "../argo-workflow.yaml", &flow)
	n := 0
	for _, name := range []string{"plan", "work", "collect"} {
		for _, template := range flow.Spec.Templates {
			if template.Name == name {
				args := strings.Join(template.Container.Args, "\n")
				args = strings.NewReplacer("{{inputs.parameters.share}}", "0", "{{workflow.parameters.data}}",
					"/data").Replace(args)
				runs(t, strings.Split(args, "\n"))
				n++
			}
		}
	}
	if n != 3 {
		t.Errorf("%d templates", n)
	}
}

// runs runs a line of bagconv with folders of its own in place of /data and s3://fleet: it must be understood.
func runs(t *testing.T, args []string, env ...string) {
	t.Helper()
	program := os.Getenv("BAGCONV")
	if program == "" {
		t.Skip("BAGCONV is not set: scripts/engines sets it")
	}
	dir := t.TempDir()
	drives := filepath.Join(dir, "drives")
	if err := os.CopyFS(drives, os.DirFS("../../testdata")); err != nil {
		t.Fatal(err)
	}
	plan := filepath.Join(dir, "plan.jsonl")
	first := exec.Command(program, "plan", "-q", "-O", filepath.Join(dir, "out"), "-o", plan,
		filepath.Join(drives, "demo.bag"))
	if out, err := first.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for i := range args {
		args[i] = strings.NewReplacer("/data/", dir+"/", "s3://fleet/", dir+"/").Replace(args[i])
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), env...)
	out, _ := cmd.CombinedOutput()
	if status := cmd.ProcessState.ExitCode(); status != 0 && status != 3 && status != 75 {
		t.Errorf("bagconv %s: exit status %d: %s", strings.Join(args, " "), status, out)
	}
}
