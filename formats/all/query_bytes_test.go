package all

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/testing/faultio"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// A layout bounds what a query may read of the recording that TestQueryBytes makes,
// in bytes, by how the format lays it out.
type layout struct {
	open int64 // to open it
	half int64 // for the heads of half of the messages
	seek int64 // to find the first message, when its time is known
	each int64 // for each large message that is returned, in addition to it
}

const (
	page    = 4 << 10 // what is read at least after a leap; a page of a database
	entries = 40      // of one small message beside its data: its record's head and its entries in indexes, at most
	chunk   = 16 << 20
)

// layouts are those of a recording with large messages of a size, and bytes of small
// ones, n in number, between them.
func layouts(large, size, n, bytes int64) map[string]layout {
	bytes += n * entries
	// Chunks as in a bag. Of each the summary has an index, with the place of the index of
	// each channel, and before and after it is a head; one chunk is read to see whether the
	// summary is right.
	mcap := layout{open: 2*large*450 + size + 16*page, half: 2 * large * page, seek: 2 * 3 * page, each: 2 * 3 * page}
	return map[string]layout{
		// A large message has a chunk for itself, the small ones before it another. Of
		// each the header is read (128 bytes at once), and its info in the trailer: less
		// than 200 bytes. Two overlap at any time; of each the header, the index and the
		// message are looked for.
		"bag":  {open: 2*large*(128+200) + 16*page, half: 2 * large * page, seek: 2 * 3 * page, each: 2 * 3 * page},
		"mcap": mcap, "ros2mcap": mcap,
		// Of a chunk of 16 MB the header is read. What lies between two large messages
		// is read at once with the head of the second; where that is less than it was
		// before, as much again is read of the second.
		"record": {open: large*size/chunk*2*page + 16*page, half: large/2*page + bytes + 16*page,
			seek: 2 * (chunk/size + 2) * page, each: 2*page + 2*bytes/large},
		// A large row begins in a leaf that it fills at most. Opening reads tables and the
		// ends of the index.
		"db3": {open: 64 * page, half: large/2*page + bytes + 16*page, seek: 8 * page, each: 5*page + 2*bytes/large},
	}
}

