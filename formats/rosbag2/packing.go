package rosbag2

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/internal/sqlitefile"
	"github.com/bagconv/bagconv/storage"
)

// A packing is how an output is compressed with zstd.
type packing struct {
	mode  string // ros2bag.ModeFile or ros2bag.ModeMessage; "": it is not compressed
	level int
	foxy  bool // each part is one frame, which Foxy needs
}

// packingOf returns what the options ask for, which were checked.
func packingOf(o *storage.WriteOptions, single bool) (p packing, err error) {
	wrong := func(name, what, hint string) (packing, error) {
		return p, &storage.OptionError{Name: name, What: what, Hint: hint}
	}
	mode := o.Values[storage.NameCompressionMode]
	if o.Compression != compress.Zstd.Name() && (mode == "" || o.Compression != "") {
		switch {
		case mode != "":
			return wrong(storage.NameCompressionMode, "nothing is compressed", "add --compression "+compress.Zstd.Name())
		case o.Level != 0:
			return wrong(storage.NameLevel, "nothing is compressed", "add --compression "+compress.Zstd.Name())
		}
		return p, nil
	}
	if single {
		return wrong(storage.NameCompression, "no player opens a single file that is compressed", "write a folder")
	}
	if o.Level > compress.Zstd.MaxLevel() {
		return wrong(storage.NameLevel, fmt.Sprintf("there is no level %d", o.Level),
			fmt.Sprintf("levels go to %d, 0 is the default", compress.Zstd.MaxLevel()))
	}
	p.mode, p.level, p.foxy = ros2bag.ModeFile, cmp.Or(o.Level, ros2bag.DefaultLevel), strings.EqualFold(o.Profile, "foxy")
	if mode == modes[1] {
		p.mode = ros2bag.ModeMessage
	}
	return p, nil
}

// modes are the values of the option, the default first.
var modes = []string{"file", "message"}

// handRun has pages compressed for a part that is compressed as a whole.
func (p *outPart) handRun(b storage.PendingBlock) error {
	run := &streamRun{Buffer: b.(*sqlitefile.Buffer), p: p.stream}
	if hand := p.w.State.OnBlock; hand != nil {
		return hand(run)
	}
	if err := run.Encode(); err != nil {
		return run.Done(err)
	}
	return run.Append()
}

// runBytes is how much message data is compressed together in one go.
const runBytes = 1 << 20

// A rowRun is some rows on their way to a part whose messages are compressed one by one.
type rowRun struct {
	p      *outPart
	rows   []outRow
	raw    []byte // the messages
	frames []byte

	checkpoint bool // after its rows
	notes      [][]sqlitefile.Value
}

type outRow struct {
	topic, stamp int64
	raw, frame   int // bytes of each
}

// openRun returns the run that is being filled.
func (p *outPart) openRun() *rowRun {
	if p.run == nil {
		p.run, _ = p.w.runs.Get().(*rowRun)
		if p.run == nil {
			p.run = &rowRun{}
		}
		p.run.p = p
	}
	return p.run
}

// addRow takes a message, and hands out a run that is full.
func (p *outPart) addRow(topic, stamp int64, data []byte) error {
	r := p.openRun()
	r.rows = append(r.rows, outRow{topic: topic, stamp: stamp, raw: len(data)})
	if r.raw = append(r.raw, data...); len(r.raw) < runBytes && len(r.rows) < runBytes/64 {
		return nil
	}
	return p.handRows()
}

// handRows hands out the run that is being filled.
func (p *outPart) handRows() error {
	r := p.run
	if r == nil {
		return nil
	}
	p.run = nil
	p.pending.Add(1)
	if hand := p.w.State.OnBlock; hand != nil {
		return hand(r)
	}
	return r.write()
}

// write is Encode and Append.
func (r *rowRun) write() error {
	if err := r.Encode(); err != nil {
		return err
	}
	return r.Append()
}

// Encode compresses the messages. See storage.PendingBlock.
func (r *rowRun) Encode() (err error) {
	r.frames = slices.Grow(r.frames[:0], len(r.raw)/2)
	raw := r.raw
	for i := range r.rows {
		row, from := &r.rows[i], len(r.frames)
		if r.frames, err = ros2bag.PackMessage(r.frames, raw[:row.raw], r.p.w.packing.level); err != nil {
			return err
		}
		raw = raw[row.raw:]
		row.frame = len(r.frames) - from
	}
	return nil
}

// Append adds the rows. See storage.PendingBlock.
func (r *rowRun) Append() error {
	p := r.p
	defer p.pending.Add(-1)
	frames := r.frames
	for i := range r.rows {
		row := &r.rows[i]
		if err := p.loader.Add(row.topic, row.stamp, frames[:row.frame]); err != nil {
			return err
		}
		frames = frames[row.frame:]
	}
	if r.checkpoint {
		if err := p.loader.Checkpoint(r.notes); err != nil {
			return err
		}
	}
	r.checkpoint, r.notes = false, nil
	if r.rows, r.raw, r.p = r.rows[:0], r.raw[:0], nil; max(cap(r.raw), cap(r.frames)) <= 8*runBytes {
		p.w.runs.Put(r)
	}
	return nil
}

// Lent is false: messages are copied. See storage.PendingBlock.
func (r *rowRun) Lent() bool { return false }

var (
	_ storage.PendingBlock = (*streamRun)(nil)
	_ storage.PendingBlock = (*rowRun)(nil)
)
