package cyber

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// An outPlace is where a recording comes to stand: a file at path, or segments
// beside each other that have path as their stem.
type outPlace struct {
	out       *iox.Output
	fs        storage.FS
	path      string
	overwrite bool
	sync      bool
	segmented bool
	stamps    bool      // segments have their time in the name
	add       *addition // the recording to which this is added; nil: a new recording
	names     []string  // of the segments so far
}

// newPlace checks that the place is free, or may be taken.
func newPlace(fsys storage.FS, path string, o storage.WriteOptions) (*outPlace, error) {
	path = filepath.Clean(path)
	p := &outPlace{
		fs: fsys, path: path, overwrite: o.Overwrite, sync: !o.NoSync,
		segmented: o.SegmentSize > 0 || o.SegmentDuration > 0, stamps: o.SegmentNames != namesOld,
	}
	if p.segmented {
		if _, err := p.old(); err != nil {
			return nil, err
		}
	}
	var err error
	if p.out, err = iox.NewOutput(fsys, path, o.Overwrite, p.sync); err != nil {
		return nil, err
	}
	return p, nil
}

// create makes the file of a segment.
func (p *outPlace) create(s *outSegment) (storage.File, error) {
	path := p.out.Temp()
	if p.segmented {
		name := fmt.Sprintf("%s.%05d", filepath.Base(p.path), s.number)
		if p.stamps {
			name += "." + time.Unix(0, s.first).UTC().Format(stampFormat)
		}
		p.names = append(p.names, name)
		path = filepath.Join(p.out.TempDir(), name)
	}
	return p.fs.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

// old lists the names in the folder that the recording will take: path itself, and segments of its
// stem, by new names and by old. If nothing may be replaced, such a name is an error that wraps
// fs.ErrExist.
func (p *outPlace) old() (names []string, err error) {
	base := filepath.Base(p.path)
	entries, err := p.fs.ReadDir(filepath.Dir(p.path))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), base)
		if !ok || rest != "" && (e.IsDir() || !isSegmentSuffix(rest)) {
			continue
		}
		if !p.overwrite {
			return nil, &fs.PathError{Op: "create", Path: filepath.Join(filepath.Dir(p.path), e.Name()), Err: fs.ErrExist}
		}
		names = append(names, e.Name())
	}
	return names, nil
}

// isSegmentSuffix recognises ".00000" and ".00000.20060102150405".
func isSegmentSuffix(s string) bool {
	if len(s) != 6 && len(s) != 7+len(stampFormat) {
		return false
	}
	for i := range len(s) {
		if dot := i == 0 || i == 6; dot != (s[i] == '.') || !dot && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return true
}

// commit moves the recording to its final names. On error nothing of it is left,
// and what stood there stands there again.
func (p *outPlace) commit() error {
	if !p.segmented {
		return p.out.Commit()
	}
	if p.add != nil { // one more segment
		return p.out.CommitAll(p.names, nil)
	}
	old, err := p.old()
	if err != nil {
		return errors.Join(err, p.abort())
	}
	return p.out.CommitAll(p.names, old)
}

// made is where the recording is until it has its final names: the file, or the
// folder of the segments; "" for what is added.
func (p *outPlace) made() string {
	if p.add != nil {
		return ""
	}
	if p.segmented {
		return p.out.TempDir()
	}
	return p.out.Temp()
}

// files are the paths of the segments after commit.
func (p *outPlace) files() (list []string) {
	for _, name := range p.names {
		list = append(list, filepath.Join(filepath.Dir(p.path), name))
	}
	return list
}

// abort removes what has been made, unless it was committed.
func (p *outPlace) abort() (err error) {
	if p.out != nil {
		err = p.out.Abort()
	}
	if p.add != nil {
		err = errors.Join(err, p.add.close())
	}
	return err
}
