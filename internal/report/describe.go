package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/internal/convert/contract"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// draw makes the plots, the tracks and the tree of what was read.
func (g *gatherer) draw() {
	for i, c := range g.curves {
		p := &g.rec.Plots[i]
		list := c.points()
		slices.SortStableFunc(list, func(a, b point) int {
			switch {
			case a.t < b.t:
				return -1
			case a.t > b.t:
				return 1
			}
			return 0
		})
		p.Times, p.Values, p.Whole = make([]float64, len(list)), make(Numbers, len(list)), !c.isThinned && !g.o.Quick
		for k, x := range list {
			p.Times[k], p.Values[k] = g.seconds(x.t), x.v
		}
	}
	g.rec.Plots = slices.DeleteFunc(g.rec.Plots, func(p Plot) bool { return len(p.Times) == 0 && p.Guess })
	for _, x := range g.trails {
		t, ok := g.track(x)
		if ok {
			g.rec.Tracks = append(g.rec.Tracks, t)
		}
		if x.dropped > 0 {
			g.doubt("%s of the track of %s, as they have no position", plural(x.dropped, "message"), x.stream.topic.Name)
		}
	}
	for _, x := range g.looks {
		if x.bad > 0 {
			g.doubt("%s of %s in plots and tracks, as they do not fit their definition", plural(x.bad, "message"),
				x.stream.topic.Name)
		}
	}
	g.rec.Frames = g.frames()
}

// describe adds what the reader knows without messages.
func (g *gatherer) describe() {
	in, rec := g.info, g.rec
	rec.Format, rec.Version, rec.Size = g.text(in.Format), g.text(in.Version), in.Size
	rec.Start = strconv.FormatInt(g.start, 10)
	rec.Losses = append(append([]string{}, lossLines(in.Lost)...), rec.Losses...)
	g.addProperties()
	g.addTypes()
	qos := map[[3]string]string{}
	for _, s := range g.streams {
		var list []storage.QoS
		for _, id := range s.ids {
			list = append(list, in.Topics[id].QoS...)
		}
		if len(list) > 0 {
			qos[[3]string{cutAt(s.topic.Name, maxText), cutAt(s.topic.Type, maxText), cutAt(s.topic.Encoding, maxText)}] =
				qosText(list)
		}
	}
	for i := range rec.Topics {
		t := &rec.Topics[i]
		t.QoS = qos[[3]string{t.Name, t.Type, t.Encoding}]
	}
}

// addProperties lists what the format says of the recording.
func (g *gatherer) addProperties() {
	in := g.info
	g.rec.Properties = []Property{}
	add := func(name, value string) {
		if value == "" {
			return
		}
		if len(g.rec.Properties) >= mostLines {
			g.leave("property", 1)
			return
		}
		g.rec.Properties = append(g.rec.Properties, Property{g.text(name), g.sentence(value)})
	}
	var codecs []string
	for _, name := range sortedKeys(in.Compression) {
		codecs = append(codecs, fmt.Sprintf("%s in %s", name, plural(in.Compression[name], "block")))
	}
	add("compression", strings.Join(codecs, ", "))
	add("distribution", in.Metadata[storage.MetaDistro])
	for _, f := range in.Facts {
		add(f.Key, f.Value)
	}
	if len(in.Files) > 1 {
		add("files", grouped(int64(len(in.Files))))
	}
	for _, key := range sortedKeys(in.Metadata) {
		if key != storage.MetaDistro {
			add(key, in.Metadata[key])
		}
	}
}

// addTypes lists the definitions, each once.
func (g *gatherer) addTypes() {
	type identity struct{ name, encoding, hash, text string }
	place := map[identity]int{}
	g.rec.Types = []Type{}
	size, more := int64(0), 0
	for _, s := range g.streams {
		t := s.topic
		hash := t.Metadata[storage.MetaTypeHash]
		if hash == "" && t.Metadata[storage.MetaMD5Sum] != "*" {
			hash = t.Metadata[storage.MetaMD5Sum]
		}
		id := identity{t.Type, t.Encoding, hash, string(t.Schema.Data)}
		i, ok := place[id]
		if !ok {
			i = len(g.rec.Types)
			if i >= mostTypes {
				more++
				continue
			}
			place[id] = i
			one := Type{Name: g.text(t.Type), Encoding: g.text(t.Encoding), Hash: g.text(hash)}
			switch text := g.definition(t); {
			case len(text) > maxDefinition, size+weight(text) > maxDefinitions:
				g.leave("definition", 1)
			default:
				one.Definition, size = text, size+weight(text)
			}
			g.rec.Types = append(g.rec.Types, one)
		}
		g.rec.Types[i].Topics++
	}
	if more > 0 {
		g.note("types of %s", plural(int64(more), "more topic"))
	}
}

// textual reports whether definitions of an encoding are text.
func textual(encoding string) bool {
	return slices.Contains([]string{"ros1msg", "ros2msg", "ros2idl", "omgidl", "jsonschema"}, encoding)
}

// definition returns the definition that a recording has of a topic, descriptors as .proto text; "": it has no
// definition, or of another kind.
func (g *gatherer) definition(t *storage.Topic) string {
	switch {
	case textual(t.Schema.Encoding):
		return string(t.Schema.Data)
	case t.Encoding == "protobuf" && len(t.Schema.Data) > 0:
		return g.mapper.Text(t).Source
	}
	return ""
}

// expected returns the rate that the contract wants of a topic, in the middle of what it allows; 0 without one.
func (g *gatherer) expected(name string) float64 {
	c := g.o.Check.Contract
	if c == nil {
		return 0
	}
	for _, pattern := range c.Names() {
		p, err := selection.ParsePattern(pattern)
		rule := c.Topics[pattern]
		if err != nil || rule == nil || rule.Rate == nil || !p.Match(name) {
			continue
		}
		return middle(rule.Rate)
	}
	return 0
}

// middle returns the middle of a range of rates: so that a range from four fifths to five fourths of a rate has it.
func middle(r *contract.Range[float64]) float64 {
	switch {
	case r.Min == nil:
		return *r.Max
	case r.Max == nil || *r.Min == 0 && *r.Max == 0:
		return *r.Min
	case *r.Min == 0:
		return *r.Max / 2
	}
	return round(math.Sqrt(*r.Min**r.Max), 1e3)
}
