package compress

import (
	"bytes"
	"io"
	"testing"

	stdbzip2 "compress/bzip2"

	"github.com/dsnet/compress/bzip2"
	"github.com/pierrec/lz4/v4"
)

var benchInputs = map[string][]byte{"text": text(768 << 10), "image": image(768 << 10)}

func BenchmarkEncode(b *testing.B) {
	for _, c := range all[1:] {
		for name, src := range benchInputs {
			b.Run(c.Name()+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(src)))
				b.ReportAllocs()
				var out []byte
				for b.Loop() {
					out, _ = c.Encode(out[:0], src, 0)
				}
				b.ReportMetric(float64(len(src))/float64(len(out)), "ratio")
			})
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, c := range all[1:] {
		for name, src := range benchInputs {
			b.Run(c.Name()+"/"+name, func(b *testing.B) {
				packed, _ := c.Encode(nil, src, 0)
				out := make([]byte, 0, len(src))
				b.SetBytes(int64(len(src)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := c.Decode(out, packed, int64(len(src))); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkReaders measures the stream readers that could stand in Decode's place.
func BenchmarkReaders(b *testing.B) {
	for name, src := range benchInputs {
		bz, _ := BZ2.Encode(nil, src, 0)
		frame, _ := LZ4.Encode(nil, src, 0)
		run := func(which string, packed []byte, open func(io.Reader) io.Reader) {
			b.Run(which+"/"+name, func(b *testing.B) {
				out := make([]byte, len(src))
				b.SetBytes(int64(len(src)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := io.ReadFull(open(bytes.NewReader(packed)), out); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		run("bz2-std", bz, stdbzip2.NewReader)
		ds, _ := bzip2.NewReader(nil, nil)
		run("bz2-dsnet", bz, func(r io.Reader) io.Reader { ds.Reset(r); return ds })
		lr := lz4.NewReader(nil)
		run("lz4-pierrec", frame, func(r io.Reader) io.Reader { lr.Reset(r); return lr })
	}
}

func BenchmarkXXH32(b *testing.B) {
	src := benchInputs["image"]
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		xxh32(src)
	}
}
