package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/bagconv/bagconv/internal/iox"
)

// A ledger is a file of this machine with the uploads that this process has begun and not ended,
// locked as long as the process lives. If it is killed, the next process that writes to a store
// gives these uploads up. Without a folder for ledgers nothing is written down.
type ledger struct {
	mu   sync.Mutex
	open map[string]debt // by id
	file *os.File
	dead bool // no ledger can be made
}

// A debt is an upload in a ledger.
type debt struct {
	Store string `json:"store"`
	Key   string `json:"key"`
	ID    string `json:"id"`
	Mark  string `json:"etag,omitempty"` // of an object that stays if others appear; see sink.mark

	Begins time.Time `json:"begins,omitzero"` // of an upload whose ID is not known yet: when it is asked for
	Owed   time.Time `json:"owed,omitzero"`   // of an object: when it is about to be asked for
}

// requested returns when the store was asked to begin the upload or to make the object of a debt, which it may still
// be doing; zero: it has answered.
func (d debt) requested() time.Time {
	if d.Mark != "" {
		return d.Owed
	}
	return d.Begins
}

// ledgerDir is where ledgers are.
func ledgerDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "bagconv", "uploads")
}

// begin writes down an upload before it is asked for: add has its id, when the answer is there.
func (l *ledger) begin(s sink, key string) {
	l.note(debt{Store: s.where(), Key: key, ID: beginID(s, key), Begins: time.Now()})
}

// beginID is the id of an upload in a ledger before the store has named it.
func beginID(s sink, key string) string { return "begin " + s.where() + " " + key }

// objectID is the id of an object in a ledger.
func objectID(s sink, key string) string { return "object " + s.where() + " " + key }

func (l *ledger) add(s sink, key, id string) {
	l.note(debt{Store: s.where(), Key: key, ID: id})
	l.remove(beginID(s, key))
}

func (l *ledger) note(d debt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		l.open = map[string]debt{}
	}
	l.open[d.ID] = d
	if l.file == nil && !l.dead {
		l.dead = l.create() != nil
	}
	l.write()
}

// owe writes down an object that is to be removed unless the other objects of its recording appear.
func (l *ledger) owe(s sink, key, mark string) {
	l.note(debt{Store: s.where(), Key: key, ID: objectID(s, key), Mark: mark, Owed: time.Now()})
}

func (l *ledger) create() error {
	dir := ledgerDir()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("%016x.json", rand.Uint64())), os.O_RDWR|os.O_CREATE|os.O_EXCL,
		0o600)
	if err != nil {
		return err
	}
	if err := iox.TryLock(f); err != nil { // nobody could know whether this process lives
		return errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	l.file = f
	return nil
}

func (l *ledger) remove(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.open[id]; ok {
		delete(l.open, id)
		l.write()
	}
}

// write writes what is open. l.mu is held. An error is no reason to stop: then the lease of an
// upload has to end before it is given up.
func (l *ledger) write() {
	if l.file == nil {
		return
	}
	var b bytes.Buffer
	for _, d := range l.open {
		_ = json.NewEncoder(&b).Encode(d)
	}
	if _, err := l.file.WriteAt(b.Bytes(), 0); err == nil {
		_ = l.file.Truncate(int64(b.Len()))
	}
}

// close removes the ledger, unless uploads are left that could not be given up.
func (l *ledger) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return
	}
	name := l.file.Name()
	if len(l.open) == 0 {
		_ = os.Remove(name)
	}
	_ = l.file.Close()
	l.file = nil
}

// debts calls settle for each upload in the ledgers of processes that do not live. A ledger keeps the
// uploads for which settle returns false.
func debts(settle func(d debt) bool) {
	names, err := filepath.Glob(filepath.Join(ledgerDir(), "*.json"))
	if err != nil {
		return
	}
	for _, name := range names {
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if iox.TryLockOnce(f) != nil { // it lives
			_ = f.Close()
			continue
		}
		var left bytes.Buffer
		for d := json.NewDecoder(f); ; {
			var one debt
			if d.Decode(&one) != nil {
				break
			}
			if !settle(one) {
				_ = json.NewEncoder(&left).Encode(one)
			}
		}
		if left.Len() == 0 {
			_ = os.Remove(name)
		} else if _, err := f.WriteAt(left.Bytes(), 0); err == nil {
			_ = f.Truncate(int64(left.Len()))
		}
		_ = f.Close()
	}
}
