package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAppendKilled: kill -9 at random moments of bagconv append leaves the target as it was
// or with all that was added, and the next run adds to it. With BAGCONV_EXHAUSTIVE the readers of
// others find the same, before that run.
func TestAppendKilled(t *testing.T) {
	moments, judged := 5, os.Getenv("BAGCONV_EXHAUSTIVE") != ""
	if judged {
		moments = 50
	}
	in := generated(t, "-profile", "small", "-mb", "12")
	_, all := read(t, in)
	for _, format := range []string{"bag", "record", "db3", "db3 file", "ros2mcap"} {
		t.Run(format, func(t *testing.T) { appendKilled(t, format, in, len(all), moments, judged) })
	}
}

func appendKilled(t *testing.T, format, in string, all, moments int, judged bool) {
	to, single, _ := strings.Cut(format, " ")
	dir := filepath.Join(t.TempDir(), to)
	fresh, target := filepath.Join(dir, "fresh"), filepath.Join(dir, "target")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if single != "" {
		fresh, target = fresh+".db3", target+".db3"
	}
	convert(t, in, fresh, "--to", to)
	took := time.Duration(0)
	killed := 0
	for i := range moments + 1 {
		if out, err := exec.Command("cp", "-r", fresh, target).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		cmd := exec.Command(binary, "append", "-q", target, in)
		began := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if i > 0 { // the first one is timed
			time.Sleep(time.Duration(rand.Int64N(int64(took))))
			_ = cmd.Process.Kill()
		}
		finished := cmd.Wait() == nil
		took = max(took, time.Since(began))
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
				t.Errorf("moment %d: %+v", i, w)
			}
		}
		if len(msgs) != want {
			t.Errorf("moment %d: %d messages, want %d", i, len(msgs), want)
		}
		if judged {
			judgeKilled(t, format, target, want)
		}
		if !finished {
			if out, err := exec.Command(binary, "append", "-q", target, in).CombinedOutput(); err != nil {
				t.Errorf("moment %d: the next run: %v: %s", i, err, out)
			}
			if _, msgs := read(t, target); len(msgs) != 2*want {
				t.Errorf("moment %d: the next run: %d messages, want %d", i, len(msgs), 2*want)
			}
		}
		for _, path := range []string{target, filepath.Join(dir, "."+filepath.Base(target)+".journal")} {
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	if killed == 0 {
		t.Errorf("none of %d runs was killed in time", moments)
	}
}

// judgeKilled has readers of others count the messages of what is left, by the target alone.
func judgeKilled(t *testing.T, format, target string, want int) {
	t.Helper()
	rosbags := exec.Command(os.Getenv("BAGCONV_ROSBAGS_PYTHON"), "-c", "import sys\nfrom rosbags.rosbag2 import Reader\nwith Reader(sys.argv[1]) as r: print(sum(1 for _ in r.messages()))", target)
	readers := map[string][]*exec.Cmd{
		"bag": {exec.Command("/usr/bin/python3", "-c", "import rosbag, sys\nprint(sum(1 for _ in rosbag.Bag(sys.argv[1]).read_messages(raw=True)))", target)},
		"record": {exec.Command(os.Getenv("BAGCONV_CYBER_PYTHON"), "-W", "ignore", "-c",
			"import sys\nfrom cyber_record.record import Record\nwith Record(sys.argv[1]) as r: print(sum(1 for _ in r.read_messages()))", target)},
		"db3 file": {rosbags, exec.Command("sqlite3", "-readonly", target, "select count(*) from messages where (select * from pragma_integrity_check) = 'ok'")},
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
