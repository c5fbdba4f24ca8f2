package cli_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestServeHostileViewers: WebSockets of /ws/ that are opened by odd requests, and send frames that no viewer
// sends, or nothing, and read little. No answer has what is not served, memory stays bounded, and another
// viewer gets the whole recording afterwards.
func TestServeHostileViewers(t *testing.T) {
	address, _ := serveUntilEnd(t, "../../../testdata/demo.bag", "--latch", "none")
	requests := 100_000
	if testing.Short() || os.Getenv("BAGCONV_EXHAUSTIVE") == "" {
		requests = 800
	}
	const workers = 8
	opened := make([]int, workers)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			random := rand.New(rand.NewSource(int64(w)))
			for range requests / workers {
				request := hostileUpgrade(random)
				answer, err := sendFrames(address, request, random)
				if err != nil {
					t.Errorf("%q: %v", request, err)
					return
				}
				if bytes.HasPrefix(answer, []byte("HTTP/1.1 101")) {
					opened[w]++
				}
				if bytes.Contains(answer, []byte("root:")) {
					t.Errorf("%q is answered with %q", request, answer)
				}
			}
		})
	}
	all.Wait()
	sum := 0
	for _, n := range opened {
		sum += n
	}
	if sum < requests/10 {
		t.Errorf("%d of %d requests have opened a WebSocket", sum, requests)
	}
	var m runtime.MemStats
	for range 100 { // viewers have left; what they had is free
		if runtime.GC(); runtime.NumGoroutine() < 100 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if runtime.ReadMemStats(&m); m.HeapAlloc > 256<<20 || runtime.NumGoroutine() >= 100 {
		t.Errorf("%d bytes and %d goroutines are left", m.HeapAlloc, runtime.NumGoroutine())
	}
	v := view(t, "ws://"+address+"/ws/demo.bag", 5, "foxglove.sdk.v1")
	v.control(0, 50, true, 0)
	if n := v.messages(0); n < 600 {
		t.Errorf("another viewer gets %d messages", n)
	}
}

// hostileUpgrade makes up a request that may open a WebSocket.
func hostileUpgrade(r *rand.Rand) []byte {
	pick := func(list ...string) string { return list[r.Intn(len(list))] }
	odd := func(good string, bad ...string) string { // mostly good
		if r.Intn(12) > 0 {
			return good
		}
		return pick(bad...)
	}
	long := strings.Repeat("x", r.Intn(20_000))
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s /ws/%s %s\r\n", odd("GET", "POST", "HEAD", "OPTIONS", "get"),
		odd("demo.bag", "../../../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%2e%2e/", "demo.bag/", "demo.bag%00", "", "//",
			long, "demo.bag?x="+long), odd("HTTP/1.1", "HTTP/1.0", "HTTP/2.0"))
	for _, h := range [][2]string{
		{"Host", odd(pick("localhost", "127.0.0.1", "[::1]:80"), "evil.example", "", "localhost.evil.example", "a b")},
		{"Origin", odd("http://localhost", "https://evil.example", "null", "http://127.0.0.1.evil.example", "file://", long)},
		{"Connection", odd("Upgrade", "keep-alive", "close", "upgrade, close", "")},
		{"Upgrade", odd("websocket", "h2c", "WebSocket, x", "")},
		{"Sec-WebSocket-Version", odd("13", "8", "-1", "13, 8")},
		{"Sec-WebSocket-Key", odd("dGhlIHNhbXBsZSBub25jZQ==", "short", "", long)},
		{"Sec-WebSocket-Protocol", odd(pick("foxglove.sdk.v1", "foxglove.websocket.v1"), "chat", "foxglove.sdk.v1, "+long,
			"")},
		{odd("Sec-WebSocket-Extensions", "X-Y", "Host", "Content-Length", "Transfer-Encoding"),
			odd(pick("permessage-deflate", "permessage-deflate; server_max_window_bits=8", "x-webkit-deflate-frame"),
				"99999999999999999999", "chunked", long)},
	} {
		if r.Intn(40) > 0 {
			fmt.Fprintf(&b, "%s: %s\r\n", h[0], h[1])
		}
	}
	b.WriteString("\r\n")
	return b.Bytes()
}

