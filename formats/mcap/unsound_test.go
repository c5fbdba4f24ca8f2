package mcap

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/internal/warnings"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// at returns where the records with an opcode are that stand in the open.
func recordsOf(t *testing.T, b []byte, op byte) (at []int) {
	t.Helper()
	for p := len(magic); p+recordHead <= len(b) && string(b[p:]) != magic; {
		h, err := parseHead(b[p:])
		if err != nil {
			t.Fatal(err)
		}
		if h.op == op {
			at = append(at, p)
		}
		p += recordHead + int(h.length)
	}
	return at
}

// clearSums sets the checksums of a file to 0: not known.
func clearSums(t *testing.T, b []byte) {
	for op, field := range map[byte]int{opChunk: 24, opDataEnd: 0, opFooter: 16} {
		for _, p := range recordsOf(t, b, op) {
			clear(b[p+recordHead+field:][:4])
		}
	}
}

func codes(i *storage.Info) (out []string) {
	for _, w := range i.Warnings {
		out = append(out, w.Code)
	}
	slices.Sort(out)
	return out
}

// TestChunkTimes: messages outside of the times of their chunk are damage, if no checksum shows that
// they are right, with a summary and without. Times of 0 are those of a writer that leaves them so.
func TestChunkTimes(t *testing.T) {
	for _, s := range smalls[:3] {
		for name, x := range map[string]struct {
			summed, zero, footer bool
			want                 bool
		}{
			"no checksum":             {want: true, footer: true},
			"no checksum, no summary": {want: true},
			"checksum":                {summed: true, footer: true},
			"times of 0":              {zero: true, footer: true},
		} {
			b, messages := s.file(t)
			if !x.summed {
				clearSums(t, b)
			}
			p := recordsOf(t, b, opChunk)[1] + recordHead
			start, end := binary.LittleEndian.Uint64(b[p:]), binary.LittleEndian.Uint64(b[p+8:])
			if start, end = start+1, end-1; x.zero {
				start, end = 0, 0
			}
			for _, p := range []int{p, recordsOf(t, b, opChunkIndex)[1] + recordHead} {
				binary.LittleEndian.PutUint64(b[p:], start)
				binary.LittleEndian.PutUint64(b[p+8:], end)
			}
			if x.summed {
				seal(t, b)
			}
			if !x.footer {
				b = b[:len(b)-20]
			}
			got, _, r, err := openBytes(t, b, storage.ReadOptions{})
			if err != nil || len(got) != len(messages) {
				t.Fatalf("%s, %s: %d messages, %v", s.name, name, len(got), err)
			}
			d := r.Damage()
			if has := slices.ContainsFunc(d.Warnings, func(w storage.Warning) bool {
				return w.Code == "chunk-times" &&
					w.Damage
			}); has != x.want {
				t.Errorf("%s, %s: %+v", s.name, name, d)
			}
		}
	}
}

// TestAfterDataEnd: a message behind the end of the data is read, and reported.
func TestAfterDataEnd(t *testing.T) {
	b, messages := smalls[0].file(t)
	clearSums(t, b)
	p := recordsOf(t, b, opDataEnd)[0] + recordHead + 4
	m := message{channel: 1, log: uint64(messages[3].LogTime), publish: 5, data: []byte("late")}
	late := append(m.appendHead(nil), m.data...)
	b = slices.Concat(b[:p], late, b[p:])
	got, i, _, err := openBytes(t, b, storage.ReadOptions{})
	if err != nil || len(got) != len(messages)+1 || string(got[len(got)-1].Data) != "late" || !damaged(i) {
		t.Errorf("%d messages, %v: %v", len(got), err, codes(i))
	}
	if _, _, _, err := openBytes(t, b, storage.ReadOptions{Strict: true}); err == nil {
		t.Error("strict")
	}
}

// seal sets the checksum of the summary.
func seal(t *testing.T, b []byte) {
	p := recordsOf(t, b, opFooter)[0] + recordHead
	start := binary.LittleEndian.Uint64(b[p:])
	binary.LittleEndian.PutUint32(b[p+16:], crc32.ChecksumIEEE(b[start:p+16]))
}

