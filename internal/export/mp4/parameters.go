package mp4

import (
	"bytes"
	"slices"
)

// A parameterSet is a NAL unit that pictures refer to by its number.
type parameterSet struct {
	id   uint32
	unit []byte
}

func (s parameterSet) equal(t parameterSet) bool { return s.id == t.id && bytes.Equal(s.unit, t.unit) }

// parameters are the parameter sets of a stream: of H.264 sequence and picture, of H.265 video, sequence and
// picture, each in the order of their numbers.
type parameters struct {
	codec Codec
	sets  [3][]parameterSet
}

// The lists of parameters.
const (
	videoSets = iota
	sequenceSets
	pictureSets
)

// setKind returns the list that a NAL unit belongs to, or -1 if it is not a parameter set.
func setKind(c Codec, unit []byte) int {
	if c == H265 {
		switch unit[0] >> 1 & 63 {
		case hevcVPS:
			return videoSets
		case hevcSPS:
			return sequenceSets
		case hevcPPS:
			return pictureSets
		}
		return -1
	}
	switch unit[0] & 31 {
	case avcSPS:
		return sequenceSets
	case avcPPS:
		return pictureSets
	}
	return -1
}

// maxSets are how many sets entries of stsd have room for.
var maxSets = [...]int{videoSets: 16, sequenceSets: 31, pictureSets: 255}

// put adds a parameter set, in the place of one with its number. The unit is copied.
func (p *parameters) put(kind int, unit []byte) error {
	if len(unit) > 65535 {
		return unsupported("", "a parameter set of %d bytes, 65535 at most", len(unit))
	}
	id, err := setID(p.codec, kind, unit)
	if err != nil {
		return err
	}
	at, known := slices.BinarySearchFunc(p.sets[kind], id, func(s parameterSet, id uint32) int {
		return int(s.id) - int(id)
	})
	switch {
	case !known && len(p.sets[kind]) >= maxSets[kind]:
		return unsupported("", "more than %d parameter sets of a kind", maxSets[kind])
	case !known:
		p.sets[kind] = slices.Insert(p.sets[kind], at, parameterSet{id, bytes.Clone(unit)})
		return nil
	case bytes.Equal(p.sets[kind][at].unit, unit):
		return nil
	}
	p.sets[kind][at].unit = bytes.Clone(unit)
	return nil
}

// setID returns the number of a parameter set.
func setID(c Codec, kind int, unit []byte) (id uint32, err error) {
	switch {
	case c == H265:
		_, id, err = parseHEVC(unit[0]>>1&63, unit)
	case kind == sequenceSets:
		_, id, err = parseSPS(unit)
	default:
		id, err = parsePPS(unit)
	}
	return id, err
}

// complete reports whether pictures can be decoded with these.
func (p *parameters) complete() bool {
	return len(p.sets[sequenceSets]) > 0 && len(p.sets[pictureSets]) > 0 &&
		(p.codec == H264 || len(p.sets[videoSets]) > 0)
}

// picture returns what the first sequence parameter set says.
func (p *parameters) picture() (pic picture, err error) {
	unit := p.sets[sequenceSets][0].unit
	if p.codec == H265 {
		pic, _, err = parseHEVC(hevcSPS, unit)
	} else {
		pic, _, err = parseSPS(unit)
	}
	return pic, err
}

// clone returns a copy that later sets do not change.
func (p *parameters) clone() parameters {
	c := *p
	for i := range c.sets {
		c.sets[i] = slices.Clone(c.sets[i])
	}
	return c
}

// equal reports whether all sets are the same.
func (p *parameters) equal(q *parameters) bool {
	for i := range p.sets {
		if !slices.EqualFunc(p.sets[i], q.sets[i], parameterSet.equal) {
			return false
		}
	}
	return true
}

// sameOrMore reports whether p has all sets of q, unchanged.
func (p *parameters) sameOrMore(q *parameters) bool {
	for i := range q.sets {
		for _, s := range q.sets[i] {
			if !slices.ContainsFunc(p.sets[i], s.equal) {
				return false
			}
		}
	}
	return true
}
