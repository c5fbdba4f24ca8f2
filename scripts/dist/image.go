package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// writeImage makes the image of the Dockerfile as an archive for docker load and podman load, as
// docker save writes it: manifest.json, and the configuration and the one layer under their
// checksums. The layer has the binary, an empty /tmp and the working folder.
func writeImage(out, folder, version, arch string, when time.Time) error {
	program, err := os.ReadFile(filepath.Join(folder, "bagconv"))
	if err != nil {
		return err
	}
	layer, err := plainTar(when, tarEntry{"bagconv", 0o755, program}, tarEntry{"data/", 0o755, nil},
		tarEntry{"tmp/", 0o1777, nil})
	if err != nil {
		return err
	}
	type object = map[string]any
	packed, err := gzipped(layer)
	if err != nil {
		return err
	}
	layerName := fmt.Sprintf("%x.tar.gz", sha256.Sum256(packed))
	config, err := json.Marshal(object{ // opencontainers/image-spec, config.md
		"architecture": arch, "os": "linux", "created": when.Format(time.RFC3339),
		"config":  object{"Entrypoint": []string{"/bagconv"}, "WorkingDir": "/data"},
		"rootfs":  object{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer))}},
		"history": []object{{"created": when.Format(time.RFC3339), "created_by": "scripts/release " + version}},
	})
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%x.json", sha256.Sum256(config))
	tag := strings.ReplaceAll(version, "+", "-") // which a tag must not have
	manifest, err := json.Marshal([]object{{"Config": name, "RepoTags": []string{"bagconv:" + tag},
		"Layers": []string{layerName}}})
	if err != nil {
		return err
	}
	archive, err := plainTar(when, tarEntry{name, 0o644, config}, tarEntry{"manifest.json", 0o644, manifest},
		tarEntry{layerName, 0o644, packed})
	if err != nil {
		return err
	}
	return os.WriteFile(out, archive, 0o666)
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

// A tarEntry is a file, or a folder if its name ends with a slash.
type tarEntry struct {
	name string
	mode int64
	data []byte
}

// plainTar returns a tar archive of entries of root.
func plainTar(when time.Time, entries ...tarEntry) ([]byte, error) {
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: e.mode, Size: int64(len(e.data)), ModTime: when, Typeflag: tar.TypeReg,
			Uname: "root", Gname: "root", Format: tar.FormatGNU}
		if e.name[len(e.name)-1] == '/' {
			h.Typeflag = tar.TypeDir
		}
		if err := t.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := t.Write(e.data); err != nil {
			return nil, err
		}
	}
	err := t.Close()
	return b.Bytes(), err
}
