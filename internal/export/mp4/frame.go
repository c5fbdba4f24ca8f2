package mp4

import "encoding/binary"

// unitFrame adds an access unit of H.264 or H.265: its NAL units with lengths, without the parameter sets.
func (w *Writer) unitFrame(data []byte, time int64) error {
	if w.framing == noFraming {
		w.framing = framingOf(data)
	}
	f, err := w.survey(data)
	if err != nil {
		return err
	}
	if err := w.learn(f); err != nil {
		return err
	}
	switch {
	case !f.picture:
		w.sum.Headers++
		return nil
	case len(w.entries) == 0 && !(f.key && w.sets.complete()):
		w.sum.Dropped++
		return nil
	}
	if len(w.entries) == 0 || w.changed {
		if err := w.describe(); err != nil {
			return err
		}
	}
	part := w.begin()
	err = eachUnit(data, w.framing, func(unit []byte) error {
		if setKind(w.codec, unit) < 0 {
			part = binary.BigEndian.AppendUint32(part, uint32(len(unit)))
			part = append(part, unit...)
		}
		return nil
	})
	if err != nil {
		return err // not reached: survey has been through it
	}
	return w.end(time, part, f.key)
}

// A survey is what NAL units a frame has.
type survey struct {
	picture, key bool
	sets         int
	units        [16][]byte // its parameter sets
}

// survey looks at all NAL units of a frame, and changes nothing.
func (w *Writer) survey(data []byte) (f survey, err error) {
	err = eachUnit(data, w.framing, func(unit []byte) error {
		if w.codec == H265 && len(unit) < 2 || unit[0]>>7 != 0 {
			return corrupt("a NAL unit that begins with %x is not one of %v", unit[:1], w.codec)
		}
		if setKind(w.codec, unit) >= 0 {
			if f.sets == len(f.units) {
				return unsupported("", "a frame with more than %d parameter sets", len(f.units))
			}
			f.units[f.sets] = unit
			f.sets++
			return nil
		}
		if w.codec == H265 {
			kind := unit[0] >> 1
			f.picture = f.picture || kind <= hevcLastPicture
			f.key = f.key || kind >= hevcFirstKey && kind <= hevcLastKey
			return nil
		}
		kind := unit[0] & 31
		f.picture = f.picture || kind >= avcSlice && kind <= avcIDR
		f.key = f.key || kind == avcIDR
		return nil
	})
	return f, err
}

// learn keeps the parameter sets of a frame: all, or none if one is not sound.
func (w *Writer) learn(f survey) error {
	if f.sets == 0 {
		return nil
	}
	next := w.sets.clone()
	for _, unit := range f.units[:f.sets] {
		if err := next.put(setKind(w.codec, unit), unit); err != nil {
			return err
		}
	}
	w.changed = w.changed || !next.equal(&w.sets)
	w.sets = next
	return nil
}

// describe makes the entry of the parameter sets that are known current. Sets that are only added belong to the
// frames before as well, so that their entry gets them.
func (w *Writer) describe() error {
	if len(w.entries) > 0 {
		current := &w.entries[w.table.current]
		if w.sets.sameOrMore(&current.sets) {
			current.sets = w.sets.clone()
			w.changed = false
			return nil
		}
	}
	p, err := w.sets.picture()
	if err != nil {
		return err
	}
	if err := w.enter(entry{width: p.width, height: p.height, sets: w.sets.clone()}); err != nil {
		return err
	}
	w.changed = false
	return nil
}
