package cli_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/bagconv/bagconv/cmd/bagconv/cli"
	"github.com/bagconv/bagconv/formats/all"
)

// TestPlayViewers: a viewer seeks while a recording plays and at its end, to any place of what is
// selected; an interrupt at the end is a good end.
func TestPlayViewers(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	r, w := io.Pipe()
	status := make(chan int, 1)
	go func() {
		status <- cli.Run(ctx, []string{"bagconv", "play", "../../../testdata/demo.bag", "--to", "ws://127.0.0.1:0", "-S", "0.1", "-u", "0.5", "-t", "/imu/data", "--paused", "--latch", "none"}, cli.Stdio{Out: io.Discard, Err: w}, all.Registry())
		_ = w.Close()
	}()
	lines := bufio.NewReader(r)
	line, err := lines.ReadString('\n')
	address := regexp.MustCompile(`ws://[^; ]+`).FindString(line)
	if err != nil || address == "" {
		t.Fatal(line, err)
	}
	rest := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(lines)
		rest <- string(b)
	}()
	conn, _, err := websocket.Dial(ctx, address, &websocket.DialOptions{Subprotocols: []string{"foxglove.sdk.v1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.CloseNow() }()
	next := func(want func(text bool, b []byte) bool) []byte {
		t.Helper()
		limit, cancel := context.WithTimeout(ctx, 20*time.Second)
		defer cancel()
		for {
			kind, b, err := conn.Read(limit)
			if err != nil {
				t.Fatal(err)
			}
			if want(kind == websocket.MessageText, b) {
				return b
			}
		}
	}
	send := func(kind websocket.MessageType, b []byte) {
		if err := conn.Write(ctx, kind, b); err != nil {
			t.Error(err)
		}
	}
	next(func(text bool, b []byte) bool { return text && strings.Contains(string(b), "/imu/data") })
	send(websocket.MessageText, []byte(`{"op":"subscribe","subscriptions":[{"id":0,"channelId":1}]}`))
	seek := func(at int64) {
		b := binary.LittleEndian.AppendUint32([]byte{3, 0}, math.Float32bits(50))
		send(websocket.MessageBinary, append(binary.LittleEndian.AppendUint64(append(b, 1), uint64(at)), 0, 0, 0, 0))
		next(func(text bool, b []byte) bool { return !text && b[0] == 5 && b[14] == 1 })
	}
	const start = 1_700_000_000e9 // the recording has 400 messages a second, and begins a moment later
	for _, c := range []struct{ at, messages int }{{300, 120}, {0, 200}, {500, 40}, {9000, 1}} {
		seek(start + int64(c.at)*1e6)
		got := 0
		next(func(text bool, b []byte) bool {
			if !text && b[0] == 1 {
				got++
			}
			return !text && b[0] == 5 && b[1] == 3
		})
		if got < c.messages-1 || got > c.messages+1 {
			t.Errorf("%d messages from %d ms on, want about %d", got, c.at, c.messages)
		}
	}
	interrupt()
	if got, text := <-status, <-rest; got != 0 || !strings.Contains(text, "messages, ") {
		t.Error(fmt.Sprint("exit status ", got), text)
	}
}
