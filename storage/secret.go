package storage

import "fmt"

// A Secret is a key. However it is printed, it shows as "(secret)". The zero value is no key.
type Secret struct {
	reveal func() []byte // a function, so that printing a struct with a Secret in an unexported field shows an address
}

// NewSecret returns b as a Secret, which keeps it.
func NewSecret(b []byte) Secret { return Secret{func() []byte { return b }} }

// Reveal returns the bytes of the key, nil if there is no key. They must not be changed.
func (s Secret) Reveal() []byte {
	if s.reveal == nil {
		return nil
	}
	return s.reveal()
}

// Format writes "(secret)", whatever the verb. See fmt.Formatter.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("(secret)")) }

// MarshalText returns "(secret)".
func (s Secret) MarshalText() ([]byte, error) { return []byte("(secret)"), nil }
