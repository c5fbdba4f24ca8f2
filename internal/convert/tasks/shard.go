package tasks

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Shard is the share of one of several processes. The zero value is everything.
type Shard struct {
	Index, Count int    // Index counts from 0
	Origin       string // the variable that it comes from; "": the command line
}

// All reports whether the shard is everything.
func (s Shard) All() bool { return s.Count <= 1 }

// String returns "I/N".
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Count) }

// maxShards is how many shards there may be.
const maxShards = 1_000_000

// ParseShard reads "I/N": share I, counted from 0, of N.
func ParseShard(text string) (Shard, error) {
	i, n, ok := strings.Cut(text, "/")
	index, err := strconv.Atoi(i)
	count, err2 := strconv.Atoi(n)
	if !ok || err != nil || err2 != nil {
		return Shard{}, fmt.Errorf("it is I/N, share I of N, counted from 0, such as 3/8, and not %q", text)
	}
	return checkShard(Shard{Index: index, Count: count})
}

func checkShard(s Shard) (Shard, error) {
	if s.Count < 1 || s.Count > maxShards || s.Index < 0 || s.Index >= s.Count {
		return Shard{}, fmt.Errorf("%s: shares are counted from 0 to N-1, and there are %d at most", s, maxShards)
	}
	return s, nil
}

// An array is how a system tells a process its share.
type array struct {
	index, count string // variables
	first, last  string // variables of the first and the last index; "": from 0
	hint         string // if the count is missing
}

var arrays = []array{
	{index: "JOB_COMPLETION_INDEX", count: "JOB_COMPLETIONS",
		hint: "set it in the container to the completions of the job"},
	{index: "AWS_BATCH_JOB_ARRAY_INDEX", count: "AWS_BATCH_JOB_ARRAY_SIZE", hint: "set it to the size of the array job"},
	{index: "SLURM_ARRAY_TASK_ID", count: "SLURM_ARRAY_TASK_COUNT", first: "SLURM_ARRAY_TASK_MIN",
		last: "SLURM_ARRAY_TASK_MAX", hint: "set it to the size of the array"},
}

// ShardOf returns the share that the environment of a Kubernetes Indexed Job, an AWS Batch array job
// or a Slurm array has for this process; everything without them. lookup is os.LookupEnv.
func ShardOf(lookup func(string) (string, bool)) (Shard, error) {
	var found []Shard
	for _, a := range arrays {
		index, ok := lookup(a.index)
		if !ok || index == "" {
			continue
		}
		s, err := a.read(index, lookup)
		if err != nil {
			return Shard{}, err
		}
		s.Origin = a.index
		found = append(found, s)
	}
	for _, s := range found {
		if s.Index != found[0].Index || s.Count != found[0].Count {
			return Shard{}, fmt.Errorf("%s is for share %s, but %s is for %s", found[0].Origin, found[0], s.Origin, s)
		}
	}
	if len(found) == 0 {
		return Shard{}, nil
	}
	return found[0], nil
}

// read reads the variables of one system.
func (a *array) read(index string, lookup func(string) (string, bool)) (Shard, error) {
	number := func(name string) (int, error) {
		text, ok := lookup(name)
		if !ok || text == "" {
			return 0, fmt.Errorf("%s is set, but %s is not: %s", a.index, name, a.hint)
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return 0, fmt.Errorf("%s is %q, and not a number", name, text)
		}
		return n, nil
	}
	i, err := strconv.Atoi(index)
	if err != nil {
		return Shard{}, fmt.Errorf("%s is %q, and not a number", a.index, index)
	}
	count, err := number(a.count)
	if err != nil {
		return Shard{}, err
	}
	if a.first != "" {
		first, err := number(a.first)
		last, err2 := number(a.last)
		if err := errors.Join(err, err2); err != nil {
			return Shard{}, err
		}
		if last-first+1 != count {
			return Shard{}, fmt.Errorf("%s to %s are %d to %d, but %s is %d: the array has gaps", a.first, a.last, first, last,
				a.count, count)
		}
		i -= first
	}
	s, err := checkShard(Shard{Index: i, Count: count})
	if err != nil {
		err = fmt.Errorf("%s: %w", a.index, err)
	}
	return s, err
}

// Assign divides things of these sizes among shares, so that the sizes of shares are about equal: the
// largest first, each to the share that has the least. It depends on nothing but the sizes and
// their order. The result has the share of each.
func Assign(sizes []int64, shares int) []int {
	order := make([]int, len(sizes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case sizes[a] > sizes[b]:
			return -1
		case sizes[a] < sizes[b]:
			return 1
		}
		return 0
	})
	loads := make(loads, shares)
	for i := range loads {
		loads[i].share = i
	}
	result := make([]int, len(sizes))
	for _, i := range order {
		result[i] = loads[0].share
		loads[0].size += sizes[i]
		loads[0].count++
		loads.sink()
	}
	return result
}

// loads is a heap, the least load first.
type loads []load

type load struct {
	size         int64
	count, share int
}

func (l load) less(o load) bool {
	if l.size != o.size {
		return l.size < o.size
	}
	if l.count != o.count { // empty things are divided, too
		return l.count < o.count
	}
	return l.share < o.share
}

// sink moves the first load to its place.
func (l loads) sink() {
	for i := 0; ; {
		least := i
		for _, child := range []int{2*i + 1, 2*i + 2} {
			if child < len(l) && l[child].less(l[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		l[i], l[least] = l[least], l[i]
		i = least
	}
}

// share returns about how many bytes a task reads.
func (t *Task) share() int64 {
	if t.Range != nil && t.Range.Parts > 0 {
		return t.Size / int64(t.Range.Parts)
	}
	return t.Size
}

// Pick returns the tasks of a plan that a shard has, in the order of the plan.
func (s Shard) Pick(plan []*Task) (list []*Task) {
	if s.All() {
		return plan
	}
	sizes := make([]int64, len(plan))
	for i, t := range plan {
		sizes[i] = t.share()
	}
	for i, share := range Assign(sizes, s.Count) {
		if share == s.Index {
			list = append(list, plan[i])
		}
	}
	return list
}
