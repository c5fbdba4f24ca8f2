package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// A splitPart is one output of a split.
type splitPart struct {
	name   string // what is put between the stem and the ending
	window selection.Window
	topic  string // "": all of the selection
	about  *partJSON
}

// split runs a conversion for each part.
func (e *env) split(ctx context.Context) error {
	in, out, err := e.conversionPaths(ctx)
	if err != nil {
		return err
	}
	source, err := e.detectOne(in)
	if err != nil {
		return err
	}
	folder := storage.NamesFolder(out) || filepath.Ext(out) == ""
	to := e.set.to
	if to == "" && folder {
		to = source.Name
	}
	part := out
	if folder {
		part = filepath.Join(out, "part"+endingOf(e.formats.Lookup(to))) // a name like the names of the parts
	}
	job, err := e.jobTo(to, part)
	if err != nil {
		return err
	}
	job.Source, job.SourceFormat = in, source
	parts, err := e.splitParts(ctx, job)
	if err != nil {
		return err
	}
	stem, ext := partNames(in, out, folder, job.SinkFormat)
	var made folders
	defer made.removeEmpty()
	if folder {
		if err := made.make(filepath.Clean(out)); err != nil {
			return explainFolder(err)
		}
	}
	if job.DryRun { // besides the parts nothing is looked at
		job.Extras, job.SkipExtras = "", job.Extras != ""
	}
	write := func() error { return e.runJobs(ctx, stem, e.partJobs(job, parts, stem, ext), false) }
	if job.Extras == "" || job.SinkFormat.Holds.Extras {
		return write()
	}
	return e.besideParts(ctx, job, write)
}

