package convert

import (
	"context"
	"math"

	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/storage"
)

// sampleBytes is how much of a recording a dry run reads, in bytes of memory: less than a second
// of work.
const sampleBytes = 32 << 20

// extrapolate makes the counts of a part of the source, share of it, what is expected of all.
// The index has the number of messages of a topic, unless a part of its time is selected.
func (o *output) extrapolate(info *storage.Info, share float64) {
	o.share, o.plan.scale = share, make([]float64, len(o.Counts))
	for i := range o.Counts {
		c, all := &o.Counts[i], float64(info.Topics[i].Messages)
		if o.plan.scale[i] = 1; share == 1 || !o.Choice.Topics[i] {
			continue
		}
		if o.Choice.First != math.MinInt64 || o.Choice.Last != math.MaxInt64 {
			if c.Read > 0 {
				all = min(math.Ceil(float64(c.Read)/share), all)
			} else {
				all = math.Ceil(all * timeShare(info, o.Choice.First, o.Choice.Last))
			}
		}
		if c.Read == 0 { // of the sample; it is as good as known what becomes of them
			if c.Read = int64(all); !o.Routes[i].Drop {
				c.Written = c.Read
			}
			continue
		}
		o.plan.scale[i] = max(all/float64(c.Read), 1)
		scale(c, o.plan.scale[i])
	}
}

// timeShare returns how much of the time of a recording is from first to last, from 0 to 1.
func timeShare(info *storage.Info, first, last int64) float64 {
	first, last = max(first, info.Start), min(last, info.End)
	if first > last {
		return 0
	}
	return (float64(last-first) + 1) / (float64(info.End-info.Start) + 1)
}

// scale multiplies what is counted. All messages from before a cut are known.
func scale(c *recording.Count, by float64) {
	c.Written -= c.Repeated
	defer func() { c.Written += c.Repeated }()
	for _, n := range []*int64{&c.Read, &c.Written, &c.Thinned, &c.Filtered, &c.Undecided, &c.Unedited, &c.Emptied,
		&c.Unstamped, &c.PublishTimes, &c.Sequences, &c.Bad,
		&c.OutOfRange, &c.TooLarge} {
		*n = scaled(*n, by)
	}
}

func scaled(n int64, by float64) int64 { return int64(math.Round(float64(n) * by)) }

// measureExtras adds up the bytes of what writeExtras would write. There may be no place for
// them.
func (o *output) measureExtras(ctx context.Context, r storage.Reader, place bool) (err error) {
	var to []storage.ExtraWriter
	if place {
		to = append(to, o)
	}
	if o.extrasFolder, o.size = nil, 0; !o.job.SkipExtras {
		o.plan.extras, _, err = copyExtras(ctx, r, to...)
	}
	for _, a := range o.added {
		if o.caps.Extras == nil {
			return ErrNoPlace
		}
		o.size += a.Size
	}
	return err
}

// WriteAttachment counts the bytes of an attachment, for a dry run.
func (o *output) WriteAttachment(a *storage.Attachment) error {
	content, err := a.Open()
	if err != nil {
		return err
	}
	o.size += a.Size
	return content.Close()
}

// WriteMetadata does nothing: a metadata record is small.
func (o *output) WriteMetadata(*storage.MetadataRecord) error { return nil }
