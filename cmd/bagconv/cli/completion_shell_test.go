package cli_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
)

// TestShells: the scripts complete in the shells themselves, those that are
// installed. A topic whose name is a command of the shell is quoted.
func TestShells(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	link := func(name string) {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	link("bagconv")
	writeTopics(t, filepath.Join(dir, "my drive.bag"), "/imu", "/image", "/$(touch hacked)")
	for shell, asks := range map[string]struct{ script, ask string }{
		"bash": {"bash", `source <(bagconv completion bash)
			ask() { COMP_WORDS=(bagconv "$@"); COMP_CWORD=$#; COMPREPLY=(); _bagconv bagconv 2>/dev/null; printf '[%s]' "${COMPREPLY[@]}"; echo; }
			ask ver
			ask inf
			ask 'my\ drive.bag' --order ti
			ask 'my\ drive.bag' --order = ti
			ask 'my\ drive.bag' -t /im
			ask "'my drive.bag'" -t '/$'
			ask my
			ask --pai
		`},
		"zsh": {"zsh", `autoload -Uz compinit; compinit -u -D
			compadd() { local -a v; v=("${(@P)@[-1]}"); print -rn -- "${(j..)${(@)v/(#m)*/[$MATCH]}}"; }
			_files() { [[ "my drive.bag" != $PREFIX* ]] || print -rn -- "[my drive.bag]"; }
			source <(bagconv completion zsh)
			ask() { words=(bagconv "$@"); CURRENT=$#words; PREFIX=$words[-1]; _bagconv; print; }
			setopt extendedglob
			ask ver
			ask inf
			ask 'my\ drive.bag' --order ti
			ask 'my\ drive.bag' --order=ti
			ask 'my\ drive.bag' -t /im
			ask "'my drive.bag'" -t '/$'
			ask my
			ask --pai
		`},
		"fish": {"fish", `bagconv completion fish | source
			function ask; complete -C "bagconv $argv" | string replace -r '\t.*' '' | string replace -r '(.*)' '[$1]' | string join ''; end
			ask ver
			ask inf
			ask 'my\\ drive.bag --order ti'
			ask 'my\\ drive.bag --order=ti'
			ask 'my\\ drive.bag -t /im'
			ask "'my drive.bag' -t '/\$"
			ask my
			ask 'in --pai'
		`},
	} {
		t.Run(shell, func(t *testing.T) {
			path, err := exec.LookPath(shell)
			if err != nil {
				t.Skip(err)
			}
			cmd := exec.Command(path, "-c", asks.ask)
			cmd.Dir = dir
			// the table has --paint
			cmd.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"), "HOME="+dir,
				"BAGCONV_TEST_MORE=1")
			out, err := cmd.CombinedOutput()
			got := strings.Split(strings.TrimSpace(string(out)), "\n")
			t.Logf("%v\n%s", err, out)
			if len(got) != 8 {
				t.Fatalf("%d answers to 8 questions", len(got))
			}
			for i, want := range []string{"[verify][version]", "[info]", "[time]", "time]", "[/image][/imu]", "touch",
				"[my drive.bag]", "[--paint]"} {
				ok := got[i] == want
				switch i {
				case 3: // bash has the part after = as a word of its own
					ok = strings.HasSuffix(got[i], want)
				case 5:
					ok = strings.Contains(got[i], want)
				case 6:
					ok = strings.ReplaceAll(got[i], `\`, "") == want
				}
				if !ok {
					t.Errorf("answer %d: %s, want %s", i, got[i], want)
				}
			}
			if shell == "bash" && got[5] != `[/\$\(touch\ hacked\)]` {
				t.Errorf("bash would run %s", got[5])
			}
		})
	}
	if _, err := os.Stat(filepath.Join(dir, "hacked")); err == nil {
		t.Error("the name of a topic was run as a command")
	}
}

func writeTopics(t *testing.T, path string, names ...string) {
	t.Helper()
	w, err := all.Registry().Lookup("bag").Create(context.Background(), path, storage.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		id, err := w.CreateTopic(storage.Topic{
			Name: name, Type: "std_msgs/String", Encoding: "ros1", Schema: storage.Schema{Encoding: "ros1msg",
				Data: []byte(text)},
			Metadata: map[string]string{storage.MetaMD5Sum: "992ce8a1687cec8c8bd883ec73ca41d1"},
		})
		if err == nil {
			err = w.Write(&storage.Message{Topic: id, LogTime: int64(i + 1), PublishTime: int64(i + 1), Data: ros1String("")})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}
