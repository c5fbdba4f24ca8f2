package mapping

import (
	"testing"

	"github.com/bagconv/bagconv/storage"
)

func TestSourceDistro(t *testing.T) {
	for _, c := range []struct {
		asked, named, want string
		certain            bool
	}{
		{"jazzy", "foxy", "jazzy", true}, {"", "foxy", "foxy", true}, {"", "unheard", DefaultDistro, false}, {"", "",
			DefaultDistro, false},
	} {
		if got, certain := SourceDistro(c.asked, map[string]string{storage.MetaDistro: c.named}); got != c.want ||
			certain != c.certain {
			t.Errorf("%+v: %s, %v", c, got, certain)
		}
	}
}
