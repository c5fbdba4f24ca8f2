package sqlite

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/bagconv/bagconv/storage"
)

// A mover gives the changed pages of a Growth new numbers.
type mover struct {
	g      *Growth
	above  map[uint32]uint32 // by page, the page above it in its tree
	roots  map[uint32]bool
	free   []uint32          // pages that the engine has let go of
	moved  map[uint32]uint32 // new numbers
	next   uint32            // the next new number
	spares []uint32          // new numbers that nothing has
}

// rootUpdates is how many pages the engine may add while it writes new roots to
// sqlite_schema: each row grows by some bytes.
const rootUpdates = 64

// Move ends the engine d, whose transactions are committed, and writes all that is new behind
// the database. It returns page 1 as it must then be overwritten, and the bytes of the
// database.
func (g *Growth) Move(d *DB) (first []byte, size int64, err error) {
	m := &mover{g: g, above: map[uint32]uint32{}, roots: map[uint32]bool{1: true}, moved: map[uint32]uint32{}}
	count, err := m.pages()
	if err != nil {
		return nil, 0, err
	}
	from := count + rootUpdates
	m.next = from
	if err := m.findRoots(d); err != nil {
		return nil, 0, err
	}
	if err := m.survey(slices.Collect(maps.Keys(m.roots))); err != nil {
		return nil, 0, err
	}
	if err := m.setRoots(d); err != nil {
		return nil, 0, err
	}
	if err := m.survey([]uint32{1}); err != nil { // what that has changed: sqlite_schema may have several pages
		return nil, 0, err
	}
	if err := d.Close(); err != nil {
		return nil, 0, err
	}
	if count, err = m.pages(); err != nil {
		return nil, 0, err
	}
	if count >= from {
		return nil, 0, fmt.Errorf("internal error: new roots took %d pages", count-from+rootUpdates)
	}
	for no := count + 1; no < from; no++ {
		if no != m.lockPage() {
			m.spares = append(m.spares, no)
		}
	}
	if err := m.write(); err != nil {
		return nil, 0, err
	}
	return m.first()
}

// pages returns the number of pages that the engine counts.
func (m *mover) pages() (uint32, error) {
	var b [4]byte
	err := m.g.read(1, b[:], headCount)
	return binary.BigEndian.Uint32(b[:]), err
}

func (m *mover) lockPage() uint32 { return uint32(LockByte/int64(m.g.head.Page)) + 1 }

// number returns a new number.
func (m *mover) number() uint32 {
	if m.next == m.lockPage() {
		m.next++
	}
	m.next++
	return m.next - 1
}

// old reports whether a page was there before.
func (m *mover) old(no uint32) bool { return int64(no)*int64(m.g.head.Page) <= m.g.end }

func (m *mover) page(no uint32) ([]byte, error) {
	b := make([]byte, m.g.head.Page)
	return b, m.g.read(no, b, 0)
}

func (m *mover) findRoots(d *DB) error {
	return d.Query("SELECT rootpage FROM sqlite_schema WHERE rootpage > 0", func(s *Stmt) error {
		m.roots[uint32(s.Int(0))] = true
		return nil
	})
}

// survey gives new numbers to the changed pages of trees, and to all pages above them, unless they have one.
func (m *mover) survey(roots []uint32) error {
	if err := m.climb(roots); err != nil {
		return err
	}
	if err := m.readFree(); err != nil {
		return err
	}
	for _, no := range slices.Sorted(maps.Keys(m.g.changed)) {
		for no != 1 && m.old(no) && m.moved[no] == 0 && !slices.Contains(m.free, no) {
			m.moved[no] = m.number()
			above, ok := m.above[no]
			if !ok {
				if !m.roots[no] {
					return fmt.Errorf("rows were deleted in it, and SQLite has taken page %d that became free: %w", no,
						storage.ErrUnsupported)
				}
				break
			}
			no = above
		}
	}
	return nil
}

