package export_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/export"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/testing/faultio"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// jobOf exports a recording. options are NAME=VALUE.
func jobOf(t *testing.T, source, format string, options ...string) convert.Job {
	t.Helper()
	f, err := all.Registry().Detect(source)
	if err != nil {
		t.Fatal(err)
	}
	registry := storage.NewRegistry(append(all.Registry().Formats(), export.Formats()...)...)
	job := convert.Job{Source: source, SourceFormat: f, Sink: filepath.Join(t.TempDir(), "out"),
		SinkFormat: registry.Lookup(format), Formats: registry}
	job.Write.NoSync = true
	for _, o := range options {
		name, value, _ := strings.Cut(o, "=")
		if err := job.SinkFormat.Options.Set(&job.Write, name, value); err != nil {
			t.Fatal(err)
		}
	}
	return job
}

// filesOf reads all files below a folder.
func filesOf(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[name], err = os.ReadFile(filepath.Join(dir, name))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func indexOf(t *testing.T, dir string) (x export.Index) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, export.IndexName))
	if err == nil {
		err = json.Unmarshal(text, &x)
	}
	if err != nil {
		t.Fatal(err)
	}
	return x
}

const demo = "../testdata/demo.bag"

// TestThreads: an export has the same bytes for any number of workers, and with little memory the same rows.
func TestThreads(t *testing.T) {
	for _, options := range [][]string{
		{"parquet"}, {"arrow"}, {"csv"}, {"npy"}, {"parquet", "flat=true", "columns=header.stamp,pose"},
		{"parquet", "images=files", "clouds=pcd", "tracks=tum", "chain=base_link:odom"},
		{"csv", "images=none", "clouds=ply", "tracks=geojson", "layout=hive"},
		{"parquet", "resample=100Hz", "method=nearest"}, {"arrow", "join=/odom", "flat=true"},
		{"parquet", "explode=transforms"},
	} {
		var first map[string][]byte
		for _, threads := range []int{1, 2, 5} {
			job := jobOf(t, demo, options[0], options[1:]...)
			job.Threads = threads
			report, err := convert.Run(t.Context(), job)
			if err != nil {
				t.Fatal(options, err)
			}
			if report.Lossy() {
				t.Errorf("%v: lost: %+v", options, report.Losses)
			}
			files := filesOf(t, job.Sink)
			if first == nil {
				first = files
			}
			if len(files) != len(first) || len(files) < 2 {
				t.Errorf("%v: %d files, and %d with one worker", options, len(files), len(first))
			}
			for name, data := range files {
				if !bytes.Equal(data, first[name]) {
					t.Errorf("%v: %s is another one with %d workers", options, name, threads)
				}
			}
		}
	}
}

// TestPictures: the pixels of a picture that is a file are those of its message.
func TestPictures(t *testing.T) {
	job := jobOf(t, demo, "parquet", "images=files")
	if _, err := convert.Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	pictures := 0
	for _, topic := range indexOf(t, job.Sink).Topics {
		if topic.Type != "sensor_msgs/Image" {
			continue
		}
		if len(topic.Files) != 1 || topic.Files[0].Kind != "images" || topic.Files[0].Rows != topic.Messages {
			t.Fatalf("%+v", topic)
		}
		list := filepath.Join(job.Sink, filepath.FromSlash(topic.Files[0].Path))
		want := messagesOf(t, topic.Name)
		for i, row := range rowsOf(t, list) {
			f, err := os.Open(filepath.Join(filepath.Dir(list), row[3]))
			if err != nil {
				t.Fatal(err)
			}
			got, err := png.Decode(f)
			if err = errors.Join(err, f.Close()); err != nil {
				t.Fatal(err)
			}
			if row[1] != fmt.Sprint(want[i].LogTime) || !bytes.HasSuffix(want[i].Data, pixelsOf(got)) {
				t.Errorf("%s: picture %d is another one than its message", topic.Name, i)
			}
			pictures++
		}
	}
	if pictures != 15 {
		t.Errorf("%d pictures", pictures)
	}
}

// pixelsOf returns the bytes of an image as sensor_msgs/Image has them, in mono8 or rgb8.
func pixelsOf(m image.Image) (pixels []byte) {
	if gray, ok := m.(*image.Gray); ok {
		return gray.Pix
	}
	b := m.Bounds()
	for y := range b.Dy() {
		for x := range b.Dx() {
			r, g, b, _ := m.At(x, y).RGBA()
			pixels = append(pixels, byte(r>>8), byte(g>>8), byte(b>>8))
		}
	}
	return pixels
}

