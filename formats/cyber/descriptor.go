package cyber

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// A proto_desc is a tree of files, or a list of files under the one that defines the type;
// outdesc.go draws it. A topic's schema is a FileDescriptorSet: each distinct file once, as its
// bytes are, after the files that it imports, and the file of the type last.

// Limits of one proto_desc. Protobuf itself reads 100 messages inside each
// other, and Apollo's largest has 160 nodes of 41 files.
const (
	maxDesc      = 64 << 20 // bytes
	maxDescDepth = 1000
	maxDescFiles = 10_000
)

var (
	errDescSize    = errors.New("it is larger than 64 MiB")
	errDescDepth   = fmt.Errorf("its files import each other more than %d deep", maxDescDepth)
	errDescFiles   = fmt.Errorf("it has more than %d files", maxDescFiles)
	errDescContent = errors.New("it cannot be read")
	errDescTwice   = errors.New("two of its files have one name and different contents; the first is used")
)

// schemaOf makes the FileDescriptorSet of a proto_desc. The result is nil with an error of this
// file if no set can be made, and whole with errDescTwice. It copies what it keeps.
func schemaOf(desc []byte) ([]byte, error) {
	if len(desc) > maxDesc {
		return nil, errDescSize
	}
	s := descReader{seen: map[[sha256.Size]byte]bool{}, byName: map[string]*descFile{}}
	if err := s.walk(desc); err != nil {
		return nil, err
	}
	if len(s.files) == 0 {
		return nil, nil
	}
	var out []byte
	for _, f := range s.sorted() {
		out = protowire.AppendTag(out, 1, protowire.BytesType)
		out = protowire.AppendBytes(out, f.raw)
	}
	if s.twice {
		return out, errDescTwice
	}
	return out, nil
}

// A descReader gathers the files of a tree.
type descReader struct {
	seen   map[[sha256.Size]byte]bool
	byName map[string]*descFile
	files  []*descFile // the first is the file of the root
	twice  bool
}

// walk goes over the nodes of a tree, without recursion: it may be hostile.
func (s *descReader) walk(desc []byte) error {
	stack := [][]byte{desc}
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if len(*top) == 0 {
			stack = stack[:len(stack)-1]
			continue
		}
		num, typ, n := protowire.ConsumeTag(*top)
		if n < 0 {
			return errDescContent
		}
		rest := (*top)[n:]
		if typ != protowire.BytesType || num != 1 && num != 2 {
			if n = protowire.ConsumeFieldValue(num, typ, rest); n < 0 {
				return errDescContent
			}
			*top = rest[n:]
			continue
		}
		b, n := protowire.ConsumeBytes(rest)
		if n < 0 {
			return errDescContent
		}
		*top = rest[n:]
		switch {
		case num == 1:
			if err := s.add(b); err != nil {
				return err
			}
		case len(stack) == maxDescDepth:
			return errDescDepth
		default:
			stack = append(stack, b)
		}
	}
	return nil
}

// add adds a FileDescriptorProto.
func (s *descReader) add(raw []byte) error {
	key := sha256.Sum256(raw)
	if s.seen[key] || len(raw) == 0 {
		return nil
	}
	s.seen[key] = true
	f, err := parseFile(raw)
	if err != nil {
		return errDescContent
	}
	if s.byName[f.name] != nil {
		s.twice = true
		return nil
	}
	if len(s.files) == maxDescFiles {
		return errDescFiles
	}
	s.byName[f.name] = f
	s.files = append(s.files, f)
	return nil
}

// sorted returns the files, imports first, and the first file last.
func (s *descReader) sorted() []*descFile {
	var out []*descFile
	root := s.files[0]
	root.state = measuring // whatever imports it comes before it
	visit := func(f *descFile) {
		type step struct {
			f *descFile
			i int // next import
		}
		stack := []step{{f, 0}}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.i == len(top.f.imports) {
				if top.f != root {
					out = append(out, top.f)
				}
				top.f.state = measured
				stack = stack[:len(stack)-1]
				continue
			}
			dep := s.byName[top.f.imports[top.i]]
			top.i++
			if dep != nil && dep.state == notMeasured {
				dep.state = measuring
				stack = append(stack, step{dep, 0})
			}
		}
	}
	visit(root)
	for _, f := range s.files[1:] {
		if f.state == notMeasured {
			f.state = measuring
			visit(f)
		}
	}
	return append(out, root)
}
