package export_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// pictureSchema is the schema of foxglove.CompressedImage and foxglove.CompressedVideo as far as these tests need it.
const pictureSchema = `{"type": "object", "properties": {
	"timestamp": {"type": "object", "title": "time", "properties": {"sec": {"type": "integer"}, "nsec": {"type": "integer"}}},
	"frame_id": {"type": "string"}, "format": {"type": "string"},
	"data": {"type": "string", "contentEncoding": "base64"}}}`

// pictures writes an MCAP file of topics of one of Foxglove's types with pictures, in the order of names.
func pictures(t *testing.T, typ string, topics map[string][][]byte, names ...string) string {
	t.Helper()
	rec := storagetest.Recording{}
	for k, name := range names {
		rec.Topics = append(rec.Topics, storage.Topic{Name: name, Type: typ, Encoding: "json",
			Schema: storage.Schema{Encoding: "jsonschema", Data: []byte(pictureSchema)}})
		for i, data := range topics[name] {
			at := int64(1e18) + int64(i)*1e8
			text, err := json.Marshal(map[string]any{"timestamp": map[string]int64{"sec": at / 1e9, "nsec": at % 1e9},
				"frame_id": "", "format": "", "data": data})
			if err != nil {
				t.Fatal(err)
			}
			rec.Messages = append(rec.Messages, storage.Message{Topic: storage.TopicID(k), LogTime: at, PublishTime: at,
				Data: text})
		}
	}
	path := filepath.Join(t.TempDir(), "in.mcap")
	if err := storagetest.WriteAll(all.Registry().Lookup("mcap"), path, storage.WriteOptions{NoSync: true},
		rec); err != nil {
		t.Fatal(err)
	}
	return path
}

// picture returns a picture as JPEG or PNG.
func picture(t *testing.T, m image.Image, asPNG bool) []byte {
	t.Helper()
	var out bytes.Buffer
	err := jpeg.Encode(&out, m, nil)
	if asPNG {
		out.Reset()
		err = png.Encode(&out, m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestVideos: Foxglove's videos become MP4 files, PNG do as pixels, and of what no video can have nothing counts as
// written.
func TestVideos(t *testing.T) {
	size := image.Rect(0, 0, 16, 16)
	stored, small, deep := picture(t, image.NewRGBA(size), false), picture(t, image.NewRGBA(size), true), picture(t,
		image.NewGray16(size), true)
	for _, typ := range []string{"foxglove.CompressedVideo", "foxglove.CompressedImage"} {
		path := pictures(t, typ, map[string][][]byte{
			"/jpeg": {stored, stored, stored}, "/png": {small, small}, "/deep": {deep, deep}, "/none": {{1, 2, 3}},
			"/mixed": {stored, []byte("?"), stored, small},
		}, "/jpeg", "/png", "/deep", "/none", "/mixed")
		job := jobOf(t, path, "parquet", "video=true")
		report, err := convert.Run(t.Context(), job)
		if err != nil {
			t.Fatal(typ, err)
		}
		lost := int64(0)
		for _, l := range report.Losses {
			if l.Code != "video-frame" {
				t.Errorf("%s: %+v", typ, l)
			}
			lost += l.Count
		}
		if lost != 5 || report.Sink.Messages != 12-lost {
			t.Errorf("%s: %d of 12 messages are written, %+v", typ, report.Sink.Messages, report.Losses)
		}
		got := ""
		for _, topic := range indexOf(t, job.Sink).Topics {
			rows := int64(0)
			for _, f := range topic.Files {
				if rows += f.Rows; f.Kind != "video" {
					t.Errorf("%s: %+v", typ, f)
				}
			}
			got += fmt.Sprintf("%s %d-%d=%d ", topic.Name, topic.Messages, topic.LeftOut, rows)
		}
		if want := "/jpeg 3-0=3 /png 2-0=2 /deep 2-2=0 /none 1-1=0 /mixed 4-2=2 "; got != want {
			t.Errorf("%s: %s, and not %s", typ, got, want)
		}
	}
}

// TestPicturesUnsupported: pictures that are no files are left out, with words that say why.
func TestPicturesUnsupported(t *testing.T) {
	path := pictures(t, "foxglove.CompressedImage", map[string][][]byte{"/a": {{0, 0, 0, 1, 9}, {0, 0, 0, 1, 7},
		{0xff, 0xd8, 0xff, 1}}}, "/a")
	job := jobOf(t, path, "parquet", "images=files")
	report, err := convert.Run(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	if l := report.Losses; len(l) != 1 || l[0].Code != "images-unsupported" || l[0].Count != 2 ||
		report.Sink.Messages != 1 {
		t.Errorf("%d messages, %+v", report.Sink.Messages, l)
	}
	if x := indexOf(t, job.Sink).Topics[0]; x.Messages != 3 || x.LeftOut != 2 || x.Files[0].Rows != 1 {
		t.Errorf("%+v", x)
	}
}
