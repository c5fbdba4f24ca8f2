package ros2bag

import (
	"maps"
	"path/filepath"
	"slices"

	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/storage"
)

// metadata returns what the parts have, and what only the old metadata.yaml has.
func (x *reindexer) metadata() *Metadata {
	profile := profiles[0]
	own, mode, version := map[string]string{}, "", 0
	list := make([]Part, len(x.parts))
	for i, p := range x.parts {
		if d := p.info.Metadata[storage.MetaDistro]; d != "" {
			own[storage.MetaDistro] = d
		}
		if p.Mode != "" {
			mode = p.Mode
		}
		maps.Copy(own, p.Custom)
		version = max(version, p.Version)
		list[i] = Part{Name: plainName(x.names[i]), Messages: p.info.Messages, Start: p.info.Start, End: p.info.End}
	}
	if x.old != nil {
		version = x.old.Version
		for k, v := range x.old.Custom {
			if _, ok := own[k]; !ok {
				own[k] = v
			}
		}
		if own[storage.MetaDistro] == "" && x.old.Distro != "" {
			own[storage.MetaDistro] = x.old.Distro
		}
	}
	if p, ok := FindProfile(own[storage.MetaDistro]); ok {
		profile = p
	}
	if version > 0 {
		profile.Version = version
	}
	if profile.Distro != "" && own[storage.MetaDistro] == "" {
		profile.Distro = ""
	}
	m := profile.Metadata(x.s, own, x.topics(), list)
	switch {
	case mode == ModeFile:
		m.Compression, m.Mode = compress.Zstd.Name(), ModeFile
		m.Paths = slices.Clone(x.names)
	case mode == ModeMessage, x.old != nil && x.old.Mode == ModeMessage && m.Messages == 0:
		m.Compression, m.Mode = compress.Zstd.Name(), ModeMessage
	}
	return m
}

// topics returns the topics of all parts, with their messages. The last part knows most publishers.
func (x *reindexer) topics() []Topic {
	type key struct{ name, typ, format string }
	var list []Topic
	index := map[key]int{}
	for _, p := range x.parts {
		for i := range p.info.Topics {
			t := &p.info.Topics[i]
			k := key{t.Name, t.Type, t.Encoding}
			n, ok := index[k]
			if !ok {
				n = len(list)
				index[k] = n
				list = append(list, Topic{Name: t.Name, Type: t.Type, Format: t.Encoding})
			}
			list[n].Messages += t.Messages
			if len(t.QoS) > 0 {
				list[n].QoS = t.QoS
			}
			if list[n].Hash == "" {
				list[n].Hash = t.Metadata[storage.MetaTypeHash]
			}
		}
	}
	if x.old == nil {
		return list
	}
	for i := range x.old.Topics {
		t := x.old.Topics[i]
		n, ok := index[key{t.Name, t.Type, t.Format}]
		switch {
		case ok:
			if len(t.QoS) > 0 { // of all publishers that the recorder has met
				list[n].QoS = t.QoS
			}
			if list[n].Hash == "" {
				list[n].Hash = t.Hash
			}
		case t.Messages == 0:
			list = append(list, t)
		}
	}
	return list
}

// differs returns the keys of metadata.yaml in which the old file is wrong.
func (m *Metadata) differs(old *Metadata) (keys []string) {
	add := func(key string, differs bool) {
		if differs {
			keys = append(keys, key)
		}
	}
	add("storage_identifier", old.StorageID != m.StorageID)
	add("duration", m.Messages > 0 && old.Duration != m.Duration)
	add("starting_time", m.Messages > 0 && old.Start != m.Start)
	add("message_count", old.Messages != m.Messages)
	add(topicsKey, !slices.EqualFunc(sortedTopics(m.Topics), sortedTopics(old.Topics), func(a, b Topic) bool {
		return a.Name == b.Name && a.Type == b.Type && a.Format == b.Format && a.Messages == b.Messages &&
			(a.Hash == b.Hash || m.Version < 7) && QoSText(a.QoS, false) == QoSText(b.QoS, false)
	}))
	add("compression_format", old.Compression != m.Compression)
	add("compression_mode", old.Mode != m.Mode)
	add("relative_file_paths", !slices.EqualFunc(m.Paths, old.Paths, sameFile))
	add("files", m.Version >= 5 && len(old.Files) > 0 && !slices.EqualFunc(m.Files, old.Files, func(a, b File) bool {
		return sameFile(a.Path, b.Path) && a.Messages == b.Messages && (a.Messages == 0 || a.Start == b.Start &&
			a.Duration == b.Duration)
	}) || m.Version >= 5 && len(old.Files) == 0)
	add("custom_data", !maps.Equal(m.Custom, old.Custom) && len(m.Custom)+len(old.Custom) > 0)
	return keys
}

// sameFile compares names of parts, which were listed with and without folder and ending.
func sameFile(a, b string) bool {
	return plainName(filepath.Base(filepath.FromSlash(a))) == plainName(filepath.Base(filepath.FromSlash(b)))
}

// sortedTopics returns the topics with messages: not all recorders list others.
func sortedTopics(list []Topic) []Topic {
	list = slices.DeleteFunc(slices.Clone(list), func(t Topic) bool { return t.Messages == 0 })
	return slices.SortedFunc(slices.Values(list), func(a, b Topic) int {
		return compareNumeric(a.Name+"\x00"+a.Type+"\x00"+a.Format, b.Name+"\x00"+b.Type+"\x00"+b.Format)
	})
}
