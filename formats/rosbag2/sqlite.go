package rosbag2

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/bagconv/bagconv/storage"
	"modernc.org/libc"
	engine "modernc.org/sqlite/lib"
)

// A db is a connection to an SQLite database: the part of the C API that this
// package needs, as Go. It is used by one goroutine at a time. A panic of the
// translated C code (it may come from a hostile file) is turned into an error
// that wraps storage.ErrCorrupt, and the connection is not used again.
type db struct {
	tls  *libc.TLS
	vfs  *vfs
	c    uintptr // sqlite3*
	dead bool
}

// sqliteStatic says that SQLite need not copy a bound value.
const sqliteStatic = uintptr(0)

// openDB registers v and opens its database.
func openDB(v *vfs) (d *db, err error) {
	d = &db{tls: libc.NewTLS(), vfs: v}
	defer func() {
		if err != nil {
			_ = d.close()
		}
	}()
	defer d.recovered(&err)
	if err := v.register(d.tls); err != nil {
		return d, err
	}
	name, err := cString(d.tls, dbName)
	if err != nil {
		return d, err
	}
	defer engine.Xsqlite3_free(d.tls, name)
	pp, err := calloc(d.tls, unsafe.Sizeof(uintptr(0)))
	if err != nil {
		return d, err
	}
	defer engine.Xsqlite3_free(d.tls, pp)
	flags := int32(engine.SQLITE_OPEN_NOMUTEX | engine.SQLITE_OPEN_READWRITE | engine.SQLITE_OPEN_CREATE)
	if v.readOnly {
		flags = engine.SQLITE_OPEN_NOMUTEX | engine.SQLITE_OPEN_READONLY
	}
	rc := engine.Xsqlite3_open_v2(d.tls, name, pp, flags, v.name)
	d.c = *at[uintptr](pp)
	if rc != engine.SQLITE_OK {
		return d, d.error(rc)
	}
	if v.budget > 0 {
		engine.Xsqlite3_progress_handler(d.tls, d.c, 1000, fn(progress), at[engine.Tsqlite3_vfs](v.c).FpAppData)
	}
	if v.readOnly {
		// Nothing of a file's schema may act: no triggers, no views, no
		// functions, no virtual tables with side effects.
		for _, op := range []int32{engine.SQLITE_DBCONFIG_DEFENSIVE, engine.SQLITE_DBCONFIG_TRUSTED_SCHEMA} {
			on := int32(0)
			if op == engine.SQLITE_DBCONFIG_DEFENSIVE {
				on = 1
			}
			va := libc.NewVaList(on, uintptr(0))
			engine.Xsqlite3_db_config(d.tls, d.c, op, va)
			libc.Xfree(d.tls, va)
		}
		engine.Xsqlite3_limit(d.tls, d.c, engine.SQLITE_LIMIT_LENGTH, int32(min(max(v.maxValue, 1<<20), maxRow)))
	}
	return d, nil
}

// close frees the connection and its vfs. Its statements must be finalized before.
func (d *db) close() (err error) {
	defer d.recovered(&err)
	if d.c != 0 && !d.dead {
		if rc := engine.Xsqlite3_close_v2(d.tls, d.c); rc != engine.SQLITE_OK {
			err = d.error(rc)
		}
		d.c = 0
	}
	if d.tls != nil && !d.dead {
		d.vfs.unregister(d.tls)
		d.tls.Close()
		d.tls = nil
	}
	d.dead = true
	return err
}

// recovered turns a panic of the engine into an error.
func (d *db) recovered(err *error) {
	if p := recover(); p != nil {
		d.dead = true
		*err = fmt.Errorf("the SQLite engine gave up (%v): %w", p, storage.ErrCorrupt)
	}
}

var errDead = fmt.Errorf("the SQLite connection is closed: %w", storage.ErrCorrupt)

// error describes rc, which is not SQLITE_OK.
func (d *db) error(rc int32) error {
	msg := fmt.Sprintf("SQLite error %d", rc)
	if d.c != 0 {
		if s := libc.GoString(engine.Xsqlite3_errmsg(d.tls, d.c)); s != "" && s != "not an error" {
			msg = "SQLite: " + s
		}
	}
	if err := d.vfs.cause(); err != nil { // SQLite may take a failed read for a broken file
		return fmt.Errorf("%s: %w", msg, err)
	}
	switch rc & 0xff {
	case engine.SQLITE_CORRUPT, engine.SQLITE_NOTADB, engine.SQLITE_FORMAT:
		return fmt.Errorf("%s: %w", msg, storage.ErrCorrupt)
	case engine.SQLITE_TOOBIG:
		return fmt.Errorf("%s: %w", msg, storage.ErrUnsupported)
	}
	if d.vfs.readOnly {
		return fmt.Errorf("%s: %w", msg, storage.ErrCorrupt)
	}
	return errors.New(msg)
}

// exec runs statements that give no rows that matter.
func (d *db) exec(sql string) (err error) {
	if d.dead {
		return errDead
	}
	defer d.recovered(&err)
	p, err := cString(d.tls, sql)
	if err != nil {
		return err
	}
	defer engine.Xsqlite3_free(d.tls, p)
	if rc := engine.Xsqlite3_exec(d.tls, d.c, p, 0, 0, 0); rc != engine.SQLITE_OK {
		return d.error(rc)
	}
	return nil
}

// A stmt is a prepared statement.
type stmt struct {
	db    *db
	c     uintptr // sqlite3_stmt*
	buf   uintptr // C memory of the bound blob
	cap   int
	texts []uintptr // C memory of bound texts
}

