package rostest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/bagconv/bagconv/internal/live/ros1/wire"
)

// A Subscriber is a connection to the publisher of a topic.
type Subscriber struct{ Conn net.Conn }

// Subscribe connects to the first publisher of a topic, as soon as there is one, or until ctx ends. It
// takes any type.
func (m *Master) Subscribe(ctx context.Context, topic string) (*Subscriber, error) {
	for ctx.Err() == nil {
		s, err := m.connect(ctx, topic)
		if s != nil || err != nil {
			return s, err
		}
		time.Sleep(5 * time.Millisecond)
	}
	return nil, fmt.Errorf("%s is not published: %w", topic, ctx.Err())
}

// connect returns nil if there is no publisher that is ready.
func (m *Master) connect(ctx context.Context, topic string) (*Subscriber, error) {
	m.mu.Lock()
	var node string
	for uri := range m.publishers[topic] {
		node = uri
	}
	m.mu.Unlock()
	if node == "" {
		return nil, nil
	}
	v, err := wire.Call(ctx, node, "requestTopic", "/subscriber", topic, []any{[]any{"TCPROS"}})
	place, _ := v.([]any)
	if err != nil || len(place) != 3 {
		return nil, nil // it is not ready, or gone
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", fmt.Sprintf("%v:%v", place[1], place[2]))
	if err != nil {
		return nil, err
	}
	_, err = conn.Write(wire.AppendHeader(nil, map[string]string{wire.FieldCaller: "/subscriber", wire.FieldTopic: topic,
		wire.FieldMD5: "*", wire.FieldType: "*"}))
	if err == nil {
		var fields map[string]string
		if fields, err = wire.ReadHeader(conn); fields[wire.FieldError] != "" {
			err = errors.New(fields[wire.FieldError])
		}
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &Subscriber{conn}, nil
}

// Take reads so many messages; fewer if the connection ends before, which Take then closes, too, or if no
// message comes in that time.
func (s *Subscriber) Take(n int, wait time.Duration) (list []string) {
	for len(list) < n {
		_ = s.Conn.SetReadDeadline(time.Now().Add(wait))
		m, err := wire.ReadSized(s.Conn, 1<<30, 0, "message")
		if err != nil {
			if !isTimeout(err) {
				_ = s.Conn.Close()
			}
			return list
		}
		list = append(list, string(m))
	}
	return list
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}
