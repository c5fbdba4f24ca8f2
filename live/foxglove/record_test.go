package foxglove

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/bagconv/bagconv/internal/testing/foxglovetest"
	"github.com/bagconv/bagconv/live"
	"github.com/bagconv/bagconv/storage"
)

func record(t *testing.T, h http.Handler, o RecordOptions) *Recorder {
	t.Helper()
	return recordRaw(t, h, o)
}

// recordRaw records from a server whose handler finds its connection in the context.
func recordRaw(t *testing.T, h http.Handler, o RecordOptions) *Recorder {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, connKey{},
			c)
	}
	s.Start()
	o.Takes = func(name, _ string) bool { return name != "/other" }
	o.Round = 20 * time.Millisecond
	r, err := Record(t.Context(), strings.Replace(s.URL, "http", "ws", 1), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close(); s.CloseClientConnections(); s.Close() })
	return r
}

// read reads so many messages, as "time data".
func read(t *testing.T, r *Recorder, n int) (list []string) {
	t.Helper()
	time.AfterFunc(20*time.Second, func() { r.Stop(errors.New("the test waits for too long")) })
	for {
		m, err := r.ReadNext()
		switch {
		case errors.Is(err, io.EOF):
			if more, err := r.Resume(); err != nil {
				t.Fatal(err)
			} else if !more {
				return list
			}
			continue
		case err != nil:
			t.Fatal(err)
		}
		if list = append(list, fmt.Sprint(m.LogTime, " ", string(m.Data))); len(list) == n {
			r.Stop(nil)
		}
	}
}

// TestRecord: both subprotocols; messages with their times; other channels, subscriptions and kinds
// of messages are skipped.
func TestRecord(t *testing.T) {
	descriptors := base64.StdEncoding.EncodeToString([]byte("\x01\x02"))
	texts := []string{`{"op":"serverInfo","name":"x","capabilities":[]}`, `{"op":"status","level":1,"message":"slow"}`,
		`{"op":"unknown","more":[1]}`, foxglovetest.Chatter,
		`{"op":"advertise","channels":[{"id":8,"topic":"/other","encoding":"json","schemaName":"","schema":""},{"id":9,"topic":"/p","encoding":"protobuf","schemaName":"a.B","schema":"` + descriptors + `","metadata":{"latching":"1"}}]}`}
	messages := [][]byte{foxglovetest.Message(7, 5, "one"), {2, 0, 0, 0, 0, 0, 0, 0, 0}, foxglovetest.Message(8, 6, "no"),
		foxglovetest.Message(9, 7, "two")}
	for _, subprotocol := range subprotocols {
		r := record(t, foxglovetest.Handler(subprotocol, texts, messages, false), RecordOptions{})
		if info := r.Info(); len(info.Topics) == 0 || info.Topics[0].Name != "/chatter" {
			t.Errorf("%+v before the first message", info)
		}
		if got := read(t, r, 2); !slices.Equal(got, []string{"5 one", "7 two"}) {
			t.Errorf("%s: %q", subprotocol, got)
		}
		info := r.Info()
		a, b := info.Topics[0], info.Topics[1]
		if a.Type != "std_msgs/msg/String" || a.Schema.Encoding != "ros2msg" || b.Schema.Encoding != "protobuf" ||
			string(b.Schema.Data) != "\x01\x02" || a.Metadata != nil || b.Metadata[storage.MetaLatching] != "1" {
			t.Errorf("%+v", info.Topics)
		}
		if w := r.Damage().Warnings; len(w) != 1 || !strings.Contains(w[0].Message, "slow") {
			t.Errorf("%+v", w)
		}
	}
}

// TestWallTime: times are those of this machine.
func TestWallTime(t *testing.T) {
	began := time.Now().UnixNano()
	r := record(t, foxglovetest.Handler(subprotocols[0], []string{foxglovetest.Chatter},
		[][]byte{foxglovetest.Message(7, 5, "x")}, false), RecordOptions{WallTime: true})
	var at int64
	got := read(t, r, 1)
	if _, err := fmt.Sscan(strings.Join(got, ""), &at); err != nil || at < began || at > time.Now().UnixNano() {
		t.Errorf("%q, %v", got, err)
	}
}

