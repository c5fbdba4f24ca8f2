//go:build !clouds

package remote

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// TestNoClouds: the ordinary build names the one that knows a store.
func TestNoClouds(t *testing.T) {
	r := New(context.Background(), &Settings{})
	for _, name := range []string{"gs://bucket/x.bag", "az://container/x.bag"} {
		if _, err := r.Open(name); !errors.Is(err, storage.ErrUnsupported) || !strings.Contains(err.Error(),
			"bagconv-clouds") {
			t.Errorf("%s: %v", name, err)
		}
		if err := r.Mkdir(name, 0o777); !errors.Is(err, storage.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
