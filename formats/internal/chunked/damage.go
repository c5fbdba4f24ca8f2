package chunked

import "fmt"

// Damage is what reading a chunk has shown to be wrong with it. The zero value is a sound
// chunk.
type Damage struct {
	Code     string // of the first thing that is wrong, as are What and At
	What     string
	At       int64 // byte in the file
	Places   int   // how many things are wrong
	Bytes    int64 // that could not be read
	Left     int64 // messages that were read and cannot be returned
	Repaired bool  // all of them are known from what surrounds them: every byte was read
}

// Add notes something wrong, in bytes that could not be read.
func (d *Damage) Add(code string, at, bytes int64, format string, args ...any) {
	if d.Places == 0 || d.Repaired {
		d.Code, d.At, d.What = code, at, fmt.Sprintf(format, args...)
	}
	d.Places++
	d.Bytes += bytes
	d.Repaired = false
}

// Repair notes something wrong that is known from what surrounds it.
func (d *Damage) Repair(code string, at int64, format string, args ...any) {
	if d.Places == 0 {
		d.Code, d.At, d.What, d.Repaired = code, at, fmt.Sprintf(format, args...), true
	}
	d.Places++
}
