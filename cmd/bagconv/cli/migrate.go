package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert/verify"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/migrate"
	"github.com/bagconv/bagconv/internal/schema/defset"
)

// migrateFlags tell which definitions ROS types shall have.
func (s *settings) migrateFlags() []flags.Flag {
	target := flags.Flag{Name: "types-to", Arg: "DEFS", Kind: flags.File, Set: flags.Put(&s.typesTo)}
	rules := flags.Flag{Name: "rules", Arg: "FILE", Kind: flags.File, Set: flags.Put(&s.rules)}
	others := makes + " batch plan append import"
	return []flags.Flag{
		target.In(messageGroup, "re-encode messages of ROS types into the definitions of DEFS: a place as for --defs "+
			"(pack.zip#2 is the second version in a pack), or a distribution such as humble or noetic. Fields are found by "+
			"their names; what does not fit is reported. Types that DEFS lacks stay", others),
		rules.In(messageGroup, "rules for --types-to: fields that have other names, values, units or places now. bagconv "+
			"defs changes writes a draft", others),
		target.In(readGroup, "report topics whose types have other definitions in DEFS: a place as for --defs, or a "+
			"distribution such as humble or noetic", "check"),
		rules.In(readGroup, "rules for --types-to", "check verify"),
		target.In(readGroup, "compare A as if it had been converted with this flag: its messages as they are in the "+
			"definitions of DEFS", "verify"),
		target.In(readGroup, "the definitions that types shall have (changes): a place as for --defs, or a distribution "+
			"such as humble or noetic", "defs"),
	}
}

// readTarget reads what --types-to and --rules name.
func (e *env) readTarget(ctx context.Context) error {
	s := &e.set
	switch {
	case s.typesTo == "" && s.rules != "":
		return flags.Usage("add --types-to DEFS", "--rules has no effect without --types-to")
	case s.typesTo == "":
		return nil
	case s.verify.job.Level == verify.Bytes:
		return flags.Usage("use --compare content", "--compare bytes compares bytes, which --types-to changes")
	case s.verified == verify.Bytes.String():
		return flags.Usage("use --verify content", "--verify %s compares bytes, which --types-to changes", s.verified)
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
			return flags.Usage("bagconv defs changes writes a draft of rules", "--rules %s: %v", phrase.Clean(s.rules),
				plainError(err))
		}
		s.named = append(s.named, text)
		if t.Rules, err = migrate.Parse(s.rules, text); err != nil {
			return flags.Usage("docs/migration.md explains the keys", "--rules %v", err)
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
		return nil, flags.Usage(
			"it is a distribution, a folder of ROS packages, a .zip or .tar.gz of one, a definition, or a recording",
			"--types-to: %v", explain(err))
	}
	for _, problem := range set.Problems {
		e.say("--types-to %s: %s", phrase.Clean(path), phrase.Clean(problem))
	}
	rest := standardTypes("")
	if choice != "" {
		version, err := set.Version(choice, rest)
		if err != nil {
			return nil, flags.Usage("count the versions from 1: --types-to "+phrase.Clean(path)+"#2", "--types-to: %v",
				phrase.Clean(err.Error()))
		}
		return version, nil
	}
	if len(set.Differing()) > 0 {
		return nil, flags.Usage("choose one: --types-to "+phrase.Clean(path)+"#1, or # and the first characters of a sum",
			"--types-to: %s defines types in several versions: %s", phrase.Clean(path), phrase.Clean(set.Choices(rest)))
	}
	return set, nil
}

// draftRules writes a draft of rules for the types of a recording that have other definitions in the target.
func (e *env) draftRules(ctx context.Context, paths []string) error {
	switch {
	case len(paths) != 1:
		return flags.Usage("type: bagconv defs changes IN --types-to DEFS", "defs changes takes one recording, not %d",
			len(paths))
	case e.set.job.Target == nil:
		return flags.Usage("add --types-to DEFS", "defs changes needs definitions to compare with")
	}
	changes, err := e.changes(ctx, paths[0])
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
			e.say("%s: %s", phrase.Clean(t.Name), phrase.Clean(err.Error()))
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
