package mcap

import "fmt"

// damage is what reading a block has shown to be wrong with it. The zero value is
// a sound block.
type damage struct {
	code     string // of the first thing that is wrong, as are what and at
	what     string
	at       int64 // byte in the file
	places   int   // how many things are wrong
	bytes    int64 // that could not be read
	left     int64 // messages that were read and cannot be given
	repaired bool  // all of them are told by what surrounds them: every byte was read
}

// add notes something wrong.
func (d *damage) add(code string, at, bytes int64, format string, args ...any) {
	if d.places == 0 || d.repaired {
		d.code, d.at, d.what = code, at, fmt.Sprintf(format, args...)
	}
	d.places++
	d.bytes += bytes
	d.repaired = false
}

// repair notes something wrong that is told by what surrounds it.
func (d *damage) repair(code string, at int64, format string, args ...any) {
	if d.places == 0 {
		d.code, d.at, d.what, d.repaired = code, at, fmt.Sprintf(format, args...), true
	}
	d.places++
}
