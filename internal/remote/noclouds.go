//go:build !clouds

package remote

import (
	"fmt"

	"github.com/bagconv/bagconv/storage"
)

// cloud refuses the stores that only the second build has; docs/dependencies.md has what they add.
func cloud(_ *link, n *name) (store, error) {
	return nil, fmt.Errorf("this program does not read or write %s:// names: use the one in the archive bagconv-clouds "+
		"of the release, or build it: go build -tags clouds ./cmd/bagconv: %w", n.scheme, storage.ErrUnsupported)
}
