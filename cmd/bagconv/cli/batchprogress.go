package cli

import (
	"fmt"
	"sync"
	"time"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/convert/batch"
)

// A batchProgress shows how far a batch is. It may be used from several
// goroutines.
type batchProgress struct {
	b      *batchRun
	began  time.Time
	lines  bool // a line for each input that is through
	events bool

	mu       sync.Mutex
	show     progress
	total    int64
	through  int64 // bytes of inputs that are through
	messages int64 // of inputs that are through
	count    int
	of       int
	running  map[*batch.Task]int64 // messages so far
}

func newBatchProgress(b *batchRun, tasks *batchTasks) *batchProgress {
	show := b.newProgress()
	p := &batchProgress{b: b, began: time.Now(), show: show, of: len(tasks.order), running: map[*batch.Task]int64{}}
	_, p.lines = show.(*plainProgress)
	_, p.events = show.(*jsonProgress)
	for _, t := range tasks.order {
		p.total += t.Input.Size
	}
	return p
}

// update takes how far one conversion is.
func (p *batchProgress) update(t *batch.Task, now convert.Progress) {
	if now.Total > 0 {
		t.Progress(float64(now.Bytes) / float64(now.Total))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running[t] = now.Messages
	p.refresh()
}

func (p *batchProgress) refresh() {
	now := convert.Progress{Bytes: p.through, Total: p.total, Messages: p.messages, Elapsed: time.Since(p.began)}
	for t, messages := range p.running {
		now.Bytes += int64(t.Done() * float64(t.Input.Size))
		now.Messages += messages
	}
	if bar, ok := p.show.(*barProgress); ok {
		bar.of = fmt.Sprintf("%d of %d, ", min(p.count+1, p.of), p.of)
	}
	p.show.update(now)
}

// ended notes the end of a conversion; item is nil if it was
// interrupted.
func (p *batchProgress) ended(t *batch.Task, item *batchItem) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.running, t)
	if item == nil {
		return
	}
	p.through += t.Input.Size
	p.messages += item.entry.Written
	p.count++
	switch {
	case p.events:
		writeEvent(p.b.Err, "input", item.entry)
	case p.lines:
		fmt.Fprintf(p.b.Err, "[%d/%d] %s\n", p.count, p.of, p.b.resultLine(item.entry))
	}
	p.refresh()
}

func (p *batchProgress) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.show.stop()
}
