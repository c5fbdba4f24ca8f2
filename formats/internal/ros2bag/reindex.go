package ros2bag

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/inplace"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// Parts are what Reindex does with parts of a storage.
type Parts interface {
	// Open opens a part, as a PartReader, or the recording. See storage.Format.
	Open(ctx context.Context, path string, o storage.ReadOptions) (storage.Reader, error)

	// Mend finishes or undoes what a killed run has left of a change of a part, unless o is a dry run.
	Mend(ctx context.Context, path string, o storage.ReindexOptions) error

	// Index writes what is missing of the index within a part.
	Index(ctx context.Context, path string, o storage.ReindexOptions) ([]storage.IndexChange, error)
}

// A PartReader is the storage.Reader of a part by itself.
type PartReader interface {
	storage.Reader
	Content() PartContent
}

// PartContent is what a part tells about itself.
type PartContent struct {
	Mode    string            // of compression: ModeFile, ModeMessage or ""
	Version int               // of the metadata in it; 0: no metadata
	Custom  map[string]string // custom_data
	Judged  []string          // codes of damage that Index judges, or that costs no messages
}

// A reindexPart is a part of a folder whose metadata.yaml is made.
type reindexPart struct {
	PartContent
	info *storage.Info
}

// Reindex writes what is missing of the index within parts, and then metadata.yaml from what the
// parts have, if it is missing or wrong. What only the old metadata.yaml has stays: profiles,
// custom_data, and topics without messages. See storage.Format.
func (s *Storage) Reindex(ctx context.Context, path string, o storage.ReindexOptions, parts Parts) (
	[]storage.IndexChange, error) {
	changes, err := s.reindex(ctx, path, o, parts)
	return changes, s.reindexError(path, err)
}

func (s *Storage) reindex(ctx context.Context, path string, o storage.ReindexOptions, kind Parts) (
	[]storage.IndexChange, error) {
	fsys := iox.FS(o.FS)
	o.FS = fsys
	st, err := fsys.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		if name := filepath.Base(path); plainName(name) != name {
			return nil, fmt.Errorf("a single file that is compressed as a whole: %w", storage.ErrUnsupported)
		}
		return kind.Index(ctx, path, o)
	}
	x := &reindexer{s: s, fs: fsys, dir: filepath.Clean(path), o: o, kind: kind}
	if !o.DryRun {
		lock, err := fsys.Open(path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = lock.Close() }()
		if err := iox.TryLock(lock); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return nil, err
		}
	}
	return x.run(ctx)
}

// RecoverHint is the next step if no index can be written.
const RecoverHint = "bagconv recover IN OUT writes a copy with an index"

// reindexError returns an error of Reindex as an error of the format, with the next step.
func (s *Storage) reindexError(path string, err error) error {
	var e *storage.Error
	if !errors.As(s.Wrap(path, "", err), &e) {
		return err
	}
	hinted := *e
	if e.Hint == "" && (errors.Is(err, storage.ErrUnsupported) || storage.IsDamage(err)) {
		hinted.Hint = RecoverHint
	}
	return &hinted
}

// A reindexer makes the metadata.yaml of a folder.
type reindexer struct {
	s     *Storage
	fs    storage.FS
	dir   string
	o     storage.ReindexOptions
	kind  Parts
	old   *Metadata // nil: it cannot be read
	text  []byte    // of what is there
	names []string  // of the parts, in their order
	parts []reindexPart
}

func refuse(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, storage.ErrUnsupported)...)
}

