package ros2bag

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/bagconv/bagconv/internal/inplace"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// An Addition adds parts to a folder that is there. They are made in a staging folder within
// it, Out, and Commit moves them in under names that are free, and last puts a new
// metadata.yaml in the place of the old one in one step. Until then readers do not know the
// new parts; files that are there stay as they are.
type Addition struct {
	Out     *iox.Output // parts are made in the folder Out.Temp()
	Dir     string
	First   int     // number of the first new part
	Profile Profile // of the recording

	ctx    context.Context
	s      *Storage
	read   inplace.Opener
	fs     storage.FS
	sync   bool
	lock   storage.File // the folder
	meta   *Metadata    // of the recording
	topics []storage.Topic
	empty  bool // nothing is added
}

// NewAddition starts to add to the folder at path, which read opens. info is the Info of the
// recording. The error wraps storage.ErrUnsupported for what cannot be added to, storage.ErrLocked
// while another run adds to it, and storage.ErrCorrupt or ErrTruncated if it is damaged.
func (s *Storage) NewAddition(ctx context.Context, path string, o storage.WriteOptions,
	read inplace.Opener) (_ *Addition, info *storage.Info, err error) {
	a := &Addition{Dir: filepath.Clean(path), ctx: ctx, s: s, read: read, fs: iox.FS(o.FS), sync: !o.NoSync}
	st, err := a.fs.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !st.IsDir() {
		return nil, nil, fmt.Errorf(
			"a single file cannot be added to, only a folder: merge the recordings into a new one: %w", storage.ErrUnsupported)
	}
	if a.lock, err = a.fs.Open(path); err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	if err := iox.TryLock(a.lock); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return nil, nil, err
	}
	if info, err = a.open(); err != nil {
		return nil, nil, err
	}
	abs, err := iox.Abs(path)
	if err != nil {
		return nil, nil, err
	}
	name := filepath.Base(abs)
	stem := filepath.Join(a.Dir, name)
	if _, err := iox.CleanUp(a.fs, stem); err != nil {
		return nil, nil, err
	}
	if a.First, err = s.free(a.fs, a.Dir, name, len(a.meta.Paths)); err != nil {
		return nil, nil, err
	}
	out, err := iox.NewOutputs(a.fs, stem, false, a.sync)
	if err != nil {
		return nil, nil, err
	}
	a.Out = out
	return a, info, a.fs.Mkdir(a.Out.Temp(), 0o777)
}

// open reads what the recording has.
func (a *Addition) open() (*storage.Info, error) {
	damaged := func(err error) error {
		return fmt.Errorf("it is damaged (%w): make a sound copy first: bagconv recover IN OUT", err)
	}
	var odd error
	l, err := a.s.Find(a.ctx, a.fs, a.Dir, func(code string, damage bool, format string, args ...any) error {
		if damage || code == "no-metadata" {
			odd = fmt.Errorf(format+": %w", append(args, storage.ErrCorrupt)...)
		}
		return nil
	})
	if err == nil {
		err = odd
	}
	if err != nil {
		return nil, damaged(err)
	}
	if a.meta = l.Meta; a.meta == nil {
		return nil, damaged(fmt.Errorf("no %s: %w", MetadataName, storage.ErrCorrupt))
	}
	if a.meta.Compression != "" || a.meta.Mode != "" || a.meta.Version < 4 {
		return nil, fmt.Errorf("a folder with %s of version %d, compression %q: merge the recordings into a new one: %w",
			MetadataName, a.meta.Version, a.meta.Compression, storage.ErrUnsupported)
	}
	a.Profile = ProfileOf(a.meta)
	r, err := a.read(a.ctx, a.Dir, storage.ReadOptions{FS: a.fs, Strict: true})
	if errors.Is(err, storage.ErrCorrupt) || errors.Is(err, storage.ErrTruncated) {
		return nil, damaged(err)
	}
	if err != nil {
		return nil, err
	}
	info := r.Info()
	if err = r.Close(); err != nil {
		return nil, err
	}
	for i := range info.Topics {
		a.topics = append(a.topics, info.Topics[i].Topic)
	}
	return info, nil
}

// ProfileOf returns the profile that has written a recording, or the nearest one.
func ProfileOf(m *Metadata) Profile {
	if p, ok := FindProfile(m.Distro); ok && m.Distro != "" && p.Version == m.Version {
		return p
	}
	best := profiles[0]
	for _, p := range profiles {
		if p.Version == m.Version {
			return p
		}
		if p.Version < m.Version && p.Version > best.Version {
			best = p
		}
	}
	return best
}

// free returns the least number from n on from which the names of parts are free.
func (s *Storage) free(fsys storage.FS, dir, folder string, n int) (int, error) {
	for {
		_, err := fsys.Stat(filepath.Join(dir, s.PartName(folder, n)))
		if errors.Is(err, fs.ErrNotExist) {
			return n, nil
		}
		if err != nil {
			return 0, err
		}
		n++
	}
}

// Distro returns what recording-level metadata new parts have.
func (a *Addition) Distro() map[string]string {
	if a.meta.Distro == "" {
		return nil
	}
	return map[string]string{storage.MetaDistro: a.meta.Distro}
}

