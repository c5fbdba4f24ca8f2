package all_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/check"
	"github.com/bagconv/bagconv/convert/verify"
	"github.com/bagconv/bagconv/formats/all"
)

// scratch makes a folder for an example.
func scratch() (dir string, remove func()) {
	dir, err := os.MkdirTemp("", "bagconv-example-*")
	if err != nil {
		panic(err)
	}
	return dir, func() { _ = os.RemoveAll(dir) }
}

// A conversion: the format of the source is found by its content, that of the sink by its name. Progress is called from
// one goroutine, while others work.
func Example_convert() {
	dir, remove := scratch()
	defer remove()

	var last convert.Progress
	report, err := convert.File(context.Background(), all.Registry(), "../../testdata/demo.bag",
		filepath.Join(dir, "demo.mcap"),
		convert.Job{Progress: func(p convert.Progress) { last = p }})
	if err != nil {
		panic(err) // and there is no demo.mcap
	}
	fmt.Println(report.Source.Messages, "messages read,", report.Sink.Messages, "written")
	fmt.Println("all of the source was read:", last.Bytes == last.Total)
	fmt.Println("anything lost:", report.Lossy())
	// Output:
	// 636 messages read, 636 written
	// all of the source was read: true
	// anything lost: false
}

// What is lost by design, as rosbag2 has no place for it, is in the report, and does not make it lossy.
func Example_losses() {
	dir, remove := scratch()
	defer remove()
	report, err := convert.File(context.Background(), all.Registry(), "../../testdata/demo.bag",
		filepath.Join(dir, "demo_ros2"), convert.Job{})
	if err != nil {
		panic(err)
	}
	l := report.Losses[0]
	fmt.Println(report.Sink.Format, report.Lossy())
	fmt.Println("by design:", l.ByDesign, l.Topic, l.Code)
	// Output:
	// db3 false
	// by design: true /tf_static header-seq
}

// Two recordings are compared message by message, whatever their formats.
func Example_verify() {
	dir, remove := scratch()
	defer remove()
	ctx, formats, in, out := context.Background(), all.Registry(), "../../testdata/demo.bag", filepath.Join(dir,
		"demo_ros2")
	if _, err := convert.File(ctx, formats, in, out, convert.Job{}); err != nil {
		panic(err)
	}
	res, err := verify.Files(ctx, formats, in, out, verify.Job{})
	if err != nil {
		panic(err)
	}
	fmt.Println("equal:", res.Equal, res.A.Messages, res.B.Messages)
	res, err = verify.Files(ctx, formats, in, "../../testdata/tiny.bag", verify.Job{})
	if err != nil {
		panic(err)
	}
	for _, t := range res.Topics {
		if t.First != nil {
			fmt.Println(t.Name, t.First.Kind)
			break
		}
	}
	// Output:
	// equal: true 636 636
	// /acme/status time
}

// A recording is checked from end to end.
func Example_check() {
	res, err := check.File(context.Background(), all.Registry(), "../../testdata/demo.bag", check.Options{})
	if err != nil {
		panic(err)
	}
	fmt.Println(res.Messages, "messages,", res.Decoded, "fit their definition")
	for _, f := range res.Findings {
		fmt.Println(f.Severity, f.Code)
	}
	// Output:
	// 636 messages, 636 fit their definition
	// note recording-unordered
}
