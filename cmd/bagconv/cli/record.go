package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/selection"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/live"
	"github.com/bagconv/bagconv/live/foxglove"
	"github.com/bagconv/bagconv/live/ros1"
	"github.com/bagconv/bagconv/storage"
)

// liveSettings are what the flags of record and play set.
type liveSettings struct {
	all, snapshot, wallTime  bool
	buffer, message, journal int64 // bytes, bytes, ns

	report func() *liveJSON // what --json of record has of the system; nil: nothing

	address                        string // of play, as the next ones
	rate, clock                    float64
	delay                          int64 // ns
	loop, paused, wait, publishers bool
	drop                           bool
	viewers                        *foxglove.Player // that play plays to; nil: to a system
	last                           int64            // log time at which it ends
	passes                         int              // how often it was played
}

// recordings returns the command that records running systems.
func (e *env) recordings() []command {
	return []command{{
		name: "record", call: "record ADDRESS -o OUT TOPIC...", summary: "record a running ROS system",
		about: `Records topics of a running system into OUT, in any format that can be written.
ADDRESS is ros1://HOST:11311, that of a ROS 1 master, or ws://HOST:8765, that of
a server of the Foxglove WebSocket protocol: ROS 2 is recorded through
foxglove_bridge. Nothing of ROS is needed here. TOPIC is a name, a glob or re: and a regular expression, as for --topic; or
use -a. Topics that begin later are found. Stop with Ctrl-C: OUT is then
completed and gets its name. Until then it stands in a hidden folder beside OUT.
If the process is killed or the disk is full, what was written stays there and
bagconv recover reads it; at most --chunk-duration is missing.

DDS and Zenoh themselves, and live systems of Apollo Cyber, cannot be recorded.`,
		note: `At the end there is a line for each topic and publisher: messages, bytes, how
often the connection was made again, and how many numbers are missing in
Header.seq, which is a hint of messages that never came, and no proof.
Set ROS_IP or ROS_HOSTNAME if other machines reach this one by another address.`,
		examples: []string{
			"bagconv record ros1://localhost:11311 -a -o drive{file}",
			"bagconv record ros1://robot:11311 /imu '/camera/*' -o drive{other} -u 10m",
			"bagconv record ws://robot:8765 -a -o drive_ros2/",
			"bagconv record ros1://robot:11311 -a --snapshot --buffer 2G -o last{file}",
		},
		exits: []exit{
			{0, "OUT is written; nothing is lost that its format can store"},
			{1, "failed; what was recorded until then stays, and the message names it"},
			{3, "OUT is written, but a TOPIC never came, or messages were lost or could not be converted"},
		},
		operands: []flag{{kind: plainText}, {kind: plainText}},
		run:      e.record,
	}}
}

// recordFlags are those of record alone.
func (e *env) recordFlags() []flag {
	s, l := &e.set, &e.set.live
	return allIn(recordGroup, []string{"record"},
		flag{name: "all", short: "a", kind: onOff, set: put(&l.all), help: "record all topics, except those of --exclude-topic"},
		flag{name: "topic", short: "t", arg: "P", several: true, set: parsedEach(&s.job.Select.Topics, selection.ParsePattern),
			help: "record these topics, like TOPIC. P is a name, a glob (* matches any characters, / too), or re: and a regular expression for the whole name; repeat the flag for more topics"},
		flag{name: "exclude-topic", short: "x", arg: "P", several: true, set: parsedEach(&s.job.Select.ExcludeTopics, selection.ParsePattern),
			help: "leave out these topics"},
		flag{name: "duration", short: "u", arg: "D", set: parsed(&s.job.Select.Duration, selection.ParseDuration), help: "stop after this time: 30s, 10m"},
		flag{name: "limit", arg: "N", kind: aNumber, set: s.numberFlag("limit", 1, &s.limit), help: "stop after N messages"},
		flag{name: "buffer", arg: "SIZE", init: "256M", set: parsed(&l.buffer, storage.ParseSize),
			help: "memory for messages that wait to be written (default 256M); messages that come when it is full are lost, and counted"},
		flag{name: "chunk-duration", arg: "D", init: "1s", set: parsed(&l.journal, selection.ParseDuration),
			help: "write what has come into the file after this time, at the latest (default 1s)"},
		flag{name: "max-message", arg: "SIZE", init: "128M", set: parsed(&l.message, storage.ParseSize), help: "disconnect a publisher that sends a larger message (default 128M)"},
		flag{name: "snapshot", kind: onOff, set: put(&l.snapshot),
			help: "keep the last messages in --buffer, and write them when the signal USR1 comes; several times if it comes again"},
		flag{name: "wall-time", kind: onOff, set: put(&l.wallTime),
			help: "times are those of this machine; without the flag they are those of /clock if /use_sim_time is set, and over a WebSocket those of the server"},
	)
}

