package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/selection"
	"github.com/bagconv/bagconv/live"
	"github.com/bagconv/bagconv/live/foxglove"
	"github.com/bagconv/bagconv/live/ros1"
	"github.com/bagconv/bagconv/storage"
)

// players returns the command that plays recordings to running systems.
func (e *env) players() []command {
	return []command{{
		name: "play", call: "play IN --to ADDRESS", summary: "play a recording to ROS 1 or to viewers",
		about: `Publishes the messages of a recording of any format, at the times at which they
were recorded. ADDRESS is ros1://HOST:11311, that of a ROS 1 master, or
ws://:8765, on which viewers connect. Latched topics stay latched.

In a ROS 1 system, of which nothing is needed here, messages in CDR and protobuf
are converted to ROS 1. A slow subscriber slows the clock, and at the end all
subscribers get everything before the topics go.

To viewers the messages go as they are, by the Foxglove WebSocket protocol: to
Foxglove, Lichtblick, dashboards, and bagconv record. All see the same clock;
those that can, pause, seek and change the speed. A slow viewer slows the clock,
unless --drop is set. At the end the viewers stay connected until Ctrl-C. Only this machine
can connect with ws://:8765, everybody with ws://0.0.0.0:8765, and web pages from
elsewhere with --allow-origin.

On a terminal of Linux: space pauses and continues, s or the right arrow sends the next
message of a paused recording, the up and down arrows change the rate by a tenth.

There is no playing to ROS 2 (DDS, Zenoh) or Apollo Cyber.`,
		note: `With --clock nodes need /use_sim_time: set it before they start. At the end
there is a line on how much later than due messages were sent.
Set ROS_IP or ROS_HOSTNAME if other machines reach this one by another address.`,
		examples: []string{
			"bagconv play drive{file} --to ros1://localhost:11311",
			"bagconv play drive_ros2/ --to ros1://robot:11311 -S 30 --rate 0.5 --clock 100",
			"bagconv play drive{file} --to ws://:8765 --loop",
		},
		exits: []exit{
			{0, "all is published, and every subscriber has everything; a viewer that leaves does not count"},
			{1, "failed"},
			{3, "published, but a connection ended early or a viewer took nothing, IN is damaged, or something could not be converted"},
			{130, "interrupted"},
		},
		run: e.play,
	}}
}

// playFlags are those of play alone.
func (e *env) playFlags() []flag {
	l := &e.set.live
	number := func(p *float64, least float64) func(*flag) error {
		return func(f *flag) error {
			n, err := strconv.ParseFloat(f.String(), 64)
			if *p = n; err != nil || !(n > least) || n > 1000 {
				return usage("", "--%s needs a number above 0, and 1000 at most, not %s", f.name, f)
			}
			return nil
		}
	}
	return allIn(playGroup, []string{"play"},
		flag{name: "to", arg: "ADDRESS", lineOnly: true, set: put(&l.address), help: "where to play: ros1://HOST:11311, or ws://:8765 for viewers"},
		flag{name: "rate", short: "r", arg: "X", kind: aDecimal, init: "1", set: number(&l.rate, 0), help: "play X times as fast (default 1)"},
		flag{name: "loop", short: "l", kind: onOff, set: put(&l.loop), help: "begin again at the end, until it is interrupted"},
		flag{name: "paused", kind: onOff, set: put(&l.paused), help: "begin paused; the space key starts it"},
		flag{name: "clock", arg: "HZ", kind: aDecimal, noValue: "100", set: number(&l.clock, 0), help: "publish the time of the recording as /clock, HZ times a second (without HZ 100 times); /clock of the recording is left out"},
		flag{name: "wait-for-subscribers", kind: onOff, set: put(&l.wait), help: "wait with the first message until every topic has a subscriber; without the flag, to viewers it waits for the first one that subscribes"},
		flag{name: "delay", arg: "D", init: "200ms", set: parsed(&l.delay, selection.ParseDuration), help: "wait with the first message, for subscribers to connect (default 200ms)"},
		flag{name: "drop", kind: onOff, set: put(&l.drop), help: "drop messages for a viewer that does not keep up, and count them; without the flag the clock waits for it"},
		e.set.originFlag(),
		flag{name: "publishers", kind: onOff, set: put(&l.publishers),
			help: "a node for each publisher of the recording, which keeps the last messages of several latched publishers of a topic apart; else one node publishes all"},
	)
}

// playHint is the next step if the address is wrong.
const playHint = "use --to ros1://HOST:11311, the address of a ROS 1 master, or --to ws://:8765, to serve viewers"

// play plays a recording.
func (e *env) play(c *cli.Context) (err error) {
	address, l := e.set.live.address, &e.set.live
	paths := e.joinParts(c.Args().Slice())
	switch {
	case len(paths) != 1:
		return usage("type for example: bagconv play drive"+e.fileEnding(0)+" --to ros1://localhost:11311", "play takes one recording, not %d", len(paths))
	case address == "":
		return usage(playHint, "play needs an address")
	case !strings.HasPrefix(address, "ros1://") && !strings.HasPrefix(address, "ws://"):
		return usage(playHint, "%s: there is no playing to this", clean(strconv.Quote(address)))
	}
	if err := l.checkTo(e.set.origins); err != nil {
		return err
	}
	e.report.source, e.report.sink = paths[0], address
	source, err := e.detect(paths[0])
	if err != nil {
		return err
	}
	clock := live.NewClock(l.rate, l.paused)
	start, encoding := e.playROS1, "native"
	if strings.HasPrefix(address, "ws://") {
		start, encoding = e.playViewers, convert.EncodingKeep
	}
	player, err := start(c, paths[0], clock)
	if err != nil {
		return err
	}
	stop := e.watchKeys(clock)
	defer stop()
	e.set.progress, e.set.job.Encoding = "none", encoding
	job, err := e.jobFor(player.Format())
	if err != nil {
		return errors.Join(err, player.Close())
	}
	job.Source, job.SourceFormat, job.Sink, job.MaxMemory = paths[0], source, address, convert.DefaultMemory
	file, err := e.beginRun(c, "", []*convert.Job{job})
	if err != nil {
		return errors.Join(err, player.Close())
	}
	results, status, err := e.playAll(c, job, player)
	stop()
	if err != nil {
		return errors.Join(err, player.Close())
	}
	return e.endRun(file, results, e.endPlay(player, clock, results[0], status))
}

