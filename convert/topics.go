package convert

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/convert/edit"
	"github.com/bagconv/bagconv/internal/convert/extras"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// A topicPlan is what becomes of each topic of the source.
type topicPlan struct {
	format       *storage.Format // of the sink
	mapper       *mapping.Mapper
	edit         *selection.Edit
	inputs       []int   // first topics of the inputs, if there are several
	earlier      int     // inputs that follow in the output, and begin before one that stands before them ends
	joiner       *joiner // made by join
	sinks        []sinkTopic
	results      []*mapping.Result // index = TopicID of the source; nil: it cannot cross
	errs         []error           // why it cannot
	sinkOf       []int             // index into sinks, -1 when it cannot cross
	chosen       []bool            // index = TopicID of the source; nothing else is set of the others
	writerLosses []Loss            // found by the writer
	writerNotes  []Note            // of the writer
	extras       []Loss            // attachments and metadata records that are not copied
	// what counts are multiplied with, by topic of the source, as only a part was read; nil: all was
	scale        []float64
	extrasFolder *extras.Folder   // the extras that are written into Job.Extras; nil: no such folder
	stamps       []*mapping.Stamp // in the source, becomes the log time; nil: none
	marks        []*mapping.Stamp // in the sink, takes the log time; nil: none
	edits        []*edit.Program  // of values; nil: all stay
	uneditable   []error          // why frames cannot be changed; nil: they can
}

// planTopics maps every topic. encoding is what messages become that do not stay as
// they are.
func planTopics(job *Job, encoding string, info *storage.Info, choice *selection.Choice,
	known mapping.Known) (*topicPlan, error) {
	o := known.Options()
	o.Encoding, o.Keep, o.Holds = encoding, job.stays, job.SinkFormat.Holds.CarriesTopic
	o.Target, o.Distro, o.Rosout = job.Target, job.distro(), job.Rosout
	o.ProtoTypes, o.Frames, o.Layout = job.ProtoTypes, job.Frames, job.ApolloLayout
	o.Decided = encoding == ""
	o.Events = !job.SinkFormat.Holds.ServiceText
	o.Hashes = job.SourceFormat.Name != job.SinkFormat.Name
	o.Sequence = job.SinkFormat.Holds.Sequence && !job.SourceFormat.Holds.Sequence
	mapper := mapping.New(o)
	p := &topicPlan{format: job.SinkFormat, mapper: mapper, edit: &job.Edit}
	return p, p.add(info, choice)
}

// add maps the topics of the source that the plan does not have yet.
func (p *topicPlan) add(info *storage.Info, choice *selection.Choice) error {
	first, n := len(p.results), len(info.Topics)
	p.chosen = choice.Topics
	p.results = append(p.results, make([]*mapping.Result, n-first)...)
	p.errs = append(p.errs, make([]error, n-first)...)
	p.stamps = append(p.stamps, make([]*mapping.Stamp, n-first)...)
	p.marks = append(p.marks, make([]*mapping.Stamp, n-first)...)
	p.edits = append(p.edits, make([]*edit.Program, n-first)...)
	p.uneditable = append(p.uneditable, make([]error, n-first)...)
	p.mapper.Complete(chosenTopics(info, choice))
	for i := first; i < n; i++ {
		p.sinkOf = append(p.sinkOf, -1)
		if !choice.Topics[i] {
			continue
		}
		t := info.Topics[i].Topic
		t.QoS = p.edit.Profiles(t.Name, t.QoS) // latched topics of ROS 1 depend on them
		res, err := p.mapper.Map(&t)
		if errors.Is(err, mapping.ErrRules) {
			return fmt.Errorf("topic %s: %w", t.Name, err)
		}
		if err != nil {
			p.errs[i] = err
			continue
		}
		if err := p.planEdits(&info.Topics[i], i); err != nil {
			return err
		}
		if res.HeaderSeq == mapping.SeqToSequence && p.edits[i] != nil && p.edits[i].SetsSeq() {
			return &recording.ConditionError{Topic: t.Name, Err: errSeq}
		}
		res.Plan = mapping.After(p.program(i), res.Plan)
		res.Topic.QoS = p.edit.Profiles(t.Name, res.Topic.QoS)
		p.results[i] = res
		res.Fit(p.format)
		res.Topic.Name = p.edit.Name(res.Topic.Name)
		p.planStamps(info, i)
	}
	return nil
}

