package identify

import (
	"path/filepath"

	"github.com/bagconv/bagconv/storage"
)

// KeepsFormat reports whether an output of this name has the format of its source, if nothing else is
// asked for: a folder that becomes a folder keeps the storage of its messages.
func KeepsFormat(source *storage.Format, out string) bool {
	return source.Layout.Folder && source.Create != nil && (storage.NamesFolder(out) || filepath.Ext(out) == "")
}
