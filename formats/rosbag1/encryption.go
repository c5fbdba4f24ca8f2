package rosbag1

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/bagconv/bagconv/storage"
)

// An Encryptor encrypts and decrypts the chunks and the connections in the trailer of one bag.
// It is safe for concurrent use.
type Encryptor interface {
	// Encrypt appends src, encrypted, to dst.
	Encrypt(dst, src []byte) ([]byte, error)

	// Decrypt appends src, decrypted, to dst. If src is damaged or cut off, what could be
	// decrypted is returned with an error.
	Decrypt(dst, src []byte) ([]byte, error)

	// Size is how many bytes size bytes have when they are encrypted.
	Size(size int64) int64
}

// An Encryption is a way to encrypt bags, a plugin of rosbag_storage's kind.
type Encryption struct {
	Name string // as in the field "encryptor" of the file header: "rosbag/AesCbcEncryptor"

	// Open returns the Encryptor of a bag by the fields of its file header. key is what the
	// user has set; without one, Open may ask elsewhere. The error wraps storage.ErrKey if
	// there is no key. Whether a key fits is found by what it decrypts.
	Open func(ctx context.Context, fields map[string]string, key storage.Secret) (Encryptor, error)

	// Create returns the Encryptor of a new bag and the fields of its file header besides the name.
	// kind and value are those of the option "encrypt", KIND:VALUE.
	Create func(ctx context.Context, kind, value string) (Encryptor, map[string]string, error)
}

// encryptions are those that are registered, by name.
var encryptions = struct {
	sync.Mutex
	byName map[string]Encryption
}{byName: map[string]Encryption{aesName: aesCBC}}

// RegisterEncryption makes another encryption known, in place of one of the same name. Bags
// that name it are read with it, and written if the option "encrypt" is
// NAME:KIND:VALUE.
func RegisterEncryption(e Encryption) {
	encryptions.Lock()
	defer encryptions.Unlock()
	encryptions.byName[e.Name] = e
}

func encryptionOf(name string) (Encryption, bool) {
	encryptions.Lock()
	defer encryptions.Unlock()
	e, ok := encryptions.byName[name]
	return e, ok
}

// The fields of the file header of an encrypted bag that all encryptions have.
const fieldEncryptor = "encryptor"

// openEncryptor returns the Encryptor of a bag whose file header has fields.
func openEncryptor(ctx context.Context, fields map[string]string, key storage.Secret) (Encryptor, error) {
	name := fields[fieldEncryptor]
	e, ok := encryptionOf(name)
	if !ok {
		return nil, fmt.Errorf("the encryption %.60q is not known: %w", name, storage.ErrUnsupported)
	}
	return e.Open(ctx, fields, key)
}

// createEncryptor returns the Encryptor of a new bag, and the fields of its file header.
func createEncryptor(ctx context.Context, choice string) (Encryptor, map[string]string, error) {
	name := aesName
	encryptions.Lock()
	for other := range encryptions.byName {
		if rest, ok := strings.CutPrefix(choice, other+":"); ok {
			name, choice = other, rest
			break
		}
	}
	encryptions.Unlock()
	kind, value, ok := strings.Cut(choice, ":")
	if !ok {
		return nil, nil, &storage.OptionError{Name: storage.NameEncrypt, What: "it is KIND:VALUE", Hint: "type gpg:USER or key:@FILE"}
	}
	e, _ := encryptionOf(name)
	enc, fields, err := e.Create(ctx, kind, value)
	if err != nil {
		return nil, nil, err
	}
	fields = maps.Clone(fields)
	fields[fieldEncryptor] = name
	return enc, fields, nil
}
