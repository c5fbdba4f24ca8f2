package cyber

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// TestDescriptorText: Apollo's own example programs write a text where descriptors belong. That is no
// damage, and a record that is written again has the same bytes there.
func TestDescriptorText(t *testing.T) {
	for text, is := range map[string]bool{
		"test....": true, "test": true, "a\x01b": false, "\xff\xfe": false,
		string(bytes.Repeat([]byte("x"), maxText+1)): false,
	} {
		in := filepath.Join(t.TempDir(), "in.record")
		b := newRecord(nil).channel("/a", "test.String", []byte(text)).chunk(msg{"/a", 5, "one"}).b
		if err := os.WriteFile(in, b, 0o666); err != nil {
			t.Fatal(err)
		}
		r, err := openReader(context.Background(), in, storage.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		info := r.Info()
		damage := false
		for _, w := range info.Warnings {
			damage = damage || w.Damage
		}
		if damage == is || (info.Topics[0].Metadata[metaDesc] == text) != is {
			t.Errorf("%.20q: damaged: %v, %v, %+v", text, damage, info.Topics[0].Metadata, info.Warnings)
		}
		if !is {
			continue
		}
		out := filepath.Join(t.TempDir(), "out.record")
		w, err := createWriter(context.Background(), out, storage.WriteOptions{NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		id, err := w.CreateTopic(Format.Holds.StripTopic(info.Topics[0].Topic))
		if err == nil {
			err = w.Write(&storage.Message{Topic: id, LogTime: 5, Data: []byte("one")})
		}
		if err == nil {
			err = w.Commit()
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(out); err != nil || !bytes.Contains(got, []byte(text)) {
			t.Errorf("%q is not in the copy: %v", text, err)
		}
	}
}
