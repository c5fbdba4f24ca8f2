package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
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

// writeWheel makes a Python wheel (packaging.python.org, "Binary distribution format") with the binary
// as its only script: pip puts it beside python as it is.
func writeWheel(out, binary, version, system string, when time.Time) error {
	program, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	_, python := packageVersions(version)
	name := "bagconv-" + python
	exe := "bagconv"
	if strings.HasPrefix(system, "windows/") {
		exe += ".exe"
	}
	var b bytes.Buffer
	var record strings.Builder
	z := zip.NewWriter(&b)
	add := func(path string, mode fs.FileMode, data []byte) error {
		h := &zip.FileHeader{Name: path, Modified: when, Method: zip.Deflate}
		h.SetMode(mode)
		w, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(data)
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", path, base64.RawURLEncoding.EncodeToString(sum[:]), len(data))
		_, err = w.Write(data)
		return err
	}
	info := name + ".dist-info/"
	if err := add(name+".data/scripts/"+exe, 0o755, program); err != nil {
		return err
	}
	metadata := fmt.Sprintf("Metadata-Version: 2.1\nName: bagconv\nVersion: %s\nSummary: %s\nHome-page: %s\nRequires-Python: >=3.7\nDescription-Content-Type: text/markdown\n\n%s\n\n    uvx bagconv drive.bag drive_ros2/\n",
		python, summary, home, about)
	if err := add(info+"METADATA", 0o644, []byte(metadata)); err != nil {
		return err
	}
	wheel := "Wheel-Version: 1.0\nGenerator: bagconv-scripts-dist\nRoot-Is-Purelib: false\n"
	for _, tag := range wheelTags[system] {
		wheel += "Tag: py3-none-" + tag + "\n"
	}
	if err := add(info+"WHEEL", 0o644, []byte(wheel)); err != nil {
		return err
	}
	record.WriteString(info + "RECORD,,\n")
	if err := add(info+"RECORD", 0o644, []byte(record.String())); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(out, b.Bytes(), 0o666)
}
