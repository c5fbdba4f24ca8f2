package catalogue

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bagconv/bagconv/internal/convert/batch"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// What a catalogue has of one recording, at most.
const (
	MaxTopics = 100_000
	MaxText   = 4096 // bytes of a text, but of the path
)

// timeLayout is RFC 3339 of one length, so that times are in order as text.
const timeLayout = "2006-01-02T15:04:05.000000000Z"

// fileRow describes a recording by its files alone. name is its path as it is shown.
func fileRow(in *batch.Input, name string) *Recording {
	r := &Recording{Path: valid(name), Size: in.Size, Files: int64(len(in.Files)), ModifiedNS: in.ModTime.UnixNano(),
		ETag: tagOf(in)}
	if in.Format != nil {
		r.Format = &in.Format.Name
	}
	return r
}

// tagOf returns what a store calls the versions of the files of a recording; nil if they have no such name.
func tagOf(in *batch.Input) *string {
	if !iox.IsURL(in.Path) {
		return nil
	}
	var tags []string
	for _, path := range in.Files {
		st, err := iox.FS(in.FS).Stat(path)
		if err != nil {
			return nil
		}
		v, ok := st.(interface{ Version() string })
		if !ok || v.Version() == "" {
			return nil
		}
		tags = append(tags, v.Version())
	}
	tag := strings.Join(tags, ",")
	if len(tag) > 64 {
		tag = hashOf(tag)
	}
	return &tag
}

// describe adds what a reader knows of a recording.
func (r *Recording) describe(info *storage.Info) {
	d := recording.Describe(info, nil)
	r.Format, r.FormatVersion = r.text(d.Format), r.text(d.Version)
	r.Messages, r.Estimated, r.Locked = &d.Messages, d.Estimated, info.Locked
	r.LostMessages, r.LostBytes = d.Lost.Messages, d.Lost.Bytes
	r.Compression = r.text(strings.Join(slices.Sorted(maps.Keys(d.Compression)), ","))
	if d.StartNS != nil {
		r.StartNS, r.EndNS = d.StartNS, d.EndNS
		r.Start, r.End = timeText(*d.StartNS), timeText(*d.EndNS)
		if span := *d.EndNS - *d.StartNS; span >= 0 == (*d.EndNS >= *d.StartNS) {
			r.DurationNS = &span
		} else {
			r.LeftOut++ // more than 292 years
		}
	}
	var damage, notes []string
	for _, w := range d.Warnings {
		if w.Damage {
			damage = append(damage, w.Code)
		} else {
			notes = append(notes, w.Code)
		}
	}
	r.Damage, r.Notes = r.text(codes(damage)), r.text(codes(notes))
	r.addTopics(d, definitions(info))
}

// addTopics adds the topics of a recording.
func (r *Recording) addTopics(d *recording.Description, hashes map[Key]string) {
	r.TopicCount = int64(len(d.Topics))
	if more := len(d.Topics) - MaxTopics; more > 0 {
		r.LeftOut += int64(more)
		d.Topics = d.Topics[:MaxTopics]
	}
	var all []string
	for i := range d.Topics {
		t := &d.Topics[i]
		key := Key{t.Name, t.Type, t.Encoding}
		hash := hashes[key]
		if hash != "" {
			all = append(all, t.Type+"\x00"+hash)
		}
		row := Topic{Name: r.must(t.Name), Type: r.must(t.Type), Encoding: r.must(t.Encoding), Count: t.Count,
			Connections: int64(t.Connections), Latched: t.Latched, DefinitionEncoding: r.text(t.Definition),
			DefinitionHash: r.text(hash), MD5Sum: r.text(t.MD5Sum), TypeHash: r.text(t.TypeHash)}
		if len(t.QoS) > 0 {
			qos, _ := json.Marshal(t.QoS) // texts and numbers cannot fail
			if row.QoS = r.text(string(qos)); len(qos) > MaxText {
				row.QoS = nil // a part of JSON is no JSON
			}
		}
		if d.DurationNS != nil && r.DurationNS != nil && *r.DurationNS > 0 && t.Count > 1 {
			hz := math.Round(float64(t.Count-1)/(float64(*r.DurationNS)/1e9)*1000) / 1000
			row.Hz = &hz
		}
		r.Topics, r.keys = append(r.Topics, row), append(r.keys, key)
	}
	if slices.Sort(all); len(all) > 0 {
		hash := hashOf(slices.Compact(all)...)
		r.Definitions = &hash
	}
}

// definitions returns a hash of the definitions of each topic that has one.
func definitions(info *storage.Info) map[Key]string {
	list := map[Key][]string{}
	for i := range info.Topics {
		t := &info.Topics[i]
		if t.Schema.Encoding == "" && len(t.Schema.Data) == 0 {
			continue
		}
		k := Key{t.Name, t.Type, t.Encoding}
		if hash := hashOf(t.Schema.Encoding, string(t.Schema.Data)); !slices.Contains(list[k], hash) {
			list[k] = append(list[k], hash)
		}
	}
	out := map[Key]string{}
	for k, hashes := range list {
		if out[k] = hashes[0]; len(hashes) > 1 { // publishers that do not agree
			slices.Sort(hashes)
			out[k] = hashOf(hashes...)
		}
	}
	return out
}

// hashOf returns SHA-256 of texts, each with a zero byte behind it, as 32 digits.
func hashOf(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		h.Write([]byte(t))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func timeText(ns int64) *string {
	s := time.Unix(0, ns).UTC().Format(timeLayout)
	return &s
}

// codes joins codes, each of them once, in order.
func codes(list []string) string {
	slices.Sort(list)
	return strings.Join(slices.Compact(list), ",")
}

// text returns a text as the catalogue has it; nil for "".
func (r *Recording) text(s string) *string {
	if s == "" {
		return nil
	}
	s = r.must(s)
	return &s
}

// must returns a text that is valid and not too long.
func (r *Recording) must(s string) string {
	if s = valid(s); len(s) <= MaxText {
		return s
	}
	r.LeftOut++
	end := MaxText
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// valid returns a text whose bytes that are not UTF-8 stand there as \xNN. A zero byte, at which some readers end, does
// too.
func valid(s string) string {
	if utf8.ValidString(s) && !strings.Contains(s, "\x00") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		c, n := utf8.DecodeRuneInString(s[i:])
		if c == utf8.RuneError && n == 1 || c == 0 {
			fmt.Fprintf(&b, `\x%02x`, s[i])
		} else {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}
