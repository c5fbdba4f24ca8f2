package all_test

import (
	"context"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/check"
	"github.com/bagconv/bagconv/convert/values"
	"github.com/bagconv/bagconv/convert/verify"
	"github.com/bagconv/bagconv/export"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/formats/mcap"
	"github.com/bagconv/bagconv/live"
	"github.com/bagconv/bagconv/live/ros1"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/urls"
)

// The functions of this file are the code of docs/library.md: TestLibrary runs them in a folder with a drive.bag and a
// drive.mcap, and TestLibraryDocs compares the text.

func libraryValues(ctx context.Context) error {
	type fix struct { // the fields of interest, by their names
		Latitude float64
		Height   float64 `bag:"altitude"` // another name
	}
	r, err := all.Open(ctx, "drive.bag", storage.ReadOptions{}) // or a rosbag2 folder, a record, an MCAP file, a URL
	if err != nil {
		return err
	}
	defer r.Close()
	for m, err := range values.Read[fix](ctx, r, "/gps/fix", values.Query{}) {
		if err != nil {
			return err // or continue, if errors.Is(err, values.ErrMalformed)
		}
		fmt.Println(m.LogTime, m.Value.Latitude)
	}
	return nil
}

func libraryRange(ctx context.Context, r storage.Reader) error {
	info := r.Info()
	q := values.Query{Start: info.Start + 200e6, End: info.Start + 400e6} // log times, ns since 1970
	for m, err := range values.Read[map[string]any](ctx, r, "/imu/data", q) {
		if err != nil {
			return err
		}
		fmt.Println(m.LogTime, m.Value["angular_velocity"])
	}
	return nil
}

func libraryCodec(topic *storage.Topic, data []byte) ([]byte, error) {
	codec, err := values.For[map[string]any](topic)
	if err != nil {
		return nil, err
	}
	var v map[string]any
	if err := codec.Decode(data, &v); err != nil {
		return nil, err
	}
	v["latitude"] = 48.0
	return codec.Append(data[:0], &v)
}

func libraryInfo(r *storage.Recording) error {
	info := r.Info()
	fmt.Println(info.Format, info.Messages, time.Duration(info.End-info.Start))
	for _, t := range info.Topics {
		fmt.Println(t.Name, t.Type, t.Encoding, t.Messages)
	}
	return nil
}

func libraryMessages(ctx context.Context, r *storage.Recording, info *storage.Info) error {
	for m, err := range r.Messages(ctx) { // in the order of the file
		if err != nil {
			return err
		}
		fmt.Println(info.Topics[m.Topic].Name, m.LogTime, len(m.Data)) // valid until the next step: copy what is kept
	}
	return nil
}

func libraryQuery(ctx context.Context, r *storage.Recording, imu []storage.TopicID, at int64) error {
	for _, q := range []storage.Query{
		{Topics: imu, Limit: 10},                        // the first ten
		{Topics: imu, Start: at - 1e9, End: at},         // of a second
		{Topics: imu, End: at, Reverse: true, Limit: 1}, // the last one up to at
	} {
		for m, err := range r.Query(ctx, q) { // in the order of time
			if err != nil {
				return err
			}
			fmt.Println(m.LogTime, len(m.Data))
		}
	}
	return nil
}

func libraryConvert(ctx context.Context) error {
	job := convert.Job{Progress: func(p convert.Progress) { fmt.Printf("\r%d of %d bytes", p.Bytes, p.Total) }}
	report, err := convert.File(ctx, all.Registry(), "drive.bag", "drive_ros2", job) // a folder is rosbag2
	if err != nil {
		return err
	}
	for _, l := range report.Losses {
		fmt.Println(l.Topic, l.Message)
	}
	return nil
}

func librarySelect(ctx context.Context, from int64) error {
	topics, err := convert.Patterns("/imu/*", "/tf")
	if err != nil {
		return err
	}
	job := convert.Job{Select: convert.Select{Topics: topics, Start: convert.At(from), Duration: 10e9}}
	job.Write.Compression = "zstd"
	_, err = convert.File(ctx, all.Registry(), "drive.bag", "cut.mcap", job)
	return err
}

func libraryVerify(ctx context.Context) error {
	res, err := verify.Files(ctx, all.Registry(), "drive.bag", "drive.mcap", verify.Job{})
	if err != nil {
		return err
	}
	for _, t := range res.Topics {
		if !t.Equal {
			fmt.Println(t.Name, t.Different, t.First)
		}
	}
	return nil
}

func libraryCheck(ctx context.Context) error {
	res, err := check.File(ctx, all.Registry(), "drive.bag", check.Options{})
	if err != nil {
		return err
	}
	for _, f := range res.Findings {
		fmt.Println(f.Severity, f.Code, f.Topic, f.Message)
	}
	return nil
}

func libraryURLs(ctx context.Context) error {
	_, err := convert.File(ctx, all.Registry(), "https://example.org/drive.bag", "s3://bucket/drive.mcap", convert.Job{})
	return err
}

func libraryLimits(ctx context.Context) error {
	files, end := urls.New(ctx, urls.Options{Bandwidth: 10e6, Listings: all.Registry().Listings()})
	defer end()
	r, err := all.Open(ctx, "https://example.org/drive_ros2", storage.ReadOptions{FS: files})
	if err != nil {
		return err
	}
	return r.Close()
}

func libraryWrite(ctx context.Context, topic storage.Topic, data []byte, at int64) error {
	w, err := all.Registry().Lookup("bag").Create(ctx, "hello.bag", storage.WriteOptions{Compression: "lz4"})
	if err != nil {
		return err
	}
	defer w.Close() // removes an output that was not committed
	id, err := w.CreateTopic(topic)
	if err != nil {
		return err
	}
	if err := w.Write(&storage.Message{Topic: id, LogTime: at, PublishTime: at, Data: data}); err != nil {
		return err
	}
	return w.Commit() // now it exists
}

