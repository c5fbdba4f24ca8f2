package rosbag2

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/internal/testing/faultio"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// inThree writes a database, then two more parts of the rows behind each other. Each part has
// the topics of its rows.
func inThree(t *testing.T, path string, o storage.WriteOptions, topics []storage.Topic, rows []storage.Message) {
	t.Helper()
	n := len(rows)
	for i, part := range [][]storage.Message{rows[:n/3], rows[n/3 : n/2], rows[n/2:]} {
		f := Format
		if i > 0 {
			f = adding
			o.Metadata, o.Profile = nil, ""
		}
		var some []storage.Topic
		ids := map[storage.TopicID]storage.TopicID{}
		part = slices.Clone(part)
		for j := range part {
			id, ok := ids[part[j].Topic]
			if !ok {
				id = storage.TopicID(len(some))
				ids[part[j].Topic] = id
				some = append(some, topics[part[j].Topic])
			}
			part[j].Topic = id
		}
		writeAs(t, f, path, o, some, part)
	}
}

func strictly(t *testing.T, path string) *reader {
	t.Helper()
	r, err := openReader(context.Background(), path, storage.ReadOptions{Strict: true})
	check(t, err)
	return r.(*reader)
}

// TestAppendFile adds to single databases of all profiles.
func TestAppendFile(t *testing.T) {
	topics, rows := sampleTopics(), sampleRows()
	for _, profile := range ros2bag.ProfileNames() {
		t.Run(profile, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "bag.db3")
			own := map[string]string{storage.MetaDistro: "humble", "who": "me"}
			inThree(t, path, storage.WriteOptions{Profile: profile, Metadata: own}, topics, rows)
			r := strictly(t, path)
			defer r.Close()
			msgs, err := storagetest.ReadAll(r)
			check(t, err)
			info := r.Info()
			if len(msgs) != len(rows) || info.Messages != int64(len(rows)) || len(info.Warnings) > 0 ||
				info.Metadata["who"] != "me" {
				t.Fatalf("%d messages, info says %d, %v, %v", len(msgs), info.Messages, info.Metadata, info.Warnings)
			}
			for i := range rows {
				if msgs[i].LogTime != rows[i].LogTime || !bytes.Equal(msgs[i].Data, rows[i].Data) ||
					info.Topics[msgs[i].Topic].Name != topics[rows[i].Topic].Name {
					t.Fatalf("row %d differs", i)
				}
			}
			for i := range info.Topics {
				got := &info.Topics[i].Topic
				k := slices.IndexFunc(topics, func(o storage.Topic) bool { return o.Name == got.Name && o.Type == got.Type })
				if k < 0 || fmt.Sprint(got.Metadata) != fmt.Sprint(topics[k].Metadata) && len(topics[k].Metadata) > 0 ||
					got.Schema.Encoding != topics[k].Schema.Encoding || !bytes.Equal(got.Schema.Data, topics[k].Schema.Data) ||
					fmt.Sprint(got.QoS) != fmt.Sprint(topics[k].QoS) {
					t.Errorf("topic %+v", got)
				}
			}
			integrity(t, path)
			row := r.row
			if row == nil || row.Messages != info.Messages || !slices.Equal(row.Paths, []string{"bag.db3"}) {
				t.Errorf("the last row of metadata is %+v", row)
			}
			if profile == "jazzy" || profile == "universal" {
				refereeFile(t, path, len(rows))
			}
			left, err := os.ReadDir(filepath.Dir(path))
			check(t, err)
			if len(left) != 1 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// refereeFile has rosbags read a copy of a database. It takes only definitions with their true
// hash.
func refereeFile(t *testing.T, path string, rows int) {
	t.Helper()
	other := filepath.Join(t.TempDir(), "x.db3")
	b, err := os.ReadFile(path)
	check(t, err)
	check(t, os.WriteFile(other, b, 0o666))
	tool, err := exec.LookPath("sqlite3")
	if err != nil {
		missing(t, "sqlite3")
		return
	}
	out, err := exec.Command(tool, other,
		"delete from message_definitions; update topics set type_description_hash = ''").CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	referee(t, other, rows)
	integrity(t, other)
}

// sound has sqlite3 check a database, in whatever mode it is, and returns its messages.
func sound(t *testing.T, path string) (messages int) {
	t.Helper()
	tool, err := exec.LookPath("sqlite3")
	if err != nil {
		missing(t, "sqlite3")
		return 0
	}
	out, err := exec.Command(tool, "file:"+path+"?immutable=1",
		"pragma integrity_check; select count(*) from messages").CombinedOutput()
	text, ok := strings.CutPrefix(string(out), "ok\n")
	if _, scanErr := fmt.Sscan(text, &messages); err != nil || !ok || scanErr != nil {
		t.Errorf("integrity_check of %s: %v %s", path, err, out)
	}
	return messages
}

// killedAdditions adds to a database, and lets the process die at each step-th operation. f
// gets the folder of what is left; the database has first messages, or with all more ones.
func killedAdditions(t *testing.T, o storage.WriteOptions, step int64, f func(path string, op int64, first, more int)) {
	t.Helper()
	c := storagetest.Config{Format: Format, Encoding: "cdr", Type: "std_msgs/msg/String",
		Schema: textSchema("string data\n")}
	first := c.Generate(22, storagetest.Spec{Topics: 2, Messages: 40, MaxSize: 20_000, Step: 1000})
	more := c.Generate(23, storagetest.Spec{Topics: 3, Messages: 40, MaxSize: 20_000, Step: 1000})
	for op := int64(1); ; op += step {
		path := filepath.Join(t.TempDir(), "bag.db3")
		check(t, storagetest.WriteAll(Format, path, storage.WriteOptions{NoSync: true}, first))
		disk := &faultio.FS{FS: iox.OS, N: op, Fault: faultio.Death, NoSync: true}
		o.FS = disk
		err := storagetest.WriteAll(adding, path, o, more)
		if !disk.Fired() {
			check(t, err)
			return
		}
		f(path, op, len(first.Messages), len(more.Messages))
	}
}

// TestAppendFileSQLite: after a death at any operation sqlite3 finds a sound database with what was there before, or
// with all, and so it is if the engine writes pages before the end. The reader here sees the same, without a change.
func TestAppendFileSQLite(t *testing.T) {
	tool, err := exec.LookPath("sqlite3")
	if err != nil {
		missing(t, "sqlite3")
		return
	}
	before, after, hot := 0, 0, 0
	for i, o := range []storage.WriteOptions{{}, {NoSync: true, Memory: 64 << 10}, {Memory: 64 << 10}} {
		killedAdditions(t, o, []int64{3, 7, 5}[i], func(path string, op int64, first, more int) {
			r := strictly(t, path)
			info := r.Info()
			if len(info.Warnings) == 1 && info.Warnings[0].Code == "append-killed" {
				hot++
			} else if len(info.Warnings) > 0 {
				t.Errorf("death at operation %d: %v", op, info.Warnings)
			}
			msgs, err := storagetest.ReadAll(r)
			if err != nil || int64(len(msgs)) != info.Messages {
				t.Errorf("death at operation %d: %d messages of %d, %v", op, len(msgs), info.Messages, err)
			}
			check(t, r.Close())
			out, err := exec.Command(tool, path,
				"pragma integrity_check; select count(*) from messages; select count(*) from topics").CombinedOutput()
			switch got := string(out); {
			case err == nil && got == fmt.Sprintf("ok\n%d\n2\n", first) && len(msgs) == first:
				before++
			case err == nil && got == fmt.Sprintf("ok\n%d\n3\n", first+more) && len(msgs) == first+more:
				after++
			default:
				t.Errorf("death at operation %d: %d messages, %v %s", op, len(msgs), err, out)
			}
		})
	}
	if before < 20 || after == 0 || hot < 10 {
		t.Errorf("%d deaths left what was before, %d all, %d a journal", before, after, hot)
	}
}

// TestAppendFileLink: through a link the journal is read, and the next addition finds it.
func TestAppendFileLink(t *testing.T) {
	links, o := 0, storage.WriteOptions{NoSync: true, Memory: 64 << 10}
	killedAdditions(t, o, 11, func(path string, op int64, first, _ int) {
		if st, err := os.Stat(path + sqlite.JournalSuffix); err != nil || st.Size() == 0 {
			return
		}
		link := filepath.Join(t.TempDir(), "link.db3")
		if err := os.Symlink(path, link); err != nil {
			t.Skip("there are no links")
		}
		links++
		r := strictly(t, link)
		msgs, err := storagetest.ReadAll(r)
		check(t, errors.Join(err, r.Close()))
		more := []storage.Message{{Data: []byte("a")}}
		writeAs(t, adding, link, storage.WriteOptions{NoSync: true}, sampleTopics()[:1], more)
		if n := sound(t, path); len(msgs) != first || n != first+1 {
			t.Errorf("death at operation %d: %d messages by the link, %d after one more, of %d", op, len(msgs), n, first)
		}
	})
	if links < 3 {
		t.Errorf("only %d journals", links)
	}
}

// TestAppendFileMended: reindex puts the pages back that a killed addition has changed; a trial changes nothing.
func TestAppendFileMended(t *testing.T) {
	mended := 0
	killedAdditions(t, storage.WriteOptions{NoSync: true, Memory: 64 << 10}, 7, func(path string, op int64, first, _ int) {
		if st, err := os.Stat(path + sqlite.JournalSuffix); err != nil || st.Size() == 0 {
			return
		}
		mended++
		for _, dry := range []bool{true, false} {
			_, err := Format.Reindex(t.Context(), path, storage.ReindexOptions{NoSync: true, DryRun: dry})
			check(t, err)
			if _, err := os.Stat(path + sqlite.JournalSuffix); (err == nil) != dry {
				t.Errorf("death at operation %d, trial %t: journal: %v", op, dry, err)
			}
		}
		if n := sound(t, path); n != first {
			t.Errorf("death at operation %d: %d messages, want %d", op, n, first)
		}
	})
	if mended < 5 {
		t.Errorf("only %d journals", mended)
	}
}

// A shell is a sqlite3 that goes on to read statements.
type shell struct {
	in  io.WriteCloser
	out *bufio.Scanner
}

// do runs a statement and returns what it prints.
func (s *shell) do(t *testing.T, sql string) (text string) {
	t.Helper()
	if _, err := fmt.Fprintf(s.in, "%s;\nselect 'end';\n", sql); err != nil {
		t.Fatal(err)
	}
	for s.out.Scan() && s.out.Text() != "end" {
		text += s.out.Text() + "\n"
	}
	return text
}

// TestAppendFileLocks: SQLite in another process and a fileWriter respect each other's locks.
func TestAppendFileLocks(t *testing.T) {
	tool, err := exec.LookPath("sqlite3")
	if err != nil {
		missing(t, "sqlite3")
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("there are no such locks")
	}
	topics, rows := sampleTopics()[:1], []storage.Message{{Data: []byte("a")}}
	for _, wal := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "bag.db3")
		write(t, path, storage.WriteOptions{}, topics, rows)
		cmd := exec.Command(tool, path)
		in, err := cmd.StdinPipe()
		check(t, err)
		out, err := cmd.StdoutPipe()
		check(t, err)
		cmd.Stderr = cmd.Stdout
		check(t, cmd.Start())
		other := &shell{in, bufio.NewScanner(out)}
		if wal { // its log is empty, and has no content
			other.do(t, "pragma journal_mode=wal; select count(*) from messages; pragma wal_checkpoint(truncate)")
		} else {
			other.do(t, "begin immediate")
		}
		if _, err := adding.Create(context.Background(), path, storage.WriteOptions{}); !errors.Is(err,
			storage.ErrLocked) {
			t.Errorf("wal %t: another process writes: %v", wal, err)
		}
		if wal {
			check(t, in.Close())
			_ = cmd.Wait()
			continue
		}
		other.do(t, "rollback")
		w, err := adding.Create(context.Background(), path, storage.WriteOptions{})
		check(t, err)
		id, err := w.CreateTopic(topics[0])
		check(t, err)
		check(t, w.Write(&storage.Message{Topic: id, Data: []byte("b")}))
		if got := other.do(t, "select count(*) from messages"); !strings.Contains(got, "locked") {
			t.Errorf("another process reads %q meanwhile", got)
		}
		if got := other.do(t, "delete from messages"); !strings.Contains(got, "locked") {
			t.Errorf("another process writes meanwhile: %q", got)
		}
		check(t, w.Commit())
		if got := other.do(t, "select count(*) from messages; pragma integrity_check"); got != "2\nok\n" {
			t.Errorf("another process reads %q", got)
		}
		check(t, in.Close())
		_ = cmd.Wait() // it ends with an error, as there was one
	}
}