// TestUnsoundSummary: where the summary and the data have other definitions, the side with a
// checksum counts, and the data if neither has one. No message is lost.
func TestUnsoundSummary(t *testing.T) {
	for _, s := range smalls[:3] {
		for name, x := range map[string]struct{ summary, chunks bool }{
			"no checksums": {}, "of chunks": {chunks: true}, "of the summary": {summary: true}, "of both": {true, true},
		} {
			b, messages := s.file(t)
			sums := bytes.Clone(b)
			clearSums(t, b)
			channels := recordsOf(t, b, opChannel) // of the summary
			at := bytes.Index(b[channels[0]:], []byte(testTopics[0].Name)) + channels[0]
			b[at+1] ^= 1
			if x.chunks {
				for _, p := range recordsOf(t, b, opChunk) {
					copy(b[p+recordHead+24:][:4], sums[p+recordHead+24:])
				}
			}
			if x.summary {
				seal(t, b)
			}
			var o storage.ReadOptions
			if tested := x.summary && x.chunks; tested { // a run that tests the summary reads the file without it
				path := filepath.Join(t.TempDir(), "x.mcap")
				if err := os.WriteFile(path, b, 0o644); err != nil {
					t.Fatal(err)
				}
				r, err := openReader(t.Context(), path, storage.ReadOptions{Index: storage.IndexTested})
				if err == nil {
					_, err = storagetest.ReadAll(r)
					err = errors.Join(err, r.Close())
				}
				if !errors.Is(err, storage.ErrIndex) {
					t.Errorf("%s, %s: tested: %v", s.name, name, err)
				}
				o.Index = storage.IndexIgnored
			}
			got, i, _, err := openBytes(t, b, o)
			if err != nil || len(got) != len(messages) {
				t.Errorf("%s, %s: %d of %d messages, %v: %+v", s.name, name, len(got), len(messages), err, i.Warnings)
				continue
			}
			names := map[string]int{}
			for _, m := range got {
				names[i.Topics[m.Topic].Name]++
			}
			if (names[testTopics[0].Name] > 0) == (x.summary && !x.chunks) {
				t.Errorf("%s, %s: %v", s.name, name, names)
			}
		}
	}
}

// TestFlippedChunkIndex: whichever bit of the index of chunks is wrong, the chunk is where its own record has it, also
// without a checksum that would show it.
func TestFlippedChunkIndex(t *testing.T) {
	for _, s := range smalls[:3] {
		whole, messages := s.file(t)
		clearSums(t, whole)
		for _, p := range recordsOf(t, whole, opChunkIndex) {
			h, err := parseHead(whole[p:])
			if err != nil {
				t.Fatal(err)
			}
			for bit := range 8 * int(h.length) {
				b := bytes.Clone(whole)
				b[p+recordHead+bit/8] ^= 1 << (bit % 8)
				got, i, _, err := openBytes(t, b, storage.ReadOptions{})
				if err != nil || len(got) != len(messages) {
					t.Errorf("%s, index at %d, bit %d: %d of %d messages, %v: %v", s.name, p, bit, len(got), len(messages), err,
						codes(i))
				}
			}
		}
	}
}

// TestMetadataBytes: a metadata record with text that is not UTF-8 is copied as it is, and the
// distribution of a file without a profile stays where others look for it.
func TestMetadataBytes(t *testing.T) {
	for _, encodings := range [][]string{{"cdr", "json"}, {"json"}} {
		testMetadataBytes(t, encodings)
	}
}

