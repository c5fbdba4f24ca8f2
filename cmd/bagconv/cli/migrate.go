package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/convert/migrate"
	"github.com/bagconv/bagconv/convert/verify"
	"github.com/bagconv/bagconv/schema/defset"
)

// migrateFlags tell which definitions ROS types shall have.
func (s *settings) migrateFlags() []flag {
	target := flag{name: "types-to", arg: "DEFS", kind: aFile, set: put(&s.typesTo)}
	rules := flag{name: "rules", arg: "FILE", kind: aFile, set: put(&s.rules)}
	others := []string{"convert", "filter", "merge", "split", "recover", "batch", "plan", "append"}
	return append([]flag{
		target.in(messageGroup, "re-encode messages of ROS types into the definitions of DEFS: a place as for --defs (pack.zip#2 is the second version in a pack), or a distribution such as humble or noetic. Fields are found by their names; what does not fit is reported. Types that DEFS lacks stay", others...),
		rules.in(messageGroup, "rules for --types-to: fields that have other names, values, units or places now. bagconv migrate writes a draft", others...),
		target.in(readGroup, "report topics whose types have other definitions in DEFS: a place as for --defs, or a distribution such as humble or noetic", "check"),
		rules.in(readGroup, "rules for --types-to", "check", "verify"),
		target.in(readGroup, "compare A as if it had been converted with this flag: its messages as they are in the definitions of DEFS", "verify"),
	}, allIn(readGroup, []string{"migrate"},
		target.in(readGroup, "the definitions that types shall have: a place as for --defs, or a distribution such as humble or noetic"),
		flag{name: "output", short: "o", arg: "FILE", kind: aFile, set: put(&s.output), help: "write the rules into FILE, which must not exist, instead of standard output"},
	)...)
}

// readTarget reads what --types-to and --rules name.
func (e *env) readTarget(ctx context.Context) error {
	s := &e.set
	switch {
	case s.typesTo == "" && s.rules != "":
		return usage("add --types-to DEFS", "--rules has no effect without --types-to")
	case s.typesTo == "":
		return nil
	case s.verify.Level == verify.Bytes:
		return usage("use --level content", "--level bytes compares bytes, which --types-to changes")
	case s.verified == verify.Bytes.String():
		return usage("use --verify content", "--verify %s compares bytes, which --types-to changes", s.verified)
	}
	t := &mapping.Target{}
	if s.typesTo == mapping.ROS1Distro || mapping.KnownDistro(s.typesTo) {
		t.Distro = s.typesTo
	} else {
		set, err := e.readTargetPlace(ctx, s.typesTo)
		if err != nil {
			return err
		}
		t.Set = set
	}
	if s.rules != "" {
		text, err := readSome(e.fs, s.rules, migrate.MaxSize)
		if err != nil {
			return usage("bagconv migrate writes a draft of rules", "--rules %s: %v", clean(s.rules), plainError(err))
		}
		s.named = append(s.named, text)
		if t.Rules, err = migrate.Parse(s.rules, text); err != nil {
			return usage("docs/migration.md explains the keys", "--rules %v", err)
		}
	}
	s.job.Target = t
	return nil
}

// readTargetPlace reads the definitions of a place, or the version of them that the text after # names.
func (e *env) readTargetPlace(ctx context.Context, place string) (*defset.Set, error) {
	path, choice := place, ""
	if before, after, ok := cutLast(place, "#"); ok && after != "" {
		if _, err := e.fs.Stat(place); err != nil {
			path, choice = before, after
		}
	}
	set, err := e.readPlace(ctx, path, e.set.job.Definitions)
	if err != nil {
		return nil, usage("it is a distribution, a folder of ROS packages, a .zip or .tar.gz of one, a definition, or a recording", "--types-to: %v", explain(err))
	}
	for _, problem := range set.Problems {
		e.say("--types-to %s: %s", clean(path), clean(problem))
	}
	rest := standardTypes("")
	if choice != "" {
		version, err := set.Version(choice, rest)
		if err != nil {
			return nil, usage("count the versions from 1: --types-to "+clean(path)+"#2", "--types-to: %v", clean(err.Error()))
		}
		return version, nil
	}
	if len(set.Differing()) > 0 {
		return nil, usage("choose one: --types-to "+clean(path)+"#1, or # and the first characters of a sum",
			"--types-to: %s defines types in several versions: %s", clean(path), clean(set.Choices(rest)))
	}
	return set, nil
}

