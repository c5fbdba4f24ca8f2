package ros1

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

// callTimeout bounds a call of another node.
const callTimeout = 10 * time.Second

// client is for all calls: no proxies, because nodes are on the local network.
var client = &http.Client{
	Timeout:   callTimeout,
	Transport: &http.Transport{DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext, MaxIdleConnsPerHost: 2, IdleConnTimeout: 30 * time.Second},
	CheckRedirect: func(*http.Request, []*http.Request) error {
		return errors.New("a node does not redirect")
	},
}

// A refusal is an answer with a code other than 1.
type refusal struct {
	method, text string
	code         int
}

func (r *refusal) Error() string { return fmt.Sprintf("%s was refused: %.300s", r.method, r.text) }

// call calls a method of the master or of a node, and returns the value of its answer
// [code, text, value].
func call(ctx context.Context, uri, method string, args ...any) (any, error) {
	body := encodeCall(method, args...)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, uri, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "text/xml")
	resp, err := client.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // the caller names the address
		}
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: it answered with HTTP status %s", method, resp.Status)
	}
	v, err := decodeAnswer(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	list, _ := v.([]any)
	if len(list) != 3 {
		return nil, fmt.Errorf("%s: an answer that is not [code, text, value]", method)
	}
	code, ok := list[0].(int)
	if !ok || code != 1 {
		return nil, &refusal{method, fmt.Sprint(list[1]), code}
	}
	return list[2], nil
}

// A master is the ROS master, as one node calls it.
type master struct {
	uri    string // "http://host:11311/"
	caller string // name of the node
}

func (m *master) call(ctx context.Context, method string, args ...any) (any, error) {
	v, err := call(ctx, m.uri, method, append([]any{m.caller}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("master %s: %w", m.uri, err)
	}
	return v, nil
}

// topics lists the topics that have a publisher, with their types.
func (m *master) topics(ctx context.Context) (types map[string]string, err error) {
	v, err := m.call(ctx, "getPublishedTopics", "")
	if err != nil {
		return nil, err
	}
	types = map[string]string{}
	list, _ := v.([]any)
	for _, e := range list {
		if pair := texts(e); len(pair) == 2 {
			types[pair[0]] = pair[1]
		}
	}
	return types, nil
}

// knows reports whether the master has a node of this name at an address: one that was
// restarted has none.
func (m *master) knows(ctx context.Context, api string) (bool, error) {
	v, err := m.call(ctx, "lookupNode", m.caller)
	var no *refusal
	if errors.As(err, &no) {
		return false, nil
	}
	return err == nil && v == any(api), err
}

// simTime reports whether the nodes of the system take the time from the topic /clock.
func (m *master) simTime(ctx context.Context) (bool, error) {
	v, err := m.call(ctx, "getParam", "/use_sim_time")
	var no *refusal
	if errors.As(err, &no) { // it is not set
		return false, nil
	}
	on, _ := v.(bool)
	return on, err
}

// texts returns the strings of an array; nil for anything else.
func texts(v any) (list []string) {
	values, _ := v.([]any)
	for _, e := range values {
		if s, ok := e.(string); ok {
			list = append(list, s)
		}
	}
	return list
}
