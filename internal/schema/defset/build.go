package defset

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bagconv/bagconv/internal/schema/protosource"
	"github.com/bagconv/bagconv/storage"
)

const packageFile = "package.xml"

// errLimit is what ends the reading of a place.
var errLimit = errors.New("too many definitions")

// A builder makes a Set of files. Their names have slashes.
type builder struct {
	fs       storage.FS
	set      *Set
	root     string            // what names are relative to; "" in an archive
	files    []Definition      // Name is not known yet
	packages map[string]string // by full name of the folder: what its package.xml calls it
	ignored  []string          // folders

	isPack      bool
	versions    map[int]*Set
	descriptors []*descriptors
	total       int64 // bytes of files
}

// full returns the name of a file from the root of the file system, if it is in one.
func (b *builder) full(name string) string {
	if b.root == "" || path.IsAbs(name) {
		return name
	}
	return path.Join(b.root, name)
}

func isIgnored(base string) bool {
	return base == "COLCON_IGNORE" || base == "AMENT_IGNORE" || base == "CATKIN_IGNORE"
}

// wanted reports whether a file matters, by its name.
func wanted(name string) bool {
	base := path.Base(name)
	return isDefinition(name) || base == packageFile || base == PackIndex || isIgnored(base)
}

// add reads a file.
func (b *builder) add(name string, r io.Reader) error {
	limit := maxFile
	if path.Ext(name) == descriptorsExt {
		limit = maxDescriptors
	}
	text, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err != nil {
		return err
	}
	name = path.Clean(name)
	base := path.Base(name)
	if b.total += int64(len(text)); b.total > maxTotal || len(b.files) == maxDefinitions {
		return fmt.Errorf("%w: over %d, or over %d MiB", errLimit, maxDefinitions, maxTotal>>20)
	}
	switch {
	case isIgnored(base):
		b.ignored = append(b.ignored, path.Dir(name))
	case base == PackIndex: // it begins with that
		b.isPack = b.isPack || name == PackIndex
		b.set.Recorded = b.set.Recorded || bytes.Contains(text[:min(len(text), 100)], []byte(`"recorded": true`))
	case len(text) > limit:
		return fmt.Errorf("over %d MiB", limit>>20)
	case path.Ext(name) == protoExt:
		if !protosource.IsStandard(name) {
			b.set.sources.files = append(b.set.sources.files, &protosource.File{Path: name, Text: string(text)})
		}
	case path.Ext(name) == descriptorsExt:
		b.descriptors = append(b.descriptors, &descriptors{data: text, path: name})
	case base == packageFile:
		var x struct {
			Name string `xml:"name"`
		}
		if err := xml.Unmarshal(text, &x); err != nil {
			return err
		}
		b.packages[path.Dir(b.full(name))] = strings.TrimSpace(x.Name)
	case !utf8.Valid(text):
		// a comment, most likely
		b.files = append(b.files, Definition{Path: name, Text: strings.ToValidUTF8(string(text), "?")})
	default:
		b.files = append(b.files, Definition{Path: name, Text: string(text)})
	}
	return nil
}

// problem keeps what is wrong with one file. It returns what ends the reading of the place.
func (b *builder) problem(name string, err error) error {
	if err == nil || errors.Is(err, errLimit) {
		return err
	}
	b.set.Problems = append(b.set.Problems, fmt.Sprintf("%s: %v", name, err))
	return nil
}

