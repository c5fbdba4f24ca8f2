package transcode

import (
	"encoding/binary"
	"slices"

	"github.com/bagconv/bagconv/internal/wire/ros"
)

// A move is a part of an opBlock: padding on both sides, then bytes that are left out, copied, and
// up to eight that are constant.
type move struct {
	alignSrc, alignDst, constants uint8
	skip, copy                    int
	data                          uint64 // little endian
}

// maxBlock is how many bytes an opBlock writes at most: as many are made room for before it is known
// whether the source has them.
const maxBlock = 4 << 10

// word is how many bytes are written of padding or constants, whatever follows is written over them.
const word = 8

// fuse makes one op of ops that copy, skip, align and write constants in a row, and of a string, the
// padding before it and the constants behind it. What is done stays the same.
func fuse(ops []op) []op {
	out, barrier := make([]op, 0, len(ops)), 0 // before it are bodies of loops
	for len(ops) > 0 {
		if o := ops[0]; o.n > 0 {
			body := ops[1 : 1+o.n]
			ops = ops[1+o.n:]
			if o.code != opFit { // it looks into its body
				body = fuse(body)
			}
			o.n = len(body)
			out = append(append(out, o), body...)
			barrier = len(out)
			continue
		}
		n := blockLen(ops)
		pads := textPads(ops, n)
		run := ops[:n-pads]
		text := len(out) > barrier && isText(out[len(out)-1])
		switch constant := slices.ContainsFunc(run, func(o op) bool { return constantOf(o) != nil }); {
		case constant && text:
			if o := tail(&out[len(out)-1], blockOf(run)); len(o.more.moves) > 0 {
				out = append(out, o)
			}
		case constant && len(run) > 1:
			out = append(out, blockOf(run))
		default:
			out = append(out, run...)
		}
		ops = ops[n-pads:]
		switch {
		case pads > 0:
			out = append(out, alignedText(ops[:pads]))
			ops = ops[pads+1:]
		case n == 0:
			out = append(out, ops[0])
			ops = ops[1:]
		}
	}
	return out
}

// isText reports whether constants may follow in the same op.
func isText(o op) bool { return o.code == opString || o.code == opTextBlock && o.more == nil }

// tail moves what a block begins with to the string before it, if that is only constants, and
// returns the block.
func tail(text *op, o op) op {
	if m := o.more.moves; m[0].skip+m[0].copy == 0 {
		*text = op{code: opTextBlock, a: max(text.a, alignments(1, 1)), more: &operand{moves: m[:1]}}
		o.more.moves = m[1:]
	}
	return o
}

// blockLen returns how many of the first ops can become an opBlock.
func blockLen(ops []op) (n int) {
	bytes := 0
	for _, o := range ops {
		switch {
		case o.code == opCopy, o.code == opZero && o.a < len(zeros):
			bytes += min(o.a, maxBlock+1)
		case o.code == opConst:
			bytes += len(o.more.data)
		case o.code == opAlignSrc, o.code == opAlignDst, o.code == opSkip && o.drop == 0:
		default:
			return n
		}
		if bytes > maxBlock {
			return n
		}
		n++
	}
	return n
}

// textPads returns two if the last of n ops align both sides before a string, else 0.
func textPads(ops []op, n int) int {
	if n < 2 || n == len(ops) || ops[n].code != opString {
		return 0
	}
	if a, b := ops[n-2].code, ops[n-1].code; a == opAlignSrc && b == opAlignDst || a == opAlignDst && b == opAlignSrc {
		return 2
	}
	return 0
}

// alignedText makes an opTextBlock.
func alignedText(pads []op) op {
	if pads[0].code == opAlignDst {
		pads[0], pads[1] = pads[1], pads[0]
	}
	return op{code: opTextBlock, a: alignments(pads[0].a, pads[1].a)}
}

// blockOf makes an opBlock.
func blockOf(ops []op) op {
	var moves []move
	var m move
	end := func() {
		m.alignSrc, m.alignDst = max(m.alignSrc, 1), max(m.alignDst, 1)
		moves = append(moves, m)
		m = move{}
	}
	size := 0
	for _, o := range ops {
		written := m.copy > 0 || m.constants > 0
		if written && o.code != opAlignSrc && constantOf(o) == nil || o.code == opAlignSrc && m.skip+m.copy > 0 {
			end()
		}
		switch o.code {
		case opAlignSrc:
			m.alignSrc = max(m.alignSrc, uint8(o.a))
		case opAlignDst:
			m.alignDst = max(m.alignDst, uint8(o.a))
			size += 8
		case opSkip:
			m.skip += o.a
		case opCopy:
			m.copy = o.a
			size += o.a
		default:
			for _, v := range constantOf(o) {
				if m.constants == 8 {
					end()
				}
				m.data |= uint64(v) << (8 * m.constants)
				m.constants++
				size++
			}
		}
	}
	end()
	return op{code: opBlock, a: size + word, more: &operand{moves: moves}}
}

// block executes an opBlock.
func (s *state) block(pos int, o *op) (int, error) {
	if cap(s.dst)-len(s.dst) < o.a {
		s.dst = slices.Grow(s.dst, o.a)
	}
	at, moves := len(s.dst), o.more.moves
	dst := s.dst[:cap(s.dst)]
	for i := range moves {
		m := &moves[i]
		from := pos + ros.Padding(pos, int(m.alignSrc)) + m.skip
		if from+m.copy > len(s.src) {
			return pos, s.shortMove(pos, m)
		}
		pos = from + m.copy
		if m.alignDst > 1 {
			binary.LittleEndian.PutUint64(dst[at:], 0)
			at += ros.Padding(at-s.base, int(m.alignDst))
		}
		at += copy(dst[at:], s.src[from:pos])
		binary.LittleEndian.PutUint64(dst[at:], m.data)
		at += int(m.constants)
	}
	s.dst = s.dst[:at]
	return pos, nil
}

// textBlock executes an opTextBlock.
func (s *state) textBlock(pos int, o *op) (int, error) {
	if pos += ros.Padding(pos, o.a>>4); pos > len(s.src) {
		return pos, s.short(len(s.src), pos-len(s.src))
	}
	if n := ros.Padding(len(s.dst)-s.base, o.a&15); n > 0 {
		s.zero(n)
	}
	n, from, err := s.length(pos)
	if err != nil {
		return pos, err
	}
	pos = from + n
	text := s.src[from:pos]
	if s.prog.from.NUL && n > 0 && text[n-1] == 0 {
		text = text[:n-1]
	}
	nul := 0
	if s.prog.to.NUL {
		nul = 1
	}
	dst := binary.LittleEndian.AppendUint32(s.dst, uint32(len(text)+nul))
	dst = append(dst, text...)
	at := len(dst) + nul
	dst = append(dst, zeros[:2*word]...)
	if o.more != nil {
		m := &o.more.moves[0]
		at += ros.Padding(at-s.base, int(m.alignDst))
		binary.LittleEndian.PutUint64(dst[at:], m.data)
		at += int(m.constants)
		if pos += ros.Padding(pos, int(m.alignSrc)); pos > len(s.src) {
			return pos, s.short(len(s.src), pos-len(s.src))
		}
	}
	s.dst = dst[:at]
	return pos, nil
}

// shortMove returns the error of a move that the source is too short for.
func (s *state) shortMove(pos int, m *move) error {
	if pos += ros.Padding(pos, int(m.alignSrc)); pos > len(s.src) {
		return s.short(len(s.src), pos-len(s.src))
	}
	if m.skip > len(s.src)-pos {
		return s.short(pos, m.skip)
	}
	return s.short(pos+m.skip, m.copy)
}
