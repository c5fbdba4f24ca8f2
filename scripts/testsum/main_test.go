package main

import (
	"io"
	"strings"
	"testing"
)

func TestSummary(t *testing.T) {
	in := `{"Action":"output","Package":"p","Test":"TestA","Output":"noise\n"}
{"Action":"pass","Package":"p","Test":"TestA/part","Elapsed":7}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":7.04}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:3: want 2, got 3\n"}
{"Action":"fail","Package":"p","Test":"TestB","Elapsed":61}
{"Action":"output","Package":"p","Test":"TestC","Output":"    c_test.go:9: no python3: install it\n"}
{"Action":"skip","Package":"p","Test":"TestC","Elapsed":0}
{"Action":"output","Package":"p","Test":"TestD","Output":"    c_test.go:9: no python3: install it\n"}
{"Action":"skip","Package":"p","Test":"TestD","Elapsed":0}
{"Action":"output","Package":"p","Test":"TestE","Output":"panic: test timed out\n"}
{"Action":"fail","Package":"p","Elapsed":1.5}
{"Action":"skip","Package":"q","Elapsed":0}
{"ImportPath":"r","Action":"build-output","Output":"r.go:1: syntax error\n"}
{"Action":"fail","Package":"r","Elapsed":0}
go: no such tool
`
	var out strings.Builder
	s := &summary{out: &out, output: map[string][]string{}, skipped: map[string][]string{}}
	if err := s.read(strings.NewReader(in)); err != nil {
		t.Fatal(err)
	}
	s.print()
	want := `    b_test.go:3: want 2, got 3
panic: test timed out
FAIL      1.5s  p
r.go:1: syntax error
FAIL      0.0s  r
go: no such tool
2 passed, 3 failed, 2 skipped (28.6 %)
    2  no python3: install it: TestC, TestD
slowest:
    61.0s  p: TestB
     7.0s  p: TestA
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestRefused(t *testing.T) {
	s := &summary{skipped: map[string][]string{"no disk": {"TestA/one", "TestB"}, "no python": {"TestA"}}}
	s.out, s.skipped["no python"] = io.Discard, append(s.skipped["no python"], "TestA") // of two packages
	s.print()
	list := "# TestB: no disk\nTestA: no disk\n"
	if got, want := s.refused(list), "  TestA: no python\n  TestA: no python\n  TestB: no disk\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := s.refused(list + "TestB: no disk\nTestA: no python\n"); got != "" {
		t.Errorf("got %q", got)
	}
}

// TestAgain: tests that failed by themselves are named; a package that failed as a whole leaves no such list.
func TestAgain(t *testing.T) {
	failed := `{"Action":"output","Package":"p","Test":"TestA","Output":"want 2\n"}
{"Action":"fail","Package":"p","Test":"TestA/part"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestB"}
{"Action":"fail","Package":"p"}
`
	for in, whole := range map[string]bool{
		failed: false,
		failed + `{"Action":"fail","Package":"q"}`:                                                            true,
		`{"Action":"output","Package":"p","Test":"TestC","Output":"panic: test timed out\n"}` + "\n" + failed: true,
	} {
		s := &summary{out: io.Discard, output: map[string][]string{}, skipped: map[string][]string{}}
		if err := s.read(strings.NewReader(in)); err != nil {
			t.Fatal(err)
		}
		if s.whole != whole || strings.Join(s.again, "") != "p TestA\n" {
			t.Errorf("%v, %q of %s", s.whole, s.again, in)
		}
	}
}
