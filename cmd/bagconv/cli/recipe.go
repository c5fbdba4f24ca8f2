package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/internal/convert/recipe"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/schema/defset"
	"github.com/bagconv/bagconv/schema/builtin"
	"github.com/bagconv/bagconv/storage"
)

// A part is where a recipe has a flag.
type part int

const (
	inNothing  part = iota
	inSettings      // it changes the output
	inRun           // it changes how the output is made
)

// partOf returns where a recipe has the flag. It is the only such list: tasks, manifests and the cache of serve have
// recipes. A key of an encrypted input is no part of it: with a wrong one nothing is written, and with the right one
// always the same.
func partOf(f *flags.Flag) part {
	switch {
	case slices.Contains([]string{"from", "no-sync", "strict", "force", "verify"}, f.Name):
		return inRun
	case slices.Contains([]*flags.Group{selectGroup, editGroup, outputGroup, tableGroup, exportGroup, messageGroup,
		apolloGroup, extraGroup}, f.Group):
		return inSettings
	}
	return inNothing
}

// recipe returns the recipe of the line, as far as it concerns an output of a format.
func (e *env) recipe(sink *storage.Format) *recipe.Recipe {
	r := &recipe.Recipe{Format: sink.Name, Settings: []recipe.Setting{}, Content: e.fileContents(),
		Run: []recipe.Setting{}}
	for _, f := range e.command.Flags {
		for _, text := range f.Texts {
			s := recipeSetting(f, e.fs, text)
			switch partOf(f) {
			case inSettings:
				r.Settings = append(r.Settings, s)
			case inRun:
				r.Run = append(r.Run, s)
			}
		}
	}
	return r
}

// recipeSetting returns a value of the flag as a recipe has it.
func recipeSetting(f *flags.Flag, fsys storage.FS, text string) recipe.Setting {
	s := recipe.Setting{Name: f.Name, Value: text}
	before, name, ok := "", text, f.Kind == flags.File && text != ""
	switch f.Name {
	case "encrypt":
		before, name, ok = cutLast(text, "@")
		before += "@"
	case "qos":
		before, name, ok = cutLast(text, ":")
		before += ":"
	}
	if _, err := fsys.Stat(name); err != nil && f.Name == "qos" {
		ok = false // it names policies
	}
	if ok && !(f.Name == "types-to" && slices.Contains(builtin.Distros(), name)) {
		s.Value, s.File = before, name
	}
	return s
}

// absolute returns a recipe for a process that has another folder.
func absolute(r *recipe.Recipe) (*recipe.Recipe, error) {
	out := *r
	for _, list := range []*[]recipe.Setting{&out.Settings, &out.Run} {
		*list = slices.Clone(*list)
		for i, s := range *list {
			if s.File == "" {
				continue
			}
			var err error
			if (*list)[i].File, err = iox.Abs(s.File); err != nil {
				return nil, err
			}
		}
	}
	return &out, nil
}

// fileContents returns a hash of the files that the line and the environment name and that change the output: the
// definitions of --defs, --types-to and BAGCONV_DEFS, the rules of --rules, the profiles of --qos, and the files of
// --attach. Without such files the hash is "".
func (e *env) fileContents() string {
	sets := e.set.job.Definitions
	if t := e.set.job.Target; t != nil && t.Set != nil {
		sets = append(slices.Clone(sets), t.Set)
	}
	definitions := defset.Fingerprint(sets)
	if len(e.set.named) == 0 && len(e.set.job.Attach) == 0 {
		return definitions
	}
	h := sha256.New()
	fmt.Fprintf(h, "definitions %s\n", definitions)
	for _, text := range e.set.named {
		fmt.Fprintf(h, "file %x\n", sha256.Sum256(text))
	}
	for _, path := range e.set.job.Attach {
		fmt.Fprintf(h, "attached %s\n", e.fileSum(path))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// fileSum returns the hash of a file, or the error of reading it; the run that needs the file fails with the same
// error.
func (e *env) fileSum(path string) string {
	f, err := e.files().Open(path)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	h := sha256.New()
	if st, err := f.Stat(); err != nil {
		return err.Error()
	} else if _, err := io.Copy(h, io.NewSectionReader(f, 0, st.Size())); err != nil {
		return err.Error()
	}
	return hex.EncodeToString(h.Sum(nil))
}
