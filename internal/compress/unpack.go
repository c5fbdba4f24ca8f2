package compress

import (
	"context"
	"fmt"
	"io"
)

// What a compressed file may unpack to: MaxGrowth times its size and GrowthSlack bytes.
// More is an attack on the disk.
const (
	MaxGrowth   = 1000
	GrowthSlack = 1 << 30
)

// Unpack copies what dec decodes of a compressed file of size bytes to out. cut is the error
// of the decoder: what came before the error is in out. err is the error of writing or of ctx, or
// ErrLimit if the output is more than such a file may unpack to.
func Unpack(ctx context.Context, out io.Writer, dec io.Reader, size int64) (cut, err error) {
	limit := size*MaxGrowth + GrowthSlack
	buf := make([]byte, 256<<10)
	for n := int64(0); ; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		got, rerr := dec.Read(buf)
		if n += int64(got); n > limit {
			return nil, fmt.Errorf("it decompresses to over %d times its size: %w", MaxGrowth, ErrLimit)
		}
		if _, err := out.Write(buf[:got]); err != nil {
			return nil, err
		}
		if rerr == io.EOF {
			return nil, nil
		}
		if rerr != nil {
			return rerr, nil
		}
	}
}
