package lerobot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/jpeg"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/formats/all"
	made "github.com/bagconv/bagconv/internal/export/lerobot"
	"github.com/bagconv/bagconv/internal/export/mp4"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// pictureText is the definition of sensor_msgs/msg/CompressedImage.
const pictureText = "std_msgs/Header header\nstring format\nuint8[] data\n" +
	"================================================================================\nMSG: " +
	"std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n"

// recording writes a recording of two episodes of 5 frames, 100 s apart: joints a and b, a task, and a camera.
func recording(t *testing.T, typ string, frames [][]byte) string {
	t.Helper()
	rec := storagetest.Recording{Topics: []storage.Topic{
		{Name: "/s", Type: jointsType, Encoding: "cdr", Schema: storage.Schema{Encoding: "ros2msg",
			Data: []byte(jointsText)}},
		{Name: "/c", Type: typ, Encoding: "cdr", Schema: storage.Schema{Encoding: "ros2msg",
			Data: []byte(map[string]string{videoType: videoText, imageType: pictureText}[typ])}},
	}}
	for i, frame := range frames {
		ns := int64(1e18) + int64(i)*1e8 + int64(i/5)*1e11
		data := pictureOf(typ, ns, frame)
		rec.Messages = append(rec.Messages, storage.Message{Topic: 0, LogTime: ns, PublishTime: ns,
			Data: jointState(nil, ns, []string{"a", "b"}, []float64{float64(i), -0.5})},
			storage.Message{Topic: 1, LogTime: ns, PublishTime: ns, Data: data})
	}
	path := filepath.Join(t.TempDir(), "in.mcap")
	if err := storagetest.WriteAll(all.Registry().Lookup("mcap"), path, storage.WriteOptions{NoSync: true},
		rec); err != nil {
		t.Fatal(err)
	}
	return path
}

// jointsText is the definition of sensor_msgs/msg/JointState.
const jointsText = "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort\n" +
	"================================================================================\nMSG: " +
	"std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n"

func pictureOf(typ string, ns int64, frame []byte) []byte {
	if typ == videoType {
		return compressedVideo(nil, ns, "h264", frame)
	}
	return compressedImage(nil, ns, "jpeg", frame)
}

// makeSet makes a data set of a recording.
func makeSet(t *testing.T, source, mapping string) string {
	t.Helper()
	registry := storage.NewRegistry(append(all.Registry().Formats(), made.Formats()...)...)
	f, err := registry.Detect(source)
	if err != nil {
		t.Fatal(err)
	}
	job := convert.Job{Source: source, SourceFormat: f, Sink: filepath.Join(t.TempDir(), "set"),
		SinkFormat: registry.Lookup(made.Name), Formats: registry}
	job.Write.NoSync, job.Write.Values = true, map[string]string{made.OptionMap: mapping}
	if _, err := convert.Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	return job.Sink
}

const mapFile = "fps: 10\ntask: pick\nrobot_type: so100\nstate: /s:position\ncameras: {front: /c}\n"

// messages reads all messages of a data set, by topic.
func messages(t *testing.T, dir string) (map[string][]storage.Message, *storage.Info, error) {
	t.Helper()
	r, err := Source().Open(t.Context(), dir, storage.ReadOptions{})
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	info := r.Info()
	out := map[string][]storage.Message{}
	for {
		m, err := r.ReadNext()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		name := info.Topics[m.Topic].Name
		out[name] = append(out[name], *m)
	}
	for _, i := range info.Topics {
		if int64(len(out[i.Name])) != i.Messages {
			t.Errorf("%s: %d messages, %d by Info", i.Name, len(out[i.Name]), i.Messages)
		}
	}
	return out, info, nil
}

func pictures(n int) (list [][]byte) {
	for i := range n {
		m := image.NewGray(image.Rect(0, 0, 64, 64))
		for k := range m.Pix {
			m.Pix[k] = byte(10 * i)
		}
		var b bytes.Buffer
		if err := jpeg.Encode(&b, m, nil); err != nil {
			panic(err)
		}
		list = append(list, b.Bytes())
	}
	return list
}

