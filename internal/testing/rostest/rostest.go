// Package rostest has a ROS master and publishers for tests, which need nothing of ROS.
package rostest

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/bagconv/bagconv/internal/live/ros1/wire"
)

// A Master is a ROS master. Its methods are safe for concurrent use.
type Master struct {
	Address string // ros1://127.0.0.1:PORT

	server      *http.Server
	mu          sync.Mutex
	nodes       map[string]string            // API by name
	publishers  map[string]map[string]bool   // URIs by topic
	subscribers map[string]map[string]string // API by name, by topic
	types       map[string]string
	params      map[string]any
}

// NewMaster starts a master at an address of this machine.
func NewMaster(address string) (*Master, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	m := &Master{Address: "ros1://" + l.Addr().String(), types: map[string]string{}, params: map[string]any{}}
	m.Restart()
	m.server = serve(l, m.answer)
	return m, nil
}

// serve answers calls.
func serve(l net.Listener, answer func(method string, args []any) any) *http.Server {
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method, args, err := wire.DecodeCall(r.Body)
		if err != nil || len(args) == 0 {
			http.Error(w, "no call", http.StatusBadRequest)
			return
		}
		_, _ = w.Write(wire.EncodeAnswer(answer(method, args)))
	})}
	go func() { _ = s.Serve(l) }()
	return s
}

// Close ends the master.
func (m *Master) Close() error { return m.server.Close() }

// Set sets a parameter.
func (m *Master) Set(name string, value any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.params[name] = value
}

// Restart has it forget all nodes.
func (m *Master) Restart() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.nodes = map[string]string{}
	m.publishers, m.subscribers = map[string]map[string]bool{}, map[string]map[string]string{}
}

func success(v any) []any            { return []any{1, "", v} }
func failure(reason string) []any    { return []any{-1, reason, 0} }
func text(args []any, i int) string  { s, _ := args[min(i, len(args)-1)].(string); return s }
func keys[T any](m map[string]T) any { return values(m, func(k string, _ T) any { return k }) }

func values[T any](m map[string]T, f func(string, T) any) any {
	list := []any{}
	for k, v := range m {
		list = append(list, f(k, v))
	}
	return list
}

func (m *Master) answer(method string, args []any) any {
	m.mu.Lock()
	defer m.mu.Unlock()
	caller, topic := text(args, 0), text(args, 1)
	switch method {
	case "lookupNode":
		if api, ok := m.nodes[topic]; ok {
			return success(api)
		}
		return failure("unknown node")
	case "getParam":
		if v, ok := m.params[topic]; ok {
			return success(v)
		}
		return failure("not set")
	case "getPublishedTopics":
		return success(values(m.publishers, func(name string, _ map[string]bool) any { return []any{name, m.types[name]} }))
	case "registerSubscriber":
		if m.subscribers[topic] == nil {
			m.subscribers[topic] = map[string]string{}
		}
		m.nodes[caller], m.subscribers[topic][caller] = text(args, 3), text(args, 3)
		return success(keys(m.publishers[topic]))
	case "unregisterSubscriber":
		delete(m.subscribers[topic], caller)
	case "registerPublisher":
		m.nodes[caller], m.types[topic] = text(args, 3), text(args, 2)
		m.set(topic, text(args, 3), true)
		return success(values(m.subscribers[topic], func(_, api string) any { return api }))
	case "unregisterPublisher":
		m.set(topic, text(args, 2), false)
	}
	return success(1)
}

// set adds or removes a publisher, and tells the subscribers.
func (m *Master) set(topic, uri string, there bool) {
	if m.publishers[topic] == nil {
		m.publishers[topic] = map[string]bool{}
	}
	if m.publishers[topic][uri] = true; !there {
		if delete(m.publishers[topic], uri); len(m.publishers[topic]) == 0 {
			delete(m.publishers, topic)
		}
	}
	uris := keys(m.publishers[topic])
	for _, api := range m.subscribers[topic] {
		go func() { _, _ = wire.Call(context.Background(), api, "publisherUpdate", "/master", topic, uris) }()
	}
}

// Publish adds a publisher of a topic.
func (m *Master) Publish(topic, typ string, p *Publisher) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.types[topic] = typ
	m.set(topic, p.API, true)
}

// A Publisher is a node with one topic.
type Publisher struct {
	Host string // that it names as its own
	API  string // the address of the node

	server *http.Server
	listen net.Listener
}

// NewPublisher starts a publisher that calls serve with each connection, after the header of the
// subscriber.
func NewPublisher(handle func(net.Conn)) (*Publisher, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Publisher{Host: "127.0.0.1"}
	if p.listen, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	p.API = "http://" + l.Addr().String() + "/"
	p.server = serve(l, func(string, []any) any {
		return success([]any{"TCPROS", p.Host, p.listen.Addr().(*net.TCPAddr).Port})
	})
	go p.accept(handle)
	return p, nil
}

func (p *Publisher) accept(handle func(net.Conn)) {
	for {
		c, err := p.listen.Accept()
		if err != nil {
			return
		}
		go func() {
			if _, err := wire.ReadHeader(c); err == nil {
				handle(c)
			}
			_ = c.Close()
		}()
	}
}

// Close ends the publisher.
func (p *Publisher) Close() error { return errors.Join(p.server.Close(), p.listen.Close()) }

// StringHeader returns what a publisher of std_msgs/String answers, with other or more fields.
func StringHeader(more ...string) []byte {
	fields := map[string]string{wire.FieldCaller: "/talker", wire.FieldMD5: "992ce8a1687cec8c8bd883ec73ca41d1",
		wire.FieldType:     "std_msgs/String",
		wire.FieldLatching: "0", wire.FieldTopic: "/chatter", wire.FieldDefinition: "string data\n"}
	for i := 0; i+1 < len(more); i += 2 {
		fields[more[i]] = more[i+1]
	}
	return wire.AppendHeader(nil, fields)
}

// Message returns a message with these bytes.
func Message(data string) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(data))), data...)
}

// String returns a message of std_msgs/String.
func String(s string) []byte { return Message(string(Message(s))) }

// Count returns a publisher that sends so many numbered strings, of a caller, and then waits.
func Count(caller string, n int) (*Publisher, error) {
	return NewPublisher(func(c net.Conn) {
		_, _ = c.Write(StringHeader(wire.FieldCaller, caller))
		for i := range n {
			_, _ = c.Write(String(strings.TrimPrefix(caller, "/") + " " + strconv.Itoa(i)))
		}
		_, _ = c.Read(make([]byte, 1)) // until the subscriber goes
	})
}
