package transcode

import "github.com/bagconv/bagconv/internal/wire/ros"

// An op is one step of a program. Programs are flat; the body of a loop follows
// its op.
type op struct {
	code opcode
	bit  uint8    // of times: if it is set, the value is another one on the other side
	drop uint16   // of ops that skip: the number of the dropped field, from 1; 0: its value does not count
	a, b int      // see the codes
	n    int      // length of the body, in ops
	more *operand // of the rare ops that need more
}

// An operand is what opCast, opFit, opConst and opBlock need.
type operand struct {
	cast  cast
	fit   fit
	data  []byte
	moves []move
}

type opcode uint8

const (
	opCopy     opcode = iota // a bytes
	opSkip                   // a bytes of the source
	opZero                   // a bytes of zero
	opAlignSrc               // to a
	opAlignDst               // to a, with zeros
	opSwap                   // a values of b bytes, other end first
	opTime                   // a times or durations
	opBool                   // a bytes, made 0 or 1
	opCast                   // a numbers of another kind, by cast
	opString                 // a string
	opSkipString
	opEmpty       // an empty string
	opWString     // a wstring to a string
	opWStringWide // a wstring to a wstring
	opSkipWString
	opStringWide // a string to a wstring
	opCount      // u32 a to the destination: a fixed array becomes a list
	opConst      // data to the destination
	opTextStart  // a string begins in the destination
	opTextEnd    // it ends; what is beyond a bytes, or characters of a wide string, is cut

	// Lists: u32 count, then, when it is not 0, the elements, aligned to
	// a>>4 in the source and a&15 in the destination.
	opList     // of b bytes each, copied as they are
	opListSwap // of numbers of b bytes
	opListBool // of bool
	opListTime // of times or durations
	opListCast // of numbers of another kind
	opSkipList // of b bytes each, skipped
	opLoop     // of the body, which takes at least b bytes of the source
	opSkipLoop // the same, nothing written

	opRepeat // the body, a times; b as for opLoop
	opFit    // a list that becomes a list of at most or exactly so many elements; see fit

	opEnter // a delimited struct: u32 size
	opLeave // go to its end; what is skipped is counted if a is 1, and left to the caller of Append if it is the outermost

	opBlock     // moves, of a bytes at most; see fuse
	opTextBlock // a string aligned to a>>4 in the source and a&15 in the destination, then perhaps a move

	opMark // keep the position in the source as number a
	opSeek // go back to position number a
)

const (
	maxOps   = 100_000   // of a program
	maxWork  = 2_000_000 // ops made and fields visited while compiling, also ops thrown away
	maxFlat  = 200_000   // fields of a type when all that it uses is written out
	maxMarks = 32
	maxZero  = 16 << 20 // bytes of zero that a field without a source may take
	maxFuel  = 1 << 16  // in one message: elements that take no bytes, and runs of 64 zeros
)

// A program re-encodes one layout of the source.
type program struct {
	ops      []op
	from, to ros.Layout
}

func alignments(src, dst int) int { return src<<4 | dst }
