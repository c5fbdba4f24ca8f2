package cli_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bagconv/bagconv/internal/remote"
)

// series reads a metrics file: values by series, without the labels that all have.
func series(t *testing.T, path, command string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		m := regexp.MustCompile(`^bagconv_(\w+)\{command="(\w+)",run="([^"]*)",?([^}]*)\} (\S+)\n$`).FindStringSubmatch(line)
		if m == nil || m[2] != command || m[3] != "x" {
			t.Fatalf("%q", line)
		}
		if m[4] != "" {
			m[1] += "{" + m[4] + "}"
		}
		all[m[1]] = m[5]
	}
	return all
}

// TestMetrics: the numbers of a run are those of its report, and other files are not replaced.
func TestMetrics(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for i := range 3 {
		if err := os.MkdirAll(at("in"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := makeBag([]string{at(fmt.Sprintf("in/%d.bag", i))}); err != nil {
			t.Fatal(err)
		}
	}
	write(t, at("in/broken.bag"), "hello\n")
	want := func(command string, some map[string]string) {
		t.Helper()
		got := series(t, at("x.prom"), command)
		for k, v := range some {
			if got[k] != v {
				t.Errorf("%s: %s is %q, want %q", command, k, got[k], v)
			}
		}
		for _, k := range []string{"read_bytes_total", "written_bytes_total"} {
			if some["inputs_total{status=\"ok\"}"] != "0" && len(got[k]) < 4 {
				t.Errorf("%s: %s is %q", command, k, got[k])
			}
		}
	}
	must(t, at("in/0.bag"), at("0.mcap"), "-q", "--no-sync", "--metrics", at("x.prom"))
	st, err := os.Stat(at("0.mcap"))
	if err != nil {
		t.Fatal(err)
	}
	want("convert", map[string]string{`inputs_total{status="ok"}`: "1", "running": "0", "exit_status": "0", "output_bytes_total": fmt.Sprint(st.Size()), "inputs_planned": "1", "inputs_running": "0", "requests_total": "0"})
	bagconv("batch", "-q", "--no-sync", "-O", at("out"), at("in"), "--metrics", at("x.prom"))
	want("batch", map[string]string{`inputs_total{status="ok"}`: "3", `inputs_total{status="failed"}`: "1", "exit_status": "5", "inputs_planned": "4", "inputs_running": "0"})
	must(t, "plan", "-q", "--no-sync", "-O", at("out2"), "-o", at("plan"), at("in/0.bag"), at("in/1.bag"))
	must(t, "work", "-q", "--task", at("plan"), "--metrics", at("x.prom"))
	want("work", map[string]string{`inputs_total{status="ok"}`: "2", `inputs_total{status="skipped"}`: "0", "exit_status": "0"})
	must(t, "work", "-q", "--task", at("plan"), "--metrics", at("x.prom"))
	want("work", map[string]string{`inputs_total{status="ok"}`: "0", `inputs_total{status="skipped"}`: "2"})

	write(t, at("mine"), "a file of mine")
	for _, path := range []string{at("mine"), at("in"), at("none/x.prom")} {
		if status, out := bagconv(at("in/0.bag"), at("new.bag"), "-q", "--metrics", path); status != 2 {
			t.Errorf("--metrics %s: exit status %d: %s", path, status, out)
		}
		if _, err := os.Stat(at("new.bag")); err == nil {
			t.Error("the run was begun")
		}
	}
	python := os.Getenv("BAGCONV_ENGINES_PYTHON")
	if python == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("BAGCONV_ENGINES_PYTHON is not set")
		}
		t.Skip("the parser of prometheus_client is not there")
	}
	odd := at(`a "b\c.prom`)
	must(t, at("in/0.bag"), at("1.mcap"), "-q", "--no-sync", "--metrics", odd)
	for _, path := range []string{at("x.prom"), odd} {
		cmd := exec.Command(python, "-c", `import sys
from prometheus_client.parser import text_string_to_metric_families as parse
families = list(parse(open(sys.argv[1]).read()))
assert len(families) > 10, families
for f in families:
    assert f.type in ("counter", "gauge") and f.documentation and f.samples, f
    for s in f.samples:
        assert s.labels["run"] == sys.argv[2], s`, path, strings.TrimSuffix(filepath.Base(path), ".prom"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}
}

// TestNoSecrets: passwords and queries of URLs, and the credentials of S3, are in nothing that
// bagconv prints or writes.
func TestNoSecrets(t *testing.T) {
	bag, err := os.ReadFile("../../../testdata/tiny.bag")
	if err != nil {
		t.Fatal(err)
	}
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		switch {
		case strings.HasPrefix(r.URL.Path, "/bucket"):
			w.WriteHeader(http.StatusForbidden)
		case user != "me" || password != "hidden-password" || r.URL.Query().Get("X-Amz-Signature") != "hidden-signature":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/d/x.bag":
			w.Header().Set("ETag", `"1"`)
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(bag))
		case r.URL.Path == "/d/slow.bag":
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(host.Close)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_S3": host.URL, "AWS_REGION": "here", "AWS_ACCESS_KEY_ID": "hidden-access", "AWS_SECRET_ACCESS_KEY": "hidden-key", "AWS_SESSION_TOKEN": "hidden-token",
	} {
		t.Setenv(name, value)
	}
	defer func(d time.Duration) { remote.Pause = d }(remote.Pause)
	remote.Pause = time.Millisecond
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	url := func(name string) string {
		return strings.Replace(host.URL, "http://", "http://me:hidden-password@", 1) + "/d/" + name + "?X-Amz-Signature=hidden-signature"
	}
	write(t, at("list"), url("x.bag")+"\n"+url("missing.bag")+"\n")
	write(t, at("flags.yaml"), "report: "+at("r2.json")+"\n")
	printed := ""
	for i, line := range []struct {
		status int
		args   []string
	}{
		{0, []string{url("x.bag"), at("a.mcap"), "-v", "--json", "--report", at("r.json"), "--metrics", at("m.prom"), "--verify", "content", "--progress", "json", "--no-sync"}},
		{0, []string{url("x.bag"), at("b.mcap"), "-v", "--no-sync", "--config", at("flags.yaml")}},
		{0, []string{"convert", url("x.bag"), at("b.mcap"), "--print-config"}},
		{1, []string{url("missing.bag"), at("c.mcap"), "--json", "--report", at("r3.json"), "--progress", "json"}},
		{1, []string{url("slow.bag"), at("c.mcap"), "--retries", "1", "--json"}},
		{1, []string{url("x.bag"), url("y.bag")}},
		{1, []string{"s3://bucket/x.bag", at("c.mcap")}},
		{1, []string{url("x.bag"), "s3://bucket/y.bag", "--json"}},
		{2, []string{url("../x.bag"), at("c.mcap")}},
		{2, []string{url("x%zz.bag"), at("c.mcap")}},
		{2, []string{"s3://hidden-key:hidden-token@bucket/x.bag", at("c.mcap")}},
		{5, []string{"batch", "-O", at("out"), "--include-from", at("list"), "--json", "--report", at("r4.json"), "--metrics", at("m2.prom"), "--progress", "json", "--no-sync", "-v"}},
		{0, []string{"batch", "-O", at("out"), url("x.bag"), "--resume", "--manifest", at("out/manifest.jsonl")}},
		{0, []string{"info", "--json", url("x.bag")}},
		{0, []string{"check", "--json", url("x.bag")}},
		{0, []string{"verify", "--json", url("x.bag"), at("a.mcap")}},
		{1, []string{"info", url("missing.bag"), url("slow.bag"), "--retries", "0", "--json"}},
	} {
		status, out := bagconv(line.args...)
		if status != line.status {
			t.Errorf("line %d: exit status %d: %s", i, status, out)
		}
		printed += out
	}
	for _, word := range []string{"/d/x.bag", "/d/missing.bag", "/d/slow.bag", "503", "403"} {
		if !strings.Contains(printed, word) {
			t.Errorf("%s is nowhere", word)
		}
	}
	_ = os.Remove(at("list"))
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var text []byte
			text, err = os.ReadFile(path)
			printed += path + ": " + string(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"hidden-password", "hidden-signature", "hidden-access", "hidden-key", "hidden-token"} {
		if i := strings.Index(printed, secret); i >= 0 {
			t.Errorf("%s is in %q", secret, printed[max(0, i-200):min(len(printed), i+50)])
		}
	}
}
