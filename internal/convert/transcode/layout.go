package transcode

import (
	"github.com/bagconv/bagconv/internal/schema/serial"
	"github.com/bagconv/bagconv/internal/wire/ros"
)

// layoutOf returns how an encoding puts values into bytes, in CDR by the form.
func layoutOf(w serial.Encoding, f ros.Form) ros.Layout {
	if w == serial.ROS1 {
		f = ros.ROS1
	}
	return f.Layout()
}

// A phase is what is known of a position when the program is compiled: its
// remainder r modulo m, a power of two up to 8.
type phase struct{ m, r int }

func (p phase) add(n int) phase { return phase{p.m, (p.r + n) & (p.m - 1)} }

// pad returns how many bytes of padding lead to a multiple of a, when that is known.
func (p phase) pad(a int) (n int, known bool) {
	if a > p.m {
		return 0, false
	}
	return ros.Padding(p.r, a), true
}

// join returns what is known of a position that two ways lead to.
func (p phase) join(q phase) phase {
	m := min(p.m, q.m)
	for m > 1 && p.r&(m-1) != q.r&(m-1) {
		m /= 2
	}
	return phase{m, p.r & (m - 1)}
}