// playAll plays a recording until it is not to be played again. The result is that of the last time.
func (e *env) playAll(c *cli.Context, job *convert.Job, player player) (results []*resultJSON, status int, err error) {
	for again := true; again; again = (status == exitOK || status == exitLossy) && e.playAgain(c, player) {
		pass := *job
		last, s, err := e.runStaged(c, "", []*convert.Job{&pass}, false)
		if err != nil {
			return nil, s, err
		}
		if len(last) > 0 { // else a viewer has sought to where nothing follows
			results = last
		}
		e.set.live.passes++
		status = max(status, s)
	}
	return results, status, nil
}

// A player publishes recordings.
type player interface {
	Format() *storage.Format
	Close() error
	Early() (messages map[string]int64, heard bool)
}

// checkTo refuses flags that the address has no use for.
func (l *liveSettings) checkTo(origins []string) error {
	viewers := strings.HasPrefix(l.address, "ws://")
	for _, f := range []struct {
		name           string
		set, forViewer bool
		why            string
	}{
		{"clock", l.clock > 0, false, "viewers always get the time"},
		{"publishers", l.publishers, false, "viewers see topics, and no publishers"},
		{"drop", l.drop, true, "ROS 1 subscribers slow the clock"},
		{"allow-origin", len(origins) > 0, true, "a ROS 1 system has no pages"},
	} {
		if f.set && f.forViewer != viewers {
			return usage("leave it out", "--%s does not fit --to %s: %s", f.name, clean(l.address), f.why)
		}
	}
	return nil
}

// playROS1 returns a player for a ROS 1 system.
func (e *env) playROS1(c *cli.Context, _ string, clock *live.Clock) (player, error) {
	l := &e.set.live
	return ros1.NewPlayer(c.Context, l.address, ros1.PlayOptions{Clock: clock, ClockHz: l.clock, Publishers: l.publishers, Wait: l.wait, Delay: time.Duration(l.delay)})
}

// playAgain reports whether the recording is played once more: in a loop, or because a viewer seeks
// at its end, which is waited for.
func (e *env) playAgain(c *cli.Context, p player) bool {
	viewers, ok := p.(*foxglove.Player)
	switch loop := e.set.live.loop; {
	case c.Context.Err() != nil:
		return false
	case ok && loop && !viewers.Sought():
		viewers.Rewind()
	case ok && !loop:
		return viewers.AtEnd(c.Context)
	}
	return e.set.live.loop
}

// noteEarly says how many messages were sent before their topics had subscribers.
func (e *env) noteEarly(l *liveJSON, player player) {
	early, heard := player.Early()
	messages, topics := int64(0), 0
	for i := range l.Topics {
		if l.Topics[i].Early = early[l.Topics[i].Name]; l.Topics[i].Early > 0 {
			messages += l.Topics[i].Early
			topics++
		}
	}
	switch {
	case messages == 0, e.set.quiet: // JSON has the numbers
	case !heard:
		e.writeLines("note", []string{"no topic had a subscriber: nobody got the " + count(messages, "message")})
	default:
		e.writeLines("note", []string{fmt.Sprintf("%s of %s were sent before their topic had a subscriber; --wait-for-subscribers waits", count(messages, "message"), count(int64(topics), "topic"))})
	}
}

// endPlay waits until all subscribers have everything, and reports what was not as it should be: on
// standard error, and in the result. It returns the exit status.
func (e *env) endPlay(player player, clock *live.Clock, result *resultJSON, status int) int {
	err := player.Close()
	l := playedJSON(clock)
	switch p := player.(type) {
	case *ros1.Player:
		l.LostConnections, l.Problems = p.Problems()
	case *foxglove.Player:
		l.LostConnections, l.Dropped = p.Problems()
		if l.Dropped > 0 {
			l.Problems = []string{count(l.Dropped, "message") + " dropped, because a viewer did not keep up"}
		}
	}
	e.noteEarly(l, player)
	l.Passes, result.Live = e.set.live.passes, l
	e.writeLines("lost", l.LostConnections)
	e.writeLines("warning", l.Problems)
	if lateness, _ := clock.Late(); !e.set.quiet {
		fmt.Fprintf(e.Err, "99%% of the messages were sent within %s of their time, all within %s\n", durationText(int64(lateness.P99())), durationText(int64(lateness.Most)))
	}
	ended := outcome{lossy: status == exitLossy || len(l.LostConnections) > 0, interrupted: status == exitInterrupted, failed: status == exitFailed || err != nil}
	if result.Status, result.ExitStatus = ended.word(), ended.status(); err != nil && result.Error == "" {
		result.Error = explain(err)
		e.sayError(result.Error)
	}
	return result.ExitStatus
}