func (x *reindexer) run(ctx context.Context) (changes []storage.IndexChange, err error) {
	if err := x.read(ctx); err != nil {
		return nil, err
	}
	if err := x.find(); err != nil {
		return nil, err
	}
	for _, name := range x.names {
		if err := x.describe(ctx, name); err != nil {
			return nil, err
		}
	}
	if err := x.check(); err != nil {
		return nil, err
	}
	m := x.metadata()
	text, err := m.Encode(true)
	if err != nil {
		return nil, err
	}
	var wrong []string
	if x.old != nil {
		wrong = m.differs(x.old)
	}
	written := x.old == nil || len(wrong) > 0
	if written {
		if err := x.prove(ctx, m, []byte(text)); err != nil {
			return nil, err
		}
	}
	if changes, err = x.indexParts(ctx); err != nil {
		return changes, err
	}
	if !written {
		return changes, nil
	}
	what := "metadata.yaml that was missing, of " + inplace.Counted(int64(len(x.names)), "file") + ", " +
		inplace.Counted(int64(len(m.Topics)), "topic") + " and " + inplace.Counted(m.Messages, "message")
	if x.old != nil {
		what = "metadata.yaml, of which these are wrong or missing: " + strings.Join(wrong, ", ")
	} else if x.text != nil {
		what = strings.Replace(what, "that was missing", "that could not be read", 1)
	}
	changes = append(changes, storage.IndexChange{Path: filepath.Join(x.dir, MetadataName), What: what,
		Written: int64(len(text)), Overwritten: int64(len(x.text))})
	if x.o.DryRun {
		return changes, nil
	}
	return changes, x.write(m)
}

// describe finds out what a part has, when a change of it that was torn is finished. A part that is
// damaged is refused.
func (x *reindexer) describe(ctx context.Context, name string) (err error) {
	path := filepath.Join(x.dir, name)
	if err := x.kind.Mend(ctx, path, x.o); err != nil {
		return err
	}
	r, err := x.kind.Open(ctx, path, storage.ReadOptions{FS: x.fs})
	if err != nil {
		return err
	}
	p := reindexPart{r.(PartReader).Content(), r.Info()}
	for _, w := range p.info.Warnings {
		if w.Damage && !slices.Contains(p.Judged, w.Code) {
			err = errors.Join(err, refuse("%s is damaged (%s)", name, w.Message))
		}
	}
	x.parts = append(x.parts, p)
	return errors.Join(err, r.Close())
}

// indexParts writes what is missing of the index within parts. It writes nothing before it knows
// that it can write all parts.
func (x *reindexer) indexParts(ctx context.Context) (changes []storage.IndexChange, err error) {
	plain := slices.DeleteFunc(slices.Clone(x.names), func(name string) bool { return plainName(name) != name })
	o := x.o
	run := func(name string) (bool, error) {
		c, err := x.kind.Index(ctx, filepath.Join(x.dir, name), o)
		changes = append(changes, c...)
		return len(c) > 0, err
	}
	var waiting []string
	for i, name := range plain {
		last := i == len(plain)-1 && len(waiting) == 0 // usually it is the only one
		o.DryRun = x.o.DryRun || !last
		changed, err := run(name)
		if err != nil {
			return nil, err
		}
		if changed && !last {
			waiting = append(waiting, name)
		}
	}
	if x.o.DryRun || len(waiting) == 0 {
		return changes, nil
	}
	changes, o.DryRun = nil, false
	for _, name := range waiting {
		if _, err := run(name); err != nil {
			return changes, err
		}
	}
	return changes, nil
}

// prove makes the proof that nothing is lost with a new metadata.yaml.
func (x *reindexer) prove(ctx context.Context, m *Metadata, text []byte) error {
	after := inplace.NewView(x.fs)
	after.Show(filepath.Join(x.dir, MetadataName), text)
	old := x.old
	if old == nil {
		old = &Metadata{}
	}
	kept := old.Mode == m.Mode && old.Compression == m.Compression
	return x.s.prove(ctx, x.fs, x.dir, x.kind.Open, after, RecoverHint, kept)
}

// prove makes the proof that a folder, as a view shows it, has all that it has now. kept: see inplace.Proof.
func (s *Storage) prove(ctx context.Context, fsys storage.FS, dir string, read inplace.Opener, after *inplace.View,
	hint string, kept bool) error {
	proof := &inplace.Proof{Format: s.Format, Path: dir, Open: read, Hint: hint, Before: inplace.NewView(fsys),
		After: after, Kept: kept}
	return proof.Run(ctx)
}

// read reads the old metadata.yaml, as far as that is possible.
func (x *reindexer) read(ctx context.Context) error {
	l := &Layout{}
	if err := l.readMetadata(ctx, x.fs, x.dir, func(string, bool, string, ...any) error { return nil }); err != nil {
		return err
	}
	x.old = l.Meta
	path := filepath.Join(x.dir, MetadataName)
	st, err := x.fs.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !st.Mode().IsRegular() {
		return refuse("%s is not a regular file", MetadataName)
	}
	if err != nil {
		return err
	}
	f, err := x.fs.Open(path)
	if err != nil {
		return err
	}
	x.text, err = io.ReadAll(io.LimitReader(f, maxMetadata))
	return errors.Join(err, f.Close())
}

