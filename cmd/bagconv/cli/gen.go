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

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/gen"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/guard"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/nearest"
	"github.com/bagconv/bagconv/internal/schema/defset"
	"github.com/bagconv/bagconv/schema/builtin"
	"github.com/bagconv/bagconv/storage"
)

// gen writes code that reads messages.
func (e *env) gen(ctx context.Context) error {
	language := e.wordAt(0)
	switch language {
	case "go":
		return flags.Usage("package values reads messages into Go structs: docs/library.md", "gen writes no Go any more")
	case "python":
		return flags.Usage("the package bagconv reads messages as columns, rows and arrays: docs/python.md",
			"gen writes no Python any more")
	}
	if len(e.words) > 0 {
		if err := flags.OneOf("gen", language, "cpp"); err != nil {
			return err
		}
	}
	if len(e.words) < 1 || len(e.words) > 2 || e.set.output == "" {
		return flags.Usage("type: bagconv gen cpp IN -o DIR", "gen needs a language, one recording at most, and --output")
	}
	in := &gen.Input{Made: provenanceLine(e.words, &e.set), Namespace: e.set.namespace, ByTopic: e.set.byTopic}
	if in.ByTopic && len(e.words) == 1 {
		return flags.Usage("name a recording, or omit it", "--by-topic needs a recording")
	}
	var end outcome
	var err error
	path := e.wordAt(1)
	if path != "" {
		end.lossy, err = e.topicsToGenerate(ctx, in, path)
	} else {
		end.lossy, err = e.typesToGenerate(in)
	}
	if err != nil {
		return explainSelection(path, err)
	}
	files, err := gen.Generate(in)
	if err = errors.Join(err, ctx.Err()); err != nil {
		return err
	}
	if err := e.writeGenerated(files, path); err != nil {
		return explainExtras(e.set.output, err)
	}
	return end.end()
}

// provenanceLine is the command, without folders and flags that the code does not depend on.
func provenanceLine(args []string, s *settings) string {
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
	if s.namespace != "" {
		line = append(line, "--namespace", s.namespace)
	}
	if s.byTopic {
		line = append(line, "--by-topic")
	}
	return phrase.Clean(strings.Join(line, " "))
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
	mapper, err := r.Mapper(ctx, info)
	if err != nil {
		return false, err
	}
	left, foreign := map[string]bool{}, int64(0) // lines that were printed; topics for protoc
	for i := range info.Topics {
		if !choice.Topics[i] {
			continue
		}
		t := &info.Topics[i].Topic
		if t.Encoding == "protobuf" {
			lossy, foreign = true, foreign+1
			continue
		}
		topic, err := e.topicToGenerate(mapper, t)
		if err != nil {
			lossy = true
			if line := fmt.Sprintf("%s: topic %s is left out: %v", phrase.Clean(path), phrase.Clean(t.Name), err); !left[line] {
				left[line] = true
				e.say("%s", line)
			}
			continue
		}
		in.Topics = append(in.Topics, topic)
	}
	if foreign > 0 {
		e.say("%s: %s in protobuf left out: for them, protoc generates code from the .proto files that bagconv defs show %s "+
			"prints", phrase.Clean(path), phrase.Count(foreign, "topic"), phrase.Clean(path))
	}
	if len(in.Topics) == 0 && foreign > 0 {
		return lossy, &failure{path: path, what: "it has no topic in an encoding of ROS",
			hint: "convert it first: bagconv " + phrase.Clean(path) + " ros" + e.fileEnding(0)}
	}
	if len(in.Topics) == 0 && info.Encrypted {
		return lossy, &failure{path: path, what: "it is encrypted, so its topics are not known",
			hint: "--bag-key @FILE names a file with its key"}
	}
	if len(in.Topics) == 0 {
		return lossy, &failure{path: path, what: "it has no topic for which code is generated",
			hint: "bagconv info --topics lists what it has"}
	}
	return lossy, nil
}