// join decides which topics of the source become one in a sink that distinguishes topics
// by identity, and what they are called. first is the first topic of which that is open: 0,
// unless others came after it.
func (p *topicPlan) join(identity storage.Identity, first int) {
	if first == 0 {
		p.joiner = newJoiner(identity)
	}
	sinks := p.joiner
	for i := first; i < len(p.results); i++ {
		res := p.results[i]
		if res == nil {
			continue
		}
		t := res.Topic
		if valid := p.format.Holds.TopicName; valid != nil && !valid(t.Name) {
			t.Name = mapping.PlainName(t.Name)
		}
		// ROS 2 knows no publishers, and readers take two channels of one name and type for one.
		p.sinkOf[i] = sinks.add(&t, i, p.inputOf(i), res.Plan != nil && t.Encoding == "cdr")
		if name := res.Topic.Name; name != t.Name {
			sinks.sinks[p.sinkOf[i]].invalid = &name
		}
	}
	p.sinks = sinks.finish()
}

// inputOf returns the first topic of the input that a topic is of, -1 if there is one input.
func (p *topicPlan) inputOf(topic int) int {
	start := -1
	for _, first := range p.inputs {
		if first <= topic {
			start = first
		}
	}
	return start
}

func chosenTopics(info *storage.Info, choice *selection.Choice) (topics []*storage.Topic) {
	for i := range info.Topics {
		if choice.Topics[i] {
			topics = append(topics, &info.Topics[i].Topic)
		}
	}
	return topics
}

// planStamps finds the stamps that a restamp needs.
func (p *topicPlan) planStamps(info *storage.Info, i int) {
	switch p.edit.Restamp {
	case selection.RestampHeader:
		p.stamps[i] = p.mapper.Stamp(&info.Topics[i].Topic)
	case selection.RestampLog:
		if s := p.mapper.Stamp(&p.results[i].Topic); s != nil && s.Settable() {
			p.marks[i] = s
		}
	}
}

