package sqlite

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/bagconv/bagconv/storage"
	"modernc.org/libc"
	engine "modernc.org/sqlite/lib"
)

// A DB is a connection to an SQLite database: the part of the C API that is
// needed here, as Go. It is used by one goroutine at a time. A panic of the
// translated C code (it may come from a hostile file) is turned into an error
// that wraps storage.ErrCorrupt, and the connection is not used again.
type DB struct {
	tls  *libc.TLS
	vfs  *vfs
	c    uintptr // sqlite3*
	dead bool
}

// sqliteStatic means that SQLite need not copy a bound value.
const sqliteStatic = uintptr(0)

// Options are what a connection works on.
type Options struct {
	File     File      // the database
	ReadOnly bool      // nothing is written, and nothing in the schema of the file is run
	Foreign  bool      // nothing in the schema is run, as for ReadOnly, and it may be changed
	MaxValue int64     // of a text or blob that is read, in bytes; for ReadOnly
	Budget   int64     // thousands of steps after which the connection stops; 0: any number
	Rollback *Rollback // of changes in the file of a database; nil: there is no journal
}

// Open opens the database. Close frees the connection; the files stay the caller's.
func Open(o Options) (d *DB, err error) {
	v := &vfs{Options: o}
	d = &DB{tls: libc.NewTLS(), vfs: v}
	defer func() {
		if err != nil {
			_ = d.Close()
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
	if v.ReadOnly {
		flags = engine.SQLITE_OPEN_NOMUTEX | engine.SQLITE_OPEN_READONLY
	}
	rc := engine.Xsqlite3_open_v2(d.tls, name, pp, flags, v.name)
	d.c = *at[uintptr](pp)
	if rc != engine.SQLITE_OK {
		return d, d.error(rc)
	}
	if v.Budget > 0 {
		engine.Xsqlite3_progress_handler(d.tls, d.c, 1000, fn(progress), at[engine.Tsqlite3_vfs](v.c).FpAppData)
	}
	if v.ReadOnly || v.Foreign {
		d.distrust()
	}
	if v.ReadOnly {
		engine.Xsqlite3_limit(d.tls, d.c, engine.SQLITE_LIMIT_LENGTH, int32(min(max(v.MaxValue, 1<<20), MaxRow)))
	}
	return d, nil
}

// distrust lets nothing of the schema of a file act: no triggers, no views, no functions, no
// virtual tables with side effects.
func (d *DB) distrust() {
	config := map[int32]int32{engine.SQLITE_DBCONFIG_TRUSTED_SCHEMA: 0, engine.SQLITE_DBCONFIG_ENABLE_TRIGGER: 0}
	if d.vfs.ReadOnly {
		config[engine.SQLITE_DBCONFIG_DEFENSIVE] = 1
	}
	for op, on := range config {
		va := libc.NewVaList(on, uintptr(0))
		engine.Xsqlite3_db_config(d.tls, d.c, op, va)
		libc.Xfree(d.tls, va)
	}
}

// Dead reports whether the engine gave up, or the connection is closed.
func (d *DB) Dead() bool { return d.dead }

// Close frees the connection and its vfs. Its statements must be finalized before.
func (d *DB) Close() (err error) {
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
func (d *DB) recovered(err *error) {
	if p := recover(); p != nil {
		d.dead = true
		*err = fmt.Errorf("the SQLite engine gave up (%v): %w", p, storage.ErrCorrupt)
	}
}

var errDead = fmt.Errorf("the SQLite connection is closed: %w", storage.ErrCorrupt)

// error describes rc, which is not SQLITE_OK.
func (d *DB) error(rc int32) error {
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
	if d.vfs.ReadOnly {
		return fmt.Errorf("%s: %w", msg, storage.ErrCorrupt)
	}
	return errors.New(msg)
}

// Exec runs statements whose rows do not matter.
func (d *DB) Exec(sql string) (err error) {
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

// A Stmt is a prepared statement.
type Stmt struct {
	db     *DB
	c      uintptr   // sqlite3_stmt*
	values []uintptr // C memory of bound texts and blobs
}

// Prepare compiles one statement.
func (d *DB) Prepare(sql string) (s *Stmt, err error) {
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
	return &Stmt{db: d, c: *at[uintptr](pp)}, nil
}

// Query runs sql and calls row for each row of the result.
func (d *DB) Query(sql string, row func(s *Stmt) error, args ...any) error {
	s, err := d.Prepare(sql)
	if err != nil {
		return err
	}
	defer s.Finalize()
	if err := s.Bind(args...); err != nil {
		return err
	}
	for {
		more, err := s.Step()
		if err != nil || !more {
			return err
		}
		if err := row(s); err != nil {
			return err
		}
	}
}

// Run executes sql with its arguments.
func (d *DB) Run(sql string, args ...any) error {
	return d.Query(sql, func(*Stmt) error { return nil }, args...)
}

// Bind binds nil, int64, float64, string and []byte values to parameters 1, 2, ... of a statement that
// is not running. Texts and blobs are copied into memory of the statement.
func (s *Stmt) Bind(args ...any) error {
	if len(s.values) > 0 {
		engine.Xsqlite3_clear_bindings(s.db.tls, s.c)
		s.free()
	}
	for i, a := range args {
		var err error
		switch a := a.(type) {
		case nil:
			err = s.check(engine.Xsqlite3_bind_null(s.db.tls, s.c, int32(i+1)))
		case int64:
			err = s.check(engine.Xsqlite3_bind_int64(s.db.tls, s.c, int32(i+1), a))
		case float64:
			err = s.check(engine.Xsqlite3_bind_double(s.db.tls, s.c, int32(i+1), a))
		case string:
			var p uintptr
			if p, err = s.copy(a); err == nil {
				err = s.check(engine.Xsqlite3_bind_text(s.db.tls, s.c, int32(i+1), p, int32(len(a)), sqliteStatic))
			}
		case []byte:
			var p uintptr
			if p, err = s.copy(string(a)); err == nil {
				err = s.check(engine.Xsqlite3_bind_blob(s.db.tls, s.c, int32(i+1), p, int32(len(a)), sqliteStatic))
			}
		default:
			panic(fmt.Sprintf("internal error: sqlite: a %T cannot be bound", a))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copy keeps v in C memory until other values are bound, so that SQLite makes no other
// copy. (It cannot use v itself: its memory is the Go runtime's.)
func (s *Stmt) copy(v string) (uintptr, error) {
	p, err := cString(s.db.tls, v)
	if err == nil {
		s.values = append(s.values, p)
	}
	return p, err
}

// free frees the memory of bound values.
func (s *Stmt) free() {
	for _, p := range s.values {
		engine.Xsqlite3_free(s.db.tls, p)
	}
	s.values = s.values[:0]
}

func (s *Stmt) check(rc int32) error {
	if rc != engine.SQLITE_OK {
		return s.db.error(rc)
	}
	return nil
}

// Step moves to the next row; false is the end.
func (s *Stmt) Step() (more bool, err error) {
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

// Reset makes the statement ready to run again, with its bindings.
func (s *Stmt) Reset() {
	if !s.db.dead {
		engine.Xsqlite3_reset(s.db.tls, s.c)
	}
}

// Finalize frees the statement.
func (s *Stmt) Finalize() {
	if s.db.dead {
		return
	}
	engine.Xsqlite3_finalize(s.db.tls, s.c)
	s.free()
	s.c = 0
}

// Int returns the value in column col of the current row as an integer.
func (s *Stmt) Int(col int) int64 { return engine.Xsqlite3_column_int64(s.db.tls, s.c, int32(col)) }

// IsInt reports whether the value is an integer.
func (s *Stmt) IsInt(col int) bool { return s.kind(col) == engine.SQLITE_INTEGER }

// IsNull reports whether the value is NULL.
func (s *Stmt) IsNull(col int) bool { return s.kind(col) == engine.SQLITE_NULL }

// Float returns the value in column col of the current row as a number.
func (s *Stmt) Float(col int) float64 {
	return engine.Xsqlite3_column_double(s.db.tls, s.c, int32(col))
}

func (s *Stmt) kind(col int) int32 { return engine.Xsqlite3_column_type(s.db.tls, s.c, int32(col)) }

// Bytes returns a blob or text in SQLite's memory, valid until the next step. It
// returns nil for a value with a length if there is no memory for it.
func (s *Stmt) Bytes(col int) []byte {
	p := engine.Xsqlite3_column_blob(s.db.tls, s.c, int32(col))
	if p == 0 {
		return nil
	}
	return mem(p, int(engine.Xsqlite3_column_bytes(s.db.tls, s.c, int32(col))))
}

// Text returns a copy of a blob or text.
func (s *Stmt) Text(col int) string { return string(s.Bytes(col)) }

// One returns the first column of the first row as an integer; ok is false when
// there is no row or the value is NULL.
func (d *DB) One(sql string, args ...any) (v int64, ok bool, err error) {
	err = d.Query(sql, func(s *Stmt) error {
		if !ok {
			v, ok = s.Int(0), !s.IsNull(0)
		}
		return nil
	}, args...)
	return v, ok, err
}
