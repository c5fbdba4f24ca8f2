package cli_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/bagconv/bagconv/cmd/bagconv/cli"
	"github.com/bagconv/bagconv/formats/all"
)

// serveUntilEnd runs bagconv serve with the test, and returns its address, and what ends it and
// returns what it has printed.
func serveUntilEnd(t *testing.T, args ...string) (address string, end func() string) {
	t.Helper()
	ctx, interrupt := context.WithCancel(context.WithoutCancel(t.Context()))
	r, w := io.Pipe()
	status := make(chan int, 1)
	go func() {
		status <- cli.Run(ctx, append([]string{"bagconv", "serve", "--listen", "127.0.0.1:0", "--no-cache"}, args...),
			cli.Stdio{Out: io.Discard, Err: w}, all.Registry())
		_ = w.Close()
	}()
	lines := bufio.NewReader(r)
	line, err := lines.ReadString('\n')
	address = regexp.MustCompile(`127[^/ ]+`).FindString(line)
	if err != nil || address == "" {
		t.Fatal(line, err)
	}
	rest := make(chan string, 1)
	go func() {
		b, _ := io.ReadAll(lines)
		rest <- string(b)
	}()
	end = sync.OnceValue(func() string {
		interrupt()
		if got := <-status; got != 0 {
			t.Errorf("exit status %d", got)
		}
		return <-rest
	})
	t.Cleanup(func() { end() })
	return address, end
}

// A viewer is a connection to /ws/.
type viewer struct {
	t    *testing.T
	conn *websocket.Conn
}

// view connects, and subscribes to all channels.
func view(t *testing.T, address string, channels int, subprotocol string) *viewer {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), address, &websocket.DialOptions{Subprotocols: []string{subprotocol}})
	if err != nil {
		t.Fatal(err)
	}
	conn.SetReadLimit(1 << 20)
	t.Cleanup(func() { _ = conn.CloseNow() })
	v := &viewer{t, conn}
	id := regexp.MustCompile(`"id":(\d+)`)
	for known := 0; known < channels; {
		var list []string
		for _, m := range id.FindAllStringSubmatch(
			string(v.next(func(text bool, b []byte) bool { return text && strings.Contains(string(b), "advertise") })), -1) {
			list = append(list, fmt.Sprintf(`{"id":%s,"channelId":%s}`, m[1], m[1]))
		}
		known += len(list)
		v.send(websocket.MessageText, []byte(`{"op":"subscribe","subscriptions":[`+strings.Join(list, ",")+`]}`))
	}
	return v
}

func (v *viewer) send(kind websocket.MessageType, b []byte) {
	if err := v.conn.Write(v.t.Context(), kind, b); err != nil {
		v.t.Error(err)
	}
}

// next returns the next message that is wanted.
func (v *viewer) next(want func(text bool, b []byte) bool) []byte {
	v.t.Helper()
	limit, cancel := context.WithTimeout(v.t.Context(), 30*time.Second)
	defer cancel()
	for {
		kind, b, err := v.conn.Read(limit)
		if err != nil {
			v.t.Fatal(err)
		}
		if want(kind == websocket.MessageText, b) {
			return b
		}
	}
}

// control sends a PlaybackControl, and returns the state that answers it.
func (v *viewer) control(pause byte, speed float32, seek bool, at int64) []byte {
	v.t.Helper()
	b := binary.LittleEndian.AppendUint32([]byte{3, pause}, math.Float32bits(speed))
	if b = append(b, 0); seek {
		b[6] = 1
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(at))
	v.send(websocket.MessageBinary, append(b, 2, 0, 0, 0, 'm', 'e'))
	return v.next(func(text bool, b []byte) bool { return !text && b[0] == 5 && string(b[19:]) == "me" })
}

// messages counts them until the recording is at its end, or, if limit is not 0, until so many.
func (v *viewer) messages(limit int) (n int) {
	v.next(func(text bool, b []byte) bool {
		if !text && b[0] == 1 {
			n++
		}
		return limit > 0 && n == limit || !text && b[0] == 5 && b[1] == 3
	})
	return n
}

