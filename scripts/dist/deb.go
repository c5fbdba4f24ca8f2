package main

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"os"
	"path"
	"time"
)

// writeDeb makes a Debian package (deb(5)) of the unpacked archive of a release: an ar archive of
// debian-binary, control.tar.gz and data.tar.gz. arch is Go's name, which is Debian's too. The
// package has no scripts and depends on nothing: the binary is static.
func writeDeb(out, folder, version, arch string, when time.Time) error {
	files, err := systemFiles(folder, "/usr/share/zsh/vendor-completions")
	if err != nil {
		return err
	}
	var sums bytes.Buffer
	kib := 0
	for _, f := range files {
		fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.data), f.path[1:])
		kib += (len(f.data) + 1023) / 1024
	}
	version, _ = packageVersions(version)
	control := fmt.Sprintf("Package: bagconv\nVersion: %s\nArchitecture: %s\nMaintainer: %s\nInstalled-Size: %d\n"+
		"Section: utils\nPriority: optional\nHomepage: %s\nDescription: %s\n %s\n", version, arch, maintainer, kib, home, summary, about)
	meta, err := debTar([]systemFile{{"/control", 0o644, []byte(control)}, {"/md5sums", 0o644, sums.Bytes()}}, when)
	if err != nil {
		return err
	}
	data, err := debTar(files, when)
	if err != nil {
		return err
	}
	deb := bytes.NewBufferString("!<arch>\n")
	for _, m := range []struct {
		name string
		data []byte
	}{{"debian-binary", []byte("2.0\n")}, {"control.tar.gz", meta}, {"data.tar.gz", data}} {
		fmt.Fprintf(deb, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", m.name, when.Unix(), 0, 0, 0o100644, len(m.data))
		deb.Write(m.data)
		if len(m.data)%2 != 0 {
			deb.WriteByte('\n')
		}
	}
	return os.WriteFile(out, deb.Bytes(), 0o666)
}

// debTar returns a .tar.gz of files and the folders above them, all of root.
func debTar(files []systemFile, when time.Time) ([]byte, error) {
	entries := []tarEntry{{"./", 0o755, nil}}
	added := map[string]bool{"/": true}
	var folder func(dir string)
	folder = func(dir string) {
		if !added[dir] {
			added[dir] = true
			folder(path.Dir(dir))
			entries = append(entries, tarEntry{"." + dir + "/", 0o755, nil})
		}
	}
	for _, f := range files {
		folder(path.Dir(f.path))
		entries = append(entries, tarEntry{"." + f.path, int64(f.mode), f.data})
	}
	archive, err := plainTar(when, entries...)
	if err != nil {
		return nil, err
	}
	return gzipped(archive)
}
