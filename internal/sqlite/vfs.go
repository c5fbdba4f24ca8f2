package sqlite

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"unsafe"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
	"modernc.org/libc"
	engine "modernc.org/sqlite/lib"
)

// A File is what the engine sees as its file.
type File interface {
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
	Size() (int64, error)
}

// Plain is a file as it is.
type Plain struct{ storage.File }

// Size returns the length of the file in bytes.
func (f Plain) Size() (int64, error) {
	st, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

// A vfs shows SQLite one database, whose bytes are a File. It is registered
// with SQLite under a name of its own, for one connection. The
// engine so never opens, locks or creates a file of the operating system:
// nothing can appear beside a source, and faults injected under a storage.FS
// reach the engine. https://www.sqlite.org/vfs.html describes the methods, here
// of version 1, which has no shared memory.
type vfs struct {
	Options // Budget is what is left of it

	name, c uintptr // C string, C sqlite3_vfs

	mu  sync.Mutex
	err error // the first error of file
}

// dbName is the name of the database within its vfs.
const dbName = "db"

// vfsFile is sqlite3_file as this vfs has it, in C memory.
type vfsFile struct {
	methods uintptr
	handle  uintptr // in open
}

// open are the files that SQLite has open, by handle. C memory cannot hold Go
// pointers.
var open struct {
	sync.RWMutex
	list []openFile
	free []uintptr
}

type openFile struct {
	vfs  *vfs
	file File
}

var (
	vfsOnce    sync.Once
	vfsMethods uintptr             // C sqlite3_io_methods
	vfsSystem  engine.Tsqlite3_vfs // SQLite's own; it is in the list that every registration changes
	vfsErr     error
)

// mem returns the C memory of n bytes at p.
func mem(p uintptr, n int) []byte {
	if n == 0 {
		return nil
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&p)), n)
}

// at returns the C value at p.
func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

// fn returns a Go function as a C function pointer. f must be a top-level function.
func fn[T any](f T) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

// calloc is n zero bytes of C memory.
func calloc(tls *libc.TLS, n uintptr) (uintptr, error) {
	p := engine.Xsqlite3_malloc64(tls, uint64(n))
	if p == 0 {
		return 0, errors.New("out of memory")
	}
	clear(mem(p, int(n)))
	return p, nil
}

// register makes v known to SQLite.
func (v *vfs) register(tls *libc.TLS) error {
	vfsOnce.Do(func() { vfsErr = initMethods(tls) })
	if vfsErr != nil {
		return vfsErr
	}
	c, err := calloc(tls, unsafe.Sizeof(engine.Tsqlite3_vfs{}))
	if err != nil {
		return err
	}
	if v.name, err = cString(tls, fmt.Sprintf("bagconv-%x", c)); err != nil {
		engine.Xsqlite3_free(tls, c)
		return err
	}
	handle := addOpen(openFile{vfs: v})
	m := at[engine.Tsqlite3_vfs](c)
	*m = vfsSystem // time, sleep, randomness
	m.FiVersion, m.FpNext = 1, 0
	m.FszOsFile, m.FmxPathname = int32(unsafe.Sizeof(vfsFile{})), 64
	m.FzName, m.FpAppData = v.name, handle
	m.FxOpen = fn(vfsOpen)
	m.FxDelete = fn(vfsDelete)
	m.FxAccess = fn(vfsAccess)
	m.FxFullPathname = fn(vfsFullPathname)
	v.c = c
	if rc := engine.Xsqlite3_vfs_register(tls, c, 0); rc != engine.SQLITE_OK {
		return fmt.Errorf("SQLite error %d", rc)
	}
	return nil
}

// unregister frees v once its connection is closed.
func (v *vfs) unregister(tls *libc.TLS) {
	if v.c == 0 {
		return
	}
	engine.Xsqlite3_vfs_unregister(tls, v.c)
	removeOpen(at[engine.Tsqlite3_vfs](v.c).FpAppData)
	engine.Xsqlite3_free(tls, v.c)
	engine.Xsqlite3_free(tls, v.name)
	v.c = 0
}

// fail keeps the first error and returns its number for SQLite.
func (v *vfs) fail(err error, rc int32) int32 {
	v.mu.Lock()
	if v.err == nil {
		v.err = err
	}
	v.mu.Unlock()
	return rc
}

// cause returns the first error of the file, or nil.
func (v *vfs) cause() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.err
}

