package rosbag2

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
	"github.com/klauspost/compress/zstd"
)

const (
	extDB     = ".db3"
	extZstd   = ".zstd"
	zstdMagic = "\x28\xb5\x2f\xfd"
	mcapMagic = "\x89MCAP0\r\n"
)

// layout is where the files of a recording are.
type layout struct {
	folder bool
	meta   *metadata // nil: there is none
	parts  []string  // paths, in the order of the recording
}

// A warner takes what is odd or damaged. It gives an error where reading is strict.
type warner func(code string, damage bool, format string, args ...any) error

// findParts finds the files of the recording at path.
func findParts(ctx context.Context, fsys storage.FS, path string, warn warner) (*layout, error) {
	st, err := fsys.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return &layout{parts: []string{path}}, nil
	}
	l := &layout{folder: true}
	entries, err := fsys.ReadDir(path)
	if err != nil {
		return nil, err
	}
	if err := l.readMetadata(ctx, fsys, path, warn); err != nil {
		return nil, err
	}
	found := listParts(fsys, path, entries)
	if l.meta == nil || len(l.meta.Paths) == 0 {
		l.parts = found
	} else if err := l.listed(fsys, path, found, warn); err != nil {
		return nil, err
	}
	mcap := 0
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".mcap") || strings.HasSuffix(e.Name(), ".mcap"+extZstd) {
			mcap++
		}
	}
	switch {
	case len(l.parts) > 0 && mcap > 0:
		return l, warn("mcap", false, "%d MCAP files in the folder are not read", mcap)
	case len(l.parts) > 0:
		return l, nil
	case mcap > 0, l.meta != nil && l.meta.StorageID == "mcap":
		return nil, fmt.Errorf("rosbag2 folder with MCAP storage, and MCAP is %w yet", storage.ErrUnsupported)
	case l.meta != nil && l.meta.StorageID != "sqlite3" && l.meta.StorageID != "":
		return nil, fmt.Errorf("rosbag2 folder with storage %.40q: %w", l.meta.StorageID, storage.ErrUnsupported)
	case l.meta != nil && len(l.meta.Paths) > 0:
		return nil, fmt.Errorf("none of the %d files that %s lists is there: %w", len(l.meta.Paths), metadataName, fs.ErrNotExist)
	}
	return nil, fmt.Errorf("no %s file in the folder: %w", extDB, fs.ErrNotExist)
}

// size is the bytes of the parts, as far as they are there.
func (l *layout) size(fsys storage.FS) (n int64) {
	for _, path := range l.parts {
		if st, err := fsys.Stat(path); err == nil {
			n += st.Size()
		}
	}
	return n
}

// readMetadata reads metadata.yaml where there is one that can be read.
func (l *layout) readMetadata(ctx context.Context, fsys storage.FS, path string, warn warner) error {
	f, err := fsys.Open(filepath.Join(path, metadataName))
	if errors.Is(err, fs.ErrNotExist) {
		return warn("no-metadata", false, "no %s in the folder; the parts are taken in the order of their numbers", metadataName)
	}
	if errors.Is(err, iox.ErrNotRegular) {
		return warn("metadata", true, "%s is no file and is not read; what only it says is lost", metadataName)
	}
	if err != nil {
		return err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxMetadata+1))
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	if len(data) > maxMetadata {
		return warn("metadata", true, "%s is over %d MB and is not read", metadataName, maxMetadata>>20)
	}
	m, odd, err := parseMetadata(ctx, data, qosCache{})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return warn("metadata", true, "%s cannot be read (%v); what only it says is lost", metadataName, err)
	}
	for _, o := range odd {
		if err := warn("qos", true, "%s: %s", metadataName, o); err != nil {
			return err
		}
	}
	l.meta = m
	if m.Version > newestMetadata {
		return warn("version", false, "%s has version %d; %d is the newest that is known here", metadataName, m.Version, newestMetadata)
	}
	return nil
}

// listed finds the parts that metadata.yaml lists. rosbag2 up to version 3 has
// paths relative to the folder's parent, or bare names, later ones bare names,
// and parts compressed as a whole were sometimes listed without ".zstd".
func (l *layout) listed(fsys storage.FS, dir string, found []string, warn warner) error {
	seen := map[string]bool{}
	var missing []string
	for _, p := range l.meta.Paths {
		p = filepath.FromSlash(p)
		if strings.HasSuffix(p, ".mcap") || strings.HasSuffix(p, ".mcap"+extZstd) {
			continue
		}
		names := []string{filepath.Join(dir, p), filepath.Join(dir, "..", p), filepath.Join(dir, filepath.Base(p))}
		if filepath.IsAbs(p) {
			names = []string{p, filepath.Join(dir, filepath.Base(p))}
		}
		path := ""
		for _, n := range names {
			for _, n := range []string{n, n + extZstd, strings.TrimSuffix(n, extZstd)} {
				if path == "" && regular(fsys, n) {
					path = n
				}
			}
		}
		if path == "" {
			missing = append(missing, p)
			continue
		}
		if !seen[path] {
			seen[path] = true
			l.parts = append(l.parts, path)
		}
	}
	if len(l.parts) == 0 && len(found) > 0 && len(missing) > 0 {
		l.parts = found
		return warn("paths", false, "%s lists %d files, such as %.200q, and none of them is there; the databases in the folder are read", metadataName, len(missing), missing[0])
	}
	for _, p := range missing {
		if err := warn("missing-part", true, "%s lists %.200q, which is not there", metadataName, p); err != nil {
			return err
		}
	}
	for _, p := range found {
		twin := strings.TrimSuffix(p, extZstd)
		if !seen[p] && !seen[twin] && !seen[p+extZstd] {
			if err := warn("unlisted-part", false, "%s is not listed in %s and is not read", filepath.Base(p), metadataName); err != nil {
				return err
			}
		}
	}
	return nil
}

