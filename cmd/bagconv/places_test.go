package main

import (
	"bytes"
	"encoding/base64"
	endian "encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"reflect"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/bagconv/bagconv/internal/testing/samples"
)

// TestPlacedBlobs: a stream with places has the values of one with bytes, and its places are where these bytes lie in
// the files. The marks between rounds come in the order of time.
func TestPlacedBlobs(t *testing.T) {
	t.Parallel()
	placed := 0
	for i, path := range catInputs(t) {
		if i%samples.Pick(1, 3, 20) != 0 {
			continue
		}
		want, err := streamRows(t, path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		got, err := streamRows(t, path, "--blobs", "placed")
		if err != nil || len(got) != len(want) {
			t.Errorf("%s: %d streams, not %d: %v", path, len(got), len(want), err)
			continue
		}
		for k := range got {
			if got[k] = resolved(t, got[k], &placed); !reflect.DeepEqual(got[k], want[k]) {
				t.Errorf("%s: the rows of stream %d are others with places", path, k)
			}
		}
	}
	if placed == 0 && !testing.Short() {
		t.Error("no value has a place")
	}
	t.Logf("%d values have places", placed)
}

// streamRows returns the rows of each stream that cat writes of a recording.
func streamRows(t *testing.T, path string, flags ...string) (rows []any, err error) {
	t.Helper()
	cmd := exec.Command(binary, append([]string{"cat", "--format", "arrow", path}, flags...)...)
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 3 || len(out) == 0 {
		return nil, nil // it cannot be read, or has no topic
	}
	pieces := [][]byte{out}
	if endian.LittleEndian.Uint32(out) != math.MaxUint32 { // the first bytes of a stream by itself
		pieces = nil
		for last := int64(math.MinInt64); len(out) >= 12; {
			topic, size := endian.LittleEndian.Uint32(out), endian.LittleEndian.Uint64(out[4:])
			piece := out[12 : 12+size]
			out = out[12+size:]
			if topic == math.MaxUint32 {
				mark := int64(endian.LittleEndian.Uint64(piece))
				if size != 8 || mark < last {
					return nil, fmt.Errorf("a mark of %d bytes at %d after one at %d", size, mark, last)
				}
				last = mark
				continue
			}
			for int(topic) >= len(pieces) {
				pieces = append(pieces, nil)
			}
			pieces[topic] = append(pieces[topic], piece...)
		}
	}
	for _, p := range pieces {
		r, err := ipc.NewReader(bytes.NewReader(p))
		if err != nil {
			return nil, err
		}
		var all []any
		for r.Next() {
			text, err := r.RecordBatch().MarshalJSON()
			if err != nil {
				return nil, err
			}
			d := json.NewDecoder(bytes.NewReader(text))
			d.UseNumber()
			var list []any
			if err := d.Decode(&list); err != nil {
				return nil, err
			}
			all = append(all, list...)
		}
		if r.Err() != nil {
			return nil, r.Err()
		}
		rows = append(rows, all)
	}
	return rows, nil
}

// resolved returns a value with bytes instead of places, and counts these.
func resolved(t *testing.T, v any, placed *int) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = resolved(t, v[i], placed)
		}
	case map[string]any:
		if file, is := v["file"].(string); is && len(v) == 4 && v["offset"] != nil {
			if file == "" {
				return v["bytes"]
			}
			*placed++
			return base64.StdEncoding.EncodeToString(bytesAt(t, file, v["offset"].(json.Number), v["size"].(json.Number)))
		}
		for k := range v {
			v[k] = resolved(t, v[k], placed)
		}
	}
	return v
}

// bytesAt returns a part of a file.
func bytesAt(t *testing.T, file string, offset, size json.Number) []byte {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	at, err1 := offset.Int64()
	n, err2 := size.Int64()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	b := make([]byte, n)
	if _, err := f.ReadAt(b, at); err != nil {
		t.Fatal(err)
	}
	return b
}
