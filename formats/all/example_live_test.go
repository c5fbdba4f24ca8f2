package all_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/testing/rostest"
	"github.com/bagconv/bagconv/live"
	"github.com/bagconv/bagconv/live/ros1"
	"github.com/bagconv/bagconv/storage"
)

// Recording is a conversion whose source goes on: here it ends with the tenth message. Playing is a
// conversion whose sink waits until each message is due.
func Example_live() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	dir, err := os.MkdirTemp("", "bagconv-example-*")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "drive.mcap")
	master, err := rostest.NewMaster("127.0.0.1:0") // stands for roscore
	if err != nil {
		panic(err)
	}
	defer master.Close()
	talker, err := rostest.Count("/talker", 10) // stands for a node
	if err != nil {
		panic(err)
	}
	master.Publish("/chatter", "std_msgs/String", talker)

	report, err := recordChatter(ctx, master.Address, path)
	if err != nil {
		panic(err)
	}
	fmt.Println(report.Sink.Messages, "messages recorded in CDR")
	if err := talker.Close(); err != nil {
		panic(err)
	}

	heard := make(chan []string)
	go func() { // stands for another node
		if s, err := master.Subscribe(ctx, "/again/chatter"); err == nil {
			heard <- s.Take(100, time.Minute)
		}
	}()
	if err := playChatter(ctx, master.Address, path); err != nil {
		panic(err)
	}
	list := <-heard
	fmt.Printf("%d messages heard, the last one is %q\n", len(list), list[len(list)-1])
	// Output:
	// 10 messages recorded in CDR
	// 10 messages heard, the last one is "\b\x00\x00\x00talker 9"
}

func recordChatter(ctx context.Context, address, path string) (*convert.Report, error) {
	return convert.Run(ctx, convert.Job{
		Source: address,
		SourceFormat: live.Source(func(ctx context.Context, address string) (storage.Reader, error) {
			return ros1.Record(ctx, address, ros1.RecordOptions{
				Options: live.Options{Limit: 10}, // or Duration, or Stop of the Recorder
				Takes:   func(name, typ string) bool { return strings.HasPrefix(name, "/chat") },
			})
		}),
		Sink: path, SinkFormat: all.Registry().Lookup("mcap"),
		Order:    convert.OrderFile, // the order in which they come
		Encoding: "cdr",
	})
}

func playChatter(ctx context.Context, address, path string) error {
	source, err := all.Registry().Detect(path)
	if err != nil {
		return err
	}
	// twice as fast
	player, err := ros1.NewPlayer(ctx, address, ros1.PlayOptions{Clock: live.NewClock(2, false), Wait: true})
	if err != nil {
		return err
	}
	job := convert.Job{Source: path, SourceFormat: source, Sink: address, SinkFormat: player.Format()}
	job.Edit.Prefix = "/again"
	if _, err := convert.Run(ctx, job); err != nil {
		return err
	}
	return player.Close() // when all subscribers have everything
}
