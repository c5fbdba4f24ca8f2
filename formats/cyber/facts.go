package cyber

import (
	"fmt"
	"strings"
	"time"

	pb "github.com/bagconv/bagconv/proto/cyber"
	"github.com/bagconv/bagconv/storage"
)

// facts lists what is known of a recording beyond what all formats have.
func (r *reader) facts() []storage.Fact {
	var out []storage.Fact
	add := func(key, format string, args ...any) {
		out = append(out, storage.Fact{Key: key, Value: fmt.Sprintf(format, args...)})
	}
	each := func(f func(*file) string) string {
		var values []string
		for _, x := range r.files {
			if v := f(x); v != "" && (len(values) == 0 || values[len(values)-1] != v) {
				values = append(values, v)
			}
		}
		return strings.Join(values, ", ")
	}
	add("index", "%s", each(func(f *file) string { return f.index.String() }))
	add("counts", "%s", each(func(f *file) string {
		if f.proven {
			return "from the index"
		}
		return "measured"
	}))
	if complete := each(func(f *file) string {
		switch {
		case f.header == nil:
			return "unknown: the header cannot be read"
		case f.missing > 0:
			return fmt.Sprintf("no: %d of the %d messages of the header are missing", f.missing, f.header.GetMessageNumber())
		case f.header.GetIsComplete():
			return "yes"
		}
		return "no: the recorder was not stopped cleanly"
	}); complete != "" {
		add("complete", "%s", complete)
	}
	r.chunkFacts(add)
	if h := r.files[0].header; h != nil {
		var limits []string
		if n := h.GetSegmentRawSize(); n > 0 {
			limits = append(limits, mb(n))
		}
		if n := h.GetSegmentInterval(); n > 0 {
			limits = append(limits, seconds(clamp(n)))
		}
		limit := ""
		if len(limits) > 0 {
			limit = ", cut after " + strings.Join(limits, " or ")
		}
		if len(r.files) > 1 || limit != "" {
			add("segments", "%d%s", len(r.files), limit)
		}
		addMap(add, h)
	}
	return out
}

// addMap adds what Apollo 9 and later writes about map and vehicle.
func addMap(add func(string, string, ...any), h *pb.Header) {
	if m := h.GetMapInfo(); m.GetName() != "" || m.GetVersion() != "" {
		add("map", "%s", strings.TrimSpace(m.GetName()+" "+m.GetVersion()))
	}
	if v := h.GetVehicleInfo().GetName(); v != "" {
		add("vehicle", "%s", v)
	}
}

// chunkFacts adds how large and long chunks are.
func (r *reader) chunkFacts(add func(string, string, ...any)) {
	var n, sum, most, longest int64
	for _, f := range r.files {
		for _, c := range f.chunks {
			n++
			sum += c.size
			most = max(most, c.size)
			if c.count > 0 {
				longest = max(longest, c.end-c.begin)
			}
		}
	}
	if n > 0 {
		add("chunks", "%d, %s on average, %s at most, up to %s", n, mb(uint64(sum/n)), mb(uint64(most)), seconds(longest))
	}
}

func mb(n uint64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1e3:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%d B", n)
}

func seconds(ns int64) string { return fmt.Sprintf("%.3g s", time.Duration(ns).Seconds()) }
