package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bagconv/bagconv/convert/recording"
	"github.com/bagconv/bagconv/storage"
)

// picked returns the query that --skip, --nth, --tail and --reverse ask for, and whether
// they ask for one.
func (e *env) picked() (pick storage.Query, some bool, err error) {
	s := &e.set
	some = s.skip > 0 || s.nth > 0 || s.tail > 0 || s.reverse
	if !some {
		return pick, false, nil
	}
	chosen := 0
	for _, n := range []int64{s.nth, s.tail, s.skip} {
		if n > 0 {
			chosen++
		}
	}
	switch {
	case chosen > 1, s.limit > 0 && s.nth+s.tail > 0, s.nth > 0 && s.reverse:
		return pick, true, usage("use one of them; --limit and --reverse go with --skip, and --reverse with --tail", "--skip, --nth, --tail, --limit and --reverse contradict each other")
	case s.job.Order == recording.OrderFile:
		return pick, true, usage("omit --order file", "--skip, --nth, --tail and --reverse count messages in the order of time")
	case s.nth > 0:
		s.limit, pick.Skip = 1, s.nth-1
	case s.tail > 0:
		s.limit, pick.Reverse = s.tail, true
	default:
		pick.Skip, pick.Reverse = s.skip, s.reverse
	}
	return pick, true, nil
}

// maxTail bounds the lines that --tail keeps until it can print them, in bytes.
const maxTail = 256 << 20

// pick prints messages that the index finds.
func (r *catRun) pick(ctx context.Context, query recording.Query, pick storage.Query) (*recording.Result, error) {
	write := r.write
	var lines [][]byte
	size := 0
	backwards := r.set.tail > 0 && !r.set.reverse // they come last first, and are printed first last
	if backwards {
		write = func(m *storage.Message) error {
			if size += len(m.Data); size > maxTail {
				return usage("use --start -30s or another time from the end", "--tail %d: the last %d messages take more than %d MB as text", r.set.tail, len(lines), maxTail>>20)
			}
			if lines = append(lines, slices.Clone(r.text(m))); int64(len(lines)) == r.set.limit {
				return recording.ErrEnough
			}
			return nil
		}
	}
	query.Pick = &pick
	res, err := r.src.Read(ctx, query, r.each(ctx, write))
	switch {
	case errors.Is(err, storage.ErrUnsupported):
		err = &failure{path: r.path, what: "it has no index that finds single messages", hint: "omit --skip, --nth, --tail and --reverse, or convert it first", err: err}
	case errors.Is(err, storage.ErrCorrupt):
		err = &failure{path: r.path, what: fmt.Sprintf("its index is wrong: %v", err), hint: "omit --skip, --nth, --tail and --reverse to read all of it; bagconv recover writes a recording with a correct index", err: err}
	}
	if err != nil {
		return nil, err
	}
	for _, line := range slices.Backward(lines) {
		if _, err := r.out.Write(line); err != nil {
			return nil, err
		}
		r.wrote++
	}
	if r.set.nth > 0 && r.wrote == 0 {
		return res, &failure{path: r.path, what: fmt.Sprintf("there is no message number %d in the selection", r.set.nth), hint: "bagconv info counts the messages of each topic"}
	}
	return res, nil
}