// sendFrames sends a request and frames, and returns the first bytes of what comes.
func sendFrames(address string, request []byte, r *rand.Rand) ([]byte, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	_, _ = c.Write(request)
	answer := make([]byte, 2<<10)
	n, err := c.Read(answer)
	if e, ok := err.(net.Error); ok && e.Timeout() {
		return nil, err
	}
	if !bytes.HasPrefix(answer[:n], []byte("HTTP/1.1 101")) {
		return answer[:n], nil
	}
	for range r.Intn(6) {
		if _, err := c.Write(hostileFrame(r)); err != nil {
			break // it was cut off
		}
	}
	if r.Intn(4) == 0 { // what a viewer gets, which may be little
		_ = c.SetReadDeadline(time.Now().Add(time.Second))
		k, _ := io.ReadFull(c, answer[n:])
		n += k
	}
	return answer[:n], nil
}

// hostileFrame makes up a frame of a WebSocket: bytes, or a message of the protocol with odd values.
func hostileFrame(r *rand.Rand) []byte {
	if r.Intn(10) == 0 {
		b := make([]byte, r.Intn(200))
		_, _ = r.Read(b)
		return b
	}
	texts := []string{
		`{"op":"subscribe","subscriptions":[{"id":0,"channelId":1},{"id":0,"channelId":1}]}`,
		`{"op":"subscribe","subscriptions":[{"id":1,"channelId":1},{"id":2,"channelId":2},{"id":4294967295,"channelId":3}]}`,
		`{"op":"subscribe","subscriptions":[{"id":-1,"channelId":99999999999999999999}]}`,
		`{"op":"unsubscribe","subscriptionIds":[0,1,2,3,7]}`, `{"op":"subscribe"}`, `{"op":"advertise","channels":[{}]}`,
		`{"op":"getParameters","parameterNames":[],"id":"x"}`, `{"op":"subscribeConnectionGraph"}`, `{"op":`, `[]`, `null`,
		`{}`, "\xff\xfe",
		strings.Repeat("[", 10_000), `{"op":"` + strings.Repeat("x", r.Intn(100_000)) + `"}`,
	}
	payload, op := []byte(texts[r.Intn(len(texts))]), byte(1)
	if r.Intn(3) == 0 { // PlaybackControl: pause, speed, seek, time, id
		payload, op = []byte{3, byte(r.Intn(3)), 0, 0, 0x80, byte(r.Intn(256)), byte(r.Intn(2))}, 2
		payload = binary.LittleEndian.AppendUint64(payload, r.Uint64())
		payload = binary.LittleEndian.AppendUint32(payload, r.Uint32()>>(r.Intn(32)))
		payload = append(payload, "id"...)
		payload = payload[:len(payload)-r.Intn(len(payload))*r.Intn(2)]
	}
	first := byte(0x80) | op
	if r.Intn(6) == 0 {
		first = byte(r.Intn(256)) // control frames, fragments, reserved bits
	}
	b := []byte{first}
	switch n := len(payload); {
	case r.Intn(20) == 0:
		b = binary.BigEndian.AppendUint64(append(b, 0x80|127), r.Uint64()) // a length that does not come
	case n < 126:
		b = append(b, 0x80|byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 0x80|126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 0x80|127), uint64(n))
	}
	if r.Intn(20) == 0 {
		b[1] &^= 0x80 // without a mask
	}
	mask := [4]byte{byte(r.Intn(256)), 2, 3, 4}
	b = append(b, mask[:]...)
	for i, x := range payload {
		b = append(b, x^mask[i%4])
	}
	return b
}