func addOpen(f openFile) uintptr {
	open.Lock()
	defer open.Unlock()
	if n := len(open.free); n > 0 {
		h := open.free[n-1]
		open.free = open.free[:n-1]
		open.list[h] = f
		return h
	}
	open.list = append(open.list, f)
	return uintptr(len(open.list) - 1)
}

func removeOpen(h uintptr) {
	open.Lock()
	open.list[h] = openFile{}
	open.free = append(open.free, h)
	open.Unlock()
}

func getOpen(h uintptr) openFile {
	open.RLock()
	f := open.list[h]
	open.RUnlock()
	return f
}

func initMethods(tls *libc.TLS) error {
	system := engine.Xsqlite3_vfs_find(tls, 0)
	if system == 0 {
		return errors.New("SQLite has no file system")
	}
	vfsSystem = *at[engine.Tsqlite3_vfs](system)
	p, err := calloc(tls, unsafe.Sizeof(engine.Tsqlite3_io_methods{}))
	if err != nil {
		return err
	}
	*at[engine.Tsqlite3_io_methods](p) = engine.Tsqlite3_io_methods{
		FiVersion: 1,
		FxClose:   fn(fileClose), FxRead: fn(fileRead), FxWrite: fn(fileWrite), FxTruncate: fn(fileTruncate),
		FxSync: fn(fileSync), FxFileSize: fn(fileSize),
		FxLock: fn(fileLock), FxUnlock: fn(fileLock), FxCheckReservedLock: fn(fileCheckReservedLock),
		FxFileControl: fn(fileControl), FxSectorSize: fn(fileSectorSize), FxDeviceCharacteristics: fn(fileCharacteristics),
	}
	vfsMethods = p
	return nil
}

// vfsOpen opens the database, or the journal of a Rollback. There are no other files: a writer of a new
// database switches journals off, a reader has none, and what is sorted is little.
func vfsOpen(_ *libc.TLS, c, _, file uintptr, flags int32, outFlags uintptr) int32 {
	f := at[vfsFile](file)
	*f = vfsFile{}
	v := getOpen(at[engine.Tsqlite3_vfs](c).FpAppData).vfs
	shown := v.File
	switch {
	case flags&engine.SQLITE_OPEN_MAIN_JOURNAL != 0 && v.Rollback != nil:
		var err error
		if shown, err = v.Rollback.openJournal(flags); err != nil {
			return v.fail(err, engine.SQLITE_CANTOPEN)
		}
	case flags&engine.SQLITE_OPEN_MAIN_DB == 0:
		return engine.SQLITE_CANTOPEN
	}
	if outFlags != 0 {
		*at[int32](outFlags) = flags
		if v.ReadOnly {
			*at[int32](outFlags) = flags&^engine.SQLITE_OPEN_READWRITE | engine.SQLITE_OPEN_READONLY
		}
	}
	f.handle = addOpen(openFile{v, shown})
	f.methods = vfsMethods
	return engine.SQLITE_OK
}

func vfsDelete(_ *libc.TLS, c, name uintptr, syncFolder int32) int32 {
	v := getOpen(at[engine.Tsqlite3_vfs](c).FpAppData).vfs
	if v.Rollback == nil || !isJournal(name) {
		return engine.SQLITE_OK
	}
	if err := v.Rollback.removeJournal(syncFolder != 0); err != nil {
		return v.fail(err, engine.SQLITE_IOERR_DELETE)
	}
	return engine.SQLITE_OK
}

func vfsAccess(_ *libc.TLS, c, name uintptr, _ int32, out uintptr) int32 {
	*at[int32](out) = 0
	v := getOpen(at[engine.Tsqlite3_vfs](c).FpAppData).vfs
	if v.Rollback == nil || !isJournal(name) {
		return engine.SQLITE_OK
	}
	switch _, err := v.Rollback.FS.Stat(v.Rollback.Path + JournalSuffix); {
	case err == nil:
		*at[int32](out) = 1
	case !errors.Is(err, fs.ErrNotExist):
		return v.fail(err, engine.SQLITE_IOERR_ACCESS)
	}
	return engine.SQLITE_OK
}

func vfsFullPathname(_ *libc.TLS, _, name uintptr, n int32, out uintptr) int32 {
	s := libc.GoString(name)
	if len(s) >= int(n) {
		return engine.SQLITE_CANTOPEN
	}
	b := mem(out, len(s)+1)
	copy(b, s)
	b[len(s)] = 0
	return engine.SQLITE_OK
}

