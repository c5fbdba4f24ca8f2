package remote

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A roleHost gives out credentials as the hosts of Amazon do: to instances, containers and web identities.
// They are of no use after a second, and another key follows.
type roleHost struct {
	t    *testing.T
	next atomic.Int64
}

func (h *roleHost) key() string { return fmt.Sprint("key-", h.next.Load()) }

func (h *roleHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answer := func(form string) {
		h.next.Add(1)
		fmt.Fprintf(w, form, h.key(), time.Now().Add(time.Second).UTC().Format(time.RFC3339))
	}
	const asJSON = `{"Code":"Success","AccessKeyId":%q,"SecretAccessKey":"secret","Token":"sesame","Expiration":%q}`
	switch path := r.URL.Path; {
	case path == "/latest/api/token" && r.Method == "PUT":
		fmt.Fprint(w, "session")
	case strings.HasPrefix(path, "/latest/") && r.Header.Get("X-aws-ec2-metadata-token") != "session":
		w.WriteHeader(http.StatusUnauthorized)
	case path == "/latest/meta-data/iam/security-credentials/":
		fmt.Fprint(w, "recorder")
	case path == "/latest/meta-data/iam/security-credentials/recorder":
		answer(asJSON)
	case path == "/container" && r.Header.Get("Authorization") == "pass":
		answer(asJSON)
	case r.Method == "POST" && r.FormValue("Action") == "AssumeRoleWithWebIdentity" &&
		r.FormValue("WebIdentityToken") == "identity" && r.FormValue("RoleArn") == "arn:aws:iam::1:role/x":
		answer("<AssumeRoleWithWebIdentityResponse " +
			"xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>%s</AccessKeyId><SecretAccessKey>secret</SecretAccessKey><SessionToken>sesame</SessionToken><Expiration>%s</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>")
	case r.Method == "POST" && r.FormValue("Action") == "AssumeRole" &&
		r.FormValue("RoleArn") == "arn:aws:iam::1:role/y" && r.FormValue("ExternalId") == "us" &&
		strings.Contains(r.Header.Get("Authorization"), "Credential=own/"):
		answer("<AssumeRoleResponse " +
			"xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><AssumeRoleResult><Credentials><AccessKeyId>%s</AccessKeyId><SecretAccessKey>secret</SecretAccessKey><SessionToken>sesame</SessionToken><Expiration>%s</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>")
	default:
		h.t.Errorf("%s %s", r.Method, r.URL)
		w.WriteHeader(http.StatusNotFound)
	}
}

// TestRoles reads with the credentials of roles, and again when they have expired.
func TestRoles(t *testing.T) {
	for _, c := range []struct {
		name string
		env  func(host, file string) map[string]string
	}{
		{"instance", func(host, _ string) map[string]string {
			return map[string]string{"AWS_EC2_METADATA_SERVICE_ENDPOINT": host}
		}},
		{"container", func(host, _ string) map[string]string {
			return map[string]string{"AWS_CONTAINER_CREDENTIALS_FULL_URI": host + "/container",
				"AWS_CONTAINER_AUTHORIZATION_TOKEN": "pass"}
		}},
		{"web identity", func(host, file string) map[string]string {
			return map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": file, "AWS_ROLE_ARN": "arn:aws:iam::1:role/x",
				"AWS_ENDPOINT_URL_STS": host}
		}},
		{"web identity of a profile", func(host, file string) map[string]string {
			return map[string]string{"AWS_CONFIG_FILE": configFile(t,
				"[default]\nrole_arn = arn:aws:iam::1:role/x\nweb_identity_token_file = "+file), "AWS_ENDPOINT_URL_STS": host}
		}},
		{"profile", func(host, _ string) map[string]string {
			const text = "[profile drives]\nrole_arn = arn:aws:iam::1:role/y\nsource_profile = keys\nexternal_id = " +
				"us\n[profile keys]\naws_access_key_id = own\naws_secret_access_key = hidden\n"
			return map[string]string{"AWS_CONFIG_FILE": configFile(t, text), "AWS_PROFILE": "drives",
				"AWS_ENDPOINT_URL_STS": host}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, r := fakeS3(t, &Settings{})
			s.Put("x.bag", noise(200_000))
			host := &roleHost{t: t}
			file := filepath.Join(t.TempDir(), "token")
			if err := os.WriteFile(file, []byte("identity"), 0o600); err != nil {
				t.Fatal(err)
			}
			noCredentials(t)
			for k, v := range c.env(start(t, host), file) {
				t.Setenv(k, v)
			}
			s.Token = "sesame"
			// only the last one is good
			s.Fault = func(http.ResponseWriter, *http.Request) bool { s.Key = host.key(); return false }
			f := open(t, r, inBucket+"x.bag")
			first := host.next.Load()
			for until := time.Now().Add(time.Minute); host.next.Load() == first &&
				time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
				if _, err := r.Stat(inBucket + "x.bag"); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := f.ReadAt(make([]byte, 10), 150_000); err != nil || host.next.Load() == first {
				t.Errorf("%v; %d times were credentials given out", err, host.next.Load())
			}
		})
	}
}

