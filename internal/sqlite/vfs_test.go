package sqlite

import (
	"sync"
	"testing"

	"modernc.org/libc"
)

// Databases are opened from several goroutines: what SQLite keeps for all of them
// is not touched without its lock. The race detector looks at it.
func TestRegisterConcurrently(t *testing.T) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			tls := libc.NewTLS()
			defer tls.Close()
			for range 50 {
				v := &vfs{}
				if err := v.register(tls); err != nil {
					t.Error(err)
					return
				}
				v.unregister(tls)
			}
		}()
	}
	wg.Wait()
}
