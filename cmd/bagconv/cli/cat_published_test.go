package cli_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/cmd/bagconv/cli"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
)

// TestPublishTime: each way of cat prints the publish time of a message that has one of its own. CSV has no column
// for it, and counts such messages.
func TestPublishTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.mcap")
	w, err := all.Registry().Lookup("mcap").Create(t.Context(), path, storage.WriteOptions{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	id, err := w.CreateTopic(storage.Topic{Name: "/a", Type: "std_msgs/msg/UInt8", Encoding: "cdr",
		Schema: storage.Schema{Encoding: "ros2msg", Data: []byte("uint8 data")}})
	for i, published := range []int64{10, 0, 25, -3} {
		at := int64(10 * (i + 1))
		if err == nil {
			err = w.Write(&storage.Message{Topic: id, LogTime: at, PublishTime: published, Data: []byte{0, 1, 0, 0, byte(i)}})
		}
	}
	if err == nil {
		err = w.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{
		`{"topic":"/a","time":"10","fields":{"data":0}}`, `{"topic":"/a","time":"20","publish_time":"0","fields":{"data":1}}`,
		`{"topic":"/a","time":"30","publish_time":"25","fields":{"data":2}}`,
		`{"topic":"/a","time":"40","publish_time":"-3","fields":{"data":3}}`,
	}
	for _, c := range []struct {
		args []string
		want []string
	}{
		{nil, lines}, {[]string{"--tail", "2"}, lines[2:]}, {[]string{"--nth", "2"}, lines[1:2]},
		{[]string{"--raw", "--nth", "2"}, []string{`{"topic":"/a","time":"20","publish_time":"0","raw":"AAEAAAE="}`}},
		{[]string{"--format", "yaml", "--nth", "3"}, []string{"---", `topic: "/a"`, `time: "30"`, `publish_time: "25"`,
			"fields:", "  data: 2"}},
		{[]string{"--format", "csv"}, []string{"topic,time,data", "/a,10,0", "/a,20,1", "/a,30,2", "/a,40,3"}},
	} {
		var out, errs bytes.Buffer
		status := cli.Run(t.Context(), append([]string{"bagconv", "cat", path}, c.args...), cli.Stdio{Out: &out, Err: &errs},
			all.Registry())
		if got := strings.Split(strings.TrimSpace(out.String()), "\n"); status != 0 || !slices.Equal(got, c.want) {
			t.Errorf("%v: status %d, %q, want %q", c.args, status, got, c.want)
		}
		if noted := strings.Contains(errs.String(), "in 3 messages they differ from log times"); noted != slices.Contains(c.args,
			"csv") {
			t.Errorf("%v: %s", c.args, errs.String())
		}
	}
}
