package verify_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/verify"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// broken is a format whose blocks cannot be read after the first few.
func broken(f *storage.Format, after int, fail error) *storage.Format {
	g := *f
	g.Open = func(ctx context.Context, path string, o storage.ReadOptions) (storage.Reader, error) {
		r, err := f.Open(ctx, path, o)
		return &brokenReader{Reader: r, left: after, fail: fail}, err
	}
	return &g
}

type brokenReader struct {
	storage.Reader
	left int
	fail error
}

func (r *brokenReader) ReadNext() (*storage.Message, error) {
	if r.left--; r.left < 0 {
		return nil, r.fail
	}
	return r.Reader.ReadNext()
}

// TestFailures: an error of either side ends the run with that error, and nothing
// goes on running.
func TestFailures(t *testing.T) {
	bag, _ := inputs(t, 4, 400)
	f := formatOf(t, bag)
	before := runtime.NumGoroutine()
	fail := errors.New("the disk is gone")
	for _, after := range []int{0, 1, 2000, 3599} {
		bad := sideOf(bag, broken(f, after, fail))
		good := sideOf(bag, f)
		for _, job := range []verify.Job{{A: bad, B: good}, {A: good, B: bad}} {
			if _, err := verify.Run(context.Background(), job); !errors.Is(err, fail) {
				t.Errorf("after %d: %v", after, err)
			}
		}
	}
	if _, err := verify.Run(context.Background(), verify.Job{A: sideOf(bag, f), B: sideOf(bag+"x", f)}); !errors.Is(err,
		os.ErrNotExist) {
		t.Errorf("no such file: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	slow := *f
	slow.Open = func(ctx context.Context, path string, o storage.ReadOptions) (storage.Reader, error) {
		defer cancel()
		return f.Open(ctx, path, o)
	}
	if _, err := verify.Run(ctx, verify.Job{A: sideOf(bag, &slow), B: sideOf(bag, f)}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// TestOrder: recordings that hold the same in another order of topics are equal,
// also when their times are far out of order in the file, which an index hides.
func TestOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	rec := generate(t, rng, 300)
	dir := t.TempDir()
	bag := save(t, registry.Lookup("bag"), filepath.Join(dir, "a"), rec)
	byTopic := clone(rec)
	slices.SortStableFunc(byTopic.Messages, func(a, b storage.Message) int { return int(b.Topic) - int(a.Topic) })
	f := registry.Lookup("bag")
	out := filepath.Join(dir, "sorted.bag")
	if err := storagetest.WriteAll(f, out, storage.WriteOptions{NoSync: true, ChunkSize: 2000}, byTopic); err != nil {
		t.Fatal(err)
	}
	if res := compare(t, verify.Job{}, bag, out); !res.Equal {
		t.Errorf("sorted by topic: %s", describe(res, &convert.Report{}))
	}
	// Without the times of an index the stream has to begin again.
	plain := sideOf(out, broken(f, 1<<30, io.EOF))
	res, err := verify.Run(context.Background(), verify.Job{A: sideOf(bag, f), B: plain})
	if err != nil || !res.Equal {
		t.Errorf("sorted by topic and read in order: %v", err)
	}
}

// TestEqualTimes: at one time the order within a topic counts, and that of topics
// does not.
func TestEqualTimes(t *testing.T) {
	a, _ := topicOf(t, "/a", "std_msgs/String")
	b, _ := topicOf(t, "/b", "std_msgs/String")
	text := func(topic storage.TopicID, c byte) storage.Message {
		return storage.Message{Topic: topic, LogTime: start, PublishTime: start, Data: []byte{1, 0, 0, 0, c}}
	}
	write := func(name string, msgs ...storage.Message) string {
		return save(t, registry.Lookup("bag"), filepath.Join(t.TempDir(), name),
			storagetest.Recording{Topics: []storage.Topic{a, b}, Messages: msgs})
	}
	base := write("x", text(0, 'x'), text(1, 'y'), text(0, 'z'))
	if res := compare(t, verify.Job{}, base, write("y", text(1, 'y'), text(0, 'x'), text(0, 'z'))); !res.Equal {
		t.Error("another order of topics is not equal")
	}
	res := compare(t, verify.Job{}, base, write("z", text(0, 'z'), text(1, 'y'), text(0, 'x')))
	if res.Equal || res.Topics[0].First.Index != 0 || res.Topics[0].First.Path != "data" || !res.Topics[1].Equal {
		t.Errorf("another order on a topic: %+v", res.Topics)
	}
	// Many messages of one time stay out of memory only if they meet at once.
	var many []storage.Message
	for i := range 5000 {
		many = append(many, text(storage.TopicID(i%2), byte(i)))
	}
	if res := compare(t, verify.Job{}, write("m", many...), write("n", many...)); !res.Equal || res.A.Messages != 5000 {
		t.Errorf("%+v", res.Topics)
	}
}

// TestProgress: it grows, and ends at the whole of both.
func TestProgress(t *testing.T) {
	bag, others := inputs(t, 5, 50)
	var last convert.Progress
	job := verify.Job{Progress: func(p convert.Progress) {
		if p.Messages < last.Messages {
			t.Errorf("%d messages after %d", p.Messages, last.Messages)
		}
		last = p
	}}
	res := compare(t, job, bag, others["db3"])
	if last.Messages != res.A.Messages+res.B.Messages || last.Bytes == 0 || last.Bytes != last.Total {
		t.Errorf("%+v", last)
	}
}

func TestParse(t *testing.T) {
	for _, name := range verify.Levels() {
		if l, ok := verify.ParseLevel(name); !ok || l.String() != name {
			t.Errorf("%s: %v", name, l)
		}
	}
	if _, ok := verify.ParseLevel("all"); ok {
		t.Error("all is no level")
	}
	if got, err := verify.ParseCodes(" types,,fields "); err != nil ||
		!slices.Equal(got, []verify.Code{verify.Types, verify.Fields}) {
		t.Errorf("%v, %v", got, err)
	}
	if got, _ := verify.ParseCodes("all"); !slices.Equal(got, verify.Codes()) {
		t.Errorf("%v", got)
	}
	if _, err := verify.ParseCodes("types,all of it"); err == nil {
		t.Error("no error")
	}
}

// TestTwoDefinitions: a type name with two definitions on one topic. What a format
// that has one definition for it makes of that is equal, and the fields that it has
// no place for are named.
func TestTwoDefinitions(t *testing.T) {
	topic := func(caller, text string) storage.Topic {
		msg, err := rosmsg.Parse("acme_msgs/T", []byte(text), rosmsg.ROS1, nil)
		if err != nil {
			t.Fatal(err)
		}
		return storage.Topic{Name: "/t", Type: "acme_msgs/T", Encoding: "ros1", Schema: storage.Schema{Encoding: "ros1msg",
			Data: []byte(text)},
			Metadata: map[string]string{storage.MetaMD5Sum: schema.MD5(msg), storage.MetaCallerID: caller,
				storage.MetaLatching: "0"}}
	}
	rec := storagetest.Recording{Topics: []storage.Topic{topic("/a", "int32 x\n"), topic("/b", "int32 x\nint32 y\n")}}
	for i := range 10 {
		data := []byte{byte(i), 0, 0, 0}
		if i%2 == 1 {
			data = append(data, byte(i), 0, 0, 0)
		}
		rec.Messages = append(rec.Messages, storage.Message{Topic: storage.TopicID(i % 2), LogTime: start + int64(i),
			PublishTime: start + int64(i), Data: data})
	}
	dir := t.TempDir()
	bag := save(t, registry.Lookup("bag"), filepath.Join(dir, "a"), rec)
	for to, want := range map[string]verify.Code{"bag": "", "db3": verify.Fields, "record": verify.Renamed} {
		res := compare(t, verify.Job{}, bag, converted(t, convert.Job{}, bag, to, filepath.Join(dir, "to"+to)))
		if !res.Equal || res.A.Messages != 10 || want == "" && len(res.Exceptions) > 0 {
			t.Errorf("%s: %s", to, describe(res, &convert.Report{}))
		}
		if want != "" && !slices.ContainsFunc(res.Exceptions, func(e verify.Exception) bool { return e.Code == want }) {
			t.Errorf("%s: no exception %s: %+v", to, want, res.Exceptions)
		}
	}
}
