package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/internal/convert/batch"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/live/serve"
)

// defaultListen is the address of serve.
const defaultListen = "127.0.0.1:8765"

// serveFlags returns the flags of serve.
func (s *settings) serveFlags() []flags.Flag {
	return flags.AllIn(readGroup, "serve",
		flags.Flag{Name: "listen", Arg: "ADDRESS", Default: defaultListen, Set: flags.Put(&s.serve.listen),
			Help: "address and port to listen on (default " + defaultListen +
				", which only this machine reaches). Port 0 is any free one. With :8765 everybody in the network can read the " +
				"recordings"},
		s.originFlag(),
		flags.Flag{Name: "as-one", Old: []string{"merge"}, Arg: "NAME", Set: flags.Put(&s.serve.asOne),
			Help: "also serve all recordings as one, under this name"},
		flags.Flag{Name: "drop", Kind: flags.OnOff, Set: flags.Put(&s.live.drop), Help: "drop messages for a viewer of " +
			"/ws/ that does not keep up, and count them; without the flag its clock waits for it"},
		flags.Flag{Name: "no-cache", Kind: flags.OnOff, Set: flags.Put(&s.serve.noCache),
			Brief: "keep nothing for the next time", Help: "do not keep what the pass over a recording has found for the next " +
				"time. It is kept in bagconv/layouts in the user's folder for caches, up to 256 MB"},
		flags.Flag{Name: "verbose", Short: "v", Kind: flags.OnOff, Set: flags.Put(&s.verbose),
			Help: "print a line for each request; without it only for those that fail"},
	)
}

func (s *settings) originFlag() flags.Flag {
	return flags.Flag{Name: "allow-origin", Arg: "ORIGIN", Several: true, Set: flags.ParsedEach(&s.serve.origins,
		parseOrigin),
		Help: "let pages of this origin read, such as https://app.foxglove.dev; * is all. Pages from this machine always " +
			"may. Repeat the flag for more origins"}
}

// parseOrigin checks the value of --allow-origin.
func parseOrigin(text string) (string, error) {
	text = strings.TrimSuffix(text, "/")
	scheme, host, ok := strings.Cut(text, "://")
	if text != "*" && (!ok || scheme != "http" && scheme != "https" || host == "" || strings.ContainsAny(host, "/?#@ ")) {
		return "", flags.Usage("it is the beginning of the page's address, such as https://app.foxglove.dev",
			"--allow-origin %q is no origin", text)
	}
	return strings.ToLower(text), nil
}

// serve answers HTTP requests until it is interrupted.
func (e *env) serve(ctx context.Context) (err error) {
	paths := e.words
	if len(paths) == 0 {
		return flags.Usage("type: bagconv serve PATH", "no recording and no folder given")
	}
	host, _, err := net.SplitHostPort(e.set.serve.listen)
	if err != nil {
		return flags.Usage("type for example --listen "+defaultListen, "--listen %q is no address with a port",
			e.set.serve.listen)
	}
	base := iox.FS(e.set.job.Read.FS)
	confined, err := serve.Confine(base, paths)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, confined.Close()) }()
	config := serve.Config{FS: confined, Origins: e.set.serve.origins, Log: e.logRequest}
	if net.ParseIP(host) == nil && host != "" {
		config.Hosts = []string{strings.ToLower(host)}
	}
	config.Report = func(ctx context.Context, rec serve.Recording, o serve.ReportRequest) ([]byte, error) {
		return e.servedReport(ctx, confined, rec, o)
	}
	config.Whole = func(ctx context.Context, rec serve.Recording) bool { return e.whole(ctx, confined, rec) }
	config.Topics = func(ctx context.Context, rec serve.Recording) ([]string, error) {
		return e.topicsOf(ctx, confined, rec)
	}
	config.Fetch = fetchLocal
	config.Messages = func(ctx context.Context, rec serve.Recording, topic string) (*serve.Table, error) {
		return e.servedMessages(ctx, confined, rec, topic)
	}
	config.Formats = e.madeFormats()
	config.Make = func(ctx context.Context, rec serve.Recording, format string) (*serve.Made, error) {
		return e.makeServed(ctx, confined, rec, format)
	}
	closeOutputs, err := e.openOutputs(ctx, &config)
	if err != nil {
		return err
	}
	defer closeOutputs()
	config.Find = func() ([]serve.Recording, error) { return e.served(paths, confined) }
	found, err := config.Find()
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", e.set.serve.listen)
	if err != nil {
		return &failure{path: "--listen " + e.set.serve.listen, what: "cannot listen there: " + plainError(err).Error(),
			hint: "choose another port, or 0 for any", err: err}
	}
	e.say("serving %s at http://%s/ until it is interrupted", phrase.Count(int64(len(found)), "recording"),
		listener.Addr())
	e.noteExposed(listener)
	e.noteViewers()
	err = serve.New(config).Serve(ctx, listener)
	if context.Cause(ctx) != nil {
		return nil // stopped by Ctrl-C
	}
	return err
}