// Continue checks a topic against the topics of the recording. A topic without profiles takes the
// profiles of the topic that it continues.
func (a *Addition) Continue(t *storage.Topic) error {
	if a == nil {
		return nil
	}
	return Continue(a.topics, t)
}

// Continue does the same with the topics of a recording.
func Continue(topics []storage.Topic, t *storage.Topic) error {
	var refused error
	for i := range topics {
		old := &topics[i]
		if old.Name != t.Name {
			continue
		}
		err := t.Continues(old)
		if err == nil {
			if len(t.QoS) == 0 {
				t.QoS = old.QoS
			}
			return nil
		}
		refused = err
	}
	return refused
}

// Extend returns the metadata of the recording with the metadata of the new parts.
func (a *Addition) Extend(more *Metadata) (*Metadata, error) {
	m := a.meta
	had := len(m.Topics)
	err := m.extend(more)
	a.empty = more.Messages == 0 && len(m.Topics) == had
	return m, err
}

// extend adds the metadata of parts that follow.
func (m *Metadata) extend(more *Metadata) error {
	if len(m.Files) == len(m.Paths) {
		m.Files = append(m.Files, more.Files...)
	}
	m.Paths = append(m.Paths, more.Paths...)
	switch {
	case more.Messages == 0:
	case m.Messages == 0:
		m.Start, m.Duration = more.Start, more.Duration
	default:
		end := max(m.Start+m.Duration, more.Start+more.Duration)
		m.Start = min(m.Start, more.Start)
		m.Duration = max(end-m.Start, 0)
	}
	m.Messages += more.Messages
	return m.AddTopics(more)
}

// AddTopics adds the topics of other metadata, their messages, and what is kept of new topics.
func (m *Metadata) AddTopics(more *Metadata) error {
	had := slices.Clone(m.Topics)
	for _, t := range more.Topics {
		i := slices.IndexFunc(m.Topics, func(o Topic) bool {
			return o.Name == t.Name && o.Type == t.Type &&
				o.Format == t.Format
		})
		if i >= 0 {
			m.Topics[i].Messages += t.Messages
			continue
		}
		m.Topics = append(m.Topics, t)
	}
	return m.extendCustom(more, had)
}

// extendCustom adds what is kept of the topics that are not in had.
func (m *Metadata) extendCustom(more *Metadata, had []Topic) error {
	value := more.Custom[CustomKey]
	if value == "" {
		return nil
	}
	var list []CustomTopic
	if old := m.Custom[CustomKey]; old != "" {
		var err error
		if list, err = DecodeCustom(old); err != nil {
			return fmt.Errorf("custom_data of the recording: %v: %w", err, storage.ErrCorrupt)
		}
	}
	added, err := DecodeCustom(value)
	if err != nil {
		return err
	}
	for _, c := range added {
		if !slices.ContainsFunc(had, func(t Topic) bool {
			return t.Name == c.Name && t.Type == c.Type &&
				t.Format == c.Encoding
		}) {
			list = append(list, c)
		}
	}
	if value, err = EncodeCustom(list); err != nil || value == "" {
		return err
	}
	if m.Custom == nil {
		m.Custom = map[string]string{}
	}
	m.Custom[CustomKey] = value
	return nil
}

// Commit moves the parts of these names and metadata.yaml from Out.Temp() into the folder.
// If nothing was added, it moves nothing. Before, the reader reads the recording as it will be, and must find
// all that it finds in it now. On error the recording is as it was.
func (a *Addition) Commit(names []string) (err error) {
	if a.empty {
		return a.Close()
	}
	from := a.Out.Temp()
	after := inplace.NewView(a.fs)
	for _, name := range append(slices.Clone(names), MetadataName) {
		after.Place(filepath.Join(a.Dir, name), filepath.Join(from, name))
	}
	if err := a.s.prove(a.ctx, a.fs, a.Dir, a.read, after, "make a sound copy first: bagconv recover IN OUT",
		true); err != nil {
		return err
	}
	moved := 0
	for ; err == nil && moved < len(names); moved++ {
		err = iox.RenameNew(a.fs, filepath.Join(from, names[moved]), filepath.Join(a.Dir, names[moved]))
		if err != nil {
			break
		}
	}
	if err == nil {
		err = a.syncDir()
	}
	if err == nil {
		err = a.fs.Rename(filepath.Join(from, MetadataName), filepath.Join(a.Dir, MetadataName))
	}
	if err != nil {
		for _, name := range names[:moved] {
			if e := iox.RenameNew(a.fs, filepath.Join(a.Dir, name), filepath.Join(from, name)); e != nil {
				err = errors.Join(err, e)
			}
		}
		return err
	}
	return errors.Join(a.syncDir(), a.Close())
}

func (a *Addition) syncDir() error {
	if !a.sync {
		return nil
	}
	return iox.SyncDir(a.fs, a.Dir)
}

// Close removes what was not moved, and unlocks the folder.
func (a *Addition) Close() error {
	var err error
	if a.Out != nil {
		err = a.Out.Abort()
	}
	if a.lock != nil {
		err = errors.Join(err, a.lock.Close())
		a.lock = nil
	}
	return err
}
