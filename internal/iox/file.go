package iox

import "os"

// A sameFiler is an os.FileInfo that knows whether another one describes the same file.
type sameFiler interface{ SameFile(os.FileInfo) bool }

// SameFile is os.SameFile, for files in stores too.
func SameFile(a, b os.FileInfo) bool {
	if t, ok := a.(sameFiler); ok {
		return t.SameFile(b)
	}
	return os.SameFile(a, b)
}

// Replaced reports whether the name now belongs to another file. It is false for files that only their names
// tell apart.
func Replaced(was, is os.FileInfo) bool { return !SameFile(was, is) && SameFile(was, was) }

// Distant reports whether each read of a file takes the time of a question to another machine:
// then few large reads are better than many small ones.
func Distant(file any) bool {
	d, ok := file.(interface{ Distant() bool })
	return ok && d.Distant()
}

// A Span is bytes of a file.
type Span struct{ Off, Len int64 }

// Prefetch begins to read what will be asked for soon, if each read of the file takes the time of a
// question to another machine. Then many parts take the time of few questions. It may do less than
// it was told, and returns at once. Spans may lie outside of the file.
func Prefetch(file any, spans ...Span) {
	if p, ok := file.(interface{ Prefetch(spans []Span) }); ok {
		p.Prefetch(spans)
	}
}
