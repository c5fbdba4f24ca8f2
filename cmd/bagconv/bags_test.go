package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// TestBagsToDB3: every bag, whole, in a database that SQLite finds sound, with
// the values that rosbags decodes from the bag itself.
func TestBagsToDB3(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var pairs []string
	for path, want := range bags(t) {
		out := filepath.Join(dir, fmt.Sprintf("b%d", len(pairs)))
		convert(t, path, out+"/")
		info, msgs := read(t, out)
		if int64(len(msgs)) != want || info.Messages != want {
			t.Errorf("%s: %d messages, info says %d, want %d", path, len(msgs), info.Messages, want)
		}
		integrity(t, info.Files...)
		pairs = append(pairs, path, out)
	}
	checkPairs(t, 40, pairs)
}

func integrity(t *testing.T, files ...string) {
	t.Helper()
	sqlite, err := exec.LookPath("sqlite3")
	if err != nil {
		missing(t, "sqlite3")
	}
	for _, f := range files {
		out, err := exec.Command(sqlite, f, "pragma integrity_check").CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != "ok" {
			t.Errorf("%s: integrity_check: %v %s", f, err, out)
		}
	}
}

// TestThereAndBack: bag -> db3 -> bag restores what was there, except for
// Header.seq and for who sent what where several nodes publish one topic.
func TestThereAndBack(t *testing.T) {
	dir := t.TempDir()
	n := 0
	for path := range bags(t) {
		n++
		db3, back := filepath.Join(dir, fmt.Sprintf("b%d", n)), filepath.Join(dir, fmt.Sprintf("b%d.bag", n))
		convert(t, path, db3+"/")
		convert(t, db3, back)
		sameBag(t, path, back)
	}
}

// A publisher is what must survive of a connection.
type publisher struct{ topic, typ, md5, latching, callerid string }

func sameBag(t *testing.T, a, b string) {
	t.Helper()
	infoA, msgsA := read(t, a)
	infoB, msgsB := read(t, b)
	shared := map[string]int{} // publishers per topic and type
	latched := map[string]string{}
	key := func(ti *storage.TopicInfo) string { return ti.Name + " " + ti.Type }
	for i := range infoA.Topics {
		ti := &infoA.Topics[i]
		shared[key(ti)]++
		if l := ti.Metadata[storage.MetaLatching]; latched[key(ti)] == "" || l == "1" {
			latched[key(ti)] = l
		}
	}
	who := func(ti *storage.TopicInfo) publisher {
		p := publisher{ti.Name, ti.Type, ti.Metadata[storage.MetaMD5Sum], ti.Metadata[storage.MetaLatching],
			ti.Metadata[storage.MetaCallerID]}
		if shared[key(ti)] > 1 {
			p.callerid, p.latching = "", latched[key(ti)]
		}
		if p.latching == "" || strings.HasSuffix(p.topic, "tf_static") {
			p.latching = "0" // an empty flag, and none, mean that
		}
		return p
	}
	if len(msgsA) != len(msgsB) {
		t.Errorf("%s: %d messages came back, %d were there", a, len(msgsB), len(msgsA))
		return
	}
	// Messages of equal time may have been in any order: compare per publisher.
	type streams map[publisher][]storage.Message
	split := func(info *storage.Info, msgs []storage.Message) streams {
		s := streams{}
		for i := range info.Topics {
			s[who(&info.Topics[i])] = nil
		}
		for _, m := range msgs {
			p := who(&info.Topics[m.Topic])
			s[p] = append(s[p], m)
		}
		for _, list := range s {
			stableByTime(list)
		}
		return s
	}
	sa, sb := split(infoA, msgsA), split(infoB, msgsB)
	bytesOf := payloads{map[string]*mapping.Result{}}
	for p, list := range sa {
		other, ok := sb[p]
		if !ok {
			t.Errorf("%s: %+v did not come back", a, p)
			continue
		}
		for i := range list {
			if i >= len(other) {
				t.Errorf("%s: %+v: only %d of %d messages", a, p, len(other), len(list))
				break
			}
			if list[i].LogTime != other[i].LogTime {
				t.Errorf("%s: %+v: message %d at %d came back at %d", a, p, i, list[i].LogTime, other[i].LogTime)
				break
			}
			if !bytesOf.same(t, &infoA.Topics[list[i].Topic].Topic, list[i].Data, other[i].Data) {
				t.Errorf("%s: %+v: message %d has other bytes: % x and % x", a, p, i, head(list[i].Data), head(other[i].Data))
				break
			}
		}
	}
}

func head(b []byte) []byte { return b[:min(len(b), 48)] }

// payloads compares ROS 1 bytes but for Header.seq, wherever it stands: ROS 2 has
// no such field, so both sides are equal after re-encoding.
type payloads struct{ plans map[string]*mapping.Result }

func (p *payloads) same(t *testing.T, topic *storage.Topic, a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	k := topic.Type + topic.Metadata[storage.MetaMD5Sum]
	if p.plans[k] == nil {
		res, err := mapping.New(mapping.Options{Encoding: "cdr", Distro: "humble"}).Map(topic)
		if err != nil {
			t.Fatal(err)
		}
		p.plans[k] = res
	}
	x, errX := p.plans[k].Plan.Append(nil, a)
	y, errY := p.plans[k].Plan.Append(nil, b)
	return errX == nil && errY == nil && len(a) == len(b) && bytes.Equal(x, y)
}

// TestRefusedBags: a bag that cannot be read is reported in one line, with status 1.
func TestRefusedBags(t *testing.T) {
	for name, want := range map[string]string{
		"encrypted-none.bag": "encrypt", "encrypted-lz4.bag": "encrypt", "empty-file.bag": "empty",
		"version-line-only.bag": "",
	} {
		for _, path := range samples.Glob(t, "ros1/generated/"+name) {
			out := filepath.Join(t.TempDir(), "out")
			status, stderr := bagconv(t, path, out+"/")
			if _, err := os.Stat(out); status != 1 || !strings.Contains(strings.ToLower(stderr), want) ||
				strings.Count(stderr, "\n") > 2 || err == nil {
				t.Errorf("%s: status %d: %s", path, status, stderr)
			}
		}
	}
}
