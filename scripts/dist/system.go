package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	home    = "https://github.com/bagconv/bagconv"
	summary = "Converts, checks and repairs robot recordings"
	about   = "bagconv converts robot recordings between ROS 1 bags, rosbag2 folders, MCAP files and Apollo Cyber records."
	// maintainer is what packages must name; the address exists nowhere until the project has one.
	maintainer = "The bagconv authors <authors@bagconv.invalid>"
)

// A systemFile is a file of a package for a Linux distribution.
type systemFile struct {
	path string // with a slash in front
	mode fs.FileMode
	data []byte
}

// systemFiles returns the files of a package, made from the unpacked archive of a release. zsh is the
// folder in which the distribution looks for completions of zsh.
func systemFiles(folder, zsh string) ([]systemFile, error) {
	const share = "/usr/share/"
	var files []systemFile
	for _, f := range []struct{ from, to string }{
		{"bagconv", "/usr/bin/bagconv"},
		{"completions/bagconv.bash", share + "bash-completion/completions/bagconv"},
		{"LICENSE", share + "doc/bagconv/copyright"},
		{"CHANGELOG.md", share + "doc/bagconv/CHANGELOG.md"},
		{"README.md", share + "doc/bagconv/README.md"},
		{"completions/bagconv.fish", share + "fish/vendor_completions.d/bagconv.fish"},
		{"man/bagconv.1", share + "man/man1/bagconv.1.gz"},
		{"completions/bagconv.zsh", zsh + "/_bagconv"},
	} {
		data, err := os.ReadFile(filepath.Join(folder, f.from))
		if f.from == "LICENSE" && errors.Is(err, fs.ErrNotExist) {
			continue // it is the owner's to add
		}
		if err != nil {
			return nil, err
		}
		mode := fs.FileMode(0o644)
		if f.from == "bagconv" {
			mode = 0o755
		}
		if filepath.Ext(f.to) == ".gz" {
			if data, err = gzipped(data); err != nil {
				return nil, err
			}
		}
		files = append(files, systemFile{f.to, mode, data})
	}
	return files, nil
}

// gzipped compresses bytes, without a name and a time.
func gzipped(data []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(data)
	}
	if err == nil {
		err = z.Close()
	}
	return b.Bytes(), err
}
