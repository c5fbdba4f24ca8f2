package iox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/bagconv/bagconv/storage"
)

// maxJournal bounds the bytes of a journal: more than the names of a hundred thousand files.
const maxJournal = 64 << 20

// WriteJournal writes v as JSON into the file at path, and with sync onto the disk. flag is os.O_TRUNC or
// os.O_EXCL. What it began to write and could not finish is removed.
func WriteJournal(fsys storage.FS, path string, flag int, sync bool, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(text) >= maxJournal {
		return fmt.Errorf("%d bytes are more than a journal of %d MB can keep: %w", len(text), maxJournal>>20,
			storage.ErrUnsupported)
	}
	f, err := fsys.OpenFile(path, os.O_WRONLY|os.O_CREATE|flag, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err == nil && sync {
		err = Sync(f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		err = errors.Join(err, fsys.Remove(path))
	}
	return err
}

// ReadJournal reads what WriteJournal has written into v. there is false without such a file. The error
// for a file that was cut off, or is no journal, wraps storage.ErrTruncated.
func ReadJournal(fsys storage.FS, path string, v any) (there bool, err error) {
	f, err := fsys.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return false, err
	}
	text := make([]byte, min(st.Size(), maxJournal))
	if err := ReadFull(f, text, 0); err != nil {
		return false, err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return true, fmt.Errorf("%s: %v: %w", path, err, storage.ErrTruncated)
	}
	return true, nil
}
