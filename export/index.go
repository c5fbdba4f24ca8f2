package export

import (
	"encoding/json"
	"io"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// IndexName is the name of the file that lists what is in an export.
const IndexName = "export.json"

// An Index lists what is in an export. Paths are below its folder, with slashes; times are log times, ns since 1970 as
// text.
type Index struct {
	SchemaVersion int               `json:"schema_version"`
	Format        string            `json:"format"`
	Topics        []IndexTopic      `json:"topics"`
	Files         []IndexFile       `json:"files,omitempty"`    // of several topics
	Metadata      map[string]string `json:"metadata,omitempty"` // of the recording
	Extras        string            `json:"extras,omitempty"`   // the folder of attachments and metadata records
}

// An IndexTopic is a topic with its files.
type IndexTopic struct {
	Name     string            `json:"name"`
	Type     string            `json:"type"`
	Encoding string            `json:"encoding"`
	Messages int64             `json:"messages"`           // that came
	LeftOut  int64             `json:"left_out"`           // of them
	First    string            `json:"first,omitempty"`    // why the first that does not fit its definition is left out
	StartNS  string            `json:"start_ns,omitempty"` // of the messages
	EndNS    string            `json:"end_ns,omitempty"`
	Files    []IndexFile       `json:"files"`
	Losses   []IndexLoss       `json:"losses,omitempty"`
	QoS      []storage.QoSText `json:"qos,omitempty"`
}

// An IndexFile is a file, or the files that a frames.csv lists.
type IndexFile struct {
	Path string `json:"path"`
	Kind string `json:"kind"` // "table", "joined", "images", "clouds", "track" or "video"
	Rows int64  `json:"rows"` // of a table or track, frames, clouds

	Codec   string `json:"codec,omitempty"`    // of a video
	StartNS string `json:"start_ns,omitempty"` // the time of its first frame
}

// An IndexLoss is what was lost of values.
type IndexLoss struct {
	Code     string `json:"code"`
	Messages int64  `json:"messages"`
	Text     string `json:"message"`
}

// qosText returns profiles for JSON.
func qosText(list []storage.QoS) (text []storage.QoSText) {
	for i := range list {
		text = append(text, list[i].Text())
	}
	return text
}

// topicIndex describes a topic and its files.
func topicIndex(t *topic, files []IndexFile) IndexTopic {
	x := IndexTopic{Name: t.Name, Type: t.Type, Encoding: t.Encoding, Messages: t.rows,
		LeftOut: t.refused, Files: files, QoS: qosText(t.QoS)}
	if x.Files == nil {
		x.Files = []IndexFile{}
	}
	if t.first != nil {
		x.First = t.first.Error()
	}
	if t.rows > 0 {
		x.StartNS, x.EndNS = strconv.FormatInt(t.from, 10), strconv.FormatInt(t.to, 10)
	}
	for _, l := range t.allLosses() {
		x.Losses = append(x.Losses, IndexLoss{l.code, l.messages, l.text})
		if l.leftOut {
			x.LeftOut += l.messages
		}
	}
	return x
}

// maxIndex is how large an index may be that is read, in bytes.
const maxIndex = 64 << 20

// readIndex reads the index of the export in a folder.
func readIndex(fsys storage.FS, dir string) (*Index, error) {
	text, err := readAll(fsys, filepath.Join(dir, IndexName))
	if err != nil {
		return nil, err
	}
	var x Index
	return &x, json.Unmarshal([]byte(text), &x)
}

// files lists the files of an export. See storage.Format.
func (k *kind) files(fsys storage.FS, dir string) (storage.Files, error) {
	st, err := iox.FS(fsys).Stat(dir)
	if err != nil {
		return storage.Files{}, err
	}
	if !st.IsDir() {
		return storage.Files{Messages: []string{dir}}, nil
	}
	x, err := readIndex(fsys, dir)
	if err != nil {
		return storage.Files{}, err
	}
	list := storage.Files{Folders: []string{dir}, Beside: []string{filepath.Join(dir, IndexName)}}
	for _, f := range x.Files {
		listFile(fsys, dir, f, &list)
	}
	for i := range x.Topics {
		for _, f := range x.Topics[i].Files {
			listFile(fsys, dir, f, &list)
		}
	}
	if x.Extras != "" {
		listFolder(fsys, filepath.Join(dir, extrasFolder), &list)
	}
	return list, nil
}

// listFile lists a file of an index, the folders around it, and the files that a frames.csv names.
func listFile(fsys storage.FS, root string, f IndexFile, list *storage.Files) {
	file := filepath.Join(root, filepath.FromSlash(f.Path))
	if !filepath.IsLocal(filepath.FromSlash(f.Path)) {
		return
	}
	list.Beside = append(list.Beside, file)
	for dir := filepath.Dir(file); len(dir) > len(filepath.Clean(root)); dir = filepath.Dir(dir) {
		list.Folders = append(list.Folders, dir)
	}
	if path.Base(f.Path) != framesName {
		return
	}
	text, err := readAll(fsys, file)
	if err != nil {
		return
	}
	for line := range strings.Lines(text) {
		if cells := strings.Split(strings.TrimSpace(line), ","); len(cells) == 4 && !strings.ContainsAny(cells[3], `/\`) {
			list.Beside = append(list.Beside, filepath.Join(filepath.Dir(file), cells[3]))
		}
	}
}

// listFolder lists the files of a folder that belongs to an export as it is.
func listFolder(fsys storage.FS, dir string, list *storage.Files) {
	entries, err := iox.FS(fsys).ReadDir(dir)
	if err != nil {
		return
	}
	list.Folders = append(list.Folders, dir)
	for _, e := range entries {
		list.Beside = append(list.Beside, filepath.Join(dir, e.Name()))
	}
}

// readAll reads a text of an export.
func readAll(fsys storage.FS, name string) (string, error) {
	f, err := iox.FS(fsys).Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxIndex))
	return string(text), err
}
