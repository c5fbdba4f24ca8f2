package ros2bag

import (
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
)

// A Storage is a kind of parts that a recording may have.
type Storage struct {
	ID     string   // storage_identifier in metadata.yaml
	Ext    string   // how the names of parts end
	Magic  string   // how parts begin
	Beside []string // endings of files that belong to a part, after its whole name

	// Scratch are the endings of files beside a part of which nothing is needed.
	Scratch []string

	// WholePart tells whether a part has its end.
	WholePart func(fsys storage.FS, path string) bool
}

const (
	extZstd   = ".zstd"
	ZstdMagic = "\x28\xb5\x2f\xfd"
	extMCAP   = ".mcap"
)

// A Layout is where the files of a recording are.
type Layout struct {
	Folder bool
	Meta   *Metadata // nil: there is none
	Parts  []string  // paths, in the order of the recording
}

// A Warner takes what is odd or damaged. It returns an error if reading is strict.
type Warner func(code string, damage bool, format string, args ...any) error

// Find finds the files of the recording at path, a folder or one part.
func (s *Storage) Find(ctx context.Context, fsys storage.FS, path string, warn Warner) (*Layout, error) {
	st, err := fsys.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return &Layout{Parts: []string{path}}, nil
	}
	l := &Layout{Folder: true}
	entries, err := fsys.ReadDir(path)
	if err != nil {
		return nil, err
	}
	if err := l.readMetadata(ctx, fsys, path, warn); err != nil {
		return nil, err
	}
	found := s.list(fsys, path, entries)
	if l.Meta == nil || len(l.Meta.Paths) == 0 {
		l.Parts = found
	} else if err := l.listed(fsys, path, found, s, warn); err != nil {
		return nil, err
	}
	mcap := 0
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), extMCAP) || strings.HasSuffix(e.Name(), extMCAP+extZstd) {
			mcap++
		}
	}
	switch {
	case len(l.Parts) > 0 && mcap > 0:
		return l, warn("mcap", false, "%d MCAP files in the folder are not read", mcap)
	case len(l.Parts) > 0:
		return l, nil
	case mcap > 0, l.Meta != nil && l.Meta.StorageID == "mcap":
		return nil, fmt.Errorf("rosbag2 folder with MCAP storage, which is %w yet; name one of its .mcap files", storage.ErrUnsupported)
	case l.Meta != nil && l.Meta.StorageID != s.ID && l.Meta.StorageID != "":
		return nil, fmt.Errorf("rosbag2 folder with storage %.40q: %w", l.Meta.StorageID, storage.ErrUnsupported)
	case l.Meta != nil && len(l.Meta.Paths) > 0:
		return nil, fmt.Errorf("none of the %d files that %s lists is there: %w", len(l.Meta.Paths), MetadataName, fs.ErrNotExist)
	}
	return nil, fmt.Errorf("no %s file in the folder: %w", s.Ext, fs.ErrNotExist)
}

// Size is the bytes of the parts, as far as they are there.
func (l *Layout) Size(fsys storage.FS) (n int64) {
	for _, path := range l.Parts {
		if st, err := fsys.Stat(path); err == nil {
			n += st.Size()
		}
	}
	return n
}

// readMetadata reads metadata.yaml if there is one that can be read.
func (l *Layout) readMetadata(ctx context.Context, fsys storage.FS, path string, warn Warner) error {
	f, err := fsys.Open(filepath.Join(path, MetadataName))
	if errors.Is(err, fs.ErrNotExist) {
		return warn("no-metadata", false, "no %s in the folder; the parts are taken in the order of their numbers", MetadataName)
	}
	if errors.Is(err, iox.ErrNotRegular) {
		return warn("metadata", true, "%s is no file and is not read; what only it says is lost", MetadataName)
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
		return warn("metadata", true, "%s is over %d MB and is not read", MetadataName, maxMetadata>>20)
	}
	m, odd, err := ParseMetadata(ctx, data, QoSCache{})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return warn("metadata", true, "%s cannot be read (%v); what only it says is lost", MetadataName, err)
	}
	for _, o := range odd {
		if err := warn("qos", true, "%s: %s", MetadataName, o); err != nil {
			return err
		}
	}
	l.Meta = m
	if m.Version > newestMetadata {
		return warn("version", false, "%s has version %d; %d is the newest that is known here", MetadataName, m.Version, newestMetadata)
	}
	return nil
}

// listed finds the parts that metadata.yaml lists. rosbag2 up to version 3 has
// paths relative to the folder's parent, or bare names, later ones bare names,
// and parts compressed as a whole were sometimes listed without ".zstd".
func (l *Layout) listed(fsys storage.FS, dir string, found []string, s *Storage, warn Warner) error {
	seen := map[string]bool{}
	var missing []string
	for _, p := range l.Meta.Paths {
		p = filepath.FromSlash(p)
		if strings.HasSuffix(p, extMCAP) || strings.HasSuffix(p, extMCAP+extZstd) {
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
			l.Parts = append(l.Parts, path)
		}
	}
	if len(l.Parts) == 0 && len(found) > 0 && len(missing) > 0 {
		l.Parts = found
		return warn("paths", false, "%s lists %d files, such as %.200q, and none of them is there; the databases in the folder are read", MetadataName, len(missing), missing[0])
	}
	for _, p := range missing {
		if err := warn("missing-part", true, "%s lists %.200q, which is not there", MetadataName, p); err != nil {
			return err
		}
	}
	for _, p := range found {
		twin := strings.TrimSuffix(p, extZstd)
		if !seen[p] && !seen[twin] && !seen[p+extZstd] {
			if err := warn("unlisted-part", false, "%s is not listed in %s and is not read", filepath.Base(p), MetadataName); err != nil {
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

// list returns the parts in a folder in the order of the numbers in
// their names. Of a part that is there twice, plain and compressed, the plain
// one is taken when it is whole: rosbag2 leaves both behind.
func (s *Storage) list(fsys storage.FS, dir string, entries []os.DirEntry) []string {
	names := map[string]bool{}
	for _, e := range entries {
		n := e.Name()
		if (strings.HasSuffix(n, s.Ext) || strings.HasSuffix(n, s.Ext+extZstd)) && regular(fsys, filepath.Join(dir, n)) {
			names[n] = true
		}
	}
	var list []string
	for n := range names {
		if plain := strings.TrimSuffix(n, extZstd); plain != n && names[plain] {
			if s.WholePart(fsys, filepath.Join(dir, plain)) {
				continue
			}
		} else if plain == n && names[n+extZstd] && !s.WholePart(fsys, filepath.Join(dir, n)) {
			continue
		}
		list = append(list, filepath.Join(dir, n))
	}
	slices.SortFunc(list, compareNumeric)
	return list
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

// IsFolder tells a recording's folder by its metadata.yaml or the parts in it.
func (s *Storage) IsFolder(fsys storage.FS, path string) bool {
	if f, err := fsys.Open(filepath.Join(path, MetadataName)); err == nil {
		defer f.Close()
		b, err := io.ReadAll(io.LimitReader(f, 64<<10))
		if err == nil && strings.Contains(string(b), metadataKey) {
			return true
		}
	}
	entries, err := fsys.ReadDir(path)
	return err == nil && len(s.list(fsys, path, entries)) > 0
}
