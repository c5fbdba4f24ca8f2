package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/cmd/bagconv/cli"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// TestFlagRows: every flag of every command that writes does in each of them what its row says.
func TestFlagRows(t *testing.T) {
	testdata, err := filepath.Abs("../../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	rowInputs(t, testdata)
	without, ran := map[string]shown{}, map[string]bool{}
	for i, r := range cli.FlagRows {
		if len(r.Commands()) == 0 {
			t.Errorf("--%s is a row for no command", r.Flag)
		}
		for k, name := range r.Commands() {
			if ran[name+" "+r.Flag] = true; testing.Short() && (i+k)%8 != 0 {
				continue
			}
			t.Run(r.Flag+"/"+name, func(t *testing.T) { tryRow(t, without, &r, name) })
		}
	}
	for flag, takers := range cli.FlagTakers() {
		for _, name := range takers {
			// Flags of all commands have tests of their own. Flags of one or two commands have scripts, and so have the
			// pairs below.
			if pair := name + " " + flag; len(takers) > 2 && len(takers) < 20 && slices.Contains(cli.RowWriters, name) &&
				!ran[pair] &&
				!slices.Contains([]string{"append distro", "append encoding", "plan output", "export map", "batch map", "plan map"},
					pair) {
				t.Errorf("bagconv %s --%s has no row", name, flag)
			}
		}
	}
}

// What can be seen of a run: what it prints and keeps for itself, and the outputs.
type shown struct{ text, files string }

// tryRow runs a row for a command. without has what lines without the flag show.
func tryRow(t *testing.T, without map[string]shown, r *cli.FlagRow, name string) {
	flag := "--" + r.Flag
	if r.Value != "" {
		flag += "=" + r.Value
	}
	key := fmt.Sprint(name, r.In, r.With, r.Line, r.Again, strings.HasPrefix(r.Flag, "output"), r.Flag == "no-sync")
	if _, ok := without[key]; !ok {
		_, without[key] = runRow(t, r, name, "")
	}
	plain := without[key]
	status, with := runRow(t, r, name, flag)
	if want := r.ExitStatus(name); status != want {
		t.Fatalf("status %d, want %d:\n%s", status, want, with)
	}
	if value, text, ok := strings.Cut(r.Refused, " "); ok {
		if status, got := runRow(t, r, name, "--"+r.Flag+"="+value); status != 2 || !strings.Contains(got.text, text) ||
			got.files != "" && name != "append" {
			t.Errorf("%s: status %d, %s\nwant 2, %s", value, status, got, text)
		}
	}
	if r.Want == "=" {
		if with.files != plain.files || with.files == "" && with.text != plain.text {
			t.Errorf("with %s\n%.3000q\nwithout\n%.3000q", flag, with, plain)
		}
		return
	}
	pattern, not := strings.CutPrefix(r.Want, "!")
	m := regexp.MustCompile(pattern)
	if has, had := m.MatchString(with.text+with.files), m.MatchString(plain.text+plain.files); has == not || had != not {
		t.Errorf("%s, which must change whether %s is there: %t, and without it %t; with\n%.3000q\nwithout\n%.3000q", flag,
			pattern, has, had, with, plain)
	}
}

// runRow runs the line of a row in a folder of its own.
func runRow(t *testing.T, r *cli.FlagRow, name, flag string) (status int, s shown) {
	t.Helper()
	d, err := os.MkdirTemp(".", "run")
	if err != nil {
		t.Fatal(err)
	}
	d = filepath.Base(d)
	defer os.RemoveAll(d)
	line := strings.ReplaceAll(rowText(r, name, flag != ""), "$D", d)
	run := func(line string) (status int, text string) {
		status, text = rowLine(line)
		if plan := d + "/plan.jsonl"; name == "plan" && status == 0 && glob(plan) != nil {
			var done string
			status, done = rowLine("work --task " + plan)
			text += done
		}
		return status, text
	}
	if before, after, ok := strings.Cut(line, " && "); ok {
		if status, text := rowLine(before); status != 0 {
			t.Fatal(before, text)
		}
		line = after
	}
	if r.Again && name != "plan" {
		run(line)
	}
	synced, system := false, iox.OS
	if r.Flag == "no-sync" {
		iox.OS = syncFS{system, &synced}
	}
	status, text := run(line + " " + strings.ReplaceAll(flag, "$D", d))
	if iox.OS = system; synced {
		text += "the disk was waited for\n"
	}
	s = look(t, d)
	plain := func(text string) string { return rowNoise.ReplaceAllString(strings.ReplaceAll(text, d, "run"), " ") }
	return status, shown{plain(text + s.text), plain(s.files)}
}

// rowText returns the line of a row without its flag, and before it, with && between, what must have run.
func rowText(r *cli.FlagRow, name string, flag bool) string {
	with, to := " "+r.With, "bag"
	if before, after, ok := strings.Cut(with, " --to "); ok {
		to, after, _ = strings.Cut(after, " ")
		with = before + " " + after
	}
	out, target, line, in := "$D/out."+to, "$D/target."+to, r.Line, r.In
	if to == "db3" {
		out, target = "$D/out", "$D/target"
	}
	if in == "" {
		in = "in.bag"
	}
	if line == "" {
		line = cli.FlagLines[name]
	}
	switch {
	case name == "export" && to == "bag":
		out, with = "$D/out", with+" --format csv"
	case name == "export":
		out, with = "$D/out", with+" --format "+to
	case name == "append":
		line = "convert in.bag -t /tf_static " + target + " --to " + to + " && " + line
	case name == "work":
		line = "plan -q $IN --to bag -O $D/out -o plan.jsonl --force && " + line
	case slices.Contains(cli.RowWriters, name):
		with += " --to " + to
	}
	if strings.HasPrefix(r.Flag, "output") && flag { // which names the output
		line = strings.NewReplacer("-O $D/out", "", "$OUT", "").Replace(line)
	}
	if r.Again && name == "plan" { // there is an output, and not of a plan
		line = "batch $IN --to bag -O $D/out --manifest m.jsonl -f && " + line
	}
	return strings.NewReplacer("$IN", in, "$OUT", out, "$TARGET", target).Replace(line) + with
}

// look returns what a run has left in its folder: the files, and the text of recordings.
func look(t *testing.T, d string) shown {
	t.Helper()
	var own, b strings.Builder
	err := filepath.WalkDir(d, func(path string, e fs.DirEntry, err error) error {
		base := filepath.Base(path)
		if err != nil || e.IsDir() || base == "plan.jsonl" {
			return err
		}
		data, err := os.ReadFile(path)
		if keptByRun(path) {
			own.Write(data)
			return err
		}
		fmt.Fprintf(&b, "file %s\n%s\n", strings.TrimPrefix(filepath.ToSlash(path), d+"/"), data[:min(len(data), 100_000)])
		switch {
		case base == "metadata.yaml":
			path = filepath.Dir(path)
		case !strings.Contains(base, ".bag") && !strings.Contains(base, ".record") && !strings.Contains(base, ".mcap"):
			return err
		}
		for _, command := range []string{"info ", "cat --order file "} {
			_, text := rowLine(command + path)
			b.WriteString(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return shown{own.String(), b.String()}
}

// keptByRun tells manifests and receipts from outputs.
func keptByRun(path string) bool {
	return strings.Contains(path, ".bagconv") || strings.Contains(path, "manifest.jsonl")
}

// rowNoise is what differs from run to run, and the flags themselves in manifests and results.
var rowNoise = regexp.MustCompile(`in \d[^\n]* s \(\d[^\n]*/s\)|   +|"options":\[.*?\]`)

func rowLine(line string) (status int, text string) {
	var out bytes.Buffer
	o := cli.Stdio{Out: &out, Err: &out, OutTerminal: strings.HasPrefix(line, "info ") ||
		strings.HasPrefix(line, "check "), OutColumns: 80}
	status = cli.Run(context.Background(), append([]string{"bagconv"}, strings.Fields(line)...), o, all.Registry())
	return status, out.String()
}

// syncFS notes whether a run waits until an output is on the disk.
type syncFS struct {
	storage.FS
	synced *bool
}

type syncFile struct {
	storage.File
	synced *bool
}

func (s syncFS) OpenFile(name string, flag int, perm os.FileMode) (storage.File, error) {
	f, err := s.FS.OpenFile(name, flag, perm)
	if err != nil || keptByRun(name) || !strings.Contains(name, "out") && !strings.Contains(name, "target") {
		return f, err
	}
	return syncFile{f, s.synced}, nil
}

func (f syncFile) Sync() error { *f.synced = true; return f.File.Sync() }

// rowInputs makes the inputs of the rows in the working directory.
func rowInputs(t *testing.T, testdata string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{
		"flags.yaml": "prefix: /named\n", "key.txt": "000102030405060708090a0b0c0d0e0f\n", "cal.yaml": "a: 1\n",
		"defs/acme_msgs/msg/Odd.msg": "uint8 a\nuint8 b\nuint8 c\n", "list.txt": "two.bag\n",
	} {
		must(os.MkdirAll(filepath.Dir(path), 0o777))
		must(os.WriteFile(path, []byte(text), 0o666))
	}
	for _, name := range []string{"demo.bag", "demo.record", "migration"} {
		must(os.Symlink(filepath.Join(testdata, name), name))
	}
	must(os.Mkdir("sub", 0o777))
	for _, args := range []string{"in.bag", "two.bag", "sub/in.bag", "-bad bad.bag", "-rosout log.bag", "lost.bag",
		"-n 60 long.bag"} {
		must(makeBag(strings.Fields(args)))
	}
	must(patch("lost.bag", "0", strings.Repeat("ff", 28)))
	must(makeMarkers("marker"))
	must(makeExtras([]string{"extras.mcap", "notes.txt", "=robot"}))
	must(makeTopic([]string{"oddtext", "std_msgs/msg/String", "", "0001000002000000ff00"}))
	must(makeTopic([]string{"odd", "acme_msgs/msg/Odd", "", "00010000010203"}))
	must(makeTopic([]string{"bayer", "sensor_msgs/msg/Image", "",
		"000100000000000000000000010000000000000004000000040000000c00000062617965725f726767623800000000000400000010000000ff00ff0000ff00ffff00ff0000ff00ff"}))
	for _, line := range []string{
		"in.bag other.bag -t /tf_static", "in.bag secret.bag --encrypt key:@key.txt", "demo.bag imu/ -t /imu/data -u 0.1",
		"long.bag gap.bag -t /chatter -E 3s --every /chatter=2", "long.bag rest.bag -t /chatter -S 4s --every /chatter=2",
		"append gap.bag rest.bag",
		"in.bag stamped.bag --restamp log -t /parts", "stamped.bag far.bag --offset 2s",
		"in.bag late.bag -t /chatter -S 200ms -E 300ms", "in.bag early.bag -t /chatter -S 100ms -E 200ms",
		"append late.bag early.bag",
	} {
		if status, text := rowLine(line); status != 0 {
			t.Fatal(text)
		}
	}
}
