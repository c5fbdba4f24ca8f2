// Command mutants damages copies of recordings by chance, reads each and prints a line of what was read. The
// same seeds make the same damage, so that the lines of two versions of bagconv can be compared: see the
// script scripts/mutants/compare.
//
//	mutants FROM TO RECORDING...   seeds FROM to TO-1, each for the recording that the seed falls on
//
// A line has the seed, the recording, the damage, the number of messages, a hash of the messages with topics, times and
// bytes, what was lost, the codes of the warnings, and the class of the error.
package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/storage"
)

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "usage: mutants FROM TO RECORDING...")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(first, end string, recordings []string) error {
	from, err := strconv.ParseUint(first, 10, 64)
	to, err2 := strconv.ParseUint(end, 10, 64)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for seed := from; seed < to; seed++ {
		r := rand.New(rand.NewPCG(seed, 62))
		recording := recordings[r.IntN(len(recordings))]
		place := filepath.Join(dir, filepath.Base(recording))
		damage, err := mutate(r, recording, place)
		if err != nil {
			return err
		}
		fmt.Printf("%d %s %s: %s\n", seed, recording, damage, result(place))
		if err := os.RemoveAll(place); err != nil {
			return err
		}
	}
	return nil
}

// mutate writes a copy of a recording, a file or a folder, in which one file is damaged.
func mutate(r *rand.Rand, from, to string) (damage string, err error) {
	var files []string
	err = filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files = append(files, path)
		return nil
	})
	if err != nil {
		return "", err
	}
	if len(files) == 0 {
		return "", fmt.Errorf("%s: a folder without files", from)
	}
	chosen := r.IntN(len(files))
	for i, path := range files {
		name, err := filepath.Rel(from, path)
		if err != nil {
			return "", err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		if i == chosen {
			b, damage = damaged(r, b)
			damage = name + damage
		}
		target := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
			return "", err
		}
		if err := os.WriteFile(target, b, 0o666); err != nil {
			return "", err
		}
	}
	return damage, nil
}

// damaged returns bytes with one to three damages, and what they are.
func damaged(r *rand.Rand, b []byte) ([]byte, string) {
	var words strings.Builder
	for range 1 + r.IntN(3) {
		if len(b) == 0 {
			break
		}
		at := r.IntN(len(b))
		if r.IntN(3) == 0 { // headers and indexes stand at the ends
			at = min(at, r.IntN(1+min(at, 400)))
			if r.IntN(2) == 0 {
				at = len(b) - 1 - at
			}
		}
		n := min(1+r.IntN(200), len(b)-at)
		switch r.IntN(7) {
		case 0, 1:
			b[at] ^= 1 << r.IntN(8)
			fmt.Fprintf(&words, "+bit@%d", at)
		case 2:
			b[at] = byte(r.IntN(256))
			fmt.Fprintf(&words, "+byte@%d", at)
		case 3:
			clear(b[at : at+n])
			fmt.Fprintf(&words, "+zeros@%d,%d", at, n)
		case 4:
			b = b[:at]
			fmt.Fprintf(&words, "+cut@%d", at)
		case 5:
			b = slices.Delete(b, at, at+n)
			fmt.Fprintf(&words, "+missing@%d,%d", at, n)
		case 6:
			other := r.IntN(len(b) - n + 1)
			copy(b[at:at+n], slices.Clone(b[other:other+n]))
			fmt.Fprintf(&words, "+copy@%d,%d", at, n)
		}
	}
	return b, words.String()
}

// result reads a recording to its end.
func result(path string) string {
	ctx := context.Background()
	sum, n := fnv.New64a(), 0
	r, err := open(ctx, path)
	if err != nil {
		return "not opened: " + class(err)
	}
	defer r.Close()
	topics := r.topics()
	for {
		m, e := r.ReadNext()
		if e != nil {
			if e != io.EOF {
				err = e
			}
			break
		}
		if int(m.Topic) >= len(topics) {
			topics = r.topics()
		}
		n++
		fmt.Fprintf(sum, "%s %d %d %d ", topics[m.Topic], m.LogTime, m.PublishTime, len(m.Data))
		sum.Write(m.Data)
	}
	lost, warnings := r.losses()
	losses := fmt.Sprintf("lost %d messages, %d blocks, %d bytes, %v, uncounted %t",
		lost.Messages, lost.Blocks, lost.Bytes, lost.Duration, lost.Uncounted)
	return fmt.Sprintf("%d messages %016x, %s, %s, %s", n, sum.Sum64(), losses, codes(warnings), class(err))
}

// codes returns the codes of warnings with their numbers.
func codes(warnings []storage.Warning) string {
	count := map[string]int{}
	for _, w := range warnings {
		if w.Damage {
			count[w.Code+"!"]++
		} else {
			count[w.Code]++
		}
	}
	var words []string
	for code, n := range count {
		words = append(words, fmt.Sprintf("%s x%d", code, n))
	}
	slices.Sort(words)
	return "[" + strings.Join(words, " ") + "]"
}

func class(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, storage.ErrTruncated):
		return "truncated"
	case errors.Is(err, storage.ErrCorrupt):
		return "corrupt"
	case errors.Is(err, storage.ErrUnsupported):
		return "unsupported"
	}
	return "other"
}
