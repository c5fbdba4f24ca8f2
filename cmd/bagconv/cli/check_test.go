package cli

import (
	"strings"
	"testing"
)

// TestCheckFake: what a reader reports as damaged is an error, and the name of a
// topic does not reach the terminal as it is.
func TestCheckFake(t *testing.T) {
	status, out, errOut, _ := runFake(t, "damaged", "check", "DIR/in.fake", "--fail-on", "error")
	if status != exitFindings || !strings.Contains(out, "1. error gap, byte 7\n   5 bytes are lost\n") || errOut != "" {
		t.Errorf("status %d, %s, %s", status, out, errOut)
	}
	if strings.Contains(out, "\x1b") {
		t.Errorf("escape sequence in %q", out)
	}
	if status, _, errOut, _ := runFake(t, "interrupt", "check", "DIR/in.fake"); status != exitInterrupted ||
		errOut != "bagconv: interrupted\n" {
		t.Errorf("interrupted: status %d, %q", status, errOut)
	}
}