// messagesOf returns the messages of a topic of the demo.
func messagesOf(t *testing.T, topic string) (list []storage.Message) {
	t.Helper()
	r, err := all.Open(t.Context(), demo, storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	info := r.Info()
	for {
		m, err := r.ReadNext()
		if err != nil {
			return list
		}
		if info.Topics[m.Topic].Name == topic {
			one := *m
			one.Data = bytes.Clone(m.Data)
			list = append(list, one)
		}
	}
}

// rowsOf reads a file of CSV, without its head.
func rowsOf(t *testing.T, path string) [][]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil || len(rows) < 2 {
		t.Fatalf("%s: %d rows, %v", path, len(rows), err)
	}
	return rows[1:]
}

// TestFaults: whichever operation on files fails, the export does, and leaves nothing.
func TestFaults(t *testing.T) {
	all := &faultio.FS{FS: iox.OS}
	job := jobOf(t, "../testdata/tiny.bag", "parquet", "tracks=geojson", "chain=base_link:imu")
	job.Write.FS, job.Write.NoSync, job.Threads = all, false, 1
	if _, err := convert.Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	step := max(1, all.Count()/int64(samples.Pick(1<<30, 100, 30)))
	tried, failed := 0, 0
	for _, fault := range []faultio.Fault{faultio.Error, faultio.Short} {
		for n := int64(1); n <= all.Count(); n += step {
			job := jobOf(t, "../testdata/tiny.bag", "parquet", "tracks=geojson", "chain=base_link:imu")
			fsys := &faultio.FS{FS: iox.OS, N: n, Fault: fault}
			job.Write.FS, job.Write.NoSync, job.Threads = fsys, false, 1
			_, err := convert.Run(t.Context(), job)
			if tried++; err == nil {
				continue // of an operation whose failure changes nothing
			}
			failed++
			left, _ := os.ReadDir(filepath.Dir(job.Sink))
			if !errors.Is(err, faultio.ErrFault) || len(left) > 0 {
				t.Errorf("operation %d of %d, fault %d: %v, %d names are left", n, all.Count(), fault, err, len(left))
			}
		}
	}
	if failed < tried/2 {
		t.Errorf("only %d of %d operations failed the export", failed, tried)
	}
}

// TestCanceled: an export that is interrupted leaves nothing.
func TestCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	job := jobOf(t, demo, "parquet", "images=files", "video=false")
	job.Progress = func(convert.Progress) { cancel() }
	cancel()
	_, err := convert.Run(ctx, job)
	if left, _ := os.ReadDir(filepath.Dir(job.Sink)); err == nil || len(left) > 0 {
		t.Errorf("%v, %d names are left", err, len(left))
	}
}

// recording writes a bag of topics with a uint32 each; data is that of message i of topic k, nil for none.
func recording(t *testing.T, topics, messages int, data func(k, i int) []byte) string {
	t.Helper()
	rec := storagetest.Recording{}
	for k := range topics {
		rec.Topics = append(rec.Topics, storage.Topic{Name: fmt.Sprintf("/group%d/topic%d", k%7, k), Type: "std_msgs/UInt32",
			Encoding: "ros1",
			Schema:   storage.Schema{Encoding: "ros1msg", Data: []byte("uint32 data\n")}})
	}
	for i := range messages {
		for k := range topics {
			if d := data(k, i); d != nil {
				at := int64(1e18) + int64(i)*1e6
				rec.Messages = append(rec.Messages, storage.Message{Topic: storage.TopicID(k), LogTime: at, PublishTime: at,
					Data: d})
			}
		}
	}
	path := filepath.Join(t.TempDir(), "in.bag")
	if err := storagetest.WriteAll(all.Registry().Lookup("bag"), path, storage.WriteOptions{NoSync: true},
		rec); err != nil {
		t.Fatal(err)
	}
	return path
}

func number(k, i int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(k*1000+i)) }

// TestManyTopics: thousands of topics share the memory and the open files.
func TestManyTopics(t *testing.T) {
	topics := samples.Pick(20000, 3000, 500)
	job := jobOf(t, recording(t, topics, 3, number), "csv")
	if _, err := convert.Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	x := indexOf(t, job.Sink)
	if len(x.Topics) != topics {
		t.Fatalf("%d topics", len(x.Topics))
	}
	for _, k := range []int{0, 1, topics / 2, topics - 1} {
		topic := x.Topics[k]
		rows := rowsOf(t, filepath.Join(job.Sink, filepath.FromSlash(topic.Files[0].Path)))
		var id int
		if _, err := fmt.Sscanf(topic.Name[strings.LastIndex(topic.Name, "/"):], "/topic%d", &id); err != nil {
			t.Fatal(err)
		}
		if len(rows) != 3 || rows[2][2] != fmt.Sprint(id*1000+2) {
			t.Errorf("%s: %v", topic.Name, rows)
		}
	}
}