// TestAppendFileData: parts that recorders of all versions have written are added to, or
// refused and left alone.
func TestAppendFileData(t *testing.T) {
	files := slices.Concat(samples.Glob(t, "rosbag2/*.db3"), samples.Glob(t, "rosbag2/*/*.db3"),
		samples.Glob(t, "rosbag2/*/*/*.db3"))
	added := 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		check(t, err)
		path := filepath.Join(t.TempDir(), "x.db3")
		check(t, os.WriteFile(path, b, 0o666))
		if wal, err := os.ReadFile(file + "-wal"); err == nil {
			check(t, os.WriteFile(path+"-wal", wal, 0o666))
		}
		old, err := openReader(context.Background(), path, storage.ReadOptions{})
		if err != nil {
			continue
		}
		info := old.Info()
		check(t, old.Close())
		topic := storage.Topic{Name: "/new", Type: "std_msgs/msg/String", Encoding: "cdr",
			Schema: textSchema("string data\n"), Metadata: map[string]string{storage.MetaCallerID: "/me"}}
		err = storagetest.WriteAll(adding, path, storage.WriteOptions{},
			storagetest.Recording{Topics: []storage.Topic{topic}, Messages: []storage.Message{{LogTime: 5, Data: []byte("x")}}})
		now, readErr := os.ReadFile(path)
		check(t, readErr)
		if err != nil {
			t.Logf("%s: %v", file, err)
			if !bytes.Equal(now, b) {
				t.Errorf("%s was refused, and has changed", file)
			}
			continue
		}
		added++
		r := strictly(t, path)
		after := r.Info()
		check(t, r.Close())
		last := after.Topics[len(after.Topics)-1]
		if after.Messages != info.Messages+1 || last.Metadata[storage.MetaCallerID] != "/me" ||
			last.Schema.Encoding != "ros2msg" {
			t.Errorf("%s: %d messages, before %d; new topic %+v", file, after.Messages, info.Messages, last)
		}
		sound(t, path)
	}
	if added < 6 {
		t.Errorf("only %d of %d files were added to", added, len(files))
	}
}

