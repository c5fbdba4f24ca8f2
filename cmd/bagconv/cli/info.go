package cli

import (
	"context"
	"errors"
	"reflect"
	"sort"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/convert/recording"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// scanLimit is up to which size --scan auto reads the whole recording, in bytes. Of
// a larger one counts may be estimated.
const scanLimit = 256e6

// scanDistant is the same for one that is not on this machine.
const scanDistant = 16e6

func scanLimitOf(path string) int64 {
	if iox.IsURL(path) {
		return scanDistant
	}
	return scanLimit
}

// info shows recordings one after the other. One that cannot be read does not
// keep the others from being shown.
func (e *env) info(c *cli.Context) error {
	paths := c.Args().Slice()
	if len(paths) == 0 {
		return usage("type: bagconv info IN", "no input given")
	}
	var key []keyStep
	if c.IsSet("key") {
		if e.set.json {
			return usage("omit one of them", "--json prints everything, --key a single value")
		}
		var err error
		if key, err = parseKey(e.set.key); err != nil {
			return err
		}
	}
	var ended outcome
	var all []*infoJSON
	for i, path := range paths {
		in, err := e.describeInput(c, path)
		switch {
		case errors.Is(err, context.Canceled):
			return err
		case err != nil:
			ended.failed = true
			e.sayError(explain(err))
			in = infoOf(&storage.Info{Path: path}, nil)
			in.Error = explain(err)
		case in.damaged():
			ended.lossy = true
		}
		all = append(all, in)
		switch {
		case e.set.json || err != nil:
		case key != nil:
			before := ""
			if len(paths) > 1 {
				before = clean(path) + "\t"
			}
			if err := writeKey(e.Out, before, reflect.ValueOf(in), key); err != nil {
				return err
			}
		default:
			if i > 0 {
				_, _ = e.Out.Write([]byte("\n"))
			}
			if err := e.writeInfo(e.Out, in); err != nil {
				return err
			}
		}
	}
	if e.set.json {
		if err := writeJSONs(e.Out, all); err != nil {
			return err
		}
	}
	return ended.end()
}

// describeInput opens a recording, reads all of it when that is asked for, and
// returns what info shows.
func (e *env) describeInput(c *cli.Context, path string) (in *infoJSON, err error) {
	open, mode := e.glance, e.set.scan
	if mode == "always" {
		open = e.open
	}
	r, err := open(c.Context, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	attachments, records, err := extrasOf(r.Reader)
	if err != nil {
		return nil, err
	}
	info := r.Info
	var scan *recording.Totals
	if !info.Locked && (mode == "always" || mode == "auto" && info.Size <= scanLimitOf(path)) {
		show := e.newProgress()
		scan, err = r.Totals(c.Context, recording.Query{Threads: e.set.job.Threads, Progress: show.update})
		show.stop()
		if err != nil {
			return nil, err
		}
	}
	info.Damage = r.Reader.Damage() // with what was met on the way
	in = infoOf(info, scan)
	in.Attachments, in.Records = attachments, records
	return in, nil
}

// open opens a recording of any format.
func (e *env) open(ctx context.Context, path string) (*recording.Source, error) {
	return e.openWith(ctx, path, storage.ReadOptions{})
}

// glance opens a recording for its Info, in which counts may be estimated.
func (e *env) glance(ctx context.Context, path string) (*recording.Source, error) {
	return e.openWith(ctx, path, storage.ReadOptions{InfoOnlyAbove: scanLimitOf(path)})
}

func (e *env) openWith(ctx context.Context, path string, o storage.ReadOptions) (*recording.Source, error) {
	ref, err := e.refOf(path)
	if err != nil {
		return nil, err
	}
	o.Key, o.FS = ref.Read.Key, ref.Read.FS
	ref.Read = o
	return recording.Open(ctx, ref)
}

// refOf names a recording of the line, with the flags for inputs.
func (e *env) refOf(path string) (ref recording.Ref, err error) {
	job := &e.set.job
	ref = recording.Ref{Path: path, Read: storage.ReadOptions{FS: e.files(), Key: job.Read.Key}, Definitions: job.Definitions, Distro: job.Distro}
	if ref.Distro == mapping.ROS1Distro { // of which gen makes code, and which is no choice of definitions
		ref.Distro = ""
	}
	ref.Format, err = e.detect(path)
	return ref, err
}

// A topicGroup is the topics of a recording that have name, type and encoding
// in common: its publishers.
type topicGroup struct {
	storage.TopicInfo                        // the first one
	ids               []storage.TopicID      // all
	messages          int64                  // of all
	stats             *recording.TopicTotals // of all; nil without a scan
}

// groups joins publishers, ordered by name, then type, then encoding.
func groups(info *storage.Info, scan *recording.Totals) []*topicGroup {
	type key struct{ name, typ, encoding string }
	byKey := map[key]*topicGroup{}
	var out []*topicGroup
	for i, t := range info.Topics {
		k := key{t.Name, t.Type, t.Encoding}
		g := byKey[k]
		if g == nil {
			g = &topicGroup{TopicInfo: t}
			byKey[k] = g
			out = append(out, g)
		}
		g.ids = append(g.ids, t.ID)
		if scan == nil {
			g.messages += t.Messages
			continue
		}
		if g.stats == nil {
			g.stats = &recording.TopicTotals{}
		}
		s := scan.Topics[i]
		if s.Messages > 0 {
			if g.stats.Messages == 0 {
				g.stats.First, g.stats.Last = s.First, s.Last
			}
			g.stats.First, g.stats.Last = min(g.stats.First, s.First), max(g.stats.Last, s.Last)
		}
		g.stats.Messages += s.Messages
		g.stats.Bytes += s.Bytes
		g.stats.Stored += s.Stored
		g.messages += s.Messages
	}
	sort.SliceStable(out, func(i, j int) bool {
		a, b := out[i], out[j]
		switch {
		case a.Name != b.Name:
			return a.Name < b.Name
		case a.Type != b.Type:
			return a.Type < b.Type
		}
		return a.Encoding < b.Encoding
	})
	return out
}
