package cli_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// TestPlayRecordings: what the recorder of ROS has of recordings of all formats that we play, each below
// a name of its own, is what a conversion to a bag has: the same bytes in the same order. That conversions
// have the right bytes is what other tests show.
func TestPlayRecordings(t *testing.T) {
	s := newROSSystem(t)
	out := filepath.Join(s.dir, "out.bag")
	recorder := s.start("/usr/lib/rosbag/record", "-a", "--buffsize=0", "-O", out, "-x", "/rosout.*")
	want := map[string]*played{}
	var playing sync.WaitGroup
	places := make(chan struct{}, 5) // for so many at a time
	for i, path := range playable(t) {
		prefix := fmt.Sprintf("/r%d", i)
		topics, rate := s.converted(path, prefix)
		if len(topics) == 0 {
			continue
		}
		maps.Copy(want, topics)
		places <- struct{}{}
		playing.Go(func() {
			status, text := s.runs("play", "-q", path, s.address, "--prefix", prefix, "--rate", rate, "--wait-for-subscribers",
				"--delay", "100ms")
			if status != 0 && status != 3 {
				t.Errorf("%s: status %d: %s", path, status, text)
			}
			t.Logf("%s: %s at rate %s: status %d: %s", prefix, path, rate, status, text)
			<-places
		})
	}
	playing.Wait()
	time.Sleep(time.Second) // the recorder writes what it has
	_ = recorder.Process.Signal(syscall.SIGINT)
	s.until("the recording", func() bool { _, err := os.Stat(out); return err == nil })
	got := dataByTopic(t, out)
	for topic, p := range want {
		list := got[topic]
		for i := 2; len(got[fmt.Sprintf("%s_%d", topic, i)]) > 0; i++ { // of another type
			list = append(list, got[fmt.Sprintf("%s_%d", topic, i)]...)
			delete(got, fmt.Sprintf("%s_%d", topic, i))
			slices.Sort(list)
			slices.Sort(p.data)
		}
		if p.burst && len(list) > 0 {
			p.data = within(p.data, list)
		}
		if !slices.Equal(list, p.data) {
			t.Errorf("%s: the recorder has %d messages, the conversion %d", topic, len(list), len(p.data))
		}
		delete(got, topic)
	}
	if len(want) == 0 || len(got) > 0 {
		t.Errorf("%d topics were played, and others recorded: %v", len(want), slices.Collect(maps.Keys(got)))
	}
}

// playable lists recordings; all there are if BAGCONV_EXHAUSTIVE is set.
func playable(t *testing.T) (paths []string) {
	exhaustive := os.Getenv("BAGCONV_EXHAUSTIVE") != ""
	for _, root := range samples.Roots(t) {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch _, detected := all.Registry().Detect(path); {
			case err != nil:
				return err
			case detected == nil:
				paths = append(paths, path)
			case d.IsDir() && d.Name() == "conformance": // without ROS types
			default:
				return nil
			}
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if !exhaustive {
			break
		}
	}
	if !exhaustive {
		paths = slices.DeleteFunc(paths, func(path string) bool {
			return strings.Contains(path, "generated") &&
				!strings.Contains(path, "cyber")
		})
	}
	return paths
}

// A played is what a topic has after a conversion to a bag.
type played struct {
	data  []string
	burst bool // more than 100 messages come within a fifth of a second
}

// within returns what is left of all if the messages that some lacks are left out.
func within(all, some []string) (list []string) {
	for _, m := range all {
		if len(list) < len(some) && m == some[len(list)] {
			list = append(list, m)
		}
	}
	return list
}

// converted returns the topics of a recording, and the rate at which they take about a second, or longer
// if that would be more than 300 messages a second: a subscription of the recorder of ROS has a queue
// of 100, and loses what does not fit.
func (s *rosSystem) converted(path, prefix string) (topics map[string]*played, rate string) {
	bag := filepath.Join(s.dir, "converted.bag")
	if status, _ := s.runs("-q", "--no-sync", "-f", path, bag, "--prefix", prefix); status != 0 && status != 3 {
		return nil, ""
	}
	speed := 1.0
	for _, name := range []string{path, bag} { // their times may differ
		r, err := all.Registry().Open(s.t.Context(), name, storage.ReadOptions{})
		if err != nil {
			s.t.Fatal(err)
		}
		info := r.Info()
		if err = errors.Join(err, r.Close()); err != nil {
			s.t.Fatal(err)
		}
		speed = max(speed, (float64(info.End)-float64(info.Start))/1e9/max(1, float64(info.Messages)/300))
	}
	if speed > 1000 {
		s.t.Logf("%s lasts too long, and is left out", path)
		return nil, ""
	}
	topics, times := map[string]*played{}, map[string][]int64{}
	eachMessage(s.t, bag, func(topic string, m *storage.Message) {
		if strings.ContainsFunc(topic, func(r rune) bool { return r > 'z' || r < '/' }) || filepath.Clean(topic) != topic {
			return // nodes of ROS 1 do not bear it
		}
		p, list := topics[topic], append(times[topic], m.LogTime)
		if p == nil {
			p = &played{}
			topics[topic] = p
		}
		p.data = append(p.data, string(m.Data))
		p.burst = p.burst || len(list) > 100 && float64(m.LogTime-list[len(list)-101]) < 0.2e9*speed
		times[topic] = list
	})
	return topics, fmt.Sprintf("%.3f", speed)
}
