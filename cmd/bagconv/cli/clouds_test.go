//go:build clouds

package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/s3test"
)

// TestClouds is TestS3 with the stores of the second build.
func TestClouds(t *testing.T) { testStores(t, s3test.Clouds) }

func eachCloud(t *testing.T, test func(t *testing.T, server string)) {
	eachServer(t, s3test.Clouds, test)
}

func TestCloudsNoDisk(t *testing.T)  { eachCloud(t, testNoDisk) }
func TestCloudsKilled(t *testing.T)  { eachCloud(t, testKilled) }
func TestCloudsCuts(t *testing.T)    { eachCloud(t, testCuts) }
func TestCloudsRivals(t *testing.T)  { eachCloud(t, testRivals) }
func TestCloudsTasks(t *testing.T)   { eachCloud(t, testTasks) }
func TestCloudsRanges(t *testing.T)  { eachCloud(t, testRanges) }
func TestCloudsBatches(t *testing.T) { eachCloud(t, testBatches) }

// TestCloudsBatch converts what is below a prefix to another one.
func TestCloudsBatch(t *testing.T) {
	eachCloud(t, func(t *testing.T, server string) {
		s := s3test.Start(t, server)
		t.Setenv("XDG_CACHE_HOME", t.TempDir())
		for _, name := range []string{"a", "deep/b c%20ü", "deep/er/d"} {
			must(t, "../../../testdata/demo.bag", s.URL+"/in/"+name+".bag", "-q")
		}
		manifest := filepath.Join(t.TempDir(), "m.jsonl")
		out := must(t, "batch", s.URL+"/in/", "-O", s.URL+"/out/", "--to", "mcap", "--manifest", manifest, "-q")
		want := []string{"out/a.mcap", "out/deep/b c%20ü.mcap", "out/deep/er/d.mcap"}
		if got := s.Keys(t, "out/"); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("the server has %q, not %q: %s", got, want, out)
		}
		must(t, "verify", s.URL+"/in/a.bag", s.URL+"/out/a.mcap")
		if text, err := os.ReadFile(manifest); err != nil || strings.Count(string(text), "\n") < 3 {
			t.Errorf("%v, the manifest: %s", err, text)
		}
	})
}
