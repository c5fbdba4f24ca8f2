package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
)

// TestExportValues: each value in the tables of an export is the one that cat prints. Of the recordings the gate takes
// a quarter, and BAGCONV_EXHAUSTIVE=1 all.
func TestExportValues(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("reads all recordings")
	}
	python := os.Getenv("BAGCONV_TABLES_PYTHON")
	if python == "" {
		missing(t, "pyarrow, polars and duckdb (set BAGCONV_TABLES_PYTHON to a python that has them)")
	}
	args := []string{"testdata/referee/export.py", binary}
	for i, path := range catInputs(t) {
		if i%samples.Pick(1, 4, 4) == 0 {
			args = append(args, path)
		}
	}
	messages := 0
	for _, r := range jsonLines[struct {
		Recording string
		Messages  int
		Problem   string
	}](t, exec.Command(python, args...)) {
		if messages += r.Messages; r.Problem != "" {
			t.Errorf("%s: %s", r.Recording, r.Problem)
		}
	}
	if messages < 600 {
		t.Errorf("only %d messages were compared", messages)
	}
	t.Logf("%d messages compared", messages)
}
