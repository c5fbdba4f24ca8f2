package cli_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli"
	"github.com/bagconv/bagconv/formats/all"
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
