package ros2bag

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// Recordings makes the parts in a folder one recording, the folder, if metadata.yaml
// describes them or, without one, if there are two or more and their names differ in the
// number of the part alone. What is beside a part belongs to it. See storage.Format.
func (s *Storage) Recordings(fsys storage.FS, dir string, names []string) (groups []storage.Group, rest []string) {
	beside, names := s.splitBeside(names)
	if !s.IsFolder(iox.FS(fsys), dir) {
		return nil, names
	}
	g := storage.Group{}
	hasMetadata := slices.Contains(names, MetadataName)
	stems := map[string]bool{}
	for _, name := range names {
		switch {
		case s.hasPart(name), hasMetadata && s.other(name) != "":
			plain := plainName(name)
			g.Parts = append(g.Parts, name)
			g.Beside = append(g.Beside, beside[name]...)
			stems[stemOf(strings.TrimSuffix(plain, filepath.Ext(plain)))] = true
		case hasMetadata && name == MetadataName:
			g.Beside = append(g.Beside, name)
		default:
			rest = append(rest, name)
		}
	}
	if !hasMetadata && (len(g.Parts) < 2 || len(stems) > 1 || s.Alone && !stems[baseOf(dir)]) {
		return nil, names
	}
	return []storage.Group{g}, rest
}

// baseOf returns the name of a folder, also of ".".
func baseOf(dir string) string {
	if abs, err := iox.Abs(dir); err == nil {
		dir = abs
	}
	return filepath.Base(dir)
}

// splitBeside returns the names of files that lie beside another file, by its name, and all other
// names.
func (s *Storage) splitBeside(names []string) (beside map[string][]string, rest []string) {
	there := map[string]bool{}
	for _, name := range names {
		there[name] = true
	}
	beside = map[string][]string{}
next:
	for _, name := range names {
		for _, suffix := range s.Scratch {
			if part, is := strings.CutSuffix(name, suffix); is && there[part] {
				continue next
			}
		}
		for _, suffix := range s.Beside {
			if part, is := strings.CutSuffix(name, suffix); is && there[part] {
				beside[part] = append(beside[part], name)
				continue next
			}
		}
		rest = append(rest, name)
	}
	return beside, rest
}

// Stem returns the name of a part without its ending and number. See storage.Format.
func (s *Storage) Stem(name string) string {
	plain := plainName(name)
	if stem := storage.TrimExtension(plain, s.Ext); stem != plain {
		return stem
	}
	return name
}

// Identify knows metadata.yaml by itself. See storage.Format.
func (s *Storage) Identify(_ string, head []byte) (what, hint string) {
	if strings.HasPrefix(string(head), metadataKey+":") {
		return "the " + MetadataName + " of a rosbag2 recording", "name the folder that contains it"
	}
	return "", ""
}