// noteExposed notes that other machines can connect.
func (e *env) noteExposed(l net.Listener) {
	if addr, ok := l.Addr().(*net.TCPAddr); ok && !addr.IP.IsLoopback() {
		e.writeLines("note", []string{"everybody who reaches " + addr.String() + " can read these recordings"})
	}
}

// noteViewers says how viewers on other pages get to read, if no flag allows a page to.
func (e *env) noteViewers() {
	if len(e.set.serve.origins) == 0 {
		e.say("viewers such as Foxglove can read with --allow-origin https://app.foxglove.dev")
	}
}

// served finds the recordings that words name: each with its files as they are now.
func (e *env) served(words []string, fsys *serve.Confined) ([]serve.Recording, error) {
	finder := batch.Finder{FS: e.fs, Formats: e.formats, Detect: e.detect}
	found, err := finder.Find(words)
	if err != nil {
		return nil, err
	}
	var out []serve.Recording
	names := map[string]bool{}
	for _, in := range found.Inputs {
		if in.Err != nil {
			if slices.ContainsFunc(words, func(w string) bool { return iox.SamePath(e.fs, w, in.Path) }) {
				return nil, in.Err // it was named
			}
			continue
		}
		files, err := serve.Files(fsys, in.Format, in.Path)
		if err != nil || len(files) == 0 {
			continue // a link out of the folder, or gone
		}
		whole := servedName(words, in.Path)
		name := whole
		for n := 2; names[name]; n++ {
			ext := filepath.Ext(whole)
			name = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(whole, ext), n, ext)
		}
		names[name] = true
		out = append(out, serve.Recording{Name: name, Path: in.Path, Format: in.Format, Files: files})
	}
	if e.set.serve.asOne != "" && len(out) > 0 {
		if names[e.set.serve.asOne] {
			return nil, flags.Usage("choose another", "--as-one %s is the name of a recording", phrase.Clean(e.set.serve.asOne))
		}
		out = append(out, mergedRecording(e.set.serve.asOne, out))
	}
	return out, nil
}

// servedName returns the name of a recording in addresses: its own, with the folders that it is in
// below a word of the line. If there are several words it begins with that folder.
func servedName(words []string, path string) string {
	for _, word := range words {
		abs, err := iox.Abs(word)
		if err != nil || abs == path {
			continue
		}
		if rel, err := filepath.Rel(abs, path); err == nil && filepath.IsLocal(rel) {
			if len(words) > 1 {
				rel = filepath.Join(filepath.Base(abs), rel)
			}
			return filepath.ToSlash(rel)
		}
	}
	return filepath.Base(path)
}

// logRequest writes a line about a request: one that failed, or any with --verbose.
func (e *env) logRequest(v serve.Event) {
	if !e.set.verbose && v.Status < 400 && v.Err == nil {
		return
	}
	line := fmt.Sprintf("%s %s", v.Method, v.Path)
	if v.Range != "" {
		line += " " + v.Range
	}
	line += fmt.Sprintf(": %d, %s in %s, to %s", v.Status, sizeText(v.Bytes), v.Took.Round(100_000), v.Remote)
	if v.Err != nil {
		line += ": " + v.Err.Error()
	}
	e.logs.Lock()
	defer e.logs.Unlock()
	fmt.Fprintln(e.Err, phrase.Clean(shortText(line)))
}

// shortText cuts a text that somebody else has chosen.
func shortText(s string) string {
	const most = 500
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}

// serveCommand is the command serve.
func (e *env) serveCommand() flags.Command {
	return flags.Command{
		Name: "serve", Part: livePart, Call: "serve PATH...", Summary: "serve recordings over HTTP, to viewers",
		About: `Answers HTTP requests for recordings until it is interrupted, by Ctrl-C for
example. PATH is a recording, or a folder with all recordings in it and below. The
page at / lists them, with a search, links to viewers, the report of each, and
downloads in any format; /index.json has the same as JSON. /files/NAME is a file as it is, whole or in ranges. {served}
is any recording as the file that bagconv convert would write with the same flags:
it is made while it is read, in the parts that are asked for.

Only temporary files are written, and no other file is served: links that lead out
of a folder, and names that begin with a dot, are left out. Only this machine can connect,
unless --listen has another address; there is no password and no encryption. Web
pages from elsewhere can read only with --allow-origin.`,
		Note: `For the file of another format a recording is read once, when somebody asks for it
first. Chunks are not compressed, unless --compression is set.

ws://HOST:PORT/ws/NAME plays a recording to a viewer by the Foxglove WebSocket
protocol: to Foxglove, Lichtblick, dashboards, and bagconv record. Each viewer has a
clock of its own, with which it can pause, seek and change the speed. One that does
not keep up slows its clock, unless --drop is set.`,
		Examples: []string{
			"bagconv serve drive{file}",
			"bagconv serve drives/ --allow-origin https://app.foxglove.dev",
			"bagconv serve drive_ros2/ -t '/camera/*' -t /tf --compression lz4",
			"bagconv serve monday{file} tuesday_ros2/ --as-one week",
			"bagconv serve drives/ --listen :8765",
		},
		Exits: flags.Exits{
			0: "stopped by Ctrl-C",
			1: "a recording cannot be read, or the address cannot be listened on",
		},
		Run: e.serve,
	}
}
