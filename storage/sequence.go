package storage

import (
	"context"
	"io"
)

// A Sequence reads a recording of blocks message by message: it is ReadNext for a Reader
// that is a BlockReader. The zero value begins with the first block. It belongs to one
// goroutine.
type Sequence struct {
	batch Batch
	block int // that is read next
	next  int // message in batch
	err   error
}

// Next returns the next message of r, which has n blocks, and io.EOF after the last one.
// The message is valid until the next call. After an error every call returns it.
func (s *Sequence) Next(ctx context.Context, r BlockReader, n int) (*Message, error) {
	for s.err == nil {
		if s.next < len(s.batch.Messages) {
			s.next++
			return &s.batch.Messages[s.next-1], nil
		}
		if s.block == n {
			s.err = io.EOF
			break
		}
		s.err = r.ReadBlock(ctx, s.block, &s.batch)
		s.block++
		s.next = 0
	}
	return nil, s.err
}

// Stop makes every further call return err, unless there was another error before.
func (s *Sequence) Stop(err error) {
	if s.err == nil {
		s.err = err
	}
}
