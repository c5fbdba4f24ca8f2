package warnings

import (
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// TestLog: each place once, in the order of offsets, and an end to the list.
func TestLog(t *testing.T) {
	var l Log
	for range 2 {
		for i := int64(Max + 10); i >= 0; i-- {
			l.Add("", storage.Warning{Code: "gap", Offset: storage.Known(i), Damage: i == 2}, storage.Lost{Bytes: 1, Blocks: 2,
				Messages: 3})
		}
	}
	list, lost := l.Report()
	if len(list) != Max+1 || list[0].Code != "more" || !list[0].Damage || list[1].Offset > list[2].Offset {
		t.Errorf("%d warnings, from %v to %v", len(list), list[:2], list[len(list)-1])
	}
	if lost != (storage.Lost{Bytes: Max + 11, Blocks: 2 * (Max + 11), Messages: 3 * (Max + 11)}) {
		t.Errorf("lost %+v", lost)
	}
	if l.Lost() != lost {
		t.Errorf("lost %+v, and %+v", l.Lost(), lost)
	}
	var harmless Log
	for i := range int64(Max + 1) {
		harmless.Add("", storage.Warning{Code: "gap", Offset: storage.Known(i)}, storage.Lost{})
	}
	if list, _ := harmless.Report(); len(list) != Max+1 || list[0].Code != "more" || list[0].Damage {
		t.Errorf("nothing is damaged: %v", list[0])
	}
}

// TestHints: what the format has for a code; damage has a hint in any case.
func TestHints(t *testing.T) {
	l := Log{Hints: Hints{"part": "copy it", "gap": SoundCopy}}
	for i, c := range []struct {
		code, hint string
		damage     bool
		want       string
	}{
		{"part", "", true, "copy it"}, {"gap", "", false, SoundCopy}, {"gap", "", true, "saves what is left"},
		{"other", "", false, ""}, {"other", "", true, "saves what is left"}, {"part", "its own", false, "its own"},
	} {
		l.Add("", storage.Warning{Code: c.code, Hint: c.hint, Offset: storage.Known(i), Damage: c.damage}, storage.Lost{})
		list, _ := l.Report()
		if got := list[i].Hint; !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
