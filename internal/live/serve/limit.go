package serve

import (
	"context"
	"net"
	"slices"
	"sync"
)

// limited is a listener with a number of connections at most. If there are as many, the oldest one that has not
// sent a whole request yet is closed for the next one, so that nobody keeps others out with half requests; if all
// have, further ones wait until one ends.
type limited struct {
	net.Listener
	free  chan struct{}
	ended chan struct{}
	once  sync.Once

	mu      sync.Mutex
	waiting []*counted // for their first request, the oldest first
}

func limitListener(l net.Listener, most int) net.Listener {
	return &limited{Listener: l, free: make(chan struct{}, most), ended: make(chan struct{})}
}

// Accept waits for a connection, and for room for it.
func (l *limited) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &counted{Conn: conn, of: l}
	c.release = sync.OnceFunc(func() { c.whole(); <-l.free })
	select {
	case l.free <- struct{}{}:
	default:
		if err := l.makeRoom(); err != nil {
			_ = conn.Close()
			return nil, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, c)
	return c, nil
}

// makeRoom closes the oldest connection without a request, and takes the room that there is next.
func (l *limited) makeRoom() error {
	l.mu.Lock()
	var oldest *counted
	if len(l.waiting) > 0 {
		oldest = l.waiting[0]
	}
	l.mu.Unlock()
	if oldest != nil {
		_ = oldest.Close()
	}
	select {
	case l.free <- struct{}{}:
		return nil
	case <-l.ended:
		return net.ErrClosed
	}
}

// Close ends Accept.
func (l *limited) Close() error {
	l.once.Do(func() { close(l.ended) })
	return l.Listener.Close()
}

// counted is a connection of a limited listener.
type counted struct {
	net.Conn
	of      *limited
	release func()
}

// whole notes that a whole request has come.
func (c *counted) whole() {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if i := slices.Index(c.of.waiting, c); i >= 0 {
		c.of.waiting = slices.Delete(c.of.waiting, i, i+1)
	}
}

// Close makes room for another one.
func (c *counted) Close() error {
	err := c.Conn.Close()
	c.release()
	return err
}

type connKey struct{}

// withConn returns a context with the connection of a request.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// hasWhole notes that a whole request has come on its connection.
func hasWhole(ctx context.Context) {
	if c, ok := ctx.Value(connKey{}).(*counted); ok {
		c.whole()
	}
}
