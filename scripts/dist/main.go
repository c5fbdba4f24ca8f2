// Command dist does what scripts/release cannot do with a shell alone: it packs
// folders so that two runs give the same bytes, and writes down what a binary
// is made of.
//
//	go run ./scripts/dist pack OUT FOLDER         OUT is a .tar.gz or a .zip
//	go run ./scripts/dist sbom VERSION BINARY...  SPDX 2.3 in JSON, on standard output
//
// The time of all files in an archive, and of the list, is SOURCE_DATE_EPOCH
// (reproducible-builds.org), in s since 1970.
package main

import (
	"fmt"
	"os"
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
		return fmt.Errorf("SOURCE_DATE_EPOCH is no number of seconds: %w", err)
	}
	when := time.Unix(epoch, 0).UTC()
	switch {
	case len(args) == 3 && args[0] == "pack":
		return pack(args[1], args[2], when)
	case len(args) > 2 && args[0] == "sbom":
		return writeSBOM(os.Stdout, args[1], args[2:], when)
	}
	return fmt.Errorf("there are pack OUT FOLDER, and sbom VERSION BINARY")
}
