package recording_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/storage"
)

// rates is an export: how many messages each topic has in each second.
type rates struct {
	topics []storage.TopicInfo
	counts map[rate]int
}

// A rate is a row without its count.
type rate struct {
	topic  string
	second int64
}

// Plan takes all topics that are selected.
func (r *rates) Plan(info *storage.Info, selected []bool) ([]recording.Topic, error) {
	r.topics, r.counts = info.Topics, map[rate]int{}
	return make([]recording.Topic, len(selected)), nil
}

// Work finds the rows of a block, on all cores.
func (r *rates) Work(_ storage.Block, msgs []storage.Message, made any) (any, error) {
	rows, _ := made.([]rate)
	rows = rows[:0]
	for i := range msgs {
		rows = append(rows, rate{r.topics[msgs[i].Topic].Name, msgs[i].LogTime / 1e9})
	}
	return rows, nil
}

// Take counts them.
func (r *rates) Take(_ storage.Block, _ []storage.Message, from, to int, made any) error {
	for _, row := range made.([]rate)[from:to] {
		r.counts[row]++
	}
	return nil
}

// write writes the table, by topic and second.
func (r *rates) write(to io.Writer) error {
	w := csv.NewWriter(to)
	rows := [][]string{{"topic", "second", "messages"}}
	for row, n := range r.counts {
		rows = append(rows, []string{row.topic, strconv.FormatInt(row.second, 10), strconv.Itoa(n)})
	}
	slices.SortFunc(rows[1:], slices.Compare)
	return cmp.Or(w.WriteAll(rows), w.Error())
}

// ExampleRead exports how many messages each topic has in each second.
func ExampleRead() {
	path := "../../../testdata/demo.bag"
	format, err := all.Registry().Detect(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	var r rates
	if _, err = recording.Read(context.Background(), recording.Ref{Path: path, Format: format}, recording.Query{},
		&r); err == nil {
		err = r.write(os.Stdout)
	}
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// topic,second,messages
	// /acme/status,1700000000,50
	// /cam_a/image_raw,1700000000,5
	// /cam_b/image_raw,1700000000,10
	// /gps/fix,1700000000,10
	// /imu/data,1700000000,400
	// /lidar/points,1700000000,10
	// /odom,1700000000,50
	// /tf,1700000000,100
	// /tf_static,1700000000,1
}

// TestExport: the table is that of messages that are read one after the other, in every format.
func TestExport(t *testing.T) {
	for _, name := range []string{"demo.bag", "demo.record", "recordings/rosbag2/v9-sqlite",
		"recordings/rosbag2/v9-mcap/run"} {
		path := filepath.Join("..", "..", "..", "testdata", name)
		r, err := all.Open(t.Context(), path, storage.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		info := r.Info()
		want := rates{counts: map[rate]int{}}
		for n := int64(0); err == nil; n++ {
			var m *storage.Message
			if m, err = r.ReadNext(); err == nil {
				want.counts[rate{info.Topics[m.Topic].Name, m.LogTime / 1e9}]++
			}
		}
		if err != io.EOF || r.Close() != nil {
			t.Fatal(err)
		}
		format, err := all.Registry().Detect(path)
		if err != nil {
			t.Fatal(err)
		}
		var got rates
		if _, err := recording.Read(t.Context(), recording.Ref{Path: path, Format: format}, recording.Query{},
			&got); err != nil {
			t.Fatal(err)
		}
		var a, b bytes.Buffer
		if err := cmp.Or(got.write(&a), want.write(&b)); err != nil || a.String() != b.String() || len(got.counts) == 0 {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, a.String(), b.String())
		}
	}
}
