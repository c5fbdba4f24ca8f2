package mcap

import (
	"cmp"
	"slices"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/storage"
)

// A packing is what a Writer needs to write a file that is compressed with zstd as a whole: each
// chunk is a frame of its own, which any core makes, and so is what stands between chunks. Decoders
// read frames that follow each other as one file.
type packing struct {
	level int
	loose []byte // at the end of the file, not compressed yet
	frame []byte // of loose, used again
	end   int64  // of the file that is written
}

// looseBytes is how much is compressed together that is not a chunk.
const looseBytes = 1 << 20

// add adds bytes that are not chunk.
func (p *packing) add(w *writer, b []byte) error {
	for len(b) > 0 {
		n := min(len(b), looseBytes-len(p.loose))
		p.loose = append(p.loose, b[:n]...)
		if b = b[n:]; len(p.loose) == looseBytes {
			if err := p.flush(w); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush writes what is not compressed yet.
func (p *packing) flush(w *writer) (err error) {
	if len(p.loose) == 0 {
		return nil
	}
	if p.frame, err = compress.Zstd.Encode(p.frame[:0], p.loose, p.level); err != nil {
		return w.fail("output", err)
	}
	p.loose = p.loose[:0]
	return p.write(w, p.frame)
}

// put writes a frame after all that was added.
func (p *packing) put(w *writer, frame []byte) error {
	if err := p.flush(w); err != nil {
		return err
	}
	return p.write(w, frame)
}

func (p *packing) write(w *writer, frame []byte) error {
	if _, err := w.File.WriteAt(frame, p.end); err != nil {
		return w.fail("output", err)
	}
	p.end += int64(len(frame))
	return nil
}

// modes are what the compression of a folder may be of, the default first.
var modes = []string{"chunk", "file"}

// packFiles takes the compression of whole files out of the options of a folder, which are then the
// options for files that are not compressed. ok is false if whole files are not to be compressed.
func packFiles(o *storage.WriteOptions) (level int, ok bool, err error) {
	if o.Values[storage.NameCompressionMode] != modes[1] {
		return 0, false, nil
	}
	codec := compress.Zstd
	switch {
	case o.Compression != "" && o.Compression != codec.Name():
		return 0, false, &storage.OptionError{Name: storage.NameCompressionMode, What: "whole files are compressed with " +
			codec.Name() + " only", Hint: "add --compression " + codec.Name()}
	case o.Level > codec.MaxLevel():
		return 0, false, &storage.OptionError{Name: storage.NameLevel, What: "there is no such level", Hint: levelHint(codec)}
	case slices.ContainsFunc(presets, func(p preset) bool {
		return p.name == o.Values[storage.NamePreset] && !p.plain &&
			p.codec != "none"
	}):
		return 0, false, &storage.OptionError{Name: storage.NamePreset,
			What: "it compresses chunks, and files that are compressed as a whole have none", Hint: "omit it"}
	}
	level, o.Compression, o.Level = cmp.Or(o.Level, ros2bag.DefaultLevel), "none", 0
	return level, true, nil
}
