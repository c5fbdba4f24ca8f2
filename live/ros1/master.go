package ros1

import (
	"context"
	"errors"
	"fmt"

	"github.com/bagconv/bagconv/internal/live/ros1/wire"
)

// A master is the ROS master, as one node calls it.
type master struct {
	uri    string // "http://host:11311/"
	host   string // of uri
	caller string // name of the node
}

func (m *master) call(ctx context.Context, method string, args ...any) (any, error) {
	v, err := wire.Call(ctx, m.uri, method, append([]any{m.caller}, args...)...)
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

// knows reports whether the master has a node of this name at an address: a master that was
// restarted does not.
func (m *master) knows(ctx context.Context, api string) (bool, error) {
	v, err := m.call(ctx, "lookupNode", m.caller)
	var no *wire.Refusal
	if errors.As(err, &no) {
		return false, nil
	}
	return err == nil && v == any(api), err
}

// simTime reports whether the nodes of the system take the time from the topic /clock.
func (m *master) simTime(ctx context.Context) (bool, error) {
	v, err := m.call(ctx, "getParam", "/use_sim_time")
	var no *wire.Refusal
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
