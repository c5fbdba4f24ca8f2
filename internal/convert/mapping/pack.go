package mapping

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
)

// pack writes descriptors as text that any metadata can hold.
func pack(data []byte) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(data) // a bytes.Buffer takes everything
	_ = z.Close()
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// maxDescriptor bounds what a descriptor in metadata may unpack to, bytes.
const maxDescriptor = 64 << 20

func unpack(text string) ([]byte, error) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(z, maxDescriptor+1))
	if err == nil && len(data) > maxDescriptor {
		err = fmt.Errorf("descriptors of more than %d bytes", maxDescriptor)
	}
	return data, err
}
