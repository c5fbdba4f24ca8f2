package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// lying is a recording whose index has other times than its messages: two
// blocks, the second with a message that belongs before the first.
type lying struct {
	fakeReader
	data []byte // of each message
}

func (r *lying) Info() *storage.Info {
	return &storage.Info{Format: "lying", Path: r.path, Messages: 4, Start: 10, End: 40, Topics: []storage.TopicInfo{
		{Topic: storage.Topic{Name: "/a", Type: "std_msgs/msg/Empty", Encoding: "cdr"}, Messages: 4}}}
}

func (r *lying) Blocks(context.Context, *storage.TimeRange) ([]storage.Block, storage.Order, error) {
	return []storage.Block{{Messages: 2, Start: 10, End: 20, Timed: true}, {Messages: 2, Start: 30, End: 40,
		Timed: true}}, storage.OrderBlocks, nil
}

func (r *lying) ReadBlock(_ context.Context, i int, b *storage.Batch) error {
	b.Messages = b.Messages[:0]
	for _, at := range [][]int64{{10, 20}, {15, 35}}[i] {
		b.Messages = append(b.Messages, storage.Message{LogTime: at, Data: r.data})
	}
	return nil
}

// TestCatDisorder: an index that is found out to be wrong before something is printed is
// not believed; later, cat reports that and fails.
func TestCatDisorder(t *testing.T) {
	var data []byte
	format := &storage.Format{
		Name: "lying", Holds: storage.Capacity{Native: "cdr"},
		Sniff: func(storage.FS, string, []byte) bool { return true },
		Open: func(_ context.Context, path string, _ storage.ReadOptions) (storage.Reader, error) {
			return &lying{fakeReader{path: path}, data}, nil
		},
	}
	path := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   string
		large  int // bytes of a message; more than cat keeps before it prints them
		status int
		times  string
		says   string
	}{
		{"", 0, exitOK, "10 15 20 35", ""},
		{"--raw", 1 << 20, exitFailed, "10 20", "its index is wrong: there are messages that belong before the last one " +
			"that was printed; --order file prints them in file order"},
		{"--order file", 0, exitOK, "10 20 15 35", ""},
		{"-S 25", 0, exitFailed, "", "nothing is selected"},
		{"-S 1970-01-01T00:00:00.000000025Z", 0, exitOK, "35", ""},
	} {
		var out, errOut bytes.Buffer
		data = append([]byte{0, 1, 0, 0, 0}, make([]byte, c.large)...)
		args := append([]string{"bagconv", "cat", path, "--format", "csv", "--threads", "1"}, strings.Fields(c.args)...)
		status := Run(context.Background(), args, Stdio{Out: &out, Err: &errOut}, storage.NewRegistry(format))
		var times []string
		for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
			if _, at, ok := strings.Cut(line, "/a,"); ok {
				at, _, _ = strings.Cut(at, ",")
				times = append(times, at)
			}
		}
		if status != c.status || strings.Join(times, " ") != c.times || !strings.Contains(errOut.String(), c.says) {
			t.Errorf("%q: status %d, %q, %s", c.args, status, times, errOut.String())
		}
	}
}

// TestCatInterrupted: what was printed stays, and the status is that of an interruption.
func TestCatInterrupted(t *testing.T) {
	if status, out, errOut, _ := runFake(t, "interrupt", "cat", "DIR/in.fake", "--raw"); status != exitInterrupted ||
		errOut != "bagconv: interrupted\n" {
		t.Errorf("status %d, %q, %q", status, out, errOut)
	}
	if status, _, errOut, _ := runFake(t, "corrupt", "cat", "DIR/in.fake", "--raw"); status != exitFailed ||
		!strings.Contains(errOut, "record at byte 12: corrupt") {
		t.Errorf("status %d, %q", status, errOut)
	}
	if status, out, errOut, _ := runFake(t, "damaged", "cat", "DIR/in.fake", "--raw", "--order",
		"file"); status != exitLossy || strings.Count(out, "\n") != 3 || !strings.Contains(errOut, "damaged: ") {
		t.Errorf("status %d, %q, %q", status, out, errOut)
	}
}
