package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/storage"
)

// TestCompletes: every flag that takes one of a few words completes them, and
// every command stands in the help with what it does.
func TestCompletes(t *testing.T) {
	e, _, _ := testEnv()
	enumerated := map[string]string{
		"order": "time file", "header-seq": "count zero", "rosout": "keep ros2", "frames": "apollo rep103",
		"restamp":  "header log",
		"encoding": "native keep cdr", "proto-types": "mapped generated raw", "apollo-layout": "common_msgs legacy",
		"segment-names": "new old",
		"verify":        "content counts bytes", "progress": "auto bar plain json none", "scan": "auto always never",
		"fail-on": "note warning error", "by": "topic value", "to": "fake parquet arrow csv npy lerobot episodes",
	}
	seen := map[string]bool{}
	for _, c := range e.commands() {
		for _, f := range c.Flags {
			want, ok := enumerated[f.Name]
			if !ok || f.Arg == "ADDRESS" { // the --to of play
				continue
			}
			seen[f.Name] = true
			var got []string
			var out strings.Builder
			if err := e.asker().Complete(context.Background(), &out, []string{c.Name, flags.Dashed(f.Name), "."}); err != nil {
				t.Fatal(err)
			}
			for word := range strings.Lines(out.String()) {
				if word, _, _ = strings.Cut(strings.TrimSpace(word), "\t"); word[0] != ':' {
					got = append(got, word)
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s --%s: %q, want %q", c.Name, f.Name, got, want)
			}
		}
	}
	if len(seen) != len(enumerated) {
		t.Errorf("only %v are flags", seen)
	}
	for _, c := range e.commands() {
		if c.Summary == "" {
			t.Errorf("nothing tells what %s does", c.Name)
		}
	}
}

// TestCompleteSlow: a recording that takes long to open completes nothing, and
// keeps nobody waiting.
func TestCompleteSlow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "slow")
	if err := os.WriteFile(path, []byte("slow"), 0o666); err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	defer close(release)
	e, out, _ := testEnv()
	e.formats = storage.NewRegistry(&storage.Format{
		Name: "slow", Help: "never opens", Holds: storage.Capacity{Native: "ros1"},
		Sniff: func(storage.FS, string, []byte) bool { return true },
		Open: func(context.Context, string, storage.ReadOptions) (storage.Reader, error) {
			<-release
			return nil, storage.ErrUnsupported
		},
	})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := e.asker().Complete(ctx, e.Out, []string{"--", path, "-t", "."}); err != nil || out.String() != ":\n" {
		t.Errorf("%q, %v", out, err)
	}
	if ctx.Err() == nil {
		t.Error("it was not opened")
	}
}

// FuzzComplete: any line completes without a panic, and only what begins with
// the word is offered.
func FuzzComplete(f *testing.F) {
	f.Add("in.bag -t /im")
	f.Add("verify --ignore a,b --level=")
	f.Add("-- --help")
	e, out, _ := testEnv()
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, " ")
		word := args[len(args)-1]
		args[len(args)-1] = "." + word
		out.Reset()
		if err := e.asker().Complete(context.Background(), e.Out, append([]string{"--"}, args...)); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if !strings.HasPrefix(lines[len(lines)-1], ":") {
			t.Fatalf("%q ends with %q", line, lines[len(lines)-1])
		}
		for _, l := range lines[:len(lines)-1] {
			if !strings.HasPrefix(l, word) {
				t.Errorf("%q: %q", line, l)
			}
		}
	})
}
