package verify

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/bagconv/bagconv/internal/convert/content"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// A messageBytes is a message that was read again: its canonical bytes, or its own when
// it does not fit its definition.
type messageBytes struct {
	data  []byte
	flags byte
}

// locate finds in which field the first different messages of each pair differ.
func (c *comparison) locate(ctx context.Context) error {
	var got [2]map[*pair]messageBytes
	for side := range got {
		var err error
		if got[side], err = c.fetch(ctx, side); err != nil {
			return err
		}
	}
	for _, p := range c.pairs {
		if p.first == nil || p.first.Kind != KindContent {
			continue
		}
		a, b := got[0][p], got[1][p]
		if p.link.typ == nil || (a.flags|b.flags)&flagBad != 0 {
			p.first.Path, p.first.A, p.first.B = firstByte(a.data, b.data)
			continue
		}
		d := differ{a: a.data, b: b.data}
		if !d.message(p.link.typ, "") {
			if b.flags&^a.flags&flagOpen == 0 {
				return fmt.Errorf("internal error: verify: no field of topic %s differs at message %d", p.name(), p.index)
			}
			d.path, d.va, d.vb = "end of a string", "NUL", "missing"
		}
		p.first.Path, p.first.A, p.first.B = d.path, d.va, d.vb
	}
	return nil
}

// fetch reads the first different message of each pair again.
func (c *comparison) fetch(ctx context.Context, side int) (map[*pair]messageBytes, error) {
	got := map[*pair]messageBytes{}
	left := 0
	plan := make([]recording.Topic, len(c.info[side].Topics))
	at := make([]*pair, len(plan))
	seen := map[*pair]storage.Known{}
	for i := range plan {
		plan[i].Skip = true
	}
	c.each(side, func(p *pair, k int, id storage.TopicID) {
		if p.first != nil && p.first.Kind == KindContent {
			plan[id] = recording.Topic{Program: p.program(side, k, true)}
			at[id] = p
			if k == 0 {
				left++
			}
		}
	})
	if left == 0 {
		return got, nil
	}
	write := func(m *storage.Message) error {
		p := at[m.Topic]
		if seen[p] == p.first.Index {
			got[p] = messageBytes{append([]byte(nil), m.Data[1:]...), m.Data[0]}
			if left--; left == 0 {
				return recording.ErrEnough
			}
		}
		seen[p]++
		return nil
	}
	topics := func(*storage.Info, []bool) ([]recording.Topic, error) { return plan, nil }
	_, err := c.sources[side].Read(ctx, c.query(side), recording.Each{Topics: topics, Write: write})
	if err == nil && left > 0 {
		err = errors.New("the recording has changed while it was read")
	}
	return got, err
}

// firstByte returns the position of the first byte that differs.
func firstByte(a, b []byte) (path, va, vb string) {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	text := func(p []byte) string {
		if n >= len(p) {
			return fmt.Sprintf("the end, at %d bytes", len(p))
		}
		return fmt.Sprintf("%02x", p[n])
	}
	return fmt.Sprintf("byte %d", n), text(a), text(b)
}

// A differ walks over two canonical messages of one type until they differ.
type differ struct {
	a, b         []byte
	path, va, vb string
}

// message is true when a difference was found; then a and b have no meaning any more.
func (d *differ) message(m *schema.Message, path string) bool {
	if path != "" {
		path += "."
	}
	for i := range m.Fields {
		if d.field(m.Fields[i].Type, path+m.Fields[i].Name) {
			return true
		}
	}
	return false
}

func (d *differ) field(t schema.Type, path string) bool {
	if t.Array == schema.Single {
		return d.value(t, path)
	}
	n := t.Len
	m := n
	if t.Array == schema.Unbounded {
		n, m = int(binary.LittleEndian.Uint32(take(&d.a, 4))), int(binary.LittleEndian.Uint32(take(&d.b, 4)))
	}
	if t.Kind == schema.Struct && content.HasNoBytes(t.Message) {
		return n != m && d.differs(path, fmt.Sprintf("%d elements", n), fmt.Sprintf("%d elements", m))
	}
	for i := range min(n, m) {
		if len(d.a)+len(d.b) == 0 {
			return false
		}
		if d.value(t, path+"["+strconv.Itoa(i)+"]") {
			return true
		}
	}
	return n != m && d.differs(path, fmt.Sprintf("%d elements", n), fmt.Sprintf("%d elements", m))
}

func (d *differ) value(t schema.Type, path string) bool {
	switch t.Kind {
	case schema.Struct:
		return d.message(t.Message, path)
	case schema.String:
		a := take(&d.a, int(binary.LittleEndian.Uint32(take(&d.a, 4))))
		b := take(&d.b, int(binary.LittleEndian.Uint32(take(&d.b, 4))))
		return string(a) != string(b) && d.differs(path, texts(a, b), texts(b, a))
	}
	n := t.Kind.Size()
	a, b := take(&d.a, n), take(&d.b, n)
	return string(a) != string(b) && d.differs(path, number(t.Kind, a), number(t.Kind, b))
}

func (d *differ) differs(path, va, vb string) bool {
	d.path, d.va, d.vb = path, va, vb
	return true
}

// take cuts n bytes off the front of b. Canonical bytes are our own and whole; of
// others what is missing is zeros.
func take(b *[]byte, n int) []byte {
	if n > len(*b) {
		v := make([]byte, max(min(n, 16), len(*b)))
		copy(v, *b)
		*b = nil
		return v
	}
	v := (*b)[:n]
	*b = (*b)[n:]
	return v
}

// number returns a value of a fixed size as text.
func number(k schema.Kind, b []byte) string {
	switch k {
	case schema.Time, schema.Duration:
		return nsText(int64(binary.LittleEndian.Uint64(b)))
	case schema.Float32:
		return strconv.FormatFloat(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), 'g', -1, 32)
	case schema.Float64:
		return strconv.FormatFloat(math.Float64frombits(binary.LittleEndian.Uint64(b)), 'g', -1, 64)
	case schema.Bool:
		return strconv.FormatBool(b[0] != 0)
	}
	var u uint64
	for i := len(b) - 1; i >= 0; i-- {
		u = u<<8 | uint64(b[i])
	}
	switch k {
	case schema.Int8, schema.Int16, schema.Int32, schema.Int64:
		shift := 64 - 8*len(b)
		return strconv.FormatInt(int64(u<<shift)>>shift, 10)
	}
	return strconv.FormatUint(u, 10)
}

// longText is how much of a string is shown, bytes.
const longText = 60

// texts quotes a string that differs from another one: from somewhat before the
// place where it does, and not more than fits a line.
func texts(a, b []byte) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	before, after := "", ""
	if len(a) > longText {
		from := max(0, min(n-longText/4, len(a)-longText))
		for from > 0 && !utf8.RuneStart(a[from]) {
			from--
		}
		if from > 0 {
			before = "..."
		}
		if a = a[from:]; len(a) > longText {
			end := longText
			for end > 0 && !utf8.RuneStart(a[end]) {
				end--
			}
			a, after = a[:end], "..."
		}
	}
	return before + strconv.Quote(string(a)) + after
}
