package rosbag1

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// checkOldSections lists a bag: its records cover the file, and are in it.
func checkOldSections(t *testing.T, name string, b []byte) (messages int64, broken int) {
	t.Helper()
	r, err := openOld(t, b, storage.ReadOptions{})
	if err != nil {
		return 0, 0
	}
	defer func() { _ = r.Close() }()
	at, was := int64(-1), storage.Section{}
	for _, s := range sectionsOf(t, r, storage.SectionRecords) {
		if s.Offset < 0 || s.Size < 0 || int64(s.Offset)+s.Size > int64(len(b)) || s.Kind == "" && s.Broken == "" {
			t.Errorf("%s: %+v", name, s)
		}
		if at >= 0 && int64(s.Offset) != at && s.Broken == "" && was.Broken == "" {
			t.Errorf("%s: a section begins at byte %d, and the one before ends at %d: %+v", name, s.Offset, at, s)
		}
		if s.Broken != "" {
			broken++
		} else if s.Kind == "message" || s.Kind == "MSG_DATA" {
			messages++
		}
		at, was = int64(s.Offset)+s.Size, s
	}
	if at >= 0 && at != int64(len(b)) {
		t.Errorf("%s: the last section ends at byte %d of %d", name, at, len(b))
	}
	for _, kind := range []storage.SectionKind{storage.SectionChunks, storage.SectionConnections, storage.SectionParts} {
		var sum int64
		for _, s := range sectionsOf(t, r, kind) {
			sum += int64(s.Messages)
		}
		if info := r.Info(); sum != info.Messages {
			t.Errorf("%s: kind %d has %d messages, and the bag %d: %v", name, kind, sum, info.Messages, err)
		}
	}
	return messages, broken
}

// TestOldSections lists old bags: whole, cut at each byte, and with each byte flipped.
func TestOldSections(t *testing.T) {
	for _, f := range oldForms {
		want := f.messages(7, 0)
		whole := f.write(want)
		if n, broken := checkOldSections(t, f.name, whole); n != int64(len(want)) || broken > 0 {
			t.Errorf("%s: %d messages, %d broken sections", f.name, n, broken)
		}
		found := 0
		for i := range whole {
			if f.header && i > 60 && i < 4108 || testing.Short() && i%7 > 0 {
				continue
			}
			_, broken := checkOldSections(t, fmt.Sprint(f.name, " cut at ", i), whole[:i])
			found += broken
			b := slices.Clone(whole)
			b[i] ^= 0xff
			checkOldSections(t, fmt.Sprint(f.name, " flipped at ", i), b)
		}
		if found == 0 {
			t.Errorf("%s: no damage was listed", f.name)
		}
	}
}

// TestOldReader is the part of the suite of storage that is about readers.
func TestOldReader(t *testing.T) {
	for i, f := range oldForms {
		want := f.messages(8000, 150)
		r, err := openOld(t, f.write(want), storage.ReadOptions{Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		got, err := storagetest.ReadBlocks(r.(storage.BlockReader), 4)
		if diff := storagetest.Diff(got, want); err != nil || diff != "" {
			t.Errorf("%s: %s %v", f.name, diff, err)
		}
		storagetest.CheckQueries(t, r, uint64(i), 20)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestOldSectionsCancelled ends the list with the cause.
func TestOldSectionsCancelled(t *testing.T) {
	f := &oldForms[0]
	r, err := openOld(t, f.write(f.messages(9, 0)), storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for s, err := range r.(storage.SectionLister).Sections(ctx, storage.SectionRecords) {
		if err == nil || !strings.Contains(err.Error(), "canceled") {
			t.Errorf("%+v, %v", s, err)
		}
	}
}
