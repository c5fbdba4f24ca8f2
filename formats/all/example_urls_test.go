package all_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/urls"
)

// A recording on a web server, or in a store, is opened and converted by its URL.
func Example_urls() {
	server := httptest.NewServer(http.FileServer(http.Dir("../../testdata")))
	defer server.Close()
	dir, remove := scratch()
	defer remove()

	ctx, url := context.Background(), server.URL+"/demo.bag"
	r, err := all.Open(ctx, url, storage.ReadOptions{}) // reads the ranges that it needs
	if err != nil {
		panic(err)
	}
	defer r.Close()
	info := r.Info()
	fmt.Println(info.Messages, "messages")
	report, err := convert.File(ctx, all.Registry(), url, filepath.Join(dir, "demo.mcap"), convert.Job{})
	if err != nil {
		panic(err)
	}
	fmt.Println(report.Sink.Messages, "messages written")
	// Output:
	// 636 messages
	// 636 messages written
}

// A file system of one's own has other limits, and several recordings share it. Whoever has it reads with its limits,
// and nobody else.
func Example_limits() {
	server := httptest.NewServer(http.FileServer(http.Dir("../../testdata")))
	defer server.Close()

	ctx := context.Background()
	files, end := urls.New(ctx, urls.Options{Retries: 2, Listings: all.Registry().Listings()})
	defer end()
	for _, name := range []string{"/demo.bag", "/tiny.bag"} {
		r, err := all.Open(ctx, server.URL+name, storage.ReadOptions{FS: files})
		if err != nil {
			panic(err)
		}
		messages := 0
		for _, err := range r.Messages(ctx) {
			if err != nil {
				panic(err)
			}
			messages++
		}
		if err := r.Close(); err != nil {
			panic(err)
		}
		fmt.Println(messages, "messages")
	}
	// Output:
	// 636 messages
	// 21 messages
}
