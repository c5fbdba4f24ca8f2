package lerobot

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/bagconv/bagconv/storage"
)

// addRow adds a row to the current episode, or begins one. See rows.
func (w *Writer) addRow(tick int64, chosen []choice) error {
	if w.episode == nil {
		if err := w.beginEpisode(tick); err != nil {
			return err
		}
	}
	w.episode.Frames++
	rows := make([][]float64, len(w.vectors))
	for i, v := range w.vectors {
		for _, p := range v.parts {
			x := chosen[slices.Index(w.streams, p.s)]
			rows[i] = append(rows[i], mixed(p, x)...)
		}
	}
	for _, c := range w.cameras {
		x := chosen[slices.Index(w.streams, c.s)]
		if err := c.episode.add(c.s.frames[x.i]); err != nil {
			return fmt.Errorf("the camera %s: %w", c.name, err)
		}
	}
	if w.m.ActionOf == "" {
		return w.put(rows)
	}
	before := w.pending
	w.pending = rows
	if before == nil {
		return nil
	}
	before[0] = w.made(before, rows)
	return w.put(before)
}

// mixed returns the numbers of a part at a tick.
func mixed(p part, x choice) []float64 {
	width := p.s.width
	a := p.values(p.s.rows[x.i*width : (x.i+1)*width])
	if x.k == x.i || x.share == 0 {
		return a
	}
	b := p.values(p.s.rows[x.k*width : (x.k+1)*width])
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] + (b[i]-a[i])*x.share
	}
	return out
}

// made returns an action that is made of the state of this row and of the next.
func (w *Writer) made(rows, next [][]float64) []float64 {
	i := slices.IndexFunc(w.vectors, func(v vector) bool { return v.name == nameState })
	out := slices.Clone(next[i])
	if w.m.ActionOf == "delta" {
		for k := range out {
			out[k] -= rows[i][k]
		}
	}
	return out
}

// put writes a row.
func (w *Writer) put(rows [][]float64) error {
	b := make([]byte, 0, 4*w.set.width())
	for i, row := range rows {
		for k, v := range row {
			v32 := float32(v)
			row[k] = float64(v32)
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v32))
		}
		w.tallies[i].add(row)
	}
	_, err := w.rowsOut.Write(b)
	return err
}

// beginEpisode begins the files of an episode.
func (w *Writer) beginEpisode(tick int64) (err error) {
	if w.set.Vectors == nil {
		w.describe()
	}
	n := len(w.set.Episodes)
	task := w.m.Task
	if w.m.TaskFrom.Topic != "" {
		task = w.clock.task
	}
	w.episode = &Episode{Index: n, Task: task, StartNS: tick, Stats: map[string]Stats{}}
	if w.rowsFile, err = createFile(w.fs, rowsFile(w.dir, n)); err != nil {
		return err
	}
	w.rowsOut = bufio.NewWriterSize(w.rowsFile, 1<<16)
	w.tallies, w.pending = nil, nil
	for _, v := range w.set.Vectors {
		w.tallies = append(w.tallies, newTally(len(v.Names)))
	}
	for _, c := range w.cameras {
		if c.episode, err = c.begin(framesFile(w.dir, n, c.name)); err != nil {
			return fmt.Errorf("the camera %s: %w", c.name, err)
		}
	}
	return nil
}

// describe lists the features, when all streams have had a message.
func (w *Writer) describe() {
	e := &w.set
	*e = Episodes{SchemaVersion: 1, FPS: w.m.FPS, RobotType: w.m.RobotType, Vectors: []Vector{}, Cameras: []Video{},
		DataMB: w.m.DataMB, VideoMB: w.m.VideoMB, ChunkFiles: w.m.ChunkFiles, Episodes: []Episode{}}
	names := map[string][]string{}
	for _, v := range w.vectors {
		if v.of == "" {
			names[v.name] = labels(v.parts)
		}
	}
	for _, v := range w.vectors {
		if v.of != "" {
			names[v.name] = names[nameState]
		}
		e.Vectors = append(e.Vectors, Vector{v.name, names[v.name]})
	}
	for _, c := range w.cameras {
		e.Cameras = append(e.Cameras, Video{c.name, c.codec, c.width, c.height})
	}
}

// endEpisode ends the current episode. See rows.
func (w *Writer) endEpisode(why string) error {
	e := w.episode
	if e == nil {
		return nil
	}
	if w.pending != nil {
		w.pending[0] = w.made(w.pending, w.pending) // nothing comes next
		if err := w.put(w.pending); err != nil {
			return err
		}
		w.pending = nil
	}
	if w.m.TaskFrom.Topic != "" && e.Task == "" {
		e.Task = w.clock.task // the first text came later
	}
	e.End = why
	for i, v := range w.set.Vectors {
		e.Stats[v.Name] = w.tallies[i].stats()
	}
	err := w.rowsOut.Flush()
	err = errors.Join(err, w.rowsFile.Close())
	w.rowsFile = nil
	for _, c := range w.cameras {
		t := c.episode
		c.episode = nil
		s, e2 := t.end()
		err = errors.Join(err, e2)
		e.Stats[imagesPrefix+c.name] = s
		if t.copied {
			e.Copied = append(e.Copied, c.name)
		}
	}
	for _, s := range w.streams {
		if s.needed() {
			e.Streams = append(e.Streams, s.report())
		}
	}
	w.set.Episodes = append(w.set.Episodes, *e)
	w.episode = nil
	return err
}

