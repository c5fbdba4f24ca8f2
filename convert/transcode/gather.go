package transcode

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bagconv/bagconv/internal/wire/pb"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/protoschema"
)

// An occurrence is one value of a field in a message.
type occurrence struct {
	wire       protowire.Type
	begin, end int // behind the tag, in the message's bytes
}

// gathered writes a message whose fields come in any order: a first walk finds
// where the values of each field stand, then they are fetched in the order of
// the struct. Messages like this are rare.
func (r *fromRun) gathered(n *node, p []byte, at int) error {
	found := make([][]occurrence, len(n.slots))
	cases := make([]int, n.cases) // slot of the member that is set
	for i := range cases {
		cases[i] = -1
	}
	fields := pb.Scan(p)
	for fields.Next() {
		i := n.find(int32(fields.Num))
		if i < 0 || !n.slots[i].takes(fields.Wire) {
			r.unknown = true
			continue
		}
		s := &n.slots[i]
		if s.oneof >= 0 {
			if old := cases[s.oneof]; old >= 0 && old != i {
				found[old] = nil // another member takes the place of the one before
			}
			cases[s.oneof] = i
		}
		if s.list == schema.Single && s.form != protoschema.Nested && s.form != protoschema.Raw && s.form != protoschema.Stamp {
			found[i] = found[i][:0] // the last one counts; messages are merged
		}
		found[i] = append(found[i], occurrence{fields.Wire, fields.Pos(), fields.End()})
	}
	if wrong, what := fields.Wrong(); what != "" {
		return r.bad(at+wrong, what)
	}
	for i := range n.slots {
		if err := r.fetch(n, i, found[i], cases, p, at); err != nil {
			return err
		}
	}
	return nil
}

// fetch writes slot i from the values that were found.
func (r *fromRun) fetch(n *node, i int, found []occurrence, cases []int, p []byte, at int) error {
	s := &n.slots[i]
	switch {
	case s.form == protoschema.OneCase:
		num := uint32(0)
		if m := cases[s.oneof]; m >= 0 {
			num = uint32(n.slots[m].num)
		}
		r.w.U32(num)
		return nil
	case len(found) == 0:
		r.absent(s, 0)
		return nil
	case s.list != schema.Single:
		head, count := r.beginList(s), 0
		for _, o := range found {
			k, _, err := r.element(s, o.wire, p[:o.end], o.begin, at)
			if err != nil {
				return err
			}
			count += k
		}
		return r.endList(s, head, count, at)
	case len(found) == 1:
		_, err := r.value(s, p[:found[0].end], found[0].begin, at)
		return err
	}
	var merged []byte // a message that comes in parts is the parts one after the other
	for _, o := range found {
		merged = append(merged, pb.Content(protowire.Number(s.num), s.wire, p[o.begin:o.end])...)
	}
	return r.content(s, merged, at+found[0].begin)
}
