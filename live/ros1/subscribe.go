package ros1

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/bagconv/bagconv/internal/live/ros1/wire"
	"github.com/bagconv/bagconv/internal/outward"
	"github.com/bagconv/bagconv/storage"
)

// How long to wait before a publisher is tried again, as rospy does.
const (
	firstRetry = 500 * time.Millisecond
	lastRetry  = 32 * time.Second
)

// A subscription is one topic, with a connection to each of its publishers.
type subscription struct {
	r     *Recorder
	topic string
	clock bool // it sets the time of the recorder
	keep  bool // its messages are recorded

	mu         sync.Mutex
	publishers map[string]bool // by URI: false if it left and its connection has not ended yet
}

// update takes the list of all publishers. The connection to one that has left stays as long as
// it has something to send.
func (s *subscription) update(uris []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for uri := range s.publishers {
		s.publishers[uri] = false
	}
	for _, uri := range uris {
		if _, running := s.publishers[uri]; !running {
			if !s.r.mayFollow() {
				return
			}
			s.r.start(func() { s.follow(uri) })
		}
		s.publishers[uri] = true
	}
}

// follow stays connected to a publisher until it leaves.
func (s *subscription) follow(uri string) {
	defer s.r.unfollow()
	ctx, wait := s.r.ctx, firstRetry
	for try := 0; ; try++ {
		messages, err := s.session(ctx, uri)
		if messages > 0 {
			wait, try = firstRetry, 0
		}
		if s.leave(ctx, uri, err) {
			return
		}
		if try > 0 && !errors.Is(err, io.EOF) {
			s.complain(uri, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		if wait = min(2*wait, lastRetry); s.leave(ctx, uri, nil) {
			return
		}
	}
}

// leave reports whether a publisher has left, and forgets it. Damage by its last connection is
// reported.
func (s *subscription) leave(ctx context.Context, uri string, err error) bool {
	if storage.IsDamage(err) && ctx.Err() == nil {
		s.complain(uri, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.publishers[uri] && ctx.Err() == nil && !s.r.Ended() {
		return false
	}
	delete(s.publishers, uri)
	return true
}

func (s *subscription) complain(uri string, err error) {
	s.r.Warn(storage.Warning{Code: "publisher-lost", Damage: storage.IsDamage(err),
		Message: fmt.Sprintf("topic %s, publisher at %s: %v", s.topic, uri, plain(err))})
}

// mayFollow counts a publisher that is to be followed. It is false if there are too many.
func (r *Recorder) mayFollow() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.followed == maxPublishers {
		r.Warn(storage.Warning{Code: "too-many-publishers", Damage: true,
			Message: fmt.Sprintf("there are more than %d publishers; the others are not recorded", maxPublishers)})
		return false
	}
	r.followed++
	return true
}

// unfollow counts a publisher that is followed no more.
func (r *Recorder) unfollow() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.followed--
}

// session is one connection to a publisher. It returns how many messages came.
func (s *subscription) session(ctx context.Context, uri string) (messages int, err error) {
	select {
	case s.r.connecting <- struct{}{}:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	conn, err := s.connect(ctx, uri)
	<-s.r.connecting
	if err != nil {
		return 0, err
	}
	hangUp := func() { _ = conn.Close() } // what matters of it is known
	defer hangUp()
	defer context.AfterFunc(ctx, hangUp)()
	in := bufio.NewReaderSize(conn, 64<<10)
	fields, err := wire.ReadHeader(in)
	if err != nil {
		return 0, err
	}
	if text, refused := fields[wire.FieldError]; refused {
		return 0, fmt.Errorf("it refuses the connection: %.300s", text)
	}
	_ = conn.SetReadDeadline(time.Time{})
	var id storage.TopicID
	if s.keep {
		if id, err = s.r.connected(s.topic, uri, fields); err != nil {
			return 0, err
		}
	}
	numbered := startsWithHeader(fields[wire.FieldDefinition])
	trusted := int64(0)
	for {
		data, err := wire.ReadSized(in, s.r.o.MaxMessage, trusted, "message")
		if err != nil {
			return messages, err
		}
		trusted = max(trusted, int64(len(data)))
		messages++
		if s.clock {
			s.r.setTime(data)
		}
		if !s.keep {
			continue
		}
		if numbered && len(data) >= 4 {
			s.r.Seq(id, binary.LittleEndian.Uint32(data))
		}
		if !s.r.Add(storage.Message{Topic: id, Data: data}) {
			return messages, io.EOF
		}
	}
}

// outward refuses a host that is nearer than the master, which names it.
func (s *subscription) outward(ctx context.Context, host string) error {
	if err := outward.Check(ctx, host, s.r.node.master.host); err != nil {
		return fmt.Errorf("the publisher is said to be at %w; it is not asked, because the master is elsewhere", err)
	}
	return nil
}

// connect asks a publisher for its address, and sends it a header.
func (s *subscription) connect(ctx context.Context, uri string) (net.Conn, error) {
	u, err := url.Parse(uri)
	if err != nil {
		return nil, errors.New("the master names an address that is no URL")
	}
	if err := s.outward(ctx, u.Hostname()); err != nil {
		return nil, err
	}
	v, err := wire.Call(ctx, uri, "requestTopic", s.r.node.name, s.topic, []any{[]any{"TCPROS"}})
	if err != nil {
		return nil, err
	}
	list, _ := v.([]any)
	if len(list) < 3 {
		return nil, errors.New("requestTopic: it offers no address")
	}
	host, ok := list[1].(string)
	port, ok2 := list[2].(int)
	if list[0] != any("TCPROS") || !ok || !ok2 || port < 1 || port > 65535 {
		return nil, errors.New("requestTopic: it offers no address for TCPROS")
	}
	if err := s.outward(ctx, host); err != nil {
		return nil, err
	}
	d := net.Dialer{Timeout: wire.Timeout}
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(wire.Timeout))
	fields := map[string]string{wire.FieldCaller: s.r.node.name, wire.FieldTopic: s.topic, wire.FieldMD5: "*",
		wire.FieldType: "*", wire.FieldNoDelay: "1"}
	if _, err := conn.Write(wire.AppendHeader(nil, fields)); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}
