package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"testing"
)

// sameValuesAsCat compares the values that a program prints of a recording with those that cat
// prints, which has more flags. Bytes may be numbers.
func sameValuesAsCat(t *testing.T, p program, path string, more ...string) (frames []byte) {
	t.Helper()
	frames, _ = output(t, nil, binary, "cat", path, "--raw", "--framed")
	got, _ := output(t, bytes.NewReader(frames), p[0], p[1:]...)
	want, _ := output(t, nil, binary, append([]string{"cat", path, "--bytes", "--arrays"}, more...)...)
	g, w := bufio.NewReader(bytes.NewReader(got)), bufio.NewReader(bytes.NewReader(want))
	for n := 0; ; n++ {
		a, errA := g.ReadBytes('\n')
		b, errB := w.ReadBytes('\n')
		if (errA == nil) != (errB == nil) {
			t.Fatalf("%s: line %d is missing in one of both: %.300s / %.300s", path, n, a, b)
		}
		if errA != nil {
			return frames
		}
		if diff := difference("", decoded(t, a), decoded(t, b)); diff != "" {
			t.Fatalf("%s: line %d: %s\n%.2000s\n%.2000s", path, n, diff, a, b)
		}
	}
}

func decoded(t *testing.T, line []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %.300s", err, line)
	}
	return v
}

// difference returns where two values differ, "" if they do not.
func difference(at string, got, want any) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(g) != len(w) {
			return fmt.Sprintf("%s: %.100v, not %.100v", at, got, want)
		}
		for k := range w {
			if diff := difference(at+"."+k, g[k], w[k]); diff != "" {
				return diff
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Sprintf("%s: %.100v, not %.100v", at, got, want)
		}
		for i := range w {
			if diff := difference(fmt.Sprintf("%s[%d]", at, i), g[i], w[i]); diff != "" {
				return diff
			}
		}
		return ""
	case json.Number:
		g, ok := got.(json.Number)
		a, errA := g.Float64()
		b, errB := w.Float64()
		if !ok || g != w && (errA != nil || errB != nil || a != b) {
			return fmt.Sprintf("%s: %v, not %v", at, got, want)
		}
		return ""
	case string:
		if list, ok := got.([]any); ok {
			b, err := base64.StdEncoding.DecodeString(w)
			if err != nil || len(b) != len(list) {
				return fmt.Sprintf("%s: %d bytes, not %d (%v)", at, len(list), len(b), err)
			}
			for i := range b {
				if n, err := list[i].(json.Number).Int64(); err != nil || byte(n) != b[i] {
					return fmt.Sprintf("%s[%d]: %v, not %d", at, i, list[i], b[i])
				}
			}
			return ""
		}
	}
	if got != want {
		return fmt.Sprintf("%s: %.100v, not %.100v", at, got, want)
	}
	return ""
}
