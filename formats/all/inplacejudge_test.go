package all

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// judgeEvery is how many changes in place come between two that the readers of others judge, with BAGCONV_EXHAUSTIVE.
const judgeEvery = 50

// A judge keeps some recordings as they were before a change in place and after it, and has the readers of
// others compare them: one process for each reader. Safe for concurrent use.
type judge struct {
	dir string

	mu   sync.Mutex
	seen int
	kept map[string][]string // folders with "before" and "after", by format
}

// newJudge returns a judge of a test, which ends with its judgement.
func newJudge(t *testing.T) *judge {
	j := &judge{dir: t.TempDir(), kept: map[string][]string{}}
	t.Cleanup(func() { j.judge(t) })
	return j
}

// keep keeps the files of a recording, by the name that they have in the folder around it.
func (j *judge) keep(t *testing.T, format string, before, after map[string][]byte) {
	if !exhaustive() {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.seen++; j.seen%judgeEvery != 0 {
		return
	}
	dir := filepath.Join(j.dir, fmt.Sprint(j.seen))
	for side, files := range map[string]map[string][]byte{"before": before, "after": after} {
		for name, b := range files {
			path := filepath.Join(dir, side, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, b, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	j.kept[format] = append(j.kept[format], dir)
}

// judges are the readers of others by format: the variable that names their python, and a function that yields
// what is to be equal of each message of the recording at p.
var judges = map[string]struct{ python, program string }{
	"bag": {"BAGCONV_ROSBAGS_PYTHON", `
from rosbags.rosbag1 import Reader
def read(p):
    with Reader(glob.glob(p + '/*')[0]) as r:
        for c, t, d in r.messages(): yield c.topic, t, d`},
	"db3":      {"BAGCONV_ROSBAGS_PYTHON", rosbags2},
	"ros2mcap": {"BAGCONV_ROSBAGS_PYTHON", rosbags2},
	"mcap": {"BAGCONV_MCAP_PYTHON", `
from mcap.reader import make_reader
def read(p):
    with open(glob.glob(p + '/*')[0], 'rb') as f:
        for s, c, m in make_reader(f).iter_messages(log_time_order=False): yield c.topic, m.log_time, m.data`},
	"record": {"BAGCONV_CYBER_PYTHON", `
from cyber_record.record import Record
def read(p):
    with Record(glob.glob(p + '/*')[0]) as r:
        for t, m, at in r.read_messages(): yield t, at, m.SerializeToString(deterministic=True)`},
}

const rosbags2 = `
from rosbags.rosbag2 import Reader
def read(p):
    with Reader(p) as r:
        for c, t, d in r.messages(): yield c.topic, t, d`

// comparing reads each recording of the standard input before and after, ten seconds at most, and prints what is
// missing. What a reader does not read to its end before the change, or finds no message in, is no witness; bytes that
// it reads twice count once. A message may come back on another topic: reindex mends a name that was damaged in the
// index alone. That it is the right topic, the reader here has shown.
const comparing = `
import collections, glob, json, signal, sys
def late(*_): raise TimeoutError
signal.signal(signal.SIGALRM, late)
for dir in sys.stdin.read().splitlines():
    out = dict(dir=dir, read=False, missing='')
    signal.alarm(10)
    try:
        before = set(read(dir + '/before'))
        out['read'] = bool(before)
        after = set(read(dir + '/after'))
        lost = collections.Counter(m[1:] for m in before) - collections.Counter(m[1:] for m in after)
        if lost: out['missing'] = f'{len(lost)} of {len(before)}, such as {str(list(lost)[0])[:80]}'
    except Exception as e:
        if out['read']: out['missing'] = repr(e)
    signal.alarm(0)
    print(json.dumps(out), flush=True)
`

// judge has the readers compare what was kept.
func (j *judge) judge(t *testing.T) {
	for format, dirs := range j.kept {
		x, ok := judges[format]
		if !ok {
			continue
		}
		python := os.Getenv(x.python)
		if python == "" {
			if os.Getenv("CI") == "true" {
				t.Errorf("CI must have the reader of %s: %s", format, x.python)
			}
			continue
		}
		cmd := exec.Command(python, "-W", "ignore", "-c", "import glob"+x.program+comparing)
		cmd.Stdin = strings.NewReader(strings.Join(dirs, "\n"))
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		text, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: %v: %.2000s", format, err, stderr.Bytes())
		}
		read := 0
		for line := range strings.Lines(string(text)) {
			var out struct {
				Dir     string
				Read    bool
				Missing string
			}
			if json.Unmarshal([]byte(line), &out) != nil {
				continue // what a reader prints
			}
			if out.Read {
				read++
			}
			if out.Missing != "" {
				t.Errorf("%s %s: %s", format, filepath.Base(out.Dir), out.Missing)
			}
		}
		t.Logf("%s: %d of %d recordings were read before, and all of that after", format, read, len(dirs))
		if len(dirs) >= 20 && read == 0 {
			t.Errorf("%s: the reader reads none of %d recordings", format, len(dirs))
		}
	}
}
