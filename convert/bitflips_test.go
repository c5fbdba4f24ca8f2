package convert_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A flippedFS shows one file with one bit of it changed.
type flippedFS struct {
	storage.FS
	path string
	at   int64
	bit  byte
}

func (f *flippedFS) Open(name string) (storage.File, error) { return f.flip(f.FS.Open(name)) }

func (f *flippedFS) OpenFile(name string, flag int, perm os.FileMode) (storage.File, error) {
	return f.flip(f.FS.OpenFile(name, flag, perm))
}

func (f *flippedFS) flip(file storage.File, err error) (storage.File, error) {
	if err != nil || filepath.Clean(file.Name()) != f.path {
		return file, err
	}
	return &flippedFile{file, f}, nil
}

type flippedFile struct {
	storage.File
	fs *flippedFS
}

func (f *flippedFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	if i := f.fs.at - off; i >= 0 && i < int64(n) {
		p[i] ^= f.fs.bit
	}
	return n, err
}

func (f *flippedFile) Read(p []byte) (int, error) {
	off, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	n, err := f.File.Read(p)
	if i := f.fs.at - off; i >= 0 && i < int64(n) {
		p[i] ^= f.fs.bit
	}
	return n, err
}

// messagesOf counts the messages of a recording by all that they are, without its index if that contradicts them.
func messagesOf(path string, fs storage.FS) (map[[32]byte]int, error) {
	out, err := messagesBy(path, storage.ReadOptions{FS: fs, Index: storage.IndexTested})
	if errors.Is(err, storage.ErrIndex) {
		out, err = messagesBy(path, storage.ReadOptions{FS: fs, Index: storage.IndexIgnored})
	}
	return out, err
}

func messagesBy(path string, o storage.ReadOptions) (map[[32]byte]int, error) {
	r, err := all.Registry().Open(context.Background(), path, o)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	info := r.Info()
	out := map[[32]byte]int{}
	for {
		m, err := r.ReadNext()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		t := &info.Topics[m.Topic]
		typ := strings.Replace(t.Type, "/msg/", "/", 1) // recordings of Crystal get the names of today
		b := fmt.Appendf(nil, "%q %q %q %d ", t.Name, typ, t.Encoding, m.LogTime)
		out[sha256.Sum256(append(b, m.Data...))]++
	}
}

// missing returns how many messages of one recording are not in another.
func missing(of, in map[[32]byte]int) (n int) {
	for k, count := range of {
		n += max(0, count-in[k])
	}
	return n
}

