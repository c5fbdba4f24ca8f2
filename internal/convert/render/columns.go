package render

// columns writes the columns of a program, the values by pick.
func (w *out) columns(p *Program, pick func(c *column) error) error {
	w.root()
	for i := range p.columns {
		c := &p.columns[i]
		if w.style == CSV && i > 0 {
			w.buf = append(w.buf, ',')
		}
		if c.steps == nil {
			continue
		}
		if w.style != CSV {
			w.key(&c.label, c.flow)
		}
		if err := pick(c); err != nil {
			return err
		}
	}
	if w.style != CSV {
		w.closeRoot(p.picked)
	}
	return nil
}

// json runs write with the style JSON; in CSV the result is one cell.
func (w *out) json(write func()) {
	at, style := len(w.buf), w.style
	w.style = JSON
	write()
	if w.style = style; style == CSV {
		w.cell(at)
	}
}
