package tasks

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/bagconv/bagconv/internal/convert/batch"
	"github.com/bagconv/bagconv/internal/convert/recipe"
	"github.com/bagconv/bagconv/storage"
)

func task(dir, name string) *Task {
	t := &Task{SchemaVersion: TaskVersion, Source: "/in/" + name, OutputDir: dir, Output: filepath.Join(dir, name),
		Recipe: recipe.Recipe{Format: "db3"}}
	t.SetID()
	return t
}

// TestID: the same content has the same ID; everything that changes the output changes it,
// other flags do not.
func TestID(t *testing.T) {
	a := task("/out", "a")
	same := *a
	same.Recipe.Run = []recipe.Setting{{Name: "verify", Value: "content"}}
	same.SetID()
	if same.ID != a.ID || len(a.ID) != 24 {
		t.Errorf("%s and %s", a.ID, same.ID)
	}
	for i, change := range []func(*Task){
		func(t *Task) { t.Source = "/in/b" }, func(t *Task) { t.Size++ }, func(t *Task) { t.Output = "/out/b" },
		func(t *Task) { t.ModTime = t.ModTime.Add(1) }, func(t *Task) { t.Recipe.Format = "bag" }, func(t *Task) {
			t.Recipe.Content = "00"
		},
		func(t *Task) { t.Recipe.Settings = []recipe.Setting{{Name: "compression", Value: "zstd"}} },
	} {
		other := *a
		change(&other)
		if other.SetID(); other.ID == a.ID {
			t.Errorf("change %d keeps the ID", i)
		}
	}
}

// TestLines: lines are whole, numbered, and bounded; a torn one is marked.
func TestLines(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	var got []string
	err := EachLine(strings.NewReader("a\n\n "+long+"\r\nb"), func(n int, line []byte, torn bool) error {
		got = append(got, fmt.Sprint(n, len(line), torn))
		return nil
	})
	if want := []string{"1 1 false", "3 200000 false", "4 1 true"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v %v", got, err)
	}
	if err := EachLine(strings.NewReader(strings.Repeat("x", MaxLine+100_000)),
		func(int, []byte, bool) error { return nil }); err == nil {
		t.Error("a line without an end is read")
	}
	plan := string(Line(task("/o", "a"))) + string(Line(task("/o", "b")))
	if list, err := ReadPlan(strings.NewReader(plan)); err != nil || len(list) != 2 || list[1].Source != "/in/b" {
		t.Errorf("%v %v", list, err)
	}
	for cut := 1; cut < len(plan)-1; cut++ {
		list, err := ReadPlan(strings.NewReader(plan[:cut]))
		if whole := cut == strings.Index(plan, "\n") || cut == strings.Index(plan, "\n")+1; (err == nil) != whole ||
			len(list) > 1 {
			t.Fatalf("a plan of %d bytes: %d tasks, %v", cut, len(list), err)
		}
	}
	r := task("/o", "a").Pending()
	n := 0
	others, err := ReadResults(strings.NewReader(string(Line(r))+"hello\n{}\n"+string(Line(r))[:40]),
		func(*Result, []byte) { n++ })
	if n != 1 || others != 3 || err != nil {
		t.Errorf("%d results, %d others, %v", n, others, err)
	}
}