// hints are the bytes of a recording that tell what its messages tell, too: the summary, the index,
// and what ends the file.
func hints(t *testing.T, path string) map[string][]iox.Span {
	t.Helper()
	r, err := all.Registry().Open(t.Context(), path, storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	out := map[string][]iox.Span{}
	summary := false
	for s, err := range storage.ReaderCapabilities(r).Sections.Sections(t.Context(), storage.SectionRecords) {
		if err != nil {
			t.Fatal(err)
		}
		summary = summary || s.Kind == "DataEnd"
		switch s.Kind {
		case "MessageIndex", "INDEX_DATA", "CHUNK_INFO", "FILE_HEADER", "CONNECTION", "INDEX", "HEADER":
		default:
			object := ""
			for _, f := range s.Fields {
				if f.Key == "object" {
					object = f.Value
				}
			}
			if !summary && !strings.Contains(object, "index") && !strings.Contains(object, "idx") {
				continue
			}
		}
		file := filepath.Clean(s.File)
		if strings.HasSuffix(file, ".zstd") {
			continue // the place is one in what the file decompresses to
		}
		out[file] = append(out[file], iox.Span{Off: int64(s.Offset), Len: min(s.Size, 4<<10)})
	}
	if meta := filepath.Join(path, "metadata.yaml"); fileSize(meta) > 0 {
		out[meta] = append(out[meta], iox.Span{Len: fileSize(meta)})
	}
	return out
}

func fileSize(path string) int64 {
	st, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return st.Size()
}

// flipRecordings returns small recordings of a format by name: with each compression, with and
// without checksums, of one block and of several, and some that others have made.
func flipRecordings(t *testing.T, format string) (paths []string) {
	t.Helper()
	formats := all.Registry()
	compressions := map[string][]string{
		"mcap": {"none", "lz4", "zstd"}, "bag": {"none", "lz4", "bz2"}, "record": {"none"}, "db3": {"none", "zstd"},
		"ros2mcap": {"none", "zstd"},
	}
	for i, topics := range [][]string{{"/tf"}, {"/odom", "/gps/fix", "/tf_static"}, {"/imu/data", "/acme/status"}} {
		for _, compression := range compressions[format] {
			for k := range 2 {
				job := jobOf(t, filepath.Join("..", "testdata", "demo.bag"), func(j *convert.Job) {
					j.Sink = filepath.Join(t.TempDir(), fmt.Sprintf("%s-%d-%d", compression, i, k))
					if format != "db3" && format != "ros2mcap" { // which are folders
						j.Sink += "." + format
					}
					j.SinkFormat, j.Write.Compression, j.Write.ChunkSize = formats.Lookup(format), compression, int64(1+3*k)<<10
					j.Select.Duration = int64(1+k) * 2e8
					for _, topic := range topics {
						pattern, err := selection.ParsePattern(topic)
						if err != nil {
							t.Fatal(err)
						}
						j.Select.Topics = append(j.Select.Topics, pattern)
					}
					if format == "db3" || format == "record" {
						j.Write.ChunkSize = 0
					}
				})
				if _, err := convert.Run(t.Context(), job); err != nil {
					t.Fatal(err)
				}
				paths = append(paths, job.Sink)
				if format == "mcap" {
					paths = append(paths, withoutChecksums(t, job.Sink))
				}
			}
		}
	}
	for _, path := range recordings(t) {
		if f, err := formats.Detect(path); err == nil && f == formats.Lookup(format) && fileSize(path) < 8<<10 &&
			!strings.Contains(path, "only-in-trailer") {
			if info, err := infoOf(t, path); err == nil && len(info.Warnings) == 0 && info.Messages > 0 && len(paths) < 24 {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

func infoOf(t *testing.T, path string) (*storage.Info, error) {
	r, err := all.Registry().Open(t.Context(), path, storage.ReadOptions{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.Info(), nil
}

// withoutChecksums writes a copy of an MCAP file whose checksums are 0: not known.
func withoutChecksums(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := all.Registry().Open(t.Context(), path, storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	sum := map[string]storage.Known{"Chunk": 9 + 24, "DataEnd": 9, "Footer": 9 + 16} // where each has it
	for s, err := range storage.ReaderCapabilities(r).Sections.Sections(t.Context(), storage.SectionRecords) {
		if err != nil {
			t.Fatal(err)
		}
		if at, ok := sum[s.Kind]; ok {
			clear(b[s.Offset+at:][:4])
		}
	}
	path = strings.TrimSuffix(path, ".mcap") + "-nosum.mcap"
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFlippedHints: whichever bit of a summary, an index or an end is wrong, no message is lost that
// is whole. Each recording is read with a sample of the bits flipped, one at a time, and some are
// converted, too; BAGCONV_EXHAUSTIVE=1 takes all bits.
func TestFlippedHints(t *testing.T) {
	for _, format := range []string{"mcap", "bag", "record", "db3", "ros2mcap"} {
		t.Run(format, func(t *testing.T) {
			for _, path := range flipRecordings(t, format) {
				t.Run(filepath.Base(path), func(t *testing.T) { t.Parallel(); flipHints(t, path) })
			}
		})
	}
}

// TestFlippedName: a bag whose index names a topic otherwise than its chunks is read as the chunks have it, whichever
// bit of the name in the index is wrong; reading says so.
func TestFlippedName(t *testing.T) {
	path := filepath.Join("..", "testdata", "recordings", "ros1", "generated", "orphan-connection.bag")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := messagesOf(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	head := []byte("topic=/chatter")
	at := bytes.Index(data, []byte("index_pos=")) + len("index_pos=")
	index := int(binary.LittleEndian.Uint64(data[at:]))
	for name := index; ; {
		n := bytes.Index(data[name:], head)
		if n < 0 {
			break
		}
		name += n + len(head)
		for bit := range 8 * len("/chatter") {
			fs := &flippedFS{iox.OS, path, int64(name - 1 - bit/8), 1 << (bit % 8)}
			flipHint(t, path, fs, want, true)
			info, err := infoBy(path, fs)
			if err != nil || len(info.Warnings) == 0 {
				t.Errorf("byte %d: %v, no warning", fs.at, err)
			}
		}
	}
}

// infoBy describes a recording, of which all was read, without its index.
func infoBy(path string, fs storage.FS) (*storage.Info, error) {
	r, err := all.Registry().Open(context.Background(), path, storage.ReadOptions{FS: fs, Index: storage.IndexIgnored})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.Info(), nil
}

func flipHints(t *testing.T, path string) {
	want, err := messagesOf(path, nil)
	if err != nil || len(want) == 0 {
		t.Fatalf("%d messages, %v", len(want), err)
	}
	step := int64(997)
	if testing.Short() {
		step = 7919
	}
	if os.Getenv("BAGCONV_EXHAUSTIVE") != "" {
		step = 1
	}
	random := rand.New(rand.NewPCG(1, uint64(len(want))))
	bits := int64(0)
	for file, spans := range hints(t, path) {
		for _, span := range spans {
			for bit := random.Int64N(step); bit < 8*span.Len; bit += step {
				at := span.Off + bit/8
				flipHint(t, path, &flippedFS{iox.OS, file, at, 1 << (bit % 8)}, want, bits%211 == 0)
				if bits++; t.Failed() && step > 1 {
					return
				}
			}
		}
	}
	t.Logf("%d bits", bits)
}

// flipHint reads, and converts, a recording of which one bit is wrong.
func flipHint(t *testing.T, path string, fs *flippedFS, want map[[32]byte]int, converts bool) {
	where := fmt.Sprintf("%s, byte %d, bit %#02x", filepath.Base(fs.path), fs.at, fs.bit)
	got, err := messagesOf(path, fs)
	if err != nil {
		t.Errorf("%s: %v", where, err)
		return
	}
	if n := missing(want, got); n > 0 {
		t.Errorf("%s: %d messages are missing", where, n)
		return
	}
	if !converts {
		return
	}
	job := jobOf(t, path, func(j *convert.Job) {
		j.Read.FS, j.Encoding, j.Write.Overwrite = fs, convert.EncodingKeep,
			true
	})
	if _, err := convert.Run(context.Background(), job); err != nil {
		t.Errorf("%s: convert: %v", where, err)
		return
	}
	if got, err = messagesOf(job.Sink, nil); err != nil || missing(want, got) > 0 {
		t.Errorf("%s: convert: %d messages are missing, %v", where, missing(want, got), err)
	}
}
