package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/convert/selection"
	"github.com/bagconv/bagconv/gen"
	"github.com/bagconv/bagconv/internal/guard"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/schema/builtin"
	"github.com/bagconv/bagconv/schema/defset"
	"github.com/bagconv/bagconv/storage"
)

// gen writes code that reads messages.
func (e *env) gen(c *cli.Context) error {
	language := c.Args().First()
	if language == "go" {
		return usage("package values reads messages into Go structs: docs/library.md", "gen writes no Go any more")
	}
	if c.NArg() > 0 {
		if err := oneOf("gen", language, gen.Languages()...); err != nil {
			return err
		}
	}
	if c.NArg() < 1 || c.NArg() > 2 || e.set.output == "" {
		return usage("type: bagconv gen cpp IN -o DIR", "gen needs a language, one recording at most, and --output")
	}
	in := &gen.Input{Made: made(c.Args().Slice(), &e.set)}
	var end outcome
	var err error
	path := c.Args().Get(1)
	if path != "" {
		end.lossy, err = e.topicsToGenerate(c.Context, in, path)
	} else {
		end.lossy, err = e.typesToGenerate(in)
	}
	if err != nil {
		return explainSelection(path, err)
	}
	files, err := gen.Generate(language, in)
	if err = errors.Join(err, c.Context.Err()); err != nil {
		return err
	}
	if err := e.writeGenerated(files, path); err != nil {
		return explainExtras(e.set.output, err)
	}
	return end.end()
}

// made is the command, without folders and flags that the code does not depend on.
func made(args []string, s *settings) string {
	line := []string{"bagconv gen", args[0]}
	if len(args) > 1 {
		line = append(line, filepath.Base(args[1]))
	}
	for _, p := range s.defs {
		line = append(line, "--defs", filepath.Base(p))
	}
	for _, p := range s.job.Select.Topics {
		line = append(line, "--topic", p.String())
	}
	for _, p := range s.job.Select.Types {
		line = append(line, "--type", p.String())
	}
	if s.job.Distro != "" {
		line = append(line, "--distro", s.job.Distro)
	}
	return clean(strings.Join(line, " "))
}

// topicsToGenerate collects the topics of a recording. lossy is set if some cannot be: that was
// reported.
func (e *env) topicsToGenerate(ctx context.Context, in *gen.Input, path string) (lossy bool, err error) {
	r, err := e.glance(ctx, path)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	info := r.Info
	choice, err := e.set.job.Select.Resolve(info)
	if err != nil {
		return false, err
	}
	known, err := r.Known(ctx, info)
	if err != nil {
		return false, err
	}
	mapper := mapping.New(known.Options())
	left := map[string]bool{} // lines that were printed
	for i := range info.Topics {
		if !choice.Topics[i] {
			continue
		}
		t := &info.Topics[i].Topic
		topic, err := e.topicToGenerate(mapper, t)
		if err != nil {
			lossy = true
			if line := fmt.Sprintf("%s: topic %s is left out: %v", clean(path), clean(t.Name), err); !left[line] {
				left[line] = true
				e.say("%s", line)
			}
			continue
		}
		in.Topics = append(in.Topics, topic)
	}
	if len(in.Topics) == 0 && info.Encrypted {
		return lossy, &failure{path: path, what: "it is encrypted, so its topics are not known", hint: "--bag-key @FILE names a file with its key"}
	}
	if len(in.Topics) == 0 {
		return lossy, &failure{path: path, what: "it has no topic for which code is generated", hint: "bagconv topics lists what it has"}
	}
	return lossy, nil
}

// topicToGenerate finds the definition of a topic.
func (e *env) topicToGenerate(mapper *mapping.Mapper, t *storage.Topic) (topic gen.Topic, err error) {
	switch t.Encoding {
	case "ros1", "cdr":
	case "protobuf":
		return topic, errors.New("protoc generates code for protobuf")
	default:
		return topic, fmt.Errorf("no code is generated for messages in %q", clean(t.Encoding))
	}
	d, err := mapper.Define(t)
	if err != nil {
		return topic, errors.New(explain(err))
	}
	e.sayDoubts(t, d.Remarks)
	if d.Head != nil {
		return topic, errors.New("its messages are CDR of a ROS 1 definition; convert the recording first")
	}
	topic = gen.Topic{Name: t.Name, Type: t.Type, Encoding: t.Encoding, Message: d.ROS}
	return topic, gen.Check(&topic)
}

