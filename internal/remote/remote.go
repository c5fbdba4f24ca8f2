package remote

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// An FS is the file system of names that are URLs.
type FS struct {
	*shelf
	ctx context.Context // of all requests
}

// A shelf is what the users of an FS have in common.
type shelf struct {
	link *link
	pool pool

	mu        sync.Mutex
	stores    map[string]store  // by scheme, host and mark
	caches    map[string]*cache // of the last version, by name
	drafts    map[string]*draft // that have no place yet, by name
	dirs      map[string]bool   // that were made
	sightings map[any]sighting  // what stood at a name lately, and what was in a folder, by listing

	told sync.Map // notes

	scratch scratch
	sending chan struct{} // has an element for each part of a draft that is on its way

	dead []deadUpload // uploads of dead processes, whose parts are objects

	ledger ledger
}

// New returns a file system whose requests end with ctx. The settings may change until the first
// name is asked for.
func New(ctx context.Context, s *Settings) *FS {
	r := &FS{&shelf{link: newLink(ctx, s), sending: make(chan struct{}, sending), stores: map[string]store{},
		caches: map[string]*cache{}, drafts: map[string]*draft{}, dirs: map[string]bool{}, sightings: map[any]sighting{}},
		iox.WithMeter(ctx, s.Meter)}
	r.scratch.link, r.scratch.note = r.link, r.note
	return r
}

// Metered returns the same file system, with another Meter. See iox.Metered.
func (r *FS) Metered(m *iox.Meter) storage.FS { return &FS{r.shelf, iox.WithMeter(r.ctx, m)} }

// open returns the store and the key of a name.
func (r *FS) open(s string) (store, name, error) {
	n, err := parse(s)
	if err != nil {
		return nil, n, err
	}
	r.link.ready()
	id := n.scheme + "\x00" + n.host + "\x00" + n.mark
	r.mu.Lock()
	defer r.mu.Unlock()
	if st := r.stores[id]; st != nil {
		return st, n, nil
	}
	st, err := r.connect(&n)
	if err == nil {
		r.stores[id] = st
	}
	return st, n, err
}

// connect makes the store of a name.
func (r *FS) connect(n *name) (store, error) {
	switch n.scheme {
	case "http", "https":
		w := &web{link: r.link, scheme: n.scheme, host: n.host, listings: r.link.settings.Listings}
		if s, ok := secrets.Load(strings.TrimSuffix(n.mark, "/")); ok {
			w.secret = s.(secret)
		}
		return w, nil
	}
	if n.scheme == "s3" {
		return newBucket(r.link, n.host)
	}
	return cloud(r.link, n)
}

// fail returns an error about a name.
func (r *FS) fail(op, s string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, errWrite) { // the name would be one of a staging folder
		return err
	}
	return &fs.PathError{Op: op, Path: Show(iox.FinalPath(s)), Err: err}
}

// look finds what stands at a name, and the cache of an object.
func (r *FS) look(s string) (*info, *cache, error) {
	st, n, err := r.open(s)
	if err != nil {
		return nil, nil, err
	}
	i := &info{where: n.file(n.path), base: path.Base("/" + n.path)}
	if n.path == "" {
		i.base, i.dir = n.host, true
		return i, nil, nil
	}
	if d, dir := r.drafted(i.where); d != nil {
		return d.info(), nil, nil
	} else if dir {
		i.dir = true
		return i, nil, nil
	}
	epoch := r.link.epoch.Load()
	if s, ok := r.recall(i.where, epoch); ok {
		return s.info, s.cache, s.err
	}
	c, err := r.ask(st, n, i)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		r.remember(i.where, sighting{info: i, cache: c, err: err, epoch: epoch, at: time.Now()})
	}
	return i, c, err
}

// A sighting is what was found at a name, or in a folder.
type sighting struct {
	info    *info
	cache   *cache
	err     error
	entries []entry
	epoch   int64 // see link.epoch
	at      time.Time
}

// A listing is the key of what was found in a folder.
type listing struct {
	store store
	dir   string
}

// recallTime is for how long what was seen is taken for what is there, unless a request of this process
// changes something: finding out the format of a recording, and whether an output may be written,
// looks at the same names again and again. Reading is of the version that was seen, and the last
// request of an output has a condition.
const recallTime = 2 * time.Second

// Refresh forgets all that was seen. See iox.Refresh.
func (r *FS) Refresh() { r.link.epoch.Add(1) }

func (r *FS) recall(name any, epoch int64) (s sighting, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok = r.sightings[name]
	return s, ok && s.epoch == epoch && time.Since(s.at) < recallTime
}

func (r *FS) remember(name any, s sighting) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.sightings) > 1000 {
		clear(r.sightings)
	}
	r.sightings[name] = s
}

// ask asks a store what stands at a name, and completes the info.
func (r *FS) ask(st store, n name, i *info) (*cache, error) {
	var first []byte
	err := r.link.do(r.ctx, func(ctx context.Context) (_ bool, err error) {
		i.object, first, err = st.head(ctx, n.path)
		return false, err
	})
	if err == nil {
		c := r.cacheOf(i, n.path, st)
		c.put(first)
		return c, nil
	}
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
		return nil, err
	}
	if there, listErr := r.isFolder(st, n.path+"/"); listErr != nil || !there {
		return nil, err
	}
	i.object, i.dir = object{}, true
	return nil, nil
}

