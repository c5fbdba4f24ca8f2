// Package s3test starts S3 servers for tests: versitygw, whose program is named by
// BAGCONV_VERSITYGW, and moto, whose moto_server is named by BAGCONV_MOTO. Both may also be found
// by PATH. A test skips without them, and fails with CI=true. Each server is for one test.
package s3test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// Bucket is the one that each server has.
const Bucket = "recordings"

// Names are those of the servers.
var Names = []string{"versitygw", "moto"}

// A Server is one that runs.
type Server struct {
	Endpoint string
	core     *minio.Core
}

const key, password = "bagconv-test", "bagconv-test-secret"

// Start starts the server of a name with an empty bucket, and sets the environment for it.
func Start(t *testing.T, name string) *Server {
	t.Helper()
	variable, program := "BAGCONV_VERSITYGW", "versitygw"
	if name == "moto" {
		variable, program = "BAGCONV_MOTO", "moto_server"
	}
	if path := os.Getenv(variable); path != "" {
		program = path
	}
	if _, err := exec.LookPath(program); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is missing: %v", name, err)
		}
		t.Skipf("%s is missing: %v", name, err)
	}
	address := freeAddress(t)
	dir := t.TempDir()
	args := []string{"--port", address, "posix", dir}
	if name == "moto" {
		host, port, _ := net.SplitHostPort(address)
		args = []string{"-H", host, "-p", port}
	} else if err := os.Mkdir(filepath.Join(dir, Bucket), 0o777); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+key, "ROOT_SECRET_KEY="+password)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	s := &Server{Endpoint: "http://" + address}
	s.Use(t, s.Endpoint)
	core, err := minio.NewCore(address, &minio.Options{Creds: credentials.NewStaticV4(key, password, ""), Region: "us-east-1", BucketLookup: minio.BucketLookupPath})
	if err != nil {
		t.Fatal(err)
	}
	s.core = core
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		resp, err := http.Get(s.Endpoint)
		if err == nil {
			err = resp.Body.Close()
		}
		if err == nil && name == "moto" {
			err = core.MakeBucket(context.Background(), Bucket, minio.MakeBucketOptions{})
		}
		if err == nil {
			return s
		}
		if time.Now().After(end) {
			t.Fatalf("%s does not answer: %v", name, err)
		}
	}
}

func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// Use sets the environment for an endpoint, and a folder of its own for what is remembered of
// uploads.
func (s *Server) Use(t *testing.T, endpoint string) {
	t.Setenv("AWS_ENDPOINT_URL", endpoint)
	t.Setenv("AWS_ENDPOINT_URL_S3", "")
	t.Setenv("AWS_ACCESS_KEY_ID", key)
	t.Setenv("AWS_SECRET_ACCESS_KEY", password)
	t.Setenv("AWS_SESSION_TOKEN", "")
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("AWS_CONFIG_FILE", os.DevNull)
}

// Uploads lists the objects that were begun and are not complete.
func (s *Server) Uploads(t *testing.T) (keys []string) {
	t.Helper()
	page, err := s.core.ListMultipartUploads(context.Background(), Bucket, "", "", "", "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range page.Uploads {
		keys = append(keys, u.Key)
	}
	return keys
}

// Keys lists the objects whose keys begin with a prefix.
func (s *Server) Keys(t *testing.T, prefix string) (keys []string) {
	t.Helper()
	for o := range s.core.Client.ListObjects(context.Background(), Bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
		if o.Err != nil {
			t.Fatal(o.Err)
		}
		keys = append(keys, o.Key)
	}
	return keys
}

// host returns the host of an endpoint.
func (s *Server) host() string {
	u, err := url.Parse(s.Endpoint)
	if err != nil {
		panic(fmt.Sprint("internal error: ", err)) // Start has made it
	}
	return u.Host
}
