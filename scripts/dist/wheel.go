package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// wheelTags are the platform tags of a wheel for Go's systems. A static binary runs with both C
// libraries of Linux; Go 1.26 needs macOS 12.
var wheelTags = map[string][]string{
	"linux/amd64":   {"manylinux2014_x86_64", "musllinux_1_1_x86_64"},
	"linux/arm64":   {"manylinux2014_aarch64", "musllinux_1_1_aarch64"},
	"darwin/amd64":  {"macosx_12_0_x86_64"},
	"darwin/arm64":  {"macosx_12_0_arm64"},
	"windows/amd64": {"win_amd64"},
	"windows/arm64": {"win_arm64"},
}

// wheelName returns the name of the file of a wheel for a system such as linux/amd64.
func wheelName(version, system string) (string, error) {
	tags := wheelTags[system]
	if tags == nil {
		return "", fmt.Errorf("there is no platform tag of Python for %s", system)
	}
	_, python := packageVersions(version)
	return fmt.Sprintf("bagconv-%s-py3-none-%s.whl", python, strings.Join(tags, ".")), nil
}

// writeWheel makes a Python wheel (packaging.python.org, "Binary distribution format") of the package in
// the folder python, with the binary as its only script: pip puts it beside python as it is. A file LICENSE beside
// the binary goes into the wheel.
func writeWheel(out, binary, python, version, system string, when time.Time) error {
	program, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	files, err := packageFiles(python, version)
	if err != nil {
		return err
	}
	_, release := packageVersions(version)
	metadata, err := wheelMetadata(filepath.Join(python, "pyproject.toml"), release)
	if err != nil {
		return err
	}
	name := "bagconv-" + release
	exe := "bagconv"
	if strings.HasPrefix(system, "windows/") {
		exe += ".exe"
	}
	wheel := "Wheel-Version: 1.0\nGenerator: bagconv-scripts-dist\nRoot-Is-Purelib: false\n"
	for _, tag := range wheelTags[system] {
		wheel += "Tag: py3-none-" + tag + "\n"
	}
	info := name + ".dist-info/"
	files = append(files,
		wheelFile{name + ".data/scripts/" + exe, 0o755, program},
		wheelFile{info + "METADATA", 0o644, metadata},
		wheelFile{info + "WHEEL", 0o644, []byte(wheel)})
	if licence, err := os.ReadFile(filepath.Join(filepath.Dir(binary), "LICENSE")); err == nil {
		files = append(files, wheelFile{info + "LICENSE", 0o644, licence})
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	files = append(files, wheelFile{info + "RECORD", 0o644, wheelRecord(info+"RECORD", files)})
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.path, Modified: when, Method: zip.Deflate}
		h.SetMode(f.mode)
		w, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := w.Write(f.data); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(out, b.Bytes(), 0o666)
}

// A wheelFile is a file of a wheel.
type wheelFile struct {
	path string // in the archive
	mode fs.FileMode
	data []byte
}

// packageFiles returns the modules of the Python package below the folder python, with the version of the
// release in bagconv/_version.py, by name. What else lies there, such as caches, is no part of a wheel.
func packageFiles(python, version string) ([]wheelFile, error) {
	entries, err := os.ReadDir(filepath.Join(python, "bagconv"))
	if err != nil {
		return nil, err
	}
	var files []wheelFile
	for _, e := range entries {
		if name := e.Name(); e.Type().IsRegular() && (filepath.Ext(name) == ".py" || name == "py.typed") {
			data, err := os.ReadFile(filepath.Join(python, "bagconv", name))
			if err != nil {
				return nil, err
			}
			if name == "_version.py" {
				if data, err = versionModule(data, version); err != nil {
					return nil, err
				}
			}
			files = append(files, wheelFile{"bagconv/" + name, 0o644, data})
		}
	}
	return files, nil
}

// The two lines of bagconv/_version.py that differ in a wheel.
const (
	sourceVersion = "__version__ = \"0+source\"\n"
	sourceRelease = "RELEASE: str | None = None\n"
)

// versionModule returns bagconv/_version.py with the version of a release.
func versionModule(source []byte, version string) ([]byte, error) {
	text := string(source)
	if strings.Count(text, sourceVersion) != 1 || strings.Count(text, sourceRelease) != 1 {
		return nil, fmt.Errorf("_version.py does not have the lines %q and %q", sourceVersion, sourceRelease)
	}
	_, python := packageVersions(version)
	return []byte(strings.NewReplacer(
		sourceVersion, fmt.Sprintf("__version__ = %q\n", python),
		sourceRelease, fmt.Sprintf("RELEASE: str | None = %q\n", version),
	).Replace(text)), nil
}

// wheelRecord returns the list of the files of a wheel, its own line at the end.
func wheelRecord(path string, files []wheelFile) []byte {
	var b bytes.Buffer
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		fmt.Fprintf(&b, "%s,sha256=%s,%d\n", f.path, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
	}
	fmt.Fprintf(&b, "%s,,\n", path)
	return b.Bytes()
}