// TestAppendFileRefused: what cannot be added to stays as it is.
func TestAppendFileRefused(t *testing.T) {
	topics, rows := sampleTopics()[:1], []storage.Message{{Data: []byte("a")}}
	path := filepath.Join(t.TempDir(), "bag.db3")
	write(t, path, storage.WriteOptions{}, topics, rows)
	for name, o := range map[string]storage.WriteOptions{
		"compression": {Compression: "zstd"}, "segments": {SegmentSize: 1}, "duration": {SegmentDuration: 1},
		"chunks": {ChunkSize: 1},
	} {
		if _, err := adding.Create(context.Background(), path, o); !errors.Is(err, storage.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	check(t, os.WriteFile(path+"-wal", []byte("something"), 0o666))
	if _, err := adding.Create(context.Background(), path, storage.WriteOptions{}); err == nil {
		t.Error("a log lies beside it")
	}
	check(t, os.Remove(path+"-wal"))
	part := filepath.Join(t.TempDir(), "bag")
	write(t, part, storage.WriteOptions{}, topics, rows)
	if _, err := adding.Create(context.Background(), filepath.Join(part, "bag_0.db3"),
		storage.WriteOptions{}); !errors.Is(err, storage.ErrUnsupported) {
		t.Errorf("a part of a folder: %v", err)
	}
}

// TestAppendFileTrees adds to trees of several levels, at their ends and everywhere, with a
// small cache, into databases of all page sizes, with free pages and with tables of others.
func TestAppendFileTrees(t *testing.T) {
	tool, err := exec.LookPath("sqlite3")
	if err != nil {
		missing(t, "sqlite3")
		return
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, page := range []int{512, 1024, 4096, 65536} {
		path := filepath.Join(t.TempDir(), "x.db3")
		topics := sampleTopics()[:3]
		var want []storage.Message
		rows := func(n int) (list []storage.Message) {
			for range n {
				size := rng.IntN(200)
				if rng.IntN(50) == 0 {
					size = rng.IntN(3 * page)
				}
				list = append(list, storage.Message{Topic: storage.TopicID(rng.IntN(3)), LogTime: rng.Int64N(1e9),
					Data: bytes.Repeat([]byte{byte(rng.IntN(256))}, size)})
			}
			want = append(want, list...)
			return list
		}
		write(t, path, storage.WriteOptions{}, topics, rows(20_000))
		tables := "create table other(a, b); create index other_b on other(b); insert into other select value, " +
			"hex(randomblob(50)) from generate_series(1, 2000);"
		for i := range 30 { // sqlite_schema has several pages
			tables += fmt.Sprintf("create table t%d(a, b); insert into t%d values (1, 2);", i, i)
		}
		sql := fmt.Sprintf("pragma page_size=%d; vacuum; %s create table gone(a); insert into gone select randomblob(3000) "+
			"from generate_series(1, 100); drop table gone", page, tables)
		if out, err := exec.Command(tool, path, sql).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for i, n := range []int{1, 3000, 500} {
			writeAs(t, adding, path, storage.WriteOptions{Memory: 256 << 10}, topics, rows(n))
			if got := sound(t, path); got != len(want) {
				t.Fatalf("pages of %d, addition %d: %d messages, want %d", page, i, got, len(want))
			}
		}
		r := strictly(t, path)
		msgs, err := storagetest.ReadAll(r)
		check(t, err)
		for i := range msgs {
			if msgs[i].LogTime != want[i].LogTime || !bytes.Equal(msgs[i].Data, want[i].Data) {
				t.Fatalf("pages of %d: message %d differs", page, i)
			}
		}
		check(t, r.Close())
		// SQLite itself goes on with the database, and takes the free pages.
		if out, err := exec.Command(tool, path, "insert into other select value, hex(randomblob(500)) from "+
			"generate_series(1, 2000); delete from messages; pragma integrity_check").CombinedOutput(); err != nil ||
			string(out) != "ok\n" {
			t.Errorf("pages of %d: %v %s", page, err, out)
		}
	}
}

// TestAppendFileCost: what is written does not depend on the size of the database if times
// are later than those that it has. One database grows over the page that SQLite keeps for locks.
func TestAppendFileCost(t *testing.T) {
	targets := []int64{200 << 20}
	if !testing.Short() && os.Getenv("BAGCONV_EXHAUSTIVE") != "" {
		targets = []int64{sqlite.LockByte - 4<<20, 10 << 30}
	}
	for _, target := range targets {
		path := filepath.Join(t.TempDir(), "large.db3")
		fill := func(f *storage.Format, o storage.WriteOptions, from, size, step int64) {
			w, err := f.Create(context.Background(), path, o)
			check(t, err)
			defer w.Close()
			_, err = w.CreateTopic(sampleTopics()[0])
			check(t, err)
			data := make([]byte, step)
			for at := from; at < from+size; at += step {
				check(t, w.Write(&storage.Message{LogTime: at, Data: data}))
			}
			check(t, w.Commit())
		}
		fill(Format, storage.WriteOptions{NoSync: true, FS: iox.Sparse(iox.OS)}, 0, target, 1<<20)
		counter := &faultio.Counter{FS: iox.OS}
		fill(adding, storage.WriteOptions{NoSync: true, FS: counter}, target, 10<<20, 10<<10)
		if n := counter.Written.Load(); n > 13<<20 {
			t.Errorf("10 MiB behind %d MiB: %d bytes are written", target>>20, n)
		} else {
			t.Logf("10 MiB behind %d MiB: %d bytes are written", target>>20, n)
		}
		want := target>>20 + 1<<10
		r := strictly(t, path)
		if info := r.Info(); info.Messages != want {
			t.Errorf("%d messages, want %d", info.Messages, want)
		}
		check(t, r.Close())
		if n := sound(t, path); n != int(want) {
			t.Errorf("sqlite3 reads %d messages, want %d", n, want)
		}
	}
}

// TestAppendFileBetween: if times lie among those of the database, each page of the index that
// gets an entry is written once, and no more.
func TestAppendFileBetween(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db3")
	fill := func(f *storage.Format, o storage.WriteOptions, rows int64) {
		list := make([]storage.Message, rows)
		for i := range list {
			list[i] = storage.Message{LogTime: int64(i) * 1e9 / rows, Data: make([]byte, 100)}
		}
		check(t, storagetest.WriteAll(f, path, o, storagetest.Recording{Topics: sampleTopics()[:1], Messages: list}))
	}
	fill(Format, storage.WriteOptions{NoSync: true}, 50_000)
	counter := &faultio.Counter{FS: iox.OS}
	const added = 200 // on as many pages of the index
	fill(adding, storage.WriteOptions{NoSync: true, FS: counter}, added)
	most := int64(2 * (added + 40) * pageSize) // they are kept aside first
	if n := counter.Written.Load(); n > most || n < added*pageSize {
		t.Errorf("%d bytes are written, want %d to %d", n, added*pageSize, most)
	}
}