// describe adds what became of each topic to the report.
func (p *topicPlan) describe(report *Report, info *storage.Info, counts []recording.Count) {
	r := &reporter{report, map[Loss]int{}, map[Note]int{}}
	for i := range info.Topics {
		if !p.chosen[i] {
			continue
		}
		t := &info.Topics[i]
		n := counts[i]
		tr := TopicReport{Name: t.Name, Type: t.Type, Encoding: t.Encoding, Read: n.Read, Written: n.Written,
			Filtered: n.Filtered, Thinned: n.Thinned, Duplicates: n.Duplicates, Present: n.Present, Repeated: n.Repeated}
		if res := p.results[i]; res != nil && p.sinks[p.sinkOf[i]].refused == nil {
			tr.SinkType, tr.SinkEncoding, tr.Definition = res.Topic.Type, res.Topic.Encoding, res.Definition
			for _, m := range res.Remarks {
				if m.Loss {
					if n.Read > 0 && !m.Counted {
						r.lose(Loss{Code: m.Code, Topic: t.Name, Count: n.Written, Message: m.Message, ByDesign: m.ByDesign,
							Fields: m.Fields})
					}
				} else {
					r.note(Note{Code: m.Code, Topic: t.Name, Message: m.Message, Warning: m.Warning && n.Read > 0})
				}
			}
		} else {
			err := p.errs[i]
			if res != nil {
				err = p.sinks[p.sinkOf[i]].refused
			}
			if n.Read > 0 {
				r.lose(Loss{Code: "topic-dropped", Topic: t.Name, Count: n.Read, Message: err.Error()})
			} else {
				r.note(Note{Code: "topic-dropped", Topic: t.Name, Message: "it has no messages and is left out: " + err.Error()})
			}
		}
		for _, l := range mapping.Losses(programOf(p.results[i])) {
			if p.scale != nil {
				l.Messages, l.Bytes = scaled(l.Messages, p.scale[i]), scaled(l.Bytes, p.scale[i])
			}
			if l.Kept {
				r.note(Note{Code: l.Code, Topic: t.Name, Count: l.Messages, Message: l.Message})
				continue
			}
			r.lose(Loss{Code: l.Code, Topic: t.Name, Count: l.Messages, Bytes: l.Bytes, Message: l.Message})
		}
		if p.results[i] != nil {
			p.describeStamps(r, t.Name, i, &n)
		}
		p.describeCounts(r, t.Name, &n)
		p.describeEdits(r, t.Name, i, &n, &tr)
		report.Topics = append(report.Topics, tr)
	}
	for _, n := range p.writerNotes {
		r.note(n)
	}
	if p.earlier > 0 {
		r.note(Note{Code: "times-go-back", Message: fmt.Sprintf("messages follow each other input by input, and times go "+
			"back: of the inputs, %d begin before one that stands before them ends", p.earlier)})
	}
	for _, l := range slices.Concat(p.writerLosses, p.extras) {
		r.lose(l)
	}
	if p.extrasFolder != nil {
		if x := p.extrasFolder.Index(); len(x.Attachments)+len(x.Metadata) > 0 {
			r.note(Note{Code: "extras",
				Message: fmt.Sprintf("the output has no place for %d attachments and %d metadata records; they are in %s",
					len(x.Attachments), len(x.Metadata), p.extrasFolder.Dir())})
		}
	}
	p.describeUnused(r, info)
	p.describeJoins(r)
	p.describeMetadata(r, info)
}

// describeCounts reports messages of a topic that could not be written, or not as they were.
func (p *topicPlan) describeCounts(r *reporter, name string, n *recording.Count) {
	if n.Bad > 0 {
		r.lose(Loss{Code: unreadableCode, Topic: name, Count: n.Bad,
			Message: "messages do not fit their definition; the first: " + n.FirstBad.Error()})
	}
	if n.Undecided > 0 {
		r.lose(Loss{Code: "condition-undecided", Topic: name, Count: n.Undecided,
			Message: "the values of messages do not decide --where, and they are left out; the first: " +
				n.FirstUndecided.Error()})
	}
	if n.Unedited > 0 {
		r.lose(Loss{Code: "edit-refused", Topic: name, Count: n.Unedited,
			Message: "messages are left out, because values do not fit or cannot be found; the first: " +
				n.FirstUnedited.Error()})
	}
	if n.Through > 0 {
		r.note(Note{Code: "through", Topic: name, Count: n.Through, Message: "they went through the program"})
	}
	if n.Changed > 0 {
		r.note(Note{Code: "through-changed", Topic: name, Count: n.Changed, Message: "the program has changed them"})
	}
	if n.TooLarge > 0 {
		r.lose(Loss{Code: "message-too-large", Topic: name, Count: n.TooLarge,
			Message: fmt.Sprintf("the format cannot store messages of more than %d bytes", p.format.Holds.MaxMessage)})
	}
	if n.PublishTimes > 0 {
		r.lose(Loss{Code: "publish-time", Topic: name, Count: n.PublishTimes, ByDesign: true,
			Message: "the format has no place for the publish time; the log time replaces it"})
	}
	if n.Sequences > 0 {
		r.lose(Loss{Code: "sequence", Topic: name, Count: n.Sequences, ByDesign: true,
			Message: "the format has no place for the publisher's sequence number"})
	}
	if n.OutOfRange > 0 {
		r.lose(Loss{Code: "time-out-of-range", Topic: name, Count: n.OutOfRange,
			Message: "the format cannot store times before 1970, or as late as these"})
	}
}

