// Package chunked has what formats share whose messages lie in chunks, and whose index
// knows where in a chunk each message is: bags and MCAP files. Records and folders take
// from it what suits them.
//
//   - Source is a file that is read: its place in errors, its warnings, what is lost of it;
//   - Window reads a file in pieces that grow while they follow each other;
//   - Damage is what reading a chunk has shown to be wrong with it;
//   - Query answers a storage.Query from an index;
//   - OutChunk is the bytes of a chunk on its way to the file;
//   - State is the state of a storage.Writer: open, stopped by an error, finished, closed.
//
// It reads no format: a format is asked what bytes mean. A Source is safe for
// concurrent use but for its fields; all else is not.
package chunked
