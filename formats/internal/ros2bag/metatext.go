package ros2bag

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// Encode returns the YAML text, with or without the outer key. It writes the keys that the version
// demands, and also keys of later versions that have a value: decoders ignore what they do not
// know. Every byte is as yaml.v3 and rosbag2 itself write it.
func (m *Metadata) Encode(outer bool) (string, error) {
	b := yamlText{step: 4}
	b.Grow(m.size())
	if outer {
		b.nested(metadataKey, func() { m.write(&b) })
	} else {
		m.write(&b)
	}
	if b.err != nil {
		return "", fmt.Errorf("%s: %w", MetadataName, b.err)
	}
	return b.String(), nil
}

// WriteFile writes metadata.yaml into a folder without one.
func (m *Metadata) WriteFile(fsys storage.FS, dir string, sync bool) error {
	text, err := m.Encode(true)
	if err != nil {
		return err
	}
	f, err := fsys.OpenFile(filepath.Join(dir, MetadataName), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, text)
	if err == nil && sync {
		err = iox.Sync(f)
	}
	return errors.Join(err, f.Close())
}

// size is about how many bytes the text has.
func (m *Metadata) size() int {
	n := 1000 + 350*len(m.Topics)
	for i := range m.Topics {
		n += len(m.Topics[i].Name) + len(m.Topics[i].Type)
	}
	for k, v := range m.Custom {
		n += len(k) + len(v) + len(v)/4 // quotes are escaped
	}
	return n
}

func (m *Metadata) write(b *yamlText) {
	b.number("version", int64(m.Version))
	b.text("storage_identifier", m.StorageID)
	b.nested("duration", func() { b.number("nanoseconds", m.Duration) })
	b.nested("starting_time", func() { b.number("nanoseconds_since_epoch", m.Start) })
	b.number("message_count", m.Messages)
	b.list(topicsKey, len(m.Topics), func(i int) { m.Topics[i].write(b, m.Version) })
	b.quoted("compression_format", m.Compression)
	b.quoted("compression_mode", m.Mode)
	b.list("relative_file_paths", len(m.Paths), func(i int) { b.element(m.Paths[i]) })
	if m.Version >= 5 {
		b.list("files", len(m.Files), func(i int) {
			f := &m.Files[i]
			b.text("path", f.Path)
			b.nested("starting_time", func() { b.number("nanoseconds_since_epoch", f.Start) })
			b.nested("duration", func() { b.number("nanoseconds", f.Duration) })
			b.number("message_count", f.Messages)
		})
	}
	switch {
	case len(m.Custom) > 0:
		b.nested("custom_data", func() {
			for _, k := range slices.Sorted(maps.Keys(m.Custom)) {
				b.quoted(k, m.Custom[k])
			}
		})
	case m.Version >= 5:
		b.line("custom_data: ~")
	}
	if m.Version >= 5 || m.Distro != "" {
		b.text("ros_distro", m.Distro)
	}
}

const qosKey = "offered_qos_profiles"

// write writes a topic. Its profiles are a string with numbers, from version 9 on a list
// with names.
func (t *Topic) write(b *yamlText, version int) {
	b.nested("topic_metadata", func() {
		b.text("name", t.Name)
		b.text("type", t.Type)
		b.text("serialization_format", t.Format)
		if version < 9 {
			b.quoted(qosKey, QoSText(t.QoS, false))
		} else {
			b.list(qosKey, len(t.QoS), func(i int) { writeProfile(b, &t.QoS[i], true) })
		}
		if version >= 7 || t.Hash != "" {
			b.text("type_description_hash", t.Hash)
		}
	})
	b.number("message_count", t.Messages)
}
