package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/live"
	"github.com/bagconv/bagconv/live/foxglove"
	"github.com/bagconv/bagconv/live/ros1"
	"github.com/bagconv/bagconv/storage"
)

// recordFlags returns the flags of record alone.
func (e *env) recordFlags() []flags.Flag {
	s, l := &e.set, &e.set.live
	return flags.AllIn(recordGroup, "record",
		flags.Flag{Name: "all", Short: "a", Kind: flags.OnOff, Set: flags.Put(&l.all),
			Help: "record all topics, except topics of --exclude-topic"},
		flags.Flag{Name: "topic", Short: "t", Arg: "P", Several: true, Set: flags.ParsedEach(&s.job.Select.Topics,
			selection.ParsePattern),
			Help: "record these topics, like TOPIC. P is a name, a glob (* matches any characters, / too), or re: and a " +
				"regular expression for the whole name; repeat the flag for more topics"},
		flags.Flag{Name: "exclude-topic", Short: "x", Arg: "P", Several: true,
			Set:  flags.ParsedEach(&s.job.Select.ExcludeTopics, selection.ParsePattern),
			Help: "leave out these topics"},
		flags.Flag{Name: "duration", Short: "u", Arg: "D", Set: flags.Parsed(&s.job.Select.Duration, selection.ParseDuration),
			Help: "stop after this time: 30s, 10m"},
		flags.Flag{Name: "limit", Arg: "N", Kind: flags.Number, Set: s.numberFlag("limit", 1, &s.cat.limit),
			Help: "stop after N messages"},
		flags.Flag{Name: "buffer", Arg: "SIZE", Default: "256M", Set: flags.Parsed(&l.buffer, storage.ParseSize),
			Help: "memory for messages that wait to be written (default 256M); messages that come when it is full are lost, " +
				"and counted"},
		flags.Flag{Name: "chunk-duration", Arg: "D", Default: "1s", Set: flags.Parsed(&l.journal, selection.ParseDuration),
			Help: "write a message into the file this long after it came, at the latest (default 1s)"},
		flags.Flag{Name: "max-message", Arg: "SIZE", Default: "128M", Set: flags.Parsed(&l.message, storage.ParseSize),
			Help: "disconnect a publisher that sends a larger message (default 128M)"},
		flags.Flag{Name: "snapshot", Kind: flags.OnOff, Set: flags.Put(&l.snapshot),
			Help: "keep the last messages in --buffer, and write them when the signal USR1 comes; several times if it comes " +
				"again"},
		flags.Flag{Name: "wall-time", Kind: flags.OnOff, Set: flags.Put(&l.wallTime),
			Help: "times come from the clock of this machine; without the flag they come from /clock if /use_sim_time is " +
				"set, and over a WebSocket from the server"},
	)
}

// record records a running system.
func (e *env) record(ctx context.Context) error {
	words, out := e.words, e.set.output
	switch {
	case len(words) == 0 || !strings.Contains(words[0], "://"):
		return flags.Usage("type for example: bagconv record ros1://localhost:11311 -a -o drive"+e.fileEnding(0),
			"record takes the address of a running system")
	case !slices.Contains(liveSchemes, words[0][:strings.Index(words[0], "://")]):
		return flags.Usage("use ros1://HOST:11311, the address of a ROS 1 master, or ws://HOST:8765, the address of a "+
			"foxglove_bridge",
			"%s: this system cannot be recorded", phrase.Clean(words[0]))
	case out == "":
		return flags.Usage("add -o drive"+e.fileEnding(0), "no output given")
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
	stopped := ctx
	ctx = context.WithoutCancel(stopped) // the signal that stops it lets it complete the output
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
			e.note("recording %s; stop with Ctrl-C", phrase.Clean(address))
			return r, nil
		}
		e.note("recording %s; kill -USR1 %d writes what came last; stop with Ctrl-C", phrase.Clean(address), os.Getpid())
		return snapshots(r, release, func(n int) { e.note("snapshot: %s", phrase.Count(int64(n), "message")) }), nil
	})
	e.set.live.report = func() any { return map[string]any{"topics": r.Stats()} }
	if limit := e.LimitMemory; limit != nil {
		e.LimitMemory = func(bytes int64) { limit(bytes + o.Buffer) }
	}
	e.set.progress = "none"
	err = e.runJob(ctx, job, false)
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

