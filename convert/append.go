package convert

import (
	"context"
	"maps"

	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// continueTopics gives topics the definition and QoS that the target already has for them, if the definitions are
// equivalent and the source has no QoS. CreateTopic refuses topics that still differ.
func (p *topicPlan) continueTopics(old []storage.Topic, info *storage.Info) {
	named := map[string][]*storage.Topic{}
	for i := range old {
		named[old[i].Name] = append(named[old[i].Name], &old[i])
	}
	for k := range p.sinks {
		s := &p.sinks[k]
		for _, have := range named[s.topic.Name] {
			if s.topic.Type != have.Type || s.topic.Encoding != have.Encoding || !mapping.SameDefinition(&s.topic, have) {
				continue
			}
			s.topic.Schema = have.Schema
			s.topic.Metadata = maps.Clone(s.topic.Metadata)
			for _, key := range []string{storage.MetaMD5Sum, storage.MetaTypeHash} {
				if v, ok := have.Metadata[key]; ok && s.topic.Metadata != nil {
					s.topic.Metadata[key] = v
				}
			}
			if !s.offers(info) {
				s.topic.QoS = have.QoS
			}
			break
		}
	}
}

// offers reports whether a source has profiles of the topic.
func (s *sinkTopic) offers(info *storage.Info) bool {
	for _, i := range s.sources {
		if len(info.Topics[i].QoS) > 0 {
			return true
		}
	}
	return false
}

// prior returns what the recording that is added to has already of the topics and times that are
// added; nil: nothing.
func (o *output) prior(ctx context.Context, src *recording.Source) (*recording.Prior, error) {
	job := o.job
	if !job.Append || job.Order != OrderTime || src.Info.Messages == 0 {
		return nil, nil
	}
	kind := func(t *storage.Topic) int {
		if k, ok := o.kinds[topicKey{t.Name, t.Type, t.Encoding}]; ok {
			return k
		}
		return -1
	}
	var topics []selection.Pattern
	for _, t := range o.old {
		if kind(&t) >= 0 {
			topics = append(topics, selection.Exactly(t.Name))
		}
	}
	if topics == nil {
		return nil, nil
	}
	target, err := recording.Open(ctx, recording.Ref{Path: job.Sink, Format: job.SinkFormat,
		Read: storage.ReadOptions{FS: job.Write.FS, Key: job.Read.Key}, Memory: job.MaxMemory / 4})
	if err != nil {
		return nil, err
	}
	first, last := selection.Shift(max(o.Choice.First, src.Info.Start), job.Edit.Offset), selection.Shift(
		min(o.Choice.Last, src.Info.End), job.Edit.Offset)
	if job.Edit.Restamp == selection.RestampHeader { // log times become the header stamps, which are not known yet
		first, last = target.Info.Start, target.Info.End
	}
	if target.Info.Messages == 0 || first > target.Info.End || last < target.Info.Start {
		return nil, target.Close()
	}
	query := recording.Query{Threads: 1, Select: selection.Window{First: first,
		Last: last}.Of(selection.Selection{Topics: topics})}
	query.Edit.Latch = selection.NoLatch
	return &recording.Prior{Source: target, Query: query, Kind: kind}, nil
}