// climb finds the page above each page of the trees, from roots on, as far as the engine has seen them.
func (m *mover) climb(roots []uint32) error {
	seen := map[uint32]bool{}
	for todo := roots; len(todo) > 0; {
		no := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !m.g.inner[no] {
			continue
		}
		page, err := m.page(no)
		if err != nil {
			return err
		}
		err = m.g.children(no, page, func(ref []byte) {
			if child := binary.BigEndian.Uint32(ref); !seen[child] && !m.roots[child] {
				m.above[child], seen[child] = no, true
				todo = append(todo, child)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// readFree lists the pages of the engine's freelist, which the engine has let go of. Inserting rows
// frees pages only if pages are less than half full, as after rows were deleted. If the engine has then
// taken a freed page for data outside of a tree, survey refuses.
func (m *mover) readFree() error {
	m.free = m.free[:0]
	var b [4]byte
	if err := m.g.read(1, b[:], headFree); err != nil {
		return err
	}
	for no := binary.BigEndian.Uint32(b[:]); no != 0 && len(m.free) < 1<<20; {
		page, err := m.page(no)
		if err != nil {
			return err
		}
		m.free = append(m.free, no)
		n := int(binary.BigEndian.Uint32(page[4:]))
		if 8+4*n > len(page) {
			return errTree
		}
		for i := range n {
			m.free = append(m.free, binary.BigEndian.Uint32(page[8+4*i:]))
		}
		no = binary.BigEndian.Uint32(page)
	}
	return nil
}

// setRoots writes the new numbers of roots to sqlite_schema, and makes others read it again.
func (m *mover) setRoots(d *DB) error {
	version, _, err := d.One("PRAGMA schema_version")
	if err != nil {
		return err
	}
	if err := d.Exec("PRAGMA writable_schema=ON; BEGIN"); err != nil {
		return err
	}
	for _, no := range slices.Sorted(maps.Keys(m.roots)) {
		if to := m.moved[no]; to != 0 {
			if err := d.Run("UPDATE sqlite_schema SET rootpage = ? WHERE rootpage = ?", int64(to), int64(no)); err != nil {
				return err
			}
		}
	}
	return d.Exec(fmt.Sprintf("PRAGMA schema_version=%d; COMMIT", version+1))
}

// write writes the moved pages, and once more the new pages that refer to them.
func (m *mover) write() error {
	var list []uint32
	for no := range m.g.inner {
		if !m.old(no) && m.reached(no) {
			list = append(list, no)
		}
	}
	list = append(list, slices.Collect(maps.Keys(m.moved))...)
	slices.Sort(list)
	for _, no := range list {
		page, err := m.page(no)
		if err != nil {
			return err
		}
		changed, err := m.rename(no, page)
		if err != nil {
			return err
		}
		to := m.moved[no]
		if to == 0 {
			if to = no; !changed {
				continue
			}
		}
		if err := m.put(to, page); err != nil {
			return err
		}
	}
	return nil
}

// reached reports whether a page is in a tree.
func (m *mover) reached(no uint32) bool {
	_, ok := m.above[no]
	return ok || m.roots[no]
}

// rename changes the numbers of moved pages in the page above them.
func (m *mover) rename(no uint32, page []byte) (changed bool, err error) {
	err = m.g.children(no, page, func(ref []byte) {
		if to := m.moved[binary.BigEndian.Uint32(ref)]; to != 0 {
			binary.BigEndian.PutUint32(ref, to)
			changed = true
		}
	})
	return changed, err
}

func (m *mover) put(no uint32, page []byte) error {
	_, err := m.g.file.WriteAt(page, int64(no-1)*int64(m.g.head.Page))
	return err
}

// first writes the freelist and returns page 1.
func (m *mover) first() ([]byte, int64, error) {
	page, err := m.page(1)
	if err != nil {
		return nil, 0, err
	}
	if _, err := m.rename(1, page); err != nil {
		return nil, 0, err
	}
	free, number, err := m.writeFree()
	if err != nil {
		return nil, 0, err
	}
	copy(page[headVersions:], m.g.first[headVersions:headVersions+2])
	binary.BigEndian.PutUint32(page[headCount:], m.next-1)
	binary.BigEndian.PutUint32(page[headFree:], free)
	binary.BigEndian.PutUint32(page[headFree+4:], number)
	return page, int64(m.next-1) * int64(m.g.head.Page), nil
}

// writeFree puts the old numbers of moved pages, and numbers that no page has, in front of the
// freelist that is there, on new pages. It returns the first page of the list, and how many pages
// the list then counts.
func (m *mover) writeFree() (first, number uint32, err error) {
	leaves := slices.Sorted(maps.Keys(m.moved))
	leaves = append(append(leaves, m.free...), m.spares...)
	first, number = m.g.head.Free, m.g.head.FreePages
	most := m.g.head.Usable/4 - 8 // what older versions of SQLite read
	for len(leaves) > 0 {
		page := make([]byte, m.g.head.Page)
		n := min(most, len(leaves))
		binary.BigEndian.PutUint32(page, first)
		binary.BigEndian.PutUint32(page[4:], uint32(n))
		for i, no := range leaves[:n] {
			binary.BigEndian.PutUint32(page[8+4*i:], no)
		}
		first = m.number()
		if err := m.put(first, page); err != nil {
			return 0, 0, err
		}
		leaves, number = leaves[n:], number+uint32(n)+1
	}
	return first, number, nil
}
