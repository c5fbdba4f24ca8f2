package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/live"
	"github.com/bagconv/bagconv/live/foxglove"
	"github.com/bagconv/bagconv/live/ros1"
	"github.com/bagconv/bagconv/storage"
)

// playFlags returns the flags of play alone.
func (e *env) playFlags() []flags.Flag {
	l := &e.set.live
	number := func(p *float64, least float64) func(*flags.Flag) error {
		return func(f *flags.Flag) error {
			n, err := strconv.ParseFloat(f.String(), 64)
			if *p = n; err != nil || !(n > least) || n > 1000 {
				return flags.Usage("", "--%s needs a number above 0, and 1000 at most, not %s", f.Name, f)
			}
			return nil
		}
	}
	return flags.AllIn(playGroup, "play",
		flags.Flag{Name: "address", Old: []string{"to"}, Arg: "ADDRESS", LineOnly: true, Set: flags.Put(&l.address),
			Help: "where to play, if it is not the last argument"},
		flags.Flag{Name: "rate", Short: "r", Arg: "X", Kind: flags.Decimal, Default: "1", Set: number(&l.rate, 0),
			Help: "play X times as fast (default 1)"},
		flags.Flag{Name: "loop", Short: "l", Kind: flags.OnOff, Set: flags.Put(&l.loop),
			Help: "begin again at the end, until it is interrupted"},
		flags.Flag{Name: "paused", Kind: flags.OnOff, Set: flags.Put(&l.paused),
			Help: "begin paused; the space key starts it"},
		flags.Flag{Name: "clock", Arg: "HZ", Kind: flags.Decimal, NoValue: "100", Set: number(&l.clock, 0),
			Help: "publish the time of the recording as /clock, HZ times a second (without HZ 100 times); /clock of the " +
				"recording is left out"},
		flags.Flag{Name: "wait-for-subscribers", Kind: flags.OnOff, Set: flags.Put(&l.wait),
			Brief: "wait until every topic has a subscriber",
			Help: "wait with the first message until every topic has a subscriber; a server of the Foxglove WebSocket " +
				"protocol needs the capability connectionGraph"},
		flags.Flag{Name: "delay", Arg: "D", Default: "200ms", Set: flags.Parsed(&l.delay, selection.ParseDuration),
			Help: "wait with the first message, for subscribers to connect (default 200ms)"},
		flags.Flag{Name: "publishers", Kind: flags.OnOff, Set: flags.Put(&l.publishers),
			Help: "in ROS 1, a node for each publisher of the recording, which keeps the last messages of several latched " +
				"publishers of a topic apart; else one node publishes all"},
	)
}

// playHint is the next step if the address is wrong.
const playHint = "add ros1://HOST:11311, the address of a ROS 1 master, or ws://HOST:8765, the address of a " +
	"foxglove_bridge"

// play plays a recording.
func (e *env) play(ctx context.Context) (err error) {
	l, words := &e.set.live, e.words
	if last := len(words) - 1; l.address == "" && last >= 0 && isLive(words[last]) {
		l.address, words = words[last], words[:last]
	}
	address, paths := l.address, e.joinParts(words)
	switch {
	case len(paths) != 1:
		return flags.Usage("type for example: bagconv play drive"+e.fileEnding(0)+" ros1://localhost:11311",
			"play takes one recording and an address, not %d recordings", len(paths))
	case address == "":
		return flags.Usage(playHint, "play needs an address")
	case !isLive(address):
		return flags.Usage(playHint, "%s: play cannot send to this", phrase.Clean(strconv.Quote(address)))
	}
	if err := l.checkAddress(paths[0]); err != nil {
		return err
	}
	e.report.source, e.report.sink = paths[0], address
	source, err := e.detectOne(paths[0])
	if err != nil {
		return err
	}
	clock := live.NewClock(l.rate, l.paused)
	position, err := e.newPosition(ctx, clock, paths[0])
	if err != nil {
		return err
	}
	player, err := e.newPlayer(ctx, clock)
	if err != nil {
		return err
	}
	stop := e.watchKeys(clock, position)
	defer stop()
	e.set.progress, e.set.job.Encoding = "none", "native"
	job, err := e.jobFor(player.Format())
	if err != nil {
		return errors.Join(err, player.Close())
	}
	job.Source, job.SourceFormat, job.Sink, job.MaxMemory = paths[0], source, address, convert.DefaultMemory
	file, err := e.beginRun(ctx, "", []*convert.Job{job})
	if err != nil {
		return errors.Join(err, player.Close())
	}
	results, status := e.playAll(ctx, job, position)
	stop()
	return e.endRun(file, results, e.endPlay(player, clock, results[0], status))
}

