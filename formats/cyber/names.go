package cyber

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// recordings groups the segments of a recording under their common stem, if nothing else
// has that name and one of them is a record.
func recordings(fsys storage.FS, dir string, names []string) (groups []storage.Group, rest []string) {
	fsys = iox.FS(fsys)
	at := map[string]int{} // of groups, by stem; -1: no recording
	for _, name := range names {
		stem := segmentStem(name)
		if stem == name {
			rest = append(rest, name)
			continue
		}
		i, seen := at[stem]
		if !seen {
			i = -1
			if _, err := fsys.Stat(filepath.Join(dir, stem)); errors.Is(err, fs.ErrNotExist) && slices.ContainsFunc(names,
				func(n string) bool {
					return segmentStem(n) == stem && sniffPath(fsys, filepath.Join(dir, n))
				}) {
				i = len(groups)
				groups = append(groups, storage.Group{Name: stem})
			}
			at[stem] = i
		}
		if i < 0 {
			rest = append(rest, name)
		} else {
			groups[i].Parts = append(groups[i].Parts, name)
		}
	}
	return groups, rest
}

// identify knows the first section of a record that sniff does not: a C struct of a
// 32-bit type (0, the header), 4 bytes of padding that may hold anything, a 64-bit size
// below 2048, then a protobuf whose first field is major_version
// (ApolloAuto/apollo cyber/record/file/section.h, cyber/proto/record.proto).
//
//	0       4         8            16
//	+-------+---------+------------+------+----
//	| type 0| padding | size < 2048| 0x08 | ...
//	+-------+---------+------------+------+----
func identify(_ string, head []byte) (what, hint string) {
	if len(head) < 17 || binary.LittleEndian.Uint32(head) != 0 || head[16] != 0x08 {
		return "", ""
	}
	if size := binary.LittleEndian.Uint64(head[8:]); size == 0 || size > 2048 {
		return "", ""
	}
	return "a Cyber record whose first section, the header, cannot be read", "the copy may be damaged at its very " +
		"beginning"
}
