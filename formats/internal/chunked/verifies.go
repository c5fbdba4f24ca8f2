package chunked

import "github.com/bagconv/bagconv/internal/iox"

// verifyDistant is how many chunks of a file are compared with its index when it is opened, if each
// costs a question to another machine.
const verifyDistant = 16

// Verifies returns how many chunks of a file are compared with its index when it is opened: most, or
// fewer if it is distant.
func Verifies(file any, most int) int {
	if iox.Distant(file) {
		return min(most, verifyDistant)
	}
	return most
}

// A Sample is every Step-th of N chunks, and the last one. The zero Sample is all.
type Sample struct{ N, Step int }

// SampleOf returns a sample of about most of n chunks.
func SampleOf(n, most int) Sample { return Sample{n, max(1, (n+most-1)/most)} }

// Has reports whether chunk i is in the sample.
func (s Sample) Has(i int) bool { return s.Step <= 1 || i%s.Step == 0 || i == s.N-1 }

// Prefetch begins to read what spans returns for each chunk of the sample, if the file is distant.
func (s Sample) Prefetch(file any, spans func(i int) []iox.Span) {
	if !iox.Distant(file) {
		return
	}
	var all []iox.Span
	for i := range s.N {
		if s.Has(i) {
			all = append(all, spans(i)...)
		}
	}
	iox.Prefetch(file, all...)
}
