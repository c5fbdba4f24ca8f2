package all_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/formats/all"
)

// A conversion from a program: detect the source's format by its content, name
// the sink's, run, and look at the report.
func Example() {
	dir, err := os.MkdirTemp("", "bagconv-example-*")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)

	formats := all.Registry()
	in := "../../testdata/tiny.bag"
	source, err := formats.Detect(in)
	if err != nil {
		panic(err)
	}
	report, err := convert.Run(context.Background(), convert.Job{
		Source: in, SourceFormat: source,
		Sink: filepath.Join(dir, "tiny"), SinkFormat: formats.Lookup("db3"),
	})
	if err != nil {
		panic(err) // and nothing stands at Sink
	}
	fmt.Println(report.Source.Messages == report.Sink.Messages, report.Lossy())
	// Output: true false
}
