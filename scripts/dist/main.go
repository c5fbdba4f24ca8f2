// Command dist does what scripts/release cannot do with a shell alone: it packs
// folders so that two runs make the same bytes, makes packages for systems, and
// lists what a binary is made of.
//
//	go run ./scripts/dist pack OUT FOLDER                  OUT is a .tar.gz or a .zip
//	go run ./scripts/dist packages OUT FOLDER PYTHON VERSION OS/ARCH
//	go run ./scripts/dist wheel OUT BINARY PYTHON VERSION OS/ARCH
//	go run ./scripts/dist sbom VERSION BINARY...           SPDX 2.3 in JSON, on standard output
//	go run ./scripts/dist formula VERSION SHA256SUMS       for Homebrew, on standard output
//
// packages takes a folder with the contents of an archive, and puts a Python wheel
// into the folder OUT, and for Linux a .deb, an
// .rpm and an image for containers. PYTHON is the folder of the Python package, with
// pyproject.toml and bagconv/. wheel makes the wheel alone.
//
// The time of all files, and of the list, is SOURCE_DATE_EPOCH
// (reproducible-builds.org), in s since 1970.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	epoch, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH is not a number of seconds: %w", err)
	}
	when := time.Unix(epoch, 0).UTC()
	switch {
	case len(args) == 3 && args[0] == "pack":
		return pack(args[1], args[2], when)
	case len(args) == 6 && args[0] == "packages":
		return writePackages(args[1], args[2], args[3], args[4], args[5], when)
	case len(args) == 6 && args[0] == "wheel":
		name, err := wheelName(args[4], args[5])
		if err != nil {
			return err
		}
		return writeWheel(filepath.Join(args[1], name), args[2], args[3], args[4], args[5], when)
	case len(args) > 2 && args[0] == "sbom":
		return writeSBOM(os.Stdout, args[1], args[2:], when)
	case len(args) == 3 && args[0] == "formula":
		return writeFormula(os.Stdout, args[1], args[2])
	}
	return errors.New("the commands are pack, packages, wheel, sbom and formula; see the first lines of scripts/dist/main.go")
}

// writePackages makes the packages of one system, such as linux/amd64, of the contents of its archive.
func writePackages(out, folder, python, version, system string, when time.Time) error {
	wheel, err := wheelName(version, system)
	if err != nil {
		return err
	}
	goos, arch, _ := strings.Cut(system, "/")
	binary := filepath.Join(folder, "bagconv")
	if goos == "windows" {
		binary += ".exe"
	}
	err = writeWheel(filepath.Join(out, wheel), binary, python, version, system, when)
	if err != nil || goos != "linux" {
		return err
	}
	name, _ := packageVersions(version)
	err = writeDeb(filepath.Join(out, "bagconv_"+name+"_"+arch+".deb"), folder, version, arch, when)
	if err != nil {
		return err
	}
	err = writeImage(filepath.Join(out, "bagconv-image_"+name+"_"+arch+".tar"), folder, version, arch, when)
	if err != nil {
		return err
	}
	return writeRPM(filepath.Join(out, "bagconv-"+name+"-1."+rpmArchs[arch]+".rpm"), folder, version, rpmArchs[arch], when)
}