func libraryExport(ctx context.Context) error {
	formats := all.Registry().And(export.Formats()...)
	job := convert.Job{SinkFormat: formats.Lookup("parquet")}
	if err := job.SinkFormat.Options.Set(&job.Write, "columns", "header.stamp,latitude"); err != nil {
		return err // the flags of bagconv export
	}
	_, err := convert.File(ctx, formats, "drive.bag", "drive_tables", job)
	return err
}

func libraryRecord(ctx context.Context) error {
	source := live.Source(func(ctx context.Context, address string) (storage.Reader, error) {
		return ros1.Record(ctx, address, ros1.RecordOptions{
			Takes:   func(name, typ string) bool { return name == "/imu/data" },
			Options: live.Options{Duration: time.Minute},
		})
	})
	job := convert.Job{SourceFormat: source, Order: convert.OrderFile} // the order in which they come
	_, err := convert.File(ctx, all.Registry(), "ros1://localhost:11311", "drive.mcap", job)
	return err
}

func libraryPlay(ctx context.Context) error {
	player, err := ros1.NewPlayer(ctx, "ros1://localhost:11311", ros1.PlayOptions{Clock: live.NewClock(1, false)})
	if err != nil {
		return err
	}
	job := convert.Job{SinkFormat: player.Format()}
	if _, err := convert.File(ctx, all.Registry(), "drive.mcap", "ros1://localhost:11311", job); err != nil {
		return err
	}
	return player.Close() // when all subscribers have everything
}

func librarySmall(ctx context.Context) error {
	formats := storage.NewRegistry(mcap.Format) // and no import of formats/all
	r, err := formats.Open(ctx, "drive.mcap", storage.ReadOptions{})
	if err != nil {
		return err
	}
	return r.Close()
}

// TestLibrary runs the code of docs/library.md, but for what needs a network.
func TestLibrary(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	demo, err := os.ReadFile("../../testdata/demo.bag")
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	defer func() { os.Stdout = stdout }()
	if os.Stdout, err = os.Create(filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	defer os.Stdout.Close()
	t.Chdir(dir)
	if err := os.WriteFile("drive.bag", demo, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := convert.File(ctx, all.Registry(), "drive.bag", "drive.mcap", convert.Job{}); err != nil {
		t.Fatal(err)
	}
	r, err := all.Open(ctx, "drive.bag", storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	info := r.Info()
	topic := info.Topics[topicID(info, "/gps/fix")]
	var data []byte
	for m, err := range r.Query(ctx, storage.Query{Topics: []storage.TopicID{topic.ID}, Limit: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		data = append(data, m.Data...)
	}
	if changed, err := libraryCodec(&topic.Topic, slices.Clone(data)); err != nil || len(changed) != len(data) {
		t.Errorf("%d bytes, %v", len(changed), err)
	}
	for i, err := range []error{
		libraryValues(ctx), libraryRange(ctx, r), libraryInfo(r), libraryMessages(ctx, r, info),
		libraryQuery(ctx, r, []storage.TopicID{topicID(info, "/imu/data")}, info.Start+500e6), libraryConvert(ctx),
		librarySelect(ctx, info.Start),
		libraryVerify(ctx), libraryCheck(ctx), libraryWrite(ctx, topic.Topic, data, info.Start), libraryExport(ctx),
		librarySmall(ctx),
	} {
		if err != nil {
			t.Errorf("function %d: %v", i, err)
		}
	}
	for _, name := range []string{"drive_ros2/metadata.yaml", "cut.mcap", "hello.bag", "drive_tables/export.json"} {
		if st, err := os.Stat(name); err != nil || st.Size() == 0 {
			t.Errorf("%s was not written: %v", name, err)
		}
	}
	_ = []func(context.Context) error{libraryURLs, libraryLimits, libraryRecord, libraryPlay} // they are compiled
}

// TestLibraryDocs: each piece of Go in docs/library.md is a part of this file, and each function of it is in the
// document.
func TestLibraryDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/library.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("library_test.go")
	if err != nil {
		t.Fatal(err)
	}
	// squeezed is code without the blanks that depend on where it stands.
	squeezed := func(code string) string {
		var lines []string
		for line := range strings.Lines(code) {
			if line = strings.Join(strings.Fields(line), " "); line != "" {
				lines = append(lines, line)
			}
		}
		return strings.Join(lines, "\n")
	}
	own, pieces, whole := squeezed(string(source)), 0, ""
	for _, part := range strings.Split(string(text), "```go\n")[1:] {
		code, _, _ := strings.Cut(part, "```")
		if formatted, err := format.Source([]byte(code)); err != nil || string(formatted) != code {
			t.Errorf("not as gofmt writes it: %v\n%s", err, code)
		}
		if n := strings.Count(code, "\n"); n > 16 {
			t.Errorf("%d lines are too many for one task:\n%s", n, code)
		}
		if !strings.Contains(own, squeezed(code)) {
			t.Errorf("this code is not in library_test.go:\n%s", code)
		}
		pieces, whole = pieces+1, whole+squeezed(code)+"\n"
	}
	functions := strings.Split(string(source), "\nfunc library")[1:]
	for _, f := range functions {
		body := strings.SplitN(f, "\n", 4)
		if !strings.Contains(whole, squeezed(body[1])) {
			t.Errorf("docs/library.md does not have the function library%s", body[0])
		}
	}
	if pieces < 10 || pieces != len(functions) {
		t.Errorf("%d pieces of code, and %d functions", pieces, len(functions))
	}
}
