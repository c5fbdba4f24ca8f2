package convert

import (
	"encoding/json"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// TestReportJSON: lists are never null, nanoseconds are text, and what is not known is null.
func TestReportJSON(t *testing.T) {
	r := NewReport(End{Path: "in"}, End{Path: "out"})
	r.Warnings = append(r.Warnings, storage.Warning{Code: "gap", Message: "a > b", Hint: "not in JSON", Offset: -1},
		storage.Warning{Offset: 7, Damage: true})
	r.Selection = SelectionOf(5, 1<<63-1, []bool{false},
		&storage.Info{Topics: []storage.TopicInfo{{Topic: storage.Topic{Name: "/a"}}}})
	r.Lost.Duration = 1 << 60
	r.Source.Size = 25e6
	r.end(2e9)
	const want = `{"dry_run":false,"share":0,"source":{"path":"in","format":"","version":"","size":25000000,"messages":0},` +
		`"sink":{"path":"out","format":"","version":"","size":0,"messages":0},"elapsed_ns":"2000000000","mb_per_s":12.5,` +
		`"io":{"bytes_read":0,"bytes_written":0,"requests":0,"retries":0},"verified":"",` +
		`"selection":{"start_ns":"5","end_ns":null,"left_out_topics":["/a"]},"topics":[],"losses":[],"notes":[],` +
		`"warnings":[{"code":"gap","message":"a \u003e b","offset":null,"damage":false},{"code":"","message":"","offset":7,"damage":true}],` +
		`"lost":{"bytes":0,"blocks":0,"messages":0,"uncounted":false,"duration_ns":"1152921504606846976"}}`
	if got, err := json.Marshal(r); err != nil || string(got) != want {
		t.Errorf("%v\n%s\n%s", err, got, want)
	}
}
