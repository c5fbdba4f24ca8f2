// Command benchremote compares reading a recording from a web server of this machine with what curl
// takes, and prints a table in Markdown: wall time, and processor time (user and system) of the reader.
//
//	go run ./scripts/benchremote [-mb 1000] [-rounds 5]
//
// scripts/gen makes the recording. The server is a process of its own; the commands take turns, and
// the median of the rounds counts. It writes about three times the recording below TMPDIR.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bagconv/bagconv/internal/remote"
)

func main() {
	mb := flag.Int("mb", 1000, "size of the recording")
	rounds := flag.Int("rounds", 5, "how often each command runs")
	serve := flag.String("serve", "", "for the program itself: serves a folder")
	read := flag.String("read", "", "for the program itself: reads a URL to its end")
	flag.Parse()
	var err error
	switch {
	case *serve != "":
		err = serveFolder(*serve)
	case *read != "":
		err = readAll(*read)
	default:
		err = compare(*mb, *rounds)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchremote:", err)
		os.Exit(1)
	}
}

// serveFolder prints its address, and serves.
func serveFolder(dir string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s\n", l.Addr())
	return http.Serve(l, http.FileServer(http.Dir(dir)))
}

// readAll reads a URL in order, as a conversion does.
func readAll(url string) error {
	fsys := remote.New(context.Background(), &remote.Settings{})
	name, err := remote.Name(url)
	if err != nil {
		return err
	}
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{f}, make([]byte, 1<<20))
	return errors.Join(err, f.Close())
}

// A command is one of the commands that are compared.
type command struct {
	name string
	args []string

	wall, cpu []time.Duration
}

func (c *command) run() error {
	cmd := exec.Command(c.args[0], c.args[1:]...)
	cmd.Stderr = os.Stderr
	began := time.Now()
	err := cmd.Run()
	if state := cmd.ProcessState; state != nil {
		c.wall = append(c.wall, time.Since(began))
		c.cpu = append(c.cpu, state.UserTime()+state.SystemTime())
	}
	return err
}

func median(list []time.Duration) float64 {
	slices.Sort(list)
	return list[len(list)/2].Seconds()
}

func compare(mb, rounds int) error {
	dir, err := os.MkdirTemp("", "benchremote")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if out, err := exec.Command("go", "build", "-o", dir+"/bagconv", "./cmd/bagconv").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	files := filepath.Join(dir, "files")
	if err := os.Mkdir(files, 0o777); err != nil {
		return err
	}
	in := filepath.Join(files, "in.bag")
	if out, err := exec.Command("go", "run", "./scripts/gen", "-mb", fmt.Sprint(mb), in).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	server := exec.Command(self, "-serve", files)
	address, err := server.StdoutPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		return err
	}
	defer func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	}()
	line := make([]byte, 100)
	n, err := address.Read(line)
	if err != nil {
		return err
	}
	url := strings.TrimSpace(string(line[:n])) + "/in.bag"
	out := filepath.Join(dir, "out")
	convert := func(in, suffix string) []string {
		return []string{dir + "/bagconv", in, out + suffix, "-q", "--force", "--no-sync"}
	}
	commands := []*command{
		{name: "curl", args: []string{"curl", "-s", "-o", "/dev/null", url}},
		{name: "all of it, read in ranges", args: []string{self, "-read", url}},
		{name: "curl to a file", args: []string{"curl", "-s", "-o", out + ".copy", url}},
	}
	for _, suffix := range []string{".bag", ".mcap"} {
		more := []string{}
		if suffix == ".mcap" {
			more = []string{"--compression", "none"}
		}
		commands = append(commands,
			&command{name: "file to " + suffix[1:], args: append(convert(in, suffix), more...)},
			&command{name: "URL to " + suffix[1:], args: append(convert(url, suffix), more...)})
	}
	for range rounds {
		for _, c := range commands {
			if err := c.run(); err != nil {
				return fmt.Errorf("%q: %w", c.args, err)
			}
		}
	}
	fmt.Printf("| %d MB | wall, s | processor, s |\n|---|---|---|\n", mb)
	for _, c := range commands {
		fmt.Printf("| %s | %.2f | %.2f |\n", cmp.Or(c.name, c.args[0]), median(c.wall), median(c.cpu))
	}
	return nil
}
