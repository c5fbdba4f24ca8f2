package ros1

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bagconv/bagconv/live"
	"github.com/bagconv/bagconv/storage"
)

// A fakeMaster is a master whose publishers are the test's.
type fakeMaster struct {
	*httptest.Server
	mu          sync.Mutex
	nodes       map[string]string            // API by name
	publishers  map[string]map[string]bool   // URIs by topic
	subscribers map[string]map[string]string // API by name, by topic
	types       map[string]string
	params      map[string]any
}

func newFakeMaster(t *testing.T) *fakeMaster {
	m := &fakeMaster{types: map[string]string{}, params: map[string]any{}}
	m.forget()
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method, args, err := decodeCall(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_, _ = w.Write(encodeAnswer(m.answer(method, args)))
	}))
	t.Cleanup(m.Close)
	return m
}

// address is that of the master as users write it.
func (m *fakeMaster) address() string { return strings.Replace(m.URL, "http://", "ros1://", 1) }

// forget is what a restart does.
func (m *fakeMaster) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.nodes, m.publishers, m.subscribers = map[string]string{}, map[string]map[string]bool{}, map[string]map[string]string{}
}

func (m *fakeMaster) answer(method string, args []any) []any {
	m.mu.Lock()
	defer m.mu.Unlock()
	caller := args[0].(string)
	switch method {
	case "lookupNode":
		if api, ok := m.nodes[args[1].(string)]; ok {
			return success(api)
		}
		return failure(-1, "unknown node")
	case "getParam":
		if v, ok := m.params[args[1].(string)]; ok {
			return success(v)
		}
		return failure(-1, "not set")
	case "getPublishedTopics":
		list := []any{}
		for topic := range m.publishers {
			list = append(list, []any{topic, m.types[topic]})
		}
		return success(list)
	case "registerSubscriber":
		topic, api := args[1].(string), args[3].(string)
		m.nodes[caller] = api
		if m.subscribers[topic] == nil {
			m.subscribers[topic] = map[string]string{}
		}
		m.subscribers[topic][caller] = api
		return success(m.uris(topic))
	case "registerPublisher":
		topic, api := args[1].(string), args[3].(string)
		m.nodes[caller], m.types[topic] = api, args[2].(string)
		list := []any{}
		for _, uri := range m.subscribers[topic] {
			list = append(list, uri)
		}
		m.setPublisher(topic, api, true)
		return success(list)
	case "unregisterPublisher":
		m.setPublisher(args[1].(string), args[2].(string), false)
	}
	return success(1)
}

func (m *fakeMaster) uris(topic string) []any {
	list := []any{}
	for uri := range m.publishers[topic] {
		list = append(list, uri)
	}
	return list
}

// setPublisher adds or removes a publisher, and tells the subscribers.
func (m *fakeMaster) setPublisher(topic, uri string, there bool) {
	if m.publishers[topic] == nil {
		m.publishers[topic] = map[string]bool{}
	}
	m.publishers[topic][uri] = there
	if !there {
		delete(m.publishers[topic], uri)
	}
	for _, api := range m.subscribers[topic] {
		go func(uris []any) { _, _ = call(context.Background(), api, "publisherUpdate", "/master", topic, uris) }(m.uris(topic))
	}
}

// A fakePublisher is a node with one topic. serve gets each connection after its header was read.
type fakePublisher struct {
	api    *httptest.Server
	listen net.Listener
	host   string // that requestTopic names
}

func newFakePublisher(t *testing.T, serve func(net.Conn)) *fakePublisher {
	p := &fakePublisher{host: "127.0.0.1"}
	var err error
	if p.listen, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	p.api = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _, _ = decodeCall(r.Body)
		_, _ = w.Write(encodeAnswer(success([]any{"TCPROS", p.host, p.listen.Addr().(*net.TCPAddr).Port})))
	}))
	go func() {
		for {
			c, err := p.listen.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				if _, err := readHeader(c); err == nil {
					serve(c)
				}
			}()
		}
	}()
	t.Cleanup(func() { p.listen.Close(); p.api.Close() })
	return p
}

func (m *fakeMaster) publish(topic, typ string, p *fakePublisher) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.types[topic] = typ
	m.setPublisher(topic, p.api.URL+"/", true)
}

// stringHeader is what a publisher of std_msgs/String answers.
func stringHeader(more ...string) []byte {
	fields := map[string]string{fieldCaller: "/talker", fieldMD5: "992ce8a1687cec8c8bd883ec73ca41d1", fieldType: "std_msgs/String",
		fieldLatching: "0", fieldTopic: "/chatter", fieldDefinition: "string data\n"}
	for i := 0; i < len(more); i += 2 {
		fields[more[i]] = more[i+1]
	}
	return appendHeader(nil, fields)
}

func message(data string) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(data))), data...)
}

// record starts a recorder of all topics.
func record(t *testing.T, m *fakeMaster, o RecordOptions) *Recorder {
	if o.Takes == nil {
		o.Takes = func(string, string) bool { return true }
	}
	r, err := Record(t.Context(), m.address(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// read reads so many messages, or until the recording ends or a time has passed.
func read(t *testing.T, r *Recorder, n int) (list []string) {
	time.AfterFunc(20*time.Second, func() { r.Stop(errors.New("the test waits for too long")) })
	for {
		m, err := r.ReadNext()
		if errors.Is(err, io.EOF) {
			more, err := r.Resume()
			if err != nil {
				t.Fatal(err)
			}
			if !more {
				return list
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(bytes.Clone(m.Data)))
		if len(list) == n {
			r.Stop(nil)
		}
	}
}

func topicsOf(t *testing.T, r storage.Reader) []storage.TopicInfo {
	info, err := r.Info()
	if err != nil {
		t.Fatal(err)
	}
	return info.Topics
}

func warned(r storage.Reader, word string) *storage.Warning {
	for _, w := range r.Damage().Warnings {
		if strings.Contains(w.Message, word) {
			return &w
		}
	}
	return nil
}

var fast = live.Options{Round: 20 * time.Millisecond}