// report returns how the stream went with the rate of an episode.
func (s *stream) report() StreamReport {
	u := &s.use
	used := u.rows - u.repeated
	return StreamReport{Topic: s.topic.Name, Messages: u.messages, Repeated: u.repeated, Skipped: max(0, u.messages-used),
		DelayMS: round3(float64(u.delay) / float64(max(u.rows, 1)) / 1e6), LongestMS: round3(float64(u.hold) / 1e6)}
}

func round3(v float64) float64 { return math.Round(v*1000) / 1000 }

// note keeps a decision for the report, once.
func (w *Writer) note(format string, a ...any) {
	if text := fmt.Sprintf(format, a...); !slices.Contains(w.notes, text) {
		w.notes = append(w.notes, text)
	}
}

// Finish writes the data set. See storage.Writer.
func (w *Writer) Finish() (out storage.Output, err error) {
	if w.err != nil {
		return out, w.err
	}
	if err := w.finish(); err != nil {
		return out, w.fail(err)
	}
	w.finished = true
	return storage.Output{Path: w.out.Temp()}, nil
}

func (w *Writer) finish() error {
	if err := w.begin(); err != nil {
		return err
	}
	if err := w.clock.finish(); err != nil {
		return err
	}
	if len(w.set.Episodes) == 0 {
		text := "the selected topics have no messages"
		if t := w.clock.lossText(); t != "" {
			text = t
		}
		for _, s := range w.streams {
			for _, l := range s.losses {
				text += fmt.Sprintf("; %d messages of %s: %s", l.messages, s.topic.Name, l.text)
			}
		}
		return fmt.Errorf("no episode has a frame: %s", text)
	}
	if err := writeJSON(w.fs, filepath.Join(w.dir, episodesName), &w.set); err != nil {
		return err
	}
	if !w.whole {
		return nil
	}
	a := &assembly{ctx: w.ctx, fs: w.fs, from: w.fs, dir: w.out.Temp()}
	return a.make([]Part{{Dir: w.dir}})
}

// Commit gives the output its name. See storage.Writer.
func (w *Writer) Commit() error {
	if !w.finished {
		if _, err := w.Finish(); err != nil {
			return err
		}
	}
	if err := w.removeTemp(); err != nil {
		return err
	}
	return w.out.Commit()
}

// removeTemp removes the episodes of which a data set has been made, and what was needed to make them.
func (w *Writer) removeTemp() (err error) {
	for _, c := range w.cameras {
		if c.episode != nil {
			c.episode.abort()
			c.episode = nil
		}
		if c.spool != nil {
			err = errors.Join(err, c.spool.close())
			c.spool = nil
		}
	}
	if w.rowsFile != nil {
		err = errors.Join(err, w.rowsFile.Close())
		w.rowsFile = nil
	}
	if w.scratch != "" {
		err = errors.Join(err, os.RemoveAll(w.scratch)) // which is on this machine
	}
	return err
}

// Close removes an output that was not committed. See storage.Writer.
func (w *Writer) Close() error {
	if w.err == nil {
		w.err = errors.New("the data set is closed")
	}
	return errors.Join(w.removeTemp(), w.out.Abort())
}

// fail keeps the first error.
func (w *Writer) fail(err error) error {
	if w.err == nil {
		w.err = err
	}
	return err
}

// Losses lists what was lost. See storage.LossLister.
func (w *Writer) Losses() (list []storage.WriterLoss) {
	for _, s := range w.streams {
		for _, l := range s.losses {
			list = append(list, storage.WriterLoss{Topic: s.id, Code: l.code, Messages: l.messages, Message: l.text,
				LeftOut: true})
		}
	}
	if text := w.clock.lossText(); text != "" {
		list = append(list, storage.WriterLoss{Topic: w.other, Code: "lerobot-empty", Messages: w.clock.empty, Message: text})
	}
	if w.clock.early > 0 {
		list = append(list, storage.WriterLoss{Topic: w.other, Code: "join-early", Messages: w.clock.early,
			Message: "frames were made before the next message of a topic that is silent for long, as the messages that " +
				"waited for it took too much memory; max_gap bounds how long they wait"})
	}
	for _, text := range append(slices.Clone(w.notes), w.remarks()...) {
		list = append(list, storage.WriterLoss{Topic: w.other, Code: "export-note", Message: text, Note: true})
	}
	return list
}

// remarks say how the recording goes with the rate.
func (w *Writer) remarks() (list []string) { return summarize(w.set.Episodes, w.set.FPS) }
