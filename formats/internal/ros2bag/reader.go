package ros2bag

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/warnings"
	"github.com/bagconv/bagconv/storage"
)

// A Reader is what the readers of recordings in any storage have in common: where the files are, the
// topics of all parts, warnings, and what metadata.yaml counts. The storage.Reader of a format embeds
// one, opens the parts, and reads them. Warn and Fail are safe for concurrent use.
type Reader struct {
	Storage  *Storage
	Ctx      context.Context
	FS       storage.FS
	Path     string
	Strict   bool
	Layout   *Layout
	Unpacker *Unpacker
	Topics   Topics
	Missing  int64            // messages that metadata.yaml counts and that are not there
	Sequence storage.Sequence // of ReadNext
	Log      warnings.Log

	Uncounted []string // codes of damage that leaves open how much is missing
	Named     bool     // warnings about the one file of a recording name it, too
}

// Init prepares for the recording at path. source is what its parts are called in warnings; see Topics.
func (r *Reader) Init(ctx context.Context, s *Storage, path, source string, o *storage.ReadOptions,
	explained func() bool) {
	r.Storage, r.Ctx, r.FS, r.Path, r.Strict = s, ctx, iox.FS(o.FS), path, o.Strict
	r.Log.Hints, r.Unpacker = hintTexts, NewUnpacker(o.Memory)
	r.Topics = Topics{Custom: map[string]string{}, Source: source, Warn: r.Warn, Explained: explained}
}

// Find finds the files.
func (r *Reader) Find() (err error) {
	r.Layout, err = r.Storage.Find(r.Ctx, r.FS, r.Path, r.Warner(""))
	return r.Fail(r.Path, "", err)
}

// OpenParts opens the parts. A part that is damaged is lost, which lose reports, if another one can be
// opened.
func (r *Reader) OpenParts(open func(path string) error, lose func(path string, err error) error) error {
	var failed []error
	for _, path := range r.Layout.Parts {
		err := r.Fail(path, "", open(path))
		switch {
		case err == nil:
			continue
		case !storage.IsDamage(err) || r.Strict || len(r.Layout.Parts) == 1:
			return err
		}
		failed = append(failed, err)
		if err := lose(path, errors.Unwrap(err)); err != nil {
			return err
		}
	}
	if len(failed) == len(r.Layout.Parts) {
		return errors.Join(failed...)
	}
	return nil
}

// CompareCount reports that metadata.yaml counts another number of messages than there are, as text
// says.
func (r *Reader) CompareCount(messages int64, text string) error {
	stated := r.Layout.Meta.Messages
	r.Missing = max(stated-messages, 0)
	if messages == stated {
		return nil
	}
	damage := messages < stated && !r.Topics.Explained()
	return r.Warn("count", damage, "", "%s counts %d messages, %s", MetadataName, stated, text)
}

// Counted adds what is missing by metadata.yaml to what is lost of a recording, of which known is
// known otherwise. ok is false if metadata.yaml has not counted all messages.
func (r *Reader) Counted(lost *storage.Lost, messages, start, end, known int64) (ok bool) {
	m := r.Layout.Meta
	if m == nil || messages == 0 || m.Messages < messages {
		return false
	}
	lost.Messages += max(0, r.Missing-known)
	lost.Uncounted = false
	if lost.Messages > 0 {
		lost.Duration = max(m.Duration-(end-start), 0)
	}
	return true
}

// NewInfo is what Info has of any storage. version is the version of the parts.
func (r *Reader) NewInfo(size int64, version string) *storage.Info {
	info := &storage.Info{Format: r.Storage.Format, Version: version, Path: r.Path, Size: size,
		Compression: map[string]int64{}, Metadata: r.Topics.Custom, Topics: r.Topics.List}
	if m := r.Layout.Meta; m != nil {
		info.Version = m.VersionText() + ", " + version
	}
	return info
}

// WarnLost keeps a warning about a place in a file, "" for the folder, and what was lost there, once for
// each text, or for each place. Damage is an error when reading is strict.
func (r *Reader) WarnLost(lost storage.Lost, code string, at int64, damage bool, path, format string,
	args ...any) error {
	message := fmt.Sprintf(format, args...)
	if damage && r.Strict {
		if path == "" {
			path = r.Path
		}
		return &storage.Error{Format: r.Storage.Format, Path: path, Offset: at, What: message, Err: storage.ErrCorrupt}
	}
	lost.Uncounted = lost.Uncounted || damage && slices.Contains(r.Uncounted, code)
	key := path + " " + message // metadata has several of one code
	if at >= 0 {
		key = path
	}
	if path != "" && (path != r.Path || r.Named) {
		message = filepath.Base(path) + ": " + message
	}
	r.Log.Add(key, storage.Warning{Code: code, Message: message, Offset: storage.Known(at), Damage: damage}, lost)
	return nil
}

// Warn keeps a warning about a file, "" for the folder.
func (r *Reader) Warn(code string, damage bool, path, format string, args ...any) error {
	return r.WarnLost(storage.Lost{}, code, -1, damage, path, format, args...)
}

// Warner binds Warn to a file.
func (r *Reader) Warner(path string) Warner {
	return func(code string, damage bool, format string, args ...any) error {
		return r.Warn(code, damage, path, format, args...)
	}
}

// Fail makes err an error about a file, unless it is one already or is nil.
func (r *Reader) Fail(path, what string, err error) error {
	return r.Storage.Wrap(cmp.Or(path, r.Path), what, err)
}

// Closed is the error of a Reader that is closed.
func (r *Reader) Closed() error { return fmt.Errorf("%s: the reader is closed", r.Path) }

// WarnAlone reports that a part that was named itself is one of several.
func (s *Storage) WarnAlone(fsys storage.FS, path string, warn Warner) error {
	name, parts := s.Whole(fsys, path)
	if name == "" {
		return nil
	}
	return warn(storage.CodeOnePart, false, "this is part %d of %d of one recording; to read all of it, name %s",
		1+slices.Index(parts, filepath.Clean(path)), len(parts), name)
}
