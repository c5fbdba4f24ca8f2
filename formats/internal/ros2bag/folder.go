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
	"regexp"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A Storage is a kind of parts that a recording may have.
type Storage struct {
	Format string   // name of the format of folders
	ID     string   // storage_identifier in metadata.yaml
	Ext    string   // how the names of parts end
	Magic  string   // how parts begin
	Beside []string // endings of files that belong to a part, after its whole name

	// Scratch are the endings of files beside a part that are not needed.
	Scratch []string

	// WholePart reports whether a part has its end.
	WholePart func(fsys storage.FS, path string) bool

	// Alone reports whether files of this kind are usually recordings by themselves: without
	// metadata.yaml they are parts of one recording only if they are called after their folder.
	Alone bool
}

// Wrap makes err an error about a file, unless err is nil or tells enough.
func (s *Storage) Wrap(path, what string, err error) error {
	var e *storage.Error
	if err == nil || errors.As(err, &e) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &storage.Error{Format: s.Format, Path: path, Offset: -1, What: what, Err: err}
}

// ZstdMagic is how a zstd frame begins.
const ZstdMagic = "\x28\xb5\x2f\xfd"

// zstdEndings are the endings of parts that are compressed as a whole: rosbag2's, and the zstd
// program's.
var zstdEndings = []string{".zstd", ".zst"}

// The storage_identifiers. rosbag2 writes MCAP by default since Iron.
const (
	SQLite = "sqlite3"
	MCAP   = "mcap"
)

// storages are the endings of parts by storage_identifier.
var storages = map[string]string{SQLite: ".db3", MCAP: ".mcap"}

// plainName returns the name that a part has before compression.
func plainName(name string) string {
	for _, x := range zstdEndings {
		if n, ok := strings.CutSuffix(name, x); ok {
			return n
		}
	}
	return name
}

// hasPart reports whether a name is the name of a part.
func (s *Storage) hasPart(name string) bool { return strings.HasSuffix(plainName(name), s.Ext) }

// other returns the ID of the storage that a name is a part of, or "" if it is s or not known.
func (s *Storage) other(name string) string {
	for id, ext := range storages {
		if id != s.ID && strings.HasSuffix(plainName(name), ext) {
			return id
		}
	}
	return ""
}

// A Layout is where the files of a recording are.
type Layout struct {
	Folder bool
	Meta   *Metadata // nil: there is no metadata.yaml that can be read
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
	others := map[string]int{}
	for _, e := range entries {
		if id := s.other(e.Name()); id != "" {
			others[id]++
		}
	}
	if len(l.Parts) > 0 {
		for id, n := range others {
			if err := warn(id, false, "%d %s files in the folder are not read", n, storages[id]); err != nil {
				return nil, err
			}
		}
		return l, nil
	}
	switch {
	case len(others) > 0 || l.Meta != nil && l.Meta.StorageID != s.ID && l.Meta.StorageID != "":
		id := ""
		if l.Meta != nil {
			id = l.Meta.StorageID
		}
		return nil, fmt.Errorf("rosbag2 folder with storage %.40q and no %s file: %w", id, s.Ext, storage.ErrUnsupported)
	case l.Meta != nil && len(l.Meta.Paths) > 0:
		return nil, fmt.Errorf("none of the %d files listed in %s exists: %w", len(l.Meta.Paths), MetadataName,
			fs.ErrNotExist)
	}
	return nil, fmt.Errorf("no %s file in the folder: %w", s.Ext, fs.ErrNotExist)
}

// Size returns the bytes of the parts, as far as they are there.
func (l *Layout) Size(fsys storage.FS) (n int64) {
	for _, path := range l.Parts {
		if st, err := fsys.Stat(path); err == nil {
			n += st.Size()
		}
	}
	return n
}

// readMetadata reads metadata.yaml if it is there and can be read.
func (l *Layout) readMetadata(ctx context.Context, fsys storage.FS, path string, warn Warner) error {
	f, err := fsys.Open(filepath.Join(path, MetadataName))
	if errors.Is(err, fs.ErrNotExist) {
		return warn("no-metadata", false, "no %s in the folder; the parts are read in the order of their numbers",
			MetadataName)
	}
	if errors.Is(err, iox.ErrNotRegular) {
		return warn("metadata", true, "%s is not a regular file and is not read; information that only it has is lost",
			MetadataName)
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
		return warn("metadata", true, "%s cannot be read (%v); information that only it has is lost", MetadataName, err)
	}
	for _, o := range odd {
		if err := warn("qos", true, "%s: %s", MetadataName, o); err != nil {
			return err
		}
	}
	l.Meta = m
	if m.Version > newestMetadata {
		return warn("version", false, "%s has version %d; the newest known version is %d", MetadataName, m.Version,
			newestMetadata)
	}
	return nil
}

