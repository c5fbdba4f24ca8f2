package cli

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
)

// TestOutcome: what decides the exit status if several things are true, and what an error is.
func TestOutcome(t *testing.T) {
	all := outcome{true, true, true, true, true, true, true}
	order := []struct {
		clear  func(*outcome)
		status int
		word   string
	}{
		{func(o *outcome) { o.usage = false }, exitUsage, "failed"},
		{func(o *outcome) { o.failed = false }, exitFailed, "failed"},
		{func(o *outcome) { o.interrupted = false }, exitInterrupted, "interrupted"},
		{func(o *outcome) { o.transient = false }, exitTransient, "failed"},
		{func(o *outcome) { o.some = false }, exitSome, "failed"},
		{func(o *outcome) { o.findings = false }, exitFindings, "failed"},
		{func(o *outcome) { o.lossy = false }, exitLossy, "lossy"},
	}
	for _, c := range order {
		var status exitStatus
		if all.status() != c.status || all.word() != c.word || !errors.As(all.end(), &status) || int(status) != c.status {
			t.Errorf("%+v: status %d %q, want %d %q", all, all.status(), all.word(), c.status, c.word)
		}
		c.clear(&all)
	}
	if all.status() != exitOK || all.word() != "ok" || all.end() != nil {
		t.Errorf("nothing is wrong: %d %q", all.status(), all.word())
	}
	for _, c := range []struct {
		err  error
		want outcome
	}{
		{nil, outcome{}},
		{fmt.Errorf("in: %w", &flags.UsageError{}), outcome{usage: true}},
		{fmt.Errorf("in: %w", &differsError{}), outcome{findings: true}},
		{fmt.Errorf("in: %w", context.Canceled), outcome{interrupted: true}},
		{errors.New("else"), outcome{failed: true}},
	} {
		if got := outcomeOf(c.err); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.err, got, c.want)
		}
	}
}