// prepare compiles one statement.
func (d *db) prepare(sql string) (s *stmt, err error) {
	if d.dead {
		return nil, errDead
	}
	defer d.recovered(&err)
	p, err := cString(d.tls, sql)
	if err != nil {
		return nil, err
	}
	defer engine.Xsqlite3_free(d.tls, p)
	pp, err := calloc(d.tls, unsafe.Sizeof(uintptr(0)))
	if err != nil {
		return nil, err
	}
	defer engine.Xsqlite3_free(d.tls, pp)
	if rc := engine.Xsqlite3_prepare_v2(d.tls, d.c, p, -1, pp, 0); rc != engine.SQLITE_OK {
		return nil, d.error(rc)
	}
	return &stmt{db: d, c: *at[uintptr](pp)}, nil
}

// query runs sql and calls row for each row of the result.
func (d *db) query(sql string, row func(s *stmt) error, args ...any) error {
	s, err := d.prepare(sql)
	if err != nil {
		return err
	}
	defer s.finalize()
	if err := s.bind(args...); err != nil {
		return err
	}
	for {
		more, err := s.step()
		if err != nil || !more {
			return err
		}
		if err := row(s); err != nil {
			return err
		}
	}
}

// run executes sql with its arguments.
func (d *db) run(sql string, args ...any) error {
	return d.query(sql, func(*stmt) error { return nil }, args...)
}

// bind binds int64 and string values to parameters 1, 2, ...
func (s *stmt) bind(args ...any) error {
	for i, a := range args {
		var err error
		switch a := a.(type) {
		case int64:
			err = s.bindInt(i+1, a)
		case string:
			err = s.bindText(i+1, a)
		default:
			panic(fmt.Sprintf("internal error: rosbag2: a %T cannot be bound", a))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *stmt) bindInt(i int, v int64) error {
	return s.check(engine.Xsqlite3_bind_int64(s.db.tls, s.c, int32(i), v))
}

// bindText binds a copy of v that lives as long as the statement, so that SQLite makes
// no other.
func (s *stmt) bindText(i int, v string) error {
	p, err := cString(s.db.tls, v)
	if err != nil {
		return err
	}
	s.texts = append(s.texts, p)
	return s.check(engine.Xsqlite3_bind_text(s.db.tls, s.c, int32(i), p, int32(len(v)), sqliteStatic))
}

// bindBlob binds the statement's one blob. v is copied into memory of the
// statement, which is used again; SQLite makes no second copy. (SQLite cannot
// be given v itself: its memory is the Go runtime's.)
func (s *stmt) bindBlob(i int, v []byte) error {
	if len(v) > s.cap || s.buf == 0 {
		n := max(len(v)+len(v)/4, 4096)
		engine.Xsqlite3_free(s.db.tls, s.buf)
		s.cap = 0
		if s.buf = engine.Xsqlite3_malloc64(s.db.tls, uint64(n)); s.buf == 0 {
			return errors.New("out of memory")
		}
		s.cap = n
	}
	copy(mem(s.buf, len(v)), v)
	return s.check(engine.Xsqlite3_bind_blob(s.db.tls, s.c, int32(i), s.buf, int32(len(v)), sqliteStatic))
}

func (s *stmt) check(rc int32) error {
	if rc != engine.SQLITE_OK {
		return s.db.error(rc)
	}
	return nil
}

// step moves to the next row; false is the end.
func (s *stmt) step() (more bool, err error) {
	if s.db.dead {
		return false, errDead
	}
	defer s.db.recovered(&err)
	switch rc := engine.Xsqlite3_step(s.db.tls, s.c); rc {
	case engine.SQLITE_ROW:
		return true, nil
	case engine.SQLITE_DONE:
		return false, nil
	default:
		return false, s.db.error(rc)
	}
}

// reset makes the statement ready to run again, with its bindings.
func (s *stmt) reset() {
	if !s.db.dead {
		engine.Xsqlite3_reset(s.db.tls, s.c)
	}
}

func (s *stmt) finalize() {
	if s.db.dead {
		return
	}
	engine.Xsqlite3_finalize(s.db.tls, s.c)
	engine.Xsqlite3_free(s.db.tls, s.buf)
	for _, p := range s.texts {
		engine.Xsqlite3_free(s.db.tls, p)
	}
	s.c, s.buf, s.cap, s.texts = 0, 0, 0, nil
}

func (s *stmt) int(col int) int64 { return engine.Xsqlite3_column_int64(s.db.tls, s.c, int32(col)) }

func (s *stmt) kind(col int) int32 { return engine.Xsqlite3_column_type(s.db.tls, s.c, int32(col)) }

// bytes is a blob or text in SQLite's memory, valid until the next step. It
// may fail for want of memory, which gives nil for a value with a length.
func (s *stmt) bytes(col int) []byte {
	p := engine.Xsqlite3_column_blob(s.db.tls, s.c, int32(col))
	if p == 0 {
		return nil
	}
	return mem(p, int(engine.Xsqlite3_column_bytes(s.db.tls, s.c, int32(col))))
}

func (s *stmt) text(col int) string { return string(s.bytes(col)) }

// one gives the first column of the first row as an integer; ok is false when
// there is no row or the value is NULL.
func (d *db) one(sql string, args ...any) (v int64, ok bool, err error) {
	err = d.query(sql, func(s *stmt) error {
		if !ok {
			v, ok = s.int(0), s.kind(0) != engine.SQLITE_NULL
		}
		return nil
	}, args...)
	return v, ok, err
}
