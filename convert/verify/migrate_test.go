package verify_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/verify"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/migrate"
	"github.com/bagconv/bagconv/internal/schema/defset"
)

// target reads the definitions of testdata/migration, and rules.
func target(t *testing.T, rules string) *mapping.Target {
	t.Helper()
	set, err := defset.Read(nil, "../../testdata/migration")
	if err != nil {
		t.Fatal(err)
	}
	out := &mapping.Target{Set: set}
	if rules != "" {
		if out.Rules, err = migrate.Parse("rules.yaml", []byte(rules)); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestTarget: an output with other definitions is what migration says, and every other way to migrate
// it is a difference, on the way to each format.
func TestTarget(t *testing.T) {
	const demo = "../../testdata/demo.bag"
	text, err := os.ReadFile("../../testdata/migration/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	with := string(text)
	other := strings.Replace(with, "default: 7", "default: 8", 1)
	if with == other {
		t.Fatal("the rules have changed")
	}
	for _, to := range []string{"bag", "db3", "mcap"} {
		outs := map[string]string{}
		for _, rules := range []string{"", with} {
			outs[rules] = converted(t, convert.Job{Target: target(t, rules)}, demo, to, filepath.Join(t.TempDir(), "out"))
			if res := compare(t, verify.Job{Target: target(t, rules)}, demo, outs[rules]); !res.Equal {
				t.Errorf("%s, rules %q: %+v", to, rules, res.Topics)
			}
		}
		for _, c := range []struct{ out, rules, path string }{{"", with, "label"}, {with, "", "label"},
			{with, other, "quality"}} {
			res := compare(t, verify.Job{Target: target(t, c.rules)}, demo, outs[c.out])
			for _, topic := range res.Topics {
				if topic.Equal != (topic.Name != "/acme/status") {
					t.Errorf("%s: %+v", to, topic)
				}
				if topic.Name == "/acme/status" && (topic.First == nil || topic.First.Path != c.path || topic.Different != 50) {
					t.Errorf("%s with other rules: %+v", to, topic.First)
				}
			}
		}
	}
}
