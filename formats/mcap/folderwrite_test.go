package mcap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// TestFolderWritten: each part has all topics, and is of the whole; metadata.yaml and the
// channels have the same values.
func TestFolderWritten(t *testing.T) {
	all := testMessages(60)
	dir := writeFolder(t, storage.WriteOptions{SegmentSize: 1200, Metadata: map[string]string{storage.MetaDistro: "iron",
		"who": "me"}}, all)
	files, err := Folder.FilesOf(nil, dir)
	check(t, err)
	if len(files.Messages) < 3 || files.Guessed || len(files.Folders) != 1 {
		t.Errorf("%+v", files)
	}
	info, got, err := readFolder(t, dir, storage.ReadOptions{})
	check(t, err)
	if d := storagetest.Diff(got, all); d != "" {
		t.Error(d)
	}
	if info.Metadata["who"] != "me" || info.Metadata[storage.MetaDistro] != "iron" || len(info.Warnings) > 0 {
		t.Errorf("%v, %v", info.Metadata, info.Warnings)
	}
	n := int64(0)
	for _, path := range files.Messages {
		if name, parts := Format.Layout.RecordingOf(nil, path); name != dir || !slices.Equal(parts, files.Messages) {
			t.Errorf("%s: a part of %q", path, name)
		}
		r, err := openReader(t.Context(), path, storage.ReadOptions{})
		check(t, err)
		one := storagetest.InfoOf(r)
		if n += one.Messages; len(one.Topics) != len(testTopics) || codesOf(one) != storage.CodeOnePart ||
			one.Metadata["who"] != "me" {
			t.Errorf("%s: %d topics, %s, %v", path, len(one.Topics), codesOf(one), one.Metadata)
		}
		check(t, r.Close())
	}
	if n != int64(len(all)) {
		t.Errorf("%d messages in all parts", n)
	}
}

// TestFolderProfiles: QoS text and metadata record are those of the distribution.
func TestFolderProfiles(t *testing.T) {
	topic := storage.Topic{Name: "/a", Type: "p/msg/A", Encoding: "cdr",
		Metadata: map[string]string{storage.MetaTypeHash: "RIHS01_x", metaQoS: "nonsense"},
		QoS:      []storage.QoS{{History: storage.HistoryKeepLast, Depth: 3}}}
	for profile, want := range map[string]struct {
		history string
		key     string
		version string
	}{
		"universal": {"history: 1", keySerialized, "version: 5"}, "humble": {"history: 1", keyDistribution, "version: 5"},
		"iron": {"history: 1", keyDistribution, "version: 7"}, "rolling": {"history: keep_last", keySerialized, "version: 9"},
	} {
		path := filepath.Join(t.TempDir(), "run")
		check(t, storagetest.WriteAll(Folder, path, storage.WriteOptions{NoSync: true, Profile: profile},
			storagetest.Recording{Topics: []storage.Topic{topic}}))
		yaml, err := os.ReadFile(path + "/metadata.yaml")
		check(t, err)
		sr, err := openReader(t.Context(), path+"/run_0.mcap", storage.ReadOptions{})
		check(t, err)
		r := sr.(*reader)
		m, err := r.metadataAt(r.metadata[0])
		check(t, err)
		c := r.defs.list[0].channel
		text := ""
		for _, p := range c.metadata {
			if p.key == metaQoS {
				text = p.value
			}
		}
		if !strings.Contains(string(yaml), want.version) || !strings.Contains(string(yaml), want.history) ||
			!strings.Contains(text, want.history) ||
			m.name != recordROS2 || m.values[0].key != want.key || c.schema == 0 || r.header.profile != profileROS2 ||
			!strings.Contains(string(yaml), "RIHS01_x") {
			t.Errorf("%s: %s\n%+v %+v", profile, yaml, c, m)
		}
		if want.key == keyDistribution && m.values[0].value != profile {
			t.Errorf("%s: %s", profile, m.values[0].value)
		}
		x, err := r.Extras()
		check(t, err)
		if len(x.Metadata) > 0 {
			t.Error("the recorder's record is the user's")
		}
		check(t, r.Close())
	}
}