func regular(fsys storage.FS, path string) bool {
	st, err := fsys.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

// listParts gives the databases of a folder in the order of the numbers in
// their names. Of a part that is there twice, plain and compressed, the plain
// one is taken when it is whole: rosbag2 leaves both behind.
func listParts(fsys storage.FS, dir string, entries []os.DirEntry) []string {
	names := map[string]bool{}
	for _, e := range entries {
		n := e.Name()
		if (strings.HasSuffix(n, extDB) || strings.HasSuffix(n, extDB+extZstd)) && regular(fsys, filepath.Join(dir, n)) {
			names[n] = true
		}
	}
	var list []string
	for n := range names {
		if plain := strings.TrimSuffix(n, extZstd); plain != n && names[plain] {
			if whole(fsys, filepath.Join(dir, plain)) {
				continue
			}
		} else if plain == n && names[n+extZstd] && !whole(fsys, filepath.Join(dir, n)) {
			continue
		}
		list = append(list, filepath.Join(dir, n))
	}
	slices.SortFunc(list, compareNumeric)
	return list
}

// whole tells whether a database has all its pages.
func whole(fsys storage.FS, path string) bool {
	f, err := fsys.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var h [headerLen]byte
	st, err := f.Stat()
	if err != nil || iox.ReadFull(f, h[:], 0) != nil {
		return false
	}
	p, err := parseHeader(h[:])
	return err == nil && p.pages*p.size <= st.Size()
}

// compareNumeric orders names with the numbers in them as numbers: a_9 before
// a_10. It also serves the names of Lyrical, which begin with the number.
func compareNumeric(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		nx, ny := digits(x), digits(y)
		if nx == 0 || ny == 0 {
			if x[0] != y[0] {
				return cmp.Compare(x[0], y[0])
			}
			x, y = x[1:], y[1:]
			continue
		}
		p, q := strings.TrimLeft(x[:nx], "0"), strings.TrimLeft(y[:ny], "0")
		if c := cmp.Or(cmp.Compare(len(p), len(q)), cmp.Compare(p, q)); c != 0 {
			return c
		}
		x, y = x[nx:], y[ny:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// maxInflate is how many times its size a compressed part may grow, beyond
// inflateSlack bytes: more is an attack on the disk.
const (
	maxInflate   = 1000
	inflateSlack = 1 << 30
)

// inflate writes the decompressed part to a file without a name in the folder for
// temporary files. rosbag2 does not end the zstd frame
// when the size of the database is a multiple of 131072 bytes; all of it is
// there, and the decoder gives it before it says that the frame is cut
// (ros2/ros2 issue 1476). With an error other than of writing, what could be
// decoded is in the file, and cut says what the matter is.
func inflate(ctx context.Context, fsys storage.FS, path string) (temp storage.File, cut, err error) {
	in, err := fsys.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	st, err := in.Stat()
	if err != nil {
		return nil, nil, err
	}
	out, err := iox.TempFile(fsys, os.TempDir())
	if err != nil {
		return nil, nil, err
	}
	if cut, err = inflateTo(ctx, out, in, st.Size()*maxInflate+inflateSlack); err != nil {
		return nil, nil, errors.Join(err, out.Close())
	}
	return out, cut, nil
}

func inflateTo(ctx context.Context, out io.Writer, in io.Reader, limit int64) (cut, err error) {
	dec, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(128<<20))
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	buf := make([]byte, 256<<10)
	for n := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		got, rerr := dec.Read(buf)
		if n += int64(got); n > limit {
			return nil, fmt.Errorf("it decompresses to over %d times its size: %w", maxInflate, storage.ErrCorrupt)
		}
		if _, err := out.Write(buf[:got]); err != nil {
			return nil, err
		}
		if rerr == io.EOF {
			return nil, nil
		}
		if rerr != nil {
			return rerr, nil
		}
	}
}

// isSQLite tells whether r begins as a database, after decompression where r is
// a zstd frame.
func isSQLite(head []byte, r func() (io.ReadCloser, error)) bool {
	if bytes.HasPrefix(head, []byte(sqliteMagic)) {
		return true
	}
	if !bytes.HasPrefix(head, []byte(zstdMagic)) {
		return false
	}
	f, err := r()
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	dec, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(128<<20))
	if err != nil {
		return false
	}
	defer dec.Close()
	first := make([]byte, len(sqliteMagic))
	_, err = io.ReadFull(dec, first)
	return err == nil && string(first) == sqliteMagic
}
