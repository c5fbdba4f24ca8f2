package mcap

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// pypi prints what PyPI's mcap reads of files, as a stream and by the index, comparing
// all checksums: a line for each file.
const pypi = `
import hashlib, io, json, sys
from mcap.reader import NonSeekingReader, SeekingReader
for path in sys.argv[1:]:
    b = open(path, 'rb').read()
    out = []
    for r in (NonSeekingReader(io.BytesIO(b), validate_crcs=True), SeekingReader(io.BytesIO(b), validate_crcs=True)):
        out.append([[c.topic, s.name if s else '', m.log_time, m.publish_time, m.sequence, hashlib.sha256(m.data).hexdigest()]
                    for s, c, m in r.iter_messages()])
    r = SeekingReader(io.BytesIO(b), validate_crcs=True)
    s = r.get_summary()
    out.append([[a.name, a.media_type, a.data.decode()] for a in r.iter_attachments()])
    out.append([[m.name, m.metadata] for m in r.iter_metadata()])
    out.append([s.statistics.message_count, s.statistics.chunk_count, len(s.channels), len(s.schemas)])
    print(json.dumps(out))
`

// TestPyPI: PyPI's mcap reads what is written, what is copied, and what is added to.
func TestPyPI(t *testing.T) {
	python := os.Getenv("BAGCONV_MCAP_PYTHON")
	if python == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI must have PyPI's mcap: BAGCONV_MCAP_PYTHON")
		}
		t.Skip("BAGCONV_MCAP_PYTHON names no python with mcap, lz4 and zstandard")
	}
	dir := t.TempDir()
	messages := testMessages(300)
	var paths []string
	for _, codec := range Format.Options.Choices(storage.NameCompression) {
		for _, size := range []int64{1, 2000, 0} {
			path := filepath.Join(dir, fmt.Sprintf("%s-%d.mcap", codec, size))
			write(t, path, storage.WriteOptions{Compression: codec, ChunkSize: size}, fullLayout, messages)
			paths = append(paths, path)
		}
	}
	added := filepath.Join(dir, "added.mcap")
	write(t, added, storage.WriteOptions{ChunkSize: 2000}, fullLayout, messages[:150])
	if err := storagetest.WriteAll(storagetest.Adding(Format), added, storage.WriteOptions{ChunkSize: 1000},
		storagetest.Recording{Topics: testTopics, Messages: messages[150:]}); err != nil {
		t.Fatal(err)
	}
	paths = append(paths, added)
	args := append([]string{"-c", pypi}, paths...)
	cmd := exec.Command(python, args...)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := json.NewDecoder(stdout)
	lines.UseNumber()
	for _, path := range paths {
		var got [5][]any
		if err := lines.Decode(&got); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for k := range 2 {
			if len(got[k]) != len(messages) {
				t.Fatalf("%s: %d messages, want %d", path, len(got[k]), len(messages))
			}
			for i, m := range messages {
				topic := &testTopics[m.Topic]
				want := fmt.Sprint([]any{topic.Name, topic.Type, m.LogTime, m.PublishTime, m.Sequence,
					fmt.Sprintf("%x", sha256.Sum256(m.Data))})
				if fmt.Sprint(got[k][i]) != want {
					t.Fatalf("%s: message %d is %v, want %s", path, i, got[k][i], want)
				}
			}
		}
		if fmt.Sprint(got[2]) != "[[calib.yaml text/yaml camera: 1\n]]" || fmt.Sprint(got[3]) != "[[robot map[name:r2]]]" {
			t.Errorf("%s: attachments %v, metadata %v", path, got[2], got[3])
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkReadBlock reads the blocks of a file of small messages.
func BenchmarkReadBlock(b *testing.B) {
	for _, codec := range Format.Options.Choices(storage.NameCompression) {
		b.Run(codec, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "x.mcap")
			write(b, path, storage.WriteOptions{Compression: codec}, fullLayout, testMessages(100_000))
			r, err := openReader(context.Background(), path, storage.ReadOptions{})
			if err != nil {
				b.Fatal(err)
			}
			defer r.Close()
			blocks, _, _ := r.(*reader).Blocks(context.Background(), nil)
			var batch storage.Batch
			size := int64(0)
			for _, bl := range blocks {
				size += bl.RawSize
			}
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				for i := range blocks {
					if err := r.(*reader).ReadBlock(context.Background(), i, &batch); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkWrite writes small messages.
func BenchmarkWrite(b *testing.B) {
	messages := testMessages(100_000)
	size := int64(0)
	for i := range messages {
		size += int64(len(messages[i].Data))
	}
	for _, codec := range Format.Options.Choices(storage.NameCompression) {
		b.Run(codec, func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				path := filepath.Join(b.TempDir(), fmt.Sprintf("%d.mcap", i))
				o := storage.WriteOptions{Compression: codec, NoSync: true}
				if err := storagetest.WriteAll(Format, path, o, storagetest.Recording{Topics: testTopics,
					Messages: messages}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