// TestUnreadable: a message that does not fit is left out, counted in the report and in the index, and costs no other.
func TestUnreadable(t *testing.T) {
	path := recording(t, 2, 10, func(k, i int) []byte {
		if k == 1 && i%4 == 1 {
			return []byte{1, 2}
		}
		return number(k, i)
	})
	for _, format := range []string{"parquet", "arrow", "csv", "npy"} {
		job := jobOf(t, path, format)
		report, err := convert.Run(t.Context(), job)
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Losses) != 1 || report.Losses[0].Code != "messages-unreadable" || report.Losses[0].Count != 3 ||
			report.Sink.Messages != 17 {
			t.Errorf("%s: %d messages, %+v", format, report.Sink.Messages, report.Losses)
		}
		for _, topic := range indexOf(t, job.Sink).Topics {
			left := int64(0)
			if strings.HasSuffix(topic.Name, "1") {
				left = 3
			}
			if topic.LeftOut != left || topic.Files[0].Rows != 10-left || (topic.First == "") != (left == 0) {
				t.Errorf("%s: %+v", format, topic)
			}
		}
		if job.Read.Strict = true; format == "parquet" {
			job.Sink += "_strict"
			if _, err := convert.Run(t.Context(), job); !errors.Is(err, convert.ErrLossy) {
				t.Errorf("strict: %v", err)
			}
		}
	}
}

// TestArrays: files of NumPy have a head for their rows, and the values of the messages.
func TestArrays(t *testing.T) {
	job := jobOf(t, recording(t, 1, 1000, number), "npy")
	if _, err := convert.Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(job.Sink, "group0", "topic0", "data.npy"))
	if err != nil {
		t.Fatal(err)
	}
	const head = "\x93NUMPY\x01\x00\x76\x00{'descr': '<u4', 'fortran_order': False, 'shape': (1000,), }"
	if !bytes.HasPrefix(b, []byte(head)) || len(b) != 128+4000 || b[127] != '\n' {
		t.Fatalf("%d bytes, %q", len(b), b[:128])
	}
	for i := range 1000 {
		if got := binary.LittleEndian.Uint32(b[128+4*i:]); got != uint32(i) {
			t.Fatalf("value %d is %d", i, got)
		}
	}
	job = jobOf(t, demo, "npy", "resample=10Hz")
	if _, err := convert.Run(t.Context(), job); !errors.Is(err, storage.ErrUnsupported) {
		t.Errorf("a joined table: %v", err)
	}
}

// TestDoubts: a value that a table does not have as its message has it is a loss of the report, in a table of its own
// and in a joined one, whose messages are forgotten on the way.
func TestDoubts(t *testing.T) {
	rec := storagetest.Recording{Topics: []storage.Topic{{Name: "/text", Type: "std_msgs/String", Encoding: "ros1",
		Schema: storage.Schema{Encoding: "ros1msg", Data: []byte("string data\n")}}}}
	for i := range 5000 {
		at := int64(1e18) + int64(i)*1e6
		rec.Messages = append(rec.Messages, storage.Message{LogTime: at, PublishTime: at,
			Data: []byte("\x02\x00\x00\x00a\xff")})
	}
	path := filepath.Join(t.TempDir(), "in.bag")
	if err := storagetest.WriteAll(all.Registry().Lookup("bag"), path, storage.WriteOptions{NoSync: true},
		rec); err != nil {
		t.Fatal(err)
	}
	for _, options := range [][]string{nil, {"resample=1000Hz"}, {"join=/text"}} {
		job := jobOf(t, path, "parquet", options...)
		report, err := convert.Run(t.Context(), job)
		if err != nil {
			t.Fatal(options, err)
		}
		if len(report.Losses) != 1 || report.Losses[0].Code != "text-replaced" || report.Losses[0].Count != 5000 {
			t.Errorf("%v: %+v", options, report.Losses)
		}
	}
}

// TestReplace: an export is replaced by another one, and a folder with anything else in it is not.
func TestReplace(t *testing.T) {
	job := jobOf(t, demo, "parquet", "images=files")
	if _, err := convert.Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if _, err := convert.Run(t.Context(), job); !errors.Is(err, fs.ErrExist) {
		t.Errorf("without the wish to replace: %v", err)
	}
	job.Write.Overwrite = true
	if _, err := convert.Run(t.Context(), job); err != nil {
		t.Error(err)
	}
	stranger := filepath.Join(job.Sink, "cam_a", "image_raw", "mine.txt")
	if err := os.WriteFile(stranger, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := convert.Run(t.Context(), job); err == nil {
		t.Error("a folder with a file of somebody else was replaced")
	}
}

// TestSingle: a file with the ending of a format is the table of one topic, and of several it is refused.
func TestSingle(t *testing.T) {
	job := jobOf(t, recording(t, 1, 5, number), "csv")
	job.Sink += ".csv"
	if _, err := convert.Run(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if rows := rowsOf(t, job.Sink); len(rows) != 5 {
		t.Errorf("%d rows", len(rows))
	}
	job = jobOf(t, recording(t, 2, 5, number), "csv")
	job.Sink += ".csv"
	if _, err := convert.Run(t.Context(), job); err == nil || !strings.Contains(err.Error(), "the table of one topic") {
		t.Error(err)
	}
}
