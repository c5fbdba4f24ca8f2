package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bagconv/bagconv/convert/batch"
	"github.com/bagconv/bagconv/convert/tasks"
	"github.com/bagconv/bagconv/internal/guard"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A metricsFile is the file of --metrics: numbers of a run in the text format of Prometheus, for the
// textfile collector of node_exporter. It is written when the run begins, every few seconds, and when
// the run ends; each time it appears whole. It may be used from several goroutines; a nil one is
// no file.
type metricsFile struct {
	*env
	command string
	began   time.Time
	stop    chan struct{} // closed when the run ends
	wait    sync.WaitGroup

	mu      sync.Mutex
	sums    runSums
	planned int // inputs; -1: not known
	failed  bool
}

// runSums are what has become of inputs so far.
type runSums struct {
	running                    int
	ended                      map[string]int // by status
	size, outputSize, messages int64          // of those that are done
}

// metricsInterval is the time after which the file is written again.
const metricsInterval = 5 * time.Second

// metricsKind is the kind of files that a metrics file may replace.
var metricsKind = guard.Kind{Name: "metrics file of bagconv", Is: func(head []byte) bool { return bytes.HasPrefix(head, []byte(metricsHead)) }}

const metricsHead = "# HELP bagconv_"

// metricStatuses are the values of the label status.
var metricStatuses = []string{batch.StatusOK, batch.StatusLossy, batch.StatusFailed, "transient", "skipped"}

// openMetrics makes the file of --metrics, if there is one, for a run of so many inputs.
func (e *env) openMetrics(command string, planned int) error {
	path := e.set.metrics
	if path == "" || e.metrics != nil {
		return nil
	}
	refuse := func(what, hint string) error { return usage(hint, "--metrics %s: %s", clean(path), what) }
	var refused *guard.Refusal
	if err := metricsKind.Check(e.fs, path); errors.As(err, &refused) {
		return refuse(clean(refused.What), refused.Hint)
	} else if err != nil {
		return refuse(plainError(err).Error(), "")
	}
	m := &metricsFile{env: e, command: command, began: time.Now(), stop: make(chan struct{}), planned: planned, sums: runSums{ended: map[string]int{}}}
	if err := m.write(-1); err != nil {
		return refuse("it cannot be written: "+plainError(err).Error(), "is its folder there, and may you write in it?")
	}
	e.metrics = m
	m.wait.Go(func() {
		for tick := time.NewTicker(metricsInterval); ; {
			select {
			case <-tick.C:
				m.report(m.write(-1))
			case <-m.stop:
				tick.Stop()
				return
			}
		}
	})
	return nil
}

// report reports the first error of writing: the run goes on.
func (m *metricsFile) report(err error) {
	if err != nil && !m.failed {
		m.failed = true
		m.writeLines("warning", []string{fmt.Sprintf("--metrics %s: %v", clean(m.set.metrics), plainError(err))})
	}
}

// begin counts an input that is begun.
func (m *metricsFile) begin() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sums.running++
}

// end counts an input that was begun, and what became of it; "" if it was
// interrupted.
func (m *metricsFile) end(status string, size, outputSize, messages int64) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &m.sums
	s.running--
	s.ended[status]++
	if status == batch.StatusOK || status == batch.StatusLossy {
		s.size, s.outputSize, s.messages = s.size+size, s.outputSize+outputSize, s.messages+messages
	}
}

// endResult is end for a task; nil if it was interrupted.
func (m *metricsFile) endResult(r *tasks.Result) {
	if r == nil {
		m.end("", 0, 0, 0)
		return
	}
	status := r.Status
	switch {
	case r.Skipped:
		status = "skipped"
	case status == batch.StatusFailed && r.Transient:
		status = "transient"
	}
	m.end(status, r.Size, r.OutputSize, r.Written)
}

