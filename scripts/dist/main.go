// Command dist does what scripts/release can do neither with a shell alone nor with a tool: it packs
// folders so that two runs make the same bytes, and makes wheels, images and the formula.
//
//	go run ./scripts/dist pack OUT FOLDER                  OUT is a .tar.gz or a .zip
//	go run ./scripts/dist gzip FILE                        on standard output
//	go run ./scripts/dist version VERSION                  as Debian and RPM write it
//	go run ./scripts/dist image OUT FOLDER VERSION ARCH
//	go run ./scripts/dist wheel OUT BINARY PYTHON VERSION OS/ARCH
//	go run ./scripts/dist formula VERSION SHA256SUMS       for Homebrew, on standard output
//
// wheel and image put a file into the folder OUT: a Python wheel, of a binary and of PYTHON, the folder of
// the Python package with pyproject.toml and bagconv/; and an image for containers, of the folder
// with the contents of an archive.
//
// The time of all files is SOURCE_DATE_EPOCH (reproducible-builds.org), in s since 1970.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
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
	case len(args) == 2 && args[0] == "gzip":
		data, err := os.ReadFile(args[1])
		if err == nil {
			data, err = gzipped(data)
		}
		if err == nil {
			_, err = os.Stdout.Write(data)
		}
		return err
	case len(args) == 2 && args[0] == "version":
		version, _ := packageVersions(args[1])
		_, err := fmt.Println(version)
		return err
	case len(args) == 5 && args[0] == "image":
		version, _ := packageVersions(args[3])
		return writeImage(filepath.Join(args[1], "bagconv-image_"+version+"_"+args[4]+".tar"), args[2], args[3], args[4],
			when)
	case len(args) == 6 && args[0] == "wheel":
		name, err := wheelName(args[4], args[5])
		if err != nil {
			return err
		}
		return writeWheel(filepath.Join(args[1], name), args[2], args[3], args[4], args[5], when)
	case len(args) == 3 && args[0] == "formula":
		return writeFormula(os.Stdout, args[1], args[2])
	}
	return errors.New("the commands are pack, gzip, version, wheel, image and formula; see the first lines of " +
		"scripts/dist/main.go")
}
