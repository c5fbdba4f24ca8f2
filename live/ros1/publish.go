package ros1

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/bagconv/bagconv/internal/live/ros1/wire"
)

// Limits of a connection to a subscriber.
const (
	maxWaiting  = 16 << 20         // bytes of messages that wait for it; then the clock waits
	sendTimeout = 30 * time.Second // without it taking anything: it is lost
)

// A publication is one topic of a station.
type publication struct {
	topic, typ, md5, definition string
	latching                    bool

	mu    sync.Mutex
	links map[*link]bool
	last  []byte // of a latched topic, framed; nil: no message was sent
	heard bool   // it has or had a subscriber
	early int64  // messages that were sent before that, and that no later subscriber gets
}

// header returns the answer to a subscriber, or an error that it gets.
func (p *publication) header(caller string, asked map[string]string) (map[string]string, error) {
	if md5 := asked[wire.FieldMD5]; md5 != "*" && md5 != p.md5 {
		return nil, fmt.Errorf("topic %s has type %s with md5sum %s, and the subscriber asks for %.100s with %.40s", p.topic,
			p.typ, p.md5, asked[wire.FieldType], md5)
	}
	latching := "0"
	if p.latching {
		latching = "1"
	}
	return map[string]string{wire.FieldCaller: caller, wire.FieldTopic: p.topic, wire.FieldType: p.typ,
		wire.FieldMD5:        p.md5,
		wire.FieldDefinition: p.definition, wire.FieldLatching: latching}, nil
}

// send passes a framed message to all subscribers. It waits for slow ones.
func (p *publication) send(message []byte) {
	p.mu.Lock()
	if !p.heard && (!p.latching || p.last != nil) {
		p.early++
	}
	if p.latching {
		p.last = message
	}
	links := make([]*link, 0, len(p.links))
	for l := range p.links {
		links = append(links, l)
	}
	p.mu.Unlock()
	for _, l := range links {
		l.put(message)
	}
}

// add adds a subscriber, which gets the last message of a latched topic first.
func (p *publication) add(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.links[l], p.heard = true, true
	if p.last != nil {
		l.put(p.last)
	}
}

func (p *publication) remove(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}

// subscribers returns how many there are.
func (p *publication) subscribers() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.links)
}

// A link is a connection to a subscriber. Messages wait in it until they are written.
type link struct {
	conn   net.Conn
	caller string

	mu      sync.Mutex
	changed *sync.Cond
	waiting [][]byte
	size    int
	ended   bool  // nothing more is put in
	err     error // why it ended before its time
}

func newLink(conn net.Conn, caller string) *link {
	l := &link{conn: conn, caller: caller}
	l.changed = sync.NewCond(&l.mu)
	return l
}

func (l *link) put(message []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.size > 0 && l.size+len(message) > maxWaiting && !l.ended {
		l.changed.Wait()
	}
	if !l.ended {
		l.waiting = append(l.waiting, message)
		l.size += len(message)
		l.changed.Broadcast()
	}
}

// end has the link end: with an error at once, else when all is written.
func (l *link) end(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		l.ended, l.err = true, err
		l.changed.Broadcast()
	}
}

// run writes what is put in until the link ends. It returns how many messages the subscriber did
// not get, and why.
func (l *link) run() (missing int, err error) {
	go l.watch()
	for {
		l.mu.Lock()
		for len(l.waiting) == 0 && !l.ended {
			l.changed.Wait()
		}
		list, err := l.waiting, l.err
		l.waiting = nil
		l.mu.Unlock()
		if err != nil || len(list) == 0 {
			return len(list), errors.Join(err, l.hangUp(err == nil))
		}
		for i, message := range list {
			_ = l.conn.SetWriteDeadline(time.Now().Add(sendTimeout))
			if _, err := l.conn.Write(message); err != nil {
				l.end(err)
				return len(list) - i, errors.Join(err, l.hangUp(false))
			}
			l.mu.Lock()
			l.size -= len(message)
			l.changed.Broadcast()
			l.mu.Unlock()
		}
	}
}

// watch waits for the subscriber to go: it sends nothing.
func (l *link) watch() {
	_, err := io.Copy(io.Discard, l.conn)
	if err == nil {
		err = io.EOF
	}
	l.end(err)
}

// drainTimeout is how long a subscriber may take to read the end.
const drainTimeout = 3 * time.Second

// hangUp closes the connection. Gently is after the last byte: the subscriber takes all of it,
// and closes its side.
func (l *link) hangUp(gently bool) error {
	if tcp, ok := l.conn.(*net.TCPConn); ok && gently {
		_ = l.conn.SetReadDeadline(time.Now().Add(drainTimeout)) // which ends watch
		if err := tcp.CloseWrite(); err != nil {
			return errors.Join(err, l.conn.Close())
		}
		_, _ = tcp.Read(make([]byte, 1)) // until it has closed its side
	}
	return l.conn.Close()
}

// accept reads the header of a subscriber, and answers it.
func (s *station) accept(conn net.Conn) {
	_ = conn.SetDeadline(time.Now().Add(wire.Timeout))
	asked, err := wire.ReadHeader(conn)
	if err != nil {
		_ = conn.Close()
		return
	}
	p := s.publication(asked[wire.FieldTopic])
	fields := map[string]string{}
	if p == nil {
		err = fmt.Errorf("%.200s is not published here", asked[wire.FieldTopic])
	} else {
		fields, err = p.header(s.node.name, asked)
	}
	if err != nil {
		s.player.complain(err.Error())
		fields = map[string]string{wire.FieldError: err.Error()}
	}
	l := newLink(conn, asked[wire.FieldCaller])
	if err == nil {
		p.add(l) // so that it misses nothing that is sent after the answer
	}
	_, e := conn.Write(wire.AppendHeader(nil, fields))
	_ = conn.SetDeadline(time.Time{})
	if err == nil && e == nil && s.player.run(func() {
		missing, err := l.run()
		p.remove(l)
		s.player.ended(p, l, missing, err)
	}) {
		return
	}
	if p != nil {
		p.remove(l)
	}
	l.end(net.ErrClosed) // nothing waits for it
	_ = conn.Close()
}

// Early returns how many messages of each topic were sent before it had a subscriber, without the
// messages that a later subscriber gets, and whether any topic has had one.
func (p *Player) Early() (messages map[string]int64, heard bool) {
	messages = map[string]int64{}
	for _, s := range p.all() {
		s.mu.Lock()
		for _, pub := range s.pubs {
			pub.mu.Lock()
			if heard = heard || pub.heard; pub.early > 0 {
				messages[pub.topic] += pub.early
			}
			pub.mu.Unlock()
		}
		s.mu.Unlock()
	}
	return messages, heard
}