// countRun counts the results of a run, which has one input.
func (e *env) countRun(results []*resultJSON) {
	if e.metrics == nil || len(results) == 0 {
		return
	}
	sum := *results[0]
	for _, r := range results[1:] {
		sum.Sink.Size, sum.Sink.Messages = sum.Sink.Size+r.Sink.Size, sum.Sink.Messages+r.Sink.Messages
		if r.Status == batch.StatusLossy {
			sum.Status = r.Status
		}
	}
	e.metrics.end(sum.Status, sum.Source.Size, sum.Sink.Size, sum.Sink.Messages)
}

// close writes the end of the run.
func (m *metricsFile) close(status int) {
	if m == nil {
		return
	}
	close(m.stop)
	m.wait.Wait()
	m.report(m.write(status))
}

// write writes the file; status is the exit status of the run, negative until it has ended.
func (m *metricsFile) write(status int) error {
	return iox.Replace(m.fs, m.set.metrics, func(w io.Writer) error {
		_, err := io.WriteString(w, m.text(status, time.Now()))
		return err
	})
}

// text returns the metrics. All have the label run, so that the files of several runs in one folder
// have different series.
func (m *metricsFile) text(status int, now time.Time) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	run := strings.TrimSuffix(filepath.Base(m.set.metrics), ".prom")
	var b strings.Builder
	labels := fmt.Sprintf(`command="%s",run="%s"`, m.command, labelEscapes.Replace(strings.ToValidUTF8(run, "\uFFFD")))
	head := func(name, kind, help string) {
		fmt.Fprintf(&b, "# HELP bagconv_%[1]s %[3]s\n# TYPE bagconv_%[1]s %[2]s\n", name, kind, help)
	}
	one := func(name, kind, help string, value float64) {
		head(name, kind, help)
		fmt.Fprintf(&b, "bagconv_%s{%s} %s\n", name, labels, strconv.FormatFloat(value, 'f', -1, 64))
	}
	s, io := &m.sums, m.meter.Counts()
	head("inputs_total", "counter", "Recordings or tasks by what became of them.")
	for _, name := range metricStatuses {
		fmt.Fprintf(&b, "bagconv_inputs_total{%s,status=\"%s\"} %d\n", labels, name, s.ended[name])
	}
	one("inputs_running", "gauge", "Recordings or tasks at work.", float64(s.running))
	if m.planned >= 0 {
		one("inputs_planned", "gauge", "Recordings that the run has to convert.", float64(m.planned))
	}
	one("input_bytes_total", "counter", "Bytes of the recordings that are done.", float64(s.size))
	one("output_bytes_total", "counter", "Bytes of their outputs.", float64(s.outputSize))
	one("messages_total", "counter", "Messages in their outputs.", float64(s.messages))
	one("read_bytes_total", "counter", "Bytes read from files and stores, those of retries included.", float64(io.Read))
	one("written_bytes_total", "counter", "Bytes written to files and stores, those of retries included.", float64(io.Written))
	one("requests_total", "counter", "Requests to stores.", float64(io.Requests))
	one("request_retries_total", "counter", "Requests to stores that were retries.", float64(io.Retries))
	one("start_time_seconds", "gauge", "When the run began, in seconds since 1970.", seconds(m.began))
	one("update_time_seconds", "gauge", "When this file was written, in seconds since 1970.", seconds(now))
	running := 0.0
	if status < 0 {
		running = 1
	}
	one("running", "gauge", "1 while the run goes on, 0 when it has ended.", running)
	if status >= 0 {
		one("exit_status", "gauge", "Exit status of the run.", float64(status))
	}
	return b.String()
}

// labelEscapes escapes the value of a label.
var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// useFiles makes fsys the file system of this run.
func (e *env) useFiles(fsys storage.FS) {
	e.fs = fsys
	e.set.job.Read.FS, e.set.job.Write.FS = e.files(), e.files()
}

// files returns the file system of this run, which counts.
func (e *env) files() storage.FS { return iox.Metered(e.fs, e.meter) }