// liveSchemes are what addresses of systems that can be recorded begin with.
var liveSchemes = []string{"ros1", "ws", "wss"}

// openLive begins to record.
func openLive(ctx context.Context, address string, o ros1.RecordOptions) (liveReader, error) {
	if strings.HasPrefix(address, "ros1:") {
		return ros1.Record(ctx, address, o)
	}
	return foxglove.Record(ctx, address, foxglove.RecordOptions{Options: o.Options, Takes: o.Takes, WallTime: o.WallTime,
		MaxMessage: o.MaxMessage})
}

// recordOptions are what to record: topics of the flags, and words of the line.
func (e *env) recordOptions(words []string) (o ros1.RecordOptions, err error) {
	sel, l := &e.set.job.Select, &e.set.live
	o.Options = live.Options{Buffer: l.buffer, Round: time.Duration(l.journal), Duration: time.Duration(sel.Duration),
		Limit: e.set.cat.limit, Snapshot: l.snapshot}
	o.MaxMessage, o.WallTime = l.message, l.wallTime
	topics, exclude, all := sel.Topics, sel.ExcludeTopics, l.all
	for _, w := range words {
		p, err := selection.ParsePattern(w)
		if err != nil {
			return o, flags.Usage("", "topic %s: %v", phrase.Clean(w), err)
		}
		topics = append(topics, p)
	}
	if len(topics) == 0 && !all {
		return o, flags.Usage("use -a for all topics", "no topics given")
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
		text += fmt.Sprintf(": %s, %s", phrase.Count(s.Messages, "message"), sizeText(s.Bytes))
		if s.Reconnects > 0 {
			text += ", connected again " + phrase.Count(s.Reconnects, "time")
		}
		if s.SeqGaps > 0 {
			text += fmt.Sprintf(", %s missing in Header.seq", phrase.Count(s.SeqGaps, "number"))
		}
		if s.Dropped > 0 {
			text += fmt.Sprintf(", %s lost here", phrase.Count(s.Dropped, "message"))
		}
		fmt.Fprintf(e.Err, "  %s\n", phrase.Clean(text))
	}
}

// recordCommand is the command record.
func (e *env) recordCommand() flags.Command {
	return flags.Command{
		Name: "record", Part: livePart, Call: "record ADDRESS -o OUT TOPIC...", Summary: "record a running ROS system",
		About: `Records topics of a running system into OUT, in any format that can be written.
ADDRESS is ros1://HOST:11311, a ROS 1 master, or ws://HOST:8765, a server of the
Foxglove WebSocket protocol: ROS 2 is recorded through foxglove_bridge. Nothing
of ROS is needed here. TOPIC is a name, a glob or re: and a regular expression,
as for --topic; or use -a. Topics that begin later are found. Stop with Ctrl-C:
OUT is then completed and gets its name.

DDS and Zenoh themselves, and live systems of Apollo Cyber, cannot be recorded.`,
		Note: `Until it is completed OUT stands in a hidden folder beside its place. If the
process is killed or the disk is full, what was written stays there and bagconv
recover reads it; at most --chunk-duration is missing.

At the end there is a line for each topic and publisher: messages, bytes, how
often the connection was made again, and how many numbers are missing in
Header.seq, which is a hint of messages that never came, and no proof.
Set ROS_IP or ROS_HOSTNAME if other machines reach this one by another address.`,
		Examples: []string{
			"bagconv record ros1://localhost:11311 -a -o drive{file}",
			"bagconv record ros1://robot:11311 /imu '/camera/*' -o drive{other} -u 10m",
			"bagconv record ws://robot:8765 -a -o drive_ros2/",
			"bagconv record ros1://robot:11311 -a --snapshot --buffer 2G -o last{file}",
		},
		Exits: flags.Exits{
			0: "OUT is written; nothing is lost that its format can store",
			1: "failed; what was recorded until then stays, and the message names it",
			3: "OUT is written, but a TOPIC never came, or messages were lost or could not be converted",
		},
		Operands: []flags.Flag{{Kind: flags.PlainText}, {Kind: flags.PlainText}},
		Run:      e.record,
	}
}
