package verify_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/verify"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/convert/apollo"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

var registry = all.Registry()

// recordings lists the recordings in a folder that can be read.
func recordings(t *testing.T, root string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && !exists(filepath.Join(path, "metadata.yaml")) {
			return nil
		}
		f, err := registry.Detect(path)
		if err != nil {
			return nil
		}
		r, err := f.Open(context.Background(), path, storage.ReadOptions{})
		if err != nil {
			return nil
		}
		out = append(out, path)
		if d.IsDir() {
			defer r.Close()
			return filepath.SkipDir
		}
		return r.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func compare(t *testing.T, job verify.Job, a, b string) *verify.Result {
	t.Helper()
	var err error
	job.A.Path, job.B.Path = a, b
	for _, s := range []*verify.Side{&job.A, &job.B} {
		if s.Format, err = registry.Detect(s.Path); err != nil {
			t.Fatal(err)
		}
	}
	res, err := verify.Run(context.Background(), job)
	if err != nil {
		t.Fatalf("%s and %s: %v", a, b, err)
	}
	if job.Progress = nil; testing.Short() {
		return res
	}
	if apart, err := verify.Run(context.Background(), verify.Apart(job)); err != nil || !reflect.DeepEqual(res, apart) {
		t.Errorf("%s and %s: read each for itself: %v\n%+v\nelse\n%+v", a, b, err, apart, res)
	}
	return res
}

// byDesign are the exceptions that a conversion has, by the formats: these, and
// each of them for a recording of the data folder.
var byDesign = map[string][]verify.Code{
	"bag bag": nil, "db3 db3": {verify.Definitions}, "record record": nil,
	"bag db3":    {verify.HeaderSeq, verify.Fields},
	"bag record": {verify.Types, verify.Fields, verify.Presence, verify.Renamed, verify.Unconvertible},
	"db3 bag":    {verify.HeaderSeq, verify.Types, verify.Fields, verify.EmptyTopics, verify.Unconvertible},
	"db3 record": {verify.HeaderSeq, verify.Types, verify.Fields, verify.Presence, verify.EmptyTopics,
		verify.Unconvertible},
	"mcap mcap":   {verify.Definitions},
	"bag mcap":    {verify.HeaderSeq, verify.Fields},
	"db3 mcap":    {verify.Definitions},
	"record mcap": {verify.HeaderSeq, verify.Types, verify.Fields, verify.Presence},
	"mcap bag":    {verify.HeaderSeq, verify.Types, verify.Fields, verify.PublishTime, verify.Flaws, verify.Unconvertible},
	"mcap db3":    {verify.Definitions, verify.PublishTime, verify.Unconvertible},
	"mcap record": {verify.HeaderSeq, verify.Types, verify.Fields, verify.Presence, verify.PublishTime, verify.Flaws,
		verify.Unconvertible},

	"ros2mcap ros2mcap": {verify.Definitions},
	"bag ros2mcap":      {verify.HeaderSeq, verify.Fields},
	"db3 ros2mcap":      {verify.Definitions},
	"record ros2mcap":   {verify.HeaderSeq, verify.Types, verify.Fields, verify.Presence},
	"mcap ros2mcap":     {verify.Definitions},
	"ros2mcap mcap":     {verify.Definitions},
	"ros2mcap bag": {verify.HeaderSeq, verify.Types, verify.Fields, verify.PublishTime, verify.Flaws,
		verify.Unconvertible},
	"ros2mcap db3": {verify.Definitions, verify.PublishTime, verify.Unconvertible},
	"ros2mcap record": {verify.HeaderSeq, verify.Types, verify.Fields, verify.Presence, verify.PublishTime, verify.Flaws,
		verify.Unconvertible},

	"record bag": {verify.Types, verify.Fields, verify.Presence, verify.Unconvertible},
	"record db3": {verify.HeaderSeq, verify.Types, verify.Fields, verify.Presence, verify.Unconvertible},
}

// TestConversions: each recording of the data folder, damaged ones too, converted
// to each format, holds the same, whichever side comes first. The exceptions are
// those that the formats explain, and what a conversion leaves out is what its
// report says. Recordings of more than 1 MB are converted to every third format, with
// BAGCONV_EXHAUSTIVE=1 to each.
func TestConversions(t *testing.T) {
	dir := t.TempDir()
	n := 0
	seen := map[string]bool{} // "bag db3 header-seq"
	for _, root := range append(samples.Glob(t, "ros*"), samples.Glob(t, "cyber")...) {
		t.Run(filepath.Base(filepath.Dir(root))+"/"+filepath.Base(root), func(t *testing.T) {
			for _, path := range withParts(t, recordings(t, root)) {
				large := sizeOf(t, path) > 1<<20
				for _, sink := range registry.Writable() {
					if n++; testing.Short() && n%8 != 0 || large && n%samples.Pick(1, 3, 8) != 0 { // few under the race detector
						continue
					}
					out := filepath.Join(dir, fmt.Sprintf("%d%s", n, ending(sink)))
					source := formatOf(t, path)
					report, err := convert.Run(context.Background(), convert.Job{
						Source: path, SourceFormat: source, Sink: out, SinkFormat: sink, Write: storage.WriteOptions{NoSync: true},
					})
					if err != nil {
						t.Errorf("%s to %s: %v", path, sink.Name, err)
						continue
					}
					job := verify.Job{Ignore: []verify.Code{verify.Unconvertible}}
					results := []*verify.Result{compare(t, job, path, out), compare(t, job, out, path)}
					if slices.ContainsFunc(results[0].Exceptions, func(e verify.Exception) bool { return e.Code == verify.Flaws }) {
						results = results[:1] // in reverse, what is wrong with the source is a difference
					}
					for _, res := range results {
						for _, e := range res.Exceptions {
							seen[source.Name+" "+sink.Name+" "+string(e.Code)] = true
						}
						if !res.Equal || !explained(res, byDesign[source.Name+" "+sink.Name]) || leftOut(res) != lost(report) {
							t.Errorf("%s to %s:%s", path, sink.Name, describe(res, report))
						}
					}
					if err := os.RemoveAll(out); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
	if _, shared := samples.Shared(t); testing.Short() || !shared {
		return
	}
	for pair, codes := range byDesign {
		for _, code := range codes {
			if name := pair + " " + string(code); !seen[name] {
				t.Errorf("no recording has the exception %s", name)
			}
		}
	}
}

// sizeOf returns how many bytes the files of a recording have that have its messages.
func sizeOf(t *testing.T, path string) (sum int64) {
	t.Helper()
	files, err := formatOf(t, path).FilesOf(nil, path)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files.Messages {
		st, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		sum += st.Size()
	}
	return sum
}

// withParts adds a part of each folder, where that is a recording of another format.
func withParts(t *testing.T, paths []string) []string {
	t.Helper()
	for _, path := range paths {
		f := formatOf(t, path)
		files, err := f.FilesOf(nil, path)
		if err != nil {
			t.Fatal(err)
		}
		if part, err := registry.Detect(files.Messages[0]); err == nil && part != f {
			paths = append(paths, files.Messages[0])
		}
	}
	return paths
}

// explained reports whether all exceptions are of some codes.
func explained(r *verify.Result, codes []verify.Code) bool {
	for _, e := range r.Exceptions {
		if !slices.Contains(codes, e.Code) {
			return false
		}
	}
	return true
}

// leftOut counts the messages that a conversion has left out by a comparison, and
// lost does so by its report.
func leftOut(r *verify.Result) (n int64) {
	for _, e := range r.Exceptions {
		if e.Code == verify.Unconvertible {
			n += e.Count
		}
	}
	return n
}

func lost(r *convert.Report) (n int64) {
	for _, l := range r.Losses {
		switch l.Code {
		case "topic-dropped", "messages-unreadable", "time-out-of-range":
			n += l.Count
		}
	}
	return n
}

func describe(r *verify.Result, report *convert.Report) string {
	var b strings.Builder
	for _, t := range r.Topics {
		if !t.Equal {
			fmt.Fprintf(&b, "\n  %s: %+v %+v differ %d first %+v", t.Name, t.A, t.B, t.Different, *t.First)
		}
	}
	for _, e := range r.Exceptions {
		fmt.Fprintf(&b, "\n  except %+v", e)
	}
	for _, l := range report.Losses {
		fmt.Fprintf(&b, "\n  loss %+v", l)
	}
	return b.String()
}

// TestWays: all ways to convert write what verify finds equal, also over several
// formats and back.
func TestWays(t *testing.T) {
	bag, others := inputs(t, 2, 10)
	record := others["record"]
	for name, c := range map[string]struct {
		from, to string
		job      convert.Job
		verify   verify.Job
	}{
		"generated types":       {from: bag, to: "record", job: convert.Job{ProtoTypes: mapping.ProtoGenerated}},
		"generated from record": {from: record, to: "db3", job: convert.Job{ProtoTypes: mapping.ProtoGenerated}},
		"raw":                   {from: record, to: "db3", job: convert.Job{ProtoTypes: mapping.ProtoRaw}},
		"frames": {from: record, to: "bag", job: convert.Job{Frames: apollo.FramesREP103},
			verify: verify.Job{Frames: apollo.FramesREP103}},
		"frames to record": {from: bag, to: "record", job: convert.Job{Frames: apollo.FramesREP103},
			verify: verify.Job{Frames: apollo.FramesREP103}},
		"rosout":            {from: bag, to: "db3", job: convert.Job{Rosout: mapping.RosoutROS2}},
		"jazzy":             {from: bag, to: "db3", job: convert.Job{Distro: "jazzy"}},
		"order of the file": {from: bag, to: "db3", job: convert.Job{Order: convert.OrderFile}},
	} {
		t.Run(name, func(t *testing.T) {
			out := converted(t, c.job, c.from, c.to, filepath.Join(t.TempDir(), "out"))
			for _, pair := range [][2]string{{c.from, out}, {out, c.from}} {
				if res := compare(t, c.verify, pair[0], pair[1]); !res.Equal {
					t.Errorf("%s and %s:%s", pair[0], pair[1], describe(res, &convert.Report{}))
				}
			}
		})
	}
	t.Run("frames are not forgotten", func(t *testing.T) {
		out := converted(t, convert.Job{Frames: apollo.FramesREP103}, record, "bag", filepath.Join(t.TempDir(), "out"))
		if compare(t, verify.Job{}, record, out).Equal {
			t.Error("turned axes are not found")
		}
	})
	t.Run("there and back", func(t *testing.T) {
		dir := t.TempDir()
		path := bag
		for i, to := range []string{"db3", "record", "db3", "bag"} {
			path = converted(t, convert.Job{ProtoTypes: mapping.ProtoGenerated}, path, to, filepath.Join(dir, fmt.Sprint(i)))
		}
		if res := compare(t, verify.Job{Ignore: []verify.Code{verify.HeaderSeq}}, bag, path); !res.Equal {
			t.Error(describe(res, &convert.Report{}))
		}
	})
}

// TestHashes: a topic has the same hash in all formats, whatever it is compared with.
func TestHashes(t *testing.T) {
	bag, _ := inputs(t, 3, 10)
	dir := t.TempDir()
	db3 := converted(t, convert.Job{}, bag, "db3", filepath.Join(dir, "a"))
	record := converted(t, convert.Job{ProtoTypes: mapping.ProtoGenerated}, bag, "record", filepath.Join(dir, "b"))
	want := map[string]string{}
	for _, pair := range [][2]string{{bag, bag}, {bag, db3}, {db3, record}, {record, record}, {record, bag}, {db3, db3}} {
		for _, topic := range compare(t, verify.Job{}, pair[0], pair[1]).Topics {
			for _, end := range []*verify.TopicEnd{topic.A, topic.B} {
				if want[topic.Name] == "" {
					want[topic.Name] = end.Hash
				}
				if len(end.Hash) != 64 || end.Hash != want[topic.Name] {
					t.Errorf("%s, of %v: %s, want %s", topic.Name, pair, end.Hash, want[topic.Name])
				}
			}
		}
	}
	if len(want) != len(generated) {
		t.Errorf("%d topics", len(want))
	}
}

func sideOf(path string, f *storage.Format) verify.Side {
	return verify.Side{Ref: recording.Ref{Path: path, Format: f}}
}
