package engine

import (
	"context"

	"github.com/bagconv/bagconv/storage"
)

// ScanIndex counts the messages of a recording by its index, without their data: Bytes and Stored stay 0. An error
// that wraps storage.ErrUnsupported means that the format has no such index.
func ScanIndex(ctx context.Context, r storage.Reader) (*ScanResult, error) {
	query := storage.ReaderCapabilities(r).Query
	if query == nil {
		return nil, storage.ErrUnsupported
	}
	info, err := r.Info()
	if err != nil {
		return nil, err
	}
	res := newScan(len(info.Topics), true)
	one := make([]storage.Message, 1)
	for m, err := range query.Query(ctx, storage.Query{NoData: true}) {
		if err != nil {
			return nil, err
		}
		one[0] = *m
		if _, err := res.add(one); err != nil {
			return nil, err
		}
	}
	res.bounds()
	res.Timeline = res.histogram.Timeline()
	return res, nil
}