// TestBack: a recording becomes a data set, and that the recording again: numbers, times, tasks, and pictures byte by
// byte where the data set has them as they were.
func TestBack(t *testing.T) {
	for _, codec := range []string{"stored", "images"} {
		frames := pictures(10)
		set := makeSet(t, recording(t, imageType, frames), mapFile+"codec: "+codec)
		got, info, err := messages(t, set)
		if err != nil {
			t.Fatal(err)
		}
		if info.Metadata["robot_type"] != "so100" || len(got["/task"]) != 2 || got["/task"][1].LogTime != 1e18+5e8+1e11 ||
			!bytes.Contains(got["/task"][0].Data, []byte("pick\x00")) {
			t.Errorf("%+v, %d tasks", info.Metadata, len(got["/task"]))
		}
		for i := range 10 {
			ns := int64(1e18) + int64(i)*1e8 + int64(i/5)*1e11
			s, c := got["/observation/state"][i], got["/observation/images/front"][i]
			if s.LogTime != ns || !bytes.Equal(s.Data, jointState(nil, ns, []string{"a", "b"}, []float64{float64(i), -0.5})) {
				t.Errorf("state %d at %d: % x", i, s.LogTime, s.Data)
			}
			if codec == "stored" && !bytes.Equal(c.Data, compressedImage(nil, ns, "jpeg", frames[i])) {
				t.Errorf("picture %d differs", i)
			}
		}
	}
}

// TestBackH264: frames of H.264 come back as Foxglove has them, with parameter sets before key frames, and can be
// decoded.
func TestBackH264(t *testing.T) {
	if mp4.FindFFmpeg() == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("ffmpeg is not on the path")
		}
		t.Skip("ffmpeg is not on the path")
	}
	set := makeSet(t, recording(t, imageType, pictures(10)), mapFile)
	got, _, err := messages(t, set)
	if err != nil {
		t.Fatal(err)
	}
	var stream []byte
	for i, m := range got["/observation/images/front"] {
		const at = 24 // after head, stamp, frame_id, and the length of the data
		frame := m.Data[at : at+binary.LittleEndian.Uint32(m.Data[at-4:])]
		stream = append(stream, frame...)
		if hasSets := frame[4]&31 == 7; hasSets != (i%5%2 == 0) {
			t.Errorf("frame %d begins with a NAL unit of type %d", i, frame[4]&31)
		}
	}
	cmd := exec.Command("ffmpeg", "-v", "error", "-f", "h264", "-i", "-", "-f", "rawvideo", "-pix_fmt", "gray", "-")
	cmd.Stdin = bytes.NewReader(stream)
	out, err := cmd.Output()
	if err != nil || len(out) != 10*64*64 {
		t.Fatal(len(out), err)
	}
	for i := range 10 {
		if level := int(out[i*64*64+100]); level < 10*i-4 || level > 10*i+4 {
			t.Errorf("frame %d has the level %d", i, level)
		}
	}
}

