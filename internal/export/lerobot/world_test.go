package lerobot_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/export/lerobot"
	"github.com/bagconv/bagconv/internal/ingest/parquet"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// A world is a recording in the making, of messages in JSON.
type world struct {
	topics   []storage.Topic
	messages []storage.Message
}

// The schemas of the topics.
const (
	jointsType = `{"title": "Joints", "type": "object", "properties": {"name": {"type": "array", "items": {"type": "string"}},
		"position": {"type": "array", "items": {"type": "number"}}, "note": {"type": "string"},
		"tip": {"type": "object", "title": "Tip", "properties": {"x": {"type": "number"}, "y": {"type": "number"}}}}}`
	pictureType = `{"title": "foxglove.CompressedImage", "type": "object", "properties": {"timestamp": {"type": "object", "title": "time",
		"properties": {"sec": {"type": "integer"}, "nsec": {"type": "integer"}}}, "frame_id": {"type": "string"},
		"format": {"type": "string"}, "data": {"type": "string", "contentEncoding": "base64"}}}`
)

// at adds a message at a time in ms.
func (w *world) at(ms float64, topic, typ, schema string, message map[string]any) {
	i := slices.IndexFunc(w.topics, func(t storage.Topic) bool { return t.Name == topic })
	if i < 0 {
		i = len(w.topics)
		w.topics = append(w.topics, storage.Topic{Name: topic, Type: typ, Encoding: "json",
			Schema: storage.Schema{Encoding: "jsonschema", Data: []byte(schema)}})
	}
	text, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	ns := int64(1e18) + int64(ms*1e6)
	w.messages = append(w.messages, storage.Message{Topic: storage.TopicID(i), LogTime: ns, PublishTime: ns, Data: text})
}

// joints adds positions of joints a, b and so on.
func (w *world) joints(ms float64, topic string, position ...float64) {
	names := []string{}
	for i := range position {
		names = append(names, string(rune('a'+i)))
	}
	w.at(ms, topic, "Joints", jointsType, map[string]any{"name": names, "position": position, "note": "",
		"tip": map[string]float64{"x": position[0], "y": 2}})
}

// picture adds a picture of a gray level.
func (w *world) picture(ms float64, topic string, width, height int, level uint8) {
	w.data(ms, topic, jpegOf(width, height, level))
}

func (w *world) data(ms float64, topic string, data []byte) {
	w.at(ms, topic, "foxglove.CompressedImage", pictureType, map[string]any{
		"timestamp": map[string]int{"sec": 1, "nsec": 0}, "frame_id": "", "format": "jpeg", "data": data})
}

func jpegOf(width, height int, level uint8) []byte {
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range m.Pix {
		m.Pix[i] = level
	}
	m.Set(0, 0, color.RGBA{255, 0, 0, 255})
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// write writes the recording, in the order of time.
func (w *world) write(t testing.TB) string {
	t.Helper()
	slices.SortStableFunc(w.messages, func(a, b storage.Message) int { return int(a.LogTime - b.LogTime) })
	path := filepath.Join(t.TempDir(), "in.mcap")
	rec := storagetest.Recording{Topics: w.topics, Messages: w.messages}
	if err := storagetest.WriteAll(all.Registry().Lookup("mcap"), path, storage.WriteOptions{NoSync: true},
		rec); err != nil {
		t.Fatal(err)
	}
	return path
}

// jobOf makes a data set, or its episodes, of a recording.
func jobOf(t testing.TB, source, format, mapping string) convert.Job {
	t.Helper()
	registry := storage.NewRegistry(append(all.Registry().Formats(), lerobot.Formats()...)...)
	f, err := registry.Detect(source)
	if err != nil {
		t.Fatal(err)
	}
	job := convert.Job{Source: source, SourceFormat: f, Sink: filepath.Join(t.TempDir(), "set"),
		SinkFormat: registry.Lookup(format), Formats: registry}
	job.Write.NoSync, job.Write.Values = true, map[string]string{lerobot.OptionMap: mapping}
	return job
}

// export makes a data set of a recording.
func export(t testing.TB, source, mapping string) (dir string, report *convert.Report) {
	t.Helper()
	job := jobOf(t, source, lerobot.Name, mapping)
	report, err := convert.Run(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	return job.Sink, report
}

// column reads a column of all files of data/, a list for each row.
func column(t testing.TB, dir string, path ...string) (rows [][]float64) {
	t.Helper()
	return table(t, filepath.Join(dir, "data", "*", "*.parquet"), path...)
}

func table(t testing.TB, pattern string, path ...string) (rows [][]float64) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatal(pattern, err)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		st, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		p, err := parquet.Open(f, st.Size())
		if err != nil {
			t.Fatal(err)
		}
		c, err := p.Rows(path[0], path[1:]...)
		if err != nil {
			t.Fatal(err)
		}
		for c.Next() {
			rows = append(rows, slices.Clone(c.Floats()))
		}
		if c.Err() != nil {
			t.Fatal(c.Err())
		}
	}
	return rows
}

// first returns the first number of each row, rounded to 1e-4.
func first(rows [][]float64) (list []float64) {
	for _, r := range rows {
		list = append(list, math.Round(r[0]*1e4)/1e4)
	}
	return list
}

// codes lists the losses of a report.
func codes(report *convert.Report) (list []string) {
	for _, l := range report.Losses {
		if l.Code != "export-note" {
			list = append(list, fmt.Sprintf("%s %d", l.Code, l.Count))
		}
	}
	return list
}

// filesOf reads all files below a folder.
func filesOf(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		files[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// same reports the files that differ.
func same(t testing.TB, got, want map[string]string) {
	t.Helper()
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s differs: %d bytes, %d in the other", name, len(got[name]), len(want[name]))
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is only in one", name)
		}
	}
}

// statsOf reads the first number of each statistic of a feature.
func statsOf(t testing.TB, text, feature string) map[string]float64 {
	t.Helper()
	var all map[string]map[string]any
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for name, v := range all[feature] {
		for list, ok := v.([]any); ok; list, ok = v.([]any) {
			v = list[0]
		}
		out[name] = v.(float64)
	}
	return out
}
