// Package recipe has what a conversion does to any source, as data: the format of the output and the settings of
// the command line, with the content of the files that they name. Two machines with the same Hash write the same
// bytes from the same source. The package reads no files and knows no setting by its name; the command line makes
// recipes and follows them.
//
//	{"format":"x",
//	 "settings":[{"name":"compression","value":"zstd"},{"name":"defs","file":"/d/pack.zip"}],
//	 "content":"5f0c...",
//	 "run":[{"name":"verify","value":"content"}]}
//
// A Recipe that nobody changes may be used from several goroutines.
package recipe

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// A Recipe is everything that changes an output besides its source, and how the output is made.
type Recipe struct {
	Format   string    `json:"format"`            // of the output
	Settings []Setting `json:"settings"`          // that change the output
	Content  string    `json:"content,omitempty"` // hash of the files that settings and the environment name; "": no files
	// that do not change the bytes of the output, such as its verification
	Run []Setting `json:"run"`
}

// A Setting is a flag of the command line with its value: Value, then File.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
	// name of a file or folder in the value, whose content counts and whose name does not
	File string `json:"file,omitempty"`
}

// Text returns the value as it stands on a line.
func (s Setting) Text() string { return s.Value + s.File }

// String returns the setting as it stands on a line.
func (s Setting) String() string {
	if len(s.Name) == 1 {
		return "-" + s.Name + "=" + s.Text()
	}
	return "--" + s.Name + "=" + s.Text()
}

// ParseSetting reads what String returns.
func ParseSetting(text string) (Setting, error) {
	name, value, ok := strings.Cut(text, "=")
	if short := strings.TrimLeft(name, "-"); ok && short != "" && short != name {
		return Setting{Name: short, Value: value}, nil
	}
	return Setting{}, fmt.Errorf("%q does not have the form --NAME=VALUE", text)
}

// Options lists what changes an output as lines have it, for people and for manifests.
func (r *Recipe) Options() []string {
	list := []string{}
	for _, s := range r.Settings {
		list = append(list, s.String())
	}
	if r.Content != "" {
		list = append(list, "content="+r.Content)
	}
	return list
}

// Hash returns a hash of what changes an output, in hex. Where files lie is no part of it.
func (r *Recipe) Hash() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %q\n", r.Format, r.Content)
	for _, s := range r.Settings {
		fmt.Fprintf(h, "%q %q %t\n", s.Name, s.Value, s.File != "")
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
