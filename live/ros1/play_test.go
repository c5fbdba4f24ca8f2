package ros1

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bagconv/bagconv/internal/live/ros1/wire"
	"github.com/bagconv/bagconv/internal/testing/rostest"
	"github.com/bagconv/bagconv/live"
	"github.com/bagconv/bagconv/storage"
)

func stringTopic(name, caller, latching string) storage.Topic {
	return storage.Topic{Name: name, Type: "std_msgs/String", Encoding: encoding,
		Schema: storage.Schema{Encoding: schemaEncoding, Data: []byte("string data\n")},
		Metadata: map[string]string{storage.MetaMD5Sum: "992ce8a1687cec8c8bd883ec73ca41d1", storage.MetaCallerID: caller,
			storage.MetaLatching: latching}}
}

func newPlayer(t *testing.T, m *rostest.Master, o PlayOptions) (*Player, storage.Writer) {
	if o.Clock == nil {
		o.Clock = live.NewClock(1, false)
	}
	p, err := NewPlayer(t.Context(), m.Address, o)
	if err != nil {
		t.Fatal(err)
	}
	w, err := p.Format().Create(t.Context(), m.Address, storage.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return p, w
}

func create(t *testing.T, w storage.Writer, topic storage.Topic) storage.TopicID {
	t.Helper()
	id, err := w.CreateTopic(topic)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestPlay: what is played is recorded: all of it, with the headers, also by a recorder that
// comes late to a latched topic.
func TestPlay(t *testing.T) {
	for _, publishers := range []bool{false, true} {
		t.Run(fmt.Sprint("publishers=", publishers), func(t *testing.T) {
			m := newFakeMaster(t)
			p, w := newPlayer(t, m, PlayOptions{Wait: true, Publishers: publishers})
			a := create(t, w, stringTopic("/a", "/first", "1"))
			b := create(t, w, stringTopic("b", "/second", "0"))
			first := record(t, m, RecordOptions{Options: fast})
			const n = 2000
			played := make(chan error)
			go func() {
				var err error
				for i := range n {
					if err == nil {
						err = w.Write(&storage.Message{Topic: []storage.TopicID{a, b}[i%2], LogTime: int64(i),
							Data: []byte(strings.Repeat(fmt.Sprintf("%06d", i), 300))})
					}
				}
				played <- err
			}()
			got := read(t, first, n)
			if err := <-played; err != nil || len(got) != n {
				t.Fatalf("%d messages, %v", len(got), err)
			}
			late := record(t, m, RecordOptions{Options: fast, Topics: []string{"/a"},
				Takes: func(string, string) bool { return false }})
			if got := read(t, late, 1); len(got) != 1 || !strings.HasPrefix(got[0], "001998") {
				t.Errorf("the late recorder has %d messages", len(got))
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
			var names []string
			for _, x := range topicsOf(t, first) {
				names = append(names, x.Name+" "+x.Metadata[storage.MetaLatching])
				caller := x.Metadata[storage.MetaCallerID]
				if strings.Contains(caller, "first") != (publishers && x.Name == "/a") ||
					!strings.HasPrefix(caller, "/bagconv_play") {
					t.Errorf("%s is published by %s", x.Name, caller)
				}
			}
			slices.Sort(names)
			if !slices.Equal(names, []string{"/a 1", "/b 0"}) {
				t.Errorf("%q", names)
			}
		})
	}
}

// TestNames: a name that ends nodes of ROS 1 never reaches the master, and costs that topic alone.
func TestNames(t *testing.T) {
	m := newFakeMaster(t)
	p, w := newPlayer(t, m, PlayOptions{})
	for _, name := range []string{"", "/a b", "/\uFFFD", "/a-b", "/~a", "/a//b", "/a/"} {
		if _, err := w.CreateTopic(stringTopic(name, "/first", "0")); !errors.Is(err, storage.ErrUnsupported) ||
			!strings.Contains(err.Error(), "rename") {
			t.Errorf("%q: %v", name, err)
		}
	}
	create(t, w, stringTopic("/A_1/b", "/first", "0"))
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// subscribe connects to a topic of a player as a subscriber does.
func subscribe(t *testing.T, p *Player, topic, md5 string) (net.Conn, map[string]string) {
	t.Helper()
	s := p.all()[0]
	c, err := net.Dial("tcp", s.listen.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := c.Write(wire.AppendHeader(nil, map[string]string{wire.FieldCaller: "/test", wire.FieldTopic: topic,
		wire.FieldMD5: md5, wire.FieldType: "x/Y"})); err != nil {
		t.Fatal(err)
	}
	fields, err := wire.ReadHeader(c)
	if err != nil {
		t.Fatal(err)
	}
	return c, fields
}

// TestSubscribers: one that asks for another type is refused with the reason; one that goes is
// reported; one that is slow gets all, and the player waits for it.
func TestSubscribers(t *testing.T) {
	m := newFakeMaster(t)
	p, w := newPlayer(t, m, PlayOptions{})
	a := create(t, w, stringTopic("/a", "", "0"))
	if _, fields := subscribe(t, p, "/a", "123"); !strings.Contains(fields[wire.FieldError],
		"has type std_msgs/String with md5sum 992c") {
		t.Errorf("%q", fields)
	}
	if _, fields := subscribe(t, p, "/none", "*"); !strings.Contains(fields[wire.FieldError],
		"/none is not published here") {
		t.Errorf("%q", fields)
	}
	gone, _ := subscribe(t, p, "/a", "*")
	_ = gone.Close()
	slow, fields := subscribe(t, p, "/a", "*")
	if fields[wire.FieldMD5] != "992ce8a1687cec8c8bd883ec73ca41d1" || fields[wire.FieldDefinition] != "string data\n" {
		t.Errorf("%q", fields)
	}
	const n, size = 40, 1 << 20 // more than may wait
	counted := make(chan int)
	go func() {
		time.Sleep(300 * time.Millisecond)
		count := 0
		for {
			if _, err := wire.ReadSized(slow, 1<<30, 0, "message"); err != nil {
				_ = slow.Close()
				counted <- count
				return
			}
			count++
		}
	}()
	data := make([]byte, size)
	for i := range n {
		if err := w.Write(&storage.Message{Topic: a, LogTime: int64(i), Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if got := <-counted; got != n {
		t.Errorf("the slow subscriber has %d of %d messages", got, n)
	}
	lost, refused := p.Problems()
	if len(lost) != 1 || !strings.Contains(lost[0], "topic /a, subscriber /test") || len(refused) != 2 {
		t.Errorf("lost %q, refused %q", lost, refused)
	}
}

// TestPlayerMasterRestarts: a master that was restarted gets all topics again, and a subscriber that has a
// connection keeps it.
func TestPlayerMasterRestarts(t *testing.T) {
	m := newFakeMaster(t)
	p, w := newPlayer(t, m, PlayOptions{Publishers: true})
	topics := map[string]storage.TopicID{"/a": create(t, w, stringTopic("/a", "/first", "0")),
		"/b": create(t, w, stringTopic("/b", "/second", "0"))}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	old, err := m.Subscribe(ctx, "/a")
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * masterPoll) // the player has seen that it is registered
	m.Restart()
	subscribers := map[string]*rostest.Subscriber{}
	for name := range topics {
		if subscribers[name], err = m.Subscribe(ctx, name); err != nil {
			t.Fatal(err)
		}
	}
	for name, id := range topics {
		if err := w.Write(&storage.Message{Topic: id, LogTime: 1, Data: []byte(name)}); err != nil {
			t.Fatal(err)
		}
		if got := subscribers[name].Take(1, 20*time.Second); !slices.Equal(got, []string{name}) {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := old.Take(1, 20*time.Second); len(got) != 1 {
		t.Error("the connection of before is gone")
	}
	for _, s := range append(slices.Collect(maps.Values(subscribers)), old) {
		go s.Take(1, time.Minute) // which answers the end
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if lost, problems := p.Problems(); len(lost) > 0 || len(problems) != 1 || !strings.Contains(problems[0],
		"the master was restarted") {
		t.Errorf("lost %q, problems %q", lost, problems)
	}
}

// TestPlayedAgain: a recording that follows, as in a loop, waits for nobody.
func TestPlayedAgain(t *testing.T) {
	m := newFakeMaster(t)
	p, w := newPlayer(t, m, PlayOptions{Wait: true})
	a := create(t, w, stringTopic("/a", "", "0"))
	c, _ := subscribe(t, p, "/a", "*")
	if err := w.Write(&storage.Message{Topic: a, LogTime: 1, Data: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	for p.all()[0].publication("/a").subscribers() > 0 {
		time.Sleep(time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	w, err := p.Format().Create(ctx, m.Address, storage.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a = create(t, w, stringTopic("/a", "", "0"))
	if err := w.Write(&storage.Message{Topic: a, LogTime: 1, Data: []byte("x")}); err != nil {
		t.Errorf("it waits: %v", err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// TestHostileSubscriber: whatever a subscriber sends costs its connection alone.
func TestHostileSubscriber(t *testing.T) {
	m := newFakeMaster(t)
	p, w := newPlayer(t, m, PlayOptions{})
	a := create(t, w, stringTopic("/a", "", "0"))
	for name, sent := range map[string][]byte{
		"nothing":         nil,
		"header of 4 GB":  {255, 255, 255, 255, 0, 0},
		"field of 4 GB":   {5, 0, 0, 0, 255, 255, 255, 255, 0},
		"field without =": {5, 0, 0, 0, 1, 0, 0, 0, 'x'},
		"no topic":        wire.AppendHeader(nil, map[string]string{wire.FieldCaller: "/x", wire.FieldMD5: "*"}),
		"no md5sum":       wire.AppendHeader(nil, map[string]string{wire.FieldCaller: "/x", wire.FieldTopic: "/a"}),
		"a long topic": wire.AppendHeader(nil, map[string]string{wire.FieldTopic: strings.Repeat("/x", 1<<20),
			wire.FieldMD5: "*"}),
	} {
		c, err := net.Dial("tcp", p.all()[0].listen.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(20 * time.Second))
		if _, err := c.Write(sent); err != nil {
			t.Logf("%s: %v", name, err)
		}
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.CloseWrite()
		}
		if answer, _ := io.ReadAll(c); len(answer) > 1000 || len(answer) > 0 && !strings.Contains(string(answer), "error=") {
			t.Errorf("%s: it is answered with %d bytes: %.200q", name, len(answer), answer)
		}
		_ = c.Close()
	}
	good, _ := subscribe(t, p, "/a", "*")
	if err := w.Write(&storage.Message{Topic: a, LogTime: 1, Data: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	if b, err := wire.ReadSized(good, 100, 0, "message"); err != nil || string(b) != "x" {
		t.Errorf("%q, %v", b, err)
	}
	_ = good.Close()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// TestInterruptedPlayer: a subscriber that never reads does not keep it.
func TestInterruptedPlayer(t *testing.T) {
	m := newFakeMaster(t)
	ctx, cancel := context.WithCancel(t.Context())
	p, err := NewPlayer(ctx, m.Address, PlayOptions{Clock: live.NewClock(1, false)})
	if err != nil {
		t.Fatal(err)
	}
	w, err := p.Format().Create(ctx, "", storage.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a := create(t, w, stringTopic("/a", "", "0"))
	subscribe(t, p, "/a", "*")
	time.AfterFunc(200*time.Millisecond, cancel)
	for err == nil {
		err = w.Write(&storage.Message{Topic: a, LogTime: 1, Data: make([]byte, 4<<20)})
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if lost, _ := p.Problems(); len(lost) > 0 {
		t.Errorf("%q was not lost: the player ended it", lost)
	}
}

// TestClockTopic: /clock has the time of the recording, and that of the recording is refused.
func TestClockTopic(t *testing.T) {
	m := newFakeMaster(t)
	p, w := newPlayer(t, m, PlayOptions{ClockHz: 100})
	if _, err := w.CreateTopic(storage.Topic{Name: "/clock", Encoding: encoding,
		Metadata: map[string]string{storage.MetaMD5Sum: "x"}}); err == nil {
		t.Error("two publishers of /clock")
	}
	for _, bad := range []storage.Topic{{Name: "/x", Encoding: "cdr"}, {Name: "/x", Encoding: encoding,
		Metadata: map[string]string{storage.MetaMD5Sum: "*"}}} {
		if _, err := w.CreateTopic(bad); err == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
	a := create(t, w, stringTopic("/a", "", "0"))
	c, _ := subscribe(t, p, "/clock", "*")
	const start = 1_700_000_000_000_000_000
	if err := w.Write(&storage.Message{Topic: a, LogTime: start}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		b, err := wire.ReadSized(c, 8, 0, "message")
		if err != nil {
			t.Fatal(err)
		}
		if now := int64(binary.LittleEndian.Uint32(b))*1e9 + int64(binary.LittleEndian.Uint32(b[4:])); now < start ||
			now > start+10e9 {
			t.Errorf("/clock has %d", now)
		}
	}
	go func() { _, _ = io.Copy(io.Discard, c); _ = c.Close() }()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}
