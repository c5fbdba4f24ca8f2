package compress

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

// zeros is a decoder of a bomb.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// counted counts what is written.
type counted int64

func (c *counted) Write(b []byte) (int, error) { *c += counted(len(b)); return len(b), nil }

// TestUnpack: a bomb ends at the limit, and what comes before an error of the decoder is there.
func TestUnpack(t *testing.T) {
	var n counted
	if _, err := Unpack(t.Context(), &n, zeros{}, 100); !errors.Is(err, ErrLimit) || n > GrowthSlack+100*MaxGrowth {
		t.Errorf("%d bytes, %v", n, err)
	}
	var out bytes.Buffer
	cut, err := Unpack(t.Context(), &out, io.MultiReader(strings.NewReader("abc"), errorReader{}), 100)
	if cut == nil || err != nil || out.String() != "abc" {
		t.Errorf("%q, %v, %v", out.String(), cut, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Unpack(ctx, &out, zeros{}, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

type errorReader struct{}

func (errorReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
