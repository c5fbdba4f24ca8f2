package export

import (
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/internal/convert/extras"
)

// names are the names of the files and folders of an export, which are kept apart also where upper and lower case are
// one.
type names struct {
	files, folders map[string]bool
	frames         map[string]bool   // folders with a frames.csv
	keys           map[string]string // of hive: the keys in lower case, and as they are
}

func newNames() *names {
	n := &names{files: map[string]bool{}, folders: map[string]bool{}, frames: map[string]bool{}, keys: map[string]string{}}
	n.files[IndexName], n.files[extrasFolder] = true, true
	return n
}

// extrasFolder is the folder of attachments and metadata records.
const extrasFolder = "extras"

// take returns the path of a topic's files, with slashes and without an ending: from its name, or
// with ~2, ~3 and so on at its end. endings are the endings that it will get, "" for a folder.
func (n *names) take(topic string, endings ...string) string {
	base := clean(topic)
	if n.within(base) {
		base = strings.ReplaceAll(base, "/", "_")
	}
	for i := 1; ; i++ {
		name := base
		if i > 1 {
			name += "~" + strconv.Itoa(i)
		}
		if n.free(name, endings) {
			n.keep(name, endings)
			return name
		}
	}
}

// hive returns the path of a topic's table as Hive has it, and all that read tables as it does:
// topic=imu%2Fdata/part-0.
func (n *names) hive(topic, ending string) string {
	key := hiveKey(strings.TrimPrefix(topic, "/"), false)
	if have, ok := n.keys[lower(key)]; ok && have != key { // one folder where upper and lower case are one, and two topics
		key = hiveKey(strings.TrimPrefix(topic, "/"), true)
	}
	n.keys[lower(key)] = key
	for i := 0; ; i++ {
		name := fmt.Sprintf("topic=%s/part-%d", key, i)
		if n.free(name, []string{ending}) {
			n.keep(name, []string{ending})
			return name
		}
	}
}

// hiveKey returns a topic's name as the value of a partition; readers undo the escapes. all escapes each byte.
func hiveKey(topic string, all bool) string {
	var key string
	if all {
		for i := range len(topic) {
			key += fmt.Sprintf("%%%02X", topic[i])
		}
	} else if key = strings.ReplaceAll(url.PathEscape(topic), ":", "%3A"); strings.HasSuffix(key, ".") {
		// Windows drops a point at the end.
		key = strings.TrimSuffix(key, ".") + "%2E"
	}
	if len(key) > 200 { // a folder cannot have the name
		key = extras.FileName(key, "topic")
	}
	return key
}

// lower returns a name as file systems compare it where upper and lower case are one.
func lower(name string) string { return strings.ToLower(strings.ToUpper(name)) }

// clean returns a topic's name as a path that every file system takes.
func clean(topic string) string {
	var parts []string
	for part := range strings.SplitSeq(topic, "/") {
		if part != "" {
			parts = append(parts, extras.FileName(part, "topic"))
		}
	}
	if len(parts) == 0 {
		return "topic"
	}
	const deepest = 16 // folders; deeper ones are joined
	if more := len(parts) - deepest; more > 0 {
		parts = append([]string{extras.FileName(strings.Join(parts[:more+1], "_"), "topic")}, parts[more+1:]...)
	}
	return path.Join(parts...)
}

// within reports whether a folder of the path is a file.
func (n *names) within(name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if n.files[lower(dir)] {
			return true
		}
	}
	return false
}

// free reports whether a path can get some endings.
func (n *names) free(name string, endings []string) bool {
	for _, ending := range endings {
		key := lower(name + ending)
		if n.files[key] || ending == "" && (n.frames[key] || n.files[key+"/"+framesName]) || ending != "" && n.folders[key] {
			return false
		}
	}
	return true
}

func (n *names) keep(name string, endings []string) {
	for _, ending := range endings {
		key := lower(name + ending)
		if ending != "" {
			n.files[key] = true
			continue
		}
		n.frames[key], n.folders[key], n.files[key+"/"+framesName] = true, true, true
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		n.folders[lower(dir)] = true
	}
}
