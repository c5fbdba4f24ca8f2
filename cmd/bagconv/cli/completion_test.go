package cli

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bagconv/bagconv/storage"
)

func TestChoices(t *testing.T) {
	for in, want := range map[string]string{
		"time or file":                       "time file",
		"auto, always or never":              "auto always never",
		"the output format: bag or db3":      "bag db3",
		"words with commas: a-b, c, or all":  "a-b c all",
		"topic":                              "topic",
		"a size, such as 2G":                 "",
		"a topic, a glob, or re: and so on":  "",
		"the codec's level":                  "",
		"OLD:=NEW, such as /camera/*:=/cam*": "",
	} {
		if got := strings.Join(choices(in), " "); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestCompletes: every flag that takes one of a few words completes them, and
// every command stands in the help with what it does.
func TestCompletes(t *testing.T) {
	e, _, _ := testEnv()
	enumerated := map[string]string{
		"order": "time file", "header-seq": "count zero", "rosout": "keep ros2", "frames": "apollo rep103", "restamp": "header log",
		"encoding": "native keep ros1 cdr protobuf", "proto-types": "mapped generated raw", "apollo-layout": "common_msgs legacy", "segment-names": "new old",
		"verify": "content counts bytes", "progress": "auto bar plain json none", "scan": "auto always never",
		"fail-on": "error warning note", "by": "topic", "to": "fake",
	}
	seen := map[string]bool{}
	for _, c := range e.commands() {
		for _, f := range c.Flags {
			name := f.Names()[0]
			want, ok := enumerated[name]
			if !ok {
				continue
			}
			seen[name] = true
			var got []string
			for _, w := range e.candidates(context.Background(), &typed{verb: c, flag: f, given: map[string]string{}}).words {
				got = append(got, w.value)
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s --%s: %q, want %q", c.Name, name, got, want)
			}
		}
	}
	if len(seen) != len(enumerated) {
		t.Errorf("only %v are flags", seen)
	}
	for _, s := range verbSummaries() {
		if s.about == "" || s.about != clean(s.about) || !slices.Contains(verbs, s.value) {
			t.Errorf("the help does not say what %q does", s.value)
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
		Name: "slow", Help: "never opens", Native: "ros1", Sniff: func(storage.FS, string, []byte) bool { return true },
		Open: func(context.Context, string, storage.ReadOptions) (storage.Reader, error) {
			<-release
			return nil, storage.ErrUnsupported
		},
	})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := e.complete(ctx, []string{"--", path, "-t", "."}); err != nil || out.String() != ":\n" {
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
		if err := e.complete(context.Background(), append([]string{"--"}, args...)); err != nil {
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
