package cli

import (
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
)

// FuzzConfig: no text of a file makes reading it panic, and every value that is
// taken is one of the file's own.
func FuzzConfig(f *testing.F) {
	f.Add([]byte("topic: [/a, '/b*']\nforce: true\nstart: -30s\n"))
	f.Add([]byte("a: &x [*x]\n"))
	f.Add([]byte("? [a]\n: {b: !!binary c}\n---\n"))
	e, _, _ := testEnv()
	list := flags.Named(e.commands(), "convert").Flags
	f.Fuzz(func(t *testing.T, text []byte) {
		root, err := parseConfig(text)
		if err != nil || root == nil {
			return
		}
		if root.Kind != yaml.MappingNode || len(root.Content)%2 != 0 {
			t.Fatalf("kind %d with %d nodes", root.Kind, len(root.Content))
		}
		for i := 1; i < len(root.Content); i += 2 {
			for _, f := range list {
				values, err := configValues(f, root.Content[i])
				if err == nil && len(values) > len(text) {
					t.Errorf("%d values of %d bytes", len(values), len(text))
				}
			}
		}
	})
}
