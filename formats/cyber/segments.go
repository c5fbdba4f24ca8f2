package cyber

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// segmentNumber returns the number of a segment by the name of its file.
func segmentNumber(name string) (n int, ok bool) {
	stem := segmentStem(name)
	if stem == name {
		return 0, false
	}
	n, err := strconv.Atoi(name[len(stem)+1:][:5])
	return n, err == nil
}

// wholeOf returns the recording that a file is a segment of. See storage.Format. A stem
// that is a file itself names that file.
func wholeOf(fsys storage.FS, path string) (name string, parts []string) {
	dir, base := filepath.Dir(path), filepath.Base(path)
	stem := segmentStem(base)
	if stem == base {
		return "", nil
	}
	name, fsys = filepath.Join(dir, stem), iox.FS(fsys)
	if _, err := fsys.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	parts, err := segmentPaths(fsys, name)
	if err != nil || len(parts) < 2 {
		return "", nil
	}
	slices.Sort(parts)
	return name, parts
}

// checkSegments reports what the names and contents of the segments show of missing segments.
func (r *reader) checkSegments() error {
	var own []*file // files with a number, in its order
	numbers := map[*file]int{}
	for _, f := range r.files {
		if n, ok := segmentNumber(filepath.Base(f.path)); ok {
			own = append(own, f)
			numbers[f] = n
		}
	}
	slices.SortStableFunc(own, func(a, b *file) int { return numbers[a] - numbers[b] })
	if len(own) == 0 {
		return nil
	}
	last := own[len(own)-1]
	if r.files[0] == last && filepath.Clean(r.path) == filepath.Clean(last.path) {
		return r.checkAlone(last, numbers[last])
	}
	next := 0
	var before *file
	for _, f := range own {
		for from := next; from < numbers[f]; from++ {
			to := from
			for to < numbers[f] && !slices.Contains(r.unread, to) {
				to++
			}
			if to > from {
				if err := r.missing(before, f, from, to-1); err != nil {
					return err
				}
			}
			from = to
		}
		before, next = f, max(next, numbers[f]+1)
	}
	if last.ended() {
		return last.report("missing-part", -1, true, storage.Lost{Uncounted: true},
			fmt.Sprintf("segment %05d is missing: segment %05d has the size at which the recorder begins a new one", next,
				numbers[last]))
	}
	return nil
}

// missing reports the segments from one number to another between two files; before
// is nil if they are the first.
func (r *reader) missing(before, after *file, from, to int) error {
	lost := storage.Lost{Uncounted: true}
	if before != nil && before.begin <= before.end && after.begin <= after.end {
		lost.Duration = max(0, after.begin-before.end)
	}
	what := fmt.Sprintf("segment %05d is missing", from)
	if to > from {
		what = fmt.Sprintf("segments %05d to %05d are missing", from, to)
	}
	return after.report("missing-part", -1, true, lost, what)
}

// ended reports whether a file has reached a limit of its header. The recorder then begins another
// segment at once; bagconv, which ends segments before they reach one, reaches a limit with single
// messages only.
func (f *file) ended() bool {
	var raw, messages int64
	for _, c := range f.chunks {
		raw += c.raw
		messages += c.count
	}
	size, interval := clamp(f.header.GetSegmentRawSize()), clamp(f.header.GetSegmentInterval())
	return messages > 1 && (size > 0 && raw > size || interval > 0 && f.end-f.begin > interval)
}

// checkAlone reports that a file that was named itself is one of several.
func (r *reader) checkAlone(f *file, number int) error {
	name, parts := wholeOf(r.fs, r.path)
	switch {
	case name != "":
		last, _ := segmentNumber(filepath.Base(parts[len(parts)-1]))
		return f.report(storage.CodeOnePart, -1, false, storage.Lost{},
			fmt.Sprintf("this is part %d of %d of one recording; to read all of it, name %s", number+1, max(last+1, len(parts)),
				name))
	case number > 0:
		return f.report(storage.CodeOnePart, -1, false, storage.Lost{},
			fmt.Sprintf("this is part %d of a recording; the other parts are not in its folder", number+1))
	}
	return nil
}
