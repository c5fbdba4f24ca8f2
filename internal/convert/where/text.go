package where

import (
	"strings"

	"github.com/expr-lang/expr/ast"
)

// maxMade is how many bytes of text the expressions of a message may make by + and replace.
const maxMade = 16 << 20

// room reports whether n more bytes of text may be made.
func (r *run) room(n int) bool {
	if n > maxMade-r.made {
		r.fail("+ and replace() make more than %d bytes of text", maxMade)
		return false
	}
	r.made += n
	return true
}

// joinText returns both texts as one.
func joinText(r *run, a, b string) string {
	if !r.room(len(a) + len(b)) {
		return ""
	}
	return a + b
}

// replace compiles replace(text, old, new).
func (k *compiler) replace(n *ast.CallNode) (value, error) {
	if len(n.Arguments) != 3 {
		return value{}, k.of.at(n, "replace() takes three texts", `such as replace(/imu.header.frame_id, "old", "new")`)
	}
	v, err := k.values(n.Arguments...)
	if err != nil {
		return value{}, err
	}
	for _, a := range v {
		if a.kind != text {
			return value{}, k.wrong(a.node, "replace() of %s", a.kind)
		}
	}
	return value{kind: text, node: n, text: func(r *run) string {
		in, old, with := v[0].text(r), v[1].text(r), v[2].text(r)
		if old == "" {
			r.fail("replace() of empty text")
			return ""
		}
		times := strings.Count(in, old)
		if len(with) > maxMade || !r.room(len(in)+times*len(with)) {
			r.fail("replace() makes more than %d bytes of text", maxMade)
			return ""
		}
		return strings.Replace(in, old, with, times)
	}}, nil
}
