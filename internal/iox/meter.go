package iox

import (
	"context"
	"io"
	"sync/atomic"

	"github.com/bagconv/bagconv/storage"
)

// A Meter counts what is read and written through a file system of Metered, or with a context of
// WithMeter. It may be used from several goroutines; a nil Meter counts nothing.
type Meter struct {
	whole                            *Meter // that this one is a part of, or nil
	read, written, requests, retries atomic.Int64
}

// Counts are what a Meter has counted. Bytes are of files on this machine and in stores;
// bytes of retries count, too.
type Counts struct {
	Read     int64 `json:"bytes_read"`
	Written  int64 `json:"bytes_written"`
	Requests int64 `json:"requests"` // to stores
	Retries  int64 `json:"retries"`  // of requests
}

// Part returns a Meter whose counts are also counts of m.
func (m *Meter) Part() *Meter { return &Meter{whole: m} }

// Counts returns what has been counted so far.
func (m *Meter) Counts() Counts {
	if m == nil {
		return Counts{}
	}
	return Counts{Read: m.read.Load(), Written: m.written.Load(), Requests: m.requests.Load(), Retries: m.retries.Load()}
}

// AddRead counts n bytes that were read.
func (m *Meter) AddRead(n int64) {
	for ; m != nil; m = m.whole {
		m.read.Add(n)
	}
}

// AddWritten counts n bytes that were written.
func (m *Meter) AddWritten(n int64) {
	for ; m != nil; m = m.whole {
		m.written.Add(n)
	}
}

// AddRequest counts a request.
func (m *Meter) AddRequest() {
	for ; m != nil; m = m.whole {
		m.requests.Add(1)
	}
}

// AddRetry counts a repetition of a request.
func (m *Meter) AddRetry() {
	for ; m != nil; m = m.whole {
		m.retries.Add(1)
	}
}

// Plus returns the sum of two counts.
func (c Counts) Plus(d Counts) Counts {
	return Counts{Read: c.Read + d.Read, Written: c.Written + d.Written, Requests: c.Requests + d.Requests,
		Retries: c.Retries + d.Retries}
}

type meterKey struct{}

// WithMeter returns a context with m, for which a store counts.
func WithMeter(ctx context.Context, m *Meter) context.Context {
	return context.WithValue(ctx, meterKey{}, m)
}

// MeterOf returns the Meter of a context, nil if there is none.
func MeterOf(ctx context.Context) *Meter {
	m, _ := ctx.Value(meterKey{}).(*Meter)
	return m
}

// Metered is fsys with a Meter of what is read and written through it. It has no effect on other
// file systems than OS, stores, and what Join makes of these.
func Metered(fsys storage.FS, m *Meter) storage.FS {
	switch f := FS(fsys).(type) {
	case osFS:
		f.meter = m
		return f
	case joined:
		f.FS, f.stores = Metered(f.FS, m), Metered(f.stores, m)
		return f
	case meteredStore:
		return f.Metered(m)
	}
	return fsys
}

// A meteredStore is a store that counts for one of its users.
type meteredStore interface {
	Metered(*Meter) storage.FS
}

func (f osFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.meter.AddRead(int64(n))
	return n, err
}

func (f osFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	f.meter.AddRead(int64(n))
	return n, err
}

// WriteTo implements io.WriterTo.
func (f osFile) WriteTo(w io.Writer) (int64, error) {
	n, err := f.File.WriteTo(w)
	f.meter.AddRead(n)
	return n, err
}

func (f osFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	f.meter.AddWritten(int64(n))
	return n, err
}

// WriteString implements io.StringWriter.
func (f osFile) WriteString(s string) (int, error) {
	n, err := f.File.WriteString(s)
	f.meter.AddWritten(int64(n))
	return n, err
}

// ReadFrom implements io.ReaderFrom.
func (f osFile) ReadFrom(r io.Reader) (int64, error) {
	n, err := f.File.ReadFrom(r)
	f.meter.AddWritten(n)
	return n, err
}
