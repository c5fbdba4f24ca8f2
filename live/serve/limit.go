package serve

import (
	"net"
	"sync"
)

// limited is a listener with a number of connections at most. Further ones wait until one ends.
type limited struct {
	net.Listener
	free  chan struct{}
	ended chan struct{}
	once  sync.Once
}

func limitListener(l net.Listener, most int) net.Listener {
	return &limited{Listener: l, free: make(chan struct{}, most), ended: make(chan struct{})}
}

// Accept waits for a connection, and for room for it.
func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.free <- struct{}{}:
	case <-l.ended:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.free
		return nil, err
	}
	return &counted{Conn: c, release: sync.OnceFunc(func() { <-l.free })}, nil
}

// Close ends Accept.
func (l *limited) Close() error {
	l.once.Do(func() { close(l.ended) })
	return l.Listener.Close()
}

// counted is a connection of a limited listener.
type counted struct {
	net.Conn
	release func()
}

// Close makes room for another one.
func (c *counted) Close() error {
	err := c.Conn.Close()
	c.release()
	return err
}