// playAll plays a recording until it is not to be played again, and reports the last time. It returns the results of
// that.
func (e *env) playAll(ctx context.Context, job *convert.Job, position *playPosition) (results []*resultJSON,
	status int) {
	position.begin()
	for again := true; again; again = (status == exitOK || status == exitLossy) && e.set.live.loop && ctx.Err() == nil {
		pass := *job
		position.nextPass()
		last, _ := e.runAll(ctx, []*convert.Job{&pass}) // its error is in the results
		e.set.live.passes++
		results, status = last, max(status, last[0].ExitStatus)
	}
	position.stop()
	e.sayResult(results[0], false)
	return results, status
}

// A player publishes recordings. Problems are what counts as a loss, and what does not.
type player interface {
	Format() *storage.Format
	Close() error
	Problems() (lost, others []string)
}

// isLive reports whether a word is the address of a running system.
func isLive(word string) bool {
	scheme, _, ok := strings.Cut(word, "://")
	return ok && slices.Contains(liveSchemes, scheme)
}

// checkAddress refuses an address on which viewers would connect, which serve has, and flags for which the address has
// no use.
func (l *liveSettings) checkAddress(path string) error {
	if strings.HasPrefix(l.address, "ros1://") {
		return nil
	}
	_, place, _ := strings.Cut(strings.TrimSuffix(l.address, "/"), "://")
	if host, port, err := net.SplitHostPort(place); err == nil && (host == "" || net.ParseIP(host).IsUnspecified()) {
		if host == "" {
			host = "127.0.0.1"
		}
		return flags.Usage("viewers connect to bagconv serve "+phrase.Clean(path)+" --listen "+net.JoinHostPort(host, port),
			"%s: play listens on no address", phrase.Clean(l.address))
	}
	if l.publishers {
		return flags.Usage("leave it out", "--publishers does not fit %s: its protocol knows topics alone",
			phrase.Clean(l.address))
	}
	return nil
}

// newPlayer connects to the system of the line.
func (e *env) newPlayer(ctx context.Context, clock *live.Clock) (player, error) {
	l := &e.set.live
	if strings.HasPrefix(l.address, "ros1://") {
		return ros1.NewPlayer(ctx, l.address, ros1.PlayOptions{Clock: clock, ClockHz: l.clock, Publishers: l.publishers,
			Wait: l.wait, Delay: time.Duration(l.delay)})
	}
	p, err := foxglove.NewPublisher(ctx, l.address, foxglove.PublishOptions{Clock: clock, ClockHz: l.clock,
		Wait: l.wait, Delay: time.Duration(l.delay)})
	if err != nil && !errors.Is(err, storage.ErrUnsupported) {
		err = &failure{path: l.address, what: strings.TrimPrefix(err.Error(), l.address+": "),
			hint: "viewers connect to bagconv serve IN", err: err}
	}
	return p, err
}

