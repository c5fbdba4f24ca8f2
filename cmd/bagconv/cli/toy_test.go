package cli

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/testdata/external/toy"
)

// TestToy: a format that is registered goes through every command, and nothing else
// knows it: its options, endings, encoding, attachments and files are asked of it.
func TestToy(t *testing.T) {
	registry := storage.NewRegistry(append(all.Registry().Formats(), toy.Format)...)
	demo, err := os.ReadFile("../../../testdata/demo.bag")
	if err != nil {
		t.Fatal(err)
	}
	const bag = "demo.bag" // a line is split at blanks, which the name of a folder may have
	t.Chdir(t.TempDir())
	if err := os.WriteFile(bag, demo, 0o666); err != nil {
		t.Fatal(err)
	}
	w, err := toy.Format.Create(context.Background(), "own.toy", storage.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.CreateTopic(storage.Topic{Name: "/own", Type: "Toy", Encoding: "toy",
		Schema: storage.Schema{Encoding: "toyschema", Data: []byte("x")}}); err != nil {
		t.Fatal(err)
	}
	for i := range int64(10) {
		if err := w.Write(&storage.Message{LogTime: 1e18 + i*1e9, PublishTime: 1e18 + i, Sequence: uint32(i),
			Data: []byte{byte(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"cal.yaml": "x: 1\n", "own.toy.notes": "hello\n"} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		line   string
		status int
		wants  []string // in what is printed
	}{
		// to it, from it, and within it
		{"convert " + bag + " a.toy --mood wild --attach cal.yaml --verify content", 0, []string{"verified"}},
		{"info a.toy", 0, []string{"format:       toy 1", "mood:         wild", "cal.yaml", "1 attachment"}},
		{"a.toy back.bag --extras kept --verify content", 0, []string{"verified"}},
		{"verify " + bag + " back.bag", 0, []string{"equal in content"}},
		{"list attachments a.toy", 0, []string{"cal.yaml", "application/yaml"}},
		{"list attachments a.toy --extract out", 0, []string{"extracted into out"}},
		{"a.toy a.mcap --verify content", 0, nil},
		{"verify a.toy a.mcap --compare counts", 0, []string{"1 attachment"}},
		{"own.toy copy.toy --verify bytes --mood wild", 0, []string{"10 messages"}},
		{"own.toy own.mcap --encoding keep --verify content", 0, nil},
		{"own.mcap again.toy", 0, nil},
		{"verify own.toy again.toy --compare bytes --exact all", 0, []string{"equal in bytes"}},
		// other formats have no place for its encoding, and the report names the loss
		{"own.toy lost.bag", 3, []string{"lost: /own", "topic-dropped"}},
		{"own.toy a.bag --mood wild", 2, []string{"--mood: a bag has no such option"}},
		{bag + " x.toy --mood sad", 2, []string{"it is one of: calm, wild"}},
		// the other commands
		{"filter own.toy cut.toy -S 2 -u 3", 0, []string{"3 messages"}},
		{"split own.toy parts/ --max-duration 5s", 0, nil},
		{"info parts/own_000.toy parts/own_001.toy", 0, []string{"messages:     5"}},
		{"merge own.toy a.toy all.toy", 0, nil},
		{"topics all.toy", 0, []string{"/own", "Toy [toy]"}},
		{"recover own.toy whole", 0, []string{"saved: 10 messages"}},
		{"check own.toy --exit-zero", 0, []string{"own.toy"}},
		{"schema own.toy /own", 0, []string{"x"}},
		{"cat own.toy --limit 2 --raw", 0, []string{`"/own"`}},
		{"cat a.toy --limit 1", 0, []string{`"topic"`}},
		{"batch -O outs --to toy own.toy " + bag, 0, []string{"2"}},
		{"batch -O more --to mcap . --dry-run", 0, []string{"own.toy"}},
		{"info own.toy.notes", 1, []string{"the notes of a toy recording; name the recording itself"}},
		{"--force " + bag + " own.toy", 1, []string{"own.toy.notes"}}, // what lies beside it would be taken for a part
		// what the program prints about its formats
		{"formats", 0, []string{"toy       toy recording: read and written", "a name in .toy",
			"attachments, metadata records"}},
		{"convert --help", 0, []string{"--mood VALUE", "calm (default) or wild (toy): how it feels", "toy recording (toy)",
			"; overrides the ending"}},
		{"formats", 0, []string{"toy       toy recording"}},
		{"man", 0, []string{`\-\-mood VALUE`, "toy recording"}},
		{"__complete -- own.toy x.toy --mood .", 0, []string{"calm\n", "wild\n"}},
		{"__complete -- own.toy --to .", 0, []string{"toy\n"}},
		{"__complete -- cat own.toy .", 0, []string{"/own\tToy"}},
		{"info --from toy own.toy", 0, nil},
	} {
		var o, e bytes.Buffer
		status := Run(context.Background(), append([]string{"bagconv"}, strings.Fields(c.line)...), Stdio{Out: &o, Err: &e},
			registry)
		if status != c.status {
			t.Errorf("%s: exit status %d, want %d\n%s%s", c.line, status, c.status, &o, &e)
		}
		for _, want := range c.wants {
			if !strings.Contains(o.String()+e.String(), want) {
				t.Errorf("%s: no %q in\n%s%s", c.line, want, &o, &e)
			}
		}
	}
}
