package ros1

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/bagconv/bagconv/internal/testing/rostest"
	"github.com/bagconv/bagconv/live"
	"github.com/bagconv/bagconv/storage"
)

func newFakeMaster(t *testing.T) *rostest.Master {
	m, err := rostest.NewMaster("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

func newFakePublisher(t *testing.T, handle func(net.Conn)) *rostest.Publisher {
	p, err := rostest.NewPublisher(handle)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

// record starts a recorder of all topics.
func record(t *testing.T, m *rostest.Master, o RecordOptions) *Recorder {
	if o.Takes == nil {
		o.Takes = func(string, string) bool { return true }
	}
	r, err := Record(t.Context(), m.Address, o)
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
	info := r.Info()
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
