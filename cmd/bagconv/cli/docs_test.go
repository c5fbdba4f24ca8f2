package cli

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/convert/tasks"
)

// TestDocs compares docs with the JSON that is printed: each key is there.
func TestDocs(t *testing.T) {
	var text []byte
	for _, name := range []string{"json.md", "batch.md", "cli.md", "check.md", "scale.md"} {
		part, err := os.ReadFile("../../../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, part...)
	}
	seen := map[reflect.Type]bool{}
	var check func(reflect.Type)
	check = func(typ reflect.Type) {
		if typ.Implements(reflect.TypeFor[json.Marshaler]()) {
			return // its keys are data
		}
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice:
			check(typ.Elem())
			return
		case reflect.Struct:
		default:
			return
		}
		if seen[typ] {
			return
		}
		seen[typ] = true
		for i := range typ.NumField() {
			f := typ.Field(i)
			key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !f.IsExported() || key == "-" {
				continue
			}
			if key == "" && f.Anonymous {
				check(f.Type)
				continue
			}
			if key == "" {
				t.Errorf("%s.%s has no JSON name", typ, f.Name)
			}
			if !strings.Contains(string(text), "`"+key+"`") && !strings.Contains(string(text), "`"+key+"[]`") &&
				!strings.Contains(string(text), `"`+key+`"`) {
				t.Errorf("docs/json.md does not have the key %s of %s", key, typ)
			}
			check(f.Type)
		}
	}
	for _, v := range []any{resultJSON{}, recording.Description{}, mapping.TopicsText{}, formatJSON{}, progressEvent{},
		checkJSON{}, verifyJSON{}, listJSON{}, sectionJSON{}, recording.TopicList{}, recording.Sizes{}, batchJSON{},
		batchPlanJSON{}, defsJSON{}, tasks.Task{}, tasks.Result{}, collectJSON{}, failedTask{}} {
		check(reflect.TypeOf(v))
	}
	if len(seen) < 12 {
		t.Errorf("only %d kinds of object were looked at", len(seen))
	}
}
