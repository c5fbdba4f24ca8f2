package rosbag1

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

func open(t testing.TB, path string, o storage.ReadOptions) *reader {
	t.Helper()
	r, err := openReader(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r.(*reader)
}

// readAll returns copies of all messages by ReadNext.
func readAll(t testing.TB, r storage.Reader) []storage.Message {
	t.Helper()
	var out []storage.Message
	for {
		m, err := r.ReadNext()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		c := *m
		c.Data = append([]byte(nil), m.Data...)
		out = append(out, c)
	}
}

func info(t testing.TB, r storage.Reader) *storage.Info {
	t.Helper()
	i := storagetest.InfoOf(r)
	return i
}

func damaged(i *storage.Info) bool {
	for _, w := range i.Warnings {
		if w.Damage {
			return true
		}
	}
	return false
}

// TestRealFiles compares what is read of bags with what an independent parser read.
func TestRealFiles(t *testing.T) {
	type expected struct {
		Version     string
		Messages    int64
		Connections int
		Start, End  string
		Compression map[string]int64
		Conns       []struct {
			ID                                   uint32
			Topic, Type, MD5, Callerid, Latching string
			DefLen                               int `json:"def_len"`
			N                                    int64
		}
	}
	for path, want := range samples.Expected[expected](t, "ros1/expected.json") {
		t.Run(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), func(t *testing.T) {
			if want.Version == "none" {
				if _, err := openReader(context.Background(), path, storage.ReadOptions{}); !errors.Is(err, storage.ErrTruncated) {
					t.Fatalf("error %v, want ErrTruncated", err)
				}
				return
			}
			r := open(t, path, storage.ReadOptions{})
			got := info(t, r)
			messages := readAll(t, r)
			if int64(len(messages)) != want.Messages || got.Messages != want.Messages {
				t.Errorf("%d messages read, %d in the info, want %d", len(messages), got.Messages, want.Messages)
			}
			if w := info(t, r).Warnings; len(w) > 0 && want.Messages > 0 {
				t.Errorf("warnings %v", w)
			}
			seconds := func(ns int64) string { return fmt.Sprintf("%d.%09d", ns/1e9, ns%1e9) }
			if want.Messages > 0 && (seconds(got.Start) != want.Start || seconds(got.End) != want.End) {
				t.Errorf("from %d to %d, want %s to %s", got.Start, got.End, want.Start, want.End)
			}
			for codec, n := range want.Compression {
				if got.Compression[codec] != n {
					t.Errorf("compression %v, want %v", got.Compression, want.Compression)
				}
			}
			if len(got.Topics) != want.Connections {
				t.Fatalf("%d connections, want %d", len(got.Topics), want.Connections)
			}
			counts := make([]int64, len(got.Topics))
			for _, m := range messages {
				counts[m.Topic]++
			}
			for i, c := range want.Conns {
				g := got.Topics[i]
				if g.Name != c.Topic || g.Type != c.Type || g.Metadata["md5sum"] != c.MD5 || g.Metadata["callerid"] != c.Callerid ||
					g.Metadata["latching"] != c.Latching || len(g.Schema.Data) != c.DefLen || g.Messages != c.N || counts[i] != c.N {
					t.Errorf("topic %d is %+v with %d messages read, want %+v", i, g, counts[i], c)
				}
			}
		})
	}
}

// TestCases opens bags that are odd on purpose.
func TestCases(t *testing.T) {
	type expected struct {
		Messages    int
		Connections int
		Error       bool
		Damaged     bool
	}
	for path, want := range samples.Expected[expected](t, "ros1/generated/cases.json") {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			var o storage.ReadOptions
			if key, err := os.ReadFile(strings.TrimSuffix(path, ".bag") + ".key"); err == nil {
				o.Key = storage.NewSecret(key)
			}
			r, err := openReader(context.Background(), path, o)
			switch {
			case want.Error:
				if !errors.Is(err, storage.ErrTruncated) {
					t.Fatalf("error %v, want ErrTruncated", err)
				}
				return
			case err != nil:
				t.Fatal(err)
			}
			defer r.Close()
			n := len(readAll(t, r))
			i := info(t, r)
			if want.Damaged {
				want.Messages-- // the one with the flipped byte
			}
			if n != want.Messages {
				t.Errorf("%d messages, want %d", n, want.Messages)
			}
			if want.Connections > 0 && len(i.Topics) != want.Connections {
				t.Errorf("%d topics, want %d", len(i.Topics), want.Connections)
			}
			bad := want.Damaged || name == "truncated-in-chunk.bag" || strings.HasPrefix(name, "crash-")
			if damaged(i) != bad {
				t.Errorf("damaged is %v: %v", !bad, i.Warnings)
			}
		})
	}
}
