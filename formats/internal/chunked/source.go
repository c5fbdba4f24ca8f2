package chunked

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"github.com/bagconv/bagconv/internal/warnings"
	"github.com/bagconv/bagconv/storage"
)

// A Source is a file that is read. Its fields do not change once it is open.
type Source struct {
	Ctx    context.Context // of Open
	Format string
	Path   string // as it was given
	Strict bool   // damage is an error
	File   storage.File
	Size   int64 // bytes

	Packed int64          // bytes of the file at Path, if File is what it was unpacked to; else 0
	Facts  []storage.Fact // of the file, for storage.Info

	warnings warnings.Log

	mu     sync.Mutex
	broken map[int64]bool // offsets of chunks of which something is missing
}

// NewSource returns a Source without its size. hints has advice for codes of warnings.
func NewSource(ctx context.Context, format, path string, file storage.File, strict bool, hints warnings.Hints) *Source {
	return &Source{
		Ctx: ctx, Format: format, Path: path, Strict: strict, File: file,
		warnings: warnings.Log{Hints: hints}, broken: map[int64]bool{},
	}
}

// OnDisk returns the bytes of the file at Path.
func (s *Source) OnDisk() int64 { return cmp.Or(s.Packed, s.Size) }

// Window returns a window on the file.
func (s *Source) Window() Window { return NewWindow(s.File, s.Size) }

// Place notes that the Buf of a batch is what the file has from an offset on.
func (s *Source) Place(b *storage.Batch, at int64) {
	if s.Packed == 0 {
		b.File, b.At = s.Path, at
	}
}

// Fail returns an error about a place in the file; at is -1 if the error has no place.
func (s *Source) Fail(at int64, what string, err error) *storage.Error {
	return &storage.Error{Format: s.Format, Path: s.Path, Offset: at, What: what, Err: err}
}

// Lose notes that something of the chunk at an offset is missing.
func (s *Source) Lose(chunk int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken[chunk] = true
}

// Warn is WarnLost if nothing that can be counted is lost.
func (s *Source) Warn(code string, at int64, damage bool, format string, args ...any) error {
	return s.WarnLost(storage.Lost{}, code, at, damage, format, args...)
}

// WarnLost keeps a warning, once for a code and place, and adds what is lost there. For
// damage in a strict Source it returns an error instead.
func (s *Source) WarnLost(lost storage.Lost, code string, at int64, damage bool, format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	if damage && s.Strict {
		return s.Fail(at, message, storage.ErrCorrupt)
	}
	s.warnings.Add("", storage.Warning{Code: code, Message: message, Offset: storage.Known(at), Damage: damage}, lost)
	return nil
}

// Damage returns what was found so far. See storage.Reader.
func (s *Source) Damage() (d storage.Damage) {
	d.Warnings, d.Lost = s.warnings.Report()
	s.mu.Lock()
	defer s.mu.Unlock()
	d.Lost.Blocks += int64(len(s.broken))
	return d
}
