package storage

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestSecret: no way of printing shows it, also in what has one.
func TestSecret(t *testing.T) {
	s := NewSecret([]byte("hunter2"))
	for _, v := range []any{s, &s, ReadOptions{Key: s}, struct{ key Secret }{s}, []Secret{s}} {
		text, err := json.Marshal(v)
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			text = fmt.Appendf(text, verb, v)
		}
		if err != nil || strings.Contains(string(text), "hunter") || strings.Contains(string(text), "68756e") ||
			strings.Contains(string(text), "104 117") {
			t.Errorf("%T: %s, %v", v, text, err)
		}
	}
	if string(s.Reveal()) != "hunter2" || (Secret{}).Reveal() != nil {
		t.Error("the bytes are others")
	}
}