// describeStamps notes which messages keep their times although others are
// asked for.
func (p *topicPlan) describeStamps(r *reporter, name string, i int, n *recording.Count) {
	switch {
	case p.edit.Restamp == selection.RestampNone || n.Read == 0:
	case p.stamps[i] == nil && p.marks[i] == nil:
		r.note(Note{Code: "no-header", Topic: name, Message: "messages do not begin with a header, and keep their log times"})
	case n.Unstamped > 0:
		r.note(Note{Code: "no-stamp", Topic: name,
			Message: fmt.Sprintf("messages without a stamp in their header keep their times: %d", n.Unstamped)})
	}
}

// describeMetadata reports what the recording has about itself and the sink does not keep.
func (p *topicPlan) describeMetadata(r *reporter, info *storage.Info) {
	var lost []string
	for k := range info.Metadata {
		if k != storage.MetaDistro && !p.format.Holds.KeepsMetadata(k) {
			lost = append(lost, k)
		}
	}
	if len(lost) > 0 {
		slices.Sort(lost)
		r.lose(Loss{Code: "metadata", Count: int64(len(lost)), ByDesign: true,
			Message: fmt.Sprintf("the format has no place for this metadata of the recording: %s", strings.Join(lost, ", "))})
	}
}

// describeJoins reports publishers that flow together and names that have two types.
func (p *topicPlan) describeJoins(r *reporter) {
	first := map[string]string{} // type by topic name
	for _, s := range p.sinks {
		if s.refused != nil {
			continue
		}
		if s.bare != nil {
			r.lose(Loss{Code: "definition-dropped", Topic: s.topic.Name, Count: int64(len(s.sources)),
				Message: fmt.Sprintf("the messages are written without their definition: %v", s.bare)})
		}
		switch {
		case s.invalid != nil:
			r.lose(Loss{Code: "renamed", Topic: *s.invalid, Count: int64(len(s.sources)), ByDesign: true,
				Message: fmt.Sprintf("names must be UTF-8 and not empty: this topic of %s is written as %s", s.topic.Type,
					s.topic.Name)})
		case s.renamed != "":
			r.lose(Loss{Code: "renamed", Topic: s.renamed, Count: int64(len(s.sources)), ByDesign: true,
				Message: fmt.Sprintf("a name can have only one type there: this topic of %s is written as %s", s.topic.Type,
					s.topic.Name)})
		}
		if n := len(s.sources); n > 1 {
			r.lose(Loss{Code: "publishers-joined", Topic: s.topic.Name, Count: int64(n), ByDesign: true,
				Message: fmt.Sprintf("%d publishers became one topic; who published which message is not kept", n)})
		}
		typ, seen := first[s.topic.Name]
		if !seen {
			first[s.topic.Name] = s.topic.Type
		} else if typ != s.topic.Type {
			r.note(Note{Code: "two-types", Topic: s.topic.Name,
				Message: fmt.Sprintf("one topic name has two types, %s and %s; both are kept, as two topics", typ, s.topic.Type)})
		}
	}
}

// A reporter adds to a report. What is reported again, of another publisher of the
// same topic, adds to the count.
type reporter struct {
	report *Report
	losses map[Loss]int // index into report.Losses; the key has no counts
	notes  map[Note]int // index into report.Notes; the key has no count
}

func (r *reporter) lose(l Loss) {
	k := l
	k.Count, k.Bytes = 0, 0
	i, known := r.losses[k]
	if !known {
		r.losses[k] = len(r.report.Losses)
		r.report.Losses = append(r.report.Losses, l)
		return
	}
	r.report.Losses[i].Count += l.Count
	r.report.Losses[i].Bytes += l.Bytes
}

func (r *reporter) note(n Note) {
	k := n
	k.Count = 0
	i, known := r.notes[k]
	if !known {
		r.notes[k] = len(r.report.Notes)
		r.report.Notes = append(r.report.Notes, n)
		return
	}
	r.report.Notes[i].Count += n.Count
}

func programOf(r *mapping.Result) mapping.Program {
	if r == nil {
		return nil
	}
	return r.Plan
}
