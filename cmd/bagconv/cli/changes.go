package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/schema/defset"
)

// outputChanges lists what of a line and its environment changes what is written: the flags, and the content of
// the files that they name. It is the only such list: manifests, tasks and the cache of serve have it. A key of an
// encrypted input is no part of it: with a wrong one nothing is written, and with the right one always the same.
func (e *env) outputChanges(flags []cli.Flag) (list []string) {
	groups := []*group{selectGroup, editGroup, outputGroup, messageGroup, extraGroup}
	for _, x := range flags {
		f := x.(*flag)
		if !slices.Contains(groups, f.group) || slices.Contains([]string{"from", "no-sync", "strict"}, f.name) {
			continue
		}
		for _, text := range f.texts {
			list = append(list, dashed(f.name)+"="+text)
		}
	}
	if content := e.fileContents(); content != "" {
		list = append(list, "content="+content)
	}
	return list
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
