package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/cmd/bagconv/cli"
	"github.com/bagconv/bagconv/formats/all"
)

// TestReindexDamaged: of a recording whose index is right, reindex names what is damaged in its messages and
// the way out, and changes nothing.
func TestReindexDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.bag")
	if out, status := prints("-q", "--no-sync", "--compression", "lz4", "../../../testdata/demo.bag", path); status != 0 {
		t.Fatalf("%d: %s", status, out)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/4] ^= 0x55 // of a chunk
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	status := cli.Run(t.Context(), []string{"bagconv", "reindex", path}, cli.Stdio{Out: &out, Err: &errs}, all.Registry())
	if status != 0 || !strings.Contains(out.String(),
		"the index is right; nothing is changed; the recording is damaged elsewhere") ||
		!strings.Contains(out.String(), "bagconv recover") || !strings.HasPrefix(errs.String(), "damaged: "+path) {
		t.Errorf("%d: %s%s", status, out.String(), errs.String())
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(b, after) {
		t.Error("the file has changed", err)
	}
}
