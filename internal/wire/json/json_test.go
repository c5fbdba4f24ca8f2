package json

import (
	"bytes"
	std "encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// tree returns a value as encoding/json does.
func tree(t *Text, pos int) any {
	switch t.First(pos) {
	case '{':
		out := map[string]any{}
		t.Members(pos, func(key []byte, at int) { out[string(key)] = tree(t, at) })
		return out
	case '[':
		out := []any{}
		_ = t.Elements(pos, func(at int) error {
			out = append(out, tree(t, at))
			return nil
		})
		return out
	case '"':
		return string(t.String(pos))
	case 't', 'f':
		return t.First(pos) == 't'
	case 'n':
		return nil
	}
	var f float64
	err := std.Unmarshal(t.Raw(pos), &f)
	if got, ok := t.Number(pos); strings.IndexByte("NI", t.First(pos)) < 0 && (ok != (err == nil) || ok && got != f) {
		return "another number"
	}
	if n, err := strconv.ParseInt(string(t.Raw(pos)), 10, 64); err == nil {
		if got, ok := t.Integer(pos); !ok || got != n {
			return "another integer"
		}
	}
	return std.Number(t.Raw(pos))
}

// FuzzText: what encoding/json reads of any text is what a Text has, and it refuses what a Text refuses, but for
// the words that JSON does not have and for values that are nested deeply.
func FuzzText(f *testing.F) {
	for _, s := range []string{
		`{}`, ` [1, -0.5e+3 , "a\"\\", {"k": null, "k": [true,false]}] `, `"\ud83d\ude00\u00e4\ud800\u0000 \/\b\f\n\r\t"`,
		"\"\xff\"", `{"a":1`, `[1,]`,
		`01`, `-`, `1.`, `"\x"`, `"\u12_4"`, "\"\n\"", `{"a"}`, `{1:2}`, `nul`, `[NaN, -Infinity]`, `1 2`, "",
		strings.Repeat("[", 1002) + strings.Repeat("]", 1002),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		text, root, err := Open(message)
		valid := std.Valid(message)
		if err != nil {
			if valid && !strings.Contains(err.What, "deeply") || err.At < 0 || err.At > len(message) {
				t.Fatalf("%q: %v", message, err)
			}
			return
		}
		got := tree(&text, root)
		if !valid {
			if !bytes.Contains(message, []byte("NaN")) && !bytes.Contains(message, []byte("Infinity")) {
				t.Fatalf("%q is no JSON", message)
			}
			return
		}
		var want any
		d := std.NewDecoder(bytes.NewReader(message))
		d.UseNumber()
		if err := d.Decode(&want); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q is %v, not %v, %v", message, got, want, err)
		}
	})
}

// TestDepth: a message may be nested so deeply, and no deeper.
func TestDepth(t *testing.T) {
	for n, want := range map[int]bool{maxDepth: true, maxDepth + 2: false} {
		if _, _, err := Open([]byte(strings.Repeat("[", n) + strings.Repeat("]", n))); (err == nil) != want {
			t.Errorf("%d: %v", n, err)
		}
	}
}
