// Package foxglovetest has a server of the Foxglove WebSocket protocol for tests.
package foxglovetest

import (
	"encoding/binary"
	"net/http"

	"github.com/coder/websocket"
)

// Chatter advertises a channel 7 of std_msgs/msg/String in CDR.
const Chatter = `{"op":"advertise","channels":[{"id":7,"topic":"/chatter","encoding":"cdr","schemaName":"std_msgs/msg/String","schemaEncoding":"ros2msg","schema":"string data\n"}]}`

// Bridge is what a server that takes messages of clients in CDR says of itself.
const Bridge = `{"op":"serverInfo","name":"fake","capabilities":["clientPublish"],"supportedEncodings":["cdr"]}`

// Message returns the bytes of a message.
func Message(subscription uint32, logTime int64, data string) []byte {
	b := binary.LittleEndian.AppendUint32([]byte{1}, subscription)
	return append(binary.LittleEndian.AppendUint64(b, uint64(logTime)), data...)
}

// String returns std_msgs/msg/String in CDR.
func String(s string) string {
	b := binary.LittleEndian.AppendUint32([]byte{0, 1, 0, 0}, uint32(len(s)+1))
	return string(append(append(b, s...), 0))
}

// Handler returns a server of one subprotocol, which sends the texts, waits for a subscription or
// a channel, and sends the messages. It then takes what comes, and waits for the client to go, unless hangUp is set.
func Handler(subprotocol string, texts []string, messages [][]byte, hangUp bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{subprotocol}})
		if err != nil {
			return
		}
		defer func() { _ = conn.CloseNow() }()
		for _, text := range texts {
			if conn.Write(r.Context(), websocket.MessageText, []byte(text)) != nil {
				return
			}
		}
		if _, _, err := conn.Read(r.Context()); err != nil {
			return
		}
		for _, m := range messages {
			if conn.Write(r.Context(), websocket.MessageBinary, m) != nil {
				return
			}
		}
		for err == nil && !hangUp {
			_, _, err = conn.Read(r.Context())
		}
	})
}
