package mcap

import (
	"slices"

	"github.com/bagconv/bagconv/storage"
)

// A preset is what rosbag2's recorder knows by a name. Source: ros2/rosbag2
// rosbag2_storage_mcap/src/mcap_storage.cpp. Unlike there, chunks and the summary always have their
// checksums, which cost nothing that could be measured.
type preset struct {
	name   string
	codec  string
	level  int
	chunk  int // threshold of a chunk
	layout layout
	plain  bool // no preset was asked for
}

// unchunked is the layout without chunks, and so without an index.
var unchunked = layout{schemas: true, channels: true, statistics: true, attachmentIndexes: true, metadataIndexes: true,
	summaryOffsets: true}

// presets, the default first.
var presets = []preset{
	{name: "none", codec: "zstd", chunk: defaultChunk, layout: fullLayout, plain: true},
	{name: "fastwrite", codec: "none", chunk: defaultChunk, layout: unchunked},
	{name: "zstd_fast", codec: "zstd", level: 1, chunk: defaultChunk, layout: fullLayout},
	{name: "zstd_small", codec: "zstd", level: 19, chunk: 4 << 20, layout: fullLayout},
}

func presetNames() (names []string) {
	for _, p := range presets {
		names = append(names, p.name)
	}
	return names
}

// presetOf returns what is asked for: a preset, and what other options change of it.
func presetOf(o *storage.WriteOptions) (preset, error) {
	p := presets[0]
	if name := o.Values[storage.NamePreset]; name != "" {
		p = presets[slices.IndexFunc(presets, func(p preset) bool { return p.name == name })]
	}
	if !p.layout.chunks && (o.Compression != "" && o.Compression != p.codec || o.Level != 0 || o.ChunkSize != 0) {
		return p, &storage.OptionError{Name: storage.NamePreset,
			What: p.name + " makes no chunks that could be compressed or have a size", Hint: "omit it, or the options of chunks"}
	}
	if o.Compression != "" && o.Compression != p.codec {
		p.codec, p.level = o.Compression, 0
	}
	if o.Level != 0 {
		p.level = o.Level
	}
	if o.ChunkSize > 0 {
		p.chunk = int(min(o.ChunkSize, maxChunk))
	}
	return p, nil
}