// find finds the parts. Files of two recordings are refused.
func (x *reindexer) find() error {
	entries, err := x.fs.ReadDir(x.dir)
	if err != nil {
		return err
	}
	forms, stems := map[string][]string{}, map[string]string{}
	packed := false // a part is there in its compressed form alone
	for _, e := range entries {
		n := e.Name()
		if id := x.s.other(n); id != "" {
			return refuse("the folder mixes two recordings: %s is no file of storage %s", n, x.s.ID)
		}
		if !x.s.hasPart(n) || strings.HasPrefix(n, ".") {
			continue
		}
		st, err := x.fs.Stat(filepath.Join(x.dir, n)) // an error must not leave a part out
		if err != nil {
			return err
		}
		if st.Mode().IsRegular() {
			forms[plainName(n)] = append(forms[plainName(n)], n)
			stems[x.s.partStem(n)] = n
		}
	}
	if len(forms) == 0 {
		return fmt.Errorf("no %s file in the folder: %w", x.s.Ext, storage.ErrUnsupported)
	}
	listed := map[string]int{}
	if x.old != nil {
		for i, p := range x.old.Paths {
			listed[plainName(filepath.Base(filepath.FromSlash(p)))] = i
		}
	}
	all := true
	for plain, names := range forms {
		slices.Sort(names)
		packed = packed || names[0] != plain
		_, ok := listed[plain]
		all = all && ok
	}
	if len(stems) > 1 && !all {
		examples := slices.Sorted(maps.Values(stems))
		return refuse("the folder mixes two recordings: %s and %s have different names, and no %s lists both", examples[0],
			examples[1], MetadataName)
	}
	plains := slices.SortedFunc(maps.Keys(forms), compareNumeric)
	if all {
		slices.SortStableFunc(plains, func(a, b string) int { return listed[a] - listed[b] })
	}
	for _, plain := range plains {
		names := forms[plain]
		name := names[0]
		if packed || len(names) > 1 && !x.s.WholePart(x.fs, filepath.Join(x.dir, name)) {
			name = names[len(names)-1]
		}
		x.names = append(x.names, name)
	}
	return nil
}

// check refuses parts of different recordings or kinds.
func (x *reindexer) check() error {
	distro, types := "", map[string]string{}
	for i, p := range x.parts {
		name := x.names[i]
		if d := p.info.Metadata[storage.MetaDistro]; d != "" && distro != "" && d != distro {
			return refuse("the folder mixes two recordings: %s was recorded with %s, and a part before it with %s", name, d,
				distro)
		} else if d != "" {
			distro = d
		}
		if packed := p.Mode == ModeFile; packed != (x.parts[0].Mode == ModeFile) {
			return refuse("%s and %s: one is compressed and the other is not, which %s cannot tell; compress both or none",
				x.names[0], name, MetadataName)
		}
		here := map[string]bool{}
		for _, t := range p.info.Topics {
			here[t.Name+"\x00"+t.Type] = true
		}
		for _, t := range p.info.Topics {
			if was, ok := types[t.Name]; ok && was != t.Type && !here[t.Name+"\x00"+was] {
				return refuse("the folder mixes two recordings: topic %.200q is of type %.200q in %s, and of %.200q in a part "+
					"before it", t.Name, t.Type, name, was)
			}
			types[t.Name] = t.Type
		}
	}
	return nil
}

// write puts a new metadata.yaml in the place of the old one in one step.
func (x *reindexer) write(m *Metadata) (err error) {
	target := filepath.Join(x.dir, MetadataName)
	if _, err := iox.CleanUp(x.fs, target); err != nil {
		return err
	}
	out, err := iox.NewOutputs(x.fs, target, true, !x.o.NoSync)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Abort()) }()
	if err := m.WriteFile(x.fs, out.TempDir(), !x.o.NoSync); err != nil {
		return err
	}
	if err := x.fs.Rename(filepath.Join(out.TempDir(), MetadataName), target); err != nil || x.o.NoSync {
		return err
	}
	return iox.SyncDir(x.fs, x.dir)
}
