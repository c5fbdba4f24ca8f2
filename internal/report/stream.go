package report

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/internal/export/view"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/storage"
)

// A stream is all messages of one name, type and encoding, whoever published them.
type stream struct {
	topic    *storage.Topic // of the first publisher
	ids      []storage.TopicID
	messages int64 // by the index
	kind     *kind
	looks    []*look
	edges    *message.Field // the list of transforms in the messages of kind.view; nil: they have none
	static   bool
}

// A kind is how the messages of a definition are read.
type kind struct {
	own  *view.Reader // nil: nobody knows how
	view *view.View   // as a well-known type; nil: they have none
}

// name returns the name of the well-known type of a stream, "" without one.
func (s *stream) name() string {
	if s.kind.view == nil {
		return ""
	}
	return s.kind.view.Name
}

// A look reads some numbers of the messages of a stream.
type look struct {
	number int
	stream *stream
	reader *view.Reader
	paths  []*message.Path // to numbers
	curves []int           // the curves of the first paths; the others are of the track
	trail  *trail          // nil: they make no track
	frame  *message.Path   // the name of the frame of the track; nil: they have none
	bad    int64           // messages that do not fit
}

// listStreams finds the streams of the recording, in the order of their names, types and encodings, as check has
// them.
func (g *gatherer) listStreams() {
	type identity struct{ name, typ, encoding string }
	known := map[identity]*stream{}
	kinds := map[string]*kind{}
	g.of = make([]*stream, len(g.info.Topics))
	for i := range g.info.Topics {
		t := &g.info.Topics[i]
		id := identity{t.Name, t.Type, t.Encoding}
		s := known[id]
		if s == nil {
			s = &stream{topic: &t.Topic, kind: g.kindOf(kinds, &t.Topic)}
			known[id] = s
			g.streams = append(g.streams, s)
		}
		s.ids, s.messages = append(s.ids, t.ID), s.messages+t.Messages
		g.of[i] = s
	}
	slices.SortStableFunc(g.streams, func(a, b *stream) int {
		x, y := a.topic, b.topic
		return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.Type, y.Type), cmp.Compare(x.Encoding, y.Encoding))
	})
}

var seed = maphash.MakeSeed()

// kindOf returns the kind of a topic, which topics with the same definition share.
func (g *gatherer) kindOf(known map[string]*kind, t *storage.Topic) *kind {
	key := strings.Join([]string{t.Type, t.Encoding, t.Metadata[storage.MetaMD5Sum], t.Metadata[storage.MetaTypeHash],
		g.known.Evidence.Layout(t), strconv.FormatUint(maphash.Bytes(seed, t.Schema.Data), 36)}, "\x00")
	k := known[key]
	if k == nil {
		k = &kind{}
		known[key] = k
		if r, err := view.ReaderBy(g.mapper, t); err == nil { // else check has a finding about the definition
			k.own, k.view = r, view.Of(t, r)
		}
	}
	return k
}

// number returns the path to a single number of a type, nil if it has none there.
func number(t *message.Type, path string) *message.Path {
	p, err := t.Path(path)
	if err != nil || p.Field.Size == 0 || p.Field.List && !p.Element() {
		return nil
	}
	p.Defaults = true
	return p
}

// look returns the look of a stream with a reader.
func (g *gatherer) look(s *stream, r *view.Reader) *look {
	for _, x := range s.looks {
		if x.reader == r {
			return x
		}
	}
	x := &look{number: len(g.looks), stream: s, reader: r}
	g.looks, s.looks = append(g.looks, x), append(s.looks, x)
	return x
}

