package ulog

import (
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// FuzzFile reads whole files, and lists their messages.
func FuzzFile(f *testing.F) {
	f.Add(each().b)
	f.Add(sample(120).b)
	f.Add(newLog(0).flags(0, 1, 80).add(opFormat, "a:uint64_t timestamp;").subscribe(0, 0, "a").data(0, 1).data(0, 2).b)
	f.Add(newLog(0).add(opFormat, "a:b[3] x;").add(opFormat, "b:a y;").subscribe(0, 0, "a").data(0, 1).add(opDropout,
		uint16(7)).b)
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		x, err := readBytes(t, b, storage.ReadOptions{})
		if err != nil {
			if !storage.IsDamage(err) {
				t.Fatal(err)
			}
			return
		}
		listed := checkSections(t, b)
		if listed != x.info.Messages {
			t.Fatalf("%d messages are listed, %d read", listed, x.info.Messages)
		}
		_, err = readBytes(t, b, storage.ReadOptions{Strict: true})
		for _, w := range x.damage.Warnings {
			if w.Damage {
				if err == nil {
					t.Fatalf("strict reads what has damage: %+v", w)
				}
				return
			}
		}
		if err != nil {
			t.Fatalf("strict refuses what has no damage: %v", err)
		}
	})
}
