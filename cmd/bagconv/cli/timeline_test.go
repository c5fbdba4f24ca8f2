package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/storage"
)

// TestFindingsOnTimeline: check draws the topics that have findings at a time, marks where
// these lie, and draws no other.
func TestFindingsOnTimeline(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gap.bag")
	w, err := all.Registry().Lookup("bag").Create(context.Background(), path, storage.WriteOptions{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, times ...int) {
		id, err := w.CreateTopic(storage.Topic{Name: name, Type: "std_msgs/Empty", Encoding: "ros1",
			Schema:   storage.Schema{Encoding: "ros1msg"},
			Metadata: map[string]string{storage.MetaMD5Sum: "d41d8cd98f00b204e9800998ecf8427e"}})
		for _, at := range times {
			if err == nil {
				time := 1_700_000_000_000_000_000 + int64(at)*1e8
				err = w.Write(&storage.Message{Topic: id, LogTime: time, PublishTime: time})
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var torn, whole []int
	for i := range 400 {
		if whole = append(whole, i); i < 100 || i >= 300 {
			torn = append(torn, i)
		}
	}
	write("/torn", torn...)
	write("/whole", whole...)
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	show := func(terminal bool, args ...string) string {
		var out, errOut bytes.Buffer
		Run(context.Background(), append([]string{"bagconv", "check", path}, args...), Stdio{Out: &out, Err: &errOut,
			OutTerminal: terminal}, all.Registry())
		if errOut.Len() > 0 {
			t.Fatal(&errOut)
		}
		return out.String()
	}
	text := show(true)
	_, drawing, ok := strings.Cut(text, "\ntimeline:  1s per character, from 2023-11-14T22:13:20Z")
	_, drawing, _ = strings.Cut(drawing, "; ! is a finding\n")
	drawing, _, _ = strings.Cut(drawing, "\n\n")
	if want := "  /torn |"; !ok || !strings.HasPrefix(drawing, want) || strings.Contains(drawing, "/whole") ||
		strings.Count(drawing, "!") != 1 {
		t.Fatalf("%s", text)
	}
	row := strings.TrimPrefix(drawing, "  /torn |")
	if mark, gap := strings.IndexByte(row, '!'), strings.Index(row, "      "); mark < 8 || gap < 0 || mark > gap &&
		mark < strings.LastIndex(row, "      ") {
		t.Errorf("the gap and its finding are at %d and %d of %s", gap, mark, row)
	}
	for _, text := range []string{show(false), show(true, "--no-timeline")} {
		if strings.Contains(text, "timeline") {
			t.Errorf("%s", text)
		}
	}
	var out struct{ Timeline *recording.Timeline }
	if err := json.Unmarshal([]byte(show(false, "--json")), &out); err != nil {
		t.Fatal(err)
	}
	sum := func(row []int64) (n int64) {
		for _, x := range row {
			n += x
		}
		return n
	}
	if out.Timeline == nil || len(out.Timeline.Counts) != 2 || sum(out.Timeline.Counts[0]) != 200 ||
		sum(out.Timeline.Counts[1]) != 400 || !slices.Contains(out.Timeline.Counts[0], 0) {
		t.Errorf("%+v", out.Timeline)
	}
}
