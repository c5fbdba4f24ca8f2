package cli_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bagconv/bagconv/internal/remote"
)

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
		"AWS_ENDPOINT_URL_S3": host.URL, "AWS_REGION": "here", "AWS_ACCESS_KEY_ID": "hidden-access",
		"AWS_SECRET_ACCESS_KEY": "hidden-key", "AWS_SESSION_TOKEN": "hidden-token",
	} {
		t.Setenv(name, value)
	}
	defer func(d time.Duration) { remote.Pause = d }(remote.Pause)
	remote.Pause = time.Millisecond
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	url := func(name string) string {
		return strings.Replace(host.URL, "http://", "http://me:hidden-password@", 1) + "/d/" + name +
			"?X-Amz-Signature=hidden-signature"
	}
	write(t, at("list"), url("x.bag")+"\n"+url("missing.bag")+"\n")
	write(t, at("flags.yaml"), "report: "+at("r2.json")+"\n")
	printed := ""
	for i, line := range []struct {
		status int
		args   []string
	}{
		{0, []string{url("x.bag"), at("a.mcap"), "-v", "--json", "--report", at("r.json"), "--verify", "content",
			"--progress", "json", "--no-sync"}},
		{0, []string{url("x.bag"), at("b.mcap"), "-v", "--no-sync", "--config", at("flags.yaml")}},
		{1, []string{url("missing.bag"), at("c.mcap"), "--json", "--report", at("r3.json"), "--progress", "json"}},
		{1, []string{url("slow.bag"), at("c.mcap"), "--retries", "1", "--json"}},
		{1, []string{url("x.bag"), url("y.bag")}},
		{1, []string{"s3://bucket/x.bag", at("c.mcap")}},
		{1, []string{url("x.bag"), "s3://bucket/y.bag", "--json"}},
		{2, []string{url("../x.bag"), at("c.mcap")}},
		{2, []string{url("x%zz.bag"), at("c.mcap")}},
		{2, []string{"s3://hidden-key:hidden-token@bucket/x.bag", at("c.mcap")}},
		{5, []string{"batch", "-O", at("out"), "--include-from", at("list"), "--json", "--report", at("r4.json"),
			"--progress", "json", "--no-sync", "-v"}},
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
