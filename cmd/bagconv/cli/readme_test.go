package cli_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/cmd/bagconv/cli"
	"github.com/bagconv/bagconv/formats/all"
)

const repository = "../../.."

// speed is what differs from run to run.
var speed = regexp.MustCompile(`in [0-9.]+ m?s \([^)]*/s\)`)

// TestREADME: the consoles of the README and of other documents show what the commands print.
func TestREADME(t *testing.T) {
	for name, least := range map[string]int{"README.md": 3, "docs/definitions.md": 3, "docs/migration.md": 5,
		"docs/export.md": 2, "docs/lerobot.md": 1} {
		t.Run(name, func(t *testing.T) { testConsoles(t, name, least) })
	}
}

// besideTestdata makes an empty folder with a copy of testdata the working directory.
func besideTestdata(t *testing.T) {
	t.Helper()
	testdata, err := filepath.Abs(filepath.Join(repository, "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.CopyFS("testdata", os.DirFS(testdata)); err != nil {
		t.Fatal(err)
	}
}

// testConsoles runs the commands of a document, which has at least so many.
func testConsoles(t *testing.T, name string, least int) {
	text := readText(t, name)
	besideTestdata(t)
	commands := 0
	for _, block := range regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(text, -1) {
		for _, session := range strings.Split("\n"+block[1], "\n$ ")[1:] {
			command, want, _ := strings.Cut(session, "\n")
			words := strings.Fields(command)
			var got bytes.Buffer
			switch words[0] {
			case "bagconv":
				cli.Run(context.Background(), words, cli.Stdio{Out: &got, Err: &got}, all.Registry())
			case "cat": // a file
				text, err := os.ReadFile(words[1])
				if err != nil {
					t.Fatal(err)
				}
				got.Write(text)
			case "head":
				head(t, words)
			default:
				t.Fatalf("the test does not know %q", command)
			}
			commands++
			clean := func(s string) string { return strings.TrimSpace(speed.ReplaceAllString(s, "")) }
			if clean(got.String()) != clean(want) {
				t.Errorf("%s: %s prints\n%s\nand not\n%s", name, command, got.String(), want)
			}
		}
	}
	if commands < least {
		t.Errorf("%s has %d commands with their output", name, commands)
	}
}

// TestREADMECommands: the commands of README.md work on the recording of testdata, one after the other, as somebody
// types them who reads it.
func TestREADMECommands(t *testing.T) {
	text := readText(t, "README.md")
	besideTestdata(t)
	commands := 0
	blocks := strings.Join(regexp.MustCompile("(?s)\n```(sh|console)\n.*?```").FindAllString(text, -1), "")
	for _, line := range regexp.MustCompile(`(?m)^(\$ head|(\$ |go run \./cmd/)?bagconv) .*`).FindAllString(blocks, -1) {
		line, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimPrefix(line, "$ "), "go run ./cmd/"), " #")
		line = strings.TrimSpace(line)
		words := strings.Fields(line)
		if words[0] == "head" {
			head(t, words)
			continue
		}
		want := 0
		if line == "bagconv cut.bag cut_ros2/" || line == "bagconv recover cut.bag clean.bag" {
			want = 3
		}
		var out bytes.Buffer
		status := cli.Run(context.Background(), words, cli.Stdio{Out: &out, Err: &out}, all.Registry())
		if commands++; status != want {
			t.Errorf("%s: exit status %d: %s", line, status, out.String())
		}
	}
	if commands < 20 {
		t.Errorf("%d commands were run", commands)
	}
	if lines := strings.Count(text, "\n"); lines > 140 {
		t.Errorf("README.md has %d lines; 140 at most", lines)
	}
}

// head runs head -c 300000 IN > OUT.
func head(t *testing.T, words []string) {
	t.Helper()
	whole, err := os.ReadFile(words[3])
	if err == nil {
		err = os.WriteFile(words[5], whole[:300000], 0o666)
	}
	if err != nil || words[2] != "300000" {
		t.Fatal(words, err)
	}
}

// commandLine is a command of ours in a document, with arguments: a line of a block, with what it is
// for after it, or between backticks.
var commandLine = regexp.MustCompile("(?m)^bagconv .*#|`bagconv [^`]* [^`]*`")

// TestCommandsInDocs: the command lines of the index of tasks and of other documents are right: on files
// that are not there every one fails because of them.
func TestCommandsInDocs(t *testing.T) {
	var lines []string
	for _, name := range []string{"docs/README.md", "docs/export.md", "docs/lerobot.md"} {
		lines = append(lines, commandLine.FindAllString(readText(t, name), -1)...)
	}
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"contract.yaml": "contract: 1\n",
		"map.yaml": "fps: 30\ntask: pick\nstate: /s:position\n"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	tried := 0
	for _, line := range lines {
		line, _, _ = strings.Cut(strings.Trim(line, "`"), " #")
		words := strings.Fields(line)
		if words[1] == "help" || words[1] == strings.ToUpper(words[1]) {
			continue
		}
		tried++
		var out bytes.Buffer
		if status := cli.Run(context.Background(), words, cli.Stdio{Out: &out, Err: &out}, all.Registry()); status != 1 {
			t.Errorf("%s: exit status %d: %s", line, status, out.String())
		}
	}
	if tried < 30 {
		t.Errorf("%d lines were tried", tried)
	}
}

// TestLinks: links between documents lead to files, and to headings that they have.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	code := regexp.MustCompile("(?ms)^```.*?^```") // may call generic functions
	links := 0
	err := fs.WalkDir(os.DirFS(repository), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || name == "dist"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".md"):
			return nil
		}
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(readText(t, name), ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			file, heading, _ := strings.Cut(m[1], "#")
			target := name
			if file != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(name), file))
			}
			if _, err := os.Stat(filepath.Join(repository, target)); err != nil {
				t.Errorf("%s links to %s: %v", name, m[1], err)
			} else if heading != "" && !anchors(readText(t, target))[heading] {
				t.Errorf("%s links to %s: there is no such heading", name, m[1])
			}
		}
		return nil
	})
	if err != nil || links < 60 {
		t.Errorf("%d links, %v", links, err)
	}
}

// anchors returns the names that headings get as targets of links: lower case, without punctuation,
// with dashes for spaces.
func anchors(text string) map[string]bool {
	names := map[string]bool{}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			continue
		}
		name := strings.ToLower(strings.TrimSpace(strings.TrimLeft(line, "#")))
		name = regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(name, "")
		names[strings.ReplaceAll(name, " ", "-")] = true
	}
	return names
}

func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