// TestQueryBytes counts what is read of a large recording for one message and for
// ten seconds, opening included, and compares it with the layout. None of it grows
// with the payload of what is skipped.
func TestQueryBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("makes files of 1.2 GB")
	}
	const frames, perFrame, frameSize, smallSize = 600, 10, 2 << 20, 300
	want := storagetest.Recording{}
	for _, f := range Registry().Formats() {
		if f.Create == nil {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			want.Topics = nil
			for _, name := range []string{"/camera", "/imu"} {
				want.Topics = append(want.Topics, storage.Topic{Name: name, Type: "a_msgs/msg/A", Encoding: f.Holds.Native})
			}
			want.Messages = nil
			frame := make([]byte, frameSize)
			for i := range int64(frames) {
				at := 1_700_000_000_000_000_000 + i*200_000_000
				want.Messages = append(want.Messages, storage.Message{LogTime: at, PublishTime: at, Data: frame})
				for k := range int64(perFrame) {
					at := at + k*20_000_000
					want.Messages = append(want.Messages, storage.Message{Topic: 1, LogTime: at, PublishTime: at,
						Data: []byte(fmt.Sprintf("%0*d", smallSize, i*perFrame+k))})
				}
			}
			path := filepath.Join(t.TempDir(), "x"+append(f.Extensions, "")[0])
			if err := storagetest.WriteAll(f, path, storage.WriteOptions{Compression: "none", NoSync: true, FS: iox.Sparse(nil)},
				want); err != nil {
				t.Fatal(err)
			}
			l, ok := layouts(frames, frameSize, frames*perFrame, frames*perFrame*smallSize)[f.Name]
			if !ok {
				t.Fatal("the layout of this format is not known here")
			}
			if f.Name != "mcap" && f.Name != "ros2mcap" { // our chunks have checksums, which are of all their bytes
				checkWantedBytes(t, f, path, frames*(16*page+perFrame*(smallSize+entries)))
			}
			const second = 1_000_000_000
			from := want.Messages[0].LogTime + 60*second
			for name, c := range map[string]struct {
				q    storage.Query
				most int64 // bytes
			}{
				"first": {storage.Query{Topics: []storage.TopicID{1}, Limit: 1}, smallSize + l.seek},
				"heads": {storage.Query{Topics: []storage.TopicID{1}, Limit: frames * perFrame / 3, NoData: true},
					l.seek + l.half},
				"last heads": {storage.Query{Topics: []storage.TopicID{0}, Limit: frames / 3, NoData: true, Reverse: true},
					l.seek + l.half},
				"before a moment": {storage.Query{Topics: []storage.TopicID{1}, End: from, Reverse: true, Limit: 1},
					smallSize + l.seek},
				"ten seconds": {storage.Query{Start: from, End: from + 10*second - 1}, l.seek + 50*(frameSize+l.each) +
					50*perFrame*(smallSize+entries)},
			} {
				disk := &faultio.Counter{FS: iox.OS}
				r, err := f.Open(context.Background(), path, storage.ReadOptions{FS: disk})
				if err != nil {
					t.Fatal(err)
				}
				info := r.Info()
				opening := disk.Read.Load()
				ask := c.q
				ask.Topics = nil
				for _, id := range c.q.Topics { // a format may number them anew
					ask.Topics = append(ask.Topics,
						storage.TopicID(slices.IndexFunc(info.Topics,
							func(t storage.TopicInfo) bool { return t.Name == want.Topics[id].Name })))
				}
				var got []string
				for m, err := range storage.ReaderCapabilities(r).Query.Query(context.Background(), ask) {
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, fmt.Sprint(info.Topics[m.Topic].Name, m.LogTime, len(m.Data), end(m.Data)))
				}
				var right []string
				for _, m := range storagetest.Select(want.Messages, c.q) {
					right = append(right, fmt.Sprint(want.Topics[m.Topic].Name, m.LogTime, len(m.Data), end(m.Data)))
				}
				if len(right) == 0 || !slices.Equal(got, right) {
					t.Errorf("%s: %d messages, want %d", name, len(got), len(right))
				}
				query := disk.Read.Load() - opening
				t.Logf("%s: %d bytes to open, of %d; %d for the query, of %d", name, opening, l.open, query, c.most)
				if opening > l.open || query > c.most {
					t.Errorf("%s reads %d bytes to open it, %d at most, and then %d, %d at most", name, opening, l.open, query, c.most)
				}
				if part := info.Size / 100; len(right) == 1 && opening+query > part && c.q.Topics[0] == 1 {
					t.Errorf("%s reads %d bytes, over a hundredth of %d", name, opening+query, info.Size)
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// checkWantedBytes reads all blocks of a recording for its small messages, and counts what is read of it.
func checkWantedBytes(t *testing.T, f *storage.Format, path string, most int64) {
	t.Helper()
	disk := &faultio.Counter{FS: iox.OS}
	r, err := f.Open(context.Background(), path, storage.ReadOptions{FS: disk})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b := storage.Batch{Wanted: make([]bool, 2)}
	small := slices.IndexFunc(r.Info().Topics, func(t storage.TopicInfo) bool { return t.Name == "/imu" })
	b.Wanted[small] = true
	reader := storage.ReaderCapabilities(r).Blocks
	blocks, _, err := reader.Blocks(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	n := int64(0)
	for i := range blocks {
		if err := reader.ReadBlock(context.Background(), i, &b); err != nil {
			t.Fatal(err)
		}
		for k := range b.Messages {
			if int(b.Messages[k].Topic) == small {
				n++
			}
		}
	}
	if want := r.Info().Topics[small].Messages; n != want {
		t.Errorf("blocks have %d messages of a topic that has %d", n, want)
	}
	if got := disk.Read.Load(); got > most {
		t.Errorf("the small messages of all blocks take %d bytes of the file, %d at most", got, most)
	} else {
		t.Logf("the small messages of all blocks take %d bytes of the file", got)
	}
}

// end is the last bytes of a message that has some.
func end(data []byte) string { return string(data[max(0, len(data)-8):]) }
