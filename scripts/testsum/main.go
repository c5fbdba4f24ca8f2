// Command testsum reads `go test -json` from standard input and prints what people need of it: a line
// for each package, the output of what failed, which tests were skipped, with the reason, and which took
// the most time. Its exit status is 1 if a test or a package failed, or if no test ran.
//
// With -strict it is 1, too, if a test was skipped that skips.txt does not name.
//
// With -again FILE it writes a line "PACKAGE TEST" there for each test that failed, if tests are all that
// failed: they can be run once more by themselves. A package that does not build, panics or takes too long
// leaves the file empty.
package main

import (
	"bufio"
	"cmp"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

// An event is a line of `go test -json`. See `go doc test2json`.
type event struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64 // seconds
}

// A summary collects events until they are printed.
type summary struct {
	out     io.Writer
	output  map[string][]string // by package and test: lines since the test began
	passed  int
	failed  int
	skipped map[string][]string // by reason: names of tests
	ended   []event             // of tests that are not part of another one
	again   []string            // "PACKAGE TEST" of tests that failed
	whole   bool                // a package failed, and no test of it
}

func main() {
	strict := flag.Bool("strict", false, "fail if a test was skipped that the list of skips does not name")
	again := flag.String("again", "", "write the tests that failed to this `file`, if nothing else failed")
	flag.Parse()
	s := &summary{out: os.Stdout, output: map[string][]string{}, skipped: map[string][]string{}}
	if err := s.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
		os.Exit(1)
	}
	s.print()
	if *again != "" && !s.whole {
		if err := os.WriteFile(*again, []byte(strings.Join(s.again, "")), 0o666); err != nil {
			fmt.Fprintln(os.Stderr, "testsum:", err)
			os.Exit(1)
		}
	}
	if refused := s.refused(allowedSkips); *strict && refused != "" {
		fmt.Printf("these may not skip: scripts/testsum/skips.txt does not name them\n%s", refused)
		if *again != "" {
			os.Remove(*again)
		}
		os.Exit(1)
	}
	if s.failed > 0 || s.passed == 0 {
		os.Exit(1)
	}
}

// allowedSkips has a line "TestName: reason" for each test that may skip in CI; lines of # are
// comments.
//
//go:embed skips.txt
var allowedSkips string

// refused returns a line for each skipped test that a list does not name. A test stands for its
// subtests, too.
func (s *summary) refused(list string) string {
	allowed := map[string]bool{}
	for line := range strings.Lines(list) {
		allowed[strings.TrimSpace(line)] = true
	}
	var lines []string
	for reason, tests := range s.skipped {
		for _, test := range tests {
			if name, _, _ := strings.Cut(test, "/"); !allowed[name+": "+reason] {
				lines = append(lines, fmt.Sprintf("  %s: %s\n", test, reason))
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// read takes all events. A line that is no event, such as an error of the go command, is printed.
func (s *summary) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		var e event
		if json.Unmarshal([]byte(line), &e) == nil {
			s.add(e)
		} else {
			fmt.Fprint(s.out, line)
		}
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func (s *summary) add(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "build-output":
		fmt.Fprint(s.out, e.Output)
	case "output":
		s.output[key] = append(s.output[key], e.Output)
	case "pass":
		s.end(e, &s.passed, "ok  ")
	case "fail":
		fmt.Fprint(s.out, strings.Join(s.output[key], ""))
		if e.Test == "" {
			cut := s.printRest(e.Package)
			failed := func(line string) bool { return strings.HasPrefix(line, e.Package+" ") }
			s.whole = s.whole || cut || !slices.ContainsFunc(s.again, failed)
		}
		s.end(e, &s.failed, "FAIL")
	case "skip":
		if e.Test != "" {
			reason := reasonOf(s.output[key])
			s.skipped[reason] = append(s.skipped[reason], e.Test)
		}
		delete(s.output, key)
	}
}

// end counts a test, or prints the line of a package.
func (s *summary) end(e event, count *int, word string) {
	delete(s.output, e.Package+" "+e.Test)
	if e.Test != "" {
		*count++
		if !strings.Contains(e.Test, "/") {
			s.ended = append(s.ended, e)
			if word == "FAIL" {
				s.again = append(s.again, e.Package+" "+e.Test+"\n")
			}
		}
		return
	}
	if word == "FAIL" {
		*count++
	}
	fmt.Fprintf(s.out, "%s  %7.1fs  %s\n", word, e.Elapsed, e.Package)
}

// printRest prints the output of tests that had not ended when their package did. It reports whether
// there is such a test.
func (s *summary) printRest(pkg string) (found bool) {
	for _, key := range slices.Sorted(maps.Keys(s.output)) {
		if strings.HasPrefix(key, pkg+" Test") || strings.HasPrefix(key, pkg+" Fuzz") {
			fmt.Fprint(s.out, strings.Join(s.output[key], ""))
			delete(s.output, key)
			found = true
		}
	}
	return found
}

// reasonOf returns what t.Skip printed: "    file.go:12: reason".
func reasonOf(output []string) string {
	for _, line := range output {
		if _, reason, ok := strings.Cut(line, ".go:"); ok {
			_, reason, _ = strings.Cut(reason, ": ")
			return strings.TrimSpace(reason)
		}
	}
	return "no reason"
}

func (s *summary) print() {
	n := 0
	var lines []string
	for reason, tests := range s.skipped {
		n += len(tests)
		slices.Sort(tests)
		lines = append(lines, fmt.Sprintf("  %3d  %s: %s", len(tests), reason, shorten(slices.Compact(slices.Clone(tests)))))
	}
	slices.Sort(lines)
	share := 100 * float64(n) / float64(max(1, n+s.passed+s.failed))
	fmt.Fprintf(s.out, "%d passed, %d failed, %d skipped (%.1f %%)\n", s.passed, s.failed, n, share)
	for _, line := range lines {
		fmt.Fprintln(s.out, line)
	}
	s.printSlowest()
}

// slowTest is from how many seconds on a test is named, slowTests how many are.
const slowTest, slowTests = 5, 30

// printSlowest names the tests that took the most time.
func (s *summary) printSlowest() {
	slices.SortStableFunc(s.ended, func(a, b event) int { return cmp.Compare(b.Elapsed, a.Elapsed) })
	for i, e := range s.ended {
		if i == slowTests || e.Elapsed < slowTest {
			return
		}
		if i == 0 {
			fmt.Fprintln(s.out, "slowest:")
		}
		fmt.Fprintf(s.out, "  %6.1fs  %s: %s\n", e.Elapsed, path.Base(e.Package), e.Test)
	}
}

// shorten names three tests at most.
func shorten(tests []string) string {
	if len(tests) > 3 {
		return strings.Join(tests[:3], ", ") + fmt.Sprintf(" and %d more", len(tests)-3)
	}
	return strings.Join(tests, ", ")
}
