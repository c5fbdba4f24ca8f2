package render

import "github.com/bagconv/bagconv/schema"

// skipFields steps over fields.
func (r *rosRun) skipFields(fields []field) {
	for i := range fields {
		f, n := &fields[i], 1
		if f.list != schema.Single {
			n = r.length(f)
		}
		if r.skipElements(f, n); !r.OK() {
			return
		}
	}
}

// skipElements steps over n values of a field.
func (r *rosRun) skipElements(f *field, n int) {
	if f.size > 0 {
		r.Numbers(n, f.size)
		return
	}
	for i := 0; i < n && r.OK(); i++ {
		switch f.kind {
		case schema.Struct:
			end := r.enter(f.node)
			r.skipFields(f.node.fields)
			r.End(end)
		case schema.WString:
			r.SkipWide()
		default:
			r.Bytes()
		}
	}
}