// besideParts writes the attachments and metadata records of a source into the folder of --extras,
// once for all parts, which write writes. Both stand when all is whole.
func (e *env) besideParts(ctx context.Context, job *convert.Job, write func() error) (err error) {
	dir := job.Extras
	job.Extras, job.SkipExtras = "", true
	r, err := e.open(ctx, job.Source)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	folder, err := e.extrasFolder(job.SourceFormat, job.Source, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	lost, err := convert.CopyExtras(ctx, r.Reader, folder)
	if err == nil {
		err = folder.Check()
	}
	if err != nil {
		return explainExtras(dir, err)
	}
	done := write()
	if done != nil && !errors.Is(done, exitStatus(exitLossy)) {
		return done
	}
	if err := folder.Commit(); err != nil {
		return explainExtras(dir, err)
	}
	if x := folder.Index(); e.set.verbose && len(x.Attachments)+len(x.Metadata) > 0 {
		e.writeLines("note", []string{fmt.Sprintf("the parts have no place for %s and %s; they are in %s",
			phrase.Count(int64(len(x.Attachments)), "attachment"), phrase.Count(int64(len(x.Metadata)), "metadata record"),
			phrase.Clean(dir))})
	}
	if len(lost) > 0 {
		e.writeLines("warning", lossLines(lost, "attachment"))
		return exitStatus(exitLossy)
	}
	return done
}

// partNames returns what the names of all parts begin and end with.
func partNames(in, out string, folder bool, sink *storage.Format) (stem, ext string) {
	ext = endingOf(sink)
	if folder {
		_, base := splitPath(in)
		return filepath.Join(out, strings.TrimSuffix(base, filepath.Ext(base))), ext
	}
	if e := filepath.Ext(out); e != "" {
		ext = e
	}
	return strings.TrimSuffix(filepath.Clean(out), ext), ext
}

// endingOf returns the ending of the names of files of a format, "" if it has no ending or is unknown.
func endingOf(f *storage.Format) string {
	if f == nil || f.Layout.Folder || len(f.Extensions) == 0 {
		return ""
	}
	return f.Extensions[0]
}

// splitWay returns the flag that says how to split.
func (e *env) splitWay() (string, error) {
	var ways []string
	for _, f := range []string{"max-size", "max-duration", "at", "by", "on", "between"} {
		if e.command.IsSet(f) {
			ways = append(ways, "--"+f)
		}
	}
	if len(ways) != 1 {
		what := "split needs exactly one of --max-size, --max-duration, --at, --by, --on, --between"
		if len(ways) > 1 {
			what += ", not " + strings.Join(ways, " and ")
		}
		return "", flags.Usage("for example: --max-size 2G, or --max-duration 1m", "%s", what)
	}
	return ways[0], nil
}

// splitParts finds where to split.
func (e *env) splitParts(ctx context.Context, job *convert.Job) ([]splitPart, error) {
	way, err := e.splitWay()
	if err != nil {
		return nil, err
	}
	var cut convert.Cut
	var times []string // of --at
	switch way {
	case "--max-size":
		if cut.Size, err = storage.ParseSize(e.set.split.maxSize); err != nil || cut.Size <= 0 {
			return nil, flags.Usage("", "--max-size needs a size such as 2G, not %q", e.set.split.maxSize)
		}
	case "--max-duration":
		cut.Duration = e.set.split.maxDuration
	case "--at":
		for _, v := range e.set.split.at {
			for _, s := range strings.Split(v, ",") {
				t, err := selection.ParseTime(s)
				if err != nil {
					return nil, flags.Usage("", "--at: %v", err)
				}
				cut.At, times = append(cut.At, t), append(times, s)
			}
		}
	default:
		if e.set.split.episodes.Flag != "" {
			return e.episodeParts(ctx, job)
		}
		return e.topicParts(ctx, job)
	}
	windows, outside, err := convert.Windows(ctx, job, cut)
	if err := checkSizeUnit(e.set.split.maxSize, len(windows), err); err != nil {
		return nil, err
	}
	if errors.Is(err, convert.ErrParts) {
		return nil, &failure{path: job.Source, what: err.Error(),
			hint: "split less often; bagconv info shows its times and size", err: err}
	}
	if err != nil {
		return nil, explainSelection(job.Source, err)
	}
	if !e.set.quiet {
		var lines []string
		for _, i := range outside {
			lines = append(lines, fmt.Sprintf("%s: --at %s is outside the recording", job.Source, times[i]))
		}
		e.writeLines("warning", lines)
	}
	parts := make([]splitPart, len(windows))
	for i, w := range windows {
		parts[i] = splitPart{name: fmt.Sprintf("_%03d", i), window: w}
	}
	return parts, nil
}

// manyParts is from how many parts on a size without a unit is taken for a slip.
const manyParts = 1000

// checkSizeUnit refuses a number of bytes that makes very many parts: other programs
// count in MB. windowsErr is the error of convert.Windows.
func checkSizeUnit(size string, parts int, windowsErr error) error {
	if _, err := strconv.ParseFloat(size, 64); err != nil || parts <= manyParts && !errors.Is(windowsErr,
		convert.ErrParts) {
		return nil
	}
	return flags.Usage(fmt.Sprintf("add the unit that you mean: %sM, or %sB for bytes", size, size),
		"--max-size %s is a number of bytes, and would make more than %s", size, phrase.Count(manyParts, "part"))
}

// topicParts makes write one part per topic of the selection.
func (e *env) topicParts(ctx context.Context, job *convert.Job) (parts []splitPart, err error) {
	r, err := e.open(ctx, job.Source)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	info := r.Info
	choice, err := job.Select.Resolve(info)
	if err != nil {
		return nil, explainSelection(job.Source, err)
	}
	if err := job.Edit.Check(info, choice); err != nil {
		return nil, explainSelection(job.Source, err)
	}
	seen, used := map[string]bool{}, map[string]bool{}
	for i, t := range info.Topics {
		if !choice.Topics[i] || seen[t.Name] || t.Messages == 0 {
			continue
		}
		seen[t.Name] = true
		name := "_" + fileName(t.Name)
		for n := 2; used[name]; n++ {
			name = fmt.Sprintf("_%s_%d", fileName(t.Name), n)
		}
		used[name] = true
		parts = append(parts, splitPart{name: name, topic: t.Name})
	}
	if parts == nil { // no message is selected: as by time or size, one part is all of it
		parts = []splitPart{{name: "_000", window: selection.Window{First: choice.First, Last: choice.Last}}}
	}
	return parts, nil
}

// maxFileName is how many bytes of a topic's name a file name has at most: file
// systems allow 255 for all of it.
const maxFileName = 150

// fileName makes a file name of a topic's name.
func fileName(topic string) string {
	name := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '.':
			return r
		}
		return '_'
	}, topic), "_.")
	return name[:min(len(name), maxFileName)]
}

