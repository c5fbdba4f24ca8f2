package batch

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bagconv/bagconv/internal/iox"
)

// Place decides where the output of each input goes: below the folder out, under
// the input's Name, with ending ext. The result has the order of inputs.
//
// No two outputs get one name, also if case does not count, and no output is a
// folder that another lies in: the later output gets the name of its format after its
// name (drive_record), then a number. kept has outputs of earlier runs by input; they
// stay where they are, and their names are taken. Names from a store are made Harmless on this machine.
func Place(inputs []*Input, out, ext string, kept map[string]string) []string {
	p := placer{used: map[string]bool{}, folders: map[string]bool{}}
	for _, path := range kept {
		p.take(out, path)
	}
	outputs := make([]string, len(inputs))
	for i, in := range inputs { // folders that are needed win over outputs
		if outputs[i] = kept[in.Path]; outputs[i] == "" {
			p.need(out, filepath.Join(out, filepath.FromSlash(in.nameIn(out))))
		}
	}
	for i, in := range inputs {
		if outputs[i] == "" {
			outputs[i] = p.place(out, in, ext)
		}
	}
	return outputs
}

// nameIn returns the name of the output of an input in a folder.
func (in *Input) nameIn(out string) string {
	if iox.IsURL(in.Path) && !iox.IsURL(out) {
		return Harmless(in.Name)
	}
	return in.Name
}

// Harmless returns a name with _ in the place of characters that a terminal obeys or does not show, and of bytes that
// are no UTF-8: keys of a store may have any, and whoever lists a folder prints them.
func Harmless(name string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
			return '_'
		}
		return r
	}, name)
}

type placer struct{ used, folders map[string]bool }

func fold(path string) string { return strings.ToLower(path) }

// take makes the name of an output known.
func (p *placer) take(out, path string) {
	p.used[fold(path)] = true
	p.need(out, path)
}

// need makes the folders of an output known.
func (p *placer) need(out, path string) {
	for dir := filepath.Dir(path); within(dir, out) && dir != out; dir = filepath.Dir(dir) {
		p.folders[fold(dir)] = true
	}
}

func (p *placer) place(out string, in *Input, ext string) string {
	dir := out
	parts := strings.Split(in.nameIn(out), "/")
	for _, name := range parts[:len(parts)-1] {
		dir = p.free(filepath.Join(dir, name), "", p.used)
	}
	format := "file"
	if in.Format != nil {
		format = in.Format.Name
	}
	stem := filepath.Join(dir, parts[len(parts)-1])
	path := p.free(stem, ext, p.used, p.folders)
	if path != stem+ext {
		path = p.free(stem+"_"+format, ext, p.used, p.folders)
	}
	p.take(out, path)
	return path
}

// free returns stem+ext, with a number in between if the name is used.
func (p *placer) free(stem, ext string, used ...map[string]bool) string {
	for n := 1; ; n++ {
		path := stem + ext
		if n > 1 {
			path = fmt.Sprintf("%s_%d%s", stem, n, ext)
		}
		is := false
		for _, u := range used {
			is = is || u[fold(path)]
		}
		if !is {
			return path
		}
	}
}