// TestServePlays: each viewer of a recording has a clock of its own; one that only watches gets all.
func TestServePlays(t *testing.T) {
	const start, demo = 1_700_000_000e9, "/ws/demo.bag"
	address, end := serveUntilEnd(t, "../../../testdata/demo.bag", "../../../testdata/demo.record", "--latch", "none",
		"--verbose")
	paused, watching, quick := view(t, "ws://"+address+demo, 5, "foxglove.sdk.v1"), view(t, "ws://"+address+demo, 5,
		"foxglove.websocket.v1"), view(t, "ws://"+address+demo, 5, "foxglove.sdk.v1")
	if b := paused.control(1, 1, true, start+500e6); b[1] != 1 || int64(binary.LittleEndian.Uint64(b[2:])) != start+500e6 {
		t.Errorf("%x", b)
	}
	quick.control(0, 50, true, 0)
	all := quick.messages(0)
	if n := watching.messages(all); n != all || all < 600 {
		t.Errorf("%d messages, another viewer has %d", n, all)
	}
	b := paused.control(1, 1, false, 0)
	// to the next message
	if moved := int64(binary.LittleEndian.Uint64(b[2:])) - (start + 500e6); b[1] != 1 || moved < 0 || moved > 10e6 {
		t.Errorf("another viewer has moved the clock by %d: %x", moved, b)
	}
	quick.control(0, 50, true, start+500e6)
	if n := quick.messages(0); n < all/3 || n > 2*all/3 {
		t.Errorf("%d messages of the second half, of %d", n, all)
	}
	records := view(t, "ws://"+address+"/ws/demo.record", 11, "foxglove.sdk.v1")
	records.control(0, 50, true, 0)
	if n := records.messages(0); n < 600 {
		t.Errorf("%d messages of a record", n)
	}
	for path, want := range map[string]int{demo: http.StatusUpgradeRequired, "/ws/no.bag": http.StatusNotFound,
		"/ws/": http.StatusNotFound} {
		res, err := http.Get("http://" + address + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: %s", path, res.Status)
		}
	}
	for _, h := range []http.Header{{"Origin": {"https://evil.example"}}, {"Host": {"evil.example"}}} {
		if _, res, err := websocket.Dial(t.Context(), "ws://"+address+demo,
			&websocket.DialOptions{Subprotocols: []string{"foxglove.sdk.v1"}, HTTPHeader: h, Host: h.Get("Host")}); err == nil ||
			res.StatusCode != 403 && res.StatusCode != 421 {
			t.Errorf("%v: %v", h, err)
		}
	}
	_ = quick.conn.Close(websocket.StatusNormalClosure, "")
	if text := end(); !regexp.MustCompile(`GET /ws/demo.bag: 101, [0-9.]+ [kM]B in `).MatchString(text) {
		t.Error(text)
	}
}

// TestServePlaysSelection: viewers get what the flags select and change, and the reason if nothing can be played.
func TestServePlaysSelection(t *testing.T) {
	address, end := serveUntilEnd(t, "../../../testdata/demo.bag", "-t", "/imu/data", "-m", "/imu/data:=/imu", "-S", "0.1",
		"-u", "0.5", "--encoding", "cdr")
	v := view(t, "ws://"+address+"/ws/demo.bag", 1, "foxglove.sdk.v1")
	v.control(0, 50, true, 0)
	if n := v.messages(0); n != 200 {
		t.Errorf("%d messages", n)
	}
	address, end2 := serveUntilEnd(t, "../../../testdata/demo.bag", "-t", "/none")
	if _, res, err := websocket.Dial(t.Context(), "ws://"+address+"/ws/demo.bag",
		&websocket.DialOptions{Subprotocols: []string{"foxglove.sdk.v1"}}); err == nil ||
		res.StatusCode != http.StatusInternalServerError {
		t.Error(err)
	}
	if text := end2(); !strings.Contains(text, "/none") || !strings.Contains(text, "GET /ws/demo.bag: 500") {
		t.Error(text)
	}
	end()
}

// TestServeViewersLimit: there are so many viewers; the others are refused until one leaves.
func TestServeViewersLimit(t *testing.T) {
	address, _ := serveUntilEnd(t, filepath.Join("../../../testdata", "demo.bag"))
	var list []*viewer
	for range 32 {
		list = append(list, view(t, "ws://"+address+"/ws/demo.bag", 5, "foxglove.sdk.v1"))
	}
	dial := func() (int, error) {
		conn, res, err := websocket.Dial(t.Context(), "ws://"+address+"/ws/demo.bag",
			&websocket.DialOptions{Subprotocols: []string{"foxglove.sdk.v1"}})
		if err == nil {
			_ = conn.CloseNow()
		}
		return res.StatusCode, err
	}
	if status, err := dial(); err == nil || status != http.StatusServiceUnavailable {
		t.Errorf("%d, %v", status, err)
	}
	_ = list[0].conn.CloseNow()
	for range 500 {
		if _, err := dial(); err == nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Error("a viewer has left, and there is no room")
}