// typesToGenerate collects types without a recording: those of --defs, else the standard ones.
func (e *env) typesToGenerate(in *gen.Input) (lossy bool, err error) {
	s := &e.set
	switch {
	case len(s.job.Select.Topics) > 0:
		return false, usage("use --type, or name a recording", "--topic needs a recording")
	case len(s.job.Definitions) == 0 && s.job.Distro == "":
		return false, usage("name a recording, or use --defs PATH, or --distro NAME for standard types", "gen needs definitions")
	}
	distro, encoding := s.job.Distro, "cdr"
	switch distro {
	case "":
		distro = mapping.DefaultDistro
	case mapping.ROS1Distro:
		encoding = "ros1"
	}
	names := typeNames(s.job.Definitions, distro, len(s.job.Select.Types) > 0)
	names, err = selectTypes(names, s.job.Select.Types)
	if err != nil {
		return false, err
	}
	for _, name := range names {
		found, err := defset.Find(s.job.Definitions, name, encoding == "ros1", standardTypes(distro))
		topic := gen.Topic{Type: name, Encoding: encoding}
		switch {
		case err != nil:
		case found == nil || found.ROS == nil:
			err = errors.New("no place defines it as a ROS type")
		default:
			topic.Message = found.ROS
			err = gen.Check(&topic)
		}
		if err != nil {
			lossy = true
			e.say("%s is left out: %v", clean(name), explain(err))
			continue
		}
		in.Topics = append(in.Topics, topic)
	}
	if len(in.Topics) == 0 {
		return lossy, &failure{what: "there is no type for which code is generated", hint: "bagconv schema shows definitions"}
	}
	return lossy, nil
}

// typeNames lists the messages of the places of --defs, and of a distribution if there are none
// or standard is set: a type that is asked for may be one of either.
func typeNames(sets []*defset.Set, distro string, standard bool) (names []string) {
	short := func(name string) string {
		if distro == mapping.ROS1Distro {
			return strings.NewReplacer("/msg/", "/", "/srv/", "/", "/action/", "/").Replace(name)
		}
		return name
	}
	for _, set := range sets {
		for _, d := range set.Definitions() {
			switch space := strings.Split(d.Name, "/"); {
			case len(space) == 3 && d.Kind == "srv":
				names = append(names, short(d.Name)+"_Request", short(d.Name)+"_Response")
			case len(space) == 3 && d.Kind == "action":
				names = append(names, short(d.Name)+"_Goal", short(d.Name)+"_Result", short(d.Name)+"_Feedback")
			default:
				names = append(names, short(d.Name))
			}
		}
	}
	if len(sets) == 0 || standard {
		names = append(names, builtin.Names(distro)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// selectTypes returns the names that match one of the patterns; all if there are none.
func selectTypes(names []string, patterns []selection.Pattern) (list []string, err error) {
	if len(patterns) == 0 {
		return names, nil
	}
	for _, p := range patterns {
		n := len(list)
		for _, name := range names {
			if p.MatchType(name) && !slices.Contains(list[:n], name) {
				list = append(list, name)
			}
		}
		if len(list) == n && !slices.ContainsFunc(list, p.MatchType) {
			near := ""
			if s := suggest(p.String(), names); s != "" {
				near = "did you mean " + clean(s) + "?"
			}
			return nil, &failure{what: fmt.Sprintf("there is no type %s", clean(p.String())), hint: near}
		}
	}
	return list, nil
}

// writeGenerated puts the files into the folder of --output: all, or none. No file of the
// recording at input is replaced.
func (e *env) writeGenerated(files []gen.File, input string) (err error) {
	dir, force := filepath.Clean(e.set.output), e.set.job.Write.Overwrite
	stage := filepath.Join(dir, files[0].Name)
	e.cleanUp([]string{stage})
	g := guard.New(e.fs, e.fs, e.formats.Formats()...)
	if input != "" {
		f, err := e.detect(input)
		if err != nil {
			return err
		}
		g.Keep(f, input)
	}
	if err := g.Folder(dir); err != nil {
		return err
	}
	fsys := g.Files(e.fs, force)
	if err := fsys.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	out, err := iox.NewOutputs(fsys, stage, force, !e.set.job.Write.NoSync)
	if err != nil {
		return err
	}
	var names []string
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		if _, err := fsys.Stat(path); err == nil && !force {
			return errors.Join(&fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}, out.Abort())
		}
		if err := writeWhole(fsys, filepath.Join(out.TempDir(), f.Name), f.Text); err != nil {
			return errors.Join(err, out.Abort())
		}
		names = append(names, f.Name)
	}
	if err := out.CommitAll(names, nil); err != nil {
		return errors.Join(err, out.Abort())
	}
	return nil
}

// writeWhole makes a file.
func writeWhole(fsys storage.FS, path string, text []byte) error {
	w, err := fsys.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = w.WriteAt(text, 0)
	return errors.Join(err, w.Close())
}
