package foxglove

import (
	"bufio"
	"context"
	"encoding/binary"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/bagconv/bagconv/internal/testing/foxglovetest"
	"github.com/bagconv/bagconv/live"
)

// A raw server of the protocol speaks it and then sends frames of its own making.
func raw(send func(w *bufio.Writer)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: subprotocols})
		if err != nil {
			return
		}
		_ = conn.Write(r.Context(), websocket.MessageText, []byte(foxglovetest.Chatter))
		_, _, _ = conn.Read(r.Context()) // the subscription
		c := r.Context().Value(connKey{}).(net.Conn)
		send(bufio.NewWriterSize(c, 64<<10))
		_ = c.Close()
	})
}

type connKey struct{}

// frame writes the head of a frame: opcode with FIN, and a length.
func frame(w *bufio.Writer, opcode byte, n uint64) {
	_ = w.WriteByte(opcode)
	_ = w.WriteByte(127)
	_, _ = w.Write(binary.BigEndian.AppendUint64(nil, n))
}

// TestHostileServers: whatever a server sends, memory is bounded, and the recording ends when it is told to.
func TestHostileServers(t *testing.T) {
	const (
		text, binaryFrame, next = 1, 2, 0
		fin                     = 0x80
	)
	zeros := make([]byte, 1<<20)
	fragments := func(opcode byte, head string) func(w *bufio.Writer) {
		return func(w *bufio.Writer) {
			frame(w, opcode, uint64(len(head)))
			_, err := w.WriteString(head)
			for err == nil {
				frame(w, next, uint64(len(zeros)))
				_, err = w.Write(zeros)
			}
		}
	}
	wanted := string(foxglovetest.Message(7, 5, ""))
	for name, c := range map[string]struct {
		send func(w *bufio.Writer)
		most uint64 // MiB
	}{
		"a text without an end":                       {fragments(text, `{"op":"advertise"`), 150},
		"a message without an end":                    {fragments(binaryFrame, wanted), 120},
		"a message that nobody wants, without an end": {fragments(binaryFrame, string(foxglovetest.Message(9, 5, ""))), 20},
		"a frame of 3 GB is announced": {func(w *bufio.Writer) {
			frame(w, fin|binaryFrame, 3<<30)
			_, _ = w.WriteString(wanted)
			_ = w.Flush()
			time.Sleep(500 * time.Millisecond)
		}, 20},
		"channels without an end": {func(w *bufio.Writer) {
			list := `{"op":"advertise","channels":[` + strings.Repeat("{},", 4<<20) + "{}]}"
			frame(w, fin|text, uint64(len(list)))
			_, _ = w.WriteString(list)
		}, 150},
	} {
		t.Run(name, func(t *testing.T) {
			runtime.GC()
			var before runtime.MemStats
			runtime.ReadMemStats(&before)
			var most atomic.Uint64
			ctx, stop := context.WithCancel(t.Context())
			go func() {
				for ctx.Err() == nil {
					var m runtime.MemStats
					runtime.ReadMemStats(&m)
					most.Store(max(most.Load(), m.HeapAlloc))
					time.Sleep(time.Millisecond)
				}
			}()
			r := recordRaw(t, raw(c.send), RecordOptions{Options: live.Options{Duration: 1500 * time.Millisecond},
				MaxMessage: 32 << 20})
			read(t, r, -1) // it ends by itself: see read
			stop()
			if got := (most.Load() - min(before.HeapAlloc, most.Load())) >> 20; got > c.most {
				t.Errorf("%d MiB of memory", got)
			}
			if w := r.Damage().Warnings; len(w) == 0 {
				t.Error("no warning")
			}
		})
	}
}