func fileClose(_ *libc.TLS, file uintptr) int32 {
	handle := at[vfsFile](file).handle
	o := getOpen(handle)
	removeOpen(handle)
	if journal, ok := o.file.(journalFile); ok {
		if err := journal.Close(); err != nil {
			return o.vfs.fail(err, engine.SQLITE_IOERR_CLOSE)
		}
	}
	return engine.SQLITE_OK
}

func fileRead(_ *libc.TLS, file, buf uintptr, n int32, off engine.Tsqlite3_int64) int32 {
	o := getOpen(at[vfsFile](file).handle)
	b := mem(buf, int(n))
	got, err := o.file.ReadAt(b, off)
	switch {
	case got == len(b):
		return engine.SQLITE_OK
	case err == nil || errors.Is(err, io.EOF):
		clear(b[got:])
		return engine.SQLITE_IOERR_SHORT_READ
	}
	return o.vfs.fail(err, engine.SQLITE_IOERR_READ)
}

func fileWrite(_ *libc.TLS, file, buf uintptr, n int32, off engine.Tsqlite3_int64) int32 {
	o := getOpen(at[vfsFile](file).handle)
	if _, err := o.file.WriteAt(mem(buf, int(n)), off); err != nil {
		return o.vfs.fail(err, engine.SQLITE_IOERR_WRITE)
	}
	return engine.SQLITE_OK
}

func fileTruncate(_ *libc.TLS, file uintptr, size engine.Tsqlite3_int64) int32 {
	o := getOpen(at[vfsFile](file).handle)
	if err := o.file.Truncate(size); err != nil {
		return o.vfs.fail(err, engine.SQLITE_IOERR_TRUNCATE)
	}
	return engine.SQLITE_OK
}

// fileSync is for a Rollback: who writes a new file syncs it when it is finished.
func fileSync(_ *libc.TLS, file uintptr, _ int32) int32 {
	o := getOpen(at[vfsFile](file).handle)
	f, ok := o.file.(interface{ Sync() error })
	if !ok || o.vfs.Rollback == nil || o.vfs.Rollback.NoSync {
		return engine.SQLITE_OK
	}
	if err := iox.Sync(f); err != nil {
		return o.vfs.fail(err, engine.SQLITE_IOERR_FSYNC)
	}
	return engine.SQLITE_OK
}

func fileSize(_ *libc.TLS, file, out uintptr) int32 {
	o := getOpen(at[vfsFile](file).handle)
	n, err := o.file.Size()
	if err != nil {
		return o.vfs.fail(err, engine.SQLITE_IOERR_FSTAT)
	}
	*at[int64](out) = n
	return engine.SQLITE_OK
}

func fileLock(*libc.TLS, uintptr, int32) int32 { return engine.SQLITE_OK }

func fileCheckReservedLock(_ *libc.TLS, _, out uintptr) int32 {
	*at[int32](out) = 0
	return engine.SQLITE_OK
}

func fileControl(*libc.TLS, uintptr, int32, uintptr) int32 { return engine.SQLITE_NOTFOUND }

// fileSectorSize is what SQLite writes at least, as a whole, because a torn write could damage it.
func fileSectorSize(*libc.TLS, uintptr) int32 { return 4096 }

// fileCharacteristics is immutable for what is only read: SQLite then takes
// no locks and looks for no journal.
func fileCharacteristics(_ *libc.TLS, file uintptr) int32 {
	if o := getOpen(at[vfsFile](file).handle); o.vfs.ReadOnly {
		return engine.SQLITE_IOCAP_IMMUTABLE
	}
	return 0
}

// progress is called after each thousand steps of a connection with a budget.
// It stops trees whose pages are reached on many ways: they have more rows than
// any file could hold.
func progress(_ *libc.TLS, handle uintptr) int32 {
	v := getOpen(handle).vfs
	if v.Budget--; v.Budget <= 0 {
		return 1
	}
	return 0
}

// cString copies s into C memory, with a zero after it.
func cString(tls *libc.TLS, s string) (uintptr, error) {
	p, err := calloc(tls, uintptr(len(s)+1))
	if err != nil {
		return 0, err
	}
	copy(mem(p, len(s)), s)
	return p, nil
}
