package all_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/formats/all"
)

// A conversion from a program: the source's format is found by its content, the
// sink's is named. Progress is called from one goroutine, while others work.
func Example() {
	dir, err := os.MkdirTemp("", "bagconv-example-*")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)

	formats := all.Registry()
	in := "../../testdata/demo.bag"
	source, err := formats.Detect(in)
	if err != nil {
		panic(err)
	}
	var last convert.Progress
	report, err := convert.Run(context.Background(), convert.Job{
		Source: in, SourceFormat: source,
		Sink: filepath.Join(dir, "demo"), SinkFormat: formats.Lookup("db3"),
		Progress: func(p convert.Progress) { last = p },
	})
	if err != nil {
		panic(err) // and nothing stands at Sink
	}
	fmt.Println(report.Source.Messages, "messages read,", report.Sink.Messages, "written")
	fmt.Println("all of the source was read:", last.Bytes == last.Total)
	fmt.Println("anything lost:", report.Lossy())
	l := report.Losses[0]
	fmt.Println("by design:", l.ByDesign, l.Topic, l.Code)
	// Output:
	// 636 messages read, 636 written
	// all of the source was read: true
	// anything lost: false
	// by design: true /tf_static header-seq
}
