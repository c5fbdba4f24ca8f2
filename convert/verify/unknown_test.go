package verify_test

import (
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/verify"
	"github.com/bagconv/bagconv/internal/convert/mapping"
)

// TestUnknownFields: fields that a descriptor does not have are in no digest; that
// recordings are equal except for them is reported.
func TestUnknownFields(t *testing.T) {
	dir := t.TempDir()
	rec := load(t, "../../testdata/demo.record")
	without := save(t, registry.Lookup("record"), filepath.Join(dir, "without"), rec)
	const topic = "/apollo/sensor/gnss/imu"
	changed := int64(0)
	for i := range rec.Messages {
		if m := &rec.Messages[i]; rec.Topics[m.Topic].Name == topic && i%2 == 0 {
			m.Data = append(m.Data[:len(m.Data):len(m.Data)], 0xc8, 0x30, 1) // field 777
			changed++
		}
	}
	with := save(t, registry.Lookup("record"), filepath.Join(dir, "with"), rec)
	if res := compare(t, verify.Job{}, with, with); changed == 0 || !res.Equal || len(res.Exceptions) > 0 {
		t.Errorf("it differs from itself: %s", describe(res, &convert.Report{}))
	}
	for _, other := range []string{
		without,
		converted(t, convert.Job{}, with, "bag", filepath.Join(dir, "mapped")),
		converted(t, convert.Job{ProtoTypes: mapping.ProtoGenerated}, with, "db3", filepath.Join(dir, "generated")),
	} {
		for _, sides := range [][2]string{{with, other}, {other, with}} {
			res := compare(t, verify.Job{}, sides[0], sides[1])
			for _, got := range res.Topics {
				if got.Equal == (got.Name == topic) {
					t.Errorf("%s: %s: equal is %v", filepath.Base(other), got.Name, got.Equal)
				}
			}
			res = compare(t, verify.Job{Ignore: []verify.Code{verify.Unconvertible}}, sides[0], sides[1])
			n := int64(0)
			for _, e := range res.Exceptions {
				if e.Code == verify.Unconvertible && e.Topic == topic {
					n += e.Count
				}
			}
			if !res.Equal || n != changed {
				t.Errorf("%s: equal is %v, %d messages with unknown fields, want %d", filepath.Base(other), res.Equal, n, changed)
			}
		}
	}
}