func configFile(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestProfileRefused: a profile whose role cannot be had is an error with the reason, also where the machine
// has a role of its own.
func TestProfileRefused(t *testing.T) {
	s, _ := fakeS3(t, &Settings{})
	s.Put("x.bag", noise(100))
	for text, word := range map[string]string{
		"mfa_serial = 1":                   "mfa_serial",
		"":                                 "source_profile",
		"credential_source = EcsContainer": "source_profile",
		"source_profile = other":           "no credentials",
		"source_profile = default2\n[profile default2]\nrole_arn = b\nsource_profile = default": "name each other",
	} {
		noCredentials(t)
		t.Setenv("AWS_CONFIG_FILE", configFile(t, "[default]\nrole_arn = a\n"+text))
		_, err := newS3(&Settings{}).Open(inBucket + "x.bag")
		mustName(t, err, "role", word)
		t.Setenv("AWS_ACCESS_KEY_ID", "own")
		t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
		if _, err := newS3(&Settings{}).Stat(inBucket + "x.bag"); err != nil {
			t.Errorf("%s, with keys in the environment: %v", text, err)
		}
	}
}

// TestRoleRefused: a role that the environment names and that gives nothing is an error with the reason.
func TestRoleRefused(t *testing.T) {
	_, r := fakeS3(t, &Settings{})
	noCredentials(t)
	t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", filepath.Join(t.TempDir(), "none"))
	_, err := r.Open(inBucket + "x.bag")
	mustName(t, err, "role", "none")
	t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", "")
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", start(t, http.NotFoundHandler()))
	_, err = newS3(&Settings{}).Open(inBucket + "x.bag")
	mustName(t, err, "role", "404")
}

// noCredentials takes away the credentials of the environment and of this machine's user.
func noCredentials(t *testing.T) {
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY",
		"AWS_SESSION_TOKEN", "AWS_PROFILE"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "none"))
	t.Setenv("AWS_CONFIG_FILE", os.DevNull)
}

// TestProfiles reads with the credentials of profiles, in either file, and of a program.
func TestProfiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	program := write("give", "#!/bin/sh\necho "+
		"'{\"Version\":1,\"AccessKeyId\":\"of-program\",\"SecretAccessKey\":\"secret\",\"SessionToken\":\"sesame\"}'\n",
		0o700)
	credentials := write("credentials",
		"[default]\naws_access_key_id = of-default\naws_secret_access_key = secret\naws_session_token = sesame\n"+
			"[lab]\naws_access_key_id = of-lab\naws_secret_access_key = secret\naws_session_token = sesame\n"+
			"[program]\ncredential_process = "+program+" --now\n", 0o600)
	s, _ := fakeS3(t, &Settings{})
	s.Put("x.bag", noise(1000))
	s.Token = "sesame"
	noCredentials(t)
	endpoint := os.Getenv("AWS_ENDPOINT_URL")
	t.Setenv("AWS_ENDPOINT_URL", "")
	config := write("config", "[default]\nendpoint_url = "+endpoint+"\nregion = us-east-1\n"+
		"[profile lab]\nendpoint_url = "+endpoint+"\nregion = us-east-1\n[profile program]\nendpoint_url = "+endpoint+"\n"+
		"[profile config]\nendpoint_url = "+endpoint+
		"\naws_access_key_id = of-config\naws_secret_access_key = secret\naws_session_token = sesame\n", 0o600)
	t.Setenv("AWS_CONFIG_FILE", config)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", credentials)
	for _, profile := range []string{"", "lab", "config", "program"} {
		if profile == "program" && runtime.GOOS == "windows" {
			continue // it is a script of a shell
		}
		t.Setenv("AWS_PROFILE", profile)
		s.Key = "of-" + profile
		if profile == "" {
			s.Key = "of-default"
		}
		if _, err := newS3(&Settings{}).Open(inBucket + "x.bag"); err != nil {
			t.Errorf("profile %q: %v", profile, err)
		}
	}
}