// TestReconnect: a connection that ends is made again, and its topics go on.
func TestReconnect(t *testing.T) {
	r := record(t, foxglovetest.Handler("foxglove.sdk.v1", []string{foxglovetest.Chatter},
		[][]byte{foxglovetest.Message(7, 5, "x")}, true), RecordOptions{})
	if got := read(t, r, 2); len(got) != 2 {
		t.Errorf("%q", got)
	}
	s := r.Stats()
	if d := r.Damage(); len(s) != 1 || s[0].Reconnects != 1 || len(d.Warnings) == 0 || !d.Warnings[0].Damage {
		t.Errorf("%+v, %+v", s, d)
	}
}

// TestHostileServer: what breaks the protocol ends the connection, and is reported.
func TestHostileServer(t *testing.T) {
	for name, c := range map[string]struct {
		texts   []string
		message []byte
		word    string
	}{
		"no JSON":    {[]string{"{"}, nil, "not JSON"},
		"other JSON": {[]string{`{"op":"advertise","channels":{}}`}, nil, "not JSON as it should be"},
		"short":      {[]string{foxglovetest.Chatter}, []byte{1, 7, 0, 0, 0}, "a message of 5 bytes"},
		"large":      {[]string{foxglovetest.Chatter}, foxglovetest.Message(7, 1, strings.Repeat("x", 80<<10)), "limit"},
		"large number": {[]string{strings.Replace(foxglovetest.Chatter, `"id":7`, `"id":4294967296`, 1)}, nil,
			"its number is 4294967296"},
		"no base64": {[]string{strings.Replace(foxglovetest.Chatter, `"ros2msg"`, `"protobuf"`, 1)}, nil, "illegal base64"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := record(t, foxglovetest.Handler("foxglove.websocket.v1", c.texts, [][]byte{c.message}, true),
				RecordOptions{MaxMessage: 1000, Options: live.Options{Duration: 1500 * time.Millisecond}})
			if got := read(t, r, -1); got != nil {
				t.Errorf("%d messages", len(got))
			}
			if !slices.ContainsFunc(r.Damage().Warnings, func(w storage.Warning) bool {
				return w.Damage &&
					strings.Contains(w.Message, c.word)
			}) {
				t.Errorf("%+v", r.Damage().Warnings)
			}
		})
	}
}

// TestNoServer: the error names what is missing.
func TestNoServer(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	for address, want := range map[string]string{
		strings.Replace(s.URL, "http", "ws", 1): "HTTP status 404",
		"ws://127.0.0.1:1":                      "is foxglove_bridge or another server",
	} {
		if _, err := Record(t.Context(), address, RecordOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestCutMessage: a server that dies within a message leaves no part of it in the recording.
func TestCutMessage(t *testing.T) {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: subprotocols})
		if err != nil {
			return
		}
		defer func() { _ = conn.CloseNow() }()
		if conn.Write(r.Context(), websocket.MessageText, []byte(foxglovetest.Chatter)) != nil {
			return
		}
		if _, _, err := conn.Read(r.Context()); err != nil || conn.Write(r.Context(), websocket.MessageBinary,
			foxglovetest.Message(7, 5, "whole")) != nil {
			return
		}
		if w, err := conn.Writer(r.Context(), websocket.MessageBinary); err == nil {
			_, _ = w.Write(foxglovetest.Message(7, 6, strings.Repeat("x", 10<<10)))
		}
	})
	r := record(t, h, RecordOptions{Options: live.Options{Duration: 300 * time.Millisecond}})
	if got := read(t, r, -1); len(got) == 0 || slices.ContainsFunc(got, func(s string) bool { return s != "5 whole" }) {
		t.Errorf("%q", got)
	}
}
