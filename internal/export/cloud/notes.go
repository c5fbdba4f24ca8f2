package cloud

import "slices"

// Notes is what an Encoder changed, left out or doubted, in all its clouds together.
type Notes struct {
	Renamed   []Renaming // names that the format cannot hold; the first maxRenamed different ones
	CountZero uint64     // layouts with a count of 0, which is read as 1
	Dropped   uint64     // points without a position, by Options.DropNaN
	Unplaced  uint64     // clouds without x, y and z as floats, at which DropNaN could not look
	RowSteps  uint64     // clouds of one row with a row_step less than it
	Unused    uint64     // bytes of data behind the last row
	Rounded   uint64     // integers of 64 bits that a double of PLY does not hold
}

// A Renaming is a field whose name changed.
type Renaming struct{ From, To string }

// maxRenamed keeps a topic whose fields change all the time from filling the memory.
const maxRenamed = 64

func (n *Notes) rename(from, to string) {
	r := Renaming{from, to}
	if from != to && len(n.Renamed) < maxRenamed && !slices.Contains(n.Renamed, r) {
		n.Renamed = append(n.Renamed, r)
	}
}
