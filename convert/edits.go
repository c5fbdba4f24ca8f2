package convert

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bagconv/bagconv/internal/convert/edit"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/multi"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/storage"
)

// planEdits makes the program that changes the values of a topic. A rule about the topic that does not fit its type is
// an error. Frames that cannot be changed are a loss.
func (p *topicPlan) planEdits(t *storage.TopicInfo, i int) error {
	fields := &p.edit.Fields
	switch static := &fields.Static; {
	case !fields.Any() || static.Any() && i == 0:
		return nil // the transforms that come have their names already
	case static.Once && multi.IsStatic(t.Name):
		p.edits[i] = edit.Nothing()
		return nil
	}
	rules := edit.Rules{Set: fields.Of(t.Name)}
	if fields.OfFrames() {
		rules.Frames = &edit.Frames{Slashes: fields.Slashes, Rename: fields.Frame}
		for k := range fields.Frames {
			rules.Frames.Renames = append(rules.Frames.Renames, fields.Frames[k].String())
		}
		for k := range fields.Transforms {
			rules.Frames.Drop = fields.Goes
			rules.Frames.Drops = append(rules.Frames.Drops, fields.Transforms[k].String())
		}
	}
	if len(rules.Set) == 0 && rules.Frames == nil {
		return nil
	}
	typ, def, err := p.mapper.Type(&t.Topic)
	if err == nil && def.Head != nil {
		err = fmt.Errorf("messages in %q are not edited; convert the recording first", t.Encoding)
	}
	if err == nil {
		p.edits[i], err = edit.Compile(rules, typ)
	}
	switch {
	case err == nil:
	case len(rules.Set) > 0 && t.Messages == 0 && def == nil:
	case len(rules.Set) > 0:
		return &recording.ConditionError{Topic: t.Name, Err: err}
	default:
		p.uneditable[i] = err
	}
	return nil
}

// errSeq is the error of an edit of a counter that is read before edits.
var errSeq = errors.New("header.seq becomes the sequence number of the message in that format, and is not edited on " +
	"the way: edit it within the format of IN first")

// program returns the program of a topic for package mapping, nil for a topic without edits.
func (p *topicPlan) program(i int) mapping.Program {
	if p.edits[i] == nil {
		return nil
	}
	return p.edits[i]
}

// describeEdits reports what was changed of a topic, and what could not be.
func (p *topicPlan) describeEdits(r *reporter, name string, i int, n *recording.Count, tr *TopicReport) {
	if p.edits[i] != nil {
		_, tr.Edited = p.edits[i].Changes()
		if p.scale != nil {
			tr.Edited = scaled(tr.Edited, p.scale[i])
		}
		tr.Emptied = n.Emptied
	}
	if err := p.uneditable[i]; err != nil && n.Written > 0 {
		r.lose(Loss{Code: "edit-not-applied", Topic: name, Count: n.Written,
			Message: "frames in them are not changed: " + err.Error()})
	}
}

// describeUnused warns of rules that have changed nothing in any topic: a name may be wrong.
func (p *topicPlan) describeUnused(r *reporter, info *storage.Info) {
	static := &p.edit.Fields.Static
	if n := len(static.Add); n > 0 {
		r.note(Note{Code: "transforms-added", Topic: info.Topics[0].Name, Count: int64(n),
			Message: "added by --static, in one message at the start"})
	}
	others := slices.ContainsFunc(info.Topics, func(t storage.TopicInfo) bool {
		return t.ID > 0 && multi.IsStatic(t.Name)
	})
	if res := p.results[0]; static.Any() && !static.Once && others && res != nil && res.Topic.Encoding == "cdr" {
		r.note(Note{Code: "several-static", Topic: info.Topics[0].Name, Warning: true,
			Message: "it has several messages now, and late subscribers get the last one alone: add --static-once"})
	}
	used, order := map[string]int64{}, []string(nil)
	for _, program := range p.edits {
		if program == nil {
			continue
		}
		changes, _ := program.Changes()
		for _, c := range changes {
			if _, known := used[c.Rule]; !known {
				order = append(order, c.Rule)
			}
			used[c.Rule] += c.Values
		}
	}
	if len(order) == 0 && p.edit.Fields.OfFrames() {
		order = append(order, "rules about frames")
	}
	for _, rule := range order {
		if used[rule] == 0 {
			r.note(Note{Code: unusedCode, Message: rule + ": nothing was changed", Warning: true})
		}
	}
}

// forgetUsed removes the warnings about rules that have changed something in another output of the same run.
func forgetUsed(reports []*Report) {
	unused := map[string]int{}
	for _, r := range reports {
		for _, n := range r.Notes {
			if n.Code == unusedCode {
				unused[n.Message]++
			}
		}
	}
	for _, r := range reports {
		r.Notes = slices.DeleteFunc(r.Notes, func(n Note) bool {
			return n.Code == unusedCode && unused[n.Message] < len(reports)
		})
	}
}

// unusedCode is the code of warnings about rules that have changed nothing.
const unusedCode = "edit-unused"