// isFolder reports whether something is in a folder, besides parts of objects that are not whole.
func (r *FS) isFolder(st store, dir string) (bool, error) {
	for _, few := range []bool{true, false} {
		entries, err := r.list(st, dir, few)
		if err != nil || len(entries) == 0 {
			return false, err
		}
		if slices.ContainsFunc(entries, func(e entry) bool { return !iox.IsTemp(e.name) }) {
			return true, nil
		}
	}
	return false, nil
}

// drafted returns the draft at a name that is not an object yet, or whether a folder was made there.
func (r *FS) drafted(name string) (*draft, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.drafts[name]
	if d != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.staged != nil {
			return nil, false
		}
	}
	return d, r.dirs[name]
}

// list lists a folder. Of a store that cannot be written to, a list is kept for a moment.
func (r *FS) list(st store, dir string, few bool) (entries []entry, err error) {
	id := listing{st, dir}
	if _, writable := st.(sink); !writable {
		epoch := r.link.epoch.Load()
		if s, ok := r.recall(id, epoch); ok {
			return s.entries, nil
		}
		defer func() {
			if err == nil {
				r.remember(id, sighting{entries: entries, epoch: epoch, at: time.Now()})
			}
		}()
	}
	err = r.link.do(r.ctx, func(ctx context.Context) (_ bool, err error) {
		entries, err = st.list(ctx, dir, few)
		return false, err
	})
	return entries, err
}

// cacheOf returns the cache of an object in a version.
func (r *FS) cacheOf(i *info, key string, st store) *cache {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.caches[i.where]
	if c == nil || c.object != i.object {
		c = &cache{pool: &r.pool, link: r.link, store: st, key: key, object: i.object, blocks: map[int64]*run{}}
		if len(r.caches) > 10_000 {
			clear(r.caches) // files that are open keep theirs
		}
		r.caches[i.where] = c
	}
	return c
}

// Open opens an object or a folder for reading.
func (r *FS) Open(s string) (storage.File, error) {
	i, c, err := r.look(s)
	if err == nil && c == nil && !i.dir {
		err = errWriting
	}
	if err != nil {
		return nil, r.fail("open", s, err)
	}
	return &file{fs: r, name: filepath.Clean(s), info: i, cache: c}, nil
}

// Stat describes what stands at a name.
func (r *FS) Stat(s string) (os.FileInfo, error) {
	i, _, err := r.look(s)
	if err != nil {
		return nil, r.fail("stat", s, err)
	}
	return i, nil
}

// ReadDir lists a folder, by name.
func (r *FS) ReadDir(s string) ([]os.DirEntry, error) {
	st, n, err := r.open(s)
	if err != nil {
		return nil, r.fail("list", s, err)
	}
	dir := n.path
	if dir != "" {
		dir += "/"
	}
	where := n.file(n.path)
	if entries := r.draftsIn(where); iox.FinalPath(filepath.Join(where, "x")) != filepath.Join(where, "x") {
		return entries, nil
	}
	entries, err := r.list(st, dir, false)
	if _, made := r.drafted(where); err == nil && len(entries) == 0 && dir != "" && !made {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, r.fail("list", s, err)
	}
	list := make([]os.DirEntry, 0, len(entries))
	for _, e := range entries {
		if e.name == "" || e.name == "." || e.name == ".." {
			r.note(Show(s) + ": keys that begin with " + dir + e.name + "/ or are " + dir + e.name +
				" are left out, because a path has no empty parts and none of dots")
			continue
		}
		list = append(list, fs.FileInfoToDirEntry(&info{where: n.file(dir + e.name), base: e.name, dir: e.dir,
			object: e.object}))
	}
	return list, nil
}

// note passes on what may surprise, once.
func (r *FS) note(text string) {
	if _, told := r.told.LoadOrStore(text, true); !told && r.link.settings.Note != nil {
		r.link.settings.Note(text)
	}
}

// draftsIn lists what is drafted in a folder.
func (r *FS) draftsIn(dir string) (list []os.DirEntry) {
	seen := map[string]*info{}
	for _, d := range r.below(dir) {
		rest := strings.TrimPrefix(d.name, dir+string(filepath.Separator))
		base, _, deep := strings.Cut(rest, string(filepath.Separator))
		if i := d.info(); deep {
			seen[base] = &info{where: filepath.Join(dir, base), base: base, dir: true}
		} else {
			seen[base] = i
		}
	}
	for _, base := range slices.Sorted(maps.Keys(seen)) {
		list = append(list, fs.FileInfoToDirEntry(seen[base]))
	}
	return list
}

// Close gives up what has no place, and ends the leases of the run.
func (r *FS) Close() {
	r.mu.Lock()
	drafts := slices.Collect(maps.Values(r.drafts))
	r.mu.Unlock()
	for _, d := range drafts {
		_ = errors.Join(d.abort(), r.unstage(d)) // the ledger has what is left
	}
	r.mu.Lock()
	dead := r.dead
	r.mu.Unlock()
	for _, d := range dead {
		_ = r.giveUp(d.sink, d.key, d.id) // again, see deadUpload; if it fails, its lease ends one day
	}
	r.ledger.close()
	r.scratch.close()
}
