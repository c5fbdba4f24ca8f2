package rosbag1

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

const (
	testKey  = "000102030405060708090a0b0c0d0e0f"
	otherKey = "ff0102030405060708090a0b0c0d0e0f"
)

func keyOf(hex string) storage.Secret { return storage.NewSecret([]byte(hex)) }

// encryptedBag returns the bytes of a bag that is encrypted with testKey, and its messages.
func encryptedBag(t testing.TB, codec string, n int) ([]byte, []storage.Message) {
	dir := t.TempDir()
	file := filepath.Join(dir, "key")
	if err := os.WriteFile(file, []byte(testKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "a.bag")
	messages := testMessages(n)
	write(t, path, storage.WriteOptions{Compression: codec, ChunkSize: 700, NoSync: true,
		Values: map[string]string{storage.NameEncrypt: "key:@" + file}}, messages)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b, messages
}

// TestEncrypted writes and reads encrypted bags; nothing of them is in clear.
func TestEncrypted(t *testing.T) {
	for _, codec := range Format.Options.Choices(storage.NameCompression) {
		b, want := encryptedBag(t, codec, 60)
		got, info, err := openBytes(t, b, storage.ReadOptions{Key: keyOf(testKey), Strict: true, CheckIndexes: true})
		if err != nil {
			t.Fatal(err)
		}
		equalMessages(t, got, want)
		if len(info.Warnings) > 0 || info.Facts[0].Key != "encryption" || info.Locked || info.Compression[codec] < 2 {
			t.Errorf("%s: warnings %v, facts %v", codec, info.Warnings, info.Facts)
		}
		for _, text := range []string{testTopics[0].Name, testTopics[0].Type, "message_definition"} {
			if bytes.Contains(b, []byte(text)) {
				t.Errorf("%s: %q is in clear", codec, text)
			}
		}
		r, err := openOld(t, b, storage.ReadOptions{Key: keyOf(testKey)})
		if err != nil {
			t.Fatal(err)
		}
		sorted := slices.SortedStableFunc(slices.Values(want), func(a, b storage.Message) int {
			return cmp.Compare(a.LogTime,
				b.LogTime)
		})
		n := 0
		for m, err := range r.(storage.Querier).Query(t.Context(), storage.Query{Limit: 27}) {
			if err != nil || key(*m) != key(sorted[n]) {
				t.Fatalf("%s: message %d of a query: %v, %v", codec, n, m, err)
			}
			n++
		}
		if n != 27 {
			t.Errorf("%s: a query has %d messages", codec, n)
		}
	}
}

// TestEncryptedScan: an encrypted bag without its index.
func TestEncryptedScan(t *testing.T) {
	for _, codec := range Format.Options.Choices(storage.NameCompression) {
		b, want := encryptedBag(t, codec, 60)
		at := bytes.Index(b, []byte("index_pos=")) + 10
		copy(b[at:], make([]byte, 8))
		got, info, err := openBytes(t, b, storage.ReadOptions{Key: keyOf(testKey)})
		if err != nil {
			t.Fatal(err)
		}
		equalMessages(t, got, want)
		if damaged(info) || len(info.Warnings) != 1 || info.Warnings[0].Code != "unindexed" {
			t.Errorf("%s: warnings %v", codec, info.Warnings)
		}
		if _, _, err := openBytes(t, b, storage.ReadOptions{InfoOnlyAbove: 1}); !errors.Is(err, storage.ErrKey) {
			t.Errorf("%s: without a key: %v", codec, err)
		}
	}
}

// TestNoKey: without a key Info has counts and times, and reading is refused; a wrong key is
// reported as such, and shows in no message.
func TestNoKey(t *testing.T) {
	b, want := encryptedBag(t, "lz4", 60)
	if _, err := openOld(t, b, storage.ReadOptions{}); !errors.Is(err, storage.ErrKey) || !strings.Contains(err.Error(),
		"--bag-key") {
		t.Errorf("without a key: %v", err)
	}
	r, err := openOld(t, b, storage.ReadOptions{InfoOnlyAbove: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	i := info(t, r)
	if !i.Locked || i.Messages != int64(len(want)) || i.End <= i.Start || len(i.Topics) > 0 || len(i.Warnings) != 1 ||
		i.Warnings[0].Code != "encrypted" || damaged(i) {
		t.Errorf("%d messages, topics %v, warnings %v", i.Messages, i.Topics, i.Warnings)
	}
	counts := make([]int, len(testTopics))
	for _, m := range want {
		counts[m.Topic]++
	}
	hidden := storage.Fact{Key: "connections",
		Value: fmt.Sprintf("%d, with an encrypted topic; messages by id: 0: %d, 1: %d, 2: %d", len(testTopics), counts[0],
			counts[1], counts[2])}
	if !slices.Contains(i.Facts, hidden) {
		t.Errorf("facts %v, want %v", i.Facts, hidden)
	}
	if _, err := r.ReadNext(); !errors.Is(err, storage.ErrKey) {
		t.Errorf("a message: %v", err)
	}
	for _, err := range r.(storage.Querier).Query(t.Context(), storage.Query{}) {
		if !errors.Is(err, storage.ErrKey) {
			t.Errorf("a query: %v", err)
		}
	}
	for _, key := range []string{otherKey, "short", strings.Repeat("x", 32), ""} {
		for _, o := range []storage.ReadOptions{{Key: keyOf(key)}, {Key: keyOf(key), InfoOnlyAbove: 1}} {
			_, err := openOld(t, b, o)
			if !errors.Is(err, storage.ErrKey) || key != "" && strings.Contains(err.Error(), key) {
				t.Errorf("key %q: %v", key, err)
			}
		}
	}
	for i := range 300 { // padding is right by chance in one of 256
		if _, err := openOld(t, b, storage.ReadOptions{Key: keyOf(fmt.Sprintf("%032x", i))}); !errors.Is(err,
			storage.ErrKey) {
			t.Fatalf("key %d: %v", i, err)
		}
	}
}

// TestEncryptedDamage cuts and flips an encrypted bag everywhere: no message comes that was not
// written, and none is missing without a warning.
func TestEncryptedDamage(t *testing.T) {
	for _, codec := range []string{"none", "lz4"} {
		whole, want := encryptedBag(t, codec, 30)
		sound := map[string]bool{}
		for _, m := range want {
			sound[key(m)] = true
		}
		start := len(versionLine) + 8 + headerSize
		step := 3
		if testing.Short() {
			step = 17
		}
		for at := start; at < len(whole); at += step {
			flipped := bytes.Clone(whole)
			flipped[at] ^= 0x40
			for what, b := range map[string][]byte{"cut": whole[:at], "flip": flipped} {
				got, info, err := openBytes(t, b, storage.ReadOptions{Key: keyOf(testKey)})
				if err != nil {
					if !errors.Is(err, storage.ErrKey) || at > start+800 {
						t.Fatalf("%s %s at %d: %v", codec, what, at, err)
					}
					continue
				}
				if len(got) < len(want) && !damaged(info) {
					t.Fatalf("%s %s at %d: %d of %d messages, warnings %v", codec, what, at, len(got), len(want), info.Warnings)
				}
			}
		}
	}
}

// TestEncryptionName: the name of the encryption may be given, and no other one is known.
func TestEncryptionName(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(testKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, known := range map[string]bool{"": true, aesName + ":": true, "rosbag/Aes:": false, aesName + "2:": false} {
		_, fields, err := createEncryptor(t.Context(), name+"key:@"+file)
		if known != (err == nil) || known && fields[fieldEncryptor] != aesName {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := openEncryptor(t.Context(), map[string]string{fieldEncryptor: "x"}, storage.Secret{}); !errors.Is(err,
		storage.ErrUnsupported) {
		t.Error(err)
	}
}

// FuzzEncrypted reads what is thrown at it with a key.
func FuzzEncrypted(f *testing.F) {
	for _, codec := range []string{"none", "lz4", "bz2"} {
		b, _ := encryptedBag(f, codec, 10)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _, _ = openBytes(t, b, storage.ReadOptions{Key: keyOf(testKey)})
		if r, err := openOld(t, b, storage.ReadOptions{InfoOnlyAbove: 1}); err == nil {
			r.Close()
		}
	})
}
