package recording

import (
	"sync/atomic"
	"time"
)

// Progress is how far a run is.
type Progress struct {
	Bytes, Total int64 // of the source, read and in all
	Messages     int64 // written
	Elapsed      time.Duration
}

// A meter counts what was read and written, and calls the progress callback.
type meter struct {
	bytes, messages atomic.Int64
	total           int64
	began           time.Time
	report          func(Progress)
	quit, done      chan struct{}
}

const meterInterval = 100 * time.Millisecond

func newMeter(s *Source, report func(Progress)) *meter {
	m := &meter{began: time.Now(), report: report, total: s.Info.Size}
	if s.blockReader != nil {
		m.total = 0
		for i, b := range s.blocks {
			if s.need == nil || s.need[i] {
				m.total += b.Size
			}
		}
	}
	if report == nil {
		return m
	}
	m.quit, m.done = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(m.done)
		tick := time.NewTicker(meterInterval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				m.tell()
			case <-m.quit:
				m.tell()
				return
			}
		}
	}()
	return m
}

func (m *meter) read(bytes int64, messages int) {
	m.bytes.Add(bytes)
	m.messages.Add(int64(messages))
}

func (m *meter) tell() {
	m.report(Progress{
		Bytes: min(m.bytes.Load(), m.total), Total: m.total,
		Messages: m.messages.Load(), Elapsed: time.Since(m.began),
	})
}

// stop ends the callbacks; the last one has been made when it returns.
func (m *meter) stop() {
	if m.quit != nil {
		close(m.quit)
		<-m.done
		m.quit = nil
	}
}
