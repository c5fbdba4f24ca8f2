package render

import "github.com/bagconv/bagconv/schema"

// skip steps over a field.
func (r *rosRun) skip(f *field) error {
	n := 1
	if f.list != schema.Single {
		var err error
		if n, err = r.length(f); err != nil {
			return err
		}
	}
	return r.skipElements(f, n)
}

// skipElements steps over n values of a field.
func (r *rosRun) skipElements(f *field, n int) error {
	if f.size > 0 {
		_, err := r.span(f, n)
		return err
	}
	for range n {
		var err error
		switch f.kind {
		case schema.Struct:
			err = r.skipStruct(f.node)
		case schema.WString:
			err = r.wstring(false)
		default:
			_, err = r.string()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *rosRun) skipStruct(n *node) error {
	if err := r.enter(n); err != nil {
		return err
	}
	return r.skipFields(n.fields)
}

func (r *rosRun) skipFields(fields []field) error {
	for i := range fields {
		if err := r.skip(&fields[i]); err != nil {
			return err
		}
	}
	return nil
}
