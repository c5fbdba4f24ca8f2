package ros2bag

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
	"github.com/klauspost/compress/zstd"
)

// DefaultLevel is the level of zstd if nobody asks for another: the level of rosbag2's recorder.
// Source: ros2/rosbag2 rosbag2_compression_zstd/src/rosbag2_compression_zstd/compression_utils.hpp,
// kDefaultZstdCompressionLevel.
const DefaultLevel = 1

// An Unpacker decompresses the parts of a recording that are compressed as a whole: into
// memory as long as they fit, else into files without a name in the folder for temporary files.
type Unpacker struct {
	left             int64 // of the memory
	memory, disk     int64 // bytes that are there
	inMemory, onDisk int   // parts
}

// unpackMemory is what an Unpacker takes if nothing is asked for, in bytes.
const unpackMemory = 64 << 20

// NewUnpacker returns an Unpacker that takes so many bytes of memory; 0 is 64 MiB.
func NewUnpacker(memory int64) *Unpacker {
	if memory <= 0 {
		memory = unpackMemory
	}
	return &Unpacker{left: memory}
}

// Fact tells where parts were unpacked; false if no part was.
func (u *Unpacker) Fact() (storage.Fact, bool) {
	var where []string
	if u.inMemory > 0 {
		where = append(where, fmt.Sprintf("in memory: %d (%d bytes)", u.inMemory, u.memory))
	}
	if u.onDisk > 0 {
		where = append(where, fmt.Sprintf("in %s: %d (%d bytes)", os.TempDir(), u.onDisk, u.disk))
	}
	return storage.Fact{Key: "unpacked", Value: strings.Join(where, ", ")}, len(where) > 0
}

// A spool is a file in memory until it is too large for that.
type spool struct {
	storage.File
	fs   storage.FS
	left int64 // of the memory; negative: it is on the disk
}

func (s *spool) Write(b []byte) (int, error) {
	if s.left >= 0 {
		if s.left -= int64(len(b)); s.left < 0 {
			temp, err := iox.TempFile(s.fs, os.TempDir())
			if err != nil {
				return 0, err
			}
			memory := s.File
			s.File = temp
			if _, err := memory.Seek(0, io.SeekStart); err != nil {
				return 0, err
			}
			if _, err := io.Copy(temp, memory); err != nil {
				return 0, err
			}
		}
	}
	return s.File.Write(b)
}

// Inflate decompresses a part. rosbag2 does not end the zstd frame
// when the size of the database is a multiple of 131072 bytes; all of it is
// there, and the decoder returns it before it reports that the frame is cut
// (ros2/ros2 issue 1476). With an error other than of writing, what could be
// decoded is in the file, and cut is the error of the decoder.
func (u *Unpacker) Inflate(ctx context.Context, fsys storage.FS, path string) (temp storage.File, cut, err error) {
	in, err := fsys.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	st, err := in.Stat()
	if err != nil {
		return nil, nil, err
	}
	out := &spool{File: iox.NewMemoryFile(path), fs: fsys, left: u.left}
	source := &faultReader{File: in}
	if cut, err = inflateTo(ctx, out, source, st.Size()); err == nil {
		err = source.fault
	}
	if err != nil {
		return nil, nil, errors.Join(err, out.Close())
	}
	if st, err = out.Stat(); err != nil {
		return nil, nil, errors.Join(err, out.Close())
	}
	if out.left >= 0 {
		u.left, u.memory, u.inMemory = out.left, u.memory+st.Size(), u.inMemory+1
	} else {
		u.disk, u.onDisk = u.disk+st.Size(), u.onDisk+1
	}
	return out.File, cut, nil
}

// A faultReader remembers why a file could not be read, which the decoder would report as
// damage.
type faultReader struct {
	storage.File
	fault error
}

func (r *faultReader) Read(b []byte) (int, error) {
	n, err := r.File.Read(b)
	if err != nil && err != io.EOF {
		r.fault = err
	}
	return n, err
}

func inflateTo(ctx context.Context, out io.Writer, in io.Reader, size int64) (cut, err error) {
	dec, err := newDecoder(in)
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	cut, err = compress.Unpack(ctx, out, dec, size)
	if errors.Is(err, compress.ErrLimit) {
		err = fmt.Errorf("%w: %w", err, storage.ErrCorrupt)
	}
	return cut, err
}

// IsPart reports whether a file begins as a part, after decompression if it is a zstd
// frame. head is how it begins.
func (s *Storage) IsPart(fsys storage.FS, path string, head []byte) bool {
	if bytes.HasPrefix(head, []byte(s.Magic)) {
		return true
	}
	if !bytes.HasPrefix(head, []byte(ZstdMagic)) {
		return false
	}
	f, err := fsys.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	dec, err := newDecoder(f)
	if err != nil {
		return false
	}
	defer dec.Close()
	first := make([]byte, len(s.Magic))
	_, err = io.ReadFull(dec, first)
	return err == nil && string(first) == s.Magic
}

func newDecoder(r io.Reader) (*zstd.Decoder, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(128<<20))
}

// IsFrame reports whether a message begins as a zstd frame. No message in CDR does.
func IsFrame(data []byte) bool { return len(data) >= 4 && string(data[:4]) == ZstdMagic }

// What decompression of a message may take: a larger message is an attack on memory.
const (
	messageInflate = 200
	messageSlack   = 64 << 20
)

// PackMessage appends a message as a zstd frame that states its size. Of a message that becomes much
// smaller than UnpackedSize would allow for, a part is stored as it is.
func PackMessage(dst, data []byte, level int) ([]byte, error) {
	start := len(dst)
	dst, err := compress.EncodeZstdFrame(dst, data, level)
	if err != nil || int64(len(data)) <= int64(len(dst)-start)*messageInflate+messageSlack {
		return dst, err
	}
	var rest bytes.Buffer
	head := len(data) / messageInflate
	s, err := compress.NewZstdStream(&rest, level)
	if err == nil {
		_, err = s.Write(data[head:])
	}
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		return dst[:start], err
	}
	return append(append(dst[:start], s.Head(data[:head])...), rest.Bytes()...), nil
}

// UnpackedSize returns the most bytes that a message of some bytes becomes. start is its start.
func UnpackedSize(start []byte, size int) int64 {
	if !IsFrame(start) {
		return int64(size)
	}
	most := int64(size)*messageInflate + messageSlack
	if stated, ok := compress.ZstdSize(start); ok {
		return min(stated, most)
	}
	return most
}