// migrate writes a draft of rules.
func (e *env) migrate(c *cli.Context) error {
	switch {
	case c.NArg() == 0 || c.Args().First() != "plan":
		return usage("type: bagconv migrate plan IN --types-to DEFS", "migrate needs the word plan")
	case c.NArg() != 2:
		return usage("type: bagconv migrate plan IN --types-to DEFS", "migrate plan needs one recording")
	case e.set.job.Target == nil:
		return usage("add --types-to DEFS", "migrate plan needs definitions to plan for")
	}
	changes, err := e.changes(c.Context, c.Args().Get(1))
	if err != nil {
		return err
	}
	text := migrate.Draft(changes)
	if e.set.output == "" {
		_, err := io.WriteString(e.Out, text)
		return err
	}
	f, err := os.OpenFile(e.set.output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	return errors.Join(err, f.Close())
}

// changes lists the types of a recording that have other definitions in the target.
func (e *env) changes(ctx context.Context, path string) (changes []migrate.Change, err error) {
	r, err := e.open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	info := r.Info
	known, err := r.Known(ctx, info)
	if err != nil {
		return nil, err
	}
	o := known.Options()
	o.Target, o.Distro = e.set.job.Target, o.SourceDistro
	mapper := mapping.New(o)
	seen := map[string]int{}
	for i := range info.Topics {
		t := &info.Topics[i].Topic
		if t.Encoding != "ros1" && t.Encoding != "cdr" {
			continue
		}
		g, err := mapper.Migration(t, t.Encoding)
		if err != nil {
			e.say("%s: %s", clean(t.Name), clean(err.Error()))
			continue
		}
		change := migrate.Change{Topics: []string{t.Name}, Source: g.Source, Target: g.Target}
		switch {
		case g.Target == nil:
			change.Others = e.sameShortName(g.Source.Name)
		case !g.Same():
			change.Plan = g.Plans[0]
		case g.Equal():
			continue
		}
		key := t.Type + "\x00" + string(t.Schema.Data)
		if at, ok := seen[key]; ok {
			changes[at].Topics = append(changes[at].Topics, t.Name)
			continue
		}
		seen[key] = len(changes)
		changes = append(changes, change)
	}
	return changes, nil
}

// sameShortName lists the types of the target with the short name of a type.
func (e *env) sameShortName(name string) (out []string) {
	set := e.set.job.Target.Set
	if set == nil {
		return nil
	}
	short := name[strings.LastIndexByte(name, '/')+1:]
	for _, d := range set.Definitions() {
		if strings.HasSuffix(d.Name, "/"+short) && d.Name != defset.CommonName(name) {
			out = append(out, d.Name)
		}
	}
	slices.Sort(out)
	return out
}

// migrations is the command that plans migrations.
func (e *env) migrations() []command {
	return []command{{
		name: "migrate", call: "migrate plan IN", summary: "draft rules for types that have changed",
		about: `Compares the types of a recording with the definitions of --types-to, and writes
a draft of rules for those that have changed: what is found by its name, what is
new, and, under open, what only a person can decide. Decide that, then convert
with --types-to DEFS --rules FILE. docs/migration.md explains the keys of rules.`,
		examples: []string{
			"bagconv migrate plan drive{file} --types-to ~/ws/src -o rules.yaml",
			"bagconv convert drive{file} new{file} --types-to ~/ws/src --rules rules.yaml",
		},
		exits: []exit{
			{0, "the rules are written"},
			{1, "the recording cannot be read, or FILE cannot be written"},
			{130, "interrupted"},
		},
		operands: []flag{{kind: oneWord, values: words("plan")}, {kind: aFile}},
		run:      e.migrate,
	}}
}
