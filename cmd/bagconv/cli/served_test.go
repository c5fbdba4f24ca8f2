package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/cmd/bagconv/cli"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/report"
	"github.com/bagconv/bagconv/internal/testing/samples"
)

// served runs bagconv serve, asks it for the paths in $GET, prints the answers, interrupts it, and
// returns its exit status. A path may begin with a header, Range=bytes=0-3:/files/in.bag, or with
// the file that the body goes to, save=body:/files/in.bag.
func served(args []string) int {
	ctx, interrupt := context.WithCancel(context.Background())
	defer interrupt()
	r, w := io.Pipe()
	stdio := cli.System()
	stdio.Err = w
	status := make(chan int, 1)
	go func() {
		status <- cli.Run(ctx, append([]string{"bagconv"}, args...), stdio, all.Registry())
		_ = w.Close()
	}()
	lines := bufio.NewScanner(r)
	address := regexp.MustCompile(`http://[^/ ]+`)
	for lines.Scan() {
		fmt.Fprintln(os.Stderr, lines.Text())
		if base := address.FindString(lines.Text()); base != "" && strings.Contains(lines.Text(), "serving") {
			go func() {
				for _, path := range strings.Fields(os.Getenv("GET")) {
					get(base, path)
				}
				interrupt()
			}()
		}
	}
	return <-status
}

// get prints an answer.
func get(base, path string) {
	header := ""
	if at := strings.LastIndex(path, ":/"); at >= 0 {
		header, path = path[:at], path[at+1:]
	}
	r, err := http.NewRequest("GET", base+path, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if name, value, ok := strings.Cut(header, "="); ok {
		if r.Header.Set(name, value); name == "Host" {
			r.Host = value
		}
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if file, ok := strings.CutPrefix(header, "save="); ok {
		if err := os.WriteFile(file, body, 0o666); err != nil {
			fmt.Println(err)
		}
		body = nil
	}
	fmt.Printf("%s %s\n%s\n", res.Status, path, body)
	if err != nil {
		fmt.Println(err)
	}
}

// TestServeSchemas: the JSON of serve, for all recordings, is what its schemas define.
func TestServeSchemas(t *testing.T) {
	index := loadSchema(t, "serve.schema.json")
	ctx, interrupt := context.WithCancel(context.Background())
	defer interrupt()
	r, w := io.Pipe()
	status := make(chan int, 1)
	go func() {
		status <- cli.Run(ctx, []string{"bagconv", "serve", "--listen", "127.0.0.1:0", "--no-cache", samples.Ours(t)},
			cli.Stdio{Out: io.Discard, Err: w}, all.Registry())
		_ = w.Close()
	}()
	first := bufio.NewReader(r)
	line, err := first.ReadString('\n')
	base := regexp.MustCompile(`http://[^/ ]+`).FindString(line)
	if err != nil || base == "" {
		t.Fatal(line, err)
	}
	go func() { _, _ = io.Copy(io.Discard, first) }()
	described := 0
	fetch := func(path string, s *jsonSchema) []byte {
		res, err := http.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if res.StatusCode == http.StatusInternalServerError { // one that cannot be opened
			return body
		}
		described++
		if s == nil {
			return body
		}
		if wrong := s.validate(body); len(wrong) > 0 {
			t.Errorf("%s: %s\n%s", path, strings.Join(wrong, "\n"), body)
		}
		return body
	}
	var list struct {
		Recordings []struct{ Name, Info string }
	}
	if err := json.Unmarshal(fetch("/index.json", index), &list); err != nil || len(list.Recordings) < 50 {
		t.Errorf("%d recordings, %v", len(list.Recordings), err)
	}
	for _, rec := range list.Recordings {
		var got report.Report
		body := json.NewDecoder(bytes.NewReader(fetch(strings.TrimPrefix(rec.Info, base)+".json", nil)))
		body.DisallowUnknownFields()
		if err := body.Decode(&got); err == nil && (len(got.Recordings) != 1 || got.Recordings[0].Path != rec.Name) {
			t.Errorf("%s: the report is of %v", rec.Name, got.Recordings)
		}
	}
	text := string(fetch("/info/"+list.Recordings[0].Name, nil))
	for _, want := range []string{`href="/">All recordings</a>`, `script-src &#39;sha256-`, "/files/"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page of %s has no %s", list.Recordings[0].Name, want)
		}
	}
	interrupt()
	if described < len(list.Recordings)-5 {
		t.Errorf("only %d of %d recordings are described", described, len(list.Recordings))
	}
	if got := <-status; got != 0 {
		t.Errorf("exit status %d", got)
	}
}
