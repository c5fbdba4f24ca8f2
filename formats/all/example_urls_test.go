package all_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/urls"
)

// A recording on a web server is read and converted by its URL. The file system is a value: whoever has it reads with
// its limits, and nobody else.
func Example_urls() {
	server := httptest.NewServer(http.FileServer(http.Dir("../../testdata")))
	defer server.Close()
	dir, err := os.MkdirTemp("", "bagconv-example-*")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)

	ctx, formats := context.Background(), all.Registry()
	files, end := urls.New(ctx, urls.Options{Retries: 2, Listings: formats.Listings()})
	defer end()
	url := server.URL + "/demo.bag"
	r, err := all.Open(ctx, url, storage.ReadOptions{FS: files})
	if err != nil {
		panic(err)
	}
	messages := 0
	for err == nil {
		if _, err = r.ReadNext(); err == nil {
			messages++
		}
	}
	if err = errors.Join(r.Close(), noEOF(err)); err != nil {
		panic(err)
	}
	fmt.Println(messages, "messages read")

	source, err := formats.DetectIn(files, url)
	if err != nil {
		panic(err)
	}
	report, err := convert.Run(ctx, convert.Job{
		Source: url, SourceFormat: source, Read: storage.ReadOptions{FS: files},
		Sink: filepath.Join(dir, "demo"), SinkFormat: formats.Lookup("db3"), Write: storage.WriteOptions{FS: files},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(report.Sink.Messages, "messages written")
	// Output:
	// 636 messages read
	// 636 messages written
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
