package chunked

import (
	"fmt"

	"github.com/bagconv/bagconv/storage"
)

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

// Judge makes one warning of what is wrong with the chunk at an offset, from which kept messages
// were read. counted is how many the index counts there, -1 if that is not known.
// Without other damage, counted differs from kept. lost is what is known to be missing.
func (s *Source) Judge(d *Damage, at int64, lost storage.Lost, counted, kept int64) error {
	switch {
	case d.Places == 0:
		d.Code, d.At, d.Repaired = "count", at, true
		d.What = fmt.Sprintf("the index counts %d messages in this chunk, but it has %d", counted, kept)
	case d.Places == 1:
		d.What += LeftOf(counted, kept)
	default:
		d.What += fmt.Sprintf(", and %d more places of the chunk are damaged", d.Places-1) + LeftOf(counted, kept)
	}
	missing := lost.Messages > 0 || !d.Repaired
	if missing {
		s.Lose(at)
	}
	return s.WarnLost(lost, d.Code, d.At, missing, "%s", d.What)
}

// LeftOf returns how many messages of a chunk were read, if it is known how many there are;
// it continues a sentence.
func LeftOf(counted, kept int64) string {
	switch {
	case counted < 0:
		return ""
	case kept >= counted:
		return fmt.Sprintf("; all %d messages that the index counts there were read", counted)
	}
	return fmt.Sprintf("; %d of the %d messages that the index counts there were read", kept, counted)
}
