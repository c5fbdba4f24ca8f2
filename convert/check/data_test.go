package check_test

import (
	"context"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/convert/check"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// recordings lists all that is taken for a recording below a folder: files, folders, and the files
// of folders.
func recordings(root string) (paths []string) {
	reg := all.Registry()
	_ = filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			if _, err := reg.Detect(path); err == nil {
				paths = append(paths, path)
			}
		}
		return nil
	})
	return paths
}

// run opens and checks a recording; an error is one of opening.
func run(t *testing.T, path string, o check.Options) (*check.Result, error) {
	t.Helper()
	f, err := all.Registry().Detect(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.Open(context.Background(), path, storage.ReadOptions{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	res, err := check.Run(context.Background(), r, o)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return res, nil
}

// expected are findings of broken recordings, by the folder of the samples: all codes that are there.
var expected = map[string]map[string]string{
	"data": {
		"ros1/generated/plain.bag":                             "",
		"ros1/generated/bit-flip-in-chunk.bag":                 "chunk-data",
		"ros1/generated/truncated-in-chunk.bag":                "truncated",
		"ros1/generated/truncated-in-trailer.bag":              "index",
		"ros1/generated/reverse-order.bag":                     "time-jump time-jump recording-unordered",
		"ros1/generated/two-types-one-topic.bag":               "topic-two-types",
		"ros1/generated/index-pos-zero.bag":                    "unindexed",
		"ros1/generated/extreme-times.bag":                     "time-odd recording-unordered",
		"ros1/generated/no-messages.bag":                       "recording-empty",
		"ros1/UbiquityRobotics+fiducials/aruco_transforms.bag": "stamp-far",
		"cyber/generated/no-desc-and-undeclared.record":        "no-descriptor undeclared-channel",
		"cyber/generated/truncated-midchunk.record":            "truncated incomplete",
	},
	"recordings": {
		"ros1/generated/plain.bag":                      "",
		"ros1/generated/bit-flip-in-chunk.bag":          "chunk-data",
		"ros1/generated/truncated-in-chunk.bag":         "truncated",
		"ros1/generated/truncated-in-trailer.bag":       "index",
		"ros1/generated/reverse-order.bag":              "time-jump recording-unordered",
		"ros1/generated/two-types-one-topic.bag":        "topic-two-types",
		"ros1/generated/index-pos-zero.bag":             "unindexed",
		"ros1/generated/extreme-times.bag":              "time-odd time-jump recording-unordered",
		"ros1/generated/no-messages.bag":                "recording-empty",
		"cyber/generated/no-desc-and-undeclared.record": "no-descriptor undeclared-channel recording-unordered",
	},
}

// TestData: every message of every file is read and accounted for, the findings
// are the same for any number of workers, and a recording keeps the contract
// that is made of it.
func TestData(t *testing.T) {
	for _, root := range samples.Roots(t) {
		testData(t, root)
	}
}

func testData(t *testing.T, root string) {
	opened := 0
	for _, path := range recordings(root) {
		name, _ := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		res, err := run(t, path, check.Options{Threads: 1})
		if err != nil {
			continue // the program reports that, and exits with 1
		}
		opened++
		var read, decoded, left int64
		for _, x := range res.Topics {
			read += x.Messages
			decoded += x.Decoded
			left += x.Messages - x.Decoded - x.Undecodable
			if n := x.Messages - x.Decoded - x.Undecodable; n < 0 || n > 0 && n != x.Messages && x.Encoding != "protobuf" {
				t.Errorf("%s: %s: %d messages, %d decoded, %d not", name, x.Name, x.Messages, x.Decoded, x.Undecodable)
			}
		}
		if read != res.Messages || decoded != res.Decoded {
			t.Errorf("%s: %d and %d messages of topics, %d and %d of the recording", name, read, decoded, res.Messages,
				res.Decoded)
		}
		why := slices.ContainsFunc(res.Findings, func(f check.Finding) bool {
			return slices.Contains([]string{"message-unchecked", "definition-missing", "definition-unreadable", "no-descriptor",
				"undeclared-channel"}, f.Code)
		})
		if left > 0 && !why {
			t.Errorf("%s: %d messages are not decoded, and nothing says why", name, left)
		}
		if want, ok := expected[filepath.Base(root)][name]; ok {
			var codes []string
			for _, f := range res.Findings {
				codes = append(codes, f.Code)
			}
			if got := strings.Join(codes, " "); got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
		}

		text, err := check.MakeContract(res).Format()
		if err != nil {
			t.Fatal(err)
		}
		c, err := check.ParseContract(text)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, text)
		}
		no := false
		c.OtherTopics = &no
		again, err := run(t, path, check.Options{Threads: 3, Contract: c})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(res.Findings, again.Findings) || !reflect.DeepEqual(res.Topics, again.Topics) {
			t.Errorf("%s: found\n%v\nand then, with its own contract\n%v\n%s", name, summary(res), summary(again), text)
		}
	}
	if opened < 100 {
		t.Errorf("only %d recordings were looked at", opened)
	}
}
