package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAppendKilled: SIGKILL at operations from the first to the last of bagconv append leaves the
// target as it was or with all that was added, and the next run adds to it. With BAGCONV_EXHAUSTIVE
// the readers of others find the same, before that run.
func TestAppendKilled(t *testing.T) {
	moments, judged := int64(5), os.Getenv("BAGCONV_EXHAUSTIVE") != ""
	if judged {
		moments = 50
	}
	in := generated(t, "-profile", "small", "-mb", "4")
	_, all := read(t, in)
	for _, format := range []string{"bag", "record", "db3", "db3 file", "ros2mcap", "mcap file"} {
		t.Run(format, func(t *testing.T) { appendKilled(t, format, in, len(all), moments, judged) })
	}
}

func appendKilled(t *testing.T, format, in string, all int, moments int64, judged bool) {
	to, single, _ := strings.Cut(format, " ")
	dir := filepath.Join(t.TempDir(), to)
	fresh, target := filepath.Join(dir, "fresh"), filepath.Join(dir, "target")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if single != "" {
		fresh, target = fresh+"."+to, target+"."+to
	}
	convert(t, in, fresh, "--to", to)
	line := []string{"append", "-q", target, in}
	begin := func() {
		for _, path := range []string{target, filepath.Join(dir, "."+filepath.Base(target)+".journal")} {
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
		}
		if out, err := exec.Command("cp", "-r", fresh, target).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	begin()
	total, status := operations(t, line...)
	if _, msgs := read(t, target); status != 0 || len(msgs) != 2*all {
		t.Fatalf("exit status %d, %d messages", status, len(msgs))
	}
	killed := int64(0)
	for i := range moments {
		n := total * (i + 1) / (moments + 1)
		if i%2 == 1 { // among the last ones, which make valid what was added
			n = total - i + 1
		}
		at := fmt.Sprintf("killed at operation %d of %d", n, total)
		begin()
		finished := !killAt(t, n, line...)
		if !finished {
			killed++
		}
		want := all
		info, msgs := read(t, target)
		if len(msgs) == 2*want {
			finished = true
		}
		if finished {
			want *= 2
		}
		for _, w := range info.Warnings {
			if w.Damage {
				t.Errorf("%s: %+v", at, w)
			}
		}
		if len(msgs) != want {
			t.Errorf("%s: %d messages, want %d", at, len(msgs), want)
		}
		if judged {
			judgeKilled(t, format, target, want)
		}
		if !finished {
			if out, err := exec.Command(binary, line...).CombinedOutput(); err != nil {
				t.Errorf("%s: the next run: %v: %s", at, err, out)
			}
			if _, msgs := read(t, target); len(msgs) != 2*want {
				t.Errorf("%s: the next run: %d messages, want %d", at, len(msgs), 2*want)
			}
		}
	}
	if killed < moments/2 {
		t.Errorf("%d of %d runs were killed", killed, moments)
	}
}

// judgeKilled has readers of others count the messages of what is left, by the target alone.
func judgeKilled(t *testing.T, format, target string, want int) {
	t.Helper()
	rosbags := exec.Command(os.Getenv("BAGCONV_ROSBAGS_PYTHON"), "-c",
		"import sys\nfrom rosbags.rosbag2 import Reader\nwith Reader(sys.argv[1]) as r: print(sum(1 for _ in r.messages()))",
		target)
	readers := map[string][]*exec.Cmd{
		"bag": {exec.Command("/usr/bin/python3", "-c",
			"import rosbag, sys\nprint(sum(1 for _ in rosbag.Bag(sys.argv[1]).read_messages(raw=True)))", target)},
		"record": {exec.Command(os.Getenv("BAGCONV_CYBER_PYTHON"), "-W", "ignore", "-c",
			"import sys\nfrom cyber_record.record import Record\nwith Record(sys.argv[1]) as r: print(sum(1 for _ in "+
				"r.read_messages()))", target)},
		"db3 file": {rosbags, exec.Command("sqlite3", "-readonly", target,
			"select count(*) from messages where (select * from pragma_integrity_check) = 'ok'")},
		"mcap file": {exec.Command(os.Getenv("BAGCONV_MCAP_PYTHON"), "-c", "import sys\nfrom mcap.reader import SeekingReader\n"+
			"r = SeekingReader(open(sys.argv[1], 'rb'), validate_crcs=True)\nprint(sum(1 for _ in r.iter_messages()))", target)},
		"db3":      {rosbags},
		"ros2mcap": {rosbags},
	}
	for _, cmd := range readers[format] {
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != fmt.Sprintln(want) {
			t.Errorf("%v: %s reads %s, want %d", err, cmd.Path, out, want)
		}
	}
}