// topicToGenerate finds the definition of a topic.
func (e *env) topicToGenerate(mapper *mapping.Mapper, t *storage.Topic) (topic gen.Topic, err error) {
	switch t.Encoding {
	case "ros1", "cdr":
	default:
		return topic, fmt.Errorf("no code is generated for messages in %q", phrase.Clean(t.Encoding))
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

// typesToGenerate collects types without a recording: the types of --defs, else the standard types.
func (e *env) typesToGenerate(in *gen.Input) (lossy bool, err error) {
	s := &e.set
	switch {
	case len(s.job.Select.Topics) > 0:
		return false, flags.Usage("use --type, or name a recording", "--topic needs a recording")
	case len(s.job.Definitions) == 0 && s.job.Distro == "":
		return false, flags.Usage("name a recording, or use --defs PATH, or --distro NAME for standard types",
			"gen needs definitions")
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
			e.say("%s is left out: %v", phrase.Clean(name), explain(err))
			continue
		}
		in.Topics = append(in.Topics, topic)
	}
	if len(in.Topics) == 0 {
		return lossy, &failure{what: "there is no type for which code is generated",
			hint: "bagconv defs list shows definitions"}
	}
	return lossy, nil
}

// typeNames lists the messages of the places of --defs, and of a distribution if there is no place
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

// selectTypes returns the names that match one of the patterns; all names without a pattern.
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
			return nil, &failure{what: "there is no type " + phrase.Clean(p.String()),
				hint: phrase.Clean(nearest.Meant(nearest.Suggest(p.String(), names), ""))}
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
	g := guard.New(e.fs, e.fs, e.formats.Known()...)
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

// genCommand is the command gen.
func (e *env) genCommand() flags.Command {
	return flags.Command{
		Name: "gen", Part: codePart, Call: "gen LANGUAGE [IN]", Summary: "write code that reads the messages of a recording",
		About: `Writes source code that reads and writes messages, made from their definitions:
a struct for each message type, and what fills it from the bytes of a message and
writes it, in ROS 1 serialization or CDR. The code needs no ROS. LANGUAGE is cpp:
C++11, without dependencies, a shared library and an example. Without IN, the
types come from --defs, or are the standard ones of --distro.`,
		Note: `In Go, package values reads messages into structs without generated code, and in
Python the package bagconv reads them as columns, rows and arrays. The same input
makes the same code. docs/codegen.md shows how to use it.`,
		Examples: []string{
			"bagconv gen cpp drive{file} -o loader/",
			"bagconv gen cpp drive_ros2/ -t /imu -t '/camera/*' -o loader/",
			"bagconv gen cpp drive{file} --by-topic --namespace drive -o loader/",
			"bagconv gen cpp --defs src/acme_msgs -o acme/",
			"bagconv gen cpp --distro noetic --type sensor_msgs/Imu -o loader/",
		},
		Exits: flags.Exits{
			0:   "the code is written",
			1:   "IN cannot be read, has no such topic or type, or DIR cannot be written; no files are left",
			3:   "the code is written, but for some topics or types there is none; standard error names them",
			130: "interrupted",
		},
		Operands: []flags.Flag{{Kind: flags.OneWord, Values: flags.Words("cpp")}, {Kind: flags.File}, {}},
		Run:      e.gen,
	}
}

// genFlags returns the flags of gen.
func (s *settings) genFlags() []flags.Flag {
	list := &s.job.Select
	distro := s.distroFlag()
	distro.Values = flags.Words(slices.Concat([]string{mapping.ROS1Distro}, distros())...)
	return flags.AllIn(readGroup, "gen",
		flags.Flag{Name: "output", Short: "o", Arg: "DIR", Kind: flags.File, Set: flags.Put(&s.output),
			Help: "folder for the code; created if missing"},
		flags.Flag{Name: "topic", Short: "t", Arg: "P", Kind: flags.Topic, Several: true, Set: flags.ParsedEach(&list.Topics,
			selection.ParsePattern),
			Help: "only these topics of IN; P as in bagconv convert. Repeat the flag for more topics"},
		flags.Flag{Name: "type", Arg: "P", Kind: flags.Type, Several: true, Set: flags.ParsedEach(&list.Types,
			selection.ParsePattern),
			Help: "only topics of these types; without IN, only these types, such as sensor_msgs/msg/Imu or acme_msgs/*"},
		s.defsFlag().In(readGroup,
			"where to find definitions that IN lacks, as convert --defs; without IN, the types to generate", "gen"),
		distro.In(readGroup, "distribution whose standard definitions to use, such as humble; without IN, noetic makes ROS "+
			"1 types of --defs, and the others the types of ROS 2", "gen"),
		flags.Flag{Name: "namespace", Arg: "NAME", Set: flags.Put(&s.namespace),
			Help: "namespace of C++ around all of the code, such as drive or acme::drive, so that a program can have the code " +
				"of several recordings"},
		flags.Flag{Name: "by-topic", Kind: flags.OnOff, Set: flags.Put(&s.byTopic),
			Help: "a header and a source file for each topic, with all of its types in the namespace of the topic: object is " +
				"its message, and X_type a type X in it. Without the flag, topics share types"},
		s.forceFlag("replace files of the same names in DIR"),
	)
}
