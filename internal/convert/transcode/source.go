package transcode

import (
	"github.com/bagconv/bagconv/internal/schema/serial"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// A Source opens the messages of one ROS type for a program that reads them, and counts
// what messages lose. It may be used by any number of goroutines.
type Source struct {
	LossCounter
	cdr    bool
	normal *Plan // turns other forms of CDR into the usual one first
}

// Init prepares for messages of a type.
func (s *Source) Init(msg *schema.Message, from serial.Encoding) (err error) {
	if s.cdr = from == serial.CDR; s.cdr {
		s.normal, err = Compile(msg, msg, Options{From: serial.CDR, To: serial.CDR})
	}
	return err
}

// Open returns a cursor at the first field of a message. Other forms of CDR are copied;
// else the cursor points into the message.
func (s *Source) Open(message []byte) (r ros.Reader, err error) {
	if !s.cdr {
		return ros.NewReader(message, false), nil
	}
	form, err := ros.PlainLE, error(nil)
	special := s.normal.special.Needed(message)
	if !special {
		form, err = ros.FormOf(message)
	}
	if err == nil && (special || form != ros.PlainLE) {
		message, err = s.normal.Append(nil, message)
	}
	if err != nil {
		return r, err
	}
	return ros.NewReader(message[ros.HeaderSize:], true), nil
}

// Close returns the error of a cursor after the last field. Bytes that are left are an
// error in ROS 1, and counted in CDR.
func (s *Source) Close(r *ros.Reader) error {
	rest := r.Rest()
	if len(rest) > 0 && !s.cdr {
		r.Fail("%d bytes are left over", len(rest))
	}
	if err := r.Err(); err != nil {
		return err
	}
	if len(rest) > 0 {
		s.Trailing(rest)
	}
	return nil
}

// Losses lists what the messages so far lost: values of fields that the destination does
// not have, and bytes after their last field.
func (s *Source) Losses() []Loss {
	out := s.LossCounter.Losses()
	if s.normal != nil {
		out = append(out, s.normal.Losses()...)
	}
	return out
}

// Reset sets what Losses counts to zero.
func (s *Source) Reset() {
	s.LossCounter.Reset()
	if s.normal != nil {
		s.normal.Reset()
	}
}