// TestDamaged: a data set in which a file is cut or missing is refused, with the file, without a panic.
func TestDamaged(t *testing.T) {
	set := makeSet(t, recording(t, imageType, pictures(10)), mapFile+"codec: stored")
	var files storage.Files
	files, err := Source().Layout.Files(nil, set)
	if err != nil || len(files.Messages) < 6 {
		t.Fatal(files, err)
	}
	refused := 0
	for _, name := range files.Messages {
		if strings.HasSuffix(name, "stats.json") || strings.HasSuffix(name, "bagconv.json") {
			continue // which are not needed
		}
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 1, len(whole) / 3, len(whole) / 2, len(whole) - 1} {
			if err := os.WriteFile(name, whole[:n], 0o666); err != nil {
				t.Fatal(err)
			}
			_, _, err := messages(t, set)
			if err == nil || !errors.Is(err, storage.ErrCorrupt) && !errors.Is(err, storage.ErrTruncated) &&
				!errors.Is(err, storage.ErrUnsupported) {
				if !(n == len(whole)-1 && strings.HasSuffix(name, ".json")) { // the last line feed
					t.Errorf("%s cut at %d: %v", filepath.Base(name), n, err)
				}
			}
			refused++
		}
		for n := 0; n < len(whole); n += 1 + len(whole)/60 {
			changed := bytes.Clone(whole)
			changed[n] ^= 0x81
			if err := os.WriteFile(name, changed, 0o666); err != nil {
				t.Fatal(err)
			}
			_, _, _ = messages(t, set) // must not panic
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		if _, _, err := messages(t, set); !errors.Is(err, os.ErrNotExist) && !errors.Is(err, storage.ErrCorrupt) &&
			!strings.Contains(name, "meta/episodes") {
			t.Errorf("without %s: %v", name, err)
		}
		if err := os.WriteFile(name, whole, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if refused < 20 {
		t.Errorf("%d damages", refused)
	}
	for change, want := range map[[2]string]string{
		{`"v3.0"`, `"v2.1"`}:                   `a data set of version "v2.1", and v3.0 is read`,
		{`"fps": 10`, `"fps": -1`}:             "fps -1",
		{"data/chunk-", "../data/chunk-"}:      "the path",
		{`data/chunk-{chunk`, `data/chunk-{x`}: "the path",
		{`"a",`, `"a","c",`}:                   "",
		{"2\n      ],\n      \"names\": [\n        \"a\"",
			"3\n      ],\n      \"names\": [\n        \"a\""}: "2 numbers, and 3 in info.json",
	} {
		name := filepath.Join(set, "meta", "info.json")
		whole, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(whole, []byte(change[0])) {
			t.Fatal(change, err, string(whole))
		}
		if err := os.WriteFile(name, bytes.ReplaceAll(whole, []byte(change[0]), []byte(change[1])), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, _, err := messages(t, set); want != "" && (err == nil || !strings.Contains(err.Error(), want)) || want == "" &&
			err != nil {
			t.Errorf("%v: %v, want %q", change, err, want)
		}
		if err := os.WriteFile(name, whole, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOverlap: without a report, and if episodes overlap by it, episodes follow each other with 10 s between them.
func TestOverlap(t *testing.T) {
	set := makeSet(t, recording(t, imageType, pictures(10)), mapFile+"codec: images")
	report := filepath.Join(set, "meta", "bagconv.json")
	text, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	for i, change := range []func() error{
		func() error {
			return os.WriteFile(report, bytes.ReplaceAll(text, []byte("1000000100500000000"), []byte("1000000000200000000")),
				0o666)
		},
		func() error { return os.Remove(report) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		got, _, err := messages(t, set)
		if err != nil {
			t.Fatal(err)
		}
		var times []int64
		for _, m := range got["/task"] {
			times = append(times, m.LogTime)
		}
		if !slices.Equal(times, []int64{1e9, 1e9 + 5e8 + between}) {
			t.Errorf("change %d: %v", i, times)
		}
	}
}

// TestConvert: a data set becomes an MCAP by a conversion, whose topics have definitions.
func TestConvert(t *testing.T) {
	set := makeSet(t, recording(t, imageType, pictures(10)), mapFile+"codec: images")
	sink := filepath.Join(t.TempDir(), "out.mcap")
	job := convert.Job{Source: set, SourceFormat: Source(), Sink: sink, SinkFormat: all.Registry().Lookup("mcap"),
		Formats: all.Registry()}
	job.Write.NoSync = true
	report, err := convert.Run(t.Context(), job)
	if err != nil || len(report.Losses) > 0 || len(report.Warnings) > 0 {
		t.Fatalf("%+v, %v", report, err)
	}
	r, err := all.Registry().Lookup("mcap").Open(t.Context(), sink, storage.ReadOptions{FS: iox.OS})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	info := r.Info()
	if info.Messages != 22 {
		t.Fatal(info, err)
	}
	for _, topic := range info.Topics {
		if len(topic.Schema.Data) == 0 {
			t.Errorf("%s has no definition", topic.Name)
		}
	}
}
