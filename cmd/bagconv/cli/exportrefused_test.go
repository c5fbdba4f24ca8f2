package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExportVerified: tables cannot be read back, and are refused before anything is written.
func TestExportVerified(t *testing.T) {
	const in = "../../../testdata/tiny.bag"
	dir := t.TempDir()
	for _, args := range [][]string{
		{"convert", in, filepath.Join(dir, "out"), "--to", "parquet"}, {"filter", in, filepath.Join(dir, "out"), "--to",
			"csv"},
		{"batch", in, "-O", filepath.Join(dir, "out"), "--to", "arrow"}, {"plan", in, "-O", filepath.Join(dir, "out"), "--to",
			"arrow"},
	} {
		for _, level := range []string{"content", "counts", "bytes"} {
			status, out := bagconv(append(args, "--verify", level)...)
			left, _ := os.ReadDir(dir)
			if status != 2 || !strings.Contains(out, "is only written; omit --verify") || len(left) > 0 {
				t.Errorf("%q: status %d, %d names are left: %s", args, status, len(left), out)
			}
		}
	}
}