// TestPresets: what a preset sets, and what other options change of it.
func TestPresets(t *testing.T) {
	messages := testMessages(2000)
	size := map[string]int64{}
	for name, c := range map[string]struct {
		o      storage.WriteOptions
		codec  string
		blocks bool
	}{
		"none": {storage.WriteOptions{}, "zstd", true}, "fastwrite": {storage.WriteOptions{}, "none", false},
		"zstd_fast": {storage.WriteOptions{}, "zstd", true}, "zstd_small": {storage.WriteOptions{}, "zstd", true},
		"zstd_small, lz4": {storage.WriteOptions{Compression: "lz4", ChunkSize: 1000}, "lz4", true},
	} {
		preset, _, _ := strings.Cut(name, ",")
		c.o.Values = map[string]string{storage.NamePreset: preset}
		path := filepath.Join(t.TempDir(), "x.mcap")
		c.o.NoSync = true
		check(t, storagetest.WriteAll(Format, path, c.o, storagetest.Recording{Topics: testTopics, Messages: messages}))
		r, err := openReader(t.Context(), path, storage.ReadOptions{})
		check(t, err)
		info := storagetest.InfoOf(r)
		size[name] = info.Size
		if info.Compression[c.codec] == 0 || len(info.Compression) != 1 || (r.(*reader).blocks[0].run) == c.blocks {
			t.Errorf("%s: %v", name, info.Compression)
		}
		got, err := storagetest.ReadAll(r)
		check(t, err)
		if d := storagetest.Diff(got, messages); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		check(t, r.Close())
	}
	if size["zstd_small"] >= size["zstd_fast"] || size["zstd_fast"] >= size["fastwrite"] {
		t.Errorf("sizes %v", size)
	}
	for _, o := range []storage.WriteOptions{{Level: 3}, {ChunkSize: 1000}, {Compression: "lz4"}} {
		o.Values = map[string]string{storage.NamePreset: "fastwrite"}
		path := filepath.Join(t.TempDir(), "x")
		for _, f := range []*storage.Format{Format, Folder} {
			if _, err := f.Create(t.Context(), path, o); !errors.Is(err, storage.ErrUnsupported) {
				t.Errorf("%+v: %v", o, err)
			}
		}
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Error("something is left")
		}
	}
}

// TestFileName: the bytes of a file do not depend on what it is called, also if it says
// something of the recording.
func TestFileName(t *testing.T) {
	dir := t.TempDir()
	var first []byte
	for _, name := range []string{"a.mcap", "b.mcap"} {
		o := storage.WriteOptions{NoSync: true, Metadata: map[string]string{storage.MetaDistro: "iron", "who": "me"}}
		check(t, storagetest.WriteAll(Format, filepath.Join(dir, name), o, storagetest.Recording{Topics: testTopics[:1]}))
		b, err := os.ReadFile(filepath.Join(dir, name))
		check(t, err)
		if first == nil {
			first = b
		} else if string(b) != string(first) {
			t.Error("the bytes differ")
		}
		r, err := openReader(t.Context(), filepath.Join(dir, name), storage.ReadOptions{})
		check(t, err)
		info := storagetest.InfoOf(r)
		if info.Metadata["who"] != "me" || info.Metadata[storage.MetaDistro] != "iron" || len(info.Metadata) != 2 {
			t.Errorf("%v", info.Metadata)
		}
		check(t, r.Close())
	}
}

