package all

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// reindexed is one file of a recording of each format that has Reindex, by its path there.
type reindexed struct {
	format *storage.Format
	file   string
	whole  []byte
}

func toReindex(tb testing.TB) (list []reindexed) {
	for _, f := range Registry().Formats() {
		if f.Reindex == nil {
			continue
		}
		if f.Extensions != nil {
			file := "tiny" + f.Extensions[0]
			if b, err := os.ReadFile(filepath.Join("../../testdata", file)); err == nil {
				list = append(list, reindexed{f, file, b})
				continue
			}
		}
		rec := storagetest.Recording{Topics: []storage.Topic{{Name: "/a", Type: "std_msgs/msg/String", Encoding: "cdr"},
			{Name: "/b", Type: "std_msgs/msg/String", Encoding: "cdr"}}}
		for i := range int64(12) {
			data := append([]byte{0, 1, 0, 0, 9, 0, 0, 0}, fmt.Sprintf("text %03d\x00", i)...)
			rec.Messages = append(rec.Messages, storage.Message{Topic: storage.TopicID(i % 2), LogTime: 1e18 + i,
				PublishTime: 1e18 + i, Data: data})
		}
		path := filepath.Join(tb.TempDir(), "rec")
		if !f.Layout.Folder {
			path += f.Extensions[0]
		}
		if err := storagetest.WriteAll(f, path, storage.WriteOptions{NoSync: true}, rec); err != nil {
			tb.Fatal(f.Name, err)
		}
		files := []string{path}
		if f.Layout.Folder {
			files, _ = filepath.Glob(filepath.Join(path, "rec*"))
		}
		b, err := os.ReadFile(files[0])
		if err != nil {
			tb.Fatal(err)
		}
		name, _ := filepath.Rel(filepath.Dir(path), files[0])
		list = append(list, reindexed{f, name, b})
	}
	return list
}

// content is what can be read of a recording: how often each message comes.
func content(f *storage.Format, path string, t *testing.T) map[string]int {
	r, err := f.Open(t.Context(), path, storage.ReadOptions{})
	if err != nil {
		return nil
	}
	defer r.Close()
	info := r.Info()
	messages, _ := storagetest.ReadAll(r)
	out := map[string]int{}
	for _, m := range messages {
		out[fmt.Sprintf("%q %d %x", info.Topics[m.Topic].Name, m.LogTime, m.Data)]++
	}
	return out
}

// FuzzReindex: of a file with whatever damage, Reindex leaves all that could be read before, and a
// file that it refuses as it was.
func FuzzReindex(f *testing.F) {
	list := toReindex(f)
	for i, x := range list {
		n := len(x.whole)
		for _, size := range []int{n, n - 1, n - 20, n * 3 / 4, n / 2} {
			f.Add(uint8(i), x.whole[:size])
		}
	}
	f.Fuzz(func(t *testing.T, format uint8, b []byte) {
		x := list[int(format)%len(list)]
		dir := t.TempDir()
		file := filepath.Join(dir, x.file)
		path := file
		if x.format.Layout.Folder {
			path = filepath.Dir(file)
			if err := os.Mkdir(path, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(file, b, 0o666); err != nil {
			t.Fatal(err)
		}
		before := content(x.format, path, t)
		_, err := x.format.Reindex(t.Context(), path, storage.ReindexOptions{NoSync: true})
		if now, _ := os.ReadFile(file); err != nil && !bytes.Equal(now, b) {
			t.Fatalf("%s was refused (%v), and has changed", x.format.Name, err)
		}
		after := content(x.format, path, t)
		for m, n := range before {
			if after[m] < n {
				t.Fatalf("%s: %s could be read %d times, and now %d (%v)", x.format.Name, m, n, after[m], err)
			}
		}
	})
}
