package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/convert/batch"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/live/serve"
)

// defaultListen is the address of serve.
const defaultListen = "127.0.0.1:8765"

// serveFlags returns those of serve.
func (s *settings) serveFlags() []flag {
	return allIn(readGroup, []string{"serve"},
		flag{name: "listen", arg: "ADDRESS", init: defaultListen, set: put(&s.listen),
			help: "address and port to listen on (default " + defaultListen + ", which only this machine reaches). Port 0 is any free one. With :8765 everybody in the network can read the recordings"},
		s.originFlag(),
		flag{name: "merge", arg: "NAME", set: put(&s.merge),
			help: "also serve all recordings as one, under this name"},
		flag{name: "drop", kind: onOff, set: put(&s.live.drop), help: "drop messages for a viewer of /ws/ that does not keep up, and count them; without the flag its clock waits for it"},
		flag{name: "no-cache", kind: onOff, set: put(&s.noCache), help: "do not keep what the pass over a recording has found for the next time. It is kept in bagconv/layouts in the user's folder for caches, up to 256 MB"},
		flag{name: "verbose", short: "v", kind: onOff, set: put(&s.verbose), help: "print a line for each request; without it only for those that fail"},
	)
}

func (s *settings) originFlag() flag {
	return flag{name: "allow-origin", arg: "ORIGIN", several: true, set: parsedEach(&s.origins, parseOrigin),
		help: "let pages of this origin read, such as https://app.foxglove.dev; * is all. Pages from this machine always may. Repeat the flag for more origins"}
}

// parseOrigin checks the value of --allow-origin.
func parseOrigin(text string) (string, error) {
	text = strings.TrimSuffix(text, "/")
	scheme, host, ok := strings.Cut(text, "://")
	if text != "*" && (!ok || scheme != "http" && scheme != "https" || host == "" || strings.ContainsAny(host, "/?#@ ")) {
		return "", usage("it is the beginning of the page's address, such as https://app.foxglove.dev", "--allow-origin %q is no origin", text)
	}
	return strings.ToLower(text), nil
}

// serve answers HTTP requests until it is interrupted.
func (e *env) serve(c *cli.Context) (err error) {
	paths := c.Args().Slice()
	if len(paths) == 0 {
		return usage("type: bagconv serve PATH", "no recording and no folder given")
	}
	host, _, err := net.SplitHostPort(e.set.listen)
	if err != nil {
		return usage("type for example --listen "+defaultListen, "--listen %q is no address with a port", e.set.listen)
	}
	base := iox.FS(e.set.job.Read.FS)
	confined, err := serve.Confine(base, paths)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, confined.Close()) }()
	config := serve.Config{FS: confined, Origins: e.set.origins, Log: e.logRequest}
	if net.ParseIP(host) == nil && host != "" {
		config.Hosts = []string{strings.ToLower(host)}
	}
	config.About = func(ctx context.Context, rec serve.Recording) (*serve.About, error) {
		return e.about(ctx, confined, rec)
	}
	config.Whole = func(ctx context.Context, rec serve.Recording) bool { return e.whole(ctx, confined, rec) }
	closeOutputs, err := e.openOutputs(c, &config)
	if err != nil {
		return err
	}
	defer closeOutputs()
	config.Find = func() ([]serve.Recording, error) { return e.served(paths, confined) }
	found, err := config.Find()
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(c.Context, "tcp", e.set.listen)
	if err != nil {
		return &failure{path: "--listen " + e.set.listen, what: "cannot listen there: " + plainError(err).Error(), hint: "choose another port, or 0 for any", err: err}
	}
	e.say("serving %s at http://%s/ until it is interrupted", count(int64(len(found)), "recording"), listener.Addr())
	e.noteExposed(listener)
	err = serve.New(config).Serve(c.Context, listener)
	if context.Cause(c.Context) != nil {
		return nil // that is how it ends
	}
	return err
}

// noteExposed notes that other machines can connect.
func (e *env) noteExposed(l net.Listener) {
	if addr, ok := l.Addr().(*net.TCPAddr); ok && !addr.IP.IsLoopback() {
		e.writeLines("note", []string{"everybody who reaches " + addr.String() + " can read these recordings"})
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
	if e.set.merge != "" && len(out) > 0 {
		if names[e.set.merge] {
			return nil, usage("choose another", "--merge %s is the name of a recording", clean(e.set.merge))
		}
		out = append(out, mergedRecording(e.set.merge, out))
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
	fmt.Fprintln(e.Err, clean(shortText(line)))
}

// shortText cuts a text that somebody else has chosen.
func shortText(s string) string {
	const most = 500
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}