func testMetadataBytes(t *testing.T, encodings []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.mcap")
	sw, err := createWriter(t.Context(), path, storage.WriteOptions{NoSync: true,
		Metadata: map[string]string{storage.MetaDistro: "humble", "site": "b"}})
	if err != nil {
		t.Fatal(err)
	}
	defer sw.Close()
	want := map[string]string{"k\xff": "v\xfe"}
	for _, encoding := range encodings {
		if _, err := sw.CreateTopic(storage.Topic{Name: "/" + encoding, Encoding: encoding}); err != nil {
			t.Fatal(err)
		}
	}
	err = sw.(storage.ExtraWriter).WriteMetadata(&storage.MetadataRecord{Name: "types", Values: func() (map[string]string,
		error) {
		return want, nil
	}})
	if err == nil {
		err = sw.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, p := range recordsOf(t, b, opMetadata) {
		h, _ := parseHead(b[p:])
		var m metadata
		if err := m.parse(b[p+recordHead:][:h.length]); err != nil || len(m.values) != 1 {
			t.Fatal(m, err)
		}
		names[m.name] = m.values[0].key + "=" + m.values[0].value
	}
	if names["types"] != "k\xff=v\xfe" || names[recordROS2] != "ROS_DISTRO=humble" || names[recordOwn] != "site=b" {
		t.Errorf("%q: %q", encodings, names)
	}
	_, i, _, err := openBytes(t, b, storage.ReadOptions{})
	if err != nil || i.Metadata[storage.MetaDistro] != "humble" || i.Metadata["site"] != "b" {
		t.Errorf("%q: %v, %v", encodings, i.Metadata, err)
	}
}

// TestCutIndex: a file that ends within the Message Index of a chunk may have had more chunks.
func TestCutIndex(t *testing.T) {
	b, _ := smalls[0].file(t)
	at := recordsOf(t, b, opMessageIndex)[1]
	_, i, _, err := openBytes(t, b[:at+recordHead+8], storage.ReadOptions{})
	if err != nil || !i.Lost.Uncounted || !damaged(i) {
		t.Errorf("within: %v, %+v, %v", i.Lost, codes(i), err)
	}
	_, i, _, err = openBytes(t, b[:at], storage.ReadOptions{})
	if err != nil || i.Lost != (storage.Lost{}) || damaged(i) || !strings.HasSuffix(i.Warnings[0].Message,
		warnings.Unclosed) {
		t.Errorf("before: %v, %+v, %v", i.Lost, i.Warnings, err)
	}
}

// TestPackedAlone: one part of a rosbag2 folder with compression by message is known by its first
// message, and read decompressed; messages of other encodings are what they are.
func TestPackedAlone(t *testing.T) {
	plain := append([]byte{0, 1, 0, 0}, bytes.Repeat([]byte("cdr "), 50)...)
	frame, err := compress.Zstd.Encode(nil, plain, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		encoding, codec string
		data, want      []byte
	}{{"cdr", "none", frame, plain}, {"cdr", "none", plain, plain}, {"json", "none", frame, frame},
		{"cdr", "zstd", plain, plain}} {
		path := filepath.Join(t.TempDir(), "x.mcap")
		w, err := createWriter(t.Context(), path, storage.WriteOptions{NoSync: true, Compression: x.codec})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		id, err := w.CreateTopic(storage.Topic{Name: "/a", Encoding: x.encoding})
		if err == nil {
			err = w.Write(&storage.Message{Topic: id, LogTime: 5, Data: x.data})
		}
		if err == nil {
			err = w.Commit()
		}
		if err != nil {
			t.Fatal(err)
		}
		r, err := openReader(t.Context(), path, storage.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if m, err := r.ReadNext(); err != nil || !bytes.Equal(m.Data, x.want) {
			t.Errorf("%s, %s: %v", x.encoding, x.codec, err)
		}
	}
}

// TestZeroedDefinitions: zeros in a plain chunk cost the messages that they touch, and at most the one where reading
// finds its way again, though the definitions of the chunk are gone and the summary, which has them, then differs from
// the data.
func TestZeroedDefinitions(t *testing.T) {
	path, messages := filepath.Join(t.TempDir(), "x.mcap"), testMessages(24)
	// one chunk: no other has its definitions
	write(t, path, storage.WriteOptions{Compression: "none"}, fullLayout, messages)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ends := messageEnds(t, whole)
	chunk := recordsOf(t, whole, opChunk)[0]
	for _, footer := range []bool{true, false} {
		for p := chunk + chunkFixed; p < int(ends[0])+40; p++ {
			for _, n := range []int{20, 400, 700} {
				b := bytes.Clone(whole)
				if !footer {
					clear(b[recordsOf(t, b, opFooter)[0]+recordHead+16:][:4])
				}
				clear(b[p:][:n])
				untouched := 0
				for i, m := range messages {
					if start := int(ends[i]) - recordHead - messageFixed - len(m.Data); start >= p+n || int(ends[i]) <= p {
						untouched++
					}
				}
				got, i, _, err := openBytes(t, b, storage.ReadOptions{})
				if err != nil || len(got) < untouched-1 {
					t.Fatalf("%d zeros at %d, checksum of the summary %v: %d messages, %d are whole, %v: %+v",
						n, p, footer, len(got), untouched, err, i.Warnings)
				}
				if len(got) < len(messages) && i.Lost == (storage.Lost{}) {
					t.Fatalf("%d zeros at %d: %d messages, and nothing is lost: %+v", n, p, len(got), i.Warnings)
				}
			}
		}
	}
}