// plan decides what is read of the messages.
func (g *gatherer) plan() {
	if len(g.o.Plots) > 0 {
		g.planChosen()
	} else {
		g.planGuesses()
	}
	if len(g.curves) > 0 {
		most := min(max(maxPlotPoints/len(g.curves), leastPlotPoints), mostPlotPoints)
		for i := range g.curves {
			g.curves[i] = newCurve(most, g.start)
		}
	}
	for _, s := range g.streams {
		g.planTrack(s)
		if n := s.name(); n == "tf2_msgs/TFMessage" || n == "tf/tfMessage" {
			if f := s.kind.view.Type.Find("transforms"); f != nil && f.List && f.Type != nil {
				s.edges, s.static = f, strings.HasSuffix(s.topic.Name, "tf_static")
			}
		}
	}
	for _, x := range g.trails {
		x.limit = max(maxTrackPoints/len(g.trails), leastTrackPoints)
		x.limit = min(x.limit, mostTrackPoints)
	}
}

// planChosen plans the plots that the user wants.
func (g *gatherer) planChosen() {
	for _, f := range g.o.Plots {
		found := false
		for _, s := range g.streams {
			if s.topic.Name != f.Topic {
				continue
			}
			found = true
			switch p := g.chosen(s, f.Path); {
			case p == nil:
				g.doubt("no plot of %s.%s: messages of %s have no such number", f.Topic, f.Path, s.topic.Type)
			case len(g.curves) == mostPlots:
				g.leave("plot", 1)
			default:
				g.addPlot(s, s.kind.own, p, guess{path: f.Path}, false)
			}
		}
		if !found {
			g.doubt("no plot of %s.%s: there is no such topic", f.Topic, f.Path)
		}
	}
}

// chosen returns the path of a number.
func (g *gatherer) chosen(s *stream, path string) *message.Path {
	if s.kind.own == nil {
		return nil
	}
	return number(s.kind.own.Type, path)
}

// planGuesses plans the plots of well-known types, of the favourites first.
func (g *gatherer) planGuesses() {
	list := slices.Clone(g.streams)
	slices.SortStableFunc(list, func(a, b *stream) int { return cmp.Compare(rank(a.name()), rank(b.name())) })
	chosen, many := map[*stream][]guess{}, 0
	for _, s := range list {
		all := guesses[s.name()]
		if many+len(all) > maxGuesses {
			g.leave("plot", len(all))
			continue
		}
		chosen[s], many = all, many+len(all)
	}
	for _, s := range g.streams {
		for _, one := range chosen[s] {
			if p := number(s.kind.view.Type, one.path); p != nil {
				g.addPlot(s, s.kind.view.Reader, p, one, true)
			}
		}
	}
}

// addPlot plans a plot.
func (g *gatherer) addPlot(s *stream, r *view.Reader, p *message.Path, f guess, guessed bool) {
	group := s.topic.Name
	if i := strings.LastIndexByte(f.path, '.'); i > 0 {
		group += " " + f.path[:i]
	}
	if f.unit == "" { // fields of one struct need not have one unit
		group = s.topic.Name + " " + f.path
	}
	x := g.look(s, r)
	x.paths, x.curves = append(x.paths, p), append(x.curves, len(g.curves))
	g.curves = append(g.curves, nil)
	g.rec.Plots = append(g.rec.Plots, Plot{Topic: g.text(s.topic.Name), Field: g.text(f.path), Unit: f.unit,
		Group: g.text(group), Guess: guessed})
}

// planTrack plans the track of a stream.
func (g *gatherer) planTrack(s *stream) {
	p, ok := positions[s.name()]
	if !ok {
		return
	}
	t := s.kind.view.Type
	px, py := number(t, p.x), number(t, p.y)
	if px == nil || py == nil {
		return
	}
	if len(g.trails) == maxTracks {
		g.leave("track", 1)
		return
	}
	x := g.look(s, s.kind.view.Reader)
	x.trail = &trail{stream: s, kind: p.kind}
	g.trails = append(g.trails, x.trail)
	x.paths = append(x.paths, px, py)
	if status := number(t, "status.status"); p.kind == kindFix && status != nil {
		x.paths = append(x.paths, status)
	}
	if f, err := t.Path("header.frame_id"); err == nil && f.Field.Kind == message.Text && !f.Field.List {
		x.frame = f
	}
}
