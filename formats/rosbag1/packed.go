package rosbag1

import (
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A packing is a way in which a whole bag is compressed. ROS before 1.0 read such files,
// and people keep archives in them.
type packing struct {
	name, extension, magic string
	reader                 func(io.Reader) (io.Reader, error)
}

var packings = []packing{
	{"gzip", ".gz", "\x1f\x8b\x08", func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
	{"bzip2", ".bz2", "BZh", func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }},
}

// packingOf returns how the file that begins with head is compressed; nil: it is not.
func packingOf(head []byte) *packing {
	for i := range packings {
		if bytes.HasPrefix(head, []byte(packings[i].magic)) {
			return &packings[i]
		}
	}
	return nil
}

// sniffPacked reports whether a compressed file has a bag in it, by its first bytes.
func sniffPacked(fsys storage.FS, path string, p *packing) bool {
	f, err := iox.FS(fsys).Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only read
	dec, err := p.reader(f)
	if err != nil {
		return false
	}
	head := make([]byte, storage.SniffLen)
	n, _ := io.ReadFull(dec, head) // what comes before an error decides
	return sniffHead(head[:n])
}

// unpack puts what the compressed file in src has in it in place of src.File: in a file
// without a name in the folder for temporary files. The bag is read as far as it could be
// decompressed.
func unpack(src *chunked.Source, p *packing, fsys storage.FS) error {
	dec, err := p.reader(src.File)
	if err != nil {
		return src.Fail(0, p.name, errors.Join(err, storage.ErrCorrupt))
	}
	temp, err := iox.TempFile(fsys, os.TempDir())
	if err != nil {
		return err
	}
	cut, err := compress.Unpack(src.Ctx, temp, dec, src.Size)
	if errors.Is(err, compress.ErrLimit) {
		err = src.Fail(-1, fmt.Sprintf("%s: %v", p.name, err), storage.ErrCorrupt)
	}
	if err == nil && cut != nil {
		err = src.WarnLost(storage.Lost{Uncounted: true}, "compressed-data", -1, true,
			"the file is compressed by %s, and damaged or cut off (%v); what could be decompressed is read", p.name, cut)
	}
	if err != nil {
		return errors.Join(err, temp.Close())
	}
	st, err := temp.Stat()
	if err != nil {
		return errors.Join(err, temp.Close())
	}
	packed := src.File
	src.File, src.Packed, src.Size = temp, src.Size, st.Size()
	src.Facts = append(src.Facts, storage.Fact{Key: "unpacked", Value: fmt.Sprintf("%d bytes, from %s", src.Size, p.name)})
	return packed.Close()
}