// listed finds the parts that metadata.yaml lists. rosbag2 up to version 3 has
// paths relative to the folder's parent, or bare names, later ones bare names,
// and parts compressed as a whole were sometimes listed without ".zstd". A path that leads out of the
// folder is not followed: whoever wrote the list does not decide which files are read.
func (l *Layout) listed(fsys storage.FS, dir string, found []string, s *Storage, warn Warner) error {
	seen := map[string]bool{}
	var missing []string
	wrong := false
	for _, p := range l.Meta.Paths {
		p = filepath.FromSlash(p)
		if s.other(p) != "" {
			continue
		}
		names := []string{filepath.Join(dir, p), filepath.Join(dir, "..", p), filepath.Join(dir, filepath.Base(p))}
		if filepath.IsAbs(p) {
			names = []string{p, filepath.Join(dir, filepath.Base(p))}
		}
		path, outside := "", false
		for _, n := range names {
			for _, n := range append([]string{n, plainName(n)}, packedNames(plainName(n))...) {
				switch {
				case path != "" || !regular(fsys, n):
				case inside(dir, n):
					path = n
				default:
					outside = true
				}
			}
		}
		switch {
		case path == "" && outside:
			if err := warn("missing-part", true,
				"%s lists %.200q, which lies outside of the folder and is not read; to read it, name that file", MetadataName,
				p); err != nil {
				return err
			}
		case path == "":
			missing = append(missing, p)
		case seen[path]:
			wrong = true
		default:
			seen[path] = true
			l.Parts = append(l.Parts, path)
		}
	}
	if len(l.Parts) == 0 && len(found) > 0 && len(missing) > 0 {
		l.Parts = found
		return warn("paths", false,
			"%s lists %d files, such as %.200q, but none of them exists; the %s files in the folder are read", MetadataName,
			len(missing), missing[0], s.Ext)
	}
	known, stems := map[string]bool{}, map[string]bool{}
	for p := range seen {
		known[plainName(p)], stems[s.partStem(filepath.Base(p))] = true, true
	}
	wrong = wrong || len(missing) > 0
	for _, p := range found {
		name := filepath.Base(p)
		var err error
		switch {
		case known[plainName(p)]:
		case wrong && stems[s.partStem(name)]: // what is wrong may be its name in the list
			l.Parts = append(l.Parts, p)
			slices.SortFunc(l.Parts, compareNumeric)
			err = warn("paths", false, "%s is not listed in %s, which lists others that cannot be right; it is read", name,
				MetadataName)
		default:
			err = warn("unlisted-part", false, "%s is not listed in %s and is not read", name, MetadataName)
		}
		if err != nil {
			return err
		}
	}
	for _, p := range missing {
		if err := warn("missing-part", true, "%s lists %.200q, which does not exist", MetadataName, p); err != nil {
			return err
		}
	}
	return nil
}

// inside reports whether a path lies in a folder, by its name.
func inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// metadataListing is metadata.yaml.
var metadataListing = storage.Listing{Name: MetadataName, Files: func(text []byte) (names []string) {
	m, _, err := ParseMetadata(context.Background(), text, QoSCache{})
	if err != nil {
		return nil // its reader says why
	}
	for _, p := range m.Paths {
		plain := plainName(filepath.Base(filepath.FromSlash(p)))
		names = append(append(names, plain), packedNames(plain)...)
	}
	return names
}}

// packedNames returns the names that a part may have when it is compressed as a whole.
func packedNames(plain string) (names []string) {
	for _, x := range zstdEndings {
		names = append(names, plain+x)
	}
	return names
}

func regular(fsys storage.FS, path string) bool {
	st, err := fsys.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

// list returns the parts in a folder in the order of the numbers in
// their names. Of a part that is there twice, plain and compressed, the plain
// one is taken when it is whole: rosbag2 leaves both behind.
func (s *Storage) list(fsys storage.FS, dir string, entries []os.DirEntry) []string {
	forms := map[string][]string{} // the names of each part, by its name before compression
	for _, e := range entries {
		if n := e.Name(); s.hasPart(n) && regular(fsys, filepath.Join(dir, n)) {
			forms[plainName(n)] = append(forms[plainName(n)], n)
		}
	}
	var list []string
	for plain, names := range forms {
		slices.Sort(names) // the plain one is first
		name := names[0]
		if name == plain && len(names) > 1 && !s.WholePart(fsys, filepath.Join(dir, plain)) {
			name = names[1]
		}
		list = append(list, filepath.Join(dir, name))
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

// storageLine is where metadata.yaml names the storage.
var storageLine = regexp.MustCompile(`(?m)^\s*storage_identifier:\s*["']?(\w*)`)

// IsFolder reports, by the parts in it and its metadata.yaml, whether a folder is a recording. A
// folder with parts of two storages, or without parts, belongs to the storage that metadata.yaml
// names. If that names no known storage, it belongs to the storage whose files are not usually
// recordings by themselves. Without metadata.yaml, files that usually are must have one name but
// for their numbers.
func (s *Storage) IsFolder(fsys storage.FS, path string) bool {
	entries, err := fsys.ReadDir(path)
	if err != nil {
		return false
	}
	hasMetadata, named := describe(fsys, path)
	mine, others := false, false
	stem := ""
	for _, e := range entries {
		is, other := s.hasPart(e.Name()), s.other(e.Name()) != ""
		if (is && !mine || other && !others) && regular(fsys, filepath.Join(path, e.Name())) {
			mine, others = mine || is, others || other
		}
		if is && s.Alone && !hasMetadata {
			if name := s.partStem(e.Name()); stem != "" && name != stem {
				return false
			} else {
				stem = name
			}
		}
	}
	switch {
	case mine != others:
		return mine
	case !mine && !hasMetadata:
		return false
	case named == s.ID:
		return true
	case storages[named] != "":
		return false
	}
	return !s.Alone
}

// partStem returns the name that all parts of a recording share.
func (s *Storage) partStem(name string) string {
	return stemOf(strings.TrimSuffix(plainName(name), s.Ext))
}

// describe reports whether there is a metadata.yaml, and which storage it names.
func describe(fsys storage.FS, dir string) (is bool, storageID string) {
	f, err := fsys.Open(filepath.Join(dir, MetadataName))
	if err != nil {
		return false, ""
	}
	b, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if e := f.Close(); err != nil || e != nil || !strings.Contains(string(b), metadataKey) {
		return false, ""
	}
	if m := storageLine.FindSubmatch(b); m != nil {
		storageID = string(m[1])
	}
	return true, storageID
}
