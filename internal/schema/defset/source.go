package defset

import (
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"

	"github.com/bagconv/bagconv/internal/schema/protosource"
	"github.com/bagconv/bagconv/storage"
)

// protoExt is the ending of a file with the source of protobuf descriptors.
const protoExt = ".proto"

// sources are the .proto files of a place. An import means the file of that name in the folder of
// the file that imports it, or else in the next folder above; then any file of the place whose path
// ends with the name, the first by path; then a file of a place before.
type sources struct {
	files  []*protosource.File
	byFull map[string]*protosource.File // by full name
	byEnd  map[string]*protosource.File // by all that a full name ends with, after a slash
	full   map[*protosource.File]string
	beside storage.FS // the place is one file: what it imports is looked up in its file system; else nil
}

func (s *sources) add(f *protosource.File, full string) {
	if s.full == nil {
		s.byFull, s.byEnd, s.full = map[string]*protosource.File{}, map[string]*protosource.File{},
			map[*protosource.File]string{}
	}
	s.full[f], s.byFull[full] = full, f
	for end := full; ; {
		if s.byEnd[end] == nil {
			s.byEnd[end] = f
		}
		_, rest, ok := strings.Cut(end, "/")
		if !ok {
			return
		}
		end = rest
	}
}

// find returns the file that an import means.
func (s *sources) find(importer *protosource.File, name string) *protosource.File {
	if full, ok := s.full[importer]; ok {
		for dir := path.Dir(full); ; dir = path.Dir(dir) {
			at := path.Join(dir, name)
			if f := s.byFull[at]; f != nil {
				return f
			}
			if f := s.open(at, name); f != nil {
				return f
			}
			if dir == path.Dir(dir) {
				break
			}
		}
	}
	return s.byEnd[name]
}

// open reads a file that is imported by one that was given alone.
func (s *sources) open(at, name string) *protosource.File {
	if s.beside == nil || path.Ext(name) != protoExt {
		return nil
	}
	at = filepath.FromSlash(at)
	if st, err := s.beside.Stat(at); err != nil || !st.Mode().IsRegular() || st.Size() > maxFile {
		return nil
	}
	file, err := s.beside.Open(at)
	if err != nil {
		return nil
	}
	defer file.Close()
	at = filepath.ToSlash(at)
	text, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err != nil {
		return nil
	}
	f := &protosource.File{Path: name, Text: string(text)}
	for other := range s.full {
		if other.Path == name {
			f.Path = at
		}
	}
	s.add(f, at)
	return f
}

// compile adds the descriptors of the .proto files. before are places whose files may be imported.
func (b *builder) compile(before []*Set) {
	own := &b.set.sources
	places := []*sources{own}
	for _, set := range before {
		places = append(places, &set.sources)
	}
	byPath := map[string]*protosource.File{}
	for _, f := range own.files {
		byPath[f.Path] = f
	}
	sets, problems := protosource.Compile(own.files, func(importer *protosource.File, name string) *protosource.File {
		for _, s := range places {
			f := s.find(importer, name)
			if f != nil && byPath[f.Path] == nil {
				byPath[f.Path] = f
			}
			if f != nil && byPath[f.Path] == f { // paths are names, so the paths of two places must differ
				return f
			}
		}
		return nil
	})
	for _, err := range problems {
		b.set.Problems = append(b.set.Problems, err.Error())
	}
	for _, data := range sets {
		if len(data) > maxDescriptors {
			b.set.Problems = append(b.set.Problems, fmt.Sprintf("the descriptors of its %s files have over %d MiB", protoExt,
				maxDescriptors>>20))
		} else if err := b.set.AddDescriptors(data, ""); err != nil {
			b.set.Problems = append(b.set.Problems, fmt.Sprintf("the %s files: %v", protoExt, err))
		}
	}
}
