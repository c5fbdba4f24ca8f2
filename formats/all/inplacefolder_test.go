package all

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// folderKinds are how the folders of these tests are written.
var folderKinds = []struct {
	format string
	o      storage.WriteOptions
}{
	{"db3", storage.WriteOptions{SegmentDuration: 19}},
	{"db3", storage.WriteOptions{SegmentDuration: 19, Compression: "zstd",
		Values: map[string]string{storage.NameCompressionMode: "message"}}},
	{"db3", storage.WriteOptions{SegmentDuration: 19, Compression: "zstd",
		Values: map[string]string{storage.NameCompressionMode: "file"}}},
	{"ros2mcap", storage.WriteOptions{SegmentDuration: 19, Compression: "none"}},
	{"ros2mcap", storage.WriteOptions{SegmentDuration: 19, Compression: "zstd", ChunkSize: 200}},
	{"ros2mcap", storage.WriteOptions{SegmentDuration: 19,
		Values: map[string]string{storage.NameCompressionMode: "file"}}},
}

// textTopic returns a topic of texts, with the sum of its type, which rosbags wants.
func textTopic(name string) storage.Topic {
	return storage.Topic{
		Name: name, Type: "std_msgs/msg/String", Encoding: "cdr", Schema: storage.Schema{Encoding: "ros2msg",
			Data: []byte("string data\n")},
		Metadata: map[string]string{
			storage.MetaTypeHash: "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"},
	}
}

// foldersInPlace returns the files of a folder of each kind, of three parts with 60 messages.
func foldersInPlace(t *testing.T) (list []map[string][]byte) {
	rec := storagetest.Recording{}
	for i := range 3 {
		rec.Topics = append(rec.Topics, textTopic(fmt.Sprintf("/topic_%d", i)))
	}
	for i := range int64(60) {
		data := append([]byte{0, 1, 0, 0, 9, 0, 0, 0}, fmt.Sprintf("text %03d\x00", i)...)
		rec.Messages = append(rec.Messages, storage.Message{Topic: storage.TopicID(i % 3), LogTime: 1e18 + i,
			PublishTime: 1e18 + i, Data: data})
	}
	for _, kind := range folderKinds {
		path := filepath.Join(t.TempDir(), "rec")
		o := kind.o
		o.NoSync = true
		f := Registry().Lookup(kind.format)
		if err := storagetest.WriteAll(f, path, o, rec); err != nil {
			t.Fatal(kind, err)
		}
		files := filesIn(t, path)
		if len(files) != 4 {
			t.Fatalf("%s has %d files", kind.format, len(files))
		}
		list = append(list, files)
	}
	return list
}

// TestInPlaceFolders: of a folder whose metadata.yaml and parts are damaged, missing or called otherwise, reindex
// and append lose no message that can be read, and what they refuse stays as it was; a metadata.yaml that is
// damaged alone is nearly always mended.
func TestInPlaceFolders(t *testing.T) {
	rounds := howMany(t, "BAGCONV_INPLACE_ROUNDS", 120) / 4
	list, j := foldersInPlace(t), newJudge(t)
	more := storagetest.Recording{
		Topics: []storage.Topic{textTopic("/topic_1"), textTopic("/new")},
		Messages: []storage.Message{
			{LogTime: 2e18, PublishTime: 2e18, Data: []byte("\x00\x01\x00\x00\x02\x00\x00\x00x\x00")},
			{Topic: 1, LogTime: 3e18, PublishTime: 3e18, Data: []byte("\x00\x01\x00\x00\x02\x00\x00\x00y\x00")},
		},
	}
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 4))
			listed, mended := 0, 0
			for n := range rounds {
				kind := rng.IntN(len(list))
				files := maps.Clone(list[kind])
				how := damageListing(rng, files)
				alone := rng.IntN(2) == 0
				if !alone {
					how += damageParts(rng, files)
				}
				f := Registry().Lookup(folderKinds[kind].format)
				x := &changed{kind: f.Name, format: f, name: "rec", more: more}
				skip := ""
				if rng.IntN(2) == 0 {
					skip = "reindex"
				}
				refused, err := x.change(t, j, files, skip)
				if err != nil {
					t.Errorf("round %d, %s %d,%s: %v", n, f.Name, kind, how, err)
				}
				if alone {
					if listed++; refused == nil {
						mended++
					} else {
						t.Logf("round %d, %s %d,%s: %v", n, f.Name, kind, how, refused)
					}
				}
			}
			if mended < listed*8/10 {
				t.Errorf("of %d folders with a damaged metadata.yaml only %d were mended", listed, mended)
			}
		})
	}
}

// damageListing damages metadata.yaml, as programs, disks and people do.
func damageListing(rng *rand.Rand, files map[string][]byte) (how string) {
	const name = "metadata.yaml"
	for range 1 + rng.IntN(3) {
		b := bytes.Clone(files[name])
		lines := strings.SplitAfter(string(b), "\n")
		at := rng.IntN(max(len(lines), 1))
		kind := rng.IntN(9)
		how += fmt.Sprintf(" %s:%c%d", name, "xdlrnsmct"[kind], at)
		switch kind {
		case 0, 1:
			b, _ = damaged(rng, b)
		case 2: // a line is gone
			b = []byte(strings.Join(slices.Delete(lines, at, min(at+1, len(lines))), ""))
		case 3: // a line is there twice
			b = []byte(strings.Join(slices.Insert(lines, at, lines[at]), ""))
		case 4: // a number is another one
			line := []rune(lines[at])
			for i, c := range line {
				if c >= '0' && c <= '9' {
					line[i] = rune('0' + rng.IntN(10))
				}
			}
			lines[at] = string(line)
			b = []byte(strings.Join(lines, ""))
		case 5: // a word is that of another one
			pairs := [][2]string{{"sqlite3", "mcap"}, {"mcap", "sqlite3"}, {"rec_1", "rec_2"}, {"rec_0", "gone_0"},
				{"std_msgs", "other_msgs"}, {"/topic_1", "/topic_2"}, {"cdr", "xml"},
				{"MESSAGE", "FILE"}, {"FILE", "MESSAGE"}, {"zstd", ""}, {`compression_mode: ""`, "compression_mode: MESSAGE"},
				{`compression_format: ""`, "compression_format: zstd"}}
			p := pairs[rng.IntN(len(pairs))]
			b = bytes.ReplaceAll(b, []byte(p[0]), []byte(p[1]))
		case 6:
			delete(files, name)
			return how
		case 7:
			b = b[:rng.IntN(len(b)+1)]
		case 8: // the next level
			lines[at] = strings.TrimPrefix(lines[at], " ")
			b = []byte(strings.Join(lines, ""))
		}
		files[name] = b
	}
	return how
}

// damageParts damages one or two parts, or takes or moves them away.
func damageParts(rng *rand.Rand, files map[string][]byte) (how string) {
	for range 1 + rng.IntN(2) {
		names := slices.Sorted(maps.Keys(files))
		name := names[rng.IntN(len(names))]
		if name == "metadata.yaml" {
			continue
		}
		b, kind := files[name], rng.IntN(6)
		how += fmt.Sprintf(" %s:%d", name, kind)
		switch kind {
		case 0:
			delete(files, name)
		case 1:
			delete(files, name)
			files[strings.Replace(name, "rec_", "rec_"+strconv.Itoa(1+rng.IntN(3)), 1)] = b
		case 2:
			files[name] = b[:rng.IntN(len(b)+1)]
		default:
			var what string
			files[name], what = damaged(rng, bytes.Clone(b))
			how += what
		}
	}
	return how
}
