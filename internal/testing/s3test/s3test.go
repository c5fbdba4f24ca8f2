// Package s3test starts servers of objects for tests. Each is named by a variable, or found by PATH:
//
//	BAGCONV_VERSITYGW    versitygw: S3
//	BAGCONV_MOTO         moto_server: S3
//	BAGCONV_FAKE_GCS     fake-gcs-server: Google's, with the build tag clouds
//	BAGCONV_AZURITE      azurite-blob: Azure's, with the build tag clouds
//
// A test skips without them, and fails with CI=true. Each server is for one test.
package s3test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// Bucket is the name of the bucket that each server has.
const Bucket = "recordings"

// Names are the names of the servers.
var Names = []string{"versitygw", "moto"}

// A Server is a server that runs.
type Server struct {
	Endpoint string
	URL      string // of the bucket
	kind     *kind
}

// A kind is a kind of server.
type kind struct {
	variable, program string
	scheme            string
	args              func(t *testing.T, address string) []string
	front             func(t *testing.T, endpoint string) string // what stands in front of it; nil: nothing
	use               func(t *testing.T, endpoint string)        // sets the environment
	create            func(endpoint string) error                // the bucket; nil if it is there
	uploads           func(endpoint string) (keys []string, err error)
	keys              func(endpoint, prefix string) (keys []string, err error)
}

// kinds are the kinds of servers, by name.
var kinds = map[string]*kind{
	"versitygw": {
		variable: "BAGCONV_VERSITYGW", program: "versitygw", scheme: "s3", use: useS3, uploads: s3Uploads, keys: s3Keys,
		args: func(t *testing.T, address string) []string {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, Bucket), 0o777); err != nil {
				t.Fatal(err)
			}
			return []string{"--port", address, "posix", dir}
		},
	},
	"moto": {
		variable: "BAGCONV_MOTO", program: "moto_server", scheme: "s3", use: useS3, uploads: s3Uploads, keys: s3Keys,
		args: func(_ *testing.T, address string) []string {
			host, port, _ := net.SplitHostPort(address)
			return []string{"-H", host, "-p", port}
		},
		create: func(endpoint string) error {
			return s3Core(endpoint).MakeBucket(context.Background(), Bucket, minio.MakeBucketOptions{})
		},
	},
}

const key, password = "bagconv-test", "bagconv-test-secret"

// Start starts the server of a name with an empty bucket, and sets the environment for it.
func Start(t *testing.T, name string) *Server {
	t.Helper()
	k := kinds[name]
	program := k.program
	if path := os.Getenv(k.variable); path != "" {
		program = path
	}
	if _, err := exec.LookPath(program); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is missing: %v", name, err)
		}
		t.Skipf("%s is missing: %v", name, err)
	}
	address := freeAddress(t)
	cmd := exec.Command(program, k.args(t, address)...)
	cmd.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+key, "ROOT_SECRET_KEY="+password)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	endpoint := "http://" + address
	if k.front != nil {
		endpoint = k.front(t, endpoint)
	}
	s := &Server{Endpoint: endpoint, URL: k.scheme + "://" + Bucket, kind: k}
	s.Use(t, s.Endpoint)
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		resp, err := http.Get(s.Endpoint)
		if err == nil {
			err = resp.Body.Close()
		}
		if err == nil && resp.StatusCode == http.StatusBadGateway { // what stands in front answers
			err = errors.New(resp.Status)
		}
		if err == nil && k.create != nil {
			err = k.create(s.Endpoint)
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

// Use sets the environment for an endpoint.
func (s *Server) Use(t *testing.T, endpoint string) { s.kind.use(t, endpoint) }

func useS3(t *testing.T, endpoint string) {
	t.Setenv("AWS_ENDPOINT_URL", endpoint)
	t.Setenv("AWS_ENDPOINT_URL_S3", "")
	t.Setenv("AWS_ACCESS_KEY_ID", key)
	t.Setenv("AWS_SECRET_ACCESS_KEY", password)
	t.Setenv("AWS_SESSION_TOKEN", "")
	t.Setenv("AWS_REGION", "us-east-1")
	t.Setenv("AWS_CONFIG_FILE", os.DevNull)
}

// Uploads lists the objects that were begun and are not complete.
func (s *Server) Uploads(t *testing.T) []string {
	t.Helper()
	keys, err := s.kind.uploads(s.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// Keys lists the objects whose keys begin with a prefix.
func (s *Server) Keys(t *testing.T, prefix string) []string {
	t.Helper()
	keys, err := s.kind.keys(s.Endpoint, prefix)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func s3Core(endpoint string) *minio.Core {
	core, err := minio.NewCore(strings.TrimPrefix(endpoint, "http://"),
		&minio.Options{Creds: credentials.NewStaticV4(key, password, ""), Region: "us-east-1",
			BucketLookup: minio.BucketLookupPath})
	if err != nil {
		panic(fmt.Sprint("internal error: ", err)) // Start has made the endpoint
	}
	return core
}

func s3Uploads(endpoint string) (keys []string, err error) {
	page, err := s3Core(endpoint).ListMultipartUploads(context.Background(), Bucket, "", "", "", "", 1000)
	for _, u := range page.Uploads {
		keys = append(keys, u.Key)
	}
	return keys, err
}

func s3Keys(endpoint, prefix string) (keys []string, err error) {
	for o := range s3Core(endpoint).Client.ListObjects(context.Background(), Bucket,
		minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
		keys, err = append(keys, o.Key), o.Err
	}
	return keys, err
}

// host returns the host of an endpoint.
func (s *Server) host() string {
	u, err := url.Parse(s.Endpoint)
	if err != nil {
		panic(fmt.Sprint("internal error: ", err)) // Start has made it
	}
	return u.Host
}