// TestReceipts: a receipt is read back; torn and foreign ones are none; only what is done and stands
// is done, and only what a task has left is ours.
func TestReceipts(t *testing.T) {
	dir := t.TempDir()
	a, store := task(dir, "a"), &Store{}
	if r, err := store.Load(a); r != nil || err != nil || r.MayReplace(nil) || r.DoneBy(nil, a, "") {
		t.Fatalf("%v %v", r, err)
	}
	if err := store.Save(a, a.Pending(), true); err != nil {
		t.Fatal(err)
	}
	r, err := store.Load(a)
	if err != nil || !r.MayReplace(nil) || r.DoneBy(nil, a, "") {
		t.Fatalf("pending: %+v %v", r, err)
	}
	if err := os.WriteFile(a.Output, []byte("12345"), 0o666); err != nil {
		t.Fatal(err)
	}
	r.Status, r.OutputSize, r.OutputFiles, r.Verified = batch.StatusOK, 5, []string{a.Output}, "counts"
	if err := store.Save(a, r, false); err != nil {
		t.Fatal(err)
	}
	r, _ = store.Load(a)
	if !r.DoneBy(nil, a, "") || !r.DoneBy(nil, a, "counts") || r.DoneBy(nil, a, "content") || !r.MayReplace(nil) {
		t.Errorf("done: %+v", r)
	}
	other := *a
	other.Recipe.Format = "bag"
	other.SetID()
	if r.DoneBy(nil, &other, "") {
		t.Error("done by another task")
	}
	if err := os.WriteFile(a.Output, []byte("123456"), 0o666); err != nil {
		t.Fatal(err)
	}
	if r.DoneBy(nil, a, "") || r.MayReplace(nil) {
		t.Error("the output has changed, and is done or ours")
	}
	name := path(dir, a.Output)
	text, _ := os.ReadFile(name)
	for cut := range text[:len(text)-1] {
		if err := os.WriteFile(name, text[:cut], 0o666); err != nil {
			t.Fatal(err)
		}
		if r, err := store.Load(a); (cut == 0) != (r != nil && r.Status == StatusPending) || cut > 0 && r != nil ||
			err != nil {
			t.Fatalf("a receipt of %d bytes: %+v %v", cut, r, err)
		}
	}
	b := task(dir, "b")
	listed, err := store.Listed(dir)
	if err != nil || !listed(a) || listed(b) {
		t.Errorf("listed: %v, %t, %t", err, listed(a), listed(b))
	}
	if store.Tidy(dir); store.Save(b, b.Pending(), false) != nil {
		t.Error("a folder with receipts is removed")
	}
	store.Remove(a)
	store.Remove(b)
	store.Tidy(dir)
	if _, err := os.Stat(filepath.Dir(name)); err == nil {
		t.Error("the folder of receipts stays without one")
	}
	if listed, err = store.Listed(dir); err != nil || listed(a) {
		t.Errorf("nothing is listed: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, stateName, "*.tmp")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// TestShards: the words and the variables of shares, and those that contradict each other.
func TestShards(t *testing.T) {
	for text, ok := range map[string]bool{"0/1": true, "7/8": true, "8/8": false, "-1/8": false, "1": false, "a/b": false,
		"0/0": false, "1/2/3": false, "0/9999999999": false} {
		if s, err := ParseShard(text); (err == nil) != ok || ok && s.String() != text {
			t.Errorf("%s: %v %v", text, s, err)
		}
	}
	for _, c := range []struct{ env, want string }{
		{"", "0/0"},
		{"JOB_COMPLETION_INDEX=3 JOB_COMPLETIONS=8", "3/8"},
		{"JOB_COMPLETION_INDEX=3", "error"},
		{"AWS_BATCH_JOB_ARRAY_INDEX=0 AWS_BATCH_JOB_ARRAY_SIZE=2", "0/2"},
		{"AWS_BATCH_JOB_ARRAY_INDEX=2 AWS_BATCH_JOB_ARRAY_SIZE=2", "error"},
		{"SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_COUNT=4 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=4", "3/4"},
		{"SLURM_ARRAY_TASK_ID=4 SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MIN=2 SLURM_ARRAY_TASK_MAX=4", "error"},
		{"SLURM_ARRAY_TASK_ID=x SLURM_ARRAY_TASK_COUNT=2 SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=1", "error"},
		{"JOB_COMPLETION_INDEX=1 JOB_COMPLETIONS=2 AWS_BATCH_JOB_ARRAY_INDEX=1 AWS_BATCH_JOB_ARRAY_SIZE=2", "1/2"},
		{"JOB_COMPLETION_INDEX=1 JOB_COMPLETIONS=2 AWS_BATCH_JOB_ARRAY_INDEX=0 AWS_BATCH_JOB_ARRAY_SIZE=2", "error"},
	} {
		env := map[string]string{}
		for _, word := range strings.Fields(c.env) {
			name, value, _ := strings.Cut(word, "=")
			env[name] = value
		}
		s, err := ShardOf(func(name string) (string, bool) { v, ok := env[name]; return v, ok })
		got := s.String()
		if err != nil {
			got = "error"
		}
		if got != c.want {
			t.Errorf("%s: %s %v, want %s", c.env, got, err, c.want)
		}
	}
}

// TestAssign: each thing is in one share, shares are about equal, and the division is the same again.
func TestAssign(t *testing.T) {
	sizes := make([]int64, 1000)
	total := int64(0)
	for i := range sizes {
		sizes[i] = int64(i * 7919 % 1009 * (1 + i%3))
		total += sizes[i]
	}
	for _, n := range []int{1, 2, 7, 64} {
		loads := make([]int64, n)
		shares := Assign(sizes, n)
		for i, s := range shares {
			loads[s] += sizes[i]
		}
		if least, most := slices.Min(loads), slices.Max(loads); most-least > total/int64(n)/10 {
			t.Errorf("%d shares: from %d to %d", n, least, most)
		}
		if !slices.Equal(shares, Assign(slices.Clone(sizes), n)) {
			t.Errorf("%d shares: divided in two ways", n)
		}
	}
	if shares := Assign(make([]int64, 6), 3); slices.Max(shares) != 2 {
		t.Errorf("things without a size: %v", shares)
	}
	var plan []*Task
	for i := range 20 {
		plan = append(plan, task("/o", fmt.Sprint(i)))
	}
	seen := map[string]int{}
	for i := range 8 {
		for _, t := range (Shard{Index: i, Count: 8}).Pick(plan) {
			seen[t.ID]++
		}
	}
	if len(seen) != 20 {
		t.Errorf("%d of 20 tasks", len(seen))
	}
}

type passing bool

func (passing) Error() string     { return "own" }
func (p passing) Transient() bool { return bool(p) }

// TestTransient: what may pass, and what does not.
func TestTransient(t *testing.T) {
	for _, err := range []error{
		&fs.PathError{Err: syscall.ENOSPC}, syscall.EIO, syscall.ESTALE, syscall.EMFILE, syscall.ECONNRESET, storage.ErrKey,
		storage.ErrLocked, context.DeadlineExceeded,
		&net.OpError{Err: errors.New("reset")}, fmt.Errorf("in: %w", passing(true)),
	} {
		if !Transient(err) {
			t.Errorf("%v does not pass", err)
		}
	}
	for _, err := range []error{
		nil, errors.New("other"), fs.ErrNotExist, fs.ErrExist, &fs.PathError{Err: syscall.ENOENT}, syscall.EACCES,
		storage.ErrCorrupt, storage.ErrTruncated, storage.ErrUnsupported, passing(false),
		fmt.Errorf("%w: %w", storage.ErrCorrupt, syscall.EIO),
	} {
		if Transient(err) {
			t.Errorf("%v passes", err)
		}
	}
}

// TestTally: each fate is counted by itself, and a sum has only what it is asked for.
func TestTally(t *testing.T) {
	failed := batch.Entry{Status: batch.StatusFailed, Size: 8}
	done := batch.Entry{Status: batch.StatusOK, Size: 1, OutputSize: 2, Written: 3}
	tally := Tally{}
	for _, c := range []struct {
		r    *Result
		fate string
	}{
		{&Result{Entry: done}, "ok"}, {&Result{Entry: done, Skipped: true}, "skipped"},
		{&Result{Entry: failed}, "failed"}, {&Result{Entry: failed, Transient: true}, "transient"},
		{&Result{Entry: batch.Entry{Status: batch.StatusLossy, Size: 16, Written: 1}}, "lossy"}, {nil, "not done"},
	} {
		if got := c.r.Fate(); got != c.fate {
			t.Errorf("fate %q, want %q", got, c.fate)
		}
		if c.r != nil {
			tally.Add(c.fate, &c.r.Entry)
		}
	}
	if got, want := tally.Of("ok", "lossy", "failed"), (Sum{Tasks: 3, Size: 25, OutputSize: 2, Messages: 4}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
