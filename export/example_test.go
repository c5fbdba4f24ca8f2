package export_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/export"
	"github.com/bagconv/bagconv/formats/all"
)

// An export is a conversion to one of Formats.
func Example() {
	dir, err := os.MkdirTemp("", "bagconv-example-*")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)

	formats := all.Registry().And(export.Formats()...)
	in := "../testdata/demo.bag"
	source, err := formats.Detect(in)
	if err != nil {
		panic(err)
	}
	topics, err := convert.Patterns("/gps/fix")
	if err != nil {
		panic(err)
	}
	job := convert.Job{
		Source: in, SourceFormat: source, Select: convert.Select{Topics: topics},
		Sink: filepath.Join(dir, "tables"), SinkFormat: formats.Lookup("csv"), Formats: formats,
	}
	if err := job.SinkFormat.Options.Set(&job.Write, "columns", "header.stamp,latitude"); err != nil {
		panic(err)
	}
	report, err := convert.Run(context.Background(), job)
	if err != nil {
		panic(err) // and nothing stands at Sink
	}
	fmt.Println(report.Sink.Messages, "messages, anything lost:", report.Lossy())

	text, err := os.ReadFile(filepath.Join(job.Sink, export.IndexName))
	if err != nil {
		panic(err)
	}
	var index export.Index
	if err := json.Unmarshal(text, &index); err != nil {
		panic(err)
	}
	for _, t := range index.Topics {
		fmt.Println(t.Name, t.Files[0].Path, t.Files[0].Rows)
		table, err := os.ReadFile(filepath.Join(job.Sink, t.Files[0].Path))
		if err != nil {
			panic(err)
		}
		fmt.Printf("%.108s\n", table)
	}
	// Output:
	// 10 messages, anything lost: false
	// /gps/fix gps/fix.csv 10
	// log_time,publish_time,header.stamp,latitude
	// 1700000000000712749,1700000000000712749,1699999999960685000,52.0
}
