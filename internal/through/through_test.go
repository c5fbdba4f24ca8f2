//go:build unix

package through

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bagconv/bagconv/internal/frames"
)

// ask sends n messages of a size through a pool of one process.
func ask(t *testing.T, pool *Pool, n, size int) (same bool, err error) {
	t.Helper()
	pool.Begin()
	defer pool.Abort()
	p, err := pool.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	topic := TopicOf("ros1", "a/B", "/topic")
	same = true
	for i := range n {
		data := bytes.Repeat([]byte{byte(i)}, size)
		answer, changed, err := p.Ask(t.Context(), topic, int64(1000+i), data)
		if err != nil {
			return same, err
		}
		if changed == bytes.Equal(answer, data) {
			t.Fatal("changed is wrong")
		}
		same = same && !changed
	}
	pool.Give(p)
	return same, pool.End(t.Context())
}

// TestPrograms: what programs do wrong is an error that says so, and none of them hangs us.
func TestPrograms(t *testing.T) {
	// a frame of 4 bytes of message: 4 + 8 + 8 + 4 + 3 + 6 + 4
	const size = 37
	for _, c := range []struct {
		command    string
		n, message int
		want       string // "": no error
	}{
		{"cat", 5, 4, ""},
		{"cat", 3, 3 << 20, ""}, // more than the pipes hold
		{"cat", 2, 0, ""},
		{"cat; cat >&2", 5, 4, ""},
		{"sleep 1000 & cat", 5, 4, ""}, // which keeps the pipe
		{"setsid sleep 3 & cat", 5, 4, ""},
		{"tr '\\000' '\\001'", 1, 4, "nothing read or written"}, // it keeps its answer for more input
		{"exit 3", 1, 4, "message 1 that it got, of /topic at time 1000: it has ended: exit status 3"},
		{"kill -9 $$", 1, 4, "signal: killed"},
		{"true", 1, 3 << 20, "it has ended with status 0"},
		{"no-such-program-here", 1, 4, "exit status 127"},
		{"head -c " + strconv.Itoa(size) + "; exit 4", 3, 4, "message 2 that it got, of /topic at time 1001: it has ended: exit"},
		{"head -c 30", 1, 4, "in the middle of an answer"},
		{"head -c 10", 1, 4, "in the middle of an answer"},
		{"cat; exit 5", 3, 4, "it has answered 3 messages, and then failed: exit status 5"},
		{"echo hello and good morning", 1, 4, `it has written "hello and good morni" in place of a frame`},
		{"cat; echo more", 2, 4, "more than an answer to each of 2 messages"},
		{"cat; head -c 9000000 /dev/zero", 2, 4, "more than an answer to each of 2 messages"},
		{"cat /dev/zero", 1, 4, "in place of a frame"},
		{"head -c 37 | tee /dev/stderr; head -c 37 >/dev/null; exec sleep 1000", 2, 4, "nothing read or written"},
		{"exec sleep 1000", 1, 3 << 20, "nothing read or written for"},
		{"exec 1>&-; exec sleep 1000", 1, 4, "closed its input or output"},
		{"cat; exec 1>&-; sleep 1000", 1, 4, "it has not ended"},
		{"a=`head -c 37`; while :; do :; done", 1, 4, "nothing read or written for"},
		{`printf '\041\000\000\000\351\003\000\000\000\000\000\000\004\000\003\000\006\000\000\000ros1a/B/topicabcd'`, 1, 4,
			"the answer has the time 1001, and the message 1000"},
		{`printf '\041\000\000\000\350\003\000\000\000\000\000\000\004\000\003\000\006\000\000\000ros1a/C/topicabcd'`, 1, 4,
			`the answer is about "ros1a/C/topic"`},
		{`printf '\377\377\377\377\350\003\000\000\000\000\000\000\004\000\003\000\006\000\000\000ros1a/B/topicabcd'`, 1, 4,
			"in the middle of an answer"}, // of 4 GB
		{`printf '\005\000\000\000\350\003\000\000\000\000\000\000\004\000\003\000\006\000\000\000ros1a/B/topicabcd'`, 1, 4,
			"in place of a frame"},
	} {
		t.Run(c.command[:min(len(c.command), 30)], func(t *testing.T) {
			t.Parallel()
			pool := &Pool{Command: c.command, Timeout: 700 * time.Millisecond, Stderr: &bytes.Buffer{}}
			same, err := ask(t, pool, c.n, c.message)
			var wrong *Error
			switch {
			case c.want == "" && (err != nil || !same):
				t.Errorf("%v, %v", same, err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !errors.As(err, &wrong)):
				t.Errorf("%v\nwant %s", err, c.want)
			}
		})
	}
}

// TestChanged: an answer that differs is returned, whatever its length; standard error arrives.
func TestChanged(t *testing.T) {
	var said bytes.Buffer
	pool := &Pool{Command: `echo ready >&2; head -c 37 >/dev/null
		printf '\040\000\000\000\350\003\000\000\000\000\000\000\004\000\003\000\006\000\000\000ros1a/B/topicabc'`,
		Timeout: time.Minute, Stderr: &said}
	if same, err := ask(t, pool, 1, 4); err != nil || same {
		t.Error(same, err)
	}
	if said.String() != "ready\n" {
		t.Errorf("%q", &said)
	}
}

// TestKilled: when the context ends, the program and what it has started end, and Ask returns.
func TestKilled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	pool := &Pool{Command: "sleep 1000 & echo $! >" + file + ".new; mv " + file + ".new " + file + "; cat >/dev/null"}
	pool.Begin()
	p, err := pool.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { _, _, err = p.Ask(ctx, TopicOf("", "", ""), 0, nil) })
	var text []byte
	for len(text) == 0 {
		text, _ = os.ReadFile(file)
	}
	cancel()
	wg.Wait()
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for alive(pid) {
		time.Sleep(time.Millisecond) // until its parent has heard of it
	}
	if _, err := pool.Take(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// alive reports whether a process runs: a dead one that nobody has waited for does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}

// FuzzAnswer: bytes in place of an answer are no panic, and the message only if they are its frame.
func FuzzAnswer(f *testing.F) {
	topic := TopicOf("ros1", "a/B", "/topic")
	good := "\x21\x00\x00\x00\xe8\x03\x00\x00\x00\x00\x00\x00\x04\x00\x03\x00\x06\x00\x00\x00ros1a/B/topicabcd"
	f.Add([]byte(good))
	f.Add([]byte(good[:30]))
	f.Add([]byte("hello hello hello hello"))
	f.Fuzz(func(t *testing.T, b []byte) { fuzzAnswer(t, topic, good, b) })
}

func fuzzAnswer(t *testing.T, topic *Topic, good string, b []byte) {
	p := &Process{pool: &Pool{}, reader: bufio.NewReader(bytes.NewReader(b)), count: 1}
	var err error
	if p.frame, err = frames.Append(nil, 1000, topic.names, []byte("abcd")); err != nil {
		t.Fatal(err)
	}
	answer, err := p.answer()
	head, _, _ := strings.Cut(good, "abcd")
	if want := len(b) >= 33 && string(b[4:33]) == head[4:]; err == nil && (!want || !bytes.HasPrefix(b[33:], answer)) {
		t.Errorf("%q is the answer of %q", answer, b)
	}
	if string(b) == good && err != nil {
		t.Error(err)
	}
}