// partJobs returns the conversions that write the parts.
func (e *env) partJobs(job *convert.Job, parts []splitPart, stem, ext string) []*convert.Job {
	jobs := make([]*convert.Job, len(parts))
	for i, p := range parts {
		j := *job
		j.Sink = stem + p.name + ext
		if p.about != nil {
			e.set.split.about[j.Sink] = p.about
		}
		if p.topic != "" {
			j.Select.Topics, j.Edit = []selection.Pattern{selection.Exactly(p.topic)}, job.Edit.Of(p.topic)
			j.Select.Where = job.Select.Where.Part()
		} else {
			j.Select = p.window.Of(job.Select)
		}
		jobs[i] = &j
	}
	return jobs
}

// splitCommand is the command split.
func (e *env) splitCommand() flags.Command {
	return flags.Command{
		Name: "split", Part: convertPart, Call: "split IN OUT", Summary: "cut a recording into several",
		About: `Cuts a recording into several. Each part can be used alone: it begins with the
last messages of latched topics and /tf_static from before (see --latch). The
parts of out{file} are out_000{file}, out_001{file}, ...; with --by topic each has
the name of its topic, and with --by value its number and the value. If OUT has / at its end or no ending, it is a folder: the
parts lie in it and have the name and the format of IN.`,
		Note: `A part without messages is not written; the others keep their numbers. There can be 10,000 parts. A run that fails
leaves none of them. IN is read once for every 64 parts, and --max-size reads it
once more to find the times. --json and --report write an array with one object
per part.`,
		Examples: []string{
			"bagconv split drive{file} parts/ --max-duration 1m",
			"bagconv split drive{file} part{other} --max-size 2G",
			"bagconv split drive_ros2/ cut{file} --at 10s,1m30s",
			"bagconv split drive{file} runs/ --between '/run.on' '!/run.on'",
		},
		Exits: flags.Exits{
			0:   "all parts are written; nothing is lost that their format can store",
			1:   "failed; no parts. With --strict also if anything is damaged or lost",
			3:   "the parts are written, but IN is damaged or something could not be converted",
			4:   "--verify found a difference; no parts",
			130: "interrupted; no parts",
		},
		Run: e.split,
	}
}

// splitFlags choose where split cuts.
func (s *settings) splitFlags() []flags.Flag {
	return flags.AllIn(splitGroup, "split",
		flags.Flag{Name: "max-size", Arg: "SIZE", Set: flags.Put(&s.split.maxSize),
			Help: "begin a new part before one has more message data: 2G, 500MB. A number without a unit is bytes, for up to " +
				"1,000 parts"},
		flags.Flag{Name: "max-duration", Arg: "D", Set: flags.Parsed(&s.split.maxDuration, parseLength),
			Help: "begin a new part after this time: 60s, 5m"},
		flags.Flag{Name: "at", Arg: "TIME,TIME...", Several: true, Set: flags.Put(&s.split.at),
			Help: "begin new parts at these times"},
		flags.Flag{Name: "by", Arg: "topic|value EXPR", Kind: flags.Field, Values: flags.Words("topic", "value"),
			Second: "EXPR", SecondAfter: "value", Set: s.setBy, Brief: "topic, or value and an expression",
			Help: "topic: write one part per topic; value and an expression, such as /state.mode: begin a new part if it has " +
				"another value"},
		flags.Flag{Name: "on", Arg: "EXPR", Kind: flags.Field, Set: s.episode(&s.split.episodes.On),
			Brief: "begin a new part where a condition begins to hold",
			Help: "begin a new part where a condition, such as '/odom.pose.pose.position.x > 2', begins to hold: " +
				"docs/fields.md"},
		flags.Flag{Name: "between", Arg: "EXPR", Kind: flags.Field, Second: "EXPR",
			Set:   s.episode(&s.split.episodes.From, &s.split.episodes.To),
			Brief: "two conditions, of the first and the last message of parts",
			Help: "write parts from a message for which the first of two conditions holds to the next for which the second " +
				"one does: the first and the last message of parts"},
		flags.Flag{Name: "rest", Kind: flags.OnOff, Set: s.setRest, Brief: "with --between: also parts of what is outside",
			Help: "with --between: also parts of what is outside, before, between and after"},
	)
}

func parseLength(text string) (int64, error) {
	d, err := selection.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, flags.Usage("", "--max-duration needs a duration such as 60s, not %q", text)
	}
	return d, nil
}
