package rosbag1

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

const (
	testUser       = "bag@example.org"
	testName       = "Bag of the test" // as roscpp names a user
	testPassphrase = "a passphrase of the test"
)

// gpgHome makes a folder of gpg with a key pair of its own, and names it in the environment. protection
// is how gpg writes that the key has a passphrase.
func gpgHome(t *testing.T, protection string) {
	t.Helper()
	if _, err := exec.LookPath("gpg"); err != nil {
		missing(t, "gpg", err)
	}
	dir, err := os.MkdirTemp("", "gpg") // short: the agent's socket lies in it
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GNUPGHOME", dir)
	t.Cleanup(func() {
		_ = exec.Command("gpgconf", "--homedir", dir, "--kill", "all").Run() // the agent ends by itself too
		os.RemoveAll(dir)
	})
	parameters := filepath.Join(t.TempDir(), "parameters")
	text := "Key-Type: RSA\nKey-Length: 2048\nSubkey-Type: RSA\nSubkey-Length: 2048\nSubkey-Usage: encrypt\nName-Real: " +
		testName + "\nName-Email: " + testUser +
		"\nExpire-Date: 0\n" + protection + "\n%commit\n"
	if err := os.WriteFile(parameters, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "gpg", "--batch", "--quiet", "--pinentry-mode", "loopback", "--gen-key", parameters)
}

// TestGPG: what we encrypt for a user of gpg, rosbag decrypts, and the reverse.
func TestGPG(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a key pair")
	}
	gpgHome(t, "Passphrase: "+testPassphrase)
	t.Setenv(passphraseVariable, testPassphrase) // as rosbag wants it
	dir := t.TempDir()
	messages := testMessages(200)
	var paths []string
	for _, codec := range Format.Options.Choices(storage.NameCompression) {
		path := filepath.Join(dir, codec+".bag")
		write(t, path, storage.WriteOptions{Compression: codec, ChunkSize: 2000, NoSync: true,
			Values: map[string]string{storage.NameEncrypt: "gpg:" + testUser}}, messages)
		r := open(t, path, storage.ReadOptions{Strict: true, CheckIndexes: true})
		equalMessages(t, readAll(t, r), messages)
		if i := info(t, r); len(i.Warnings) > 0 || !strings.Contains(i.Facts[0].Value, testUser) {
			t.Errorf("%s: warnings %v, facts %v", codec, i.Warnings, i.Facts)
		}
		paths = append(paths, path)
	}
	if out, err := exec.Command("/usr/bin/python3", "-c",
		"import rosbag, std_msgs, gnupg, Cryptodome").CombinedOutput(); err != nil {
		missing(t, "python3-rosbag", fmt.Errorf("%w: %s", err, out))
	}
	bytes, first, last, _ := summary(messages)
	for i, line := range strings.Split(strings.TrimSpace(run(t, "/usr/bin/python3",
		append([]string{"testdata/referee/encrypted.py", "read"}, paths...)...)), "\n") {
		var got struct {
			Messages, Bytes int
			First, Last     int64
			Topics          []string
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if got.Messages != len(messages) || got.Bytes != bytes || got.First != first || got.Last != last ||
			len(got.Topics) == 0 {
			t.Errorf("%s: %s", paths[i], line)
		}
	}
	for _, codec := range Format.Options.Choices(storage.NameCompression) {
		path := filepath.Join(dir, "rosbag-"+codec+".bag")
		run(t, "/usr/bin/python3", "testdata/referee/encrypted.py", "write", path, codec, testUser)
		got := readAll(t, open(t, path, storage.ReadOptions{Strict: true, CheckIndexes: true}))
		if len(got) != 200 || string(got[7].Data[4:]) != "hello 7" || got[7].LogTime != 1007e9 {
			t.Errorf("%s: %d messages, %v", codec, len(got), got[7])
		}
	}

	// A wrong passphrase, and no key: the error does not show what it was.
	run(t, "gpgconf", "--homedir", os.Getenv("GNUPGHOME"), "--kill", "gpg-agent") // it remembers
	t.Setenv(passphraseVariable, "another one")
	if _, err := openReader(t.Context(), paths[0], storage.ReadOptions{}); err == nil ||
		strings.Contains(err.Error(), "another one") {
		t.Errorf("with a wrong passphrase: %v", err)
	}
}
