package rosbag1

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// passphraseVariable is where rosbag has the passphrase of a key.
const passphraseVariable = "ROSBAG_GPG_PASSPHRASE"

// runGPG passes input to gpg, and returns its output. Keys are in GNUPGHOME. The passphrase of a
// key comes from ROSBAG_GPG_PASSPHRASE or the agent; nobody is asked for it. gpg gets it as the
// first line of its input, so that it is in no list of processes.
func runGPG(ctx context.Context, input []byte, args ...string) ([]byte, error) {
	path, err := exec.LookPath("gpg")
	if err != nil {
		return nil, errors.New("gpg is not installed")
	}
	common := []string{"--batch", "--no-tty", "--yes", "--quiet", "--pinentry-mode", "loopback"}
	if passphrase, ok := os.LookupEnv(passphraseVariable); ok && slices.Contains(args, "--decrypt") {
		common = append(common, "--passphrase-fd", "0")
		input = slices.Concat([]byte(passphrase), []byte("\n"), input)
	}
	cmd := exec.CommandContext(ctx, path, slices.Concat(common, args)...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, passphraseVariable+"=") })
	cmd.Stdin = bytes.NewReader(input)
	var out, failure bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failure
	if err := cmd.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(failure.String()), "\n")
		return nil, fmt.Errorf("gpg failed: %.200s", lines[len(lines)-1])
	}
	return out.Bytes(), nil
}
