package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// mcapFiles are the sound MCAP files.
func mcapFiles(t *testing.T) (out []string) {
	for _, path := range samples.Glob(t, "mcap/*+*/*.mcap") {
		if filepath.Base(path) != "2024-05-15.mcap" { // every CR LF in it became LF
			out = append(out, path)
		}
	}
	return out
}

// TestMCAPToMCAP: another compression, the same channels and bytes, in order of time.
func TestMCAPToMCAP(t *testing.T) {
	dir := t.TempDir()
	for i, path := range mcapFiles(t) {
		for _, codec := range []string{"none", "lz4", "zstd"} {
			out := filepath.Join(dir, fmt.Sprintf("m%d%s.mcap", i, codec))
			convert(t, path, out, "--compression", codec, "--no-sync")
			same(t, path, out)
		}
	}
}

// TestThroughMCAP: each other format -> MCAP -> the same again.
func TestThroughMCAP(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n := 0
	through := func(t *testing.T, path, end string) (back string) {
		t.Helper()
		n++
		mid := filepath.Join(dir, fmt.Sprintf("t%d.mcap", n))
		back = filepath.Join(dir, fmt.Sprintf("t%d%s", n, end))
		convert(t, path, mid, "--no-sync", "--proto-types", "generated")
		convert(t, mid, back, "--no-sync")
		return back
	}
	t.Run("bag", func(t *testing.T) {
		for path := range bags(t) {
			sameBag(t, path, through(t, path, ".bag"))
		}
	})
	t.Run("db3", func(t *testing.T) {
		for _, path := range folders(t) {
			info, _ := read(t, path)
			if !slices.ContainsFunc(info.Topics, func(topic storage.TopicInfo) bool { return topic.Encoding != "cdr" }) {
				same(t, path, through(t, path, ""))
			}
		}
	})
	t.Run("record", func(t *testing.T) {
		for _, path := range records(t) {
			sameRecord(t, path, through(t, path, ".record"))
		}
	})
}

// TestKeptThroughMCAP: bag -> MCAP -> bag with --encoding keep restores all
// connections with their headers, and each byte of each message, counters of
// Headers among them. The MCAP file has what the tools of the format write.
func TestKeptThroughMCAP(t *testing.T) {
	dir := t.TempDir()
	n := 0
	for path := range bags(t) {
		n++
		mid, back := filepath.Join(dir, fmt.Sprintf("k%d.mcap", n)), filepath.Join(dir, fmt.Sprintf("k%d.bag", n))
		convert(t, path, mid, "--encoding", "keep", "--no-sync")
		convert(t, mid, back, "--no-sync")
		same(t, path, back)
		info, _ := read(t, mid)
		for i := range info.Topics {
			topic := &info.Topics[i].Topic
			if topic.Encoding != "ros1" || topic.Schema.Encoding != "ros1msg" {
				t.Errorf("%s: %s is in %s with a definition in %s", mid, topic.Name, topic.Encoding, topic.Schema.Encoding)
			}
		}
		if profile := info.Metadata["mcap_profile"]; profile != "" {
			t.Errorf("%s: profile %q", mid, profile)
		}
	}
}

// TestKeptRecordThroughMCAP: so does a record, with its descriptors.
func TestKeptRecordThroughMCAP(t *testing.T) {
	dir := t.TempDir()
	for i, path := range records(t) {
		mid, back := filepath.Join(dir, fmt.Sprintf("r%d.mcap", i)), filepath.Join(dir, fmt.Sprintf("r%d.record", i))
		convert(t, path, mid, "--encoding", "keep", "--no-sync")
		convert(t, mid, back, "--no-sync")
		_, a := read(t, path)
		_, b := read(t, back)
		samePayloads(t, path, a, b)
	}
}

// TestMCAPToOthers: the sound files, whatever their encodings, in each other format with
// the same content, as the second reader of each encoding judges it.
func TestMCAPToOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, path := range mcapFiles(t) {
		for _, end := range []string{".bag", "/", ".record"} {
			convert(t, path, filepath.Join(dir, fmt.Sprintf("o%d", i))+end, "--verify", "content", "--no-sync")
		}
	}
}
