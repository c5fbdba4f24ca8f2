package recording

import "github.com/bagconv/bagconv/storage"

// Both is a Visitor of which a and b see the same messages, which are read once. b may be nil. Which messages come, and
// what becomes of each topic, is decided by a alone.
func Both(a, b Visitor) Visitor {
	if b == nil {
		return a
	}
	return both{a, b}
}

type both struct{ a, b Visitor }

// bothMade is what the visitors have made of a block.
type bothMade struct{ a, b any }

// Plan implements Visitor.
func (v both) Plan(info *storage.Info, selected []bool) ([]Topic, error) {
	if _, err := v.b.Plan(info, selected); err != nil {
		return nil, err
	}
	return v.a.Plan(info, selected)
}

// Work implements Visitor.
func (v both) Work(at storage.Block, msgs []storage.Message, made any) (any, error) {
	m, _ := made.(*bothMade)
	if m == nil {
		m = &bothMade{}
	}
	var err error
	if m.a, err = v.a.Work(at, msgs, m.a); err == nil {
		m.b, err = v.b.Work(at, msgs, m.b)
	}
	return m, err
}

// Take implements Visitor.
func (v both) Take(at storage.Block, msgs []storage.Message, from, to int, made any) error {
	m := made.(*bothMade)
	if err := v.a.Take(at, msgs, from, to, m.a); err != nil {
		return err
	}
	return v.b.Take(at, msgs, from, to, m.b)
}
