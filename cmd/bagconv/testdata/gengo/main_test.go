package main

import (
	"bufio"
	"io"
	"os"
	"testing"
)

// FuzzPrint: no message makes generated code panic, or take memory out of proportion. The seeds are
// the frames of the file that FRAMES names.
func FuzzPrint(f *testing.F) {
	file, err := os.Open(os.Getenv("FRAMES"))
	if err != nil {
		f.Fatal(err)
	}
	in := bufio.NewReader(file)
	seen := map[string]int{}
	for {
		m, err := readFrame(in)
		if err != nil {
			break
		}
		if seen[m.topic]++; seen[m.topic] < 3 && len(m.data) < 10_000 {
			f.Add(m.topic, m.encoding == "cdr", m.data)
		}
	}
	f.Fuzz(func(t *testing.T, topic string, cdr bool, data []byte) {
		m := &frame{encoding: "ros1", topic: topic, data: data}
		if cdr {
			m.encoding = "cdr"
		}
		_ = m.print(io.Discard)
	})
}