// build adds the files to the Set under the names of their types. before are the places read before.
func (b *builder) build(before []*Set) error {
	slices.SortFunc(b.files, func(x, y Definition) int { return strings.Compare(x.Path, y.Path) })
	for _, d := range b.files {
		if b.isOut(d.Path) {
			continue
		}
		if err := b.name(&d); err != nil {
			_ = b.problem(d.Path, err)
			continue
		}
		set := b.version(d.Path)
		d.Path = strings.TrimPrefix(d.Path, set.folder)
		set.Add(d)
	}
	slices.SortFunc(b.descriptors, func(x, y *descriptors) int { return strings.Compare(x.path, y.path) })
	for _, d := range b.descriptors {
		if !b.isOut(d.path) {
			set := b.version(d.path)
			_ = b.problem(d.path, set.AddDescriptors(d.data, strings.TrimPrefix(d.path, set.folder)))
		}
	}
	src := &b.set.sources
	src.files = slices.DeleteFunc(src.files, func(f *protosource.File) bool { return b.isOut(f.Path) })
	slices.SortFunc(src.files, func(x, y *protosource.File) int { return strings.Compare(x.Path, y.Path) })
	src.files = slices.CompactFunc(src.files, func(x, y *protosource.File) bool { return x.Path == y.Path })
	for _, f := range src.files {
		src.add(f, b.full(f.Path))
	}
	b.compile(before)
	for _, n := range slices.Sorted(maps.Keys(b.versions)) {
		if set := b.versions[n]; n > 1 && !set.Empty() {
			set.Recorded = b.set.Recorded
			b.set.Versions = append(b.set.Versions, set)
			b.set.Problems = append(b.set.Problems, set.Problems...)
		}
	}
	return nil
}

// version returns the Set that a file is for: the Set of a version, if it is in a pack.
func (b *builder) version(name string) *Set {
	n := 1
	if b.isPack {
		n = versionOf(name)
	}
	if b.versions[n] == nil {
		if b.versions == nil {
			b.versions = map[int]*Set{1: b.set}
		}
		if n > 1 {
			b.versions[n] = newVersion(b.set.Place, n)
		}
	}
	return b.versions[n]
}

// isOut reports whether a file is in a folder that is left out.
func (b *builder) isOut(name string) bool {
	for _, dir := range b.ignored {
		if dir == "." || strings.HasPrefix(name, dir+"/") {
			return true
		}
	}
	for _, part := range strings.Split(path.Dir(name), "/") {
		if len(part) > 1 && part[0] == '.' && part != ".." && !path.IsAbs(name) {
			return true
		}
	}
	return false
}

// name sets what the path of a definition shows: the package, the kind and the name of the type.
func (b *builder) name(d *Definition) error {
	ext := path.Ext(d.Path)
	short := strings.TrimSuffix(path.Base(d.Path), ext)
	d.Kind = ext[1:]
	d.whole = d.Kind == "idl" && strings.HasPrefix(d.Text, strings.Repeat("=", 80)+"\nIDL: ")
	space, above := d.Kind, ""
	for dir := path.Dir(b.full(d.Path)); ; dir = path.Dir(dir) {
		if base := path.Base(dir); base == "msg" || base == "srv" || base == "action" {
			if above = path.Base(path.Dir(dir)); d.Kind == "idl" {
				space = base
			}
			break
		}
		if dir == path.Dir(dir) {
			break
		}
	}
	if d.Kind == "idl" && space == "idl" {
		space = "msg"
	}
	pkg := b.packageOf(d.Path)
	if pkg == "" {
		pkg = above
	}
	if pkg == "" || pkg == "." || pkg == "/" || pkg == ".." {
		return errors.New("its package is not known: put it into PACKAGE/" + space + "/")
	}
	if d.Name = pkg + "/" + space + "/" + short; len(d.Name) > 512 || strings.ContainsAny(pkg+short, "/ \t\n") {
		return fmt.Errorf("%q is not the name of a type", d.Name[:min(len(d.Name), 80)])
	}
	return nil
}

// packageOf returns the name of the package that a file is in, by the next package.xml above it.
func (b *builder) packageOf(name string) string {
	for dir := path.Dir(b.full(name)); ; dir = path.Dir(dir) {
		if pkg := b.packages[dir]; pkg != "" {
			return pkg
		}
		if dir == path.Dir(dir) {
			return ""
		}
	}
}
