package lerobot

import (
	"errors"
	"io"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A spool keeps the frames of a video on the disk, as an episode may need the frames before it.
type spool struct {
	file   storage.File
	frames []spooled
	size   int64
}

// A spooled is a frame.
type spooled struct {
	at   int64
	size int
	key  bool
}

// newSpool makes a spool in a folder. Its file has no name.
func newSpool(fsys storage.FS, dir string) (*spool, error) {
	f, err := iox.TempFile(fsys, dir)
	return &spool{file: f}, err
}

// add adds a frame, and returns its number.
func (s *spool) add(data []byte, key bool) (int, error) {
	if _, err := s.file.Write(data); err != nil {
		return 0, err
	}
	s.frames = append(s.frames, spooled{s.size, len(data), key})
	s.size += int64(len(data))
	return len(s.frames) - 1, nil
}

// read returns a frame.
func (s *spool) read(i int) ([]byte, error) {
	data := make([]byte, s.frames[i].size)
	_, err := s.file.ReadAt(data, s.frames[i].at)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return data, err
}

// keyBefore returns the last key frame that is not after a frame.
func (s *spool) keyBefore(i int) int {
	for ; i > 0 && !s.frames[i].key; i-- {
	}
	return i
}

// close removes the spool.
func (s *spool) close() error { return s.file.Close() }