// record records a running system.
func (e *env) record(c *cli.Context) error {
	words, out := c.Args().Slice(), e.set.output
	switch {
	case len(words) == 0 || !strings.Contains(words[0], "://"):
		return usage("type for example: bagconv record ros1://localhost:11311 -a -o drive"+e.fileEnding(0), "record takes the address of a running system")
	case !slices.Contains(liveSchemes, words[0][:strings.Index(words[0], "://")]):
		return usage("use ros1://HOST:11311, the address of a ROS 1 master, or ws://HOST:8765, that of foxglove_bridge", "%s: this system cannot be recorded", clean(words[0]))
	case out == "":
		return usage("add -o drive"+e.fileEnding(0), "no output given")
	}
	o, err := e.recordOptions(words[1:])
	if err != nil {
		return err
	}
	job, err := e.jobTo(e.set.to, out)
	if err != nil {
		return err
	}
	e.report.source, e.report.sink = words[0], out
	unfinished := iox.KeepUnfinished(e.files())
	job.Source, job.Order, job.Select, job.Write.FS = words[0], convert.OrderFile, selection.Selection{}, unfinished
	stopped := c.Context
	c.Context = context.WithoutCancel(stopped) // the signal that stops it lets it complete the output
	release := make(chan os.Signal, 1)
	if o.Snapshot {
		if err := notifySnapshot(release); err != nil {
			return err
		}
		defer signal.Stop(release)
	}
	var r liveReader
	job.SourceFormat = live.Source(func(ctx context.Context, address string) (storage.Reader, error) {
		ctx, cancel := context.WithCancel(ctx)
		forget := context.AfterFunc(stopped, cancel) // a system that does not answer is left
		system, err := openLive(ctx, address, o)
		if !forget() && err != nil {
			err = context.Cause(stopped)
		}
		if err != nil {
			cancel()
			return nil, err
		}
		r = system
		context.AfterFunc(stopped, func() { r.Stop(nil) })
		if !o.Snapshot {
			e.note("recording %s; stop with Ctrl-C", clean(address))
			return r, nil
		}
		e.note("recording %s; kill -USR1 %d writes what came last; stop with Ctrl-C", clean(address), os.Getpid())
		return snapshots(r, release, func(n int) { e.note("snapshot: %s", count(int64(n), "message")) }), nil
	})
	e.set.live.report = func() *liveJSON { return recordedJSON(r.Stats()) }
	if limit := e.LimitMemory; limit != nil {
		e.LimitMemory = func(bytes int64) { limit(bytes + o.Buffer) }
	}
	e.set.progress = "none"
	err = e.runJob(c, job, false)
	if r != nil && !e.set.quiet {
		e.writeStats(r.Stats())
		if strings.HasPrefix(words[0], "ws") {
			e.writeLines("note", []string{"what the server has dropped cannot be seen: the protocol does not number messages"})
		}
	}
	if left := unfinished.Left(); left != "" {
		e.writeLines("note", []string{fmt.Sprintf("what was recorded is in %s; bagconv recover %s OUT reads it", left, left)})
	}
	return err
}

// note says something that is no result, unless --quiet is set.
func (e *env) note(format string, a ...any) {
	if !e.set.quiet {
		e.say(format, a...)
	}
}

// A liveReader reads a running system.
type liveReader interface {
	storage.Reader
	storage.Resumer
	Stop(error)
	Release() int
	Stats() []live.TopicStats
}

// liveSchemes are what addresses of systems that can be recorded begin with.
var liveSchemes = []string{"ros1", "ws", "wss"}

// openLive begins to record.
func openLive(ctx context.Context, address string, o ros1.RecordOptions) (liveReader, error) {
	if strings.HasPrefix(address, "ros1:") {
		return ros1.Record(ctx, address, o)
	}
	return foxglove.Record(ctx, address, foxglove.RecordOptions{Options: o.Options, Takes: o.Takes, WallTime: o.WallTime, MaxMessage: o.MaxMessage})
}

// recordOptions are what to record: topics of the flags, and words of the line.
func (e *env) recordOptions(words []string) (o ros1.RecordOptions, err error) {
	sel, l := &e.set.job.Select, &e.set.live
	o.Options = live.Options{Buffer: l.buffer, Round: time.Duration(l.journal), Duration: time.Duration(sel.Duration), Limit: e.set.limit, Snapshot: l.snapshot}
	o.MaxMessage, o.WallTime = l.message, l.wallTime
	topics, exclude, all := sel.Topics, sel.ExcludeTopics, l.all
	for _, w := range words {
		p, err := selection.ParsePattern(w)
		if err != nil {
			return o, usage("", "topic %s: %v", clean(w), err)
		}
		topics = append(topics, p)
	}
	if len(topics) == 0 && !all {
		return o, usage("use -a for all topics", "no topics given")
	}
	matches := func(list []selection.Pattern, name string) bool {
		return slices.ContainsFunc(list, func(p selection.Pattern) bool { return p.Match(name) })
	}
	o.Takes = func(name, _ string) bool { return (all || matches(topics, name)) && !matches(exclude, name) }
	for _, p := range topics {
		if name := p.String(); !strings.ContainsAny(name, "*?[") && !strings.HasPrefix(name, "re:") && o.Takes(name, "") {
			o.Topics = append(o.Topics, name)
		}
	}
	o.Wanted = o.Topics
	return o, nil
}

// writeStats writes a line for each topic of a running system.
func (e *env) writeStats(list []live.TopicStats) {
	for _, s := range list {
		text := s.Name
		if s.Caller != "" {
			text += " of " + s.Caller
		}
		text += fmt.Sprintf(": %s, %s", count(s.Messages, "message"), sizeText(s.Bytes))
		if s.Reconnects > 0 {
			text += ", connected again " + count(s.Reconnects, "time")
		}
		if s.SeqGaps > 0 {
			text += fmt.Sprintf(", %s missing in Header.seq", count(s.SeqGaps, "number"))
		}
		if s.Dropped > 0 {
			text += fmt.Sprintf(", %s lost here", count(s.Dropped, "message"))
		}
		fmt.Fprintf(e.Err, "  %s\n", clean(text))
	}
}