// noteEarly says how many messages were sent before their topics had subscribers.
func (e *env) noteEarly(l *live.Played, heard bool) {
	messages, topics := int64(0), 0
	for _, t := range l.Topics {
		if t.Early > 0 {
			messages += t.Early
			topics++
		}
	}
	switch {
	case e.set.quiet: // JSON has the numbers
	case l.SubscribersUnknown:
		e.writeLines("note", []string{"the server does not show who subscribes (capability connectionGraph): " +
			"it is not known whether anybody got the messages"})
	case messages == 0:
	case !heard:
		e.writeLines("note", []string{"no topic had a subscriber: nobody got the " + phrase.Count(messages, "message")})
	default:
		e.writeLines("note",
			[]string{fmt.Sprintf("%s of %s were sent before their topic had a subscriber; --wait-for-subscribers waits",
				phrase.Count(messages, "message"), phrase.Count(int64(topics), "topic"))})
	}
}

// endPlay waits until all subscribers have everything, and reports what was not as it should be: on
// standard error, and in the result. It returns the exit status.
func (e *env) endPlay(player player, clock *live.Clock, result *resultJSON, status int) int {
	err := player.Close()
	var early map[string]int64
	heard, known := false, true
	switch p := player.(type) {
	case *ros1.Player:
		early, heard = p.Early()
	case *foxglove.Publisher:
		early, heard, known = p.Early()
	}
	l := clock.Played(early)
	l.SubscribersUnknown = !known
	l.LostConnections, l.Problems = player.Problems()
	e.noteEarly(l, heard)
	l.Passes, result.Live = e.set.live.passes, l
	e.writeLines("lost", l.LostConnections)
	e.writeLines("warning", l.Problems)
	if !e.set.quiet {
		fmt.Fprintf(e.Err, "99%% of the messages were sent within %s of their time, all within %s\n",
			durationText(int64(l.P99)), durationText(int64(l.Most)))
	}
	ended := outcome{lossy: status == exitLossy || len(l.LostConnections) > 0, interrupted: status == exitInterrupted,
		failed: status == exitFailed || err != nil}
	if result.Status, result.ExitStatus = ended.word(), ended.status(); err != nil && result.Error == "" {
		result.Error = explain(err)
		e.sayError(result.Error)
	}
	return result.ExitStatus
}

// playCommand is the command play.
func (e *env) playCommand() flags.Command {
	return flags.Command{
		Name: "play", Part: livePart, Call: "play IN ADDRESS",
		Summary: "play a recording to ROS 1, or to ROS 2 through a bridge",
		About: `Publishes the messages of a recording of any format, at the times at which they
were recorded. ADDRESS is ros1://HOST:11311, a ROS 1 master, or
ws://HOST:8765, a server of the Foxglove WebSocket protocol which takes
messages of its clients: foxglove_bridge publishes them in ROS 2. Nothing of ROS
is needed here. Messages are converted to what the system takes.

play does not send to DDS and Zenoh themselves, or to Apollo Cyber.`,
		Note: `In a ROS 1 system latched topics stay latched, a slow subscriber slows the clock,
and at the end all subscribers get everything before the topics go. A server
shows whether it takes the messages, and with the capability connectionGraph
which topics have subscribers. A slow server slows the clock.
Viewers, such as Foxglove and Lichtblick, connect to bagconv serve.

A terminal shows the position, the rate and the keys (of Linux): space pauses
and continues, s or the right arrow sends the next message of a paused
recording, the up and down arrows change the rate by a tenth.

With --clock nodes need /use_sim_time: set it before they start. The last line
reports how late messages were sent.
Set ROS_IP or ROS_HOSTNAME if other machines reach this one by another address.`,
		Examples: []string{
			"bagconv play drive{file} ros1://localhost:11311",
			"bagconv play drive_ros2/ ros1://robot:11311 -S 30 --rate 0.5 --clock 100",
			"bagconv play drive{file} ws://robot:8765 --clock --loop",
		},
		Exits: flags.Exits{
			0: "all is published, and every subscriber, or the server, has everything",
			1: "failed",
			3: "published, but a connection ended early or the server reports an error, IN is damaged, or something could " +
				"not be converted",
			130: "interrupted",
		},
		Operands: []flags.Flag{{Kind: flags.File}, {}},
		Run:      e.play,
	}
}