// TestMessageCompression: messages that are zstd frames are decompressed, also where
// nothing marks them; a broken one is left out and counted.
func TestMessageCompression(t *testing.T) {
	plain := testMessages(90)
	packed := slices.Clone(plain)
	for i := range packed {
		var err error
		packed[i].Data, err = compress.Zstd.Encode(nil, plain[i].Data, 0)
		check(t, err)
	}
	packed[51].Data = packed[51].Data[:len(packed[51].Data)-4]
	dir := writeFolder(t, storage.WriteOptions{ChunkSize: 700}, packed)
	say := func(mode, codec string) {
		editFile(t, dir+"/metadata.yaml", func(s string) string {
			return strings.Replace(strings.Replace(s, `compression_format: ""`, fmt.Sprintf("compression_format: %q", codec), 1),
				`compression_mode: ""`, fmt.Sprintf("compression_mode: %q", mode), 1)
		})
	}
	want := slices.Clone(plain)
	for i := range want {
		if i == 51 || want[i].Topic == 1 { // it only looks like a frame, or may be one in JSON
			want[i].Data = packed[i].Data
		}
	}
	info, got, err := readFolder(t, dir, storage.ReadOptions{})
	check(t, err)
	if d := storagetest.Diff(got, want); d != "" || codesOf(info) != "compression" {
		t.Errorf("%s, %s", d, codesOf(info))
	}
	say("MESSAGE", "zstd")
	info, got, err = readFolder(t, dir, storage.ReadOptions{})
	check(t, err)
	if d := storagetest.Diff(got, slices.Delete(slices.Clone(plain), 51, 52)); d != "" || codesOf(info) != "zstd!" ||
		info.Lost.Messages != 1 || info.Lost.Uncounted {
		t.Errorf("%s, %s, %+v", d, codesOf(info), info.Lost)
	}
	r, err := openFolder(t.Context(), dir, storage.ReadOptions{})
	check(t, err)
	n := 0
	for m, err := range r.(storage.Querier).Query(t.Context(), storage.Query{Topics: []storage.TopicID{0},
		Reverse: true}) {
		check(t, err)
		k := slices.IndexFunc(plain, func(p storage.Message) bool { return p.LogTime == m.LogTime })
		if n++; string(m.Data) != string(plain[k].Data) {
			t.Fatalf("message %d is %q", k, m.Data)
		}
	}
	if n == 0 {
		t.Error("the query gave nothing")
	}
	check(t, r.Close())
	if _, _, err := readFolder(t, writeOther(t, plain), storage.ReadOptions{}); !errors.Is(err, storage.ErrUnsupported) {
		t.Errorf("another codec: %v", err)
	}
}

// TestPackedFolder: what is in a part that is compressed as a whole is byte for byte what it
// is without chunks that are compressed, however it is written and cut.
func TestPackedFolder(t *testing.T) {
	list := testMessages(3000)
	for _, preset := range []string{"none", "fastwrite"} {
		for _, limit := range []int64{0, 20_000} {
			values := map[string]string{storage.NamePreset: preset}
			plain := writeFolder(t, storage.WriteOptions{Compression: "none", SegmentSize: limit, Values: values}, list)
			values = map[string]string{storage.NamePreset: preset, storage.NameCompressionMode: "file"}
			dir := writeFolder(t, storage.WriteOptions{SegmentSize: limit, Level: 1, Values: values}, list)
			parts, err := filepath.Glob(filepath.Join(plain, "*.mcap"))
			check(t, err)
			if limit > 0 && len(parts) < 2 {
				t.Fatalf("%d parts", len(parts))
			}
			for _, part := range parts {
				want, err := os.ReadFile(part)
				check(t, err)
				z, err := os.ReadFile(filepath.Join(dir, filepath.Base(part)+".zstd"))
				check(t, err)
				got, err := compress.Zstd.Decode(nil, z, 1<<30)
				if err != nil || string(got) != string(want) {
					t.Errorf("%s, %s: %v, %d bytes are not the %d of the plain file", preset, filepath.Base(part), err, len(got),
						len(want))
				}
			}
			info, got, err := readFolder(t, dir, storage.ReadOptions{Strict: true})
			if err != nil || len(got) != len(list) || len(info.Warnings) > 0 {
				t.Errorf("%d of %d messages, %v %v", len(got), len(list), err, info.Warnings)
			}
		}
	}
}
